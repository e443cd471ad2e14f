//===- ExpandDots.cpp - products to matrix instructions or multiply-adds ------------===//
//
// Requires: phase LaidOut.
// Ensures:  no tk.dot or tk.dot_scaled is left. The right operand is in a shared buffer, the left one
//           too unless the threads hold its fragments already, as they do after another product. A
//           transposed operand is the buffer of what was transposed, with other strides.
// Fails:    never.
//
//   %d = tk.dot %a, %b, %c {tkg.tiling = {kind = "f16", ...}}
// becomes
//   %x = tkg.alloc : !tkg.buf<64x32xf16, strides = 40, 1>
//   tkg.buf_store %a, %x
//   %y = tkg.alloc : !tkg.buf<32x64xf16, strides = 72, 1>
//   tkg.buf_store %b, %y
//   %d = tkg.mma %x, %y, %c {tkg.tiling = {kind = "f16", ...}}
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDDOTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
class Expansion {
public:
  explicit Expansion(Operation *op) : op(op), loc(op->getLoc()), builder(op), shared{builder, op->getLoc()} {}
  void dot(DotOp op);
  void scaled(DotScaledOp op);

private:
  Value operand(Value tile);
  Value converted(Value tile, const LinearLayout &layout);
  Value matrixProduct(DotOp op, const MatrixTiling &tiling);

  Operation *op;
  Location loc;
  OpBuilder builder;
  SharedBuilder shared;
};
} // namespace

/// The operation before which an operand is written: outside of the loops that do not change it.
static Operation *anchorFor(Operation *op, Value tile) {
  for (Operation *loop = op->getParentOp(); isa<scf::ForOp, scf::WhileOp>(loop); loop = op->getParentOp()) {
    if (loop->isAncestor(tile.getParentRegion()->getParentOp()))
      break;
    op = loop;
  }
  return op;
}

/// The buffer with an operand's elements.
Value Expansion::operand(Value tile) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(anchorFor(op, tile));
  auto permute = tile.getDefiningOp<PermuteOp>();
  if (!permute)
    return shared.spill(tile);
  Value buffer = shared.spill(permute.getValue());
  auto type = cast<tkg::BufType>(buffer.getType());
  SmallVector<int64_t> strides;
  for (int64_t axis : permute.getOrder())
    strides.push_back(type.stride(unsigned(axis)));
  return shared.view(buffer, shapeOf(tile), strides, 0);
}

Value Expansion::converted(Value tile, const LinearLayout &layout) {
  if (mapOf(tile) == layout)
    return tile;
  bool renames = llvm::cantFail(LayoutConversion::create(mapOf(tile), layout)).isRenaming();
  return tkg::ConvertOp::create(builder, loc, tileTypeFor(tile, layout), tile, renames ? "registers" : "shared");
}

Value Expansion::matrixProduct(DotOp op, const MatrixTiling &tiling) {
  LinearLayout left = leftOperandLayout(tiling);
  bool isHeld = llvm::cantFail(LayoutConversion::create(mapOf(op.getA()), left)).isRenaming();
  Value a = isHeld ? converted(op.getA(), left) : operand(op.getA());
  Value acc = converted(op.getAcc(), accumulatorLayout(tiling));
  auto made = tkg::MmaOp::create(builder, loc, acc.getType(), a, operand(op.getB()), acc,
                                 stringifyDotInput(op.getInput()), op.getPromote(), op.getAUnsigned(),
                                 op.getBUnsigned());
  made->setAttr("tkg.tiling", tilingAttr(op.getContext(), tiling));
  return converted(made.getResult(), mapOf(op.getResult()));
}

void Expansion::dot(DotOp op) {
  Value result;
  if (std::optional<MatrixTiling> tiling = tilingOf(op->getAttr("tkg.tiling")))
    result = matrixProduct(op, *tiling);
  else
    result = tkg::DotOp::create(builder, loc, op.getType(), operand(op.getA()), operand(op.getB()), op.getAcc(),
                                stringifyDotInput(op.getInput()), op.getAUnsigned(), op.getBUnsigned());
  op.getResult().replaceAllUsesWith(result);
}

void Expansion::scaled(DotScaledOp op) {
  auto buffer = [&](Value tile) { return tile ? operand(tile) : Value(); };
  Value result = tkg::DotScaledOp::create(builder, loc, op.getType(), buffer(op.getA()), buffer(op.getAScale()),
                                          buffer(op.getB()), buffer(op.getBScale()), op.getAcc());
  op.getResult().replaceAllUsesWith(result);
}

namespace {
struct ExpandDots : tk::impl::ExpandDotsBase<ExpandDots> {
  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (isa<DotOp, DotScaledOp>(op))
        products.push_back(op);
    });
    for (Operation *op : products) {
      SmallVector<Value> operands(op->getOperands());
      auto dot = dyn_cast<DotOp>(op);
      dot ? Expansion(op).dot(dot) : Expansion(op).scaled(cast<DotScaledOp>(op));
      op->erase();
      for (Value operand : operands) // a transposition that is a view now
        if (auto permute = operand.getDefiningOp<PermuteOp>(); permute && permute->use_empty())
          permute->erase();
    }
  }
};
} // namespace
