//===- LowerControl.cpp - conditions, if, and what follows an early exit -------===//
//
// Where one branch of a run-time `if` leaves for good, what follows in the block stands in the
// other branch. Where code may have been left and may go on, what follows stands under a test.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

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

/// `a < b && c` becomes `(a < b) & c`: `&` binds tighter than comparisons.
static void fixLogical(Report &report, const ast::Logical &expr) {
  for (SourceRange op : expr.opRanges)
    report.fix(op, expr.op == ast::LogicalOp::And ? "&" : "|");
  for (const ast::Expr *operand : expr.operands) {
    if (operand->parenthesised || !isa<ast::CompareChain, ast::Logical>(operand))
      continue;
    report.fix({operand->range.begin, operand->range.begin}, "(");
    report.fix({operand->range.end, operand->range.end}, ")");
  }
}

/// A condition: a compile-time truth value or an i1 scalar; nothing after an error.
std::optional<Val> Lowerer::evalCondition(const ast::Expr *expr, StringRef what,
                                          const ast::Logical *logical) {
  Val value = eval(expr);
  if (value.isPoison())
    return std::nullopt;
  if (value.isBool() || (value.isRun() && value.type == RunType{Dtype::I1, false, 0, {}}))
    return value;
  if (std::optional<Val> present = presence(value, expr->range))
    return present;
  Report report = error<diag::BadCondition>(expr->range, what, value.describe());
  bool isTile = value.isRun() && value.type.dtype == Dtype::I1;
  if (isTile && what.contains("&&"))
    report.help("tiles take `&`: `(a > 0.0) & (b > 0.0)`");
  else if (isTile && what.contains("||"))
    report.help("tiles take `|`: `(a > 0.0) | (b > 0.0)`");
  if (isTile && logical)
    fixLogical(report, *logical);
  else if (isTile)
    report.help("elements are chosen by `where(condition, a, b)`");
  else if (value.isNumeric())
    report.help("compare it with a number: `!= 0`");
  return std::nullopt;
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

Exit Lowerer::execIf(const ast::If *stmt, size_t arm, Stmts &rest) {
  if (arm == stmt->arms.size() && !stmt->elseBody)
    return Flow::Next;
  if (arm == stmt->arms.size()) {
    llvm::SaveAndRestore tail(frame->tail, tailBefore(rest));
    return execBlock(stmt->elseBody);
  }
  const ast::Block *body = stmt->arms[arm].body;
  std::optional<Val> condition = evalCondition(stmt->arms[arm].condition, "the condition of `if`");
  if (condition && condition->isBool()) {
    NameUse use;
    if (!condition->boolean) {
      collectNames(body, use);
      leaveOut(use);
      return execIf(stmt, arm + 1, rest);
    }
    leaveOut(namesFrom(stmt, arm + 1));
    llvm::SaveAndRestore tail(frame->tail, tailBefore(rest));
    return execBlock(body);
  }
  if (!enterRegion(stmt->range))
    return Flow::Next;
  if (condition)
    return execRunIf(stmt, arm, *condition, rest);
  // For the other errors in it; what the branches assign is not known any more.
  for (StringRef name : assignedVars(namesFrom(stmt, arm)))
    frame->scopes.find(name)->val = Val::poison();
  BranchCode code;
  elaborateBranch(code, [&] { return execBlock(body); });
  frame->hidesExit |= !code.exit.always(Flow::Next);
  return execIf(stmt, arm + 1, rest);
}

Exit Lowerer::execRunIf(const ast::If *stmt, size_t arm, const Val &condition, Stmts &rest) {
  BranchCode thenCode, elseCode;
  ast::Expr *test = stmt->arms[arm].condition;
  NameUse use = namesFrom(stmt, arm);
  Stmts behind, nothing;
  auto takeRest = [&] {
    behind = std::exchange(rest, Stmts());
    for (const ast::Stmt *next : behind)
      collectNames(next, use);
  };
  elaborateBranch(thenCode, [&] {
    Narrowed known(*this, test, true);
    llvm::SaveAndRestore tail(frame->tail, tailBefore(rest));
    return execBlock(stmt->arms[arm].body);
  });
  if (!thenCode.exit.may(Flow::Next)) {
    takeRest();
    elaborateBranch(elseCode, [&] {
      Narrowed known(*this, test, false);
      Exit exit = execIf(stmt, arm + 1, behind);
      return execAfter(exit, behind);
    });
  } else {
    elaborateBranch(elseCode, [&] {
      Narrowed known(*this, test, false);
      llvm::SaveAndRestore tail(frame->tail, tailBefore(rest));
      return execIf(stmt, arm + 1, nothing);
    });
    if (!elseCode.exit.may(Flow::Next)) {
      takeRest();
      Narrowed known(*this, test, true);
      resumeBranch(thenCode, [&] { return execAfter(thenCode.exit, behind); });
    }
  }
  llvm::SaveAndRestore tail(frame->tail, tailBefore(rest));
  return joinIf(condition.value, thenCode, elseCode, assignedVars(use), stmt->range);
}

/// What follows, in the same block, code that was left by `exit`.
Exit Lowerer::execAfter(const Exit &exit, Stmts rest) {
  if (rest.empty() || !exit.may(Flow::Next))
    return exit;
  if (exit.always(Flow::Next))
    return execStmts(rest);
  NameUse use;
  for (const ast::Stmt *stmt : rest)
    collectNames(stmt, use);
  SourceRange range{rest.front()->range.begin, rest.back()->range.end};
  return execIfLive(exit, use, range, [&] { return execStmts(rest); });
}

/// Elaborates `body`, which assigns `use`, to run where the code before it has gone on.
Exit Lowerer::execIfLive(const Exit &exit, const NameUse &use, SourceRange range,
                         llvm::function_ref<Exit()> body) {
  if (exit.always(Flow::Next))
    return body();
  if (!exit.may(Flow::Next) || !enterRegion(range))
    return exit;
  Value live = exit.isBefore(Flow::Continue, builder, loc(range));
  BranchCode liveCode, leftCode;
  Val returned = std::exchange(frame->returned, Val::never());
  elaborateBranch(liveCode, body);
  elaborateBranch(leftCode, [&] {
    frame->returned = returned;
    return exit.without(Flow::Next, builder, loc(range));
  });
  return joinIf(live, liveCode, leftCode, assignedVars(use), range);
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
  elaborateBranch(thenCode, [&] {
    Narrowed known(*this, expr->arms[arm].condition, true);
    thenCode.values.push_back(eval(expr->arms[arm].value));
    return Exit();
  });
  elaborateBranch(elseCode, [&] {
    Narrowed known(*this, expr->arms[arm].condition, false);
    elseCode.values.push_back(evalIfExpr(expr, arm + 1));
    return Exit();
  });
  if (!condition)
    return Val::poison();
  return joinBranches(condition->value, thenCode, elseCode, {std::string("if")}, expr->range)[0];
}

/// Whether nobody can tell that the code has run: it touches no memory, and no engine reports
/// anything about it (a division by zero, a NaN).
bool Lowerer::isHarmless(Block &block) {
  return llvm::all_of(block, [](Operation &op) {
    bool isTest = isa<arith::ConstantOp, arith::CmpIOp, arith::CmpFOp, arith::SelectOp>(op);
    bool isInteger = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
                         arith::XOrIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
    return isTest || isInteger || isa<ProgramIdOp, NumProgramsOp, ExtentOp, StrideOp>(op);
  });
}

/// `a && b`: b is not evaluated at run time when a is false, unless that makes no difference.
Val Lowerer::joinLogical(const ast::Logical &expr, const Val &lhs, const ast::Expr *rhs) {
  bool isAnd = expr.op == ast::LogicalOp::And;
  SourceRange range = expr.range;
  BranchCode code, other;
  std::optional<Val> value;
  elaborateBranch(code, [&] {
    value = evalCondition(rhs, isAnd ? "an operand of `&&`" : "an operand of `||`", &expr);
    if (value && value->isBool())
      value = asRun(*value, rhs->range);
    return Exit();
  });
  if (!value)
    return Val::poison();
  if (isHarmless(code.region.front())) {
    Block *block = builder.getInsertionBlock();
    block->getOperations().splice(builder.getInsertionPoint(), code.region.front().getOperations());
    Value result = isAnd
                       ? Value(arith::AndIOp::create(builder, loc(range), lhs.value, value->value))
                       : Value(arith::OrIOp::create(builder, loc(range), lhs.value, value->value));
    return Val::run(result, value->type);
  }
  code.values.push_back(*value);
  elaborateBranch(other, [&] {
    other.values.push_back(Val::ofBool(!isAnd));
    return Exit();
  });
  return joinBranches(lhs.value, isAnd ? code : other, isAnd ? other : code, {std::string("&&")},
                      range)[0];
}

Val Lowerer::evalLogical(const ast::Logical *expr) {
  bool isAnd = expr->op == ast::LogicalOp::And;
  StringRef what = isAnd ? "an operand of `&&`" : "an operand of `||`";
  std::optional<Val> result = evalCondition(expr->operands[0], what, expr);
  for (auto [i, operand] : llvm::enumerate(expr->operands.drop_front())) {
    Narrowed known(*this, expr->operands.take_front(i + 1), isAnd);
    if (result && result->isBool()) {
      if (result->boolean != isAnd)
        return *result;
      result = evalCondition(operand, what, expr);
      continue;
    }
    if (!enterRegion(expr->range))
      return Val::poison();
    if (!result) {
      eval(operand); // one refusal, and its edits, speak of all operands
      continue;
    }
    Val joined = joinLogical(*expr, *result, operand);
    result = joined.isPoison() ? std::nullopt : std::optional<Val>(joined);
  }
  return result.value_or(Val::poison());
}
