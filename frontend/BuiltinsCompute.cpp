//===- BuiltinsCompute.cpp - choices, whole quotients, checks at compile time -------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

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
  if (a.isInt() && b.isInt() && !condition.shape().empty())
    type->dtype = Dtype::I32; // whole numbers that meet nothing, as a tile
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
