//===- TkOpsCollective.cpp - verifiers of operations in which elements meet ===//

#include "ir/tk/TkDialect.h"

using namespace mlir;
using namespace tk;

static LogicalResult verifyAxis(Operation *op, Type tile, int64_t axis) {
  if (axis >= 0 && axis < int64_t(tileSides(tile).size()))
    return success();
  return op->emitOpError() << "axis " << axis << " is not an axis of " << tile;
}

/// A combine region over operands of one shape; results have the shape `shape`.
static LogicalResult verifyCombine(Operation *op, Region &region, ArrayRef<int64_t> shape) {
  const size_t count = op->getNumOperands();
  auto first = cast<RankedTensorType>(op->getOperand(0).getType());
  Block &block = region.front();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError() << "the region has " << block.getNumArguments()
                             << " arguments, needs " << 2 * count;
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != count)
    return op->emitOpError() << "the region must yield one value an operand";
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    Type element = type.getElementType(), result = op->getResult(i).getType();
    if (type.getShape() != first.getShape())
      return op->emitOpError() << "operands differ in shape: " << first << " and " << type;
    if (tileSides(result) != shape || elementTypeOf(result) != element)
      return op->emitOpError() << "result " << i << " should have shape [" << shape
                               << "] and element " << element << ", is " << result;
    if (block.getArgument(i).getType() != element || yield.getValues()[i].getType() != element ||
        block.getArgument(i + count).getType() != element)
      return op->emitOpError() << "the region's types differ from element " << element;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  Type first = getOperands().front().getType();
  if (failed(verifyAxis(*this, first, getAxis())))
    return failure();
  SmallVector<int64_t> shape(tileSides(first));
  shape.erase(shape.begin() + getAxis());
  return verifyCombine(*this, getCombine(), shape);
}

LogicalResult ScanOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  Type first = getOperands().front().getType();
  if (failed(verifyAxis(*this, first, getAxis())))
    return failure();
  return verifyCombine(*this, getCombine(), tileSides(first));
}

LogicalResult SortOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto to = cast<RankedTensorType>(getSorted().getType());
  if (failed(verifyAxis(*this, from, getAxis())))
    return failure();
  SmallVector<int64_t> shape(from.getShape());
  if (to.getRank() == from.getRank())
    shape[getAxis()] = std::min(shape[getAxis()], to.getDimSize(getAxis()));
  if (to.getShape() != ArrayRef<int64_t>(shape) || to.getElementType() != from.getElementType() ||
      tileSides(getIndices().getType()) != to.getShape())
    return emitOpError() << "results " << to << " and " << getIndices().getType()
                         << " do not fit the operand " << from;
  return success();
}

LogicalResult HistogramOp::verify() {
  if (tileSides(getResult().getType()).size() != 1)
    return emitOpError() << "result " << getResult().getType() << " does not have rank 1";
  if (getMask() && tileSides(getMask().getType()) != tileSides(getValue().getType()))
    return emitOpError() << "mask " << getMask().getType() << " does not fit the operand "
                         << getValue().getType();
  return success();
}

LogicalResult GatherOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (failed(verifyAxis(*this, from, getAxis())))
    return failure();
  SmallVector<int64_t> shape(from.getShape());
  if (indices.getRank() == from.getRank())
    shape[getAxis()] = indices.getDimSize(getAxis());
  if (indices.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "indices " << indices << " do not fit the operand " << from
                         << " along axis " << getAxis();
  if (tileSides(getResult().getType()) != ArrayRef<int64_t>(shape) ||
      elementTypeOf(getResult().getType()) != from.getElementType())
    return emitOpError() << "the result should have shape [" << shape << "], is "
                         << getResult().getType();
  return success();
}

/// [.., M, K] by [.., K, N] gives [.., M, N].
static LogicalResult verifyProduct(Operation *op, Type a, Type b, Type acc) {
  ArrayRef<int64_t> left = tileSides(a), right = tileSides(b), sum = tileSides(acc);
  size_t rank = left.size();
  if (rank < 2 || right.size() != rank || sum.size() != rank)
    return op->emitOpError() << "the ranks of " << a << ", " << b << " and " << acc
                             << " are not equal and 2 or more";
  if (left[rank - 1] != right[rank - 2])
    return op->emitOpError() << "inner sides differ: `a` has K = " << left[rank - 1]
                             << ", `b` has K = " << right[rank - 2];
  bool fits = left.drop_back(2) == right.drop_back(2) && left.drop_back(2) == sum.drop_back(2) &&
              sum[rank - 2] == left[rank - 2] && sum[rank - 1] == right[rank - 1];
  if (!fits)
    return op->emitOpError() << a << " by " << b << " does not give " << acc;
  return success();
}

static bool isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType>(type);
}

LogicalResult DotOp::verify() {
  Type a = elementTypeOf(getA().getType()), b = elementTypeOf(getB().getType());
  Type acc = elementTypeOf(getAcc().getType());
  bool good = false;
  if (isFp8(a))
    good = isFp8(b) && (acc.isF32() || acc.isF16());
  else if (a.isF16())
    good = a == b && (acc.isF32() || acc.isF16());
  else if (a.isBF16() || a.isF32())
    good = a == b && acc.isF32();
  else if (a.isF64())
    good = a == b && acc.isF64();
  else if (a.isInteger(8))
    good = a == b && acc.isInteger(32);
  if (!good)
    return emitOpError() << "no product of " << a << " and " << b << " gives " << acc;
  if (getInput() != DotInput::exact && !a.isF32())
    return emitOpError() << "`input` is about f32 operands, not " << a;
  if (int64_t(getPromote()) < 0)
    return emitOpError() << "promotes every " << int64_t(getPromote()) << " products";
  return verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType());
}

/// A scale has its operand's shape with K divided by 16 or 32.
static LogicalResult verifyScale(Operation *op, Value operand, Value scale, size_t axis) {
  if (!scale)
    return success();
  Type element = elementTypeOf(scale.getType());
  if (!isa<Float8E8M0FNUType, Float8E4M3FNType>(element))
    return op->emitOpError() << "a scale is of e8m0 or f8E4M3FN, not " << element;
  SmallVector<int64_t> fine(tileSides(operand.getType())), coarse(fine);
  const int64_t side = fine[axis];
  fine[axis] /= 16;
  coarse[axis] /= 32;
  ArrayRef<int64_t> shape = tileSides(scale.getType());
  bool fits = (side % 16 == 0 && shape == ArrayRef<int64_t>(fine)) ||
              (side % 32 == 0 && shape == ArrayRef<int64_t>(coarse));
  if (!fits)
    return op->emitOpError() << "scale " << scale.getType() << " does not fit " << operand.getType()
                             << " in blocks of 16 or 32";
  return success();
}

LogicalResult DotScaledOp::verify() {
  for (Value operand : {getA(), getB()}) {
    Type element = elementTypeOf(operand.getType());
    if (!isa<Float4E2M1FNType, Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type>(element))
      return emitOpError() << "takes fp4, fp8 (OCP), f16 and bf16, not " << element;
  }
  if (!elementTypeOf(getAcc().getType()).isF32())
    return emitOpError() << "adds in f32, not " << getAcc().getType();
  if (failed(verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType())))
    return failure();
  size_t rank = tileSides(getA().getType()).size();
  if (failed(verifyScale(*this, getA(), getAScale(), rank - 1)))
    return failure();
  return verifyScale(*this, getB(), getBScale(), rank - 2);
}
