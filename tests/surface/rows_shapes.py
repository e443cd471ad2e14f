"""Operations: program, creation, shape, products."""

from row import Row

MODEL = [
    Row("`program_id(axis)`", "`program_id(0)`", "i64; 1 to 8 axes",
        """
assert(program_id(0) == 0)
""", "run/grid-rank.tk"),
    Row("`num_programs(axis)`", "`num_programs(0)`", "i64",
        """
assert(num_programs(0) == 1)
""", "run/grid-rank.tk"),
    Row("`to_tensor`", "not needed", "a scalar is a value, and goes wherever it broadcasts"),
    Row("`target_info.current_target`, `is_cuda`, `is_hip`, `cuda_capability_geq`", "none",
        "a kernel means the same on each target; what differs is for the compiler"),
]

CREATION = [
    Row("`arange(a, b)`", "`arange(a, b)`", "any length",
        """
assert(sum(arange(0, 5)) == 10)
""", "run/gather-and-scatter.tk"),
    Row("`zeros((M, N), dtype)`", "`zeros[f32](M, N)`", "",
        """
assert(zeros[f32](3, 4) == 0.0)
""", "frontend/lower-builtins.tk", "zeros["),
    Row("`full((M, N), v, dtype)`", "`full[f32](v, M, N)`", "the value first",
        """
assert(full[f32](s, 3, 4) == 2.5)
""", "frontend/lower-shapes.tk", "full["),
    Row("`zeros_like(x)`", "`zeros_like(x)`", "also `full_like(x, v)`, `eye[f32](n)`",
        """
assert(zeros_like(x[0, :]) == 0.0)
assert(sum(eye[f32](4)) == 4.0)
""", "frontend/lower-shapes.tk"),
    Row("`cast(x, dtype)`, `x.to(dtype)`", "`x.to(f16)`", "",
        """
static_assert(x[0, :].to(f16).dtype == f16)
assert(x[0, :].to(f16).to(f32) == x[0, :])
""", "frontend/lower-numbers.tk", ".to("),
    Row("`cat(a, b, can_reorder, dim)`", "`cat(a, b, axis=0)`", "keeps the order; any number of tiles",
        """
assert(cat(arange(0, 3), arange(3, 5), arange(5, 6), axis=0) == arange(0, 6))
""", "frontend/lower-shapes.tk"),
]

SHAPE = [
    Row("`broadcast(a, b)`", "`broadcast(a, b)`", "gives a tuple",
        """
let (a, b) = broadcast(arange(0, 4)[:, None], arange(0, 3)[None, :])
assert(a.shape == (4, 3) && b.shape == (4, 3))
""", "frontend/lower-shapes.tk"),
    Row("`broadcast_to(x, shape)`", "`broadcast_to(x, M, N)`", "",
        """
assert(broadcast_to(arange(0, 4)[None, :], 3, 4) == arange(0, 4)[None, :])
""", "run/oracle/shape_cases.py", "broadcast"),
    Row("`expand_dims(x, axis)`, `unsqueeze`", "`expand_dims(x, 1)`, `x[:, None]`", "several axes by a tuple",
        """
assert(expand_dims(arange(0, 4), 1).shape == (4, 1) && unsqueeze(arange(0, 4), 0).shape == (1, 4))
""", "frontend/lower-shapes.tk"),
    Row("`permute(x, dims)`", "`permute(x, 1, 0)`", "",
        """
assert(permute(x[:, :], 1, 0)[2, :] == x[:, 2])
""", "frontend/lower-shapes.tk"),
    Row("`trans(x)`, `x.T`", "`trans(x)`, `x.T`", "the last two axes",
        """
assert(trans(x[:, :]) == x[:, :].T)
""", "frontend/lower-shapes.tk"),
    Row("`reshape(x, shape)`, `view`", "`reshape(x, M, N)`", "one side may be -1; the order is kept",
        """
assert(reshape(arange(0, 12), 3, -1)[1, :] == arange(4, 8))
""", "frontend/lower-shapes.tk"),
    Row("`ravel(x)`", "`ravel(x)`", "",
        """
assert(ravel(n[0 +: 2, :]) == arange(0, 32))
""", "frontend/lower-shapes.tk"),
    Row("`join(a, b)`", "`join(a, b)`", "a new last axis of side 2",
        """
assert(join(arange(0, 4), arange(4, 8))[:, 1] == arange(4, 8))
""", "frontend/lower-shapes.tk"),
    Row("`split(x)`", "`split(x)`", "gives a tuple",
        """
let (a, b) = split(reshape(arange(0, 8), 4, 2))
assert((a == 2 * arange(0, 4)) & (b == a + 1))
""", "frontend/lower-shapes.tk"),
    Row("`interleave(a, b)`", "`interleave(a, b)`", "",
        """
assert(interleave(2 * arange(0, 4), 2 * arange(0, 4) + 1) == arange(0, 8))
""", "frontend/lower-shapes.tk"),
    Row("`squeeze(x, dim)`", "`squeeze(x, 1)`", "all sides of 1 without an axis",
        """
assert(squeeze(arange(0, 4)[:, None], 1) == arange(0, 4))
""", "frontend/lower-shapes.tk"),
    Row("`x.item()`", "`x.item()`", "",
        """
assert(full(s, 1, 1).item() == 2.5)
""", "frontend/lower-shapes.tk", "item("),
    Row("`flip(x, dim)`", "`flip(x, 1)`", "",
        """
assert(flip(x[:, :], 1)[0, :] == 15.0 - x[0, :])
""", "frontend/lower-shapes.tk"),
]

PRODUCTS = [
    Row("`dot(a, b, acc)`", "`acc += a @ b`, `dot(a, b, acc)`", "any sides, also below 16; batches",
        """
var acc = w[0 +: 3, :] @ w[:, 0 +: 5]
acc = dot(w[0 +: 3, :], w[:, 0 +: 5], acc)
assert(acc == 64.0)
""", "frontend/lower-dot.tk"),
    Row("`input_precision`, `allow_tf32`", "`dot(a, b, input=\"tf32\")`",
        "f32 products are f32-accurate by default; `tf32` rounds, never truncates. "
        "`exact tf32 tf32x3 bf16x3 bf16x6`",
        """
assert(dot(x[:, :], x[:, :], input="tf32x3") == x[:, :] @ x[:, :])
""", "run/types/products.tk", "input="),
    Row("`max_num_imprecise_acc`", "`dot(a, b, promote=128)`", "fp8; the default. `promote=\"never\"` for speed",
        """
let a = w[:, :].to(f8e4m3fn)
assert(dot(a, a, promote=128) == 32.0)
""", "run/types/products.tk", "promote="),
    Row("`out_dtype`", "`dot(a, b, out=f16)`", "of f16 and fp8",
        """
static_assert(dot(w[:, :], w[:, :], out=f16).dtype == f16)
assert(dot(w[:, :], w[:, :], out=f16) == 32.0)
""", "run/types/products.tk", "out="),
    Row("`dot` of int8, fp16, bf16, fp32, fp64, any two fp8", "the same, and `u8`",
        "i32 of 8-bit integers, f64 of f64, else f32",
        """
let c8 = n[0 +: 8, :].to(i8)
static_assert((c8 @ n[:, :].to(u8)).dtype == i32)
assert(full[f64](1.0, 4, 4) @ full[f64](0.5, 4, 4) == 2.0)
assert(w[:, :].to(f8e5m2) @ w[:, :].to(f8e4m3fn) == 32.0)
""", "run/type_oracles.py", "f8e5m2"),
    Row("smallest sides 1, 1 and K of 16, 32 or more", "sides from 1", "padded by the compiler",
        """
assert(w[0 +: 1, 0 +: 3] @ w[0 +: 3, 0 +: 1] == 3.0)
""", "run/oracle/dot_cases.py", "shape"),
    Row("`dot_scaled(a, a_scale, \"e2m1\", b, b_scale, \"e4m3\", acc)`", "`dot_scaled(a, sa, b, sb, acc)`",
        "the dtypes say the formats; `sb` has b's axes, [K // 32, N]",
        """
let a = w[:, :].to(f4e2m1)
let two = full[f32](2.0, 32, 1).to(e8m0)
assert(dot_scaled(a, two, w[:, :].to(f8e4m3fn), None) == 64.0)
""", "run/types/products.tk", "dot_scaled"),
    Row("its formats `e2m1 e4m3 e5m2 fp16 bf16`, mixed", "`f4e2m1 f8e4m3fn f8e5m2 f16 bf16`, mixed", "",
        """
let one = full[f32](1.0, 32, 1).to(e8m0)
for T in [f4e2m1, f8e4m3fn, f8e5m2, f16, bf16] {
    assert(dot_scaled(w[:, :].to(T), one, w[:, :].to(f8e5m2), None) == 32.0)
}
""", "run/type_oracles.py", "bf16"),
    Row("scales of e8m0 by 32, of e4m3 by 16", "the same", "either may be `None`",
        """
let a = w[:, :].to(f4e2m1)
let half = full[f32](0.5, 32, 2).to(f8e4m3fn)
assert(dot_scaled(a, half, a, None) == 16.0)
""", "run/type_oracles.py", "f8e4m3fn"),
    Row("`fast_math`", "none", "`dot_scaled` is exact but for the order of its sum and scales beyond bf16"),
    Row("`lhs_k_pack`, `rhs_k_pack`", "none", "elements of 4 bits count one by one, packed along the unit stride"),
]
