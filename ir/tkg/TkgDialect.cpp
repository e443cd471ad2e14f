//===- TkgDialect.cpp - registration, layout attribute, buffer type, verifiers --===//

#include "ir/tkg/TkgDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tkg;

#include "ir/tkg/TkgDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tkg/TkgAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tkg/TkgTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/tkg/TkgOps.cpp.inc"

void TkgDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/tkg/TkgAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tkg/TkgTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/tkg/TkgOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Layout attribute
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) || parser.parseString(&text) ||
      parser.parseGreater())
    return {};
  llvm::Expected<tk::LinearLayout> map = tk::LinearLayout::parse(text);
  if (!map) {
    parser.emitError(loc) << llvm::toString(map.takeError());
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *map);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<\"" << getMap().str() << "\">"; }

LayoutAttr tkg::layoutOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutAttr>(tile.getEncoding()) : LayoutAttr();
}

RankedTensorType tkg::withLayout(Type type, LayoutAttr layout) {
  auto tile = cast<RankedTensorType>(type);
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), layout);
}

//===----------------------------------------------------------------------===//
// Buffer type
//===----------------------------------------------------------------------===//

Type BufType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return BufType::getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                             parser.getContext(), shape, element);
}

void BufType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t side : getShape())
    printer << side << "x";
  printer << getElement() << ">";
}

LogicalResult BufType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                              Type element) {
  if (shape.empty())
    return emitError() << "a buffer has rank 1 or more";
  for (int64_t side : shape)
    if (side < 1)
      return emitError() << "a buffer's side is " << side;
  if (!element.isIntOrFloat() && !isa<tk::PtrType>(element))
    return emitError() << "element " << element << " is not an element that memory holds";
  return success();
}

int64_t BufType::getNumElements() const {
  int64_t count = 1;
  for (int64_t side : getShape())
    count *= side;
  return count;
}

int64_t BufType::getBytes() const { return getNumElements() * tk::elementBits(getElement()) / 8; }

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

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

/// Rules that loads and stores share: shapes, element, layouts, vector.
static LogicalResult verifyAccess(Operation *op, tk::PtrType base, RankedTensorType offset,
                                  RankedTensorType value, Value mask, int64_t vector) {
  if (offset.getShape() != value.getShape() || base.getPointee() != value.getElementType())
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
  if (getFill() && getFill().getType() != getBase().getType().getPointee())
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

LogicalResult ConvertOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "changes " << from << " into " << to;
  if (!layoutOf(from) || !layoutOf(to))
    return emitOpError() << "needs a layout on both sides";
  if (getHow() != "registers" && getHow() != "shared")
    return emitOpError() << "has no way `" << getHow() << "`";
  llvm::Expected<tk::LayoutConversion> map =
      tk::LayoutConversion::create(layoutOf(from).getMap(), layoutOf(to).getMap());
  if (!map)
    return emitOpError() << llvm::toString(map.takeError());
  if (getHow() == "registers" && !map->isRenaming())
    return emitOpError() << "is no renaming of registers: which one a thread needs depends on the thread";
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  Block &block = getCombine().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOperands().size() ||
      block.getNumArguments() != 2 * getOperands().size())
    return emitOpError() << "the region must take two values and yield one for each operand";
  auto first = cast<RankedTensorType>(getOperands().front().getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= first.getRank())
    return emitOpError() << "axis " << getAxis() << " is not an axis of " << first;
  return success();
}

static LogicalResult verifyBuffer(Operation *op, RankedTensorType tile, BufType buffer) {
  if (tile.getShape() != buffer.getShape() || tile.getElementType() != buffer.getElement())
    return op->emitOpError() << "tile " << tile << " does not fit the buffer " << buffer;
  return success();
}
LogicalResult BufStoreOp::verify() {
  return verifyBuffer(*this, cast<RankedTensorType>(getValue().getType()), getBuffer().getType());
}
LogicalResult BufLoadOp::verify() {
  return verifyBuffer(*this, cast<RankedTensorType>(getResult().getType()), getBuffer().getType());
}

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
