//===- TkgOps.cpp - effects and verifiers -------------------------------------===//

#include "ir/layout/ShufflePlan.h"
#include "ir/tkg/TkgDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tkg;

static void addGlobalEffect(SmallVectorImpl<MemoryEffects::EffectInstance> &effects,
                            OpOperand &base, MemoryEffects::Effect *effect) {
  auto ptr = cast<tk::PtrType>(base.get().getType());
  Attribute parameter =
      IntegerAttr::get(IntegerType::get(ptr.getContext(), 64), ptr.getAliasClass());
  effects.emplace_back(effect, &base, parameter, SideEffects::DefaultResource::get());
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!getReadonly()) // what nobody writes can be read at any time, or not at all
    addGlobalEffect(effects, getBaseMutable(), MemoryEffects::Read::get());
}
void StoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addGlobalEffect(effects, getBaseMutable(), MemoryEffects::Write::get());
}

void AtomicRmwOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addGlobalEffect(effects, getBaseMutable(), MemoryEffects::Read::get());
  addGlobalEffect(effects, getBaseMutable(), MemoryEffects::Write::get());
}

void AsyncCopyOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addGlobalEffect(effects, getBaseMutable(), MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getBufferMutable(), SideEffects::DefaultResource::get());
}

/// Rules that loads and stores share: shapes, element, layouts, vector.
static LogicalResult verifyAccess(Operation *op, tk::PtrType base, RankedTensorType offset,
                                  RankedTensorType value, Value mask, int64_t vector) {
  // Elements of 4 bits have no address: the base is one of bytes, the offset counts elements.
  bool fits = tk::elementBits(value) < 8 ? base.getPointee().isInteger(8)
                                         : base.getPointee() == value.getElementType();
  if (offset.getShape() != value.getShape() || !fits)
    return op->emitOpError() << "base " << base << " and offset " << offset
                             << " do not fit the tile " << value;
  if (!offset.getElementType().isInteger(32) && !offset.getElementType().isInteger(64))
    return op->emitOpError() << "offset " << offset << " is neither i32 nor i64";
  if (mask && (cast<RankedTensorType>(mask.getType()).getShape() != value.getShape() ||
               !tk::elementTypeOf(mask.getType()).isInteger(1)))
    return op->emitOpError() << "mask " << mask.getType() << " does not fit the tile " << value;
  if (offset.getEncoding() != value.getEncoding() ||
      (mask && cast<RankedTensorType>(mask.getType()).getEncoding() != value.getEncoding()))
    return op->emitOpError() << "offset, mask and tile differ in layout";
  if (vector < 1 || (vector & (vector - 1)))
    return op->emitOpError() << "vector of " << vector << " is not a power of two";
  return success();
}

LogicalResult LoadOp::verify() {
  if (getFill() && getFill().getType() != tk::elementTypeOf(getResult().getType()))
    return emitOpError() << "fill is " << getFill().getType();
  return verifyAccess(*this, getBase().getType(), cast<RankedTensorType>(getOffset().getType()),
                      cast<RankedTensorType>(getResult().getType()), getMask(),
                      int64_t(getVector()));
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getBase().getType(), cast<RankedTensorType>(getOffset().getType()),
                      cast<RankedTensorType>(getValue().getType()), getMask(),
                      int64_t(getVector()));
}

LogicalResult AtomicRmwOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  if (tk::elementBits(value) < 16)
    return emitOpError() << "changes no elements of " << tk::elementBits(value) << " bits";
  if (getVector() > 1 && (getKind() != tk::AtomicKind::add || !isa<FloatType>(value.getElementType())))
    return emitOpError() << "of a vector adds floats";
  return verifyAccess(*this, getBase().getType(), cast<RankedTensorType>(getOffset().getType()), value, getMask(),
                      int64_t(getVector()));
}

LogicalResult ConvertOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "changes " << from << " into " << to;
  if (!layoutOf(from) || !layoutOf(to))
    return emitOpError() << "needs a layout on both sides";
  if (getHow() != "registers" && getHow() != "shuffle" && getHow() != "shared")
    return emitOpError() << "has no way `" << getHow() << "`";
  llvm::Expected<tk::LayoutConversion> map =
      tk::LayoutConversion::create(layoutOf(from).getMap(), layoutOf(to).getMap());
  if (!map)
    return emitOpError() << llvm::toString(map.takeError());
  if (getHow() == "registers" && !map->isRenaming())
    return emitOpError() << "is no renaming of registers: which one a thread needs depends on the thread";
  if (getHow() == "shuffle" && !tk::ShufflePlan::exists(*map))
    return emitOpError() << "is not possible by shuffles: warps need what others have";
  return success();
}

/// A combine region takes two scalars an operand and yields one.
static LogicalResult verifyCombine(Operation *op, Region &region, ValueRange operands, int64_t axis) {
  if (operands.empty())
    return op->emitOpError() << "needs an operand";
  Block &block = region.front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != operands.size() ||
      block.getNumArguments() != 2 * operands.size())
    return op->emitOpError() << "the region must take two values and yield one for each operand";
  auto first = cast<RankedTensorType>(operands.front().getType());
  if (axis < 0 || axis >= first.getRank())
    return op->emitOpError() << "axis " << axis << " is not an axis of " << first;
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyCombine(*this, getCombine(), getOperands(), int64_t(getAxis()));
}

LogicalResult ScanOp::verify() {
  if (getValues().getTypes() != getResults().getTypes())
    return emitOpError() << "operands and results differ in type";
  if (!getTotals().empty() && getTotals().size() != getValues().size())
    return emitOpError() << "has " << getTotals().size() << " totals for " << getValues().size()
                         << " operands";
  return verifyCombine(*this, getCombine(), getValues(), int64_t(getAxis()));
}

LogicalResult ScanCarryOp::verify() {
  if (getValues().getTypes() != getResults().getTypes())
    return emitOpError() << "operands and results differ in type";
  if (getTotals().size() != getValues().size())
    return emitOpError() << "has " << getTotals().size() << " totals for " << getValues().size()
                         << " operands";
  return verifyCombine(*this, getCombine(), getValues(), int64_t(getAxis()));
}

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> a = getA().getType().getShape(), b = getB().getType().getShape();
  ArrayRef<int64_t> c = cast<RankedTensorType>(getAcc().getType()).getShape();
  size_t rank = c.size();
  if (rank < 2 || a.size() != rank || b.size() != rank || a[rank - 2] != c[rank - 2] ||
      b[rank - 1] != c[rank - 1] || a[rank - 1] != b[rank - 2])
    return emitOpError() << "buffers " << getA().getType() << " and " << getB().getType()
                         << " do not fit " << getAcc().getType();
  return success();
}

static ArrayRef<int64_t> sidesOf(Type type) {
  auto buffer = dyn_cast<BufType>(type);
  return buffer ? buffer.getShape() : cast<RankedTensorType>(type).getShape();
}

LogicalResult MmaOp::verify() {
  ArrayRef<int64_t> a = sidesOf(getA().getType()), b = sidesOf(getB().getType()), c = sidesOf(getAcc().getType());
  size_t rank = c.size();
  if (rank < 2 || a.size() != rank || b.size() != rank || a[rank - 2] != c[rank - 2] ||
      b[rank - 1] != c[rank - 1] || a[rank - 1] != b[rank - 2])
    return emitOpError() << "operands " << getA().getType() << " and " << getB().getType() << " do not fit "
                         << getAcc().getType();
  if (!isa_and_nonnull<DictionaryAttr>((*this)->getAttr("tkg.tiling")))
    return emitOpError() << "names no matrix instruction";
  return success();
}

//===----------------------------------------------------------------------===//
// Shared buffers
//===----------------------------------------------------------------------===//

static LogicalResult verifyBuffer(Operation *op, Type value, BufType buffer) {
  auto tile = dyn_cast<RankedTensorType>(value);
  bool fits = tile ? tile.getShape() == buffer.getShape() : buffer.getNumElements() == 1;
  if (!fits || tk::elementTypeOf(value) != buffer.getElement())
    return op->emitOpError() << "tile " << value << " does not fit the buffer " << buffer;
  return success();
}
LogicalResult AllocOp::verify() {
  if (llvm::any_of(getResult().getType().getStrides(), [](int64_t stride) { return stride < 0; }))
    return emitOpError() << "has a negative stride";
  return success();
}
LogicalResult BufViewOp::verify() {
  if (getBuffer().getType().getElement() != getResult().getType().getElement())
    return emitOpError() << "changes the element type";
  if (getBuffer().getType().getOrder() || getResult().getType().getOrder())
    return emitOpError() << "is a view of a buffer that has an order";
  return success();
}
LogicalResult RingSlotOp::verify() {
  if (getDistance() >= getSlots())
    return emitOpError() << "goes once around a ring of " << getSlots() << " slots or more";
  return success();
}
LogicalResult BufStoreOp::verify() {
  return verifyBuffer(*this, getValue().getType(), getBuffer().getType());
}
LogicalResult BufLoadOp::verify() {
  return verifyBuffer(*this, getResult().getType(), getBuffer().getType());
}
LogicalResult AsyncCopyOp::verify() {
  auto offset = cast<RankedTensorType>(getOffset().getType());
  BufType buffer = getBuffer().getType();
  if (offset.getShape() != buffer.getShape() || getBase().getType().getPointee() != buffer.getElement() ||
      (getMask() && cast<RankedTensorType>(getMask().getType()).getEncoding() != offset.getEncoding()))
    return emitOpError() << "offset " << offset << " and base " << getBase().getType() << " do not fit the buffer "
                         << buffer;
  int64_t bytes = int64_t(getVector()) * buffer.getElementBytes();
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return emitOpError() << "copies " << bytes << " bytes a thread at once, not 4, 8 or 16";
  return success();
}
LogicalResult BufGatherOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (result.getShape() != indices.getShape() || result.getEncoding() != indices.getEncoding() ||
      result.getElementType() != getBuffer().getType().getElement() ||
      result.getRank() != int64_t(getBuffer().getType().getShape().size()))
    return emitOpError() << "indices " << indices << " and buffer " << getBuffer().getType()
                         << " do not fit " << result;
  return success();
}
LogicalResult BufCountOp::verify() {
  if (getBuffer().getType().getShape().size() != 1 || !getBuffer().getType().getElement().isInteger(32))
    return emitOpError() << "counts in a buffer of i32 of rank 1";
  return success();
}
LogicalResult BufSortOp::verify() {
  BufType keys = getKeys().getType(), indices = getIndices().getType();
  ArrayRef<int64_t> shape = keys.getShape();
  if (shape.size() != 2 || shape != indices.getShape() || !indices.getElement().isInteger(32) ||
      !keys.getStrides().empty() || !indices.getStrides().empty() || !llvm::isPowerOf2_64(shape[1]))
    return emitOpError() << "keys " << keys << " and indices " << indices
                         << " are not rows of one power of two";
  return success();
}

//===----------------------------------------------------------------------===//
// Machine operations
//===----------------------------------------------------------------------===//

LogicalResult PtxLoadOp::verify() {
  if (getResults().empty() || getResults().size() > 4 ||
      getResults().getTypes() != getFills().getTypes())
    return emitOpError() << "needs one to four words, and a fill of the same type for each";
  return success();
}
LogicalResult PtxStoreOp::verify() {
  if (getWords().empty() || getWords().size() > 4)
    return emitOpError() << "needs one to four words";
  return success();
}
