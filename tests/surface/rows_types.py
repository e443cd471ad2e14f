"""Types, rules of numbers, and how a kernel is put together."""

from row import Row

TYPES = [
    Row("`int1`", "`i1`", "a truth value, no integer; one byte in memory",
        """
let m = x[0, :] > 8.0
static_assert(m.dtype == i1)
assert(sum(m, axis=0) == 7)
""", "run/fill-of-zero-is-a-fill.tk", "i1["),
    Row("`int8 int16 int32 int64`", "`i8 i16 i32 i64`", "",
        """
for T in [i8, i16, i32, i64] { assert(n[0, :].to(T) - 20 < 0) }
""", "run/store-stops-at-the-inner-extent.tk", "i8"),
    Row("`uint8 uint16 uint32 uint64`", "`u8 u16 u32 u64`", "",
        """
for T in [u8, u16, u32, u64] { assert(n[0, :].to(T) - 20 > 200) }
""", "run/unsigned-index-stays-unsigned.tk", "u8"),
    Row("`float16 bfloat16 float32 float64`", "`f16 bf16 f32 f64`", "",
        """
for T in [f16, bf16, f32, f64] { assert(x[0, :].to(T) * 0.5 == (x[0, :] * 0.5).to(T)) }
""", "run/oracle/oracle.py", "bf16"),
    Row("`float8e5`", "`f8e5m2`", "OCP",
        """
let t = x[0, 0 +: 8]
assert(t.to(f8e5m2).to(f32) == t)
""", "run/type_oracles.py", "f8e5m2"),
    Row("`float8e4nv`", "`f8e4m3fn`", "OCP",
        """
assert(x[0, :].to(f8e4m3fn).to(f32) == x[0, :])
""", "run/type_oracles.py", "f8e4m3fn"),
    Row("`float8e4b8`, `float8e5b16`", "`f8e4m3fnuz`, `f8e5m2fnuz`", "AMD's",
        """
let t = x[0, 0 +: 8]
assert(t.to(f8e4m3fnuz).to(f32) == t)
assert(t.to(f8e5m2fnuz).to(f32) == t)
""", "run/type_oracles.py", "f8e4m3fnuz"),
    Row("`float8e4b15`", "none", "a software format of old chips; its bits are a `u8`"),
    Row("e2m1 packed in `uint8`, scales in `uint8`", "`f4e2m1`, `e8m0`",
        "types of their own; extents count elements",
        """
assert(x[0, 0 +: 4].to(f4e2m1).to(f32) == x[0, 0 +: 4])
assert(full[f32](4.0, 8).to(e8m0).to(f32) == 4.0)
""", "run/type_oracles.py", "f4e2m1"),
    Row("", "`i4 u4`", "packed, two a byte; Triton has none",
        """
assert(n[0, :].to(u4).to(i32) == arange(0, 16))
assert(bitcast[i4](n[0, :].to(u4)).to(i32) == n[0, :] - 16 * (n[0, :] >= 8).to(i32))
""", "run/type_oracles.py", "i4"),
    Row("`pointer_type`, `const`", "`in p: *f32`",
        "`in`, `out`, `inout` say who reads and writes",
        """
assert(load(p + arange(0, 16)) == x[0, :])
""", "run/vector-add-pointers.tk", "*f32"),
    Row("`pointer_type` in memory: `load(p).to(pointer_type(float32))`", "`in t: **f32`",
        "`load` gives a `*f32`",
        """
kernel row(in t: **f32) @grid(1) {
    assert(load(load(t + 1) + arange(0, 4)) == 2.0)
}
""", "frontend/lower-views.tk", "**", args="t=[ones:4,full(2):4]"),
    Row("`block_type`, `tensor`", "`tile[f32, 3, 5]`", "sides from 1, up to 2^20 elements",
        """
let t: tile[f32, 3, 5] = zeros[f32](3, 5)
static_assert(t.shape == (3, 5))
assert(t == 0.0)
""", "frontend/lower-generic.tk", "tile["),
    Row("`tuple`", "`(a, b)`, `t.0`", "also of dtypes and functions",
        """
let t = (k, (s, x[0, :]))
assert(t.0 == 5 && t.1.0 == 2.5)
""", "frontend/lower-control.tk", ".0"),
    Row("named tuples, `@aggregate`", "`struct`", "values with methods, without inheritance",
        """
struct Pair {
    a: f32
    b: f32
    fn total(self) { return self.a + self.b }
}
---
var pair = Pair(s, b=1.0)
pair.a += 1.0
assert(pair.total() == 4.5)
""", "run/structs.tk", "struct"),
    Row("`tensor_descriptor`", "a parameter `x: T[M, N]`",
        "an address with extents and strides; there is nothing to set up",
        """
assert(x[4 +: 8, 0 +: 8] == (4 + arange(0, 8)[:, None]).to(f32) * 16.0 + x[0, 0 +: 8][None, :])
""", "run/short-rows-read-the-fill.tk", "f32["),
    Row("`constexpr`", "`[BLOCK: int = 128]`, `const N = 4`, `const` parameters", "",
        """
const N = 4
fn wide(x, const factor: int) { return x * factor }
kernel row[BLOCK: int = 8]() @grid(1) {
    assert(wide(arange(0, BLOCK), N) == 4 * arange(0, 8))
}
""", "frontend/lower-compile-time.tk", "const "),
    Row("`void`", "a function without `return`", "",
        """
fn put(t: f32[M, _]) { t[M - 1, 0] = 7.0 }
---
put(y)
assert(y[15, 0] == 7.0)
""", "frontend/lower-functions.tk", "fn "),
    Row("`pi32_t`", "none", "an internal type"),
]

RULES = [
    Row("every side a power of two", "any side from 1", "144 and 80 are real tiles",
        """
assert(sum(full(1, 3, 7)) == 21)
""", "run/oracle/shape_cases.py", "shape"),
    Row("rank any; `dot` of rank 2 and 3", "rank any, `@` too", "what precedes the last two sides is a batch",
        """
assert(full[f16](1.0, 2, 1, 3, 4) @ full[f16](1.0, 2, 1, 4, 5) == 4.0)
""", "frontend/lower-dot.tk", "batched"),
    Row("promotion by kind, then width", "wider wins, within a kind only",
        "an integer and a float do not meet: write `.to(f32)`",
        """
assert(x[0, :] + n[0, :] == 0.0)
""", "frontend/sema-errors-numbers.tk", "TK2014", error="TK2014"),
    Row("fp16 + bf16 gives fp32", "the same", "",
        """
static_assert((x[0, :].to(f16) + x[0, :].to(bf16)).dtype == f32)
assert(x[0, :].to(f16) + x[0, :].to(bf16) == 2.0 * x[0, :])
""", "frontend/lower-numbers.tk", "bf16"),
    Row("two different fp8 give fp16", "an error", "fp8 has no arithmetic: `.to(f16)`",
        """
let z = x[0, :].to(f8e5m2) + x[0, :].to(f8e4m3fn)
""", "frontend/sema-errors-storage.tk", "TK2160", error="TK2160"),
    Row("same width: unsigned wins", "an error, unless the signed one is wider", "",
        """
let z = n[0, :] + n[0, :].to(u32)
""", "frontend/sema-errors-numbers.tk", "TK2015", error="TK2015"),
    Row("a Python number does not take part", "a compile-time number takes the type it meets",
        "and must fit it",
        """
static_assert((n[0, :].to(i8) + 1).dtype == i8)
assert(n[0, :].to(i8) + 1 == (arange(1, 17)).to(i8))
""", "frontend/lower-numbers.tk", "i8"),
    Row("`/` of integers gives fp32", "an error", "write `//`, or `.to(f32)`",
        """
let z = k / 2
""", "frontend/sema-errors-numbers.tk", "TK2016", error="TK2016"),
    Row("`//`, `%` truncate on tensors, round down on constexpr",
        "always truncate; `floordiv(a, b)`, `floormod(a, b)`", "`%` of floats is `fmod`",
        """
let a = k - 12
assert(a // 2 == -3 && a % 2 == -1)
assert(floordiv(a, 2) == -4 && floormod(a, 2) == 1)
assert(fmod(s, 2.0) == 0.5)
""", "frontend/lower-modules.tk"),
    Row("`x / y` of fp16 in fp32", "the same", "f16 and bf16 compute in f32 and round once",
        """
let h = s.to(f16)
assert(h / 3.0 == (s / 3.0).to(f16))
""", "run/oracle/function_cases.py", "FLOATS"),
    Row("`.to(dtype, fp_downcast_rounding=)`", "`.to(f16, round=\"rtz\")`",
        "`rne rtz down up`; also `overflow=`",
        """
let third = s / 3.0
assert(third.to(f16, round="rtz").to(f32) < third)
assert(third.to(f16, round="up").to(f32) > third)
assert((s * 1000.0).to(i8, overflow="saturate") == 127)
""", "run/types/storage.tk", "round="),
    Row("`.to(dtype, bitcast=True)`", "`bitcast[i32](x)`", "splits and joins elements along `axis=`",
        """
assert(bitcast[i32](s) == 0x40200000)
assert(bitcast[u8](n[0, :], axis=0).shape == (64,))
""", "run/oracle/shape_cases.py", "bitcast"),
    Row("float to integer out of range: undefined", "saturates; NaN gives 0", "",
        """
assert((s * 1.0e10).to(i32) == 2147483647)
assert(full[f32](nan, 4).to(i32) == 0)
""", "unit/InterpConversionTest.cpp", "NaN"),
    Row("`x // 0`, shifts past the width: undefined", "0, and 0 or the sign",
        "the interpreter warns",
        """
let zero = n[0, 0]
assert(n[0, :] // zero == 0)
assert(n[0, :] % zero == n[0, :])
assert(n[0, :] << (zero + 32) == 0)
""", "run/integer-corners.tk", "//", warns=("TK5013", "TK5015")),
    Row("`sanitize_overflow`", "integers wrap",
        "the interpreter warns when one wraps on its way into an address",
        """
assert(n[0, 1 +: 4] + 2147483647 < 0)
""", "run/product-wraps-before-it-is-widened.tk", "TK"),
    Row("masked elements without `other`: undefined", "hold the fill, 0 without one", "",
        """
assert(load(p + arange(0, 16), mask=arange(0, 16) > 16) == 0.0)
""", "run/masked-load-without-fill.tk", "mask="),
]
