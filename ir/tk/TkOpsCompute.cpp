//===- TkOpsCompute.cpp - verifiers of elementwise operations ---------------===//

#include "ir/tk/TkDialect.h"

using namespace mlir;
using namespace tk;

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
  if (isa<IntegerType>(from) && isa<IntegerType>(to) && !from.isInteger(4) && !to.isInteger(4))
    return emitOpError() << "from " << from << " to " << to
                         << ": integers convert by arith.extsi, extui and trunci";
  return success();
}

LogicalResult BinaryFnOp::verify() {
  bool isFloat = isa<FloatType>(elementTypeOf(getResult().getType()));
  if (isFloat == (getFn() == BinaryFn::mulhi))
    return emitOpError() << stringifyBinaryFn(getFn()) << " takes "
                         << (isFloat ? "integers" : "floats") << ", not " << getResult().getType();
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getValue().getType(), to = getResult().getType();
  Type fromElement = elementTypeOf(from), toElement = elementTypeOf(to);
  if (fromElement.isInteger(1) || toElement.isInteger(1))
    return emitOpError() << "i1 has no bits to cast";
  int64_t fromBits = fromElement.getIntOrFloatBitWidth(), toBits = toElement.getIntOrFloatBitWidth();
  SmallVector<int64_t> shape(tileSides(from));
  if (fromBits != toBits) {
    if (!getAxis() || int64_t(*getAxis()) < 0 || *getAxis() >= shape.size())
      return emitOpError() << "from " << from << " to " << to << " needs an axis of the tile";
    int64_t &side = shape[*getAxis()];
    if (side * fromBits % toBits != 0)
      return emitOpError() << "the side " << side << " of axis " << *getAxis()
                           << " is not a multiple of " << toBits / fromBits;
    side = side * fromBits / toBits;
  }
  if (tileSides(to) != ArrayRef<int64_t>(shape))
    return emitOpError() << "the result should have shape [" << shape << "], is " << to;
  return success();
}

/// The region maps one scalar an operand to one a result.
static LogicalResult verifyScalarRegion(Operation *op, Region &region) {
  Block &block = region.front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (block.getNumArguments() != op->getNumOperands() || !yield ||
      yield.getValues().size() != op->getNumResults())
    return op->emitOpError() << "the region needs " << op->getNumOperands()
                             << " arguments and must yield " << op->getNumResults() << " values";
  for (auto [argument, operand] : llvm::zip(block.getArguments(), op->getOperands()))
    if (argument.getType() != elementTypeOf(operand.getType()))
      return op->emitOpError() << "the region's argument " << argument.getType()
                               << " is not the element of " << operand.getType();
  for (auto [value, result] : llvm::zip(yield.getValues(), op->getResults()))
    if (value.getType() != elementTypeOf(result.getType()))
      return op->emitOpError() << "the region yields " << value.getType() << ", the element of "
                               << result.getType() << " is wanted";
  return success();
}

/// All operands and results of an elementwise operation have one shape.
static LogicalResult verifyOneShape(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (tileSides(type) != tileSides(types.front()))
      return op->emitOpError() << "operands and results differ in shape: " << types.front()
                               << " and " << type;
  return success();
}

LogicalResult MapOp::verify() {
  if (getOperands().empty() || getResults().empty())
    return emitOpError() << "needs an operand and a result";
  if (failed(verifyOneShape(*this)))
    return failure();
  return verifyScalarRegion(*this, getBody());
}

/// A reference region may be left out.
static LogicalResult verifyReference(Operation *op, Region &region) {
  if (failed(verifyOneShape(op)))
    return failure();
  if (!region.empty() && !region.hasOneBlock())
    return op->emitOpError() << "the reference region has more than one block";
  return region.empty() ? success() : verifyScalarRegion(op, region);
}

LogicalResult AsmOp::verify() {
  if (getPack() != 1 && getPack() != 2 && getPack() != 4 && getPack() != 8)
    return emitOpError() << "packs " << getPack() << " elements, can pack 1, 2, 4 or 8";
  return verifyReference(*this, getReference());
}

void AsmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult ExternOp::verify() { return verifyReference(*this, getReference()); }
