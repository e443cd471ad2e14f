"""What Triton 3.7 has in its language, by group: each name has a row. Left out: block pointers
(`make_block_ptr`, `advance`), which Triton itself removes in 3.9.
"""

NAMES = """
int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64
float8e5 float8e4nv float8e4b8 float8e5b16 float8e4b15 e2m1
void pointer_type block_type tuple tensor_descriptor constexpr const pi32_t tensor

bitcast fp_downcast_rounding sanitize_overflow

range num_stages loop_unroll_factor disallow_acc_multi_buffer flatten warp_specialize disable_licm
static_range while condition if elif else return break continue assert f-strings tuples list
comprehension default keyword *args recursion constexpr_function @aggregate and or not is None
chained def lambda noinline try globals import

program_id num_programs to_tensor target_info.current_target is_cuda is_hip cuda_capability_geq

arange full zeros zeros_like cast .to cat can_reorder

broadcast broadcast_to expand_dims permute trans reshape view ravel join split interleave squeeze
unsqueeze .item .T x[None

dot input_precision allow_tf32 max_num_imprecise_acc out_dtype dot_scaled fast_math lhs_k_pack
rhs_k_pack e8m0 e4m3 e5m2

load mask other boundary_check padding_option cache_modifier eviction_policy volatile store
make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor gather scatter
TensorDescriptor round_f32_to_tf32 ragged_tma set_allocator

where flip swizzle2d

add sub mul minimum maximum clamp propagate_nan PropagateNan cdiv fma fdiv ieee_rounding div_rn umulhi

abs exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil sigmoid softmax libdevice

reduce keep_dims sum max min return_indices return_indices_tie_break_left argmax argmin
tie_break_left xor_sum reduce_or

associative_scan reverse cumsum cumprod histogram num_bins sort descending topk bitonic_merge

atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas sem scope
atomic_poll atomic_load atomic_store timeout_ns

philox philox_impl randint randint4x rand rand4x randn randn4x uint_to_uniform_float
pair_uniform_to_normal

map_elementwise inline_asm_elementwise extern_elementwise

assume multiple_of max_contiguous max_constancy debug_barrier expect_zero

static_print static_assert device_print device_assert

globaltimer smid num_threads num_warps gdc_wait gdc_launch_dependents memrealtime
""".split()
