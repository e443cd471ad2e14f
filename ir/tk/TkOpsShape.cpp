//===- TkOpsShape.cpp - verifiers and folders of shape operations -----------===//

#include "ir/tk/TkDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

LogicalResult ArangeOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() != 1)
    return emitOpError() << "result " << type << " does not have rank 1";
  if (int64_t(getStart()) < INT32_MIN || int64_t(getStart()) + type.getDimSize(0) > INT32_MAX)
    return emitOpError() << "the range from " << getStart() << " does not fit i32";
  return success();
}

LogicalResult SplatOp::verify() {
  if (elementTypeOf(getResult().getType()) != getValue().getType())
    return emitOpError() << "value " << getValue().getType() << " is not the element of "
                         << getResult().getType();
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getValue();
  if (!value || !isa<IntegerAttr, FloatAttr>(value))
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(getResult().getType()), value);
}

LogicalResult ExpandDimsOp::verify() {
  SmallVector<int64_t> shape(tileSides(getValue().getType()));
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) > int64_t(shape.size()))
    return emitOpError() << "axis " << getAxis() << " is not within 0 to " << shape.size();
  shape.insert(shape.begin() + getAxis(), 1);
  if (ArrayRef<int64_t>(shape) != tileSides(getResult().getType()) ||
      elementTypeOf(getValue().getType()) != elementTypeOf(getResult().getType()))
    return emitOpError() << "the result should have shape [" << shape << "], is "
                         << getResult().getType();
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError() << "cannot broadcast " << from << " to " << to;
  for (auto [axis, sides] : llvm::enumerate(llvm::zip(from.getShape(), to.getShape())))
    if (std::get<0>(sides) != 1 && std::get<0>(sides) != std::get<1>(sides))
      return emitOpError() << "axis " << axis << " has side " << std::get<0>(sides)
                           << ", which is neither 1 nor " << std::get<1>(sides);
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getNumElements() != to.getNumElements() || from.getElementType() != to.getElementType())
    return emitOpError() << "cannot make " << to << " of " << from;
  return success();
}

LogicalResult PermuteOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  SmallVector<int64_t> sorted(getOrder());
  llvm::sort(sorted);
  bool isPermutation = sorted.size() == size_t(from.getRank());
  for (auto [i, axis] : llvm::enumerate(sorted))
    isPermutation &= axis == int64_t(i);
  if (!isPermutation)
    return emitOpError() << "[" << getOrder() << "] is no order of " << from.getRank() << " axes";
  SmallVector<int64_t> shape;
  for (int64_t axis : getOrder())
    shape.push_back(from.getDimSize(axis));
  if (tileSides(getResult().getType()) != ArrayRef<int64_t>(shape) ||
      elementTypeOf(getResult().getType()) != from.getElementType())
    return emitOpError() << "the result should have shape [" << shape << "], is "
                         << getResult().getType();
  return success();
}

/// `axis` is one of the tile's.
static LogicalResult verifyAxis(Operation *op, Type tile, int64_t axis) {
  if (axis >= 0 && axis < int64_t(tileSides(tile).size()))
    return success();
  return op->emitOpError() << "axis " << axis << " is not an axis of " << tile;
}

LogicalResult CatOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  auto to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyAxis(*this, to, getAxis())))
    return failure();
  int64_t side = 0;
  for (Value operand : getOperands()) {
    auto from = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(from.getShape());
    if (from.getRank() == to.getRank()) {
      side += shape[getAxis()];
      shape[getAxis()] = to.getDimSize(getAxis());
    }
    if (ArrayRef<int64_t>(shape) != to.getShape() || from.getElementType() != to.getElementType())
      return emitOpError() << "operand " << from << " does not fit the result " << to;
  }
  if (side != to.getDimSize(getAxis()))
    return emitOpError() << "the sides along axis " << getAxis() << " add up to " << side
                         << ", the result has " << to.getDimSize(getAxis());
  return success();
}

LogicalResult FlipOp::verify() { return verifyAxis(*this, getValue().getType(), getAxis()); }

/// The elements `offset + i * stride` of each axis of `part` lie within `whole`.
static LogicalResult verifyPart(Operation *op, RankedTensorType part, RankedTensorType whole,
                                ArrayRef<int64_t> offsets, ArrayRef<int64_t> strides) {
  if (part.getRank() != whole.getRank() || part.getElementType() != whole.getElementType())
    return op->emitOpError() << part << " is no part of " << whole;
  if (int64_t(offsets.size()) != whole.getRank() || int64_t(strides.size()) != whole.getRank())
    return op->emitOpError() << "has " << offsets.size() << " offsets and " << strides.size()
                             << " strides for " << whole.getRank() << " axes";
  for (int64_t axis = 0; axis < whole.getRank(); ++axis) {
    int64_t offset = offsets[axis], stride = strides[axis], side = whole.getDimSize(axis);
    bool inside = offset >= 0 && offset < side && stride >= 1 &&
                  (part.getDimSize(axis) - 1) <= (side - 1 - offset) / stride;
    if (!inside)
      return op->emitOpError() << part.getDimSize(axis) << " elements from " << offset << " by "
                               << stride << " leave axis " << axis << " of " << whole;
  }
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyPart(*this, cast<RankedTensorType>(getResult().getType()),
                    cast<RankedTensorType>(getValue().getType()), getOffsets(), getStrides());
}

LogicalResult InsertOp::verify() {
  return verifyPart(*this, cast<RankedTensorType>(getPart().getType()),
                    cast<RankedTensorType>(getValue().getType()), getOffsets(), getStrides());
}

/// `part` is `whole` without the axis.
static LogicalResult verifyLayer(Operation *op, Type part, Type whole, int64_t axis) {
  if (failed(verifyAxis(op, whole, axis)))
    return failure();
  SmallVector<int64_t> shape(tileSides(whole));
  shape.erase(shape.begin() + axis);
  if (tileSides(part) != ArrayRef<int64_t>(shape) || elementTypeOf(part) != elementTypeOf(whole))
    return op->emitOpError() << part << " is not " << whole << " without axis " << axis;
  return success();
}

LogicalResult PickOp::verify() {
  return verifyLayer(*this, getResult().getType(), getValue().getType(), getAxis());
}
LogicalResult PutOp::verify() {
  return verifyLayer(*this, getPart().getType(), getValue().getType(), getAxis());
}
