//===- FlattenBranches.cpp - branches that yield big tiles become selections ---===//

#include "passes/StripBuilder.h"

using namespace mlir;
using namespace tk;

/// Whether a branch may run though its condition does not hold: what has an effect is a load, which
/// a mask keeps from memory.
static bool mayRunAnyway(Region &region) {
  if (region.empty())
    return true;
  auto isHarmless = [](Operation &op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return !load.getIsVolatile();
    bool loops = op.walk([](scf::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted();
    return isa<ReadOp>(op) || (isMemoryEffectFree(&op) && !loops);
  };
  return llvm::all_of(region.front().without_terminator(), isHarmless);
}

/// Lets a load happen only where `runs` is true.
template <typename Load> static void limit(Load load, Value runs) {
  OpBuilder builder(load);
  if (auto tile = dyn_cast<RankedTensorType>(load.getType()))
    runs = SplatOp::create(builder, load.getLoc(), withElementType(tile, builder.getI1Type()), runs);
  if (load.getMask())
    runs = arith::AndIOp::create(builder, load.getLoc(), load.getMask(), runs);
  load.getMaskMutable().assign(runs);
}

/// Moves the branch's code in front of it; gives what it yields.
static SmallVector<Value> inlineBranch(scf::IfOp branch, Region &region, Value runs) {
  Operation *yield = region.front().getTerminator();
  for (Operation &op : llvm::make_early_inc_range(region.front().without_terminator())) {
    op.moveBefore(branch);
    if (auto read = dyn_cast<ReadOp>(op))
      limit(read, runs);
    if (auto load = dyn_cast<LoadOp>(op))
      limit(load, runs);
  }
  return SmallVector<Value>(yield->getOperands());
}

static void flatten(scf::IfOp branch) {
  OpBuilder builder(branch);
  Location loc = branch.getLoc();
  Value holds = branch.getCondition();
  Value always = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value fails = arith::XOrIOp::create(builder, loc, holds, always);
  SmallVector<Value> a = inlineBranch(branch, branch.getThenRegion(), holds);
  SmallVector<Value> b = inlineBranch(branch, branch.getElseRegion(), fails);
  builder.setInsertionPoint(branch);
  for (auto [result, first, second] : llvm::zip(branch.getResults(), a, b)) {
    Value takes = holds;
    if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
      takes = SplatOp::create(builder, loc, withElementType(tile, builder.getI1Type()), holds);
    result.replaceAllUsesWith(arith::SelectOp::create(builder, loc, takes, first, second));
  }
  branch.erase();
}

void tk::flattenBranches(KernelOp kernel, const StripBudget &budget) {
  SmallVector<scf::IfOp> branches;
  kernel.walk([&](scf::IfOp branch) { branches.push_back(branch); }); // inner ones first
  for (scf::IfOp branch : branches) {
    bool isBig = llvm::any_of(branch.getResults(), [&](Value result) {
      return isa<RankedTensorType>(result.getType()) && budget.elementsOf(result) > budget.mostUnrolled();
    });
    if (isBig && mayRunAnyway(branch.getThenRegion()) && mayRunAnyway(branch.getElseRegion()))
      flatten(branch);
  }
}
