//===- TkOpsMemory.cpp - verifiers and effects of memory operations ----------===//

#include "ir/tk/TkDialect.h"

using namespace mlir;
using namespace tk;

/// One resource an alias class would need an unbounded family of resource types; effects carry
/// the class as a parameter attribute on the default resource instead.
static void addEffect(SmallVectorImpl<MemoryEffects::EffectInstance> &effects, OpOperand &operand,
                      MemoryEffects::Effect *effect) {
  Type type = elementTypeOf(operand.get().getType());
  int64_t aliasClass = isa<ViewType>(type) ? cast<ViewType>(type).getAliasClass()
                                           : cast<PtrType>(type).getAliasClass();
  Attribute parameter =
      IntegerAttr::get(IntegerType::get(type.getContext(), 64), aliasClass);
  effects.emplace_back(effect, &operand, parameter, SideEffects::DefaultResource::get());
}

void ReadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect(effects, getViewMutable(), MemoryEffects::Read::get());
}
void WriteOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect(effects, getViewMutable(), MemoryEffects::Write::get());
}
void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect(effects, getPointerMutable(), MemoryEffects::Read::get());
  if (getIsVolatile())
    addEffect(effects, getPointerMutable(), MemoryEffects::Write::get());
}
void StoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect(effects, getPointerMutable(), MemoryEffects::Write::get());
}

static LogicalResult verifyAxis(Operation *op, ViewType view, int64_t axis) {
  if (axis >= 0 && axis < view.getRank())
    return success();
  return op->emitOpError() << "axis " << axis << " is not an axis of a view of rank "
                           << view.getRank();
}
LogicalResult ExtentOp::verify() { return verifyAxis(*this, getView().getType(), int64_t(getAxis())); }
LogicalResult StrideOp::verify() { return verifyAxis(*this, getView().getType(), int64_t(getAxis())); }

LogicalResult BaseOp::verify() {
  ViewType view = getView().getType();
  Type element = elementBits(view.getElement()) < 8 ? IntegerType::get(getContext(), 8)
                                                    : view.getElement(); // no address of half a byte
  if (getResult().getType().getPointee() != element ||
      getResult().getType().getAliasClass() != view.getAliasClass())
    return emitOpError() << "result " << getResult().getType() << " does not fit the view " << view;
  return success();
}

/// The shape that indices and widths make; fails when they do not fit the view.
static FailureOr<SmallVector<int64_t>> placeShape(Operation *op, ViewType view, ValueRange indices,
                                                  ArrayRef<int64_t> widths) {
  if (int64_t(indices.size()) != view.getRank() || int64_t(widths.size()) != view.getRank())
    return op->emitOpError() << "has " << indices.size() << " indices and " << widths.size()
                             << " widths, the view has rank " << view.getRank();
  SmallVector<int64_t> shape;
  std::optional<Type> tiles;
  for (auto [index, width] : llvm::zip(indices, widths)) {
    Type type = index.getType();
    if (width < -1)
      return op->emitOpError() << "width " << width << " is none";
    if (width >= 0 && !type.isInteger(64))
      return op->emitOpError() << "an index of width " << width << " is an i64, not " << type;
    if (width > 0)
      shape.push_back(width);
    if (width >= 0)
      continue;
    if (!isa<RankedTensorType>(type))
      return op->emitOpError() << "an index of width -1 is a tile, not " << type;
    if (!tiles)
      shape.append(tileSides(type).begin(), tileSides(type).end());
    else if (tileSides(*tiles) != tileSides(type))
      return op->emitOpError() << "tiles of indices differ in shape: " << *tiles << " and " << type;
    tiles = type;
  }
  return shape;
}

/// The rule that reads and writes share: indices, widths, and the shape they make.
static LogicalResult verifyPlace(Operation *op, ViewType view, ValueRange indices,
                                 ArrayRef<int64_t> widths, Type tile, Value mask) {
  FailureOr<SmallVector<int64_t>> shape = placeShape(op, view, indices, widths);
  if (failed(shape))
    return failure();
  if (tileSides(tile) != ArrayRef<int64_t>(*shape))
    return op->emitOpError() << "the place has shape [" << *shape << "], the tile is " << tile;
  if (elementTypeOf(tile) != view.getElement())
    return op->emitOpError() << "the view's element is " << view.getElement() << ", the tile is "
                             << tile;
  if (mask && tileSides(mask.getType()) != ArrayRef<int64_t>(*shape))
    return op->emitOpError() << "the place has shape [" << *shape << "], the mask is "
                             << mask.getType();
  return success();
}

static LogicalResult verifyFill(Operation *op, Value fill, Type element) {
  if (fill && fill.getType() != element)
    return op->emitOpError() << "fill is " << fill.getType() << ", the element is " << element;
  return success();
}

LogicalResult ReadOp::verify() {
  if (failed(verifyPlace(*this, getView().getType(), getIndices(), getWidths(),
                         getResult().getType(), getMask())))
    return failure();
  return verifyFill(*this, getFill(), getView().getType().getElement());
}

LogicalResult WriteOp::verify() {
  return verifyPlace(*this, getView().getType(), getIndices(), getWidths(),
                     getValue().getType(), getMask());
}

LogicalResult LocateOp::verify() {
  ViewType view = getView().getType();
  FailureOr<SmallVector<int64_t>> shape = placeShape(*this, view, getIndices(), getWidths());
  if (failed(shape))
    return failure();
  auto pointer = cast<PtrType>(elementTypeOf(getPointer().getType()));
  if (pointer.getPointee() != view.getElement() || pointer.getAliasClass() != view.getAliasClass())
    return emitOpError() << "pointer " << pointer << " does not fit the view " << view;
  for (Type type : getResultTypes())
    if (tileSides(type) != ArrayRef<int64_t>(*shape))
      return emitOpError() << "the place has shape [" << *shape << "], a result is " << type;
  return success();
}

LogicalResult MakeViewOp::verify() {
  ViewType view = getResult().getType();
  PtrType pointer = getPointer().getType();
  if (pointer.getPointee() != view.getElement() || pointer.getAliasClass() != view.getAliasClass())
    return emitOpError() << "pointer " << pointer << " does not fit the view " << view;
  for (size_t count : {getExtents().size(), getStrides().size()})
    if (int64_t(count) != view.getRank())
      return emitOpError() << "has " << getExtents().size() << " extents and "
                           << getStrides().size() << " strides, the view has rank "
                           << view.getRank();
  return success();
}

LogicalResult SubviewOp::verify() {
  ViewType from = getView().getType(), to = getResult().getType();
  for (size_t count : {getLow().size(), getHigh().size(), getDrop().size()})
    if (int64_t(count) != from.getRank())
      return emitOpError() << "has " << count << " bounds of a kind, the view has rank "
                           << from.getRank();
  if (to.getRank() != llvm::count(getDrop(), false) || to.getElement() != from.getElement() ||
      to.getAliasClass() != from.getAliasClass())
    return emitOpError() << "result " << to << " does not fit the view " << from;
  return success();
}

LogicalResult PtrAddOp::verify() {
  if (tileSides(getPointer().getType()) != tileSides(getOffset().getType()))
    return emitOpError() << "pointer " << getPointer().getType() << " and offset "
                         << getOffset().getType() << " differ in shape";
  return success();
}

static LogicalResult verifyAccess(Operation *op, Value pointer, Type value, Value mask) {
  auto ptr = cast<PtrType>(elementTypeOf(pointer.getType()));
  if (tileSides(pointer.getType()) != tileSides(value) || ptr.getPointee() != elementTypeOf(value))
    return op->emitOpError() << "pointer " << pointer.getType() << " does not fit the value "
                             << value;
  if (mask && tileSides(mask.getType()) != tileSides(value))
    return op->emitOpError() << "mask " << mask.getType() << " does not fit the value " << value;
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getPointer(), getResult().getType(), getMask())))
    return failure();
  return verifyFill(*this, getFill(), elementTypeOf(getResult().getType()));
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getPointer(), getValue().getType(), getMask());
}

LogicalResult PrefetchOp::verify() {
  if (getMask() && tileSides(getMask().getType()) != tileSides(getPointer().getType()))
    return emitOpError() << "mask " << getMask().getType() << " does not fit the pointer "
                         << getPointer().getType();
  return success();
}
