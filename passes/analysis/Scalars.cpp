//===- Scalars.cpp - intervals and divisors of scalars -----------------------===//

#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;

/// Larger than any divisor that matters; stands for "zero, divisible by everything".
static constexpr int64_t kMaxPower = int64_t(1) << 30;

Attribute tk::extentExpression(KernelOp kernel, Value view, int64_t axis) {
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return {};
  return kernel.getArgContract(argument.getArgNumber()).getAs<ArrayAttr>("extents")[axis];
}

Attribute tk::strideExpression(KernelOp kernel, Value view, int64_t axis) {
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return {};
  return kernel.getArgContract(argument.getArgNumber()).getAs<ArrayAttr>("strides")[axis];
}

StringRef tk::argumentName(KernelOp kernel, unsigned argument) {
  return kernel.getArgContract(argument).getAs<StringAttr>("name").getValue();
}

static std::optional<int64_t> aliasClassOf(Type type) {
  if (auto view = dyn_cast<ViewType>(type))
    return view.getAliasClass();
  if (auto pointer = dyn_cast<PtrType>(type))
    return pointer.getAliasClass();
  return std::nullopt;
}

bool tk::isNeverWritten(KernelOp kernel, unsigned argument) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  std::optional<int64_t> aliasClass = aliasClassOf(types[argument]);
  for (unsigned i = 0; i < types.size(); ++i) {
    auto access = kernel.getArgContract(i).getAs<StringAttr>("access");
    if (aliasClassOf(types[i]) == aliasClass && (!access || access.getValue() != "in"))
      return false;
  }
  return true;
}

std::string tk::pointerName(KernelOp kernel, unsigned argument) {
  return (argumentName(kernel, argument) + ".ptr").str();
}

static int64_t powerOf(int64_t number) {
  if (number == 0)
    return kMaxPower;
  uint64_t bits = number;
  return int64_t(std::min<uint64_t>(bits & (~bits + 1), kMaxPower));
}

/// `a predicate number`, for signed numbers.
static Interval intervalOf(arith::CmpIPredicate predicate, int64_t number) {
  switch (predicate) {
  case arith::CmpIPredicate::sge: return {number, INT64_MAX};
  case arith::CmpIPredicate::sgt: return {number == INT64_MAX ? number : number + 1, INT64_MAX};
  case arith::CmpIPredicate::sle: return {INT64_MIN, number};
  case arith::CmpIPredicate::slt: return {INT64_MIN, number == INT64_MIN ? number : number - 1};
  case arith::CmpIPredicate::eq: return {number, number};
  default: return {};
  }
}

std::optional<HostComparison> tk::comparisonOf(Attribute condition) {
  auto term = dyn_cast<ArrayAttr>(condition);
  if (!term || term.size() != 3)
    return std::nullopt;
  StringRef op = cast<StringAttr>(term[0]).getValue();
  auto name = dyn_cast<StringAttr>(term[1]);
  auto number = dyn_cast<IntegerAttr>(term[2]);
  if (name && number && op != "divides")
    return HostComparison{op, name, number.getInt()};
  number = dyn_cast<IntegerAttr>(term[1]);
  name = dyn_cast<StringAttr>(term[2]);
  if (!name || !number)
    return std::nullopt;
  StringRef turned = llvm::StringSwitch<StringRef>(op)
                         .Case("lt", "gt")
                         .Case("le", "ge")
                         .Case("gt", "lt")
                         .Case("ge", "le")
                         .Default(op);
  return HostComparison{turned, name, number.getInt()};
}

void tk::keepFacts(KernelOp kernel, ArrayRef<Attribute> facts) {
  if (facts.empty())
    return;
  llvm::SetVector<Attribute> kept(facts.begin(), facts.end());
  if (auto before = kernel->getAttrOfType<ArrayAttr>("tkg.kept_facts"))
    kept.insert(before.begin(), before.end());
  kernel->setAttr("tkg.kept_facts", ArrayAttr::get(kernel.getContext(), kept.getArrayRef()));
}

/// What the loader checks before any variant runs, `@require`, is true without a fact.
ScalarAnalysis::ScalarAnalysis(KernelOp kernel) : kernel(kernel) {
  kernel.walk([&](AssumeOp assume) { addAssumption(assume); });
  if (auto checked = kernel.getContract().getFields().getAs<ArrayAttr>("require"))
    for (auto entry : checked.getAsRange<DictionaryAttr>())
      addFact(entry.get("expr"), /*isChecked=*/true);
  if (auto facts = kernel->getAttrOfType<ArrayAttr>("facts"))
    for (Attribute fact : facts)
      addFact(fact, /*isChecked=*/false);
}

/// Remembers multiples and bounds of names; a condition of any other form is passed over.
void ScalarAnalysis::addFact(Attribute fact, bool isChecked) {
  auto term = dyn_cast<ArrayAttr>(fact);
  if (term && isChecked && cast<StringAttr>(term[0]).getValue() == "and") {
    for (Attribute part : term.getValue().drop_front())
      addFact(part, isChecked);
    return;
  }
  std::optional<HostComparison> compare = comparisonOf(fact);
  if (!compare)
    return;
  Attribute remembered = isChecked ? Attribute() : fact;
  StringRef name = compare->name.getValue();
  if (compare->op == "divides") {
    if (compare->number <= 0)
      return;
    auto [known, isNew] = divisors.try_emplace(name, Divisor{compare->number, remembered});
    if (!isNew && powerOf(compare->number) > powerOf(known->second.power))
      known->second = {compare->number, remembered};
    return;
  }
  auto predicate = llvm::StringSwitch<std::optional<arith::CmpIPredicate>>(compare->op)
                       .Case("le", arith::CmpIPredicate::sle)
                       .Case("lt", arith::CmpIPredicate::slt)
                       .Case("ge", arith::CmpIPredicate::sge)
                       .Case("gt", arith::CmpIPredicate::sgt)
                       .Case("eq", arith::CmpIPredicate::eq)
                       .Default(std::nullopt);
  if (!predicate)
    return;
  Bound &bound = named[name];
  Interval more = intervalOf(*predicate, compare->number);
  bound.interval = {std::max(bound.interval.lo, more.lo), std::min(bound.interval.hi, more.hi)};
  if (remembered)
    bound.facts.push_back(remembered);
}

//===----------------------------------------------------------------------===//
// Promises of the author
//===----------------------------------------------------------------------===//

static std::optional<int64_t> constantOf(Value value) {
  IntegerAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValue().getSExtValue();
}

/// A condition that is a conjunction of comparisons with numbers, and of `x % power == 0`. It holds
/// of a value always where whoever makes the value comes to the promise.
void ScalarAnalysis::addAssumption(AssumeOp assume) {
  SmallVector<Value> conditions{assume.getCondition()};
  while (!conditions.empty()) {
    Operation *op = conditions.pop_back_val().getDefiningOp();
    if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
      conditions.append({both.getLhs(), both.getRhs()});
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    std::optional<int64_t> number = compare ? constantOf(compare.getRhs()) : std::nullopt;
    if (!number)
      continue;
    Value value = compare.getLhs();
    auto rem = value.getDefiningOp<RemOp>();
    std::optional<int64_t> power = rem ? constantOf(rem.getRhs()) : std::nullopt;
    bool divides = power && *power > 0 && *number == 0 && compare.getPredicate() == arith::CmpIPredicate::eq;
    value = divides ? rem.getLhs() : value;
    if (value.getParentBlock() != assume->getBlock())
      continue;
    if (divides) {
      promisedPowers[value] = std::max(promisedPowers.lookup(value), *power & -*power);
      continue;
    }
    Interval &known = promisedRanges[value], more = intervalOf(compare.getPredicate(), *number);
    known = {std::max(known.lo, more.lo), std::min(known.hi, more.hi)};
  }
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

static Interval fullRange(Type tileOrScalar) {
  Type type = elementTypeOf(tileOrScalar);
  if (type.isInteger(64) || !type.isInteger())
    return {};
  unsigned width = type.getIntOrFloatBitWidth();
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

/// The interval of `values` of exact results, or everything when one does not fit `type`.
static Interval hull(ArrayRef<__int128> values, Type type) {
  __int128 lo = *std::min_element(values.begin(), values.end());
  __int128 hi = *std::max_element(values.begin(), values.end());
  Interval full = fullRange(type);
  if (lo < full.lo || hi > full.hi)
    return full;
  return {int64_t(lo), int64_t(hi)};
}

Interval ScalarAnalysis::range(Value value) {
  auto known = ranges.find(value);
  if (known != ranges.end())
    return known->second;
  ranges[value] = fullRange(value.getType()); // what a cycle sees
  Interval result = computeRange(value);
  if (auto promised = promisedRanges.find(value); promised != promisedRanges.end())
    result = {std::max(result.lo, promised->second.lo), std::min(result.hi, promised->second.hi)};
  ranges[value] = result;
  return result;
}

Interval ScalarAnalysis::bounds(Attribute expression) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(expression))
    return {number.getInt(), number.getInt()};
  auto name = dyn_cast_or_null<StringAttr>(expression);
  auto known = name ? named.find(name.getValue()) : named.end();
  if (known == named.end())
    return {};
  used.insert(known->second.facts.begin(), known->second.facts.end());
  return known->second.interval;
}

/// Of a while loop's argument that begins at 0, grows by 1 on each trip and must be below a number
/// for another trip to be made: that number. So the front end writes a counted loop that may be
/// left early.
static std::optional<Value> whileCount(scf::WhileOp loop, BlockArgument counter) {
  scf::ConditionOp condition = loop.getConditionOp();
  auto tested = dyn_cast<BlockArgument>(condition.getArgs()[counter.getArgNumber()]);
  if (counter.getOwner() != loop.getAfterBody() || !tested ||
      tested.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  unsigned place = tested.getArgNumber();
  auto next = loop.getYieldOp().getOperand(place).getDefiningOp<arith::AddIOp>();
  bool counts = matchPattern(loop.getInits()[place], m_Zero()) && next &&
                next.getLhs() == counter && matchPattern(next.getRhs(), m_One());
  SmallVector<Value> tests{condition.getCondition()};
  while (counts && !tests.empty()) {
    Operation *test = tests.pop_back_val().getDefiningOp();
    if (auto both = dyn_cast_or_null<arith::AndIOp>(test))
      tests.append({both.getLhs(), both.getRhs()});
    auto below = dyn_cast_or_null<arith::CmpIOp>(test);
    if (below && below.getPredicate() == arith::CmpIPredicate::slt && below.getLhs() == tested)
      return below.getRhs();
  }
  return std::nullopt;
}

/// The number of trips of the loop whose variable counts them from 0.
static std::optional<Value> tripCountOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  auto loop = dyn_cast_or_null<scf::ForOp>(parent);
  if (loop && argument == loop.getInductionVar())
    return loop.getUpperBound();
  if (auto whileLoop = dyn_cast_or_null<scf::WhileOp>(parent); whileLoop && value.getType().isInteger(64))
    return whileCount(whileLoop, argument);
  return std::nullopt;
}

Interval ScalarAnalysis::computeRange(Value value) {
  if (std::optional<Value> trips = tripCountOf(value))
    return {0, std::max<int64_t>(0, std::min(range(*trips).hi - 1, kLargestIndex))};
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? rangeOfArgument(argument) : rangeOfOperation(value);
}

/// The host computes with i64; the code reads the bits of an unsigned type as a signed number.
Interval ScalarAnalysis::rangeOfArgument(BlockArgument argument) {
  Interval full = fullRange(argument.getType());
  if (argument.getOwner()->getParentOp() != kernel || !isa<IntegerType>(argument.getType()))
    return full;
  DictionaryAttr entry = kernel.getArgContract(argument.getArgNumber());
  Interval known = bounds(entry.get("name"));
  bool isUnsigned = entry.getAs<StringAttr>("dtype").getValue().starts_with("u");
  if (isUnsigned && known.hi > full.hi)
    return full;
  return {std::max(known.lo, isUnsigned ? 0 : full.lo), std::min(known.hi, full.hi)};
}

Interval ScalarAnalysis::rangeOfOperation(Value value) {
  Type type = value.getType();
  Operation *op = value.getDefiningOp();
  if (!op || !elementTypeOf(type).isInteger())
    return fullRange(type);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {constant.getSExtValue(), constant.getSExtValue()};
  if (isa<SplatOp, ExpandDimsOp, BroadcastOp, arith::ExtSIOp>(op))
    return range(op->getOperand(0));
  if (auto arange = dyn_cast<ArangeOp>(op))
    return {int64_t(arange.getStart()), int64_t(arange.getStart()) + tileSides(type)[0] - 1};
  auto binary = [&](auto combine) {
    Interval a = range(op->getOperand(0)), b = range(op->getOperand(1));
    return hull({combine(a.lo, b.lo), combine(a.lo, b.hi), combine(a.hi, b.lo), combine(a.hi, b.hi)},
                type);
  };
  return TypeSwitch<Operation *, Interval>(op)
      .Case<ProgramIdOp>([](auto) { return Interval{0, kLargestIndex}; })
      .Case<NumProgramsOp>([](auto) { return Interval{1, kLargestIndex}; })
      .Case([&](ExtentOp extent) {
        Interval known = bounds(extentExpression(kernel, extent.getView(), extent.getAxis()));
        return Interval{std::max<int64_t>(known.lo, 0), std::min(known.hi, kLargestIndex)};
      })
      .Case([&](StrideOp stride) {
        Interval known = bounds(strideExpression(kernel, stride.getView(), stride.getAxis()));
        return Interval{std::max(known.lo, -kLargestIndex), std::min(known.hi, kLargestIndex)};
      })
      .Case<arith::AddIOp>([&](auto) { return binary([](__int128 a, __int128 b) { return a + b; }); })
      .Case<arith::SubIOp>([&](auto) { return binary([](__int128 a, __int128 b) { return a - b; }); })
      .Case<arith::MulIOp>([&](auto) { return binary([](__int128 a, __int128 b) { return a * b; }); })
      .Case<MinOp, MaxOp>([&](auto pick) {
        bool least = isa<MinOp>(op);
        auto chosen = [least](__int128 a, __int128 b) { return least ? std::min(a, b) : std::max(a, b); };
        return pick.getIsUnsigned() ? fullRange(type) : binary(chosen);
      })
      .Case([&](DivOp div) {
        Interval b = range(div.getRhs());
        if (div.getIsUnsigned() || b.lo < 1)
          return fullRange(type);
        return binary([](__int128 a, __int128 b) { return a / b; });
      })
      .Case([&](RemOp rem) {
        Interval a = range(rem.getLhs()), b = range(rem.getRhs());
        if (rem.getIsUnsigned() || b.lo < 1 || a.lo < 0)
          return fullRange(type);
        return Interval{0, std::min(a.hi, b.hi - 1)};
      })
      .Case([&](arith::SelectOp select) {
        Interval a = range(select.getTrueValue()), b = range(select.getFalseValue());
        return Interval{std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
      })
      .Case([&](HintOp hint) { return range(hint.getValue()); })
      .Case([&](arith::TruncIOp trunc) {
        Interval in = range(trunc.getIn()), full = fullRange(type);
        return in.within(full.lo, full.hi) ? in : full;
      })
      .Default([&](Operation *) { return fullRange(type); });
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

int64_t ScalarAnalysis::divisorOfName(StringRef name) {
  auto it = divisors.find(name);
  if (it == divisors.end())
    return 1;
  if (it->second.fact)
    used.insert(it->second.fact);
  return powerOf(it->second.power);
}

int64_t ScalarAnalysis::divisorOfExpression(Attribute expression) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(expression))
    return powerOf(number.getInt());
  if (auto name = dyn_cast_or_null<StringAttr>(expression))
    return divisorOfName(name.getValue());
  return 1;
}

int64_t ScalarAnalysis::divisor(Value value) {
  auto known = powers.find(value);
  if (known != powers.end())
    return known->second;
  powers[value] = 1; // what a cycle sees
  int64_t result = std::max(computeDivisor(value), promisedPowers.lookup(value));
  powers[value] = result;
  return result;
}

int64_t ScalarAnalysis::computeDivisor(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != kernel)
      return 1;
    unsigned index = argument.getArgNumber();
    if (isa<PtrType>(value.getType()))
      return divisorOfName(pointerName(kernel, index));
    return divisorOfName(argumentName(kernel, index));
  }
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return powerOf(constant.getValue().getSExtValue());
  Operation *op = value.getDefiningOp();
  auto smaller = [&](Value a, Value b) {
    int64_t first = divisor(a);
    return first == 1 ? first : std::min(first, divisor(b));
  };
  return TypeSwitch<Operation *, int64_t>(op)
      .Case([&](ExtentOp extent) {
        return divisorOfExpression(extentExpression(kernel, extent.getView(), extent.getAxis()));
      })
      .Case([&](StrideOp stride) {
        return divisorOfExpression(strideExpression(kernel, stride.getView(), stride.getAxis()));
      })
      .Case([&](BaseOp base) {
        auto argument = dyn_cast<BlockArgument>(base.getView());
        return argument ? divisorOfName(pointerName(kernel, argument.getArgNumber())) : 1;
      })
      .Case([&](PtrAddOp add) {
        int64_t bytes = elementBits(cast<PtrType>(value.getType()).getPointee()) / 8;
        int64_t offset = std::min(divisor(add.getOffset()) * bytes, kMaxPower);
        return offset == 1 ? 1 : std::min(powerOf(offset), divisor(add.getPointer()));
      })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto add) { return smaller(add.getLhs(), add.getRhs()); })
      .Case<MinOp, MaxOp>([&](auto pick) { return smaller(pick.getLhs(), pick.getRhs()); })
      .Case([&](arith::MulIOp mul) {
        return std::min(divisor(mul.getLhs()) * divisor(mul.getRhs()), kMaxPower);
      })
      .Case([&](arith::SelectOp select) {
        return smaller(select.getTrueValue(), select.getFalseValue());
      })
      .Case([&](ShrOp shr) {
        APInt amount;
        bool known = matchPattern(shr.getRhs(), m_ConstantInt(&amount)) && amount.ult(30);
        return known ? std::max<int64_t>(divisor(shr.getLhs()) >> amount.getZExtValue(), 1) : 1;
      })
      .Case([&](RemOp rem) { return smaller(rem.getLhs(), rem.getRhs()); })
      .Case([&](HintOp hint) {
        int64_t promised = hint.getMultipleOf().empty() ? 1 : powerOf(hint.getMultipleOf()[0]);
        return std::max(promised, divisor(hint.getValue()));
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto cast) { return divisor(cast.getIn()); })
      .Default([](Operation *) { return int64_t(1); });
}

bool ScalarAnalysis::isBelowByGrid(Value value, Attribute bound) {
  auto id = value.getDefiningOp<ProgramIdOp>();
  if (!id || !bound)
    return false;
  return kernel.getContract().getFields().getAs<ArrayAttr>("grid")[id.getAxis()] == bound;
}
