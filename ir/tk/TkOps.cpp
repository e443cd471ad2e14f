//===- TkOps.cpp - kernels, and operations about the kernel itself ------------===//

#include "ir/tk/TkDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tk;

/// Indices between brackets; a type is written where it is not i64: no directive says that.
static ParseResult
parsePlaceIndices(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                  SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
    Type type = parser.getBuilder().getI64Type();
    if (parser.parseOperand(indices.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
      return failure();
    types.push_back(type);
    return success();
  });
}

static void printPlaceIndices(OpAsmPrinter &printer, Operation *, ValueRange indices,
                              TypeRange) {
  printer << "[";
  llvm::interleaveComma(indices, printer, [&](Value index) {
    printer << index;
    if (!index.getType().isInteger(64))
      printer << " : " << index.getType();
  });
  printer << "]";
}

#define GET_OP_CLASSES
#include "ir/tk/TkOps.cpp.inc"

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

LogicalResult PrintOp::verify() {
  if (getUnsignedValues().size() != getValues().size())
    return emitOpError() << "says of " << getUnsignedValues().size()
                         << " values whether they are unsigned, has " << getValues().size();
  return success();
}

LogicalResult AssertOp::verify() {
  if (getMask() && tileSides(getMask().getType()) != tileSides(getCondition().getType()))
    return emitOpError() << "mask " << getMask().getType() << " does not fit the condition "
                         << getCondition().getType();
  return success();
}

LogicalResult HintOp::verify() {
  Type element = elementTypeOf(getValue().getType());
  if (!isa<IntegerType, PtrType>(element))
    return emitOpError() << "is about integers and pointers, not " << getValue().getType();
  size_t axes = std::max<size_t>(tileSides(getValue().getType()).size(), 1);
  for (ArrayRef<int64_t> list : {getMultipleOf(), getContiguous(), getConstant()}) {
    if (list.size() != axes)
      return emitOpError() << "has " << list.size() << " numbers for " << axes << " axes";
    for (int64_t number : list)
      if (number < 1)
        return emitOpError() << "has the number " << number << ", the least is 1";
  }
  return success();
}
