//===- TkgDialect.cpp - registration, layout attribute, buffer type ---------------===//

#include "ir/tkg/TkgDialect.h"
#include "ir/tk/Elements.h"
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

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int axis = int(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

static ArrayRef<int64_t> canonical(ArrayRef<int64_t> strides, ArrayRef<int64_t> shape) {
  return strides == ArrayRef<int64_t>(rowMajor(shape)) ? ArrayRef<int64_t>() : strides;
}

BufType BufType::get(MLIRContext *context, ArrayRef<int64_t> shape, Type element,
                     ArrayRef<int64_t> strides, LayoutAttr order) {
  return Base::get(context, shape, element, canonical(strides, shape), order);
}

Type BufType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  LayoutAttr order;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    auto stride = [&] { return parser.parseInteger(strides.emplace_back()); };
    bool hasOrder = succeeded(parser.parseOptionalKeyword("order"));
    if ((!hasOrder && parser.parseKeyword("strides")) || parser.parseEqual() ||
        (hasOrder ? parser.parseAttribute(order) : parser.parseCommaSeparatedList(stride)))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return Base::getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                          parser.getContext(), ArrayRef<int64_t>(shape), element,
                          canonical(strides, shape), order);
}

void BufType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t side : getShape())
    printer << side << "x";
  printer << getElement();
  if (!getStrides().empty())
    printer << ", strides = " << getStrides();
  if (getOrder())
    printer << ", order = " << getOrder();
  printer << ">";
}

LogicalResult BufType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                              Type element, ArrayRef<int64_t> strides, LayoutAttr order) {
  if (shape.empty())
    return emitError() << "a buffer has rank 1 or more";
  for (int64_t side : shape)
    if (side < 1)
      return emitError() << "a buffer's side is " << side;
  if (!element.isIntOrFloat() && !isa<tk::PtrType>(element))
    return emitError() << "element " << element << " is not an element that memory holds";
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << strides.size() << " strides for rank " << shape.size();
  if (order && !order.getMap().isMemory())
    return emitError() << "the order of a buffer names no offsets";
  if (order && !llvm::equal(order.getMap().shape(), shape))
    return emitError() << "the order of a buffer is of another shape";
  return success();
}

int64_t BufType::getNumElements() const {
  int64_t count = 1;
  for (int64_t side : getShape())
    count *= side;
  return count;
}

int64_t BufType::getElementBytes() const { return tk::elementBytes(getElement()); }

int64_t BufType::stride(unsigned axis) const {
  assert(!getOrder() && "elements do not lie at strides");
  return getStrides().empty() ? rowMajor(getShape())[axis] : getStrides()[axis];
}

int64_t BufType::getBytes() const {
  if (getOrder())
    return getOrder().getMap().numOffsets() * getElementBytes();
  int64_t last = 0;
  for (auto [axis, side] : llvm::enumerate(getShape()))
    last += (side - 1) * stride(axis);
  return (last + 1) * getElementBytes();
}
