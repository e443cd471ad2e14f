//===- TkOps.cpp - verifiers, folders and effects of `tk` --------------------===//

#include "ir/tk/TkDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tk;

#define GET_OP_CLASSES
#include "ir/tk/TkOps.cpp.inc"

static ArrayRef<int64_t> shapeOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

DictionaryAttr KernelOp::getArgContract(unsigned index) {
  auto args = getContract().getFields().getAs<ArrayAttr>("args");
  return cast<DictionaryAttr>(args[index]);
}

static LogicalResult verifyArgument(KernelOp kernel, unsigned index) {
  Type type = kernel.getArgumentTypes()[index];
  DictionaryAttr entry = kernel.getArgContract(index);
  StringRef kind = entry.getAs<StringAttr>("kind").getValue();
  StringRef wanted = isa<ViewType>(type) ? "tensor" : isa<PtrType>(type) ? "pointer" : "scalar";
  if (kind != wanted)
    return kernel.emitOpError() << "argument " << index << " of type " << type << " is a " << wanted
                                << ", its contract says " << kind;
  auto view = dyn_cast<ViewType>(type);
  if (!view)
    return success();
  for (StringRef list : {"extents", "strides"}) {
    auto entries = entry.getAs<ArrayAttr>(list);
    if (!entries || int64_t(entries.size()) != view.getRank())
      return kernel.emitOpError() << "argument " << index << " has rank " << view.getRank()
                                  << ", its contract has " << (entries ? entries.size() : 0) << " "
                                  << list;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  auto args = getContract().getFields().getAs<ArrayAttr>("args");
  if (args.size() != getArgumentTypes().size())
    return emitOpError() << "has " << getArgumentTypes().size() << " arguments, its contract has "
                         << args.size();
  if (!getResultTypes().empty())
    return emitOpError() << "a kernel has no results";
  if (isExternal() || getBody().front().empty() ||
      !isa<ReturnOp>(getBody().front().getTerminator()))
    return emitOpError() << "needs a body of one block that ends in tk.return";
  for (unsigned i = 0; i < args.size(); ++i)
    if (failed(verifyArgument(*this, i)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

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
  if (getResult().getType().getPointee() != view.getElement() ||
      getResult().getType().getAliasClass() != view.getAliasClass())
    return emitOpError() << "result " << getResult().getType() << " does not fit the view " << view;
  return success();
}

/// The rule that reads and writes share: indices, widths, and the shape they make.
static LogicalResult verifyPlace(Operation *op, ViewType view, size_t numIndices,
                                 ArrayRef<int64_t> widths, Type tile, Value mask) {
  if (int64_t(numIndices) != view.getRank() || int64_t(widths.size()) != view.getRank())
    return op->emitOpError() << "has " << numIndices << " indices and " << widths.size()
                             << " widths, the view has rank " << view.getRank();
  SmallVector<int64_t> shape;
  for (int64_t width : widths) {
    if (width < 0)
      return op->emitOpError() << "width " << width << " is negative";
    if (width > 0)
      shape.push_back(width);
  }
  if (shapeOf(tile) != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "the place has shape [" << shape << "], the tile is " << tile;
  if (elementTypeOf(tile) != view.getElement())
    return op->emitOpError() << "the view's element is " << view.getElement() << ", the tile is "
                             << tile;
  if (mask && shapeOf(mask.getType()) != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "the place has shape [" << shape << "], the mask is "
                             << mask.getType();
  return success();
}

static LogicalResult verifyFill(Operation *op, Value fill, Type element) {
  if (fill && fill.getType() != element)
    return op->emitOpError() << "fill is " << fill.getType() << ", the element is " << element;
  return success();
}

LogicalResult ReadOp::verify() {
  if (failed(verifyPlace(*this, getView().getType(), getIndices().size(), getWidths(),
                         getResult().getType(), getMask())))
    return failure();
  return verifyFill(*this, getFill(), getView().getType().getElement());
}

LogicalResult WriteOp::verify() {
  return verifyPlace(*this, getView().getType(), getIndices().size(), getWidths(),
                     getValue().getType(), getMask());
}

LogicalResult PtrAddOp::verify() {
  if (shapeOf(getPointer().getType()) != shapeOf(getOffset().getType()))
    return emitOpError() << "pointer " << getPointer().getType() << " and offset "
                         << getOffset().getType() << " differ in shape";
  return success();
}

static LogicalResult verifyAccess(Operation *op, Value pointer, Type value, Value mask) {
  auto ptr = cast<PtrType>(elementTypeOf(pointer.getType()));
  if (shapeOf(pointer.getType()) != shapeOf(value) || ptr.getPointee() != elementTypeOf(value))
    return op->emitOpError() << "pointer " << pointer.getType() << " does not fit the value "
                             << value;
  if (mask && shapeOf(mask.getType()) != shapeOf(value))
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

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

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
  SmallVector<int64_t> shape(shapeOf(getValue().getType()));
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) > int64_t(shape.size()))
    return emitOpError() << "axis " << getAxis() << " is not within 0 to " << shape.size();
  shape.insert(shape.begin() + getAxis(), 1);
  if (ArrayRef<int64_t>(shape) != shapeOf(getResult().getType()) ||
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

LogicalResult UnaryOp::verify() {
  if (getFn() != UnaryFn::abs && !isa<FloatType>(elementTypeOf(getValue().getType())))
    return emitOpError() << stringifyUnaryFn(getFn()) << " takes floats, not "
                         << getValue().getType();
  return success();
}

LogicalResult CastOp::verify() {
  Type from = elementTypeOf(getValue().getType()), to = elementTypeOf(getResult().getType());
  if (from == to)
    return emitOpError() << "converts " << from << " to itself";
  if (isa<IntegerType>(from) && isa<IntegerType>(to))
    return emitOpError() << "from " << from << " to " << to
                         << ": integers convert by arith.extsi, extui and trunci";
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  auto first = cast<RankedTensorType>(getOperands().front().getType());
  if (int64_t(getAxis()) < 0 || int64_t(getAxis()) >= first.getRank())
    return emitOpError() << "axis " << getAxis() << " is not an axis of " << first;
  SmallVector<int64_t> shape(first.getShape());
  shape.erase(shape.begin() + getAxis());
  Block &block = getCombine().front();
  if (block.getNumArguments() != 2 * getOperands().size())
    return emitOpError() << "the region has " << block.getNumArguments() << " arguments, needs "
                         << 2 * getOperands().size();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOperands().size())
    return emitOpError() << "the region must yield one value an operand";
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    Type element = type.getElementType();
    if (type.getShape() != first.getShape())
      return emitOpError() << "operands differ in shape: " << first << " and " << type;
    if (shapeOf(getResult(i).getType()) != ArrayRef<int64_t>(shape) ||
        elementTypeOf(getResult(i).getType()) != element)
      return emitOpError() << "result " << i << " should have shape [" << shape << "] and element "
                           << element << ", is " << getResult(i).getType();
    if (block.getArgument(i).getType() != element || yield.getValues()[i].getType() != element ||
        block.getArgument(i + getOperands().size()).getType() != element)
      return emitOpError() << "the region's types differ from element " << element;
  }
  return success();
}
