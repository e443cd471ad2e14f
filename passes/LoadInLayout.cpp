//===- LoadInLayout.cpp - what a load gives, in another layout -----------------===//
//
//   %x = tkg.load %p[%i] readonly : ... -> tensor<64xf32, #A>
//   %b = tkg.convert %x how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %j = ...                                    // as %i, in #B
//   %b = tkg.load %p[%j] readonly : ... -> tensor<64xf32, #B>
//
//===----------------------------------------------------------------------===//

#include "passes/LoadInLayout.h"
#include "passes/SharedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

/// Registers of a thread that are worth it, and operations.
static constexpr int64_t kMostWords = 8;
static constexpr unsigned kMostOperations = 16;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// A slot of a ring, which is not written in the iteration that reads it.
static bool isSlot(Value buffer) {
  auto view = buffer.getDefiningOp<tkg::BufViewOp>();
  return view && view.getIndex();
}

/// The operations behind a tile, operands first; false when one of them cannot be done in any layout.
static bool collect(Value tile, llvm::SetVector<Operation *> &ops) {
  Operation *op = tile.getDefiningOp();
  if (!op || op->getNumRegions() || op->getNumResults() != 1 || ops.size() > kMostOperations)
    return false;
  if (ops.contains(op))
    return true;
  auto load = dyn_cast<tkg::LoadOp>(op);
  auto slot = dyn_cast<tkg::BufLoadOp>(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  bool isKnown = load ? load.getReadonly() : slot ? isSlot(slot.getBuffer()) : constant ? isa<SplatElementsAttr>(constant.getValue())
                      : isa<ArangeOp, SplatOp>(op) || (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op));
  if (!isKnown)
    return false;
  for (Value operand : op->getOperands())
    if (isTile(operand) && !collect(operand, ops))
      return false;
  ops.insert(op);
  return true;
}

/// The operation once more, its tiles in `layout`.
static void repeat(OpBuilder builder, Operation *op, const LinearLayout &layout, IRMapping &mapping) {
  Operation *made = builder.clone(*op, mapping);
  RankedTensorType type = tileTypeFor(op->getResult(0), layout);
  made->getResult(0).setType(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(made))
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
  if (auto load = dyn_cast<tkg::LoadOp>(made))
    load.setVector(std::min<int64_t>(load.getVector(), layout.contiguousPerThread(0)));
}

bool tk::loadInLayout(tkg::ConvertOp op) {
  LinearLayout layout = mapOf(op.getResult());
  llvm::SetVector<Operation *> ops;
  if (layout.rank() != 1 || registerWords(op.getResult()) > kMostWords || !collect(op.getValue(), ops) ||
      !llvm::any_of(ops, llvm::IsaPred<tkg::LoadOp, tkg::BufLoadOp>))
    return false;
  // Global memory takes its time: such a load stays where it is. From shared memory, registers are filled late.
  bool isGlobal = llvm::any_of(ops, llvm::IsaPred<tkg::LoadOp>);
  IRMapping mapping;
  for (Operation *each : ops) {
    OpBuilder builder(isGlobal ? each : op);
    if (isGlobal)
      builder.setInsertionPointAfter(each);
    repeat(builder, each, layout, mapping);
  }
  op.replaceAllUsesWith(mapping.lookup(op.getValue()));
  op.erase();
  for (Operation *each : llvm::reverse(ops))
    if (each->use_empty())
      each->erase();
  return true;
}
