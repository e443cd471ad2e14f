//===- LowerAggregate.cpp - tuples, lists and structures: members and wholes --------===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

static size_t countElements(const Val &val) {
  size_t count = val.elements.empty() ? 1 : 0;
  for (const Val &element : val.elements)
    count += countElements(element);
  return count;
}

/// A function that doubles its argument would fill the memory in a few calls.
bool Lowerer::checkElements(const Val &aggregate, SourceRange range) {
  size_t count = countElements(aggregate);
  if (count <= kMaxElements)
    return true;
  error<diag::ValueOutside>(
      range, aggregate.isTuple() ? "the number of elements of a tuple" : "the number of values in it",
      "at most " + std::to_string(kMaxElements), std::to_string(count));
  return false;
}

Val Lowerer::evalElements(ArrayRef<ast::Expr *> elements, Val::Kind kind, SourceRange range) {
  Val result = Val::tuple({});
  result.kind = kind;
  result.origin = range;
  for (const ast::Expr *element : elements)
    result.elements.push_back(eval(element));
  return checkElements(result, range) ? result : Val::poison();
}

/// `a == b` and `a != b` of tuples, lists, structures: memberwise, at compile time.
Val Lowerer::compareAggregates(ast::CompareOp op, const Val &lhs, const Val &rhs,
                               SourceRange range) {
  if (lhs.isPoison() || rhs.isPoison())
    return Val::poison();
  bool equality = op == ast::CompareOp::Eq || op == ast::CompareOp::Ne;
  if (!equality || !lhs.isCompileTime() || !rhs.isCompileTime()) {
    Report report =
        error<diag::OperatorType>(range, spelling(op), lhs.describe() + " and " + rhs.describe());
    report.help(equality ? "compare their members, of which some are not known at compile time"
                         : "tuples are compared by `==` and `!=`");
    return Val::poison();
  }
  bool equal = sameStructure(lhs, rhs);
  for (size_t i = 0; equal && i < lhs.elements.size(); ++i) {
    const Val &a = lhs.elements[i], &b = rhs.elements[i];
    bool numbers = a.isConstNumber() && b.isConstNumber() && a.isBool() == b.isBool();
    Val same = numbers || (a.isAggregate() && b.isAggregate())
                   ? compare(ast::CompareOp::Eq, a, b, range)
                   : Val::ofBool(sameValue(a, b));
    if (same.isPoison())
      return same;
    equal = same.boolean;
  }
  return Val::ofBool(equal == (op == ast::CompareOp::Eq));
}

Val Lowerer::buildLen(CallArgs &args) {
  const Val &value = args.values[0];
  if (value.isTuple() || value.kind == Val::Kind::List)
    return Val::ofInt(Int128(value.elements.size()));
  if (value.isPoison())
    return value;
  Report report = error<diag::TypeMismatch>(args.rangeOf(0), "what `len` counts",
                                            "a tuple or a list", value.describe());
  if (value.isRun() && !value.type.isScalar())
    report.help("the sides of a tile are its `.shape`");
  else if (value.kind == Val::Kind::Tensor)
    report.help("the extents of a tensor are its `.shape`");
  return Val::poison();
}

//===----------------------------------------------------------------------===//
// Assignment to members
//===----------------------------------------------------------------------===//

/// Which member of `base` one step of a path (`.name`, `.0`, `[i]`) names; an error says which not.
std::optional<size_t> Lowerer::memberIndex(const Val &base, const ast::Expr *step) {
  if (base.isPoison())
    return std::nullopt;
  size_t count = base.elements.size();
  if (auto *member = dyn_cast<ast::Member>(step)) {
    if (base.kind == Val::Kind::Struct)
      return fieldIndex(base, member->name);
    error<diag::UnknownMember>(member->name.range, base.describe(), member->name.text);
    return std::nullopt;
  }
  if (auto *element = dyn_cast<ast::TupleIndex>(step)) {
    if (base.isTuple() && element->index < count)
      return element->index;
    error<diag::UnknownMember>(element->indexRange, base.describe(),
                               std::to_string(element->index));
    return std::nullopt;
  }
  auto *subscript = cast<ast::Subscript>(step);
  bool tuple = base.isTuple() || base.kind == Val::Kind::List;
  if (!tuple || subscript->indices.size() != 1 ||
      subscript->indices[0].kind != ast::Index::Kind::Expr) {
    error<diag::NotAssignable>(step->range, "a part of " + base.describe());
    return std::nullopt;
  }
  std::optional<Int128> index = evalInt(subscript->indices[0].value, "the index of a tuple");
  if (index && *index >= 0 && *index < Int128(count))
    return size_t(*index);
  if (index)
    error<diag::ValueOutside>(subscript->indices[0].range, "the index of a tuple",
                              "0 to " + std::to_string(count - 1), toString(*index));
  return std::nullopt;
}

/// Says why a name that is no `var` cannot be assigned, nor a part of it.
void Lowerer::refuseAssignment(const ast::Name *name, const Binding &binding) {
  bool isTensor = binding.val.kind == Val::Kind::Tensor;
  StringRef what = isTensor ? "a tensor" : binding.captured ? "captured by value" : "no `var`";
  Report report = error<diag::AssignToLet>(name->range, name->text, what);
  report.note(binding.declared, "it is declared here");
  if (isTensor)
    report.help("write to a place of it: `" + name->text + "[i +: BLOCK] = ...`");
  else if (binding.captured)
    report.help("a closure returns what it changes");
  else
    report.help("declare it by `var` to change it");
}

static const ast::Expr *baseOf(const ast::Expr *step) {
  if (auto *member = dyn_cast<ast::Member>(step))
    return member->base;
  if (auto *element = dyn_cast<ast::TupleIndex>(step))
    return element->base;
  auto *subscript = dyn_cast<ast::Subscript>(step);
  return subscript ? subscript->base : nullptr;
}

/// `s.m = x`, `t.0 += x`: the variable gets a new value that differs in one member.
void Lowerer::assignMember(const ast::Expr *target, const ast::Assign *stmt) {
  SmallVector<const ast::Expr *> steps;
  const ast::Expr *root = target;
  for (; const ast::Expr *base = baseOf(root); root = base)
    steps.push_back(root);
  auto *name = dyn_cast<ast::Name>(root);
  Val value = eval(stmt->value);
  Binding *binding = name ? frame->scopes.find(name->text) : nullptr;
  if (!binding) {
    if (!name || !unknownName(name->text, name->range).isPoison())
      error<diag::NotAssignable>(target->range, "a member of a value that has no name");
    return;
  }
  if (!binding->val.isAggregate()) {
    if (!binding->val.isPoison())
      error<diag::NotAssignable>(target->range, "a member of " + binding->val.describe())
          .note(binding->declared, "`" + name->text + "` is declared here");
    return;
  }
  if (!binding->isVar)
    return refuseAssignment(name, *binding);
  Val whole = binding->val;
  Val *part = &whole;
  for (const ast::Expr *step : llvm::reverse(steps)) {
    bool partOfTile = step == target && part->isRun() && isa<ast::Subscript>(step);
    if (partOfTile && !part->type.isScalar()) {
      *part = TileLowerer(*this).replaced(cast<ast::Subscript>(step), *part, value, stmt);
      binding = frame->scopes.find(name->text); // evaluation may have moved it
      binding->val = part->isPoison() ? Val::poison() : whole;
      return;
    }
    std::optional<size_t> index = memberIndex(*part, step);
    if (!index)
      return;
    part = &part->elements[*index];
  }
  if (stmt->op)
    value = arithmetic(*stmt->op, *part, value, stmt->range, stmt->opRange);
  bool good = !value.isPoison();
  *part = std::move(value);
  std::optional<Val> fitted;
  if (good)
    fitted = fitVar(*binding, whole, stmt->value->range, name->text);
  binding->val = fitted.value_or(Val::poison());
}
