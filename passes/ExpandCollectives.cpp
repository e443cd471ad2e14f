//===- ExpandCollectives.cpp - scans, sorts, histograms and gathers -----------------===//
//
// Requires: phase LaidOut.
// Ensures:  no tk.scan, tk.sort, tk.histogram or tk.gather is left. A scan runs in each warp
//           and, when its axis is spread over several, takes the totals of the warps
//           before it from a shared buffer. The others work on shared buffers.
// Fails:    never.
//
//   %g = tk.gather %x[%i] axis 0 : tensor<64xf32, #A>, tensor<8xi32, #B> -> tensor<8xf32, #B>
// becomes
//   %b = tkg.alloc : !tkg.buf<64xf32>
//   tkg.buf_store %x, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %g = tkg.buf_gather %b[%i] axis 0 : !tkg.buf<64xf32>, tensor<8xi32, #B> -> tensor<8xf32, #B>
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/AxisLayouts.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
class Expansion {
public:
  explicit Expansion(Operation *op)
      : loc(op->getLoc()), builder(op), shared{builder, op->getLoc()} {}
  void scan(ScanOp op);
  void sort(SortOp op);
  void histogram(HistogramOp op);
  void gather(GatherOp op);

private:
  SmallVector<Value> scanWarps(ScanOp op, ValueRange operands, const LinearLayout &layout);

  Location loc;
  OpBuilder builder;
  SharedBuilder shared;
};
} // namespace

/// A scan of operands in natural order.
SmallVector<Value> Expansion::scanWarps(ScanOp op, ValueRange operands, const LinearLayout &layout) {
  unsigned axis = op.getAxis();
  SmallVector<Type> types(operands.getTypes()), totals;
  bool isTree = op.getOrder() == ReduceOrder::tree;
  bool manyWarps = layout.bitsMovingAxis(InDim::Warp, axis) != 0;
  LinearLayout partial = manyWarps ? partialLayout(layout, axis) : layout;
  if (manyWarps)
    for (Value operand : operands)
      totals.push_back(tileTypeFor(operand, partial));
  auto inWarps = tkg::ScanOp::create(builder, loc, types, totals, operands, axis, op.getReverse(), isTree);
  cloneCombine(op.getCombine(), inWarps.getCombine());
  if (!manyWarps)
    return SmallVector<Value>(inWarps.getResults());
  LinearLayout all = *reducedLayout(layout, axis).expandAxis(axis).broadcastAxis(axis, partial.shape()[axis]);
  SmallVector<Value> everywhere;
  for (Value total : inWarps.getTotals())
    everywhere.push_back(shared.load(shared.spill(total), tileTypeFor(total, all)));
  auto carried = tkg::ScanCarryOp::create(builder, loc, types, inWarps.getResults(), everywhere, axis,
                                          op.getReverse(), isTree);
  cloneCombine(op.getCombine(), carried.getCombine());
  return SmallVector<Value>(carried.getResults());
}

void Expansion::scan(ScanOp op) {
  SmallVector<Value> operands(op.getOperands());
  LinearLayout layout = mapOf(operands.front());
  LinearLayout natural = isNaturalOrder(layout, op.getAxis()) ? layout : naturalLayout(layout, op.getAxis());
  for (Value &operand : operands)
    operand = convertTile(builder, loc, operand, natural, "a scan needs its axis in order");
  for (auto [old, result] : llvm::zip(op.getResults(), scanWarps(op, operands, natural))) {
    result = convertTile(builder, loc, result, mapOf(old), "a scan leaves its axis in order");
    old.replaceAllUsesWith(result);
  }
}

/// Rows of a power of two in which the axis runs fastest.
void Expansion::sort(SortOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getValue());
  unsigned axis = op.getAxis();
  int64_t side = shape[axis], width = llvm::PowerOf2Ceil(side), rows = 1;
  SmallVector<int64_t> strides(shape.size());
  for (int other = int(shape.size()) - 1; other >= 0; --other) {
    strides[other] = unsigned(other) == axis ? 1 : rows * width;
    rows *= unsigned(other) == axis ? 1 : shape[other];
  }
  Value keys = shared.alloc({rows, width}, elementTypeOf(op.getValue().getType()));
  Value indices = shared.alloc({rows, width}, builder.getI32Type());
  shared.store(op.getValue(), shared.view(keys, shape, strides, 0));
  tkg::BufSortOp::create(builder, loc, keys, indices, side, op.getDescending(), op.getIsUnsigned());
  ArrayRef<int64_t> taken = shapeOf(op.getSorted());
  Value sorted = shared.load(shared.view(keys, taken, strides, 0), op.getSorted().getType());
  Value places = shared.load(shared.view(indices, taken, strides, 0), op.getIndices().getType());
  op.getSorted().replaceAllUsesWith(sorted);
  op.getIndices().replaceAllUsesWith(places);
}

void Expansion::histogram(HistogramOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Value zero = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, builder.getI32IntegerAttr(0)));
  Value counts = shared.spill(zero);
  tkg::BufCountOp::create(builder, loc, op.getValue(), op.getMask(), counts, op.getIsUnsigned());
  op.getResult().replaceAllUsesWith(shared.load(counts, type));
}

void Expansion::gather(GatherOp op) {
  Value buffer = shared.spill(op.getValue());
  Value result = tkg::BufGatherOp::create(builder, loc, op.getType(), buffer, op.getIndices(), op.getAxis());
  op.getResult().replaceAllUsesWith(result);
}

static bool expand(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([](ScanOp op) { return Expansion(op).scan(op), true; })
      .Case([](SortOp op) { return Expansion(op).sort(op), true; })
      .Case([](HistogramOp op) { return Expansion(op).histogram(op), true; })
      .Case([](GatherOp op) { return Expansion(op).gather(op), true; })
      .Default([](Operation *) { return false; });
}

namespace {
struct ExpandCollectives : tk::impl::ExpandCollectivesBase<ExpandCollectives> {
  void runOnOperation() override {
    SmallVector<Operation *> expanded;
    getOperation().walk([&](Operation *op) {
      if (expand(op))
        expanded.push_back(op);
    });
    for (Operation *op : expanded)
      op->erase();
  }
};
} // namespace
