//===- TranslateCompute.cpp - operations on numbers ---------------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Translate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// The bytes of a scalar attribute in memory.
static void appendElement(std::vector<uint8_t> &bytes, const APInt &value, DType dtype) {
  uint64_t bits = value.getZExtValue();
  for (unsigned i = 0; i < byteSize(dtype); ++i)
    bytes.push_back(uint8_t(bits >> (8 * i)));
}

static void appendConstant(std::vector<uint8_t> &bytes, Attribute value, DType dtype) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    appendElement(bytes, integer.getValue(), dtype);
  else
    appendElement(bytes, cast<FloatAttr>(value).getValue().bitcastToAPInt(), dtype);
}

static std::vector<uint8_t> repeated(const std::vector<uint8_t> &element, size_t count) {
  std::vector<uint8_t> bytes;
  bytes.reserve(element.size() * count);
  for (size_t i = 0; i < count; ++i)
    bytes.insert(bytes.end(), element.begin(), element.end());
  return bytes;
}

LogicalResult Translator::translateConstant(arith::ConstantOp op) {
  DType dtype = *slotTypeOf(op.getType());
  std::vector<uint8_t> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue())) {
    const bool isSplat = dense.isSplat();
    if (isa<FloatType>(elementTypeOf(op.getType())))
      for (APFloat value : dense.getValues<APFloat>()) {
        appendElement(bytes, value.bitcastToAPInt(), dtype);
        if (isSplat)
          break;
      }
    else
      for (APInt value : dense.getValues<APInt>()) {
        appendElement(bytes, value, dtype);
        if (isSplat)
          break;
      }
    if (isSplat)
      bytes = repeated(bytes, size_t(dense.getNumElements()));
  } else if (isa<IntegerAttr, FloatAttr>(op.getValue())) {
    appendConstant(bytes, op.getValue(), dtype);
    bytes = repeated(bytes, bodyLanes ? bodyLanes : 1);
  } else {
    return unsupported(op, "has a value that is neither a number nor a dense tile");
  }
  Slot slot;
  slot.bytes = uint32_t(bytes.size());
  slot.offset = constantSlot(std::move(bytes));
  slot.uses = kForever;
  slots.push_back(slot);
  slotOf[op.getResult()] = unsigned(slots.size() - 1);
  return success();
}

/// Emits the instruction that makes the result of `op` from up to three operands.
LogicalResult Translator::emitValue(Operation *op, InstFn fn) {
  if (!fn)
    return unsupported(op, "has no meaning for this element type");
  uint32_t operands[3] = {kNoSlot, kNoSlot, kNoSlot};
  for (unsigned i = 0; i < std::min(op->getNumOperands(), 3u); ++i)
    operands[i] = offsetOf(op->getOperand(i));
  uint32_t result = define(op->getResult(0));
  emit(fn, op, result, operands[0], operands[1], operands[2]).n =
      lanesOf(op->getResult(0).getType());
  return success();
}

/// An instruction with the same places, beside the one just emitted.
static Inst beside(const Inst &inst, InstFn fn, uint32_t aux = 0) {
  Inst other = inst;
  other.fn = fn;
  other.aux = aux;
  return other;
}

void Translator::emitNanCheck(Operation *op) {
  DType dtype = *slotTypeOf(op->getResult(0).getType());
  if (options.checks.nan == NanCheck::Off || !isFloat(dtype))
    return;
  bool atOnce = options.checks.nan == NanCheck::Error;
  code->push_back(beside(code->back(), selectNanCheck(dtype, atOnce)));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Whether a product may end up as an operand of an addition and be contracted with it.
static bool reachesSum(Value product, unsigned depth = 0) {
  for (Operation *user : product.getUsers()) {
    if (isa<arith::AddFOp, arith::SubFOp, ReduceOp, scf::YieldOp, scf::ConditionOp>(user))
      return true;
    bool passes = isa<arith::NegFOp, SplatOp, BroadcastOp, ExpandDimsOp>(user);
    if (passes && (depth > 8 || reachesSum(user->getResult(0), depth + 1)))
      return true;
  }
  return false;
}

/// The instruction that watches a division or a shift, before it.
void Translator::emitIntegerCheck(Operation *op, BinaryOp kind, bool isUnsigned) {
  DType dtype = *slotTypeOf(op->getResult(0).getType());
  // The front end marks the division that counts trips: there a step of zero is a fault of the loop.
  const bool isStep = op->hasAttr("tk.trip_count");
  const bool isDivision = kind == BinaryOp::Div || kind == BinaryOp::Rem;
  if (!isStep && !options.checks.arithmetic)
    return;
  if (!isDivision && kind != BinaryOp::Shl && kind != BinaryOp::Shr)
    return;
  InstFn check = isStep       ? selectZeroStepCheck(dtype)
                 : isDivision ? selectDivideCheck(dtype, isUnsigned)
                              : selectShiftCheck(dtype);
  uint32_t a = offsetOf(op->getOperand(0)), b = offsetOf(op->getOperand(1));
  Inst &inst = emit(check, op, kNoSlot, a, b);
  inst.n = lanesOf(op->getResult(0).getType());
  inst.aux = dtype == DType::i1 ? 1 : 8 * byteSize(dtype);
}

LogicalResult Translator::translateBinary(Operation *op, BinaryOp kind, bool isUnsigned) {
  DType dtype = *slotTypeOf(op->getResult(0).getType());
  if (!isFloat(dtype))
    emitIntegerCheck(op, kind, isUnsigned);
  if (failed(emitValue(op, selectBinary(kind, dtype, isUnsigned))))
    return failure();
  if (!isFloat(dtype))
    return success();
  Inst value = code->back();
  bool propagates = kind >= BinaryOp::Min;
  if (!propagates)
    emitNanCheck(op);
  if (options.errorBounds) {
    bool contracts = kind == BinaryOp::Mul && mayContract && reachesSum(op->getResult(0));
    code->push_back(beside(value, selectBoundBinary(kind, dtype, contracts)));
  }
  return success();
}

LogicalResult Translator::translateFma(FmaOp op) {
  DType dtype = *slotTypeOf(op.getType());
  if (failed(emitValue(op, selectFma(dtype))))
    return failure();
  Inst value = code->back();
  emitNanCheck(op);
  if (options.errorBounds)
    code->push_back(beside(value, selectBoundFma(dtype)));
  return success();
}

/// The error a function may have in units of the last place; docs/language.md.
static int64_t ulpOf(UnaryOp op) {
  if (auto num = op.getNumAttr())
    return num.getUlp();
  switch (op.getFn()) {
  case UnaryFn::abs:
  case UnaryFn::floor:
  case UnaryFn::ceil:
  case UnaryFn::sqrt:
    return 0; // rounded correctly
  case UnaryFn::exp2:
    return 3;
  case UnaryFn::tanh:
  case UnaryFn::sigmoid:
    return 4;
  default:
    return 2;
  }
}

LogicalResult Translator::translateUnary(UnaryOp op) {
  DType dtype = *slotTypeOf(op.getType());
  UnaryMath fn = UnaryMath(unsigned(op.getFn()));
  if (failed(emitValue(op, selectUnary(fn, dtype))))
    return failure();
  if (!isFloat(dtype))
    return success();
  Inst value = code->back();
  if (fn != UnaryMath::Abs)
    emitNanCheck(op);
  if (options.errorBounds)
    code->push_back(beside(value, selectBoundUnary(fn, dtype), uint32_t(ulpOf(op))));
  return success();
}

LogicalResult Translator::translateCast(CastOp op) {
  DType from = *slotTypeOf(op.getValue().getType()), to = *slotTypeOf(op.getType());
  NumAttr num = op.getNumAttr();
  CastRule rule;
  rule.fromUnsigned = op.getFromUnsigned();
  rule.toUnsigned = op.getToUnsigned();
  rule.saturate = !num || num.getOverflow() != Overflow::ieee;
  // Without the attribute a float becomes an integer by truncation, all else rounds to nearest.
  rule.towardZero = num ? num.getRound() == Round::rtz : isFloat(from) && !isFloat(to);
  if (failed(emitValue(op, selectCast(from, to, rule))))
    return failure();
  if (options.errorBounds && isFloat(to)) {
    InstFn bound = isFloat(from) ? selectBoundRound(from, to) : selectBoundZero();
    code->push_back(beside(code->back(), bound, rule.towardZero));
  }
  return success();
}

LogicalResult Translator::translateConversion(Operation *op) {
  DType from = *slotTypeOf(op->getOperand(0).getType());
  DType to = *slotTypeOf(op->getResult(0).getType());
  InstFn fn = isa<arith::TruncIOp>(op) ? selectTruncate(from, to)
                                       : selectExtend(from, to, isa<arith::ExtUIOp>(op));
  if (failed(emitValue(op, fn)))
    return failure();
  if (options.errorBounds && isFloat(to))
    code->push_back(beside(code->back(), selectBoundMove()));
  return success();
}

//===----------------------------------------------------------------------===//
// Comparisons and select
//===----------------------------------------------------------------------===//

static IntCompare compareOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return IntCompare::Eq;
  case arith::CmpIPredicate::ne:
    return IntCompare::Ne;
  case arith::CmpIPredicate::slt:
    return IntCompare::Lt;
  case arith::CmpIPredicate::sle:
    return IntCompare::Le;
  case arith::CmpIPredicate::sgt:
    return IntCompare::Gt;
  case arith::CmpIPredicate::sge:
    return IntCompare::Ge;
  case arith::CmpIPredicate::ult:
    return IntCompare::ULt;
  case arith::CmpIPredicate::ule:
    return IntCompare::ULe;
  case arith::CmpIPredicate::ugt:
    return IntCompare::UGt;
  case arith::CmpIPredicate::uge:
    return IntCompare::UGe;
  }
  llvm_unreachable("all predicates are listed");
}

LogicalResult Translator::translateCompare(Operation *op) {
  DType dtype = *slotTypeOf(op->getOperand(0).getType());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return emitValue(op, selectCompare(compareOf(compare.getPredicate()), dtype));
  auto predicate = cast<arith::CmpFOp>(op).getPredicate();
  return emitValue(op, selectCompare(FloatCompare(unsigned(predicate)), dtype));
}

LogicalResult Translator::translateSelect(arith::SelectOp op) {
  DType dtype = *slotTypeOf(op.getType());
  bool isScalar =
      !isa<RankedTensorType>(op.getCondition().getType()) && isa<RankedTensorType>(op.getType());
  if (failed(emitValue(op, selectSelect(byteSize(dtype), isScalar))))
    return failure();
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectBoundSelect(isScalar)));
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateSplat(SplatOp op) {
  if (failed(emitValue(op, selectSplat(byteSize(*slotTypeOf(op.getType()))))))
    return failure();
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectBoundSplat()));
  return success();
}

/// Neighbouring axes that are both repeated or both copied become one.
static CopyPlan planBroadcast(RankedTensorType from, RankedTensorType to) {
  CopyPlan plan;
  uint32_t stride = 1;
  for (int64_t axis = to.getRank() - 1; axis >= 0; --axis) {
    uint32_t side = uint32_t(to.getDimSize(axis));
    bool isRepeated = from.getDimSize(axis) == 1 && side != 1;
    if (side == 1)
      continue;
    bool joins = !plan.sides.empty() && (plan.strides.back() == 0) == isRepeated;
    if (joins) {
      plan.sides.back() *= side;
    } else {
      plan.sides.push_back(side);
      plan.strides.push_back(isRepeated ? 0 : stride);
    }
    stride *= uint32_t(from.getDimSize(axis));
  }
  if (plan.sides.empty()) {
    plan.sides = {1};
    plan.strides = {1};
  }
  std::reverse(plan.sides.begin(), plan.sides.end());
  std::reverse(plan.strides.begin(), plan.strides.end());
  return plan;
}

LogicalResult Translator::translateBroadcast(BroadcastOp op) {
  CopyPlan plan = planBroadcast(cast<RankedTensorType>(op.getValue().getType()),
                                cast<RankedTensorType>(op.getType()));
  unsigned bytes = byteSize(*slotTypeOf(op.getType()));
  if (failed(emitValue(op, selectBroadcast(bytes))))
    return failure();
  code->back().aux = uint32_t(program.copies.size());
  program.copies.push_back(std::move(plan));
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectBoundBroadcast(), code->back().aux));
  return success();
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

namespace {
struct IntegerForm {
  BinaryOp kind;
  bool isUnsigned = false;
};
} // namespace

static std::optional<IntegerForm> binaryFormOf(Operation *op) {
  auto partial = [](auto typed, BinaryOp kind) { return IntegerForm{kind, typed.getIsUnsigned()}; };
  auto extreme = [](auto typed, BinaryOp kind, BinaryOp number) {
    NumAttr num = typed.getNumAttr();
    bool isNumber = num && num.getNan() == NanRule::number;
    return IntegerForm{isNumber ? number : kind, typed.getIsUnsigned()};
  };
  using Form = std::optional<IntegerForm>;
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case<arith::AddIOp, arith::AddFOp>([](auto) { return Form(IntegerForm{BinaryOp::Add}); })
      .Case<arith::SubIOp, arith::SubFOp>([](auto) { return Form(IntegerForm{BinaryOp::Sub}); })
      .Case<arith::MulIOp, arith::MulFOp>([](auto) { return Form(IntegerForm{BinaryOp::Mul}); })
      .Case<arith::AndIOp>([](auto) { return Form(IntegerForm{BinaryOp::And}); })
      .Case<arith::OrIOp>([](auto) { return Form(IntegerForm{BinaryOp::Or}); })
      .Case<arith::XOrIOp>([](auto) { return Form(IntegerForm{BinaryOp::Xor}); })
      .Case<DivOp>([&](auto typed) { return Form(partial(typed, BinaryOp::Div)); })
      .Case<RemOp>([&](auto typed) { return Form(partial(typed, BinaryOp::Rem)); })
      .Case<ShlOp>([&](auto typed) { return Form(partial(typed, BinaryOp::Shl)); })
      .Case<ShrOp>([&](auto typed) { return Form(partial(typed, BinaryOp::Shr)); })
      .Case<MinOp>(
          [&](auto typed) { return Form(extreme(typed, BinaryOp::Min, BinaryOp::MinNumber)); })
      .Case<MaxOp>(
          [&](auto typed) { return Form(extreme(typed, BinaryOp::Max, BinaryOp::MaxNumber)); })
      .Default([](Operation *) { return Form(); });
}

LogicalResult Translator::translateCompute(Operation *op, bool &known) {
  known = true;
  if (std::optional<IntegerForm> form = binaryFormOf(op))
    return translateBinary(op, form->kind, form->isUnsigned);
  if (isa<arith::CmpIOp, arith::CmpFOp>(op))
    return translateCompare(op);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::ExtFOp>(op))
    return translateConversion(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return translateConstant(constant);
  if (auto unary = dyn_cast<UnaryOp>(op))
    return translateUnary(unary);
  if (auto cast = dyn_cast<CastOp>(op))
    return translateCast(cast);
  if (auto fma = dyn_cast<FmaOp>(op))
    return translateFma(fma);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return translateSelect(select);
  if (isa<arith::NegFOp>(op)) {
    if (failed(emitValue(op, selectNegate(*slotTypeOf(op->getResult(0).getType())))))
      return failure();
    if (options.errorBounds)
      code->push_back(beside(code->back(), selectBoundMove()));
    return success();
  }
  // What follows is about tiles, which a combine region does not have.
  known = !bodyLanes;
  if (!known)
    return success();
  if (auto splat = dyn_cast<SplatOp>(op))
    return translateSplat(splat);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return translateBroadcast(broadcast);
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    if (failed(emitValue(op, selectArange())))
      return failure();
    code->back().aux = uint32_t(int32_t(arange.getStart()));
    return success();
  }
  if (isa<ExpandDimsOp>(op)) {
    share(op->getResult(0), op->getOperand(0));
    return success();
  }
  known = false;
  return success();
}
