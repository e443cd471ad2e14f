//===- BuiltinsMath.cpp - elementwise functions of numbers ------------------===//
//
// What is exact is computed at compile time; a transcendental function of compile-time numbers
// is f32 at run time, because folding it would need the host's library.
//
//===----------------------------------------------------------------------===//

#include "frontend/TileLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

bool TileLowerer::needFloat(Dtype dtype, const Val &given, SourceRange range, StringRef what) {
  if (isFloat(dtype))
    return true;
  error<diag::OperatorType>(range, what, given.describe()).help("convert it: `.to(f32)`");
  return false;
}

/// abs and the functions to a whole number, of a compile-time number.
static std::optional<Val> foldUnary(StringRef name, const Val &value) {
  auto mode = llvm::StringSwitch<std::optional<APFloat::roundingMode>>(name)
                  .Case("floor", APFloat::rmTowardNegative)
                  .Case("ceil", APFloat::rmTowardPositive)
                  .Case("trunc", APFloat::rmTowardZero)
                  .Case("round", APFloat::rmNearestTiesToEven)
                  .Default(std::nullopt);
  if (value.isBool() || value.isRun() || (!mode && name != "abs"))
    return std::nullopt;
  if (name == "abs" && value.isInt())
    return value.integer < 0 ? std::nullopt : std::optional<Val>(value);
  APFloat number = value.isInt() ? floatFromInt(value.integer) : *value.real;
  if (mode)
    number.roundToIntegral(*mode);
  else
    number.clearSign();
  return Val::ofFloat(number);
}

Val TileLowerer::buildUnary(CallArgs &args) {
  StringRef name = args.builtin->name;
  if (!needNumbers(args))
    return Val::poison();
  Val value = args.values[0];
  if (std::optional<Val> folded = foldUnary(name, value))
    return *folded;
  if (name == "abs" && value.isInt())
    return walk.arithmetic(ast::BinaryOp::Sub, Val::ofInt(0), value, args.range, args.range);
  if (!value.isRun() && !value.isBool())
    value = walk.castTo(value, Dtype::F32, args.rangeOf(0));
  if (value.isPoison())
    return value;
  Dtype dtype = Lowerer::defaultDtype(value);
  bool wholeAbs = name == "abs" && isInteger(dtype);
  if (!wholeAbs && !needFloat(dtype, args.values[0], args.rangeOf(0), name))
    return Val::poison();
  if (wholeAbs && !isSignedInteger(dtype))
    return value;           // abs of an unsigned number
  name.consume_back("_rn"); // sqrt is rounded correctly
  std::optional<UnaryFn> fn = symbolizeUnaryFn(name);
  Value result =
      UnaryOp::create(builder, loc(args.range), value.value.getType(), *fn, value.value, NumAttr());
  return Val::run(result, value.type);
}

/// isnan, isinf, isfinite: by comparisons.
Val TileLowerer::buildClassify(CallArgs &args) {
  StringRef name = args.builtin->name;
  if (!needNumbers(args))
    return Val::poison();
  const Val &value = args.values[0];
  SourceRange range = args.range;
  if (value.isInt())
    return Val::ofBool(name == "isfinite");
  if (value.kind == Val::Kind::Float)
    return Val::ofBool(name == "isnan"   ? value.real->isNaN()
                       : name == "isinf" ? value.real->isInfinity()
                                         : value.real->isFinite());
  if (!needFloat(Lowerer::defaultDtype(value), value, args.rangeOf(0), name))
    return Val::poison();
  using P = arith::CmpFPredicate;
  Value number = value.value, limit = number;
  if (name != "isnan") {
    number =
        UnaryOp::create(builder, loc(range), number.getType(), UnaryFn::abs, number, NumAttr());
    limit = walk.constant(Val::ofFloat(*namedConstant("inf")), value.type.dtype, value.type.shape,
                          range);
  }
  P predicate = name == "isnan" ? P::UNE : name == "isinf" ? P::OEQ : P::OLT;
  Value result = arith::CmpFOp::create(builder, loc(range), predicate, number, limit);
  return Val::run(result, {Dtype::I1, false, 0, value.type.shape});
}

/// popcount, clz, ctz, brev
Val TileLowerer::buildBits(CallArgs &args) {
  StringRef name = args.builtin->name;
  if (!needNumbers(args))
    return Val::poison();
  const Val &value = args.values[0];
  if (name == "popcount" && value.isInt() && value.integer >= 0)
    return Val::ofInt(llvm::popcount(uint64_t(value.integer >> 64)) +
                      llvm::popcount(uint64_t(value.integer)));
  if (!isInteger(Lowerer::defaultDtype(value))) {
    error<diag::OperatorType>(args.rangeOf(0), name, value.describe())
        .help("the bits of a float are integers by `bitcast`");
    return Val::poison();
  }
  // The width decides: a number that meets nothing has 64 bits.
  std::optional<Val> bits = walk.asRun(value, args.rangeOf(0));
  if (!bits)
    return Val::poison();
  Value result = BitsOp::create(builder, loc(args.range), bits->value.getType(),
                                *symbolizeBitsFn(name), bits->value);
  return Val::run(result, bits->type);
}

//===----------------------------------------------------------------------===//
// Functions of two numbers
//===----------------------------------------------------------------------===//

/// pow, atan2, hypot, fmod, copysign
Val TileLowerer::buildBinary(CallArgs &args) {
  StringRef name = args.builtin->name;
  if (!needNumbers(args))
    return Val::poison();
  std::optional<RunType> type = commonOf(args.values, args.range, name);
  if (!type)
    return Val::poison();
  bool run = args.values[0].isRun() || args.values[1].isRun();
  if (!run && type->dtype == Dtype::I64)
    type->dtype = Dtype::F32;
  if (!needFloat(type->dtype, Val::run(Value(), *type), args.range, name))
    return Val::poison();
  Value operands[2];
  for (size_t i = 0; i < 2; ++i)
    operands[i] = walk.materialize(args.values[i], type->dtype, type->shape, args.rangeOf(i));
  Value result =
      BinaryFnOp::create(builder, loc(args.range), operands[0].getType(), *symbolizeBinaryFn(name),
                         operands[0], operands[1], /*is_unsigned=*/false, NumAttr());
  return Val::run(result, *type);
}

/// The upper half of a product: mulhi of the type's sign, umulhi without sign.
Val TileLowerer::buildMulhi(CallArgs &args) {
  StringRef name = args.builtin->name;
  if (!needNumbers(args))
    return Val::poison();
  std::optional<RunType> type = commonOf(args.values, args.range, name);
  if (!type)
    return Val::poison();
  if (!isInteger(type->dtype)) {
    error<diag::OperatorType>(args.range, name, type->str()).help(name + " is for integers");
    return Val::poison();
  }
  bool isUnsigned = name == "umulhi" || isUnsignedLike(type->dtype);
  Value a = walk.materialize(args.values[0], type->dtype, type->shape, args.rangeOf(0));
  Value b = walk.materialize(args.values[1], type->dtype, type->shape, args.rangeOf(1));
  Value result = BinaryFnOp::create(builder, loc(args.range), a.getType(), BinaryFn::mulhi, a, b,
                                    isUnsigned, NumAttr());
  return Val::run(result, *type);
}

/// fdiv, div_rn: `/`, which is rounded correctly.
Val TileLowerer::buildDivide(CallArgs &args) {
  if (!needNumbers(args))
    return Val::poison();
  return walk.arithmetic(ast::BinaryOp::Div, args.values[0], args.values[1], args.range,
                         args.range);
}

/// `nan="propagate"` (the default of the operation, no attribute) or `nan="number"`.
NumAttr TileLowerer::nanRule(const CallArgs &args, size_t i, bool &good) {
  std::optional<size_t> rule = word(args, i, {"propagate", "number"});
  good = rule.has_value();
  if (rule.value_or(0) == 0)
    return {};
  return NumAttr::get(builder.getContext(), Round::rne, Overflow::natural, NanRule::number, 0);
}

/// The larger or smaller of two numbers that are known; `-0` is below `+0`, and NaN wins unless
/// `number` says that the other one does.
static Val knownExtreme(bool wantMax, const Val &lhs, const Val &rhs, bool number) {
  if (lhs.isInt() && rhs.isInt())
    return (lhs.integer < rhs.integer) == wantMax ? rhs : lhs;
  APFloat a = lhs.isInt() ? floatFromInt(lhs.integer) : *lhs.real;
  APFloat b = rhs.isInt() ? floatFromInt(rhs.integer) : *rhs.real;
  if (wantMax)
    return Val::ofFloat(number ? maximumnum(a, b) : maximum(a, b));
  return Val::ofFloat(number ? minimumnum(a, b) : minimum(a, b));
}

/// The larger or smaller of two numbers, elementwise.
Val TileLowerer::minMax(bool wantMax, const Val &lhs, const Val &rhs, SourceRange range,
                        StringRef what, NumAttr nan) {
  if (lhs.isPoison() || rhs.isPoison() || !walk.needArithmetic(lhs, range, what) ||
      !walk.needArithmetic(rhs, range, what))
    return Val::poison();
  if (!lhs.isRun() && !rhs.isRun()) {
    bool meet = walk.commonDtype(lhs, rhs, range, what).has_value();
    return meet ? knownExtreme(wantMax, lhs, rhs, bool(nan)) : Val::poison();
  }
  std::optional<RunType> type = walk.commonType(lhs, rhs, range, what);
  if (!type)
    return Val::poison();
  Value a = walk.materialize(lhs, type->dtype, type->shape, range);
  Value b = walk.materialize(rhs, type->dtype, type->shape, range);
  bool isUnsigned = !isFloat(type->dtype) && isUnsignedLike(type->dtype);
  UnitAttr sign = isUnsigned ? builder.getUnitAttr() : UnitAttr();
  Value result = wantMax ? Value(MaxOp::create(builder, loc(range), a.getType(), a, b, sign, nan))
                         : Value(MinOp::create(builder, loc(range), a.getType(), a, b, sign, nan));
  return Val::run(result, *type);
}

Val TileLowerer::buildMinMax(CallArgs &args) {
  bool good = !args.poisoned();
  NumAttr nan = good ? nanRule(args, 2, good) : NumAttr();
  if (!good)
    return Val::poison();
  return minMax(args.builtin->name == "maximum", args.values[0], args.values[1], args.range,
                args.builtin->name, nan);
}

Val TileLowerer::buildClamp(CallArgs &args) {
  bool good = !args.poisoned();
  NumAttr nan = good ? nanRule(args, 3, good) : NumAttr();
  if (!good)
    return Val::poison();
  Val low = minMax(true, args.values[0], args.values[1], args.range, "clamp", nan);
  return minMax(false, low, args.values[2], args.range, "clamp", nan);
}

Val TileLowerer::buildFma(CallArgs &args) {
  if (!needNumbers(args))
    return Val::poison();
  std::optional<RunType> type = commonOf(args.values, args.range, "fma");
  if (!type)
    return Val::poison();
  if (!isFloat(type->dtype)) {
    error<diag::OperatorType>(args.range, "fma", type->str()).help("fma is for floats");
    return Val::poison();
  }
  Value operands[3];
  for (size_t i = 0; i < 3; ++i)
    operands[i] = walk.materialize(args.values[i], type->dtype, type->shape, args.range);
  Value result = FmaOp::create(builder, loc(args.range), operands[0].getType(), operands[0],
                               operands[1], operands[2]);
  return Val::run(result, *type);
}
