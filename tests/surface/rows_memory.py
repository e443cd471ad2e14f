"""Operations: memory, atomics, hints, printing, the machine."""

from row import Row

MEMORY = [
    Row("`load(p, mask, other)`", "`load(p, mask=m, fill=0)`", "masked elements hold the fill, 0 when none is given",
        """
let lane = arange(0, 16)
assert(load(p + lane, mask=lane < 4, fill=-1) == where(lane < 4, x[0, :], -1.0))
""", "run/fill-of-zero-is-a-fill.tk"),
    Row("`store(p, v, mask)`", "`store(p, v, mask=m)`", "",
        """
store(y[0, :], x[1, :], mask=arange(0, 16) < 4)
assert(y[0, :] == where(arange(0, 16) < 4, x[1, :], 0.0))
""", "run/vector-add-pointers.tk"),
    Row("`cache_modifier=\".cg\"`", "`load(p, cache=\"cg\")`", "`ca cg cs cv`; of `store` `wb cg cs wt`",
        """
assert(load(p + arange(0, 4), cache="cg") == x[0, 0 +: 4])
""", "frontend/lower-access.tk", "cache="),
    Row("`eviction_policy=\"evict_first\"`", "`load(p, evict=\"first\")`", "`first last normal`",
        """
assert(load(p + arange(0, 4), evict="first") == x[0, 0 +: 4])
""", "frontend/lower-access.tk", "evict="),
    Row("`volatile=True`", "`load(p, volatile=true)`", "",
        """
assert(load(p + arange(0, 4), volatile=true) == x[0, 0 +: 4])
""", "frontend/lower-access.tk", "volatile="),
    Row("`boundary_check`, `padding_option`", "`x[i +: 32, fill=nan]`", "a place is checked on every axis, always",
        """
assert(isnan(x[0, 0 +: 32, fill=nan]) == (arange(0, 32) >= 16))
""", "run/short-rows-read-the-fill.tk", "fill"),
    Row("`make_tensor_descriptor`, `load_tensor_descriptor`, `store_tensor_descriptor`",
        "`x[i +: 8, j +: 4]`", "`view(p, [M, K], strides=[s, 1])` makes a tensor of a pointer",
        """
let v = view(p, [4, 64])
y[2 +: 2, 4 +: 4] = v[1 +: 2, 0 +: 4]
assert(y[2 +: 2, 4 +: 4] == x[4 +: 8, :][0:8:4, 0:4])
""", "frontend/lower-views.tk", "view("),
    Row("`gather`, `scatter` of a descriptor", "`x[rows, k +: 8]`", "a tile as an index; what is out of range reads as the fill",
        """
let rows = arange(0, 4) * 8  # 16 and 24 are outside
assert(x[rows, k +: 8] == where(rows < 16, rows * 16 + 5, 0)[:, None].to(f32) + where(rows < 16, 1, 0).to(f32)[:, None] * x[0, 0 +: 8][None, :])
""", "run/gather-and-scatter.tk", "["),
    Row("`atomic_add` ... `atomic_xor` of a descriptor", "`atomic_add(y[m +: 4, :], v)`", "",
        """
atomic_add(y[2 +: 4, :], x[2 +: 4, :])
assert(atomic_load(y[5, 3]) == 83.0)
""", "frontend/lower-atomics.tk"),
    Row("`TensorDescriptor(..., padding, round_f32_to_tf32)` of the host", "the tensor parameter itself",
        "rounding is the product's: `input=\"tf32\"`",
        """
assert(x.shape == (16, 16) || x.stride(0) == 16)
""", "frontend/lower-contract.tk", "f32["),
    Row("`ragged_tma`", "`view(x[lo:hi, :])`", "its own extents: reads past `hi` give the fill",
        """
let part = view(x[2:k, :])
assert(part.shape[0] == 3 && sum(part[0 +: 8, 0]) == 32.0 + 48.0 + 64.0)
""", "run/ragged-groups.tk"),
    Row("`set_allocator`, global scratch", "`scratch part: f32[N]`", "the size stands in the description of the kernel",
        """
kernel row(@zeroed scratch part: f32[num_programs(0), 4]) @grid(2) {
    assert(part[program_id(0), :] == 0.0)
}
""", "frontend/kernels/stream-k.tk", "scratch", args=" "),
    Row("", "`prefetch(x[i +: 16])`", "Triton has none",
        """
prefetch(x[0, :])
assert(x[0, 3] == 3.0)
""", "frontend/lower-access.tk"),
]

ATOMICS = [
    Row("`atomic_add`", "`atomic_add(p, v, mask=m)`", "pointers, tiles of them, places; f16 and bf16 too",
        """
atomic_add(c[:], 3, mask=arange(0, 16) < 2)
assert(sum(atomic_load(c[:])) == 6)
""", "run/look-back.tk"),
    Row("`atomic_max`, `atomic_min`", "`atomic_max(p, v)`, `atomic_min(p, v)`", "of floats too; NaN propagates",
        """
atomic_max(y[0, :], x[0, :] - 8.0)
assert(atomic_min(y[0, :], -1.0) == maximum(x[0, :] - 8.0, 0.0))
""", "frontend/lower-atomics.tk"),
    Row("`atomic_and`, `atomic_or`, `atomic_xor`", "`atomic_and(p, v)`, `atomic_or(p, v)`, `atomic_xor(p, v)`", "",
        """
atomic_or(c[:], 12)
atomic_xor(c[:], 5)
assert(atomic_and(c[:], 1) == 9)
""", "frontend/lower-atomics.tk"),
    Row("`atomic_xchg`", "`atomic_xchg(p, v)`", "also `atomic_exchange`",
        """
atomic_xchg(c[0], 4)
assert(atomic_xchg(c[0], 5) == 4)
""", "run/spin-lock-guards-its-data.tk"),
    Row("`atomic_cas(p, cmp, val)`", "`atomic_cas(p, expected, desired)`", "tiles too; 16 bits: f16, bf16",
        """
assert(atomic_cas(c[:], 0, arange(0, 16)) == 0)
assert(atomic_cas(c[:], 3, 9) == arange(0, 16))
""", "run/compare-and-swap-of-wide-tiles.tk"),
    Row("`sem=`, `scope=`", "`sem=\"acq_rel\"`, `scope=\"gpu\"`",
        "`relaxed acquire release acq_rel`, `cta gpu sys`, the same defaults",
        """
assert(atomic_add(c[0], 1, sem="relaxed", scope="cta") == 0)
""", "frontend/lower-atomics.tk", "scope="),
    Row("`atomic_load`, `atomic_store` (3.9)", "`atomic_load(p)`, `atomic_store(p, v)`", "acquire and release by default",
        """
atomic_store(c[3], 7, sem="release")
assert(atomic_load(c[3], sem="acquire") == 7)
""", "run/look-back.tk"),
    Row("`atomic_poll(expected, timeout_ns)` (3.9)", "`atomic_poll(p, expected)`",
        "for a time limit a `while` with `globaltimer()`",
        """
atomic_store(c[3], 7)
atomic_poll(c[3], 7)
assert(atomic_load(c[3]) == 7)
""", "run/waits-for-larger-id-errors.tk"),
]

HINTS = [
    Row("`assume(c)`", "`assume(c)`", "the interpreter reports one that is false",
        """
assume(k > 0)
assert(k == 5)
""", "run/promises-errors.tk"),
    Row("`multiple_of`, `max_contiguous`, `max_constancy`", "`multiple_of(v, 8)`, `max_contiguous(v, 8)`, `max_constancy(v, 8)`",
        "checked too; tensors need none",
        """
let lane = max_contiguous(multiple_of(arange(0, 16), 16), 16)
assert(load(p + lane) + max_constancy(full(1.0, 16).to(i32), 16).to(f32) == x[0, :] + 1.0)
""", "frontend/lower-debug.tk"),
    Row("`debug_barrier()`", "`barrier()`", "the order of memory needs none",
        """
barrier()
assert(k == 5)
""", "run/spin-lock-guards-its-data.tk"),
    Row("`expect_zero(x, mask)` (3.8)", "none", "masked elements are the fill by rule"),
]

DEBUG = [
    Row("`static_print`", "`static_print(a, b)`", "on standard error, at each elaboration",
        """
static_print("k", k)
assert(k == 5)
""", "frontend/lower-debug.tk"),
    Row("`static_assert`", "`static_assert(c, \"text\")`", "",
        """
static_assert(2 + 2 == 4, "arithmetic")
""", "frontend/lower-functions.tk"),
    Row("`device_print(prefix, *args, hex)`", "`print(\"x = \", x, hex=true)`", "a line a program instance",
        """
print("k = ", k, hex=true)
assert(k == 5)
""", "run/prints.tk"),
    Row("`device_assert(cond, msg, mask)`", "`assert(c, \"text\", mask=m)`", "always on in the interpreter",
        """
assert(x[0, :] < 8.0, "masked", mask=arange(0, 16) < 8)
""", "run/promises-errors.tk"),
]

MACHINE = [
    Row("`globaltimer`, `memrealtime` (AMD)", "`globaltimer()`, `clock()`", "nanoseconds; cycles",
        """
assert(globaltimer() >= 0 && clock() >= 0)
""", "frontend/lower-debug.tk"),
    Row("`smid`", "`smid()`", "",
        """
assert(smid() == 0)
""", "frontend/lower-debug.tk"),
    Row("`num_warps`, `num_threads`", "`num_warps()`", "of the launch",
        """
assert(num_warps() == 4)
""", "frontend/lower-debug.tk"),
    Row("`gdc_wait`, `gdc_launch_dependents`", "`grid_wait()`, `grid_launch_dependents()`", "nothing to do in the interpreter",
        """
grid_wait()
grid_launch_dependents()
assert(k == 5)
""", "frontend/lower-debug.tk"),
]
