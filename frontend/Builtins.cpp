//===- Builtins.cpp - the table of functions, constants and foreign spellings --===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace tk;

namespace tk {
struct BuiltinTable;
}

struct tk::BuiltinTable {
  static constexpr Builtin entries[] = {
      {"program_id", "axis", &Lowerer::buildProgramId},
      {"num_programs", "axis", &Lowerer::buildProgramId},
      {"arange", "start end", &Lowerer::buildArange},
      {"zeros", "sides*", &Lowerer::buildZeros, /*takesType=*/true},
      {"full", "value sides*", &Lowerer::buildFull, /*takesType=*/true},
      {"load", "&source mask? fill?", &Lowerer::buildLoad},
      {"store", "&target value mask?", &Lowerer::buildStore},
      {"max", "value axis", &Lowerer::buildReduce},
      {"min", "value axis", &Lowerer::buildReduce},
      {"sum", "value axis", &Lowerer::buildReduce},
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
      {"static_assert", "condition text?", &Lowerer::buildStaticAssert},
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
      "atomic_add", "atomic_and", "atomic_cas", "atomic_exchange",
      "atomic_max", "atomic_min", "atomic_or",  "atomic_xor",
      "argmax",     "argmin",     "assert",     "bitcast",
      "broadcast",  "cat",        "cumprod",    "cumsum",
      "dot",        "device",     "floordiv",   "floormod",
      "gather",     "histogram",  "interleave", "join",
      "next_pow2",  "philox",     "prefetch",   "print",
      "rand",       "rand_open",  "randint",    "randn",
      "reduce",     "reshape",    "scan",       "softmax",
      "sort",       "split",      "swizzle2d",  "topk",
      "transpose",  "view",       "round",      "pow",
      "log1p",      "expm1",      "any",        "all",
      "prod",       "occupancy",  "inline_asm", "barrier"};
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
