//===- LowerCompileTime.cpp - what is computed before there is code ----------------===//
//
// Where a value must be known at compile time (the side of a tile, a constant, an argument in
// brackets, ...) functions are evaluated: their loops run, and what they convert stays a number.
// Elsewhere a loop is code, whatever its bounds.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

Val Lowerer::evalCompileTime(const ast::Expr *expr) {
  CompileTime asked(*this);
  return eval(expr);
}

/// The value that a compile-time number has as `dtype`, still a number. It is known to fit.
Val Lowerer::numberOf(const Val &number, Dtype dtype, const CastRule &rule) {
  if (!isFloat(dtype) || number.isBool())
    return number;
  APFloat rounded =
      roundTo(number.isInt() ? floatFromInt(number.integer) : *number.real, dtype, rule);
  bool losesInfo = false;
  rounded.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &losesInfo);
  return Val::ofFloat(rounded);
}

/// Calls `body` where the operations that it makes are dropped.
void Lowerer::inScratch(llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(builder);
  Region scratch;
  builder.setInsertionPointToStart(&scratch.emplaceBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether a loop over `range(...)` runs now: a compile-time value is wanted, the bounds are known.
bool Lowerer::runsNow(const ast::Call *range) {
  bool known = wantsCompileTime != 0;
  if (known)
    inScratch([&] {
      for (const ast::Expr *arg : range->args)
        known &= eval(arg).isInt();
    });
  return known;
}

/// The same for `while`, whose condition is known before its first trip.
bool Lowerer::runsNow(const ast::While *stmt) {
  bool known = wantsCompileTime != 0;
  if (known)
    inScratch([&] { known = eval(stmt->condition).isBool(); });
  return known;
}

/// The trips are counted as steps of the kernel: a loop without end uses them up.
Exit Lowerer::execStaticWhile(const ast::While *stmt) {
  NameUse use;
  collectNames(stmt->body, use);
  Location at = loc(stmt->range);
  Exit exit;
  bool more = true;
  llvm::SaveAndRestore loops(frame->loops, frame->loops + 1);
  llvm::SaveAndRestore outer(frame->tail, Tail::Code); // how a trip is left is asked behind it
  while (more && exit.may(Flow::Next) && spend(stmt->range)) {
    exit = execIfLive(exit, use, stmt->range, [&] {
      llvm::SaveAndRestore tail(frame->tail, Tail::LoopEnd);
      std::optional<Val> condition = evalCondition(stmt->condition, "the condition of `while`");
      if (condition && !condition->isBool())
        error<diag::NotCompileTime>(stmt->condition->range, "the condition of `while` here",
                                    condition->describe());
      more = condition && condition->isBool() && condition->boolean;
      return more ? execBlock(stmt->body).renamed(Flow::Continue, Flow::Next, builder, at) : Exit();
    });
  }
  return exit.renamed(Flow::Break, Flow::Next, builder, at);
}

//===----------------------------------------------------------------------===//
// Host expressions that need no host
//===----------------------------------------------------------------------===//

/// Whether an expression names nothing that only a launch knows.
bool Lowerer::isHostFree(const ast::Expr *expr) {
  NameUse use;
  collectNames(expr, use);
  return llvm::none_of(use.mentioned, [&](const auto &entry) {
    StringRef name = entry.first();
    return name == "device" || kernel.hostNames.contains(name) || kernel.scalars.contains(name) ||
           llvm::any_of(kernel.tensors,
                        [&](const auto &tensor) { return tensor->decl->name.text == name; });
  });
}

/// The value of an expression that is known at compile time, for the host; null after an error.
Attribute Lowerer::hostConstant(const ast::Expr *expr) {
  Val value = evalCompileTime(expr);
  if (value.isInt())
    return hostInt(value.integer, expr->range);
  if (value.isBool())
    return builder.getI64IntegerAttr(value.boolean);
  if (!value.isPoison())
    error<diag::NotForHost>(expr->range, value.describe())
        .help("the host computes with integers and truth values");
  return {};
}
