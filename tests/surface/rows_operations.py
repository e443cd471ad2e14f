"""Rows of docs/from-triton.md: operations. (names in Triton, the .tk form, notes)"""

MODEL = [
    ("`program_id(axis)`, `num_programs(axis)`", "`program_id(0)`, `num_programs(0)`", "i64"),
    ("`to_tensor`", "not needed", "scalars and tiles are values"),
    ("`target_info.*`", "none", "a kernel is one for all targets; `@variants` and the target's passes differ"),
]
CREATION = [
    ("`arange(a, b)`", "`arange(a, b)`", "any length"),
    ("`zeros((M, N), dtype)`, `full(shape, v, dtype)`", "`zeros[f32](M, N)`, `full[f32](v, M, N)`", ""),
    ("`zeros_like(x)`", "`zeros_like(x)`", "also `full_like(x, v)`, `eye[f32](n)`"),
    ("`cast(x, dtype)`, `x.to(dtype)`", "`x.to(f16)`", ""),
    ("`cat(a, b, can_reorder, dim)`", "`cat(a, b, axis=0)`", "keeps the order; several tiles"),
]
SHAPE = [
    ("`broadcast(a, b)`", "`broadcast(a, b)`", ""),
    ("`broadcast_to(x, shape)`", "`broadcast_to(x, M, N)`", ""),
    ("`expand_dims(x, axis)`, `unsqueeze`", "`expand_dims(x, 1)`, `x[:, None]`", ""),
    ("`permute(x, dims)`", "`permute(x, 1, 0)`", ""),
    ("`trans(x)`, `x.T`", "`trans(x)`, `x.T`", "the last two axes"),
    ("`reshape(x, shape)`, `view`", "`reshape(x, M, N)`", "one side may be -1"),
    ("`ravel(x)`", "`ravel(x)`", ""),
    ("`join(a, b)`", "`join(a, b)`", "a new last axis of side 2"),
    ("`split(x)`", "`split(x)`", "gives a tuple"),
    ("`interleave(a, b)`", "`interleave(a, b)`", ""),
    ("`squeeze(x, dim)`", "`squeeze(x, 1)`", ""),
    ("`x.item()`", "`x.item()`", ""),
    ("`flip(x, dim)`", "`flip(x, 1)`", ""),
]
MATRIX = [
    ("`dot(a, b, acc)`", "`acc += a @ b`, `dot(a, b, acc)`", "any sides; batched"),
    ("`input_precision=\"tf32\" | \"tf32x3\" | \"ieee\" | ...`", "`dot(a, b, input=\"tf32\")`", "f32 products are f32-accurate unless asked otherwise"),
    ("`max_num_imprecise_acc`", "`promote=128`", "the default; `promote=\"never\"` for speed"),
    ("`out_dtype`", "`out=f16`", "of f16 operands"),
    ("int8, fp16, bf16, fp32, fp64, pairs of fp8", "the same; u8 too", "int8 gives i32, f64 gives f64"),
    ("`dot_scaled(a, a_scale, \"e2m1\", b, b_scale, \"e4m3\", acc)`", "`dot_scaled(a, sa, b, sb, acc)`", "formats are the dtypes; `sb` has b's axes: [K // 32, N]"),
    ("scales e8m0 by 32, e4m3 by 16", "the same", "either may be `None`"),
    ("`lhs_k_pack`, `rhs_k_pack`", "none", "4-bit tiles are packed along the tensor's unit-stride axis"),
]
MEMORY = [
    ("`load(p, mask, other)`", "`load(p, mask=m, fill=0)`", "masked elements hold the fill, 0 when none is given"),
    ("`store(p, v, mask)`", "`store(p, v, mask=m)`", ""),
    ("`cache_modifier=\".cg\"`", "`cache=\"cg\"`", ""),
    ("`eviction_policy=\"evict_first\"`", "`evict=\"first\"`", ""),
    ("`volatile=True`", "`volatile=true`", ""),
    ("`boundary_check`, `padding_option`", "places are always checked: `x[i +: B, fill=nan]`", ""),
    ("`make_block_ptr`, `advance`", "places", "removed in Triton 3.9"),
    ("`make_tensor_descriptor`, `d.load`, `d.store`", "`x[m +: BM, k +: BK]`", "`view(p, [M, K], strides=[s, 1])` makes a tensor of a pointer"),
    ("`d.gather`, `d.scatter`", "`x[rows, k +: BK]`", "a tile as an index; entries out of range read the fill"),
    ("`d.atomic_add` and the like", "`atomic_add(x[m +: BM, :], v)`", ""),
    ("host `TensorDescriptor`", "the tensor parameter itself", ""),
    ("`ragged_tma`", "`view(x[lo:hi, :])`", ""),
]
INDEXING = [
    ("`where(c, a, b)`", "`where(c, a, b)`", "memberwise on tuples"),
    ("`gather(src, index, axis)`", "`gather(x, index, axis=1)`", ""),
    ("`swizzle2d(i, j, m, n, g)`", "`swizzle2d(pid, m, n, group)`", "takes the linear id"),
]
ARITHMETIC = [
    ("operators", "operators", "`//` and `%` for integers, `/` for floats"),
    ("`minimum`, `maximum`, `clamp` with `propagate_nan`", "`minimum(a, b, nan=\"propagate\")`", "NaN propagates unless `nan=\"number\"`"),
    ("`cdiv`", "`cdiv(a, b)`", ""),
    ("`fma`", "`fma(a, b, c)`", ""),
    ("`fdiv`, `div_rn`", "`/`, `div_rn(a, b)`", "always IEEE"),
    ("`umulhi`", "`mulhi(a, b)`", "signed too"),
    ("`add`, `sub`, `mul`", "`+`, `-`, `*`", ""),
]
MATH = [
    ("`abs exp exp2 log log2 sin cos sqrt rsqrt erf floor ceil`", "the same names", "f16 and bf16 directly"),
    ("`sqrt_rn`", "`sqrt`", "always correctly rounded"),
    ("`sigmoid`", "`sigmoid`", ""),
    ("`softmax(x, dim)`", "`softmax(x, axis=-1)`", ""),
    ("`libdevice.tanh`, `pow`, `round`, ...", "`tanh pow round trunc tan sinh cosh asin acos atan atan2 hypot fmod ...`", "no import"),
    ("`libdevice.*`, `extern_elementwise`", "`extern_elementwise(\"__nv_j0f\", x, dtype=f32)`", ""),
    ("`libdevice.isnan`, `isinf`, `popc`, `clz`, `brev`", "`isnan isinf isfinite popcount clz ctz brev`", ""),
]
REDUCTIONS = [
    ("`reduce(x, axis, fn, keep_dims)`", "`reduce(x, fn, axis=0, keep_dims=true)`", "tuples too; `axis` left out: all"),
    ("`sum max min`", "`sum(x, axis=1)`", "small integers and floats sum in 32 bits"),
    ("`max(x, return_indices=True)`", "`max(x, axis=1, return_indices=true)`", "ties to the lowest index"),
    ("`argmax argmin`", "`argmax(x, axis=1)`", "NaN counts as the extreme"),
    ("`xor_sum`, `reduce_or`", "`xor_sum(x, axis=0)`, `reduce_or(x, axis=0)`", "also `prod any all`"),
]
SCANS = [
    ("`associative_scan(x, axis, fn, reverse)`", "`scan(x, fn, axis=0, reverse=true)`", "tuples too"),
    ("`cumsum cumprod`", "`cumsum(x, axis=0)`", "i1 counts in i32"),
    ("`histogram(x, bins, mask)`", "`histogram(x, 16, mask=m)`", "values out of range count nowhere"),
    ("`sort(x, dim, descending)`", "`sort(x, axis=-1, descending=true)`", "gives (values, indices), stable, any axis"),
    ("`topk(x, k)`", "`topk(x, 4, axis=-1)`", "gives (values, indices), any k"),
    ("`bitonic_merge`", "`sort`", ""),
]
ATOMICS = [
    ("`atomic_add max min and or xor xchg`", "`atomic_add(p, v, mask=m)`", "pointers or places"),
    ("`sem=\"acq_rel\"`, `scope=\"gpu\"`", "the same", "`cta`, `gpu`, `sys`"),
    ("`atomic_cas(p, cmp, val)`", "`atomic_cas(p, expected, desired)`", "tiles too"),
    ("`atomic_poll` (3.9)", "`atomic_poll(p, expected)`", ""),
    ("`atomic_load`, `atomic_store` (3.9)", "`atomic_load(p, sem=\"acquire\")`", ""),
]
RANDOM = [
    ("`philox`, `philox_impl`", "`philox(seed, c0, c1, c2, c3)`", "the same numbers"),
    ("`randint`, `randint4x`", "`randint(seed, offset)`", ""),
    ("`rand`, `rand4x`", "`rand(seed, offset)`", "`rand_open` excludes 0"),
    ("`randn`, `randn4x`", "`randn(seed, offset)`", ""),
    ("`uint_to_uniform_float`, `pair_uniform_to_normal`", "the same", ""),
]
ELEMENTWISE = [
    ("`map_elementwise(fn, *args)`", "`map_elementwise(fn, a, b)`", "branches and loops an element"),
    ("`inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)`", "`inline_asm_elementwise(asm, constraints, a, dtype=f32, reference=fn(x) { ... })`", "the reference is what the CPU runs"),
]
HINTS = [
    ("`assume(c)`", "`assume(c)`", "the interpreter checks it"),
    ("`multiple_of`, `max_contiguous`, `max_constancy`", "the same", "checked; tensors need none"),
    ("`debug_barrier`", "`barrier()`", "program order needs none"),
    ("`expect_zero(x, mask)` (3.8)", "none", "masked elements are the fill by rule"),
]
DEBUG = [
    ("`static_print`, `static_assert`", "the same", ""),
    ("`device_print(prefix, *args, hex)`", "`print(\"x = \", x, hex=true)`", ""),
    ("`device_assert(c, msg, mask)`", "`assert(c, \"text\", mask=m)`", "always on in the interpreter"),
]
HARDWARE = [
    ("`globaltimer`, `clock`", "`globaltimer()`, `clock()`", ""),
    ("`smid`", "`smid()`", ""),
    ("`num_warps`, `num_threads`", "`num_warps()`", ""),
    ("`gdc_wait`, `gdc_launch_dependents`", "`grid_wait()`, `grid_launch_dependents()`", ""),
    ("`memrealtime` (AMD)", "`globaltimer()`", ""),
]
