//===- LowerStmt.cpp - blocks, let and var, assignment, return ---------------===//

#include "frontend/TileLowerer.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static bool alwaysLeaves(const ast::Stmt *stmt);

static bool alwaysLeaves(const ast::Block *block) {
  return llvm::any_of(block->stmts, [](const ast::Stmt *stmt) { return alwaysLeaves(stmt); });
}

/// Whether nothing behind a statement is ever reached, whatever its conditions are.
static bool alwaysLeaves(const ast::Stmt *stmt) {
  if (auto *choice = dyn_cast<ast::If>(stmt))
    return choice->elseBody && alwaysLeaves(choice->elseBody) &&
           llvm::all_of(choice->arms, [](const ast::IfArm &arm) { return alwaysLeaves(arm.body); });
  return isa<ast::Return, ast::Break, ast::Continue>(stmt);
}

static StringRef leavingWord(const ast::Stmt *stmt) {
  return isa<ast::Return>(stmt)  ? "return"
         : isa<ast::Break>(stmt) ? "break"
         : isa<ast::If>(stmt)    ? "if"
                                 : "continue";
}

Exit Lowerer::execStmts(Stmts stmts) {
  while (!stmts.empty()) {
    const ast::Stmt *stmt = stmts.front();
    stmts = stmts.drop_front();
    if (!spend(stmt->range)) {
      frame->returned = Val::poison();
      return Flow::Return;
    }
    if (!stmts.empty() && alwaysLeaves(stmt))
      error<diag::Unreachable>(stmts.front()->range, leavingWord(stmt));
    Exit exit = execStmt(stmt, stmts);
    if (!exit.always(Flow::Next))
      return execAfter(exit, stmts);
  }
  return Flow::Next;
}

Exit Lowerer::execBlock(const ast::Block *block) {
  size_t depth = frame->scopes.depth();
  frame->scopes.push();
  Exit exit = execStmts(block->stmts);
  frame->scopes.truncate(depth);
  return exit;
}

Exit Lowerer::execStmt(const ast::Stmt *stmt, Stmts &rest) {
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
    return execLeave(stmt, Flow::Break);
  case ast::StmtKind::Continue:
    return execLeave(stmt, Flow::Continue);
  case ast::StmtKind::If:
    return execIf(cast<ast::If>(stmt), 0, rest);
  case ast::StmtKind::For:
    return execFor(cast<ast::For>(stmt));
  case ast::StmtKind::While:
    return execWhile(cast<ast::While>(stmt));
  }
  return Flow::Next;
}

Exit Lowerer::execLeave(const ast::Stmt *stmt, Flow way) {
  if (frame->loops != 0)
    return way;
  error<diag::LeavesNoLoop>(stmt->range, leavingWord(stmt))
      .help(frame->function ? "`return` leaves the function" : "`return` ends the program instance");
  return Flow::Next;
}

Exit Lowerer::execReturn(const ast::Return *stmt) {
  if (!frame->function && !stmt->values.empty()) {
    error<diag::TypeMismatch>(stmt->range, "the result of a kernel", "nothing", "a value")
        .help("a kernel writes its results to `out` parameters");
    return Flow::Return;
  }
  frame->returnRange = stmt->range;
  Val value = Val::unit();
  if (stmt->values.size() == 1)
    value = eval(stmt->values[0]);
  else if (!stmt->values.empty())
    value = evalElements(stmt->values, Val::Kind::Tuple, stmt->range);
  if (frame->function && frame->function->result && !outOfFuel) {
    // The type means what the head of the function says, whatever inner blocks hide.
    Scopes inner = frame->scopes;
    frame->scopes.truncate(frame->paramDepth);
    value = convertToType(value, frame->function->result, stmt->range,
                          "the result of `" + frame->function->name.text.str() + "`");
    frame->scopes = std::move(inner);
  }
  frame->returned = value;
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
  bindPattern(stmt->pattern, value, stmt->isVar);
}

void Lowerer::bindPattern(const ast::Pattern &pattern, const Val &value, bool isVar) {
  if (!pattern.isTuple)
    return bindName(pattern.names.front(), value, isVar);
  size_t count = pattern.names.size();
  bool fits = value.isTuple() && value.elements.size() == count;
  if (!fits && !value.isPoison()) {
    std::string what =
        value.isTuple() ? "a tuple of " + std::to_string(value.elements.size()) : value.describe();
    error<diag::PatternCount>(pattern.range, count, what);
  }
  for (size_t i = 0; i < count; ++i)
    bindName(pattern.names[i], fits ? value.elements[i] : Val::poison(), isVar);
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
    Report report = error<diag::VarTypeChange>(range, name, type, value.describe());
    report.note(binding.declared, "`" + name + "` is declared here");
    if (value.isPointer() && binding.fixed && binding.fixed->pointer &&
        binding.fixed->param != value.type.param)
      report.help("pointers of two parameters have two types");
    return std::nullopt;
  };
  if (binding.val.isAggregate()) {
    if (!sameStructure(binding.val, value))
      return mismatch(binding.val.kind == Val::Kind::Struct ? binding.val.record->str()
                                                            : binding.val.str());
    std::vector<Val> elements;
    for (auto [i, old] : llvm::enumerate(binding.val.elements)) {
      Binding part{old, true, binding.declared, std::nullopt};
      if (old.isRun())
        part.fixed = old.type;
      else if (old.isConstNumber())
        part.fixed = RunType{defaultDtype(old), false, 0, {}};
      std::optional<Val> element =
          fitVar(part, value.elements[i], range, binding.val.memberName(name, i));
      if (!element)
        return std::nullopt;
      elements.push_back(*element);
    }
    return value.withElements(std::move(elements));
  }
  if (!binding.fixed)
    return value.kind == binding.val.kind ? std::optional<Val>(value)
                                          : mismatch(binding.val.describe());
  const RunType &type = *binding.fixed;
  if (type.pointer || value.isPointer() || !value.isNumeric())
    return value.isRun() && value.type == type ? std::optional<Val>(value) : mismatch(type.str());
  const bool isReal = value.isRun() ? isFloat(value.type.dtype) : value.kind == Val::Kind::Float;
  if (isReal && isSignedInteger(type.dtype)) {
    Report report = error<diag::IntMeetsFloat>(
        range, "=", dtypeName(type.dtype), value.isRun() ? dtypeName(value.type.dtype).str() : value.str());
    if (!adviseFloatStart(report, binding.val.origin))
      report.note(binding.declared, "`" + name + "` is declared here")
          .help("declare it as a float, or convert what it gets: `.to(" + dtypeName(type.dtype) + ")`");
    return std::nullopt;
  }
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

/// The first assignment to a name that nothing declares, as in Python. What follows sees a `var`.
void Lowerer::assignUndeclared(const ast::Name *target, const Val &value) {
  NameUse use;
  if (const ast::Block *body = frame->function ? frame->function->body
                               : kernel.decl   ? kernel.decl->body
                                               : nullptr)
    collectNames(body, use);
  StringRef word = use.reassigned.contains(target->text) ? "var" : "let";
  error<diag::UnknownName>(target->range, target->text)
      .help("declare it: `let " + target->text + " = ...`, or `var` when it changes later")
      .fix({target->range.begin, target->range.begin}, word + " ");
  bindName({target->text, target->range}, value.isUnit() ? Val::poison() : value, /*isVar=*/true);
}

void Lowerer::assignName(const ast::Name *target, const ast::Assign *stmt) {
  Binding *binding = frame->scopes.find(target->text);
  if (!binding) {
    Val value = eval(stmt->value);
    if (kernel.hostNames.contains(target->text) && frame->seesExtents)
      error<diag::AssignToLet>(target->range, target->text, "an extent");
    else if (!stmt->op)
      assignUndeclared(target, value);
    else
      unknownName(target->text, target->range);
    return;
  }
  if (!binding->isVar) {
    eval(stmt->value);
    binding = frame->scopes.find(target->text);
    return refuseAssignment(target, *binding);
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
  if (base.isAggregate())
    return assignMember(target, stmt);
  if (base.isRun() && !base.type.isScalar())
    return isa<ast::Name>(target->base) ? TileLowerer(*this).assign(target, stmt)
                                        : assignMember(target, stmt);
  if (base.kind != Val::Kind::Tensor) {
    eval(stmt->value);
    if (!base.isPoison())
      error<diag::NotAssignable>(target->range, base.describe())
          .help(base.isPointer() ? "write `store(p + i, value)`" : "only tensors have places");
    return;
  }
  bool allowed = checkWritable(*base.tensor, target->range);
  std::optional<Place> place = evalPlace(target, base.tensor);
  // A target that is changed is read before the value that changes it.
  bool reads = stmt->op && place && allowed && place->fill.kind == Val::Kind::None &&
               checkReadable(*base.tensor, target->range);
  Val before = reads ? readPlace(*place) : Val::poison();
  Val value = eval(stmt->value);
  if (!place || !allowed)
    return;
  if (place->fill.kind != Val::Kind::None) {
    error<diag::UnknownArgument>(target->range, "a place that is written", "fill")
        .help("what lies outside of the tensor is not written");
    return;
  }
  if (stmt->op) {
    if (!reads)
      return;
    warnRepeats(*place, stmt);
    value = arithmetic(*stmt->op, before, value, stmt->range, stmt->opRange);
  }
  writePlace(*place, value, stmt->value->range);
}

void Lowerer::execAssign(const ast::Assign *stmt) {
  if (auto *name = dyn_cast<ast::Name>(stmt->target))
    return assignName(name, stmt);
  if (auto *subscript = dyn_cast<ast::Subscript>(stmt->target))
    return assignPlace(subscript, stmt);
  assignMember(stmt->target, stmt);
}
