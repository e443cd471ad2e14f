//===- ExpandDots.cpp - products to matrix instructions or multiply-adds ------------===//
//
// Requires: phase LaidOut, no tk.dot_scaled.
// Ensures:  no tk.dot is left. The right operand is in a shared buffer, the left one too unless the
//           threads hold its fragments already, as they do after another product. A transposed operand
//           is the buffer of what was transposed, with other strides; products that share a tile share its
//           buffer, so that nobody has to hold the tile for a later one. A depth K that is no power of two
//           is cut into parts that are, each a product with views of the buffers; what the last part lacks of
//           an instruction's depth is zeros in the buffers.
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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDDOTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
/// What a buffer holds: a tile, and up to which depth zeros follow along an axis.
using Content = std::tuple<Value, unsigned, int64_t>;
using Buffers = DenseMap<Content, Value>;

class Expansion {
public:
  Expansion(Operation *op, Buffers &buffers) : op(op), loc(op->getLoc()), builder(op), shared{builder, op->getLoc()}, buffers(buffers) {}
  void dot(DotOp op);

private:
  Value operand(Value tile, unsigned depthAxis = 0, int64_t depth = 0);
  Value bufferOf(Value tile, unsigned depthAxis, int64_t depth);
  Value spill(Value tile, unsigned depthAxis, int64_t depth);
  Value part(Value operand, unsigned depthAxis, int64_t first, int64_t depth);
  Value converted(Value tile, const LinearLayout &layout);
  Value matrixProduct(DotOp op, const MatrixTiling &tiling);

  Operation *op;
  Location loc;
  OpBuilder builder;
  SharedBuilder shared;
  Buffers &buffers; // of the products before this one
};
} // namespace

/// Whether a buffer has been filled whenever the operation runs.
static bool isFilledAt(Value buffer, Operation *op) {
  Operation *alloc = buffer.getDefiningOp(), *here = alloc->getBlock()->findAncestorOpInBlock(*op);
  return here && alloc->isBeforeInBlock(here);
}

/// The operation before which an operand is written: outside of the loops that do not change it.
static Operation *anchorFor(Operation *op, Value tile) {
  for (Operation *loop = op->getParentOp(); isa<scf::ForOp, scf::WhileOp>(loop); loop = op->getParentOp()) {
    if (loop->isAncestor(tile.getParentRegion()->getParentOp()))
      break;
    op = loop;
  }
  return op;
}

/// A buffer that holds the tile; along `depthAxis` up to `depth`, if that is more, zeros follow.
Value Expansion::spill(Value tile, unsigned depthAxis, int64_t depth) {
  SmallVector<int64_t> shape(shapeOf(tile));
  int64_t own = shape[depthAxis];
  if (depth <= own)
    return shared.spill(tile);
  Type element = elementTypeOf(tile.getType());
  shape[depthAxis] = depth;
  SmallVector<int64_t> strides = paddedStrides(shape, element);
  Value buffer = shared.alloc(shape, element, strides);
  shared.store(tile, shared.view(buffer, shapeOf(tile), strides, 0));
  shape[depthAxis] = depth - own;
  LinearLayout ofTile = mapOf(tile);
  SmallVector<unsigned> order;
  for (size_t axis = shape.size(); axis-- > 0;)
    order.push_back(unsigned(axis));
  SmallVector<int32_t> sides(shape.begin(), shape.end());
  int32_t vector = std::min<int32_t>(sides.back() & -sides.back(), 128 / int32_t(elementBits(element)));
  LinearLayout layout = llvm::cantFail(LinearLayout::coalesced(sides, vector, order, ofTile.numLanes(),
                                                               ofTile.numWarps()));
  auto type = RankedTensorType::get(shape, element, tkg::LayoutAttr::get(op->getContext(), layout));
  Attribute zero = builder.getZeroAttr(element);
  Value zeros = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, zero));
  shared.store(zeros, shared.view(buffer, shape, strides, own * strides[depthAxis]));
  return buffer;
}

/// The buffer that an earlier product had for the tile, or a new one.
Value Expansion::bufferOf(Value tile, unsigned depthAxis, int64_t depth) {
  if (depth <= shapeOf(tile)[depthAxis])
    depthAxis = 0, depth = 0; // no zeros follow
  Value &buffer = buffers[{tile, depthAxis, depth}];
  if (!buffer || !isFilledAt(buffer, op)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(anchorFor(op, tile));
    buffer = spill(tile, depthAxis, depth);
  }
  return buffer;
}

/// The buffer with an operand's elements.
Value Expansion::operand(Value tile, unsigned depthAxis, int64_t depth) {
  auto permute = tile.getDefiningOp<PermuteOp>();
  if (!permute)
    return bufferOf(tile, depthAxis, depth);
  Value buffer = bufferOf(permute.getValue(), unsigned(permute.getOrder()[depthAxis]), depth);
  auto type = cast<tkg::BufType>(buffer.getType());
  SmallVector<int64_t> shape, strides;
  for (int64_t axis : permute.getOrder()) {
    shape.push_back(type.getShape()[axis]);
    strides.push_back(type.stride(unsigned(axis)));
  }
  return shared.view(buffer, shape, strides, 0);
}

/// What a buffer holds from `first` on along `depthAxis`.
Value Expansion::part(Value buffer, unsigned depthAxis, int64_t first, int64_t depth) {
  auto type = cast<tkg::BufType>(buffer.getType());
  SmallVector<int64_t> shape(type.getShape()), strides;
  if (shape[depthAxis] == depth)
    return buffer;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    strides.push_back(type.stride(axis));
  shape[depthAxis] = depth;
  return shared.view(buffer, shape, strides, first * strides[depthAxis]);
}

Value Expansion::converted(Value tile, const LinearLayout &layout) {
  return convertTile(builder, loc, tile, layout, "a matrix instruction has its own fragments");
}

Value Expansion::matrixProduct(DotOp op, const MatrixTiling &tiling) {
  unsigned n = unsigned(tiling.batch.size()) + 1, m = n - 1;
  int64_t depth = llvm::alignTo(tiling.k, tiling.instruction().k);
  bool isWhole = depth == tiling.k && llvm::isPowerOf2_64(depth);
  bool isHeld = false; // by the threads, as fragments
  if (isWhole)
    isHeld = llvm::cantFail(LayoutConversion::create(mapOf(op.getA()), leftOperandLayout(tiling))).isRenaming();
  Value a = isHeld ? converted(op.getA(), leftOperandLayout(tiling)) : operand(op.getA(), n, depth);
  Value b = operand(op.getB(), m, depth);
  Value sum = converted(op.getAcc(), accumulatorLayout(tiling));
  for (int64_t first = 0; first < depth;) {
    MatrixTiling one = tiling;
    one.k = int32_t(llvm::bit_floor(uint64_t(depth - first)));
    Value left = isHeld ? a : part(a, n, first, one.k);
    auto made = tkg::MmaOp::create(builder, loc, sum.getType(), left, part(b, m, first, one.k), sum,
                                   stringifyDotInput(op.getInput()), op.getPromote(), op.getAUnsigned(),
                                   op.getBUnsigned());
    made->setAttr("tkg.tiling", tilingAttr(op.getContext(), one));
    sum = made.getResult();
    first += one.k;
  }
  return converted(sum, mapOf(op.getResult()));
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

namespace {
struct ExpandDots : tk::impl::ExpandDotsBase<ExpandDots> {
  void runOnOperation() override {
    SmallVector<DotOp> products;
    Buffers buffers;
    getOperation().walk([&](DotOp dot) { products.push_back(dot); });
    for (DotOp dot : products) {
      SmallVector<Value> operands(dot->getOperands());
      Expansion(dot, buffers).dot(dot);
      dot->erase();
      for (Value operand : operands) // a transposition that is a view now
        if (auto permute = operand.getDefiningOp<PermuteOp>(); permute && permute->use_empty())
          permute->erase();
    }
  }
};
} // namespace
