//===- LowerStmt.cpp - blocks, let and var, assignment, return ---------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static StringRef leavingWord(Flow flow) {
  return flow == Flow::Return ? "return" : flow == Flow::Break ? "break" : "continue";
}

/// `outer` is what follows the block, for an early return in it.
Flow Lowerer::execStmts(ArrayRef<ast::Stmt *> stmts, const Continuation *outer) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const ast::Stmt *stmt = stmts[i];
    if (!spend(stmt->range))
      return Flow::Return;
    Continuation rest{stmts.drop_front(i + 1), frame->scopes.depth(), outer, false};
    Flow flow = execStmt(stmt, rest);
    if (flow == Flow::Next)
      continue;
    bool plain = isa<ast::Return, ast::Break, ast::Continue>(stmt);
    if (plain && i + 1 < stmts.size())
      error<diag::Unreachable>(stmts[i + 1]->range, leavingWord(flow));
    return flow;
  }
  return Flow::Next;
}

Flow Lowerer::execBlock(const ast::Block *block, const Continuation *outer) {
  size_t depth = frame->scopes.depth();
  frame->scopes.push();
  Flow flow = execStmts(block->stmts, outer);
  frame->scopes.truncate(depth);
  return flow;
}

Flow Lowerer::execStmt(const ast::Stmt *stmt, const Continuation &rest) {
  ++walkDepth;
  llvm::scope_exit leave([&] { --walkDepth; });
  switch (stmt->kind) {
  case ast::StmtKind::Let:
    execLet(cast<ast::Let>(stmt));
    return Flow::Next;
  case ast::StmtKind::Assign:
    execAssign(cast<ast::Assign>(stmt));
    return Flow::Next;
  case ast::StmtKind::ExprStmt:
    eval(cast<ast::ExprStmt>(stmt)->call);
    return Flow::Next;
  case ast::StmtKind::Return:
    return execReturn(cast<ast::Return>(stmt));
  case ast::StmtKind::Break:
  case ast::StmtKind::Continue: {
    bool isBreak = isa<ast::Break>(stmt);
    if (frame->unrolled)
      return isBreak ? Flow::Break : Flow::Continue;
    notBuilt(stmt->range, Twine(isBreak ? "`break`" : "`continue`") +
                              " of a run-time loop or under a run-time condition");
    return Flow::Next;
  }
  case ast::StmtKind::If:
    return execIf(cast<ast::If>(stmt), 0, rest);
  case ast::StmtKind::For:
    return execFor(cast<ast::For>(stmt));
  case ast::StmtKind::While:
    execWhile(cast<ast::While>(stmt));
    return Flow::Next;
  }
  return Flow::Next;
}

Flow Lowerer::execReturn(const ast::Return *stmt) {
  if (frame->runLoops != 0) {
    notBuilt(stmt->range, "`return` inside a run-time loop");
    return Flow::Return;
  }
  if (!frame->function && !stmt->values.empty()) {
    error<diag::TypeMismatch>(stmt->range, "the result of a kernel", "nothing", "a value")
        .help("a kernel writes its results to `out` parameters");
    return Flow::Return;
  }
  frame->returnRange = stmt->range;
  if (stmt->values.empty())
    frame->returned = Val::unit();
  else if (stmt->values.size() == 1)
    frame->returned = eval(stmt->values[0]);
  else
    frame->returned = evalElements(stmt->values, Val::Kind::Tuple, stmt->range);
  return Flow::Return;
}

//===----------------------------------------------------------------------===//
// let and var
//===----------------------------------------------------------------------===//

void Lowerer::bindName(const ast::Ident &name, Val value, bool isVar) {
  if (name.text == "_")
    return;
  if (Binding *here = frame->scopes.findInBlock(name.text)) {
    error<diag::DuplicateName>(name.range, name.text)
        .note(here->declared, "the first declaration is here");
  } else if (Binding *outer = frame->scopes.find(name.text); outer && outer->isVar) {
    error<diag::ShadowsVar>(name.range, name.text)
        .note(outer->declared, "the `var` is declared here")
        .help("assign to it without `let`, or take another name");
  }
  Binding binding{std::move(value), isVar, name.range, std::nullopt};
  if (isVar && binding.val.isNumeric())
    binding.fixed =
        binding.val.isRun() ? binding.val.type : RunType{defaultDtype(binding.val), false, 0, {}};
  else if (isVar && binding.val.isPointer())
    binding.fixed = binding.val.type;
  frame->scopes.bind(name.text, std::move(binding));
}

void Lowerer::execLet(const ast::Let *stmt) {
  Val value = eval(stmt->init);
  if (value.kind == Val::Kind::Unit) {
    error<diag::TypeMismatch>(stmt->init->range, "what a name is bound to", "a value", "nothing")
        .help("the function returns no value");
    value = Val::poison();
  }
  if (stmt->type)
    value = convertToType(value, stmt->type, stmt->init->range,
                          "`" + stmt->pattern.names.front().text.str() + "`");
  if (!stmt->pattern.isTuple)
    return bindName(stmt->pattern.names.front(), std::move(value), stmt->isVar);
  size_t count = stmt->pattern.names.size();
  if (!value.isPoison() && (!value.isTuple() || value.elements.size() != count)) {
    std::string what =
        value.isTuple() ? "a tuple of " + std::to_string(value.elements.size()) : value.describe();
    error<diag::PatternCount>(stmt->pattern.range, count, what);
    value = Val::poison();
  }
  for (size_t i = 0; i < count; ++i)
    bindName(stmt->pattern.names[i], value.isPoison() ? Val::poison() : value.elements[i],
             stmt->isVar);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

/// `value` as the variable may hold it; a name's value may change, never its type.
std::optional<Val> Lowerer::fitVar(const Binding &binding, const Val &value, SourceRange range,
                                   StringRef name) {
  if (value.isPoison() || binding.val.isPoison())
    return std::nullopt;
  auto mismatch = [&](const std::string &type) -> std::optional<Val> {
    error<diag::VarTypeChange>(range, name, type, value.describe())
        .note(binding.declared, "`" + name + "` is declared here");
    return std::nullopt;
  };
  if (binding.val.isTuple()) {
    if (!value.isTuple() || value.elements.size() != binding.val.elements.size())
      return mismatch(binding.val.str());
    std::vector<Val> elements;
    for (auto [old, next] : llvm::zip(binding.val.elements, value.elements)) {
      Binding part{old, true, binding.declared, std::nullopt};
      if (old.isRun())
        part.fixed = old.type;
      else if (old.isConstNumber())
        part.fixed = RunType{defaultDtype(old), false, 0, {}};
      std::optional<Val> element = fitVar(part, next, range, name);
      if (!element)
        return std::nullopt;
      elements.push_back(*element);
    }
    return Val::tuple(std::move(elements));
  }
  if (!binding.fixed)
    return value.kind == binding.val.kind ? std::optional<Val>(value)
                                          : mismatch(binding.val.describe());
  const RunType &type = *binding.fixed;
  if (type.pointer || value.isPointer() || !value.isNumeric())
    return value.isRun() && value.type == type ? std::optional<Val>(value) : mismatch(type.str());
  if (value.isRun() && (!type.isScalar() || !value.type.isScalar()) && !value.type.isScalar() &&
      value.type.shape != type.shape)
    return mismatch(type.str());
  // A number known at compile time stays one, unless the variable is already a tile.
  if (value.isConstNumber() && type.isScalar() && binding.val.isConstNumber()) {
    if (!adaptConst(value, type.dtype, range, "="))
      return std::nullopt;
    bool widen = isFloat(type.dtype) && value.isInt();
    return widen ? Val::ofFloat(floatFromInt(value.integer)) : value;
  }
  Value fitted = coerce(value, type, range, "assigning to `" + name.str() + "`");
  return fitted ? std::optional<Val>(Val::run(fitted, type)) : std::nullopt;
}

void Lowerer::assignName(const ast::Name *target, const ast::Assign *stmt) {
  Binding *binding = frame->scopes.find(target->text);
  if (!binding) {
    eval(stmt->value);
    if (kernel.hostNames.contains(target->text) && !frame->function)
      error<diag::AssignToLet>(target->range, target->text, "an extent");
    else if (!stmt->op)
      error<diag::UnknownName>(target->range, target->text)
          .help("declare it: `let " + target->text + " = ...`, or `var` when it changes later");
    else
      unknownName(target->text, target->range);
    return;
  }
  if (!binding->isVar) {
    eval(stmt->value);
    bool isParam = binding->val.kind == Val::Kind::Tensor;
    Report report =
        error<diag::AssignToLet>(target->range, target->text, isParam ? "a tensor" : "no `var`");
    report.note(binding->declared, "it is declared here");
    report.help(isParam ? "write to a place of it: `" + target->text + "[i +: BLOCK] = ...`"
                        : Twine("declare it by `var` to change it"));
    return;
  }
  Val value = eval(stmt->value);
  binding = frame->scopes.find(target->text); // evaluation may have moved it
  if (stmt->op)
    value = arithmetic(*stmt->op, binding->val, value, stmt->range, stmt->opRange);
  std::optional<Val> fitted = fitVar(*binding, value, stmt->value->range, target->text);
  SourceRange origin = value.origin.size() ? value.origin : stmt->value->range;
  binding = frame->scopes.find(target->text);
  binding->val = fitted.value_or(Val::poison());
  binding->val.origin = origin;
}

void Lowerer::assignPlace(const ast::Subscript *target, const ast::Assign *stmt) {
  Val base = eval(target->base);
  if (base.kind != Val::Kind::Tensor) {
    eval(stmt->value);
    if (base.isRun() && !base.type.pointer)
      notBuilt(target->range, "assigning to a part of a tile");
    else if (!base.isPoison())
      error<diag::NotAssignable>(target->range, base.describe())
          .help(base.isPointer() ? "write `store(p + i, value)`" : "only tensors have places");
    return;
  }
  bool allowed = checkWritable(*base.tensor, target->range);
  std::optional<Place> place = evalPlace(target, base.tensor);
  Val value = eval(stmt->value);
  if (!place || !allowed)
    return;
  if (place->fill.kind != Val::Kind::None) {
    error<diag::UnknownArgument>(target->range, "a place that is written", "fill")
        .help("what lies outside of the tensor is not written");
    return;
  }
  if (stmt->op) {
    if (!checkReadable(*base.tensor, target->range))
      return;
    value = arithmetic(*stmt->op, readPlace(*place), value, stmt->range, stmt->opRange);
  }
  writePlace(*place, value, stmt->value->range);
}

void Lowerer::assignElement(const ast::TupleIndex *target, const ast::Assign *stmt) {
  auto *name = dyn_cast<ast::Name>(target->base);
  Binding *binding = name ? frame->scopes.find(name->text) : nullptr;
  if (!binding || !binding->isVar || !binding->val.isTuple() ||
      target->index >= binding->val.elements.size()) {
    eval(stmt->value);
    if (!binding || !binding->val.isPoison())
      error<diag::NotAssignable>(target->range, "this element")
          .help("the left side names an element of a tuple that is a `var`");
    return;
  }
  Val value = eval(stmt->value);
  binding = frame->scopes.find(name->text);
  if (stmt->op)
    value = arithmetic(*stmt->op, binding->val.elements[target->index], value, stmt->range,
                       stmt->opRange);
  Val whole = binding->val;
  whole.elements[target->index] = value;
  std::optional<Val> fitted =
      value.isPoison() ? std::nullopt : fitVar(*binding, whole, stmt->value->range, name->text);
  binding->val = fitted.value_or(Val::poison());
}

void Lowerer::execAssign(const ast::Assign *stmt) {
  if (auto *name = dyn_cast<ast::Name>(stmt->target))
    return assignName(name, stmt);
  if (auto *subscript = dyn_cast<ast::Subscript>(stmt->target))
    return assignPlace(subscript, stmt);
  if (auto *element = dyn_cast<ast::TupleIndex>(stmt->target))
    return assignElement(element, stmt);
  eval(stmt->value);
  error<diag::NotAssignable>(stmt->target->range, "a member");
}
