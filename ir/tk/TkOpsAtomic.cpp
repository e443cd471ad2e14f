//===- TkOpsAtomic.cpp - verifiers and effects of atomic operations ---------===//

#include "ir/tk/TkDialect.h"

using namespace mlir;
using namespace tk;

/// An atomic operation reads and writes its memory, whatever it does.
static void addEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects,
                       OpOperand &pointer) {
  Type type = elementTypeOf(pointer.get().getType());
  Attribute parameter = IntegerAttr::get(IntegerType::get(type.getContext(), 64),
                                         cast<PtrType>(type).getAliasClass());
  for (MemoryEffects::Effect *effect :
       {static_cast<MemoryEffects::Effect *>(MemoryEffects::Read::get()),
        static_cast<MemoryEffects::Effect *>(MemoryEffects::Write::get())})
    effects.emplace_back(effect, &pointer, parameter, SideEffects::DefaultResource::get());
}
void AtomicRmwOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(effects, getPointerMutable());
}
void AtomicCasOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(effects, getPointerMutable());
}
void AtomicLoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(effects, getPointerMutable());
}
void AtomicStoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffects(effects, getPointerMutable());
}

static LogicalResult verifyAtomic(Operation *op, Value pointer, Type value, Value mask) {
  auto ptr = cast<PtrType>(elementTypeOf(pointer.getType()));
  if (tileSides(pointer.getType()) != tileSides(value) || ptr.getPointee() != elementTypeOf(value))
    return op->emitOpError() << "pointer " << pointer.getType() << " does not fit the value "
                             << value;
  if (elementTypeOf(value).isInteger(1))
    return op->emitOpError() << "is not for i1";
  if (mask && tileSides(mask.getType()) != tileSides(value))
    return op->emitOpError() << "mask " << mask.getType() << " does not fit the value " << value;
  return success();
}

LogicalResult AtomicRmwOp::verify() {
  bool isBits = getKind() == AtomicKind::And || getKind() == AtomicKind::Or ||
                getKind() == AtomicKind::Xor;
  if (isBits && isa<FloatType>(elementTypeOf(getValue().getType())))
    return emitOpError() << stringifyAtomicKind(getKind()) << " is not for floats";
  return verifyAtomic(*this, getPointer(), getValue().getType(), getMask());
}

LogicalResult AtomicCasOp::verify() {
  return verifyAtomic(*this, getPointer(), getExpected().getType(), getMask());
}

LogicalResult AtomicLoadOp::verify() {
  if (getOrder() != MemOrder::relaxed && getOrder() != MemOrder::acquire)
    return emitOpError() << "a load cannot be " << stringifyMemOrder(getOrder());
  return verifyAtomic(*this, getPointer(), getResult().getType(), getMask());
}

LogicalResult AtomicStoreOp::verify() {
  if (getOrder() != MemOrder::relaxed && getOrder() != MemOrder::release)
    return emitOpError() << "a store cannot be " << stringifyMemOrder(getOrder());
  return verifyAtomic(*this, getPointer(), getValue().getType(), getMask());
}
