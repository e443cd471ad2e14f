//===- Builtins.cpp - the table of functions, and constants ---------------===//

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
