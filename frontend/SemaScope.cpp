//===- SemaScope.cpp - lookup, suggestions, and the names of a piece of syntax --===//

#include "frontend/SemaScope.h"

using namespace llvm;
using namespace tk;

Binding *Scopes::find(StringRef name) {
  for (auto &block : reverse(blocks))
    if (auto it = block.find(name); it != block.end())
      return &it->second;
  return nullptr;
}

Binding *Scopes::findInBlock(StringRef name) {
  auto it = blocks.back().find(name);
  return it == blocks.back().end() ? nullptr : &it->second;
}

void Scopes::collectNames(std::vector<StringRef> &names) const {
  for (const auto &block : blocks)
    for (const auto &entry : block)
      names.push_back(entry.first);
}

Scopes Scopes::capture(const NameUse &use) const {
  Scopes copies;
  for (const auto &block : blocks) // inner meanings replace outer ones
    for (const auto &[name, binding] : block)
      if (use.mentioned.contains(name))
        copies.bind(name, {binding.val, /*isVar=*/false, binding.declared, std::nullopt,
                           /*captured=*/true});
  return copies;
}

StringRef tk::nearestName(StringRef name, ArrayRef<StringRef> candidates) {
  // One slip in three letters, at most three: farther names are no misspellings.
  unsigned best = unsigned(std::min<size_t>(3, (name.size() + 2) / 3)) + 1;
  StringRef nearest;
  for (StringRef candidate : candidates) {
    unsigned distance = candidate.edit_distance(name, /*AllowReplacements=*/true, best);
    if (candidate != name && candidate.equals_insensitive(name))
      distance = 0;
    if (distance < best && candidate != name) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

//===----------------------------------------------------------------------===//
// Names of a piece of syntax
//===----------------------------------------------------------------------===//

static void collectIndex(const ast::Index &index, NameUse &use) {
  for (const ast::Expr *part : {index.value, index.start, index.stop, index.step, index.width})
    if (part)
      collectNames(part, use);
}

static void collectList(ArrayRef<ast::Expr *> exprs, NameUse &use) {
  for (const ast::Expr *expr : exprs)
    collectNames(expr, use);
}

static void collectCall(const ast::Call *call, NameUse &use) {
  collectNames(call->callee, use);
  collectList(call->args, use);
  for (const ast::NamedArg &arg : call->namedArgs)
    collectNames(arg.value, use);
}

static void collectIfExpr(const ast::IfExpr *expr, NameUse &use) {
  for (const ast::IfExprArm &arm : expr->arms) {
    collectNames(arm.condition, use);
    collectNames(arm.value, use);
  }
  collectNames(expr->elseValue, use);
}

static void collectRecord(const ast::Record *record, NameUse &use) {
  for (const ast::RecordField &field : record->fields)
    collectNames(field.value, use);
}

void tk::collectNames(const ast::Expr *expr, NameUse &use) {
  if (auto *name = dyn_cast<ast::Name>(expr))
    use.mentioned.try_emplace(name->text, name->range);
  else if (auto *unary = dyn_cast<ast::Unary>(expr))
    collectNames(unary->operand, use);
  else if (auto *binary = dyn_cast<ast::Binary>(expr)) {
    collectNames(binary->lhs, use);
    collectNames(binary->rhs, use);
  } else if (auto *chain = dyn_cast<ast::CompareChain>(expr))
    collectList(chain->operands, use);
  else if (auto *logical = dyn_cast<ast::Logical>(expr))
    collectList(logical->operands, use);
  else if (auto *choice = dyn_cast<ast::IfExpr>(expr))
    collectIfExpr(choice, use);
  else if (auto *closure = dyn_cast<ast::FnExpr>(expr)) {
    NameUse inner;
    for (const ast::FnParam &param : closure->params) {
      if (param.type)
        collectNames(param.type, inner);
      if (param.defaultValue)
        collectNames(param.defaultValue, inner);
    }
    collectNames(closure->body, inner);
    for (const auto &entry : inner.mentioned)
      use.mentioned.try_emplace(entry.first(), entry.second);
  } else if (auto *call = dyn_cast<ast::Call>(expr))
    collectCall(call, use);
  else if (auto *subscript = dyn_cast<ast::Subscript>(expr)) {
    collectNames(subscript->base, use);
    for (const ast::Index &index : subscript->indices)
      collectIndex(index, use);
  } else if (auto *member = dyn_cast<ast::Member>(expr))
    collectNames(member->base, use);
  else if (auto *element = dyn_cast<ast::TupleIndex>(expr))
    collectNames(element->base, use);
  else if (auto *tuple = dyn_cast<ast::Tuple>(expr))
    collectList(tuple->elements, use);
  else if (auto *list = dyn_cast<ast::List>(expr))
    collectList(list->elements, use);
  else if (auto *record = dyn_cast<ast::Record>(expr))
    collectRecord(record, use);
}

void tk::collectNames(const ast::Type *type, NameUse &use) {
  if (auto *pointer = dyn_cast<ast::PointerType>(type))
    collectNames(pointer->pointee, use);
  else if (auto *named = dyn_cast<ast::NamedType>(type))
    use.mentioned.try_emplace(named->name.text, named->name.range);
  else if (auto *tuple = dyn_cast<ast::TupleType>(type)) {
    for (const ast::Type *element : tuple->elements)
      collectNames(element, use);
  } else if (auto *bracket = dyn_cast<ast::BracketType>(type)) {
    use.mentioned.try_emplace(bracket->name.text, bracket->name.range);
    collectList(bracket->args, use);
    for (const ast::Stride &stride : bracket->strides)
      if (stride.value)
        collectNames(stride.value, use);
  }
}

static void collectAssign(const ast::Assign *assign, NameUse &use) {
  collectNames(assign->value, use);
  collectNames(assign->target, use);
  const ast::Expr *target = assign->target;
  while (!isa<ast::Name>(target)) {
    if (auto *subscript = dyn_cast<ast::Subscript>(target))
      target = subscript->base;
    else if (auto *member = dyn_cast<ast::Member>(target))
      target = member->base;
    else if (auto *element = dyn_cast<ast::TupleIndex>(target))
      target = element->base;
    else
      return;
  }
  StringRef name = cast<ast::Name>(target)->text;
  if (!use.assigned.try_emplace(name, target->range).second)
    use.reassigned.insert(name);
}

static void collectIf(const ast::If *stmt, NameUse &use) {
  for (const ast::IfArm &arm : stmt->arms) {
    collectNames(arm.condition, use);
    collectNames(arm.body, use);
  }
  if (stmt->elseBody)
    collectNames(stmt->elseBody, use);
}

void tk::collectNames(const ast::Stmt *stmt, NameUse &use) {
  if (auto *let = dyn_cast<ast::Let>(stmt)) {
    if (let->type)
      collectNames(let->type, use);
    collectNames(let->init, use);
  } else if (auto *assign = dyn_cast<ast::Assign>(stmt))
    collectAssign(assign, use);
  else if (auto *call = dyn_cast<ast::ExprStmt>(stmt))
    collectNames(call->call, use);
  else if (auto *result = dyn_cast<ast::Return>(stmt)) {
    collectList(result->values, use);
  } else if (auto *choice = dyn_cast<ast::If>(stmt))
    collectIf(choice, use);
  else if (auto *loop = dyn_cast<ast::For>(stmt)) {
    collectNames(loop->iterable, use);
    collectNames(loop->body, use);
  } else if (auto *loop = dyn_cast<ast::While>(stmt)) {
    collectNames(loop->condition, use);
    collectNames(loop->body, use);
  }
}

void tk::collectNames(const ast::Block *block, NameUse &use) {
  for (const ast::Stmt *stmt : block->stmts)
    collectNames(stmt, use);
}
