//===- ExpandShapes.cpp - shape operations that move data ----------------------------===//
//
// Requires: phase LaidOut.
// Ensures:  a shape operation that is left finds each element of its result in a register of the
//           same thread. A permutation, or a reshape that the layouts allow, is that and a
//           tkg.convert. The others are a buffer, written in one order and read in another: a slice
//           or flip is a view of the buffer with other strides.
// Fails:    never.
//
//   %t = tk.permute %m [1, 0] : tensor<4x8xf32, #A> -> tensor<8x4xf32, #B>
// becomes, where #B is not #A transposed,
//   %s = tk.permute %m [1, 0] : tensor<4x8xf32, #A> -> tensor<8x4xf32, #A transposed>
//   %t = tkg.convert %s how "shuffle" : tensor<8x4xf32, #A transposed> -> tensor<8x4xf32, #B>
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/RegisterMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDSHAPES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static SmallVector<int64_t> stridesOf(Value buffer) {
  auto type = cast<tkg::BufType>(buffer.getType());
  SmallVector<int64_t> strides;
  for (unsigned axis = 0; axis < type.getShape().size(); ++axis)
    strides.push_back(type.stride(axis));
  return strides;
}

namespace {
class Expansion {
public:
  explicit Expansion(Operation *op) : op(op), builder(op), shared{builder, op->getLoc()} {}
  void run();

private:
  Value reshape(ReshapeOp op);
  Value permute(PermuteOp op);
  Value flip(FlipOp op);
  Value slice(SliceOp op);
  Value cat(CatOp op);
  Value insert(InsertOp op);
  Value pick(PickOp op);
  Value put(PutOp op);
  Value part(Value buffer, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
             ArrayRef<int64_t> steps);
  std::pair<Value, Value> rowAt(Value buffer, ArrayRef<int64_t> shape, Value index, int64_t axis, int64_t otherwise);
  Value zero(Type type);
  Type resultType() { return op->getResult(0).getType(); }

  Operation *op;
  OpBuilder builder;
  SharedBuilder shared;
};
} // namespace

static constexpr StringLiteral kWhy = "what has another shape or order moves to where its users want it";

/// The elements stay where they are, under other coordinates; then they move like any tile.
Value Expansion::reshape(ReshapeOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  SmallVector<int32_t> sides(shape.begin(), shape.end());
  if (std::optional<LinearLayout> natural = mapOf(op.getValue()).reshape(sides)) {
    Value moved = ReshapeOp::create(builder, op.getLoc(), tileTypeFor(op.getResult(), *natural), op.getValue());
    if (movesOnlyRegisters(moved.getDefiningOp()))
      return convertTile(builder, op.getLoc(), moved, mapOf(op.getResult()), kWhy);
    moved.getDefiningOp()->erase();
  }
  Value buffer = shared.alloc(shapeOf(op.getValue()), elementTypeOf(resultType()));
  shared.store(op.getValue(), buffer);
  return shared.load(shared.view(buffer, shapeOf(op.getResult()), {}, 0), resultType());
}

Value Expansion::permute(PermuteOp op) {
  SmallVector<unsigned> order(op.getOrder().begin(), op.getOrder().end());
  LinearLayout natural = mapOf(op.getValue()).transpose(order);
  Value moved = PermuteOp::create(builder, op.getLoc(), tileTypeFor(op.getResult(), natural), op.getValue(), op.getOrder());
  return convertTile(builder, op.getLoc(), moved, mapOf(op.getResult()), kWhy);
}

Value Expansion::flip(FlipOp op) {
  Value buffer = shared.spill(op.getValue());
  SmallVector<int64_t> strides = stridesOf(buffer);
  int64_t axis = op.getAxis(), last = (shapeOf(op.getValue())[axis] - 1) * strides[axis];
  strides[axis] = -strides[axis];
  return shared.load(shared.view(buffer, shapeOf(op.getResult()), strides, last), resultType());
}

/// The elements `offsets + steps * i` of `buffer`.
Value Expansion::part(Value buffer, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                      ArrayRef<int64_t> steps) {
  SmallVector<int64_t> strides = stridesOf(buffer);
  int64_t first = 0;
  for (auto [stride, offset, step] : llvm::zip(strides, offsets, steps)) {
    first += offset * stride;
    stride *= step;
  }
  return shared.view(buffer, shape, strides, first);
}

Value Expansion::slice(SliceOp op) {
  Value buffer = shared.spill(op.getValue());
  return shared.load(part(buffer, shapeOf(op.getResult()), op.getOffsets(), op.getStrides()),
                     resultType());
}

Value Expansion::cat(CatOp op) {
  Value buffer = shared.alloc(shapeOf(op.getResult()), elementTypeOf(resultType()));
  SmallVector<int64_t> strides = stridesOf(buffer);
  int64_t offset = 0, axis = op.getAxis();
  for (Value operand : op.getOperands()) {
    shared.store(operand, shared.view(buffer, shapeOf(operand), strides, offset));
    offset += shapeOf(operand)[axis] * strides[axis];
  }
  return shared.load(buffer, resultType());
}

Value Expansion::insert(InsertOp op) {
  Value buffer = shared.spill(op.getValue());
  shared.store(op.getPart(), part(buffer, shapeOf(op.getPart()), op.getOffsets(), op.getStrides()));
  return shared.load(buffer, resultType());
}

Value Expansion::zero(Type type) {
  TypedAttr attribute = builder.getZeroAttr(elementTypeOf(type));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    attribute = SplatElementsAttr::get(tile, attribute);
  return arith::ConstantOp::create(builder, op->getLoc(), attribute);
}

/// The elements of a tile of shape `shape` in `buffer` at a run-time index along an axis, and whether the
/// index lies in the tile. Where it does not, they are those at `otherwise`.
std::pair<Value, Value> Expansion::rowAt(Value buffer, ArrayRef<int64_t> shape, Value index, int64_t axis,
                                         int64_t otherwise) {
  Location loc = op->getLoc();
  auto i64 = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  SmallVector<int64_t> rowShape(shape), strides = stridesOf(buffer);
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, i64(shape[axis]));
  Value place = arith::SelectOp::create(builder, loc, inside, index, i64(otherwise));
  place = arith::MulIOp::create(builder, loc, place, i64(strides[axis]));
  place = arith::TruncIOp::create(builder, loc, builder.getI32Type(), place);
  rowShape.erase(rowShape.begin() + axis);
  strides.erase(strides.begin() + axis);
  if (rowShape.empty()) {
    rowShape.push_back(1);
    strides.push_back(1);
  }
  return {shared.view(buffer, rowShape, strides, 0, place), inside};
}

/// Outside the axis everything is read from index 0, and not used.
Value Expansion::pick(PickOp op) {
  Location loc = op.getLoc();
  Value buffer = shared.spill(op.getValue());
  ArrayRef<int64_t> shape = shapeOf(op.getValue());
  int64_t axis = op.getAxis();
  auto [row, inside] = rowAt(buffer, shape, op.getIndex(), axis, /*otherwise=*/0);
  Value value = shared.load(row, resultType());
  if (isa<PtrType>(elementTypeOf(resultType())))
    return value;
  return arith::SelectOp::create(builder, loc, inside, value, zero(resultType()));
}

/// The buffer has one row more than the tile; what is put outside goes there.
Value Expansion::put(PutOp op) {
  SmallVector<int64_t> shape(shapeOf(op.getValue()));
  int64_t axis = op.getAxis(), side = shape[axis];
  SmallVector<int64_t> wider = shape;
  ++wider[axis];
  Value all = shared.alloc(wider, elementTypeOf(resultType()));
  SmallVector<int64_t> strides = stridesOf(all);
  Value buffer = shared.view(all, shape, strides, 0);
  shared.store(op.getValue(), buffer);
  auto [row, inside] = rowAt(all, shape, op.getIndex(), axis, /*otherwise=*/side);
  shared.store(op.getPart(), row);
  return shared.load(buffer, resultType());
}

void Expansion::run() {
  Value result = TypeSwitch<Operation *, Value>(op)
                     .Case([&](ReshapeOp op) { return reshape(op); })
                     .Case([&](PermuteOp op) { return permute(op); })
                     .Case([&](FlipOp op) { return flip(op); })
                     .Case([&](SliceOp op) { return slice(op); })
                     .Case([&](CatOp op) { return cat(op); })
                     .Case([&](InsertOp op) { return insert(op); })
                     .Case([&](PickOp op) { return pick(op); })
                     .Case([&](PutOp op) { return put(op); });
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct ExpandShapes : tk::impl::ExpandShapesBase<ExpandShapes> {
  void runOnOperation() override {
    SmallVector<Operation *> moves;
    getOperation().walk([&](Operation *op) {
      if (isa<ReshapeOp, PermuteOp, FlipOp, SliceOp, CatOp, InsertOp, PickOp, PutOp>(op) &&
          !movesOnlyRegisters(op))
        moves.push_back(op);
    });
    for (Operation *op : moves)
      Expansion(op).run();
  }
};
} // namespace
