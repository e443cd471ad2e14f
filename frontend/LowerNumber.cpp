//===- LowerNumber.cpp - conversions between types of numbers, and their bits -----===//
//
// `.to(T, round=, overflow=)` and `bitcast[T](x, axis=)`. The rules stand in docs/language.md,
// Numbers; what a rule leaves as it is by nature gets no attribute.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Run-time numbers
//===----------------------------------------------------------------------===//

/// The attribute of a conversion; null for what is natural.
static NumAttr castAttr(MLIRContext *context, Dtype from, Dtype to, const CastRule &rule) {
  static_assert(unsigned(Rounding::Down) == unsigned(Round::down) &&
                unsigned(Rounding::Up) == unsigned(Round::up));
  Round usual = isFloat(from) && !isFloat(to) ? Round::rtz : Round::rne;
  Round round = rule.rounding ? Round(unsigned(*rule.rounding)) : usual;
  // Storage floats saturate by themselves, and so do floats that become integers.
  bool saturates = isFloat(to) ? isStorage(to) : isFloat(from);
  Overflow overflow = Overflow::natural;
  if (rule.excess && (*rule.excess == Excess::Saturate) != saturates)
    overflow = saturates ? Overflow::ieee : Overflow::saturate;
  if (round == usual && overflow == Overflow::natural)
    return {};
  return NumAttr::get(context, round, overflow, NanRule::propagate, 0);
}

/// The nearest number of the integer type `to`, still of type `from`.
Value Lowerer::clampToRange(Value value, Dtype from, Dtype to, ArrayRef<int64_t> shape,
                            SourceRange range) {
  UnitAttr sign = isUnsignedLike(from) ? builder.getUnitAttr() : UnitAttr();
  Location at = loc(range);
  if (minOf(to) > minOf(from)) {
    Value low = constant(Val::ofInt(minOf(to)), from, shape, range);
    value = MaxOp::create(builder, at, value.getType(), value, low, sign, NumAttr());
  }
  if (maxOf(to) < maxOf(from)) {
    Value high = constant(Val::ofInt(maxOf(to)), from, shape, range);
    value = MinOp::create(builder, at, value.getType(), value, high, sign, NumAttr());
  }
  return value;
}

Value Lowerer::convertInteger(Value value, Dtype from, Dtype to, ArrayRef<int64_t> shape,
                              SourceRange range, const CastRule &rule) {
  Location at = loc(range);
  Type type = mlirType(to, shape);
  bool saturates = rule.excess == Excess::Saturate;
  if (isStorage(from) || isStorage(to)) {
    if (mlirType(from, shape) == type && !saturates)
      return value; // i4 and u4
    auto unit = [&](Dtype dtype) {
      return isUnsignedLike(dtype) ? builder.getUnitAttr() : UnitAttr();
    };
    if (mlirType(from, shape) == type) { // tk.cast goes from one type to another
      value = convertInteger(value, from, Dtype::I8, shape, range, {});
      from = Dtype::I8;
    }
    NumAttr num = saturates ? NumAttr::get(&context, Round::rne, Overflow::saturate,
                                           NanRule::propagate, 0)
                            : NumAttr();
    return CastOp::create(builder, at, type, value, unit(from), unit(to), num);
  }
  if (saturates && from != Dtype::I1)
    value = clampToRange(value, from, to, shape, range);
  if (dtypeBits(from) == dtypeBits(to))
    return value; // the same bits, read with or without sign
  if (dtypeBits(from) > dtypeBits(to))
    return arith::TruncIOp::create(builder, at, type, value);
  if (isUnsignedLike(from))
    return arith::ExtUIOp::create(builder, at, type, value);
  return arith::ExtSIOp::create(builder, at, type, value);
}

/// Any conversion of `.to(T)`; the value keeps its shape.
Value Lowerer::convert(Value value, Dtype from, Dtype to, ArrayRef<int64_t> shape,
                       SourceRange range, const CastRule &rule) {
  if (from == to)
    return value;
  Location at = loc(range);
  Type type = mlirType(to, shape);
  if (to == Dtype::I1) {
    if (isStorage(from)) {
      Dtype wide = isFloat(from) ? Dtype::F32 : Dtype::I8;
      value = convert(value, from, wide, shape, range);
      from = wide;
    }
    Value zero = constant(Val::ofInt(0), from, shape, range);
    if (isFloat(from))
      return arith::CmpFOp::create(builder, at, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, value, zero);
  }
  if (!isFloat(from) && !isFloat(to))
    return convertInteger(value, from, to, shape, range, rule);
  bool widens = isFloat(from) && isFloat(to) && !isStorage(from) && dtypeBits(to) > dtypeBits(from);
  if (widens && rule.excess != Excess::Saturate)
    return arith::ExtFOp::create(builder, at, type, value);
  auto unit = [&](Dtype dtype) {
    return !isFloat(dtype) && isUnsignedLike(dtype) ? builder.getUnitAttr() : UnitAttr();
  };
  NumAttr num = castAttr(&context, from, to, rule);
  return CastOp::create(builder, at, type, value, unit(from), unit(to), num);
}

//===----------------------------------------------------------------------===//
// .to
//===----------------------------------------------------------------------===//

/// A compile-time number as the number of `dtype` that `.to` gives; nullopt after an error.
std::optional<Val> Lowerer::castNumber(const Val &value, Dtype dtype, SourceRange range,
                                       const CastRule &rule) {
  Val number = value;
  if (dtype == Dtype::I1)
    return Val::ofBool(value.isBool()  ? value.boolean
                       : value.isInt() ? value.integer != 0
                                       : !value.real->isZero());
  if (value.isBool())
    number = Val::ofInt(value.boolean);
  if (number.kind == Val::Kind::Float && !isFloat(dtype))
    number = Val::ofInt(wholeOf(*number.real, dtype, rule));
  if (isFloat(dtype))
    return number;
  // Integers that are known have to fit, unless they are told to.
  if (rule.excess == Excess::Saturate)
    return Val::ofInt(std::clamp(number.integer, minOf(dtype), maxOf(dtype)));
  if (!adaptConst(number, dtype, range, ".to"))
    return std::nullopt;
  return number;
}

Val Lowerer::castTo(const Val &value, Dtype dtype, SourceRange range, const CastRule &rule) {
  if (!needNumber(value, range, ".to"))
    return Val::poison();
  RunType type{dtype, false, 0, Shape(value.shape())};
  if (dtype == Dtype::I64 || dtype == Dtype::U64)
    warnNarrowProduct(value, range, "is widened to " + dtypeName(dtype).str());
  if (value.isRun())
    return Val::run(convert(value.value, value.type.dtype, dtype, type.shape, range, rule), type);
  std::optional<Val> number = castNumber(value, dtype, range, rule);
  if (!number)
    return Val::poison();
  if (wantsCompileTime != 0)
    return numberOf(*number, dtype, rule);
  return Val::run(constant(*number, dtype, {}, range, rule), type);
}

/// The rounding that a word names, as it is spelled here and elsewhere.
static std::optional<Rounding> roundingNamed(StringRef word) {
  return llvm::StringSwitch<std::optional<Rounding>>(word)
      .Case("rne", Rounding::Nearest)
      .Case("rtz", Rounding::Zero)
      .Case("down", Rounding::Down)
      .Case("up", Rounding::Up)
      .Default(std::nullopt);
}
static StringRef foreignRounding(StringRef word) {
  return llvm::StringSwitch<StringRef>(word)
      .Cases({"rtne", "rn", "rni", "nearest"}, "rne")
      .Cases({"rz", "rzi", "zero", "trunc"}, "rtz")
      .Cases({"rd", "rm", "rtn", "floor"}, "down")
      .Cases({"ru", "rp", "rtp", "ceil"}, "up")
      .Default("");
}

bool Lowerer::readRounding(const Val &word, SourceRange range, CastRule &rule) {
  if (word.kind == Val::Kind::String)
    rule.rounding = roundingNamed(word.text);
  if (rule.rounding)
    return true;
  Report report = error<diag::ValueOutside>(range, "`round`",
                                            "\"rne\", \"rtz\", \"down\" or \"up\"", word.str());
  if (StringRef ours = foreignRounding(word.text); !ours.empty())
    report.help("write `round=\"" + ours + "\"`");
  return false;
}

bool Lowerer::readOverflow(const Val &word, SourceRange range, Dtype to, CastRule &rule) {
  bool isString = word.kind == Val::Kind::String;
  bool wantsInf = isString && word.text == "inf", wantsNan = isString && word.text == "nan";
  if (isString && word.text == "saturate") {
    rule.excess = Excess::Saturate;
    return true;
  }
  if (!wantsInf && !wantsNan) {
    error<diag::ValueOutside>(range, "`overflow`", "\"saturate\", \"inf\" or \"nan\"", word.str());
    return false;
  }
  rule.excess = Excess::Ieee;
  if (wantsInf ? hasInfinity(to) : hasNan(to) && !hasInfinity(to))
    return true;
  Report report =
      error<diag::NoOverflowValue>(range, word.text, dtypeName(to),
                                   wantsInf        ? "has no infinity"
                                   : hasInfinity(to) ? "overflows to infinity"
                                                   : "has no NaN");
  if (hasInfinity(to) || hasNan(to))
    report.help(Twine("write `overflow=\"") + (wantsInf ? "nan" : "inf") + "\"`");
  else
    report.help("it saturates");
  return false;
}

Val Lowerer::callTo(const Val &base, const ast::Call *call) {
  std::optional<Dtype> dtype = evalDtype(call->args[0]);
  CastRule rule;
  bool good = dtype.has_value();
  for (const ast::NamedArg &arg : call->namedArgs) {
    StringRef name = arg.name.text;
    if (name != "round" && name != "overflow") {
      refuseArgument(arg.name, ".to", {"round", "overflow"});
      good = false;
      continue;
    }
    if (name == "round" ? rule.rounding.has_value() : rule.excess.has_value()) {
      error<diag::DuplicateArgument>(arg.name.range, ".to", name);
      good = false;
      continue;
    }
    Val word = evalCompileTime(arg.value);
    if (word.isPoison() || !dtype)
      good = false;
    else
      good &= name == "round" ? readRounding(word, arg.value->range, rule)
                              : readOverflow(word, arg.value->range, *dtype, rule);
  }
  return good ? castTo(base, *dtype, call->range, rule) : Val::poison();
}

//===----------------------------------------------------------------------===//
// bitcast
//===----------------------------------------------------------------------===//

/// The axis whose elements `bitcast` splits or joins; nullopt after an error.
std::optional<unsigned> Lowerer::bitcastAxis(const CallArgs &args, Dtype to) {
  const RunType &type = args.values[0].type;
  const Val &given = args.values[1];
  size_t rank = type.shape.size();
  auto refuse = [&](const Twine &why) {
    error<diag::BitcastWidths>(args.range, type.str(), dtypeName(to), why.str());
    return std::nullopt;
  };
  if (rank == 0)
    return refuse("a scalar has as many bits before as after");
  if (given.kind == Val::Kind::None && rank > 1)
    return refuse("`axis=` must say which elements are " +
                  Twine(dtypeBits(to) < dtypeBits(type.dtype) ? "split" : "joined"));
  if (given.kind == Val::Kind::None)
    return 0;
  std::optional<Int128> axis = needInt(given, args.rangeOf(1), "the axis of `bitcast`");
  if (!axis)
    return std::nullopt;
  Int128 counted = *axis < 0 ? *axis + Int128(rank) : *axis;
  if (counted >= 0 && counted < Int128(rank))
    return unsigned(counted);
  error<diag::BadAxis>(args.rangeOf(1), toString(*axis), rank, type.str())
      .note(args.values[0].origin, "the tile comes from here");
  return std::nullopt;
}

/// bitcast[T](x, axis=a).
Val Lowerer::buildBitcast(CallArgs &args) {
  const Val &value = args.values[0];
  if (args.poisoned())
    return Val::poison();
  if (args.typeArgs.size() != 1 || args.typeArgs[0].kind != ast::Index::Kind::Expr) {
    error<diag::MissingArgument>(args.range, "bitcast", "dtype").help("write `bitcast[u32](x)`");
    return Val::poison();
  }
  std::optional<Dtype> to = evalDtype(args.typeArgs[0].value);
  if (!to)
    return Val::poison();
  if (!value.isRun() || value.type.pointer) {
    Report report = error<diag::OperatorType>(args.rangeOf(0), "bitcast", value.describe());
    if (value.isConstNumber())
      report.help("a number has bits once it has a type: `.to(f32)`");
    return Val::poison();
  }
  RunType type = value.type;
  const Dtype from = type.dtype;
  if (from == Dtype::I1 || *to == Dtype::I1) {
    error<diag::OperatorType>(args.rangeOf(0), "bitcast", "i1")
        .help("a truth value becomes a number by `.to(u8)`");
    return Val::poison();
  }
  type.dtype = *to;
  IntegerAttr axisAttr;
  if (dtypeBits(from) != dtypeBits(*to)) {
    std::optional<unsigned> axis = bitcastAxis(args, *to);
    if (!axis)
      return Val::poison();
    int64_t bits = type.shape[*axis] * dtypeBits(from);
    if (bits % dtypeBits(*to) != 0) {
      error<diag::BitcastWidths>(args.range, value.type.str(), dtypeName(*to),
                                 "the side " + std::to_string(type.shape[*axis]) +
                                     " is no multiple of " +
                                     std::to_string(dtypeBits(*to) / dtypeBits(from)));
      return Val::poison();
    }
    type.shape[*axis] = bits / dtypeBits(*to);
    if (!checkTile(type.shape, args.range))
      return Val::poison();
    axisAttr = builder.getI64IntegerAttr(*axis);
  }
  if (mlirType(type) == value.value.getType())
    return Val::run(value.value, type);
  return Val::run(BitcastOp::create(builder, loc(args.range), mlirType(type), value.value, axisAttr),
                  type);
}
