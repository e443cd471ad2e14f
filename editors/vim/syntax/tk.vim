" Highlighting of .tk files. Copy editors/vim/* to ~/.vim. The words are put in by
" tests/honesty/editor_words.py.
if exists("b:current_syntax")
  finish
endif

syntax keyword tkKeyword break const continue else fn for if import kernel let return struct var while
syntax keyword tkConstant LN2 LOG2E None PI false inf nan true
syntax keyword tkType bf16 bool dtype e8m0 f16 f32 f4e2m1 f64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz i1 i16 i32 i4 i64 i8 int string tile u16 u32 u4 u64 u8
syntax keyword tkFunction abs acos acosh all any arange argmax argmin asin asinh assert associative_scan assume atan atan2 atanh atomic_add atomic_and atomic_cas atomic_exchange atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg atomic_xor barrier bitcast brev broadcast broadcast_to cat cbrt cdiv ceil clamp clock clz copysign cos cosh ctz cummax cummin cumprod cumsum div_rn divmod dot dot_scaled erf erfc erfinv exp exp10 exp2 expand_dims expm1 extern_elementwise eye fdiv flip floor floordiv floormod fma fmod full full_like gather globaltimer grid_launch_dependents grid_wait histogram hypot inline_asm_elementwise interleave isfinite isinf isnan item join len lgamma load log log10 log1p log2 map_elementwise max max_constancy max_contiguous maximum min minimum mulhi multiple_of next_pow2 num_programs num_warps or_sum pair_uniform_to_normal permute philox popcount pow prefetch print prod program_id rand rand4x rand_open randint randint4x randn randn4x range ravel reduce reduce_or reshape round rsqrt scan sigmoid sin sinh smid softmax sort split sqrt sqrt_rn squeeze static_assert static_print static_range store sum swizzle2d tan tanh topk trans trunc uint_to_uniform_float umulhi unsqueeze view where xor_sum zeros zeros_like
syntax match tkAccess /\<\%(in\|out\|inout\|scratch\)\>\ze\s\+\h\w*\s*:/
syntax match tkAttribute /@\h\w*/
syntax match tkNumber /\<\%(0[xX][0-9A-Fa-f_]\+\|0[bB][01_]\+\|0[oO][0-7_]\+\|\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][+-]\?\d\+\)\?\)\>/
syntax region tkString start=/"/ skip=/\\./ end=/"\|$/
syntax match tkComment /#.*$/

highlight default link tkKeyword Keyword
highlight default link tkConstant Constant
highlight default link tkType Type
highlight default link tkFunction Function
highlight default link tkAccess StorageClass
highlight default link tkAttribute PreProc
highlight default link tkNumber Number
highlight default link tkString String
highlight default link tkComment Comment

setlocal commentstring=#\ %s
let b:current_syntax = "tk"
