//===- MachineElementwise.cpp - arithmetic on one element ------------------------===//
//
// Partial operations get the results docs/language.md states: LLVM never sees a division by zero,
// MIN / -1, a shift past the width or an unsaturated conversion.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

static Operation *behindShapes(Value tile) {
  while (isa_and_nonnull<ExpandDimsOp, BroadcastOp>(tile.getDefiningOp()))
    tile = tile.getDefiningOp()->getOperand(0);
  return tile.getDefiningOp();
}

/// Whether the tile's elements are coordinates and a constant.
bool Machine::isRange(Value tile) { return isa_and_nonnull<ArangeOp>(behindShapes(tile)); }

/// Sums and differences of two such numbers fit i32.
static bool isSmall(Interval range) {
  constexpr int64_t limit = int64_t(1) << 30;
  return range.within(-limit, limit - 1);
}

/// Whether they are sums of such ranges, times scalars too.
bool Machine::isOfRanges(Value tile) { return isRange(tile) || ofRanges.contains(behindShapes(tile)); }

/// An offset's range times a scalar, as rows times their stride: registers differ in a product that all threads share.
/// Every part is at most the whole, which is known to fit. True when done.
bool Machine::foldStride(Operation *op) {
  Value range = op->getOperand(0), factor = op->getOperand(1);
  if (!isRange(range))
    std::swap(range, factor);
  auto splat = factor.getDefiningOp<SplatOp>();
  if (!isRange(range) || !splat || !llvm::all_of(tiles[range], [](const Element &e) { return e.imm >= 0; }))
    return false;
  Value stride = scalar(splat.getValue());
  std::map<std::pair<void *, int64_t>, Value> products;
  auto product = [&](Value value, int64_t number) {
    Value &known = products[{value.getAsOpaquePointer(), number}];
    if (!known && (value || number))
      known = LLVM::MulOp::create(builder, loc, value ? value : integer(number, 32), stride, kNoWrap);
    return known;
  };
  Tile result;
  for (const Element &element : tiles[range])
    result.push_back({product(element.var, 0), 0, product({}, element.imm)});
  tiles[op->getResult(0)] = std::move(result);
  return true;
}

/// The sum of two such offsets, part by part, or the difference of two ranges, as columns less rows. True when done.
bool Machine::foldSum(Operation *op) {
  bool subtracts = isa<arith::SubIOp>(op);
  if (!isOfRanges(op->getOperand(0)) || !isOfRanges(op->getOperand(1)))
    return false;
  std::map<std::pair<void *, void *>, Value> sums;
  auto sum = [&](Value x, Value y) {
    if (!y || (!x && !subtracts))
      return x ? x : y;
    Value &known = sums[{x.getAsOpaquePointer(), y.getAsOpaquePointer()}];
    if (!known && subtracts)
      known = LLVM::SubOp::create(builder, loc, x ? x : integer(0, 32), y, kNoWrap);
    else if (!known)
      known = LLVM::AddOp::create(builder, loc, x, y, kNoWrap);
    return known;
  };
  Tile result;
  for (auto [x, y] : llvm::zip(tiles[op->getOperand(0)], tiles[op->getOperand(1)]))
    result.push_back({sum(x.var, y.var), subtracts ? x.imm - y.imm : x.imm + y.imm, sum(x.uniform, y.uniform)});
  tiles[op->getResult(0)] = std::move(result);
  return true;
}

/// A sum, difference or product of an i32 tile whose elements keep apart what registers differ in. True when done.
bool Machine::foldOffset(Operation *op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !elementTypeOf(op->getResult(0).getType()).isInteger(32))
    return false;
  if (isa<arith::SubIOp>(op))
    return isRange(op->getOperand(0)) && isRange(op->getOperand(1)) && isSmall(known.range(op->getResult(0))) && foldSum(op) &&
           ofRanges.insert(op).second;
  if (exactOffsets.contains(op) && (isa<arith::MulIOp>(op) ? foldStride(op) : foldSum(op)))
    return ofRanges.insert(op).second;
  const Tile &a = tiles[op->getOperand(0)], &b = tiles[op->getOperand(1)];
  auto hasUniform = [](const Element &e) { return bool(e.uniform); };
  auto isConstant = [](const Element &e) { return !e.var; };
  if (llvm::any_of(a, hasUniform) || llvm::any_of(b, hasUniform) ||
      (!llvm::all_of(a, isConstant) && !llvm::all_of(b, isConstant)))
    return false;
  Tile result;
  std::map<std::pair<void *, int64_t>, Value> products;
  for (auto [x, y] : llvm::zip(a, b)) {
    const Element &running = x.var ? x : y;
    int64_t number = x.var ? y.imm : x.imm;
    auto wrap = [](int64_t value) { return int64_t(int32_t(uint32_t(value))); };
    if (isa<arith::AddIOp>(op)) {
      result.push_back({running.var, wrap(running.imm + number)});
      continue;
    }
    Value &product = products[{running.var.getAsOpaquePointer(), number}];
    if (running.var && !product)
      product = LLVM::MulOp::create(builder, loc, running.var, integer(number, 32),
                                    exactOffsets.contains(op) ? LLVM::IntegerOverflowFlags::nsw
                                                              : LLVM::IntegerOverflowFlags::none);
    result.push_back({product, wrap(running.imm * number)});
  }
  tiles[op->getResult(0)] = std::move(result);
  return true;
}

/// For each register the first one whose element is known to be the same: comparisons of an index
/// with a bound are alike over the vectors of the accesses that they mask. Without this each element
/// of a mask is a compare of its own, and more predicates are live than there are.
SmallVector<unsigned> Machine::firstAlike(Value tile) {
  LinearLayout layout = layoutOf(tile);
  TileRuns runs = contiguity.runs(tile);
  SmallVector<unsigned> first;
  std::map<SmallVector<int32_t, 4>, unsigned> known;
  for (unsigned i = 0, count = layout.numRegisters(); i < count; ++i) {
    SmallVector<int32_t, 4> group;
    for (auto [place, run] : llvm::zip(layout.apply(i, 0, 0), runs))
      group.push_back(place / int32_t(run.constancy));
    first.push_back(known.try_emplace(std::move(group), i).first->second);
  }
  return first;
}

/// Coordinates against a limit that all threads share: a register's constant is taken off the limit, so that all
/// registers compare one coordinate and none has one of its own over a loop. Differences of coordinates have more
/// constants than coordinates: there the thread's part is taken off, and the constants are compared with what is
/// left. True when done.
bool Machine::foldCompare(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  auto splat = compare ? compare.getRhs().getDefiningOp<SplatOp>() : SplatOp();
  bool isDifference = compare && isa_and_nonnull<arith::SubIOp>(behindShapes(compare.getLhs())) && isOfRanges(compare.getLhs());
  if (!splat || !(isDifference || isRange(compare.getLhs())) || !elementTypeOf(splat.getType()).isInteger(32) ||
      compare.getPredicate() >= arith::CmpIPredicate::ult)
    return false;
  Interval limits = known.range(splat.getValue());
  const Tile &range = tiles[compare.getLhs()];
  auto fits = [&](const Element &e) {
    return e.var && (isDifference ? isSmall(limits) : e.imm >= 0 && limits.lo - e.imm >= INT32_MIN);
  };
  if (!llvm::all_of(range, fits))
    return false;
  std::map<std::pair<void *, int64_t>, Value> results;
  Tile result;
  for (unsigned first : firstAlike(op->getResult(0))) {
    const Element &element = range[first];
    Value &value = results[{element.var.getAsOpaquePointer(), element.imm}];
    if (!value) {
      Value limit = scalar(splat.getValue()), number = integer(element.imm, 32);
      if (isDifference)
        value = this->compare(op, {number, once<LLVM::SubOp>(limit, element.var, kNoWrap)});
      else
        value = this->compare(op, {element.var, element.imm ? LLVM::SubOp::create(builder, loc, limit, number).getResult() : limit});
    }
    result.push_back({value, 0});
  }
  tiles[op->getResult(0)] = std::move(result);
  return true;
}

LogicalResult Machine::lowerElementwise(Operation *op) {
  if (foldOffset(op) || foldCompare(op))
    return success();
  if (auto cast = dyn_cast<CastOp>(op); cast && convertPairs(cast))
    return success();
  if (!isa<RankedTensorType>(op->getResult(0).getType())) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    Value result = element(op, operands);
    if (!result)
      return emit<diag::MachineUnsupported>(op->getLoc(), op->getName().getStringRef(), target.name);
    scalars[op->getResult(0)] = result;
    return success();
  }
  unsigned count = layoutOf(op->getResult(0)).numRegisters();
  SmallVector<unsigned> alike;
  if (isa<arith::CmpIOp>(op))
    alike = firstAlike(op->getResult(0));
  Tile result;
  std::map<std::vector<void *>, Value> known; // uniform tiles are computed once
  for (unsigned i = 0; i < count; ++i) {
    if (!alike.empty() && alike[i] != i) {
      result.push_back(result[alike[i]]);
      continue;
    }
    SmallVector<Value> operands;
    std::vector<void *> key;
    for (Value operand : op->getOperands()) {
      bool isTile = isa<RankedTensorType>(operand.getType());
      const Element &e = isTile ? tiles[operand][i] : Element{scalar(operand), 0};
      // Constants of i32 get one value each, so that equal elements are one key.
      operands.push_back(isTile ? materialize(e) : e.var);
      key.push_back(e.var.getAsOpaquePointer());
      key.push_back(reinterpret_cast<void *>(e.imm));
      key.push_back(e.uniform.getAsOpaquePointer());
    }
    Value &value = known[key];
    if (!value)
      value = element(op, operands);
    if (!value)
      return emit<diag::MachineUnsupported>(op->getLoc(), op->getName().getStringRef(), target.name);
    result.push_back({value, 0});
  }
  tiles[op->getResult(0)] = std::move(result);
  return success();
}

Value Machine::element(Operation *op, ValueRange v) {
  Type resultType = machineType(elementTypeOf(op->getResult(0).getType()));
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::CmpIOp, arith::CmpFOp>([&](Operation *op) { return compare(op, v); })
      .Case<arith::SelectOp>([&](auto) { return LLVM::SelectOp::create(builder, loc, v[0], v[1], v[2]); })
      .Case<arith::ExtSIOp>([&](auto) { return LLVM::SExtOp::create(builder, loc, resultType, v[0]); })
      .Case<arith::ExtUIOp>([&](auto) { return LLVM::ZExtOp::create(builder, loc, resultType, v[0]); })
      .Case<arith::TruncIOp>([&](auto) { return LLVM::TruncOp::create(builder, loc, resultType, v[0]); })
      .Case<arith::ExtFOp>([&](auto) { return LLVM::FPExtOp::create(builder, loc, resultType, v[0]); })
      .Case<DivOp>([&](auto) { return division(op, v, /*remainder=*/false); })
      .Case<RemOp>([&](auto) { return division(op, v, /*remainder=*/true); })
      .Case<ShlOp>([&](auto) { return shift(op, v, /*left=*/true); })
      .Case<ShrOp>([&](auto) { return shift(op, v, /*left=*/false); })
      .Case<MinOp>([&](auto) { return extremum(op, v, /*maximum=*/false); })
      .Case<MaxOp>([&](auto) { return extremum(op, v, /*maximum=*/true); })
      .Case([&](CastOp cast) { return conversion(cast, v[0]); })
      .Case([&](UnaryOp fn) { return unary(fn, v[0]); })
      .Case([&](BinaryFnOp fn) { return binaryFunction(fn, v[0], v[1]); })
      .Case([&](BitsOp fn) { return bitsFunction(fn, v[0]); })
      .Case<FmaOp>([&](auto) { return LLVM::FMAOp::create(builder, loc, v[0], v[1], v[2]); })
      .Default([&](Operation *op) { return arithmetic(op, v); });
}

Value Machine::arithmetic(Operation *op, ValueRange v) {
  auto flags = LLVM::FastmathFlagsAttr::get(
      context, contract ? LLVM::FastmathFlags::contract : LLVM::FastmathFlags::none);
  auto wrap = exactOffsets.contains(op) ? LLVM::IntegerOverflowFlags::nsw
                                        : LLVM::IntegerOverflowFlags::none;
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::AddIOp>([&](auto) { return LLVM::AddOp::create(builder, loc, v[0], v[1], wrap); })
      .Case<arith::SubIOp>([&](auto) { return LLVM::SubOp::create(builder, loc, v[0], v[1], wrap); })
      .Case<arith::MulIOp>([&](auto) { return LLVM::MulOp::create(builder, loc, v[0], v[1], wrap); })
      .Case<arith::AndIOp>([&](auto) { return LLVM::AndOp::create(builder, loc, v[0], v[1]); })
      .Case<arith::OrIOp>([&](auto) { return LLVM::OrOp::create(builder, loc, v[0], v[1]); })
      .Case<arith::XOrIOp>([&](auto) { return LLVM::XOrOp::create(builder, loc, v[0], v[1]); })
      .Case<arith::AddFOp>([&](auto) { return LLVM::FAddOp::create(builder, loc, v[0].getType(), v[0], v[1], flags); })
      .Case<arith::SubFOp>([&](auto) { return LLVM::FSubOp::create(builder, loc, v[0].getType(), v[0], v[1], flags); })
      .Case<arith::MulFOp>([&](auto) { return LLVM::FMulOp::create(builder, loc, v[0].getType(), v[0], v[1], flags); })
      .Case<arith::NegFOp>([&](auto) { return LLVM::FNegOp::create(builder, loc, v[0]); })
      .Default([](Operation *) { return Value(); });
}

Value Machine::compare(Operation *op, ValueRange v) {
  if (auto integers = dyn_cast<arith::CmpIOp>(op))
    return LLVM::ICmpOp::create(builder, loc, static_cast<LLVM::ICmpPredicate>(integers.getPredicate()),
                                v[0], v[1]);
  auto predicate = cast<arith::CmpFOp>(op).getPredicate();
  return LLVM::FCmpOp::create(builder, loc, static_cast<LLVM::FCmpPredicate>(predicate), v[0], v[1]);
}

/// x // 0 = 0, x % 0 = x, MIN // -1 = MIN, MIN % -1 = 0: a divisor of 1 gives the last two.
Value Machine::division(Operation *op, ValueRange v, bool remainder) {
  Type type = v[0].getType();
  if (isa<FloatType>(type))
    return LLVM::FDivOp::create(builder, loc, type, v[0], v[1]);
  bool isUnsigned = op->hasAttr("is_unsigned");
  unsigned bits = type.getIntOrFloatBitWidth();
  auto divide = [&](Value divisor) -> Value {
    if (remainder)
      return isUnsigned ? LLVM::URemOp::create(builder, loc, v[0], divisor).getResult()
                        : LLVM::SRemOp::create(builder, loc, v[0], divisor).getResult();
    return isUnsigned ? LLVM::UDivOp::create(builder, loc, v[0], divisor).getResult()
                      : LLVM::SDivOp::create(builder, loc, v[0], divisor).getResult();
  };
  APInt known;
  if (matchPattern(v[1], m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes())
    return divide(v[1]);
  Value zero = integer(0, bits), one = integer(1, bits);
  Value isZero = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, v[1], zero);
  Value unsafe = isZero;
  if (!isUnsigned) {
    Value minusOne = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, v[1], integer(-1, bits));
    Value least = LLVM::ConstantOp::create(builder, 
        loc, type, builder.getIntegerAttr(type, APInt::getSignedMinValue(bits)));
    Value isLeast = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, v[0], least);
    unsafe = LLVM::OrOp::create(builder, loc, isZero, LLVM::AndOp::create(builder, loc, minusOne, isLeast));
  }
  Value result = divide(LLVM::SelectOp::create(builder, loc, unsafe, one, v[1]));
  return LLVM::SelectOp::create(builder, loc, isZero, remainder ? v[0] : zero, result);
}

Value Machine::shift(Operation *op, ValueRange v, bool left) {
  unsigned bits = v[0].getType().getIntOrFloatBitWidth();
  bool arithmeticShift = !left && !op->hasAttr("is_unsigned");
  Value width = integer(bits, bits), last = integer(bits - 1, bits);
  // The count is cut by a mask where the clamp picks 0 afterwards: a compare and select around the
  // bare count is what LLVM takes for the hardware's clamping shift, whose count has 32 bits only.
  if (bits == 1) { // any count but 0 is past the width; the arithmetic shift keeps the sign
    if (arithmeticShift)
      return v[0];
    Value none = LLVM::XOrOp::create(builder, loc, v[1], integer(1, 1));
    return LLVM::AndOp::create(builder, loc, v[0], none);
  }
  Value inside = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, v[1], width);
  if (arithmeticShift) {
    Value clamped = LLVM::SelectOp::create(builder, loc, inside, v[1], last);
    return LLVM::AShrOp::create(builder, loc, v[0], clamped);
  }
  Value count = LLVM::AndOp::create(builder, loc, v[1], last);
  Value shifted = left ? LLVM::ShlOp::create(builder, loc, v[0], count).getResult()
                       : LLVM::LShrOp::create(builder, loc, v[0], count).getResult();
  return LLVM::SelectOp::create(builder, loc, inside, shifted, integer(0, bits));
}

Value Machine::extremum(Operation *op, ValueRange v, bool maximum) {
  Type type = v[0].getType();
  auto num = op->getAttrOfType<NumAttr>("num");
  if (isa<FloatType>(type)) {
    bool number = num && num.getNan() == NanRule::number;
    StringRef name = maximum ? (number ? "llvm.maximumnum" : "llvm.maximum")
                             : (number ? "llvm.minimumnum" : "llvm.minimum");
    return intrinsic(name, type, v);
  }
  bool isUnsigned = op->hasAttr("is_unsigned");
  StringRef name = maximum ? (isUnsigned ? "llvm.umax" : "llvm.smax")
                           : (isUnsigned ? "llvm.umin" : "llvm.smin");
  return intrinsic(name, type, v);
}

Value Machine::intrinsic(StringRef name, Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), operands)
      .getResult(0);
}
