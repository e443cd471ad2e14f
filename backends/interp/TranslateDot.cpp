//===- TranslateDot.cpp - matrix products -------------------------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/DotKernel.h"
#include "backends/interp/Translate.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// What the bytes of a type of one byte mean; empty for wider types.
static std::vector<double> numbersOf(DType type) {
  std::vector<double> numbers;
  for (unsigned i = 0; i < 256 && byteSize(type) == 1; ++i) {
    const uint8_t element = uint8_t(i);
    numbers.push_back(elementToDouble(type, &element));
  }
  return numbers;
}

static DotPlan::Operand operandOf(Value value, bool isUnsigned) {
  DotPlan::Operand operand;
  operand.dtype = *slotTypeOf(value.getType());
  operand.numbers = numbersOf(isUnsigned ? DType::u8 : operand.dtype);
  return operand;
}

/// [.., M, K] by [.., K, N].
static void shapeOf(DotPlan &plan, Value a, Value b) {
  ArrayRef<int64_t> left = tileSides(a.getType()), right = tileSides(b.getType());
  for (int64_t side : left.drop_back(2))
    plan.batches *= uint32_t(side);
  plan.m = uint32_t(left[left.size() - 2]);
  plan.k = uint32_t(left.back());
  plan.n = uint32_t(right.back());
}

static void addScale(DotPlan::Operand &operand, Value scale, uint32_t slot, int64_t side,
                     size_t axisFromEnd) {
  ArrayRef<int64_t> sides = tileSides(scale.getType());
  operand.scale = slot;
  operand.block = uint32_t(side / sides[sides.size() - axisFromEnd]);
  operand.scaleType = *slotTypeOf(scale.getType());
  operand.scaleNumbers = numbersOf(operand.scaleType);
}

LogicalResult Translator::emitDot(Operation *op, DotPlan plan, Value a, Value b, Value acc) {
  shapeOf(plan, a, b);
  plan.a.slot = offsetOf(a);
  plan.b.slot = offsetOf(b);
  plan.acc = offsetOf(acc);
  plan.accType = *slotTypeOf(acc.getType());
  InstFn dot = selectDot(plan.accType);
  if (!dot)
    return unsupported(op, "has no meaning for this element type");
  SmallVector<unsigned> scratch;
  plan.scratch = scratchSlot(dotScratchBytes(plan), scratch);
  plan.result = define(op->getResult(0));
  for (unsigned slot : scratch)
    giveBack(slot);
  const uint32_t index = uint32_t(program.compute.dots.size());
  const DType accType = plan.accType;
  Inst &inst = emit(dot, op, plan.result, plan.acc);
  inst.aux = index;
  program.compute.dots.push_back(std::move(plan));
  if (!isFloat(accType))
    return success();
  if (options.checks.nan != NanCheck::Off) {
    bool atOnce = options.checks.nan == NanCheck::Error;
    code->push_back(beside(code->back(), selectDotNanCheck(accType, atOnce), index));
  }
  if (options.errorBounds)
    code->push_back(beside(code->back(), selectBoundDot(accType), index));
  return success();
}

LogicalResult Translator::translateDot(DotOp op) {
  DotPlan plan;
  plan.a = operandOf(op.getA(), op.getAUnsigned());
  plan.b = operandOf(op.getB(), op.getBUnsigned());
  plan.input = DotInputRule(unsigned(op.getInput()));
  plan.promote = int64_t(op.getPromote());
  return emitDot(op, std::move(plan), op.getA(), op.getB(), op.getAcc());
}

LogicalResult Translator::translateDotScaled(DotScaledOp op) {
  DotPlan plan;
  plan.a = operandOf(op.getA(), false);
  plan.b = operandOf(op.getB(), false);
  const int64_t k = tileSides(op.getA().getType()).back();
  if (Value scale = op.getAScale())
    addScale(plan.a, scale, offsetOf(scale), k, 1);
  if (Value scale = op.getBScale())
    addScale(plan.b, scale, offsetOf(scale), k, 2);
  return emitDot(op, std::move(plan), op.getA(), op.getB(), op.getAcc());
}
