//===- Builtins.cpp - the table of functions, constants and foreign spellings --===//

#include "frontend/MemoryLowerer.h"
#include "frontend/TileLowerer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace tk;

namespace tk {
struct BuiltinTable;
}

struct tk::BuiltinTable {
  static constexpr Builtin entries[] = {
      {"program_id", "!axis", &Lowerer::buildProgramId},
      {"num_programs", "!axis", &Lowerer::buildProgramId},
      {"arange", "!start !end", &Lowerer::buildArange},
      {"bitcast", "value !axis?", &Lowerer::buildBitcast, /*takesType=*/true},
      {"zeros", "sides*", &Lowerer::buildZeros, /*takesType=*/true},
      {"full", "value sides*", &Lowerer::buildFull, /*takesType=*/true},
      {"load", "&source mask? fill? * !cache? !evict? !volatile?", &MemoryLowerer::buildLoad},
      {"store", "&target value mask? * !cache? !evict?", &MemoryLowerer::buildStore},
      {"prefetch", "&source mask? * !evict?", &MemoryLowerer::buildPrefetch},
      {"view", "~source extents? strides?", &MemoryLowerer::buildView},
      {"atomic_add", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_max", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_min", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_and", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_or", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_xor", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_xchg", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_exchange", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicRmw},
      {"atomic_cas", "&target expected desired mask? * !sem? !scope?",
       &MemoryLowerer::buildAtomicCas},
      {"atomic_load", "&source mask? * !sem? !scope?", &MemoryLowerer::buildAtomicLoad},
      {"atomic_store", "&target value mask? * !sem? !scope?", &MemoryLowerer::buildAtomicStore},
      {"atomic_poll", "&source expected * !sem? !scope?", &MemoryLowerer::buildAtomicPoll},
      {"print", "!text values* !hex?", &MemoryLowerer::buildPrint},
      {"static_print", "values*", &MemoryLowerer::buildStaticPrint},
      {"assert", "condition !text? * mask?", &MemoryLowerer::buildAssert},
      {"assume", "condition", &MemoryLowerer::buildAssume},
      {"multiple_of", "value !numbers", &MemoryLowerer::buildHint},
      {"max_contiguous", "value !numbers", &MemoryLowerer::buildHint},
      {"max_constancy", "value !numbers", &MemoryLowerer::buildHint},
      {"barrier", "", &MemoryLowerer::buildBarrier},
      {"clock", "", &MemoryLowerer::buildMachineNumber},
      {"globaltimer", "", &MemoryLowerer::buildMachineNumber},
      {"smid", "", &MemoryLowerer::buildMachineNumber},
      {"num_warps", "", &MemoryLowerer::buildMachineNumber},
      {"grid_wait", "", &MemoryLowerer::buildGridDependency},
      {"grid_launch_dependents", "", &MemoryLowerer::buildGridDependency},
      {"zeros_like", "x", &TileLowerer::buildLike},
      {"full_like", "x value", &TileLowerer::buildLike},
      {"eye", "sides*", &TileLowerer::buildEye, /*takesType=*/true},
      {"cat", "parts* !axis?", &TileLowerer::buildCat},
      {"broadcast", "a b", &TileLowerer::buildBroadcast},
      {"broadcast_to", "x sides*", &TileLowerer::buildBroadcastTo},
      {"expand_dims", "x !axis", &TileLowerer::buildExpandDims},
      {"unsqueeze", "x !axis", &TileLowerer::buildExpandDims},
      {"squeeze", "x !axis?", &TileLowerer::buildSqueeze},
      {"permute", "x order*", &TileLowerer::buildPermute},
      {"trans", "x order*", &TileLowerer::buildPermute},
      {"reshape", "x sides*", &TileLowerer::buildReshape},
      {"ravel", "x", &TileLowerer::buildReshape},
      {"join", "a b", &TileLowerer::buildJoin},
      {"interleave", "a b", &TileLowerer::buildJoin},
      {"split", "x", &TileLowerer::buildSplit},
      {"flip", "x !axis?", &TileLowerer::buildFlip},
      {"item", "x", &TileLowerer::buildItem},
      {"max", "x !axis? !return_indices? !keep_dims?", &TileLowerer::buildExtreme},
      {"min", "x !axis? !return_indices? !keep_dims?", &TileLowerer::buildExtreme},
      {"argmax", "x !axis? !keep_dims?", &TileLowerer::buildExtreme},
      {"argmin", "x !axis? !keep_dims?", &TileLowerer::buildExtreme},
      {"sum", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"prod", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"xor_sum", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"or_sum", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"reduce_or", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"any", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"all", "x !axis? !keep_dims?", &TileLowerer::buildFold},
      {"reduce", "x combine !axis? !keep_dims?", &TileLowerer::buildReduce},
      {"scan", "x combine !axis? !reverse?", &TileLowerer::buildReduce},
      {"associative_scan", "x combine !axis? !reverse?", &TileLowerer::buildReduce},
      {"cumsum", "x !axis? !reverse?", &TileLowerer::buildCumulate},
      {"cumprod", "x !axis? !reverse?", &TileLowerer::buildCumulate},
      {"cummax", "x !axis? !reverse?", &TileLowerer::buildCumulate},
      {"cummin", "x !axis? !reverse?", &TileLowerer::buildCumulate},
      {"sort", "x !axis? !descending?", &TileLowerer::buildSort},
      {"topk", "x !k !axis? !descending?", &TileLowerer::buildSort},
      {"histogram", "x !bins mask?", &TileLowerer::buildHistogram},
      {"gather", "x index !axis?", &TileLowerer::buildGather},
      {"dot", "a b acc? !input? !promote? !out?", &TileLowerer::buildDot},
      {"dot_scaled", "a a_scale b b_scale acc?", &TileLowerer::buildDotScaled},
      {"map_elementwise", "function args*", &TileLowerer::buildMap},
      {"inline_asm_elementwise", "!asm !constraints args !dtype !pure? !pack? reference?",
       &TileLowerer::buildAsm},
      {"extern_elementwise", "!symbol args* !dtype? reference?", &TileLowerer::buildExtern},
      {"abs", "x", &TileLowerer::buildUnary},
      {"exp", "x", &TileLowerer::buildUnary},
      {"exp2", "x", &TileLowerer::buildUnary},
      {"exp10", "x", &TileLowerer::buildUnary},
      {"expm1", "x", &TileLowerer::buildUnary},
      {"log", "x", &TileLowerer::buildUnary},
      {"log2", "x", &TileLowerer::buildUnary},
      {"log10", "x", &TileLowerer::buildUnary},
      {"log1p", "x", &TileLowerer::buildUnary},
      {"sqrt", "x", &TileLowerer::buildUnary},
      {"sqrt_rn", "x", &TileLowerer::buildUnary},
      {"rsqrt", "x", &TileLowerer::buildUnary},
      {"cbrt", "x", &TileLowerer::buildUnary},
      {"sin", "x", &TileLowerer::buildUnary},
      {"cos", "x", &TileLowerer::buildUnary},
      {"tan", "x", &TileLowerer::buildUnary},
      {"sinh", "x", &TileLowerer::buildUnary},
      {"cosh", "x", &TileLowerer::buildUnary},
      {"tanh", "x", &TileLowerer::buildUnary},
      {"asin", "x", &TileLowerer::buildUnary},
      {"acos", "x", &TileLowerer::buildUnary},
      {"atan", "x", &TileLowerer::buildUnary},
      {"asinh", "x", &TileLowerer::buildUnary},
      {"acosh", "x", &TileLowerer::buildUnary},
      {"atanh", "x", &TileLowerer::buildUnary},
      {"erf", "x", &TileLowerer::buildUnary},
      {"erfc", "x", &TileLowerer::buildUnary},
      {"erfinv", "x", &TileLowerer::buildUnary},
      {"lgamma", "x", &TileLowerer::buildUnary},
      {"floor", "x", &TileLowerer::buildUnary},
      {"ceil", "x", &TileLowerer::buildUnary},
      {"round", "x", &TileLowerer::buildUnary},
      {"trunc", "x", &TileLowerer::buildUnary},
      {"sigmoid", "x", &TileLowerer::buildUnary},
      {"isnan", "x", &TileLowerer::buildClassify},
      {"isinf", "x", &TileLowerer::buildClassify},
      {"isfinite", "x", &TileLowerer::buildClassify},
      {"popcount", "x", &TileLowerer::buildBits},
      {"clz", "x", &TileLowerer::buildBits},
      {"ctz", "x", &TileLowerer::buildBits},
      {"brev", "x", &TileLowerer::buildBits},
      {"pow", "x y", &TileLowerer::buildBinary},
      {"atan2", "y x", &TileLowerer::buildBinary},
      {"hypot", "x y", &TileLowerer::buildBinary},
      {"fmod", "x y", &TileLowerer::buildBinary},
      {"copysign", "x y", &TileLowerer::buildBinary},
      {"mulhi", "x y", &TileLowerer::buildMulhi},
      {"umulhi", "x y", &TileLowerer::buildMulhi},
      {"fdiv", "x y", &TileLowerer::buildDivide},
      {"div_rn", "x y", &TileLowerer::buildDivide},
      {"maximum", "x y !nan?", &TileLowerer::buildMinMax},
      {"minimum", "x y !nan?", &TileLowerer::buildMinMax},
      {"fma", "a b c", &TileLowerer::buildFma},
      {"clamp", "x low high !nan?", &TileLowerer::buildClamp},
      {"where", "condition a b", &Lowerer::buildWhere},
      {"cdiv", "a b", &Lowerer::buildCdiv},
      {"divmod", "a b", &Lowerer::buildDivmod},
      {"len", "value", &Lowerer::buildLen},
      {"static_assert", "!condition text?", &Lowerer::buildStaticAssert},
      {"range", "bounds*", &Lowerer::buildRange},
      {"static_range", "bounds*", &Lowerer::buildRange},
  };
};

ArrayRef<Builtin> tk::allBuiltins() {
  return BuiltinTable::entries;
}

const Builtin *tk::findBuiltin(StringRef name) {
  for (const Builtin &builtin : BuiltinTable::entries)
    if (builtin.name == name)
      return &builtin;
  return nullptr;
}

bool tk::isPlannedBuiltin(StringRef name) {
  static constexpr StringLiteral planned[] = {
      "device", "occupancy"};
  return is_contained(planned, name);
}

StringRef tk::foreignAdvice(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("and", "write `&&` between scalars, `&` between tiles")
      .Case("or", "write `||` between scalars, `|` between tiles")
      .Case("not", "write `!`")
      .Cases({"tl", "triton"}, "functions have no module prefix: `load`, `arange`")
      .Case("constexpr", "compile-time parameters stand in brackets: `kernel k[BLOCK: int = 128]`")
      .Cases({"pid", "get_program_id"}, "write `program_id(0)`")
      .Case("transpose", "write `trans(x)`, `x.T`, or `permute(x, 1, 0)`")
      .Case("inline_asm", "write `inline_asm_elementwise(...)`")
      .Cases({"concat", "concatenate"}, "write `cat(a, b, axis=0)`")
      .Case("debug_barrier", "write `barrier()`; program order needs none")
      .Case("device_print", "write `print(\"x = \", x)`")
      .Case("device_assert", "write `assert(condition, \"text\")`")
      .Case("gdc_wait", "write `grid_wait()`")
      .Case("gdc_launch_dependents", "write `grid_launch_dependents()`")
      .Cases({"make_block_ptr", "make_tensor_descriptor", "advance"},
             "take a tensor, `x: f32[M, N]`, or make one of a pointer: `view(p, [M, N])`")
      .Cases({"load_tensor_descriptor", "store_tensor_descriptor"},
             "places of tensors are read and assigned: `x[i +: BLOCK, j +: BLOCK]`")
      .Cases({"True", "False"}, "write `true` or `false`")
      .Cases({"float32", "float"}, "write `f32`")
      .Cases({"float16", "half"}, "write `f16`")
      .Case("bfloat16", "write `bf16`")
      .Cases({"float64", "double"}, "write `f64`")
      .Case("int1", "write `i1`")
      .Case("int8", "write `i8`")
      .Case("int16", "write `i16`")
      .Case("int32", "write `i32`")
      .Case("int64", "write `i64`")
      .Case("uint8", "write `u8`")
      .Case("uint16", "write `u16`")
      .Case("uint32", "write `u32`")
      .Case("uint64", "write `u64`")
      .Default("");
}

StringRef tk::foreignArgument(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("other", "what masked elements hold is `fill=`")
      .Case("dtype",
            "new tiles have it in brackets: `zeros[f32](64)`; others convert by `.to(f32)`")
      .Case("dim", "write `axis=`")
      .Case("propagate_nan", "write `nan=\"propagate\"`, which is the default, or `nan=\"number\"`")
      .Cases({"return_indices_tie_break_left", "tie_break_left"}, "ties go to the lowest index")
      .Case("can_reorder", "elements keep their order")
      .Case("ieee_rounding", "division is rounded correctly")
      .Cases({"input_precision", "allow_tf32"}, "write `input=`: \"exact\", \"tf32\", \"tf32x3\"")
      .Case("max_num_imprecise_acc", "write `promote=`")
      .Case("out_dtype", "write `out=`")
      .Cases({"lhs_format", "rhs_format"}, "the dtype of the operand says it")
      .Cases({"lhs_k_pack", "rhs_k_pack"}, "elements of 4 bits count one by one")
      .Case("combine_fn", "write `combine=`")
      .Case("num_bins", "write `bins=`")
      .Case("is_pure", "write `pure=`")
      .Case("cache_modifier", "write `cache=\"cg\"`, without a dot")
      .Case("eviction_policy", "write `evict=\"first\"`, \"last\" or \"normal\"")
      .Case("timeout_ns", "write a `while` with `atomic_load` and `globaltimer()`")
      .Cases({"boundary_check", "padding_option"},
             "places of tensors are always checked: `x[i +: BLOCK, fill=0]`")
      .Default("");
}

std::optional<APFloat> tk::namedConstant(StringRef name) {
  // To more digits than quad precision holds.
  StringRef digits = StringSwitch<StringRef>(name)
                         .Case("LOG2E", "1.44269504088896340735992468100189213742664595415298")
                         .Case("LN2", "0.69314718055994530941723212145817656807550013436025")
                         .Case("PI", "3.14159265358979323846264338327950288419716939937510")
                         .Default("");
  if (!digits.empty())
    return floatFromText(digits);
  if (name == "inf")
    return APFloat::getInf(APFloat::IEEEquad());
  if (name == "nan")
    return APFloat::getNaN(APFloat::IEEEquad());
  return std::nullopt;
}
