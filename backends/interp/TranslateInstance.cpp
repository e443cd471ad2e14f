//===- TranslateInstance.cpp - atomics, turns, promises, what an instance says -----------===//

#include "backends/interp/Memory.h"
#include "backends/interp/Translate.h"
#include "ir/tk/Launch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

/// Whether what `condition` is computed from comes, by way of a round of the loop, from memory that
/// the kernel writes.
static bool pollsMemory(scf::WhileOp loop, const llvm::SmallDenseSet<int64_t> &written) {
  llvm::SetVector<Value> seen;
  seen.insert(loop.getConditionOp().getCondition());
  for (size_t i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      unsigned index = argument.getArgNumber();
      if (parent != loop.getOperation())
        seen.insert(parent->getOperands().begin(), parent->getOperands().end());
      else if (argument.getOwner() == loop.getBeforeBody())
        seen.insert(loop.getYieldOp()->getOperand(index));
      else
        seen.insert(loop.getConditionOp().getArgs()[index]);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!loop->isAncestor(op))
      continue;
    if (isa<ReadOp, LoadOp>(op) && written.contains(aliasClassOf(op->getOperand(0).getType())))
      return true;
    op->walk([&](Operation *inner) { // its regions take part
      seen.insert(inner->getOperands().begin(), inner->getOperands().end());
    });
  }
  return false;
}

/// Instances take turns where one may wait for another, or sees in which order they came.
bool Translator::findTurns() {
  llvm::SmallDenseSet<int64_t> written;
  bool takesTurns = false;
  kernel.getBody().walk([&](Operation *op) {
    if (isa<WriteOp, StoreOp, AtomicStoreOp, AtomicRmwOp>(op))
      written.insert(aliasClassOf(op->getOperand(1).getType()));
    if (auto cas = dyn_cast<AtomicCasOp>(op))
      written.insert(aliasClassOf(cas.getPointer().getType()));
    if (auto load = dyn_cast<LoadOp>(op))
      takesTurns |= load.getIsVolatile();
    if (auto rmw = dyn_cast<AtomicRmwOp>(op))
      takesTurns |= !rmw.getResult().use_empty();
    takesTurns |= isa<AtomicCasOp, AtomicLoadOp>(op);
  });
  kernel.getBody().walk([&](scf::WhileOp loop) { takesTurns |= pollsMemory(loop, written); });
  return takesTurns;
}

void Translator::emitTurn(Operation *op) {
  if (program.takesTurns)
    emit(selectTurn(), op);
}

/// At the end of a round of a loop, whose next one begins with the values at `carried`.
void Translator::emitRound(Operation *op, ValueRange values, ArrayRef<uint32_t> carried) {
  if (!program.takesTurns || code != &program.code) // combine regions never wait
    return;
  RoundPlan plan;
  for (auto [value, slot] : llvm::zip(values, carried))
    plan.carried.push_back({slot, uint32_t(bytesOf(value.getType()))});
  // A loop that is entered anew has not gone round: the trips of `for` loops around it tell.
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>()) {
    Value trip = loop.getInductionVar();
    plan.carried.push_back({offsetOf(trip), uint32_t(bytesOf(trip.getType()))});
  }
  emit(selectRound(), op).aux = uint32_t(program.memory.rounds.size());
  program.memory.rounds.push_back(std::move(plan));
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

LogicalResult Translator::emitAtomic(Operation *op, AtomicPlan plan, MemOrder order,
                                     MemScope scope) {
  plan.acquires = order == MemOrder::acquire || order == MemOrder::acq_rel;
  plan.releases = order == MemOrder::release || order == MemOrder::acq_rel;
  plan.isShared = scope != MemScope::cta;
  if (op->getNumResults() > 0 && !op->getResult(0).use_empty())
    plan.result = define(op->getResult(0));
  program.hasAtomics = true;
  program.hasOrder |= plan.isShared && (plan.acquires || plan.releases);
  ClassUse &use = program.classes[plan.pointer.aliasClass];
  if (plan.isShared)
    use.isAtomic = true;
  else
    use.isRead = use.isWritten = true;
  InstFn fn = selectAtomic(plan.action, plan.pointer.dtype);
  if (!fn)
    return unsupported(op, "is not for " + Twine(nameOf(plan.pointer.dtype)));
  emit(fn, op).aux = uint32_t(program.memory.atomics.size());
  const bool isSeen = plan.result != kNoSlot || plan.action == AtomicAction::Store;
  program.memory.atomics.push_back(std::move(plan));
  if (isSeen)
    emitTurn(op);
  return success();
}

LogicalResult Translator::translateAtomic(Operation *op, bool &known) {
  AtomicPlan plan;
  auto start = [&](Value pointer, Type type, Value value, Value mask) {
    plan.pointer = pointerPlanOf(pointer, type);
    plan.pointer.value = value ? offsetOf(value) : kNoSlot;
    plan.pointer.mask = mask ? offsetOf(mask) : kNoSlot;
  };
  if (auto rmw = dyn_cast<AtomicRmwOp>(op)) {
    start(rmw.getPointer(), rmw.getValue().getType(), rmw.getValue(), rmw.getMask());
    plan.action = AtomicAction(uint8_t(rmw.getKind()));
    if (rmw.getIsUnsigned())
      plan.pointer.dtype = unsignedOf(plan.pointer.dtype);
    return emitAtomic(op, plan, rmw.getOrder(), rmw.getScope());
  }
  if (auto cas = dyn_cast<AtomicCasOp>(op)) {
    start(cas.getPointer(), cas.getDesired().getType(), cas.getDesired(), cas.getMask());
    plan.action = AtomicAction::Cas;
    plan.expected = offsetOf(cas.getExpected());
    return emitAtomic(op, plan, cas.getOrder(), cas.getScope());
  }
  if (auto load = dyn_cast<AtomicLoadOp>(op)) {
    start(load.getPointer(), load.getResult().getType(), Value(), load.getMask());
    plan.action = AtomicAction::Load;
    return emitAtomic(op, plan, load.getOrder(), load.getScope());
  }
  if (auto store = dyn_cast<AtomicStoreOp>(op)) {
    start(store.getPointer(), store.getValue().getType(), store.getValue(), store.getMask());
    plan.action = AtomicAction::Store;
    return emitAtomic(op, plan, store.getOrder(), store.getScope());
  }
  known = false;
  return success();
}

//===----------------------------------------------------------------------===//
// Promises and prints
//===----------------------------------------------------------------------===//

static std::vector<int64_t> shapeOf(Type type) {
  ArrayRef<int64_t> sides = tileSides(type);
  return {sides.begin(), sides.end()};
}

void Translator::translatePrint(PrintOp op) {
  PrintPlan plan;
  plan.text = op.getText().str();
  plan.isHex = op.getHex();
  for (auto [value, isUnsigned] : llvm::zip(op.getValues(), op.getUnsignedValues())) {
    PrintedValue &printed = plan.values.emplace_back();
    printed.slot = offsetOf(value);
    printed.aliasClass = aliasClassOf(value.getType());
    DType dtype = *slotTypeOf(value.getType());
    printed.dtype = isUnsigned ? unsignedOf(dtype) : dtype;
    printed.shape = shapeOf(value.getType());
  }
  program.hasPrints = true;
  emit(selectPrint(), op).aux = uint32_t(program.memory.prints.size());
  program.memory.prints.push_back(std::move(plan));
}

void Translator::translateAssert(AssertOp op) {
  AssertPlan plan;
  plan.text = op.getText().str();
  plan.condition = offsetOf(op.getCondition());
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  for (int64_t side : tileSides(op.getCondition().getType()))
    plan.elements *= uint32_t(side);
  emit(selectAssert(), op).aux = uint32_t(program.memory.asserts.size());
  program.memory.asserts.push_back(std::move(plan));
}

/// The result is the value; the promise is looked at on the way.
void Translator::translateHint(HintOp op) {
  Type type = op.getValue().getType();
  HintPlan plan;
  plan.value = offsetOf(op.getValue());
  plan.aliasClass = aliasClassOf(type);
  plan.dtype = *slotTypeOf(type);
  if (auto pointer = dyn_cast<PtrType>(elementTypeOf(type)))
    plan.step = elementBits(pointer.getPointee()) / 8;
  plan.shape = shapeOf(type);
  if (plan.shape.empty())
    plan.shape.push_back(1);
  plan.multipleOf.assign(op.getMultipleOf().begin(), op.getMultipleOf().end());
  plan.contiguous.assign(op.getContiguous().begin(), op.getContiguous().end());
  plan.constant.assign(op.getConstant().begin(), op.getConstant().end());
  emit(selectHint(), op).aux = uint32_t(program.memory.hints.size());
  program.memory.hints.push_back(std::move(plan));
  emitCopy(op, define(op.getResult()), offsetOf(op.getValue()), type);
}

//===----------------------------------------------------------------------===//
// Sums that wrap on their way into an address
//===----------------------------------------------------------------------===//

static bool isNarrow(Type type) {
  return elementTypeOf(type).isInteger(32);
}

/// Sums, differences and products of i32 whose value is widened as a signed number, offsets a
/// pointer, or is an index.
void Translator::findAddressArithmetic() {
  llvm::SetVector<Value> values;
  auto add = [&](Value value) {
    if (isNarrow(value.getType()))
      values.insert(value);
  };
  kernel.getBody().walk([&](Operation *op) {
    if (auto extend = dyn_cast<arith::ExtSIOp>(op))
      add(extend.getIn());
    else if (auto pointer = dyn_cast<PtrAddOp>(op))
      add(pointer.getOffset());
    else if (isa<ReadOp, LocateOp>(op))
      llvm::for_each(op->getOperands().drop_front(), add);
    else if (auto write = dyn_cast<WriteOp>(op))
      llvm::for_each(write.getIndices(), add);
  });
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op)
      continue;
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      addressArithmetic.insert(op);
    else if (!isa<SplatOp, BroadcastOp, ExpandDimsOp, arith::SelectOp, HintOp>(op))
      continue;
    llvm::for_each(op->getOperands(), add);
  }
}

void Translator::emitWrapCheck(Operation *op) {
  if (!options.checks.arithmetic || !addressArithmetic.contains(op))
    return;
  Inst &check = emit(selectWrapCheck(), op, offsetOf(op->getResult(0)), offsetOf(op->getOperand(0)),
                     offsetOf(op->getOperand(1)));
  check.aux = isa<arith::AddIOp>(op) ? 0 : isa<arith::SubIOp>(op) ? 1 : 2;
  check.n = lanesOf(op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// What an instance asks about itself
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateQuery(Operation *op, bool &known) {
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    emit(selectProgramId(), op, define(id.getResult())).aux = uint32_t(id.getAxis());
    return success();
  }
  if (auto count = dyn_cast<NumProgramsOp>(op)) {
    emit(selectNumPrograms(), op, define(count.getResult())).aux = uint32_t(count.getAxis());
    return success();
  }
  if (auto clock = dyn_cast<ClockOp>(op)) {
    program.hasClock = true;
    emit(selectClock(), op, define(clock.getResult()));
    return success();
  }
  if (isa<SmIdOp, NumWarpsOp>(op)) {
    emit(selectNumber(), op, define(op->getResult(0))).aux = isa<SmIdOp>(op) ? 0 : uint32_t(warpsOf(kernel));
    return success();
  }
  known = false;
  return success();
}

LogicalResult Translator::translateInstance(Operation *op, bool &known) {
  if (isa<BarrierOp, PrefetchOp, GridDependencyOp>(op))
    return success(); // an instance is one thread here, and nothing is cached
  if (auto print = dyn_cast<PrintOp>(op))
    return translatePrint(print), success();
  if (auto assertion = dyn_cast<AssertOp>(op))
    return translateAssert(assertion), success();
  if (auto hint = dyn_cast<HintOp>(op))
    return translateHint(hint), success();
  if (auto assume = dyn_cast<AssumeOp>(op)) {
    emit(selectAssume(), op, kNoSlot, offsetOf(assume.getCondition()));
    return success();
  }
  if (failed(translateQuery(op, known)))
    return failure();
  if (known)
    return success();
  known = true;
  return translateAtomic(op, known);
}
