//===- StripCuts.cpp - how operations are cut into pieces along an axis -------===//

#include "passes/analysis/StripCuts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/PlaceLowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Element i of each result comes from element i of the operands.
static bool isElementwise(Operation *op) {
  if (auto bitcast = dyn_cast<BitcastOp>(op)) // of other sizes: several elements make one
    return tileSides(bitcast.getType()) == tileSides(bitcast.getValue().getType());
  if (auto assembly = dyn_cast<AsmOp>(op))
    return assembly.getPure();
  return op->hasTrait<OpTrait::Elementwise>() || isa<PtrAddOp, MapOp, ExternOp, HintOp, LoadOp>(op);
}

/// All tiles are cut along the same axis.
static OperandCuts alike(Operation *op, int axis) {
  SmallVector<int> cuts;
  for (Value operand : op->getOperands())
    cuts.push_back(isTile(operand) ? axis : kWhole);
  return cuts;
}

/// Rows of an operation that works along one axis only.
static OperandCuts rowsOf(Operation *op, int64_t worksAlong, int axis) {
  return worksAlong == axis ? std::nullopt : alike(op, axis);
}

/// The first axis that has more than one element: pieces along it are contiguous in row-major order.
static int outermostAxis(Value tile) {
  ArrayRef<int64_t> sides = tileSides(tile.getType());
  return int(llvm::find_if(sides, [](int64_t side) { return side != 1; }) - sides.begin());
}

static OperandCuts reshapeCuts(ReshapeOp op, int axis) {
  if (axis != outermostAxis(op.getResult()))
    return std::nullopt;
  return SmallVector<int>{outermostAxis(op.getValue())};
}

std::optional<unsigned> tk::slicedAxis(Value view, ValueRange indices, ArrayRef<int64_t> widths, int axis) {
  Place place(view, indices, widths);
  for (auto [at, width] : llvm::enumerate(widths))
    if (width > 0 && int(place.dims[at]) == axis)
      return at;
  return std::nullopt;
}

/// Indices of a place whose tile is cut: a slice begins elsewhere, a tile of indices is cut itself.
static OperandCuts placeCuts(Operation *op, Value view, OperandRange indices, ArrayRef<int64_t> widths, int axis) {
  SmallVector<int> cuts = *alike(op, axis);
  Place place(view, indices, widths);
  int first = int(indices.getBeginOperandIndex());
  for (auto [at, index] : llvm::enumerate(indices)) {
    int own = axis - int(place.dims[at]);
    bool runsAlong = isTile(index) && own >= 0 && own < int(tileSides(index.getType()).size());
    cuts[first + at] = runsAlong ? own : kWhole;
  }
  return cuts;
}

bool tk::isCarriedScan(Operation *op, int axis) {
  auto scan = dyn_cast<ScanOp>(op);
  return scan && int64_t(scan.getAxis()) == axis;
}

OperandCuts tk::operandCuts(Operation *op, int axis) {
  if (isElementwise(op))
    return alike(op, axis);
  return TypeSwitch<Operation *, OperandCuts>(op)
      .Case<arith::ConstantOp, SplatOp, ArangeOp>([&](Operation *op) { return alike(op, axis); })
      .Case([&](ExpandDimsOp expand) -> OperandCuts {
        int added = int(expand.getAxis());
        return added == axis ? std::nullopt : OperandCuts({axis < added ? axis : axis - 1});
      })
      .Case([&](BroadcastOp broadcast) -> OperandCuts {
        bool repeats = tileSides(broadcast.getValue().getType())[axis] == 1;
        return OperandCuts({repeats ? kWhole : axis});
      })
      .Case([&](PermuteOp permute) { return OperandCuts({int(permute.getOrder()[axis])}); })
      .Case([&](ReshapeOp reshape) { return reshapeCuts(reshape, axis); })
      .Case([&](ReduceOp reduce) { return alike(op, axis < int64_t(reduce.getAxis()) ? axis : axis + 1); })
      .Case([&](ScanOp scan) { // pieces come in ascending order, each after all before it
        bool cannotCarry = scan.getReverse() || scan.getOrder() == ReduceOrder::tree;
        return cannotCarry && isCarriedScan(op, axis) ? std::nullopt : alike(op, axis);
      })
      .Case<SortOp, FlipOp, CatOp>([&](auto rows) { return rowsOf(op, rows.getAxis(), axis); })
      .Case<ReadOp, LocateOp>([&](auto place) {
        return placeCuts(op, place.getView(), place.getIndices(), place.getWidths(), axis);
      })
      .Default([](Operation *) { return std::nullopt; });
}

OperandCuts tk::rootCuts(Operation *op, int axis) {
  if (auto write = dyn_cast<WriteOp>(op))
    return placeCuts(op, write.getView(), write.getIndices(), write.getWidths(), axis);
  return alike(op, axis);
}
