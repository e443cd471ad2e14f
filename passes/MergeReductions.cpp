//===- MergeReductions.cpp - reductions that do not wait for each other ----------------===//
//
// Requires: phase Resident.
// Ensures:  of two tk.reduce of one block over one axis of tiles of one shape, the second depends on the
//           first, or on something between them that has effects.
// Fails:    never.
//
//   %s = tk.reduce %x axis 0 order any {...}
//   %y = arith.mulf %x, %x
//   %t = tk.reduce %y axis 0 order any {...}
// becomes
//   %y = arith.mulf %x, %x
//   %s, %t = tk.reduce %x, %y axis 0 order any {...}
//
// What an operand combines to is the same: each has its own part of the region.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "ir/tk/TkDialect.h"
#include "passes/analysis/MovableSlice.h"
#include "mlir/IR/IRMapping.h"

namespace tk {
#define GEN_PASS_DEF_MERGEREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static bool areAlike(ReduceOp a, ReduceOp b) {
  auto shape = [](ReduceOp op) { return cast<RankedTensorType>(op.getOperands().front().getType()).getShape(); };
  return a.getAxis() == b.getAxis() && a.getOrder() == b.getOrder() && shape(a) == shape(b) && isMemoryEffectFree(a) &&
         isMemoryEffectFree(b);
}

/// Reductions that become one, at the place of the first. What the others depend on is ahead of it.
using Group = SmallVector<ReduceOp, 2>;

/// One region of all: the left values of each, then the right ones.
static void joinRegions(ArrayRef<ReduceOp> group, ReduceOp joined) {
  Block *body = &joined.getCombine().emplaceBlock();
  for (unsigned side : {0u, 1u})
    for (ReduceOp op : group) {
      unsigned count = op.getNumResults();
      for (BlockArgument argument : op.getCombine().getArguments().slice(side * count, count))
        body->addArgument(argument.getType(), argument.getLoc());
    }
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  SmallVector<Value> results;
  unsigned countAll = joined.getNumResults();
  for (ReduceOp op : group) {
    unsigned count = op.getNumResults(), start = results.size();
    IRMapping mapping;
    for (unsigned i = 0; i < count; ++i) {
      mapping.map(op.getCombine().getArgument(i), body->getArgument(start + i));
      mapping.map(op.getCombine().getArgument(count + i), body->getArgument(countAll + start + i));
    }
    Block &combine = op.getCombine().front();
    for (Operation &each : combine.without_terminator())
      builder.clone(each, mapping);
    for (Value value : combine.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(value));
  }
  YieldOp::create(builder, joined.getLoc(), results);
}

static void join(ArrayRef<ReduceOp> group) {
  if (group.size() == 1)
    return;
  ReduceOp first = group.front();
  OpBuilder builder(first);
  SmallVector<Value> operands, results;
  SmallVector<Type> types;
  for (ReduceOp op : group) {
    llvm::append_range(operands, op.getOperands());
    llvm::append_range(results, op.getResults());
    llvm::append_range(types, op.getResultTypes());
  }
  auto joined = ReduceOp::create(builder, first.getLoc(), types, operands, first.getAxis(), first.getOrder());
  joinRegions(group, joined);
  for (auto [before, now] : llvm::zip_equal(results, joined.getResults()))
    before.replaceAllUsesWith(now);
  for (ReduceOp op : group)
    op.erase();
}

/// Moves what `op` depends on ahead of `first`; false, and nothing is moved, when that cannot be.
static bool moveAhead(ReduceOp op, ReduceOp first) {
  llvm::SetVector<Operation *> slice;
  if (!areAlike(first, op) || !collectMovable(op, first, slice))
    return false;
  for (Operation *source : slice)
    source->moveBefore(first);
  return true;
}

/// With how many groups before it a reduction is tried: all of them would be n squared. Statements
/// have a handful of reductions, so that a few statements are in reach.
static constexpr size_t kGroupsTried = 16;

/// Puts each reduction into the first group that takes it, then makes each group one reduction.
static void mergeIn(Block &block) {
  std::vector<Group> groups;
  for (ReduceOp op : block.getOps<ReduceOp>()) {
    auto tried = llvm::MutableArrayRef<Group>(groups).take_back(kGroupsTried);
    Group *partner = llvm::find_if(tried, [&](Group &group) { return moveAhead(op, group.front()); });
    if (partner == tried.end())
      groups.push_back({op});
    else
      partner->push_back(op);
  }
  for (const Group &group : groups)
    join(group);
}

namespace {
struct MergeReductions : tk::impl::MergeReductionsBase<MergeReductions> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      mergeIn(*block);
  }
};
} // namespace
