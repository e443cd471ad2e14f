//===- Builtins.cpp - the table of functions, constants and foreign spellings --===//

#include "frontend/MemoryLowerer.h"
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
      {"max", "value !axis", &Lowerer::buildReduce},
      {"min", "value !axis", &Lowerer::buildReduce},
      {"sum", "value !axis", &Lowerer::buildReduce},
      {"abs", "value", &Lowerer::buildUnary},
      {"exp", "value", &Lowerer::buildUnary},
      {"exp2", "value", &Lowerer::buildUnary},
      {"log", "value", &Lowerer::buildUnary},
      {"log2", "value", &Lowerer::buildUnary},
      {"sqrt", "value", &Lowerer::buildUnary},
      {"rsqrt", "value", &Lowerer::buildUnary},
      {"sin", "value", &Lowerer::buildUnary},
      {"cos", "value", &Lowerer::buildUnary},
      {"tanh", "value", &Lowerer::buildUnary},
      {"erf", "value", &Lowerer::buildUnary},
      {"floor", "value", &Lowerer::buildUnary},
      {"ceil", "value", &Lowerer::buildUnary},
      {"sigmoid", "value", &Lowerer::buildUnary},
      {"maximum", "a b", &Lowerer::buildMinMax},
      {"minimum", "a b", &Lowerer::buildMinMax},
      {"fma", "a b c", &Lowerer::buildFma},
      {"clamp", "value low high", &Lowerer::buildClamp},
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
      "argmax",  "argmin",     "bitcast",   "broadcast", "cat",     "cumprod",
      "cumsum",  "dot",        "device",    "floordiv",  "floormod", "gather",
      "histogram", "interleave", "join",    "next_pow2", "philox",  "rand",
      "rand_open", "randint",  "randn",     "reduce",    "reshape", "scan",
      "softmax", "sort",       "split",     "swizzle2d", "topk",    "transpose",
      "round",   "pow",        "log1p",     "expm1",     "any",     "all",
      "prod",    "occupancy",  "inline_asm"};
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
      .Case("dtype", "the dtype stands in brackets: `zeros[f32](64)`")
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
