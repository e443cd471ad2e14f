//===- TranslateControl.cpp - loops and branches ---------------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Translate.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

void Translator::emitCopy(Operation *op, uint32_t to, uint32_t from, Type type) {
  if (to == from)
    return;
  Inst &copy = emit(selectCopy(), op, to, from);
  copy.n = lanesOf(type);
  copy.aux = byteSize(*slotTypeOf(type));
  if (hasBounds(type))
    emit(selectBoundCopy(), op, to, from).n = lanesOf(type);
}

/// A slot that is none of `places`, which may be free at this point.
unsigned Translator::takeSlotBeside(ArrayRef<uint32_t> places, size_t bytes) {
  SmallVector<unsigned> refused;
  unsigned slot = takeSlot(bytes);
  while (llvm::is_contained(places, slots[slot].offset)) {
    refused.push_back(slot);
    slot = takeSlot(bytes);
  }
  for (unsigned other : refused)
    giveBack(other);
  return slot;
}

/// `to[i] = from[i]` for all i at once: a value that lies where another one is going to lie is
/// saved first.
void Translator::copyParallel(Operation *op, ValueRange from, ArrayRef<uint32_t> to) {
  SmallVector<uint32_t> sources;
  SmallVector<unsigned> scratch;
  for (auto [i, value] : llvm::enumerate(from)) {
    uint32_t source = offsetOf(value);
    bool isOverwritten = source != to[i] && llvm::is_contained(to, source);
    if (isOverwritten) {
      unsigned saved = takeSlotBeside(to, bytesOf(value.getType()));
      emitCopy(op, slots[saved].offset, source, value.getType());
      source = slots[saved].offset;
      scratch.push_back(saved);
    }
    sources.push_back(source);
  }
  for (auto [i, value] : llvm::enumerate(from))
    emitCopy(op, to[i], sources[i], value.getType());
  for (unsigned slot : scratch)
    giveBack(slot);
}

/// Loop-carried values lie where the loop's results lie.
LogicalResult Translator::translateFor(scf::ForOp op) {
  Type type = op.getInductionVar().getType();
  std::optional<DType> dtype = slotTypeOf(type);
  if (dtype != DType::i32 && dtype != DType::i64)
    return unsupported(op, "needs a loop variable of type i32 or i64");
  const bool isUnsigned = op.getUnsignedCmp();
  SmallVector<uint32_t> carried;
  for (auto [result, argument] : llvm::zip(op.getResults(), op.getRegionIterArgs())) {
    carried.push_back(define(result));
    share(argument, result);
  }
  uint32_t variable = define(op.getInductionVar());
  unsigned variableSlot = slotOf.lookup(op.getInductionVar());
  ++slots[variableSlot].uses; // the loop itself
  for (auto [init, place] : llvm::zip(op.getInitArgs(), carried))
    emitCopy(op, place, offsetOf(init), init.getType());
  emitCopy(op, variable, offsetOf(op.getLowerBound()), type);
  uint32_t step = offsetOf(op.getStep()), end = offsetOf(op.getUpperBound());
  size_t check = code->size();
  emit(selectStepCheck(*dtype), op, kNoSlot, kNoSlot, step);
  size_t test = code->size();
  emit(selectLoopTest(*dtype, isUnsigned), op, kNoSlot, variable, end);
  if (failed(translateBlock(*op.getBody())))
    return failure();
  Operation *yield = op.getBody()->getTerminator();
  copyParallel(yield, yield->getOperands(), carried);
  releaseAfter(yield);
  emit(selectLoopNext(*dtype, isUnsigned), op, variable, kNoSlot, step).aux = uint32_t(test);
  (*code)[check].aux = (*code)[test].aux = uint32_t(code->size());
  giveBack(variableSlot);
  return success();
}

LogicalResult Translator::translateWhile(scf::WhileOp op) {
  SmallVector<uint32_t> before, after;
  for (auto [argument, init] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    before.push_back(define(argument));
    emitCopy(op, before.back(), offsetOf(init), init.getType());
  }
  for (auto [result, argument] : llvm::zip(op.getResults(), op.getAfterArguments())) {
    after.push_back(define(result));
    share(argument, result);
  }
  size_t begin = code->size();
  // The first instruction lets a worker leave when its run is given up.
  emit(selectStopWhenOver(), op);
  if (failed(translateBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  copyParallel(condition, condition.getArgs(), after);
  uint32_t goesOn = offsetOf(condition.getCondition());
  size_t leave = code->size();
  emit(selectJumpIfFalse(), condition, kNoSlot, goesOn);
  releaseAfter(condition);
  if (failed(translateBlock(*op.getAfterBody())))
    return failure();
  Operation *yield = op.getAfterBody()->getTerminator();
  copyParallel(yield, yield->getOperands(), before);
  emitRound(op, op.getInits(), before);
  emit(selectJump(), op).aux = uint32_t(begin);
  (*code)[leave].aux = (*code)[begin].aux = uint32_t(code->size());
  releaseAfter(yield);
  return success();
}

LogicalResult Translator::translateIf(scf::IfOp op) {
  SmallVector<uint32_t> results;
  for (Value result : op.getResults())
    results.push_back(define(result));
  uint32_t condition = offsetOf(op.getCondition());
  size_t skip = code->size();
  emit(selectJumpIfFalse(), op, kNoSlot, condition);
  auto translateBranch = [&](Block &block) {
    if (failed(translateBlock(block)))
      return failure();
    copyParallel(block.getTerminator(), block.getTerminator()->getOperands(), results);
    releaseAfter(block.getTerminator());
    return success();
  };
  if (failed(translateBranch(*op.thenBlock())))
    return failure();
  if (!op.elseBlock()) {
    (*code)[skip].aux = uint32_t(code->size());
    return success();
  }
  size_t leave = code->size();
  emit(selectJump(), op);
  (*code)[skip].aux = uint32_t(code->size());
  if (failed(translateBranch(*op.elseBlock())))
    return failure();
  (*code)[leave].aux = uint32_t(code->size());
  return success();
}
