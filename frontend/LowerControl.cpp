//===- LowerControl.cpp - if statements, early return, joining two branches ---===//
//
// A branch is elaborated into a region that has no parent yet, from a snapshot of the scopes; what
// the two branches disagree about becomes the results of the scf.if.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tk;

bool Lowerer::enterRegion(SourceRange range) {
  if (regionDepth < kMaxRegionDepth)
    return true;
  if (!outOfFuel)
    error<diag::TooDeep>(range, "run-time `if`, `for` and `while`", kMaxRegionDepth);
  outOfFuel = true;
  return false;
}

/// A condition: a compile-time truth value or an i1 scalar; nothing after an error.
std::optional<Val> Lowerer::evalCondition(const ast::Expr *expr, StringRef what) {
  Val value = eval(expr);
  if (value.isPoison())
    return std::nullopt;
  if (value.isBool() || (value.isRun() && value.type == RunType{Dtype::I1, false, 0, {}}))
    return value;
  Report report = error<diag::BadCondition>(expr->range, what, value.describe());
  if (value.isRun() && value.type.dtype == Dtype::I1)
    report.help("elements are chosen by `where(condition, a, b)`");
  else if (value.isNumeric())
    report.help("compare it with a number: `!= 0`");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Joining two branches
//===----------------------------------------------------------------------===//

static bool isPlaceholder(const Val &val) {
  return val.isRun() && !val.value;
}

/// What a value is after two branches: parts on which they agree stay, the others become
/// placeholders, whose types are appended.
Val Lowerer::merge(const Val &a, const Val &b, SourceRange range, StringRef what,
                   std::vector<RunType> &types) {
  if (a.isPoison() || b.isPoison())
    return Val::poison();
  if (sameValue(a, b))
    return a;
  if (a.isTuple() && b.isTuple() && a.elements.size() == b.elements.size()) {
    std::vector<Val> elements;
    for (auto [left, right] : llvm::zip(a.elements, b.elements))
      elements.push_back(merge(left, right, range, what, types));
    return Val::tuple(std::move(elements));
  }
  std::optional<RunType> type;
  if (a.isPointer() && b.isPointer() && a.type == b.type)
    type = a.type;
  else if (a.isNumeric() && b.isNumeric())
    type = commonType(a, b, range, what);
  else
    error<diag::TypeMismatch>(range, "`" + what.str() + "` in both branches", "of one type",
                              a.describe() + " and " + b.describe())
        .note(a.origin, "one value comes from here")
        .note(b.origin, "the other value comes from here");
  if (!type)
    return Val::poison();
  types.push_back(*type);
  return Val::run(Value(), *type);
}

/// Appends to `yields` what a branch gives for the placeholders; false after an error.
bool Lowerer::yieldLeaves(const Val &merged, const Val &value, SmallVectorImpl<Value> &yields,
                          SourceRange range) {
  if (merged.isTuple()) {
    for (auto [part, element] : llvm::zip(merged.elements, value.elements))
      if (!yieldLeaves(part, element, yields, range))
        return false;
    return true;
  }
  if (!isPlaceholder(merged))
    return true;
  yields.push_back(coerce(value, merged.type, range, "the branch"));
  return bool(yields.back());
}

Val Lowerer::fillPlaceholders(const Val &merged, ValueRange values, size_t &next) {
  Val result = merged;
  if (merged.isTuple())
    for (Val &element : result.elements)
      element = fillPlaceholders(element, values, next);
  else if (isPlaceholder(merged))
    result.value = values[next++];
  return result;
}

/// Makes the scf.if of two elaborated branches and gives their merged values, which stand pairwise
/// in the two lists.
std::vector<Val> Lowerer::joinBranches(Value condition, BranchCode &thenCode, BranchCode &elseCode,
                                       ArrayRef<std::string> names, SourceRange range) {
  std::vector<Val> merged;
  std::vector<RunType> types;
  for (size_t i = 0; i < names.size(); ++i)
    merged.push_back(merge(thenCode.values[i], elseCode.values[i], range, names[i], types));
  for (BranchCode *code : {&thenCode, &elseCode}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&code->region.front());
    SmallVector<Value> yields;
    for (size_t i = 0; i < names.size(); ++i)
      if (!yieldLeaves(merged[i], code->values[i], yields, range))
        return std::vector<Val>(names.size(), Val::poison());
    scf::YieldOp::create(builder, loc(range), yields);
  }
  SmallVector<Type> results;
  for (const RunType &type : types)
    results.push_back(mlirType(type));
  auto op = scf::IfOp::create(builder, loc(range), results, condition, /*addThenBlock=*/false,
                              /*addElseBlock=*/false);
  op.getThenRegion().takeBody(thenCode.region);
  // An empty `else` is left out: its block has nothing but the yield.
  if (!results.empty() || elseCode.region.front().getOperations().size() > 1)
    op.getElseRegion().takeBody(elseCode.region);
  size_t next = 0;
  for (Val &value : merged)
    value = fillPlaceholders(value, op.getResults(), next);
  return merged;
}

/// Elaborates one branch into a region of its own; the scopes are what they were afterwards.
void Lowerer::elaborateBranch(BranchCode &code, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(builder);
  Scopes before = frame->scopes;
  bool unrolled = std::exchange(frame->unrolled, false);
  ++regionDepth;
  builder.setInsertionPointToStart(&code.region.emplaceBlock());
  body();
  --regionDepth;
  frame->unrolled = unrolled;
  frame->scopes = std::move(before);
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

/// The names of the arms from `arm` on, and of the `else`.
static NameUse namesFrom(const ast::If *stmt, size_t arm) {
  NameUse use;
  for (const ast::IfArm &item : stmt->arms.drop_front(arm))
    collectNames(item.body, use);
  if (stmt->elseBody)
    collectNames(stmt->elseBody, use);
  return use;
}

void Lowerer::leaveOut(const NameUse &use) {
  for (const auto &entry : use.mentioned)
    kernel.untaken.insert(entry.first());
}

Flow Lowerer::execIf(const ast::If *stmt, size_t arm, const Continuation &rest) {
  if (arm == stmt->arms.size())
    return stmt->elseBody ? execBlock(stmt->elseBody, &rest) : Flow::Next;
  const ast::Block *body = stmt->arms[arm].body;
  std::optional<Val> condition = evalCondition(stmt->arms[arm].condition, "the condition of `if`");
  if (condition && condition->isBool()) {
    if (condition->boolean) {
      leaveOut(namesFrom(stmt, arm + 1));
      return execBlock(body, &rest);
    }
    NameUse use;
    collectNames(body, use);
    leaveOut(use);
    return execIf(stmt, arm + 1, rest);
  }
  if (!enterRegion(stmt->range))
    return Flow::Next;
  if (!condition) {
    // For the other errors in it; what the branches assign is not known any more.
    for (StringRef name : assignedVars(namesFrom(stmt, arm)))
      frame->scopes.find(name)->val = Val::poison();
    BranchCode code;
    elaborateBranch(code, [&] { execBlock(body, nullptr); });
    return execIf(stmt, arm + 1, rest);
  }
  if (namesFrom(stmt, arm).returns)
    return execReturningIf(stmt, arm, *condition, rest);
  return execRunIf(stmt, arm, *condition, rest);
}

/// No branch returns: the variables that are assigned in one are joined after it.
Flow Lowerer::execRunIf(const ast::If *stmt, size_t arm, const Val &condition,
                        const Continuation &rest) {
  BranchCode thenCode, elseCode;
  std::vector<std::string> names;
  for (StringRef name : assignedVars(namesFrom(stmt, arm)))
    names.push_back(name.str());
  auto collect = [&](BranchCode &code) {
    for (const std::string &name : names)
      code.values.push_back(frame->scopes.find(name)->val);
  };
  elaborateBranch(thenCode, [&] {
    execBlock(stmt->arms[arm].body, &rest);
    collect(thenCode);
  });
  elaborateBranch(elseCode, [&] {
    execIf(stmt, arm + 1, rest);
    collect(elseCode);
  });
  std::vector<Val> merged = joinBranches(condition.value, thenCode, elseCode, names, stmt->range);
  for (auto [name, value] : llvm::zip(names, merged))
    frame->scopes.find(name)->val = value;
  return Flow::Next;
}

/// What follows `if` up to the end of the function is elaborated in each branch that falls
/// through, so that every branch ends in a return.
Flow Lowerer::execReturningIf(const ast::If *stmt, size_t arm, const Val &condition,
                              const Continuation &rest) {
  bool barrier = frame->runLoops != 0;
  for (const Continuation *next = &rest; next; next = next->outer)
    barrier |= next->barrier;
  if (barrier) {
    notBuilt(stmt->range, "`return` under a run-time condition inside a loop");
    return Flow::Next;
  }
  BranchCode thenCode, elseCode;
  auto branch = [&](BranchCode &code, llvm::function_ref<Flow()> body) {
    elaborateBranch(code, [&] {
      frame->returned = Val::unit();
      if (body() == Flow::Next)
        runContinuation(&rest);
      code.values.push_back(frame->returned);
    });
  };
  branch(thenCode, [&] { return execBlock(stmt->arms[arm].body, &rest); });
  branch(elseCode, [&] { return execIf(stmt, arm + 1, rest); });
  auto unit = [](const BranchCode &code) { return code.values[0].kind == Val::Kind::Unit; };
  if (unit(thenCode) != unit(elseCode) && !outOfFuel) {
    StringRef name = frame->function ? frame->function->name.text : kernel.decl->name.text;
    if (!thenCode.values[0].isPoison() && !elseCode.values[0].isPoison())
      error<diag::MissingReturn>(stmt->range, name)
          .note(frame->returnRange, "a value is returned here");
    frame->returned = Val::poison();
    return Flow::Return;
  }
  frame->returned =
      joinBranches(condition.value, thenCode, elseCode, {std::string("return")}, stmt->range)[0];
  return Flow::Return;
}

void Lowerer::runContinuation(const Continuation *rest) {
  for (; rest; rest = rest->outer) {
    frame->scopes.truncate(rest->depth);
    if (execStmts(rest->rest, rest->outer) != Flow::Next)
      return;
  }
  frame->returned = Val::unit();
}

//===----------------------------------------------------------------------===//
// Conditions as expressions
//===----------------------------------------------------------------------===//

Val Lowerer::evalIfExpr(const ast::IfExpr *expr, size_t arm) {
  if (arm == expr->arms.size())
    return eval(expr->elseValue);
  std::optional<Val> condition = evalCondition(expr->arms[arm].condition, "the condition of `if`");
  if (condition && condition->isBool()) {
    bool taken = condition->boolean;
    NameUse use;
    if (!taken)
      collectNames(expr->arms[arm].value, use);
    for (const ast::IfExprArm &other : expr->arms.drop_front(arm + 1))
      if (taken)
        collectNames(other.value, use);
    if (taken)
      collectNames(expr->elseValue, use);
    leaveOut(use);
    return taken ? eval(expr->arms[arm].value) : evalIfExpr(expr, arm + 1);
  }
  if (!enterRegion(expr->range))
    return Val::poison();
  BranchCode thenCode, elseCode;
  elaborateBranch(thenCode, [&] { thenCode.values.push_back(eval(expr->arms[arm].value)); });
  elaborateBranch(elseCode, [&] { elseCode.values.push_back(evalIfExpr(expr, arm + 1)); });
  if (!condition)
    return Val::poison();
  return joinBranches(condition->value, thenCode, elseCode, {std::string("if")}, expr->range)[0];
}

/// `a && b`: b is not evaluated at run time when a is false, unless that makes no difference.
Val Lowerer::joinLogical(bool isAnd, const Val &lhs, const ast::Expr *rhs, SourceRange range) {
  BranchCode code, other;
  std::optional<Val> value;
  elaborateBranch(code, [&] {
    value = evalCondition(rhs, isAnd ? "an operand of `&&`" : "an operand of `||`");
    if (value && value->isBool())
      value = asRun(*value, rhs->range);
  });
  if (!value)
    return Val::poison();
  bool pure =
      llvm::all_of(code.region.front(), [](Operation &op) { return isMemoryEffectFree(&op); });
  if (pure) {
    Block *block = builder.getInsertionBlock();
    block->getOperations().splice(builder.getInsertionPoint(), code.region.front().getOperations());
    Value result = isAnd
                       ? Value(arith::AndIOp::create(builder, loc(range), lhs.value, value->value))
                       : Value(arith::OrIOp::create(builder, loc(range), lhs.value, value->value));
    return Val::run(result, value->type);
  }
  code.values.push_back(*value);
  elaborateBranch(other, [&] { other.values.push_back(Val::ofBool(!isAnd)); });
  return joinBranches(lhs.value, isAnd ? code : other, isAnd ? other : code, {std::string("&&")},
                      range)[0];
}

Val Lowerer::evalLogical(const ast::Logical *expr) {
  bool isAnd = expr->op == ast::LogicalOp::And;
  StringRef what = isAnd ? "an operand of `&&`" : "an operand of `||`";
  std::optional<Val> result = evalCondition(expr->operands[0], what);
  for (const ast::Expr *operand : expr->operands.drop_front()) {
    if (result && result->isBool()) {
      if (result->boolean != isAnd)
        return *result;
      result = evalCondition(operand, what);
      continue;
    }
    if (!enterRegion(expr->range))
      return Val::poison();
    if (!result) {
      evalCondition(operand, what);
      continue;
    }
    Val joined = joinLogical(isAnd, *result, operand, expr->range);
    result = joined.isPoison() ? std::nullopt : std::optional<Val>(joined);
  }
  return result.value_or(Val::poison());
}
