//===- LowerExit.cpp - tests and joins of ways to leave a piece of code --------===//

#include "frontend/LowerExit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tk;

unsigned Exit::count() const {
  return unsigned(llvm::popcount(ways));
}

Flow Exit::earliest() const {
  return Flow(llvm::countr_zero(ways));
}

Flow Exit::latest() const {
  return Flow(llvm::bit_width(ways) - 1);
}

Exit Exit::ofTest(Flow earlier, Flow later, Value isEarlier) {
  Exit exit(earlier);
  exit.ways |= bit(later);
  exit.value = isEarlier;
  return exit;
}

Exit Exit::either(Value condition, Exit ifTrue, Exit ifFalse) {
  assert(ifTrue.isKnown() && ifFalse.isKnown());
  if (ifTrue.ways == ifFalse.ways)
    return ifTrue;
  Exit exit = ifTrue.withWaysOf(ifFalse);
  exit.value = condition;
  exit.inverted = ifTrue.ways > ifFalse.ways;
  return exit;
}

Exit Exit::withWaysOf(const Exit &other) const {
  Exit exit;
  exit.ways = ways | other.ways;
  return exit;
}

Exit Exit::withValue(Value newValue) const {
  Exit exit;
  exit.ways = ways;
  exit.value = isKnown() ? Value() : newValue;
  return exit;
}

static Value boolean(bool truth, OpBuilder &builder, Location loc) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(truth));
}

static Value number(Flow way, OpBuilder &builder, Location loc) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(way)));
}

Value Exit::isBefore(Flow bound, OpBuilder &builder, Location loc) const {
  if (latest() < bound || earliest() >= bound)
    return boolean(latest() < bound, builder, loc);
  if (count() > 2)
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value,
                                 number(bound, builder, loc));
  if (!inverted)
    return value;
  return arith::XOrIOp::create(builder, loc, value, boolean(true, builder, loc));
}

Value Exit::valueIn(const Exit &form, OpBuilder &builder, Location loc) const {
  assert((ways & ~form.ways) == 0 && !form.isKnown());
  if (form.count() == 2)
    return isBefore(form.latest(), builder, loc);
  if (isKnown())
    return number(earliest(), builder, loc);
  if (count() > 2)
    return value;
  Value low = number(inverted ? latest() : earliest(), builder, loc);
  Value high = number(inverted ? earliest() : latest(), builder, loc);
  return arith::SelectOp::create(builder, loc, value, low, high);
}

/// With fewer ways, of which the first is at the place of all that are before the second.
Exit Exit::narrowedTo(uint8_t newWays, OpBuilder &builder, Location loc) const {
  Exit exit;
  exit.ways = newWays;
  if (exit.count() == 2 && count() == 2) {
    exit.value = value;
    exit.inverted = inverted;
  } else if (exit.count() == 2)
    exit.value = isBefore(exit.latest(), builder, loc);
  else if (exit.count() > 2)
    exit.value = value;
  return exit;
}

Exit Exit::without(Flow way, OpBuilder &builder, Location loc) const {
  assert(!always(way));
  return may(way) ? narrowedTo(ways & ~bit(way), builder, loc) : *this;
}

Exit Exit::renamed(Flow from, Flow to, OpBuilder &builder, Location loc) const {
  if (!may(from))
    return *this;
  Exit exit = narrowedTo((ways & ~bit(from)) | bit(to), builder, loc);
  if (exit.count() > 2) {
    Value isTo = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                       number(from, builder, loc));
    exit.value =
        arith::SelectOp::create(builder, loc, isTo, number(to, builder, loc), exit.value);
  }
  return exit;
}
