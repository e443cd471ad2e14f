//===- AssignLayouts.cpp - planned layouts become types -------------------------===//
//
// Requires: phase Planned.
// Ensures:  phase LaidOut. Every tile type has its layout; operations whose tiles must agree agree;
//           where a reduction, expand_dims or broadcast gives or needs another layout than planned
//           for its neighbour, a tkg.convert stands between.
// Fails:    never.
//
//   %s = tk.reduce %x axis 1 ... {tkg.layouts = [#A]} : tensor<4x64xf32> -> tensor<4xf32>
// becomes, when the layout that follows from %x is #B,
//   %t = tk.reduce %x axis 1 ... : tensor<4x64xf32, #X> -> tensor<4xf32, #B>
//   %s = tkg.convert %t how "shared" : tensor<4xf32, #B> -> tensor<4xf32, #A>
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static void setLayouts(ValueRange values, ArrayAttr layouts) {
  for (auto [value, attribute] : llvm::zip(values, layouts))
    if (auto layout = dyn_cast<tkg::LayoutAttr>(attribute))
      value.setType(tkg::withLayout(value.getType(), layout));
}

static void setTypes(Operation *op) {
  auto layouts = op->getAttrOfType<ArrayAttr>("tkg.layouts");
  auto before = op->getAttrOfType<ArrayAttr>("tkg.before_layouts");
  op->removeAttr("tkg.layouts");
  op->removeAttr("tkg.before_layouts");
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && before)
    setLayouts(loop.getBeforeArguments(), before);
  if (!layouts)
    return;
  setLayouts(op->getResults(), layouts);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    setLayouts(loop.getRegionIterArgs(), layouts);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    setLayouts(loop.getAfterArguments(), layouts);
}

/// A constant's value has a type of its own, which carries the layout too.
static void retypeConstant(arith::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense)
    return;
  auto type = cast<ShapedType>(constant.getType());
  constant.setValueAttr(dense.resizeSplat(type));
}

/// Converts `operand` where the layout it has is not `wanted`.
static void require(Operation *op, unsigned operand, const LinearLayout &wanted, StringRef why) {
  OpBuilder builder(op);
  op->setOperand(operand, convertTile(builder, op->getLoc(), op->getOperand(operand), wanted, why));
}

/// Gives a result the layout it has for free, and its users the planned one.
static void giveNatural(OpResult result, const LinearLayout &natural, StringRef why) {
  LinearLayout planned = mapOf(result);
  if (planned == natural)
    return;
  Operation *op = result.getOwner();
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  result.setType(tkg::withLayout(result.getType(), tkg::LayoutAttr::get(op->getContext(), natural)));
  Value converted = convertTile(builder, op->getLoc(), result, planned, why);
  result.replaceAllUsesExcept(converted, converted.getDefiningOp());
}

static void settleReduce(ReduceOp reduce) {
  LinearLayout first = mapOf(reduce.getOperands().front());
  for (unsigned i = 0; i < reduce.getOperands().size(); ++i)
    require(reduce, i, first, "tiles reduced together have one layout");
  LinearLayout natural = reducedLayout(first, reduce.getAxis());
  for (OpResult result : reduce.getResults())
    if (isa<RankedTensorType>(result.getType()))
      giveNatural(result, natural, "a reduction leaves its result where the operand was");
}

/// A thread has all parts of a whole.
static void settleBitcast(BitcastOp bitcast) {
  constexpr StringLiteral why = "a thread must have all parts of an element";
  int64_t ratio = bitcastRatio(bitcast);
  if (ratio == 1 || !isa<RankedTensorType>(bitcast.getType()))
    return;
  unsigned axis = *bitcast.getAxis();
  LinearLayout from = mapOf(bitcast.getValue()), to = mapOf(bitcast.getResult());
  if (to.shape()[axis] < from.shape()[axis])
    return require(bitcast, 0, splitElements(to, axis, ratio), why);
  if (std::optional<LinearLayout> joined = joinElements(to, axis, ratio))
    return require(bitcast, 0, *joined, why);
  giveNatural(bitcast->getResult(0), splitElements(from, axis, ratio), why);
}

static void settle(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    settleReduce(reduce);
  else if (auto bitcast = dyn_cast<BitcastOp>(op))
    settleBitcast(bitcast);
  else if (auto expand = dyn_cast<ExpandDimsOp>(op))
    require(op, 0, reducedLayout(mapOf(expand.getResult()), expand.getAxis()),
            "an axis is added for a tile that lies so");
  else if (auto store = dyn_cast<tkg::StoreOp>(op))
    require(op, 0, mapOf(store.getOffset()), "a store needs the layout of its addresses");
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    require(op, 0, broadcastOperandLayout(mapOf(broadcast.getResult()), shapeOf(broadcast.getValue())),
            "the tile is broadcast to one that lies so");
}

namespace {
struct AssignLayouts : tk::impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) { setTypes(op); });
    getOperation().walk([](arith::ConstantOp constant) { retypeConstant(constant); });
    getOperation().walk([](Operation *op) { settle(op); });
    setPhase(getOperation(), Phase::LaidOut);
  }
};
} // namespace
