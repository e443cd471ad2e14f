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

/// One region of both: the left values of a, of b, then the right ones.
static void joinRegions(ReduceOp a, ReduceOp b, ReduceOp joined) {
  Block *body = &joined.getCombine().emplaceBlock();
  for (unsigned side : {0u, 1u})
    for (ReduceOp op : {a, b}) {
      unsigned count = op.getNumResults();
      for (BlockArgument argument : op.getCombine().getArguments().slice(side * count, count))
        body->addArgument(argument.getType(), argument.getLoc());
    }
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  SmallVector<Value> results;
  unsigned countA = a.getNumResults(), countB = b.getNumResults();
  for (ReduceOp op : {a, b}) {
    unsigned count = op.getNumResults(), start = op == a ? 0 : countA;
    IRMapping mapping;
    for (unsigned i = 0; i < count; ++i) {
      mapping.map(op.getCombine().getArgument(i), body->getArgument(start + i));
      mapping.map(op.getCombine().getArgument(count + i), body->getArgument(countA + countB + start + i));
    }
    Block &combine = op.getCombine().front();
    for (Operation &each : combine.without_terminator())
      builder.clone(each, mapping);
    for (Value value : combine.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(value));
  }
  YieldOp::create(builder, joined.getLoc(), results);
}

static ReduceOp merge(ReduceOp a, ReduceOp b) {
  OpBuilder builder(a);
  SmallVector<Value> operands(a.getOperands());
  llvm::append_range(operands, b.getOperands());
  SmallVector<Type> types(a.getResultTypes());
  llvm::append_range(types, b.getResultTypes());
  auto joined = ReduceOp::create(builder, a.getLoc(), types, operands, a.getAxis(), a.getOrder());
  joinRegions(a, b, joined);
  a.replaceAllUsesWith(joined.getResults().take_front(a.getNumResults()));
  b.replaceAllUsesWith(joined.getResults().take_back(b.getNumResults()));
  a.erase();
  b.erase();
  return joined;
}

/// Each reduction with the next that it can be merged with, until there is none.
static void mergeIn(Block &block) {
  SmallVector<ReduceOp> waiting;
  for (ReduceOp op : llvm::to_vector(block.getOps<ReduceOp>())) {
    ReduceOp *partner = llvm::find_if(waiting, [&](ReduceOp first) {
      llvm::SetVector<Operation *> slice;
      if (!areAlike(first, op) || !collectMovable(op, first, slice))
        return false;
      for (Operation *source : slice)
        source->moveBefore(first);
      return true;
    });
    if (partner == waiting.end())
      waiting.push_back(op);
    else
      *partner = merge(*partner, op);
  }
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
