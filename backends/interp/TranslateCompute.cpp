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
    bytes = repeated(bytes, body.lanes ? body.lanes : 1);
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
    if (isa<arith::AddFOp, arith::SubFOp, ReduceOp, ScanOp, MapOp, YieldOp, scf::YieldOp,
            scf::ConditionOp>(user))
      return true;
    bool passes = isa<arith::NegFOp, SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, PermuteOp,
                      CatOp, FlipOp, SliceOp, InsertOp, PickOp, PutOp, GatherOp>(user);
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
static int64_t ulpOf(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::abs:
  case UnaryFn::floor:
  case UnaryFn::ceil:
  case UnaryFn::round:
  case UnaryFn::trunc:
  case UnaryFn::sqrt:
    return 0; // rounded correctly
  case UnaryFn::exp2:
    return 3;
  case UnaryFn::tanh:
  case UnaryFn::sigmoid:
  case UnaryFn::tan:
  case UnaryFn::sinh:
  case UnaryFn::cosh:
  case UnaryFn::asinh:
  case UnaryFn::acosh:
  case UnaryFn::atanh:
    return 4;
  case UnaryFn::erfc:
  case UnaryFn::erfinv:
    return 5;
  case UnaryFn::lgamma:
    return 6;
  default:
    return 2;
  }
}

static int64_t ulpOf(BinaryFn fn) {
  switch (fn) {
  case BinaryFn::pow:
  case BinaryFn::atan2:
  case BinaryFn::hypot:
    return 4;
  default:
    return 0;
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
  if (options.errorBounds) {
    int64_t ulp = op.getNumAttr() ? op.getNumAttr().getUlp() : ulpOf(op.getFn());
    code->push_back(beside(value, selectBoundUnary(dtype), uint32_t(ulp)));
    code->back().b = unsigned(fn);
  }
  return success();
}

LogicalResult Translator::translateBinaryFn(BinaryFnOp op) {
  DType dtype = *slotTypeOf(op.getType());
  BinaryMath fn = BinaryMath(unsigned(op.getFn()));
  if (failed(emitValue(op, selectBinaryFn(fn, dtype, op.getIsUnsigned()))))
    return failure();
  if (!isFloat(dtype))
    return success();
  Inst value = code->back();
  if (fn != BinaryMath::Copysign)
    emitNanCheck(op);
  if (options.errorBounds) {
    int64_t ulp = op.getNumAttr() ? op.getNumAttr().getUlp() : ulpOf(op.getFn());
    code->push_back(beside(value, selectBoundBinaryFn(dtype), uint32_t(ulp)));
    code->back().c = unsigned(fn);
  }
  return success();
}

/// Emits the conversion of the operand into the result, both given with their sign.
LogicalResult Translator::emitConversion(Operation *op, DType from, DType to, Rounding rounding,
                                         OverflowRule overflow) {
  std::optional<Conversion> conversion = conversionOf(from, to, rounding, overflow);
  if (failed(emitValue(op, conversion ? selectConversion() : nullptr)))
    return failure();
  code->back().aux = uint32_t(program.conversions.size());
  program.conversions.push_back(*conversion);
  return success();
}

LogicalResult Translator::translateCast(CastOp op) {
  DType from = *slotTypeOf(op.getValue().getType()), to = *slotTypeOf(op.getType());
  from = op.getFromUnsigned() ? unsignedOf(from) : from;
  to = op.getToUnsigned() ? unsignedOf(to) : to;
  NumAttr num = op.getNumAttr();
  Rounding rounding = num ? Rounding(unsigned(num.getRound())) : defaultRounding(from, to);
  OverflowRule overflow = num ? OverflowRule(unsigned(num.getOverflow())) : OverflowRule::Natural;
  if (failed(emitConversion(op, from, to, rounding, overflow)))
    return failure();
  if (options.errorBounds && isFloat(to)) {
    InstFn bound = isFloat(from) ? selectBoundRound(from, to) : selectBoundZero();
    uint32_t rule = (rounding != Rounding::Nearest ? kBoundDirected : 0) |
                    (overflow == OverflowRule::Ieee ? kBoundExcess : 0);
    code->push_back(beside(code->back(), bound, rule));
  }
  return success();
}

LogicalResult Translator::translateConversion(Operation *op) {
  DType from = *slotTypeOf(op->getOperand(0).getType());
  DType to = *slotTypeOf(op->getResult(0).getType());
  if (isa<arith::ExtFOp>(op)) {
    if (failed(emitConversion(op, from, to, Rounding::Nearest, OverflowRule::Natural)))
      return failure();
    if (options.errorBounds)
      code->push_back(beside(code->back(), selectBoundMove()));
    return success();
  }
  return emitValue(op, isa<arith::TruncIOp>(op) ? selectTruncate(from, to)
                                                : selectExtend(from, to, isa<arith::ExtUIOp>(op)));
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

/// Only tk.cast, tk.bitcast and what moves values take storage types.
static bool computesOnStorage(Operation *op) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || isa<arith::ConstantOp, arith::SelectOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    std::optional<DType> dtype = slotTypeOf(type);
    return dtype && isStorage(*dtype);
  });
}

LogicalResult Translator::translateCompute(Operation *op, bool &known) {
  known = true;
  if (computesOnStorage(op))
    return unsupported(op, "has no meaning for this element type");
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
  if (auto binary = dyn_cast<BinaryFnOp>(op))
    return translateBinaryFn(binary);
  if (auto bits = dyn_cast<BitsOp>(op))
    return emitValue(op, selectBits(BitsMath(unsigned(bits.getFn())), *slotTypeOf(bits.getType())));
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
  known = false;
  return success();
}
