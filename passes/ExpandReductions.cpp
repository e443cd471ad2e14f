//===- ExpandReductions.cpp - within warps, then across them --------------------===//
//
// Requires: phase LaidOut.
// Ensures:  no tk.reduce is left. tkg.reduce combines registers and lanes; an axis that is spread
//           over W warps leaves W partial values, which go through a shared buffer so that every
//           thread gets all of them and combines them in the same order.
// Fails:    never.
//
//   %s = tk.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> f32 {...}
// becomes
//   %p = tkg.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> tensor<4xf32, #onePerWarp> {...}
//   %b = tkg.alloc : !tkg.buf<4xf32>
//   tkg.buf_store %p, %b
//   %q = tkg.buf_load %b : -> tensor<4xf32, #allInEachThread>
//   %s = tkg.reduce %q axis 0 order any : -> f32 {...}
//
// Up to eight partials a thread reads all (one or two vector loads); more are dealt to lanes and
// combined by shuffles. `order indexed` and `order tree` first bring the axis into natural order
// (registers lowest, then lanes, then warps), so that every combine has the lower index on its left,
// and the levels of the tree are those of registers, of lanes and of warps.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/AxisLayouts.h"
#include "passes/analysis/LayoutPlan.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
class ReductionExpansion {
public:
  explicit ReductionExpansion(ReduceOp op)
      : op(op), axis(op.getAxis()), builder(op), loc(op.getLoc()) {}
  void run();

private:
  SmallVector<Value> reduceWarps(ValueRange operands, TypeRange results);
  SmallVector<Value> throughMemory(ValueRange partials, const LinearLayout &gathered);

  ReduceOp op;
  unsigned axis;
  OpBuilder builder;
  Location loc;
};
} // namespace

SmallVector<Value> ReductionExpansion::reduceWarps(ValueRange operands, TypeRange results) {
  auto reduce = tkg::ReduceOp::create(builder, loc, results, operands, axis, op.getOrder());
  cloneCombine(op.getCombine(), reduce.getCombine());
  return SmallVector<Value>(reduce.getResults());
}

/// All are stored before any is loaded: one barrier orders them.
SmallVector<Value> ReductionExpansion::throughMemory(ValueRange partials, const LinearLayout &gathered) {
  SharedBuilder shared{builder, loc};
  SmallVector<Value> buffers, loaded;
  for (Value partial : partials)
    buffers.push_back(shared.spill(partial));
  for (auto [partial, buffer] : llvm::zip(partials, buffers))
    loaded.push_back(shared.load(buffer, tileTypeFor(partial, gathered)));
  return loaded;
}

void ReductionExpansion::run() {
  SmallVector<Value> operands(op.getOperands());
  LinearLayout layout = mapOf(operands.front());
  if (op.getOrder() != ReduceOrder::any && !isNaturalOrder(layout, axis)) {
    LinearLayout natural = naturalLayout(layout, axis);
    for (Value &operand : operands)
      operand = convertTile(builder, loc, operand, natural, "a reduction in order needs the axis in order");
    layout = natural;
  }
  LinearLayout resultLayout = reducedLayout(layout, axis);
  SmallVector<Type> resultTypes;
  for (Value result : op.getResults())
    resultTypes.push_back(isa<RankedTensorType>(result.getType()) ? tileTypeFor(result, resultLayout)
                                                                  : result.getType());
  SmallVector<Value> results;
  if (layout.bitsMovingAxis(InDim::Warp, axis) == 0) {
    results = reduceWarps(operands, resultTypes);
  } else {
    LinearLayout partial = partialLayout(layout, axis);
    LinearLayout gather = gatherLayout(resultLayout, axis, partial.shape()[axis]);
    SmallVector<Type> partialTypes;
    for (Value operand : operands)
      partialTypes.push_back(tileTypeFor(operand, partial));
    results = reduceWarps(throughMemory(reduceWarps(operands, partialTypes), gather), resultTypes);
  }
  for (auto [old, result] : llvm::zip(op.getResults(), results)) {
    if (result.getType() != old.getType())
      result = convertTile(builder, loc, result, mapOf(old), "a reduction leaves its result where the operand was");
    old.replaceAllUsesWith(result);
  }
  op.erase();
}

namespace {
struct ExpandReductions : tk::impl::ExpandReductionsBase<ExpandReductions> {
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      ReductionExpansion(op).run();
  }
};
} // namespace
