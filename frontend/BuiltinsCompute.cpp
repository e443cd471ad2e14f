//===- BuiltinsCompute.cpp - elementwise functions, reductions, choices ---------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Val Lowerer::buildUnary(CallArgs &args) {
  StringRef name = args.builtin->name;
  Val value = args.values[0];
  if (args.poisoned() || !needNumber(value, args.rangeOf(0), name))
    return Val::poison();
  if (name == "abs" && value.isInt())
    return value.integer < 0
               ? arithmetic(ast::BinaryOp::Sub, Val::ofInt(0), value, args.range, args.range)
               : value;
  if (name == "abs" && value.kind == Val::Kind::Float) {
    value.real->clearSign();
    return value;
  }
  // A number that meets nothing is f32; folding exp and the like would need the host's library.
  if (!value.isRun() && !value.isBool())
    value = castTo(value, Dtype::F32, args.rangeOf(0));
  if (value.isPoison())
    return value;
  Dtype dtype = defaultDtype(value);
  bool real = isFloat(dtype);
  if (!real && !(name == "abs" && isInteger(dtype))) {
    error<diag::OperatorType>(args.rangeOf(0), name, args.values[0].describe())
        .help("convert it: `.to(f32)`");
    return Val::poison();
  }
  if (!real && !isSignedInteger(dtype))
    return value; // abs of an unsigned number
  std::optional<UnaryFn> fn = symbolizeUnaryFn(name);
  Value result =
      UnaryOp::create(builder, loc(args.range), value.value.getType(), *fn, value.value, NumAttr());
  return Val::run(result, value.type);
}

/// The larger or smaller of two numbers, elementwise.
Val Lowerer::minMax(bool wantMax, const Val &lhs, const Val &rhs, SourceRange range,
                    StringRef what) {
  if (lhs.isPoison() || rhs.isPoison() || !needNumber(lhs, range, what) ||
      !needNumber(rhs, range, what))
    return Val::poison();
  if (!lhs.isRun() && !rhs.isRun()) {
    if (!commonDtype(lhs, rhs, range, what))
      return Val::poison();
    Val smaller = compare(ast::CompareOp::Lt, lhs, rhs, range);
    if (smaller.isPoison())
      return smaller;
    const Val &chosen = smaller.boolean == wantMax ? rhs : lhs;
    bool real = lhs.kind == Val::Kind::Float || rhs.kind == Val::Kind::Float;
    return real && chosen.isInt() ? Val::ofFloat(floatFromInt(chosen.integer)) : chosen;
  }
  std::optional<RunType> type = commonType(lhs, rhs, range, what);
  if (!type)
    return Val::poison();
  Value a = materialize(lhs, type->dtype, type->shape, range);
  Value b = materialize(rhs, type->dtype, type->shape, range);
  bool isUnsigned = !isFloat(type->dtype) && isUnsignedLike(type->dtype);
  UnitAttr sign = isUnsigned ? builder.getUnitAttr() : UnitAttr();
  Value result =
      wantMax ? Value(MaxOp::create(builder, loc(range), a.getType(), a, b, sign, NumAttr()))
              : Value(MinOp::create(builder, loc(range), a.getType(), a, b, sign, NumAttr()));
  return Val::run(result, *type);
}

Val Lowerer::buildMinMax(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  return minMax(args.builtin->name == "maximum", args.values[0], args.values[1], args.range,
                args.builtin->name);
}

Val Lowerer::buildClamp(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  Val low = minMax(true, args.values[0], args.values[1], args.range, "clamp");
  return minMax(false, low, args.values[2], args.range, "clamp");
}

Val Lowerer::buildFma(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  for (size_t i = 0; i < 3; ++i)
    if (!needNumber(args.values[i], args.rangeOf(i), "fma"))
      return Val::poison();
  std::optional<RunType> type = commonType(args.values[0], args.values[1], args.range, "fma");
  if (!type)
    return Val::poison();
  // The product's type; a value is not needed to ask for the common type with the third.
  Val product = Val::run(Value(), *type);
  if (args.values[0].isRun() || args.values[1].isRun())
    type = commonType(product, args.values[2], args.range, "fma");
  else
    type = commonType(args.values[0].kind == Val::Kind::Float ? args.values[0] : args.values[1],
                      args.values[2], args.range, "fma");
  if (!type)
    return Val::poison();
  if (!isFloat(type->dtype)) {
    error<diag::OperatorType>(args.range, "fma", type->str()).help("fma is for floats");
    return Val::poison();
  }
  Value operands[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!args.values[i].isRun() && !adaptConst(args.values[i], type->dtype, args.rangeOf(i), "fma"))
      return Val::poison();
    operands[i] = materialize(args.values[i], type->dtype, type->shape, args.range);
  }
  Value result = FmaOp::create(builder, loc(args.range), operands[0].getType(), operands[0],
                               operands[1], operands[2]);
  return Val::run(result, *type);
}

/// where(condition, a, b); tuples are chosen memberwise.
Val Lowerer::choose(const Val &condition, const Val &a, const Val &b, SourceRange range) {
  if (a.isPoison() || b.isPoison())
    return Val::poison();
  if (sameStructure(a, b)) {
    std::vector<Val> elements;
    for (auto [left, right] : llvm::zip(a.elements, b.elements))
      elements.push_back(choose(condition, left, right, range));
    return a.withElements(std::move(elements));
  }
  if (!needNumber(a, range, "where") || !needNumber(b, range, "where"))
    return Val::poison();
  std::optional<RunType> type = commonType(a, b, range, "where");
  if (!type)
    return Val::poison();
  if (condition.isBool()) {
    const Val &chosen = condition.boolean ? a : b;
    if (a.isRun() || b.isRun())
      return Val::run(materialize(chosen, type->dtype, type->shape, range), *type);
    return isFloat(type->dtype) && chosen.isInt() ? Val::ofFloat(floatFromInt(chosen.integer))
                                                  : chosen;
  }
  if (!a.isRun() && !b.isRun() &&
      (!adaptConst(a, type->dtype, range, "where") || !adaptConst(b, type->dtype, range, "where")))
    return Val::poison();
  Val values = Val::run(Value(), *type);
  values.origin = a.shape().empty() ? b.origin : a.origin;
  std::optional<Shape> shape = broadcast(condition, values, range, "where");
  if (!shape)
    return Val::poison();
  Value flag = broadcastTo(condition.value, condition.type.shape, *shape, range);
  Value result =
      arith::SelectOp::create(builder, loc(range), flag, materialize(a, type->dtype, *shape, range),
                              materialize(b, type->dtype, *shape, range));
  return Val::run(result, {type->dtype, false, 0, *shape});
}

Val Lowerer::buildWhere(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  const Val &condition = args.values[0];
  bool truth = condition.isBool() ||
               (condition.isRun() && !condition.type.pointer && condition.type.dtype == Dtype::I1);
  if (!truth) {
    error<diag::TypeMismatch>(args.rangeOf(0), "the condition of `where`", "of i1",
                              condition.describe())
        .help("compare it with a number: `!= 0`");
    return Val::poison();
  }
  return choose(condition, args.values[1], args.values[2], args.range);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

bool Lowerer::needIntegers(CallArgs &args) {
  if (args.poisoned())
    return false;
  for (size_t i = 0; i < args.values.size(); ++i) {
    const Val &value = args.values[i];
    if (value.isInt() || (value.isRun() && !value.type.pointer && isInteger(value.type.dtype)))
      continue;
    error<diag::TypeMismatch>(args.rangeOf(i), "an argument of `" + args.builtin->name.str() + "`",
                              "an integer", value.describe());
    return false;
  }
  return true;
}

/// a / b rounded up, for b > 0; nothing in it overflows.
Val Lowerer::buildCdiv(CallArgs &args) {
  if (!needIntegers(args))
    return Val::poison();
  const Val &a = args.values[0], &b = args.values[1];
  SourceRange range = args.range;
  if (b.isInt() && b.integer <= 0) {
    error<diag::ValueOutside>(args.rangeOf(1), "the divisor of `cdiv`", "1 or more",
                              toString(b.integer));
    return Val::poison();
  }
  if (a.isInt() && b.isInt())
    return Val::ofInt(ceilDiv(a.integer, b.integer));
  // a // b + (a % b > 0): right for negative numbers too.
  Val quotient = arithmetic(ast::BinaryOp::IntDiv, a, b, range, range);
  Val rest = arithmetic(ast::BinaryOp::Rem, a, b, range, range);
  Val more = compare(ast::CompareOp::Gt, rest, Val::ofInt(0), range);
  if (quotient.isPoison() || more.isPoison())
    return Val::poison();
  return arithmetic(ast::BinaryOp::Add, quotient, castTo(more, quotient.type.dtype, range), range,
                    range);
}

Val Lowerer::buildDivmod(CallArgs &args) {
  if (!needIntegers(args))
    return Val::poison();
  SourceRange range = args.range;
  Val quotient = arithmetic(ast::BinaryOp::IntDiv, args.values[0], args.values[1], range, range);
  Val rest = arithmetic(ast::BinaryOp::Rem, args.values[0], args.values[1], range, range);
  return Val::tuple({quotient, rest});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// `sum` of small types is made in a wider one.
static Dtype sumDtype(Dtype dtype) {
  if (isFloat(dtype))
    return dtypeBits(dtype) < 32 ? Dtype::F32 : dtype;
  if (dtypeBits(dtype) >= 32)
    return dtype;
  return isSignedInteger(dtype) || dtype == Dtype::I1 ? Dtype::I32 : Dtype::U32;
}

Value Lowerer::combine(StringRef name, Value a, Value b, Dtype dtype, SourceRange range) {
  if (name == "sum")
    return isFloat(dtype) ? Value(arith::AddFOp::create(builder, loc(range), a, b))
                          : Value(arith::AddIOp::create(builder, loc(range), a, b));
  bool isUnsigned = !isFloat(dtype) && isUnsignedLike(dtype);
  UnitAttr sign = isUnsigned ? builder.getUnitAttr() : UnitAttr();
  if (name == "max")
    return MaxOp::create(builder, loc(range), a.getType(), a, b, sign, NumAttr());
  return MinOp::create(builder, loc(range), a.getType(), a, b, sign, NumAttr());
}

/// `max(v, 0)` is a reduction that reads like the larger of two values.
void Lowerer::warnPositionalAxis(const CallArgs &args, Int128 axis) {
  StringRef name = args.builtin->name;
  bool positional = llvm::is_contained(args.call->args, args.exprs[1]);
  if (name == "sum" || !positional)
    return;
  error<diag::PositionalAxis>(args.range, name, toString(axis))
      .help("write `axis=" + toString(axis) + "`, or `" + name.str() + "imum(a, b)` for the " +
            (name == "max" ? "larger" : "smaller") + " of two values");
}

Val Lowerer::buildReduce(CallArgs &args) {
  StringRef name = args.builtin->name;
  Val value = args.values[0];
  const Val &axis = args.values[1];
  if (args.poisoned() || !needNumber(value, args.rangeOf(0), name))
    return Val::poison();
  if (axis.isRun() || axis.kind == Val::Kind::Float) {
    Report report = error<diag::NotAxis>(args.rangeOf(1), name, axis.describe());
    if (name != "sum")
      report.help("the " + Twine(name == "max" ? "larger" : "smaller") + " of two values is `" +
                  name + "imum(a, b)`");
    return Val::poison();
  }
  std::optional<Int128> number = needInt(axis, args.rangeOf(1), "the axis of a reduction");
  if (!number)
    return Val::poison();
  if (!value.shape().empty())
    warnPositionalAxis(args, *number);
  if (value.shape().empty()) {
    Report report = error<diag::OperatorType>(args.rangeOf(0), name, value.describe());
    report.help(name == "sum" ? Twine("only tiles have axes")
                              : "the " + Twine(name == "max" ? "larger" : "smaller") +
                                    " of two values is `" + name + "imum(a, b)`");
    return Val::poison();
  }
  size_t rank = value.type.shape.size();
  if (*number < 0 || *number >= Int128(rank)) {
    error<diag::BadAxis>(args.rangeOf(1), toString(*number), rank, value.type.str())
        .note(value.origin, "the tile comes from here")
        .help("axes count from 0");
    return Val::poison();
  }
  Dtype dtype = name == "sum" ? sumDtype(value.type.dtype) : value.type.dtype;
  value = castTo(value, dtype, args.range);
  RunType type = value.type;
  type.shape.erase(type.shape.begin() + size_t(*number));
  Location at = loc(args.range);
  auto op = ReduceOp::create(builder, at, TypeRange{mlirType(type)}, ValueRange{value.value},
                             builder.getI64IntegerAttr(int64_t(*number)),
                             ReduceOrderAttr::get(&context, ReduceOrder::any));
  OpBuilder::InsertionGuard guard(builder);
  Type element = toMlir(&context, dtype);
  Block *block = builder.createBlock(&op.getCombine(), {}, {element, element}, {at, at});
  Value result = combine(name, block->getArgument(0), block->getArgument(1), dtype, args.range);
  YieldOp::create(builder, at, result);
  return Val::run(op.getResult(0), type);
}

//===----------------------------------------------------------------------===//
// Compile time
//===----------------------------------------------------------------------===//

/// "BK = 24, N = 7": what the names of a condition stand for.
std::string Lowerer::valuesOf(const ast::Expr *condition) {
  NameUse use;
  collectNames(condition, use);
  std::vector<std::string> parts;
  for (const auto &entry : use.mentioned) {
    Binding *binding = frame->scopes.find(entry.first());
    if (binding && binding->val.isCompileTime() && binding->val.kind != Val::Kind::Function)
      parts.push_back(entry.first().str() + " = " + binding->val.str());
  }
  llvm::sort(parts);
  return llvm::join(parts, ", ");
}

Val Lowerer::buildStaticAssert(CallArgs &args) {
  const Val &condition = args.values[0];
  if (args.poisoned())
    return Val::unit();
  if (!condition.isBool()) {
    error<diag::NotCompileTime>(args.rangeOf(0), "the condition of `static_assert`",
                                condition.describe())
        .help("what the host can check stands in `@require(...)`");
    return Val::unit();
  }
  if (condition.boolean)
    return Val::unit();
  const Val &text = args.values[1];
  std::string message =
      text.kind == Val::Kind::String ? text.text : source.getText(args.rangeOf(0)).str();
  std::string values = valuesOf(args.exprs[0]);
  error<diag::StaticAssertFailed>(args.rangeOf(0), message)
      .note(values.empty() ? SourceRange() : args.rangeOf(0), "here " + values);
  return Val::unit();
}

Val Lowerer::buildRange(CallArgs &args) {
  error<diag::RangeAsValue>(args.range, args.builtin->name)
      .help("`range` stands after `in` of a `for` and nowhere else");
  return Val::poison();
}
