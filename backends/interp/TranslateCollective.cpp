//===- TranslateCollective.cpp - operations in which elements meet -----------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Translate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// A place for the time of one operation.
uint32_t Translator::scratchSlot(size_t bytes, SmallVectorImpl<unsigned> &scratch) {
  scratch.push_back(takeSlot(bytes));
  return slots[scratch.back()].offset;
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// The region is x + y of one operand.
static bool isPlainSum(Operation *op) {
  Block &block = op->getRegion(0).front();
  if (op->getNumOperands() != 1 || block.getOperations().size() != 2)
    return false;
  Operation &add = block.front();
  if (!isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  return block.getTerminator()->getOperand(0) == add.getResult(0) &&
         add.getOperand(0) != add.getOperand(1) && isa<BlockArgument>(add.getOperand(0)) &&
         isa<BlockArgument>(add.getOperand(1));
}

static ReducePlan shapeOfReduce(Operation *op, int64_t axis) {
  ReducePlan plan;
  Type first = op->getOperand(0).getType();
  const AxisView view = axisView(tileSides(first), axis);
  plan.outer = view.outer;
  plan.side = view.side;
  plan.inner = view.inner;
  plan.isFloatSum = isPlainSum(op) && isFloat(*slotTypeOf(first));
  return plan;
}

LogicalResult Translator::translateReduce(ReduceOp op) {
  ReducePlan plan = shapeOfReduce(op, int64_t(op.getAxis()));
  if (failed(translateCombine(op, plan)))
    return failure();
  const uint32_t index = uint32_t(program.reductions.size());
  program.reductions.push_back(plan);
  emit(selectReduce(), op).aux = index;
  if (plan.isFloatSum && hasBounds(op.getOperands().front().getType()))
    emit(selectBoundSum(plan.operands[0].dtype), op).aux = index;
  return success();
}

LogicalResult Translator::translateScan(ScanOp op) {
  ReducePlan plan = shapeOfReduce(op, int64_t(op.getAxis()));
  plan.isReverse = op.getReverse();
  plan.isTree = op.getOrder() == ReduceOrder::tree;
  if (failed(translateCombine(op, plan)))
    return failure();
  const DType dtype = plan.operands[0].dtype;
  InstFn sum = isPlainSum(op) && !plan.isTree ? selectScanSum(dtype) : nullptr;
  const uint32_t index = uint32_t(program.reductions.size());
  program.reductions.push_back(plan);
  emit(sum ? sum : selectScan(), op).aux = index;
  if (plan.isFloatSum && hasBounds(op.getOperands().front().getType()))
    emit(selectBoundScanSum(dtype), op).aux = index;
  return success();
}

//===----------------------------------------------------------------------===//
// Sort and histogram
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateSort(SortOp op) {
  Type type = op.getValue().getType();
  SortPlan plan;
  plan.from = axisView(tileSides(type), int64_t(op.getAxis()));
  plan.taken = uint32_t(tileSides(op.getSorted().getType())[size_t(op.getAxis())]);
  plan.dtype = *slotTypeOf(type);
  plan.isDescending = op.getDescending();
  plan.isUnsigned = op.getIsUnsigned();
  InstFn sort = selectSort(plan.dtype, plan.isUnsigned);
  if (!sort)
    return unsupported(op, "has no meaning for this element type");
  SmallVector<unsigned> scratch;
  plan.value = offsetOf(op.getValue());
  plan.scratch = scratchSlot(plan.from.side * kSortEntryBytes, scratch);
  plan.sorted = define(op.getSorted());
  plan.indices = define(op.getIndices());
  for (unsigned slot : scratch)
    giveBack(slot);
  const uint32_t index = uint32_t(program.compute.sorts.size());
  program.compute.sorts.push_back(plan);
  emit(sort, op).aux = index;
  if (hasBounds(type))
    emit(selectBoundSort(plan.dtype), op).aux = index;
  return success();
}

LogicalResult Translator::translateHistogram(HistogramOp op) {
  Type type = op.getValue().getType();
  HistogramPlan plan;
  plan.dtype = *slotTypeOf(type);
  plan.isUnsigned = op.getIsUnsigned();
  plan.elements = lanesOf(type);
  plan.bins = lanesOf(op.getType());
  InstFn histogram = selectHistogram(plan.dtype, plan.isUnsigned);
  if (!histogram)
    return unsupported(op, "has no meaning for this element type");
  plan.value = offsetOf(op.getValue());
  plan.hasMask = bool(op.getMask());
  if (plan.hasMask)
    plan.mask = offsetOf(op.getMask());
  plan.counts = define(op.getResult());
  const uint32_t index = uint32_t(program.compute.histograms.size());
  program.compute.histograms.push_back(plan);
  emit(histogram, op).aux = index;
  return success();
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateCollective(Operation *op, bool &known) {
  known = true;
  if (auto assembly = dyn_cast<AsmOp>(op))
    return translateReference(op, assembly.getReference(), assembly.getCode());
  if (auto external = dyn_cast<ExternOp>(op))
    return translateReference(op, external.getReference(), external.getSymbol());
  // What follows is about tiles, which a region of scalars does not have.
  known = !body.lanes;
  if (!known)
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ReduceOp>([&](auto typed) { return translateReduce(typed); })
      .Case<ScanOp>([&](auto typed) { return translateScan(typed); })
      .Case<SortOp>([&](auto typed) { return translateSort(typed); })
      .Case<HistogramOp>([&](auto typed) { return translateHistogram(typed); })
      .Case<DotOp>([&](auto typed) { return translateDot(typed); })
      .Case<DotScaledOp>([&](auto typed) { return translateDotScaled(typed); })
      .Case<MapOp>([&](auto typed) { return translateMap(typed, typed.getBody()); })
      .Default([&](Operation *) {
        known = false;
        return success();
      });
}
