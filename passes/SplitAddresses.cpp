//===- SplitAddresses.cpp - uniform 64-bit and lane 32-bit parts of indices ----===//
//
// Requires: phase Resident.
// Ensures:  an access through pointers that are one base plus offsets is a tkg.load or tkg.store; a
//           64-bit comparison of index tiles that split is a 32-bit one.
// Fails:    never; a remark TK4101 names an access whose offsets stay 64-bit a lane.
//
//   %i = addi (splat %s : i64), (extsi (arange 0 : tensor<1024xi32>))
//   %m = cmpi slt, %i, (splat %n : i64)
// becomes
//   %b = trunci (min (max (subi %n, %s), 0), 1024) : i32
//   %m = cmpi slt, (arange 0), (splat %b)
//
// A tile "splits" into u + t: u a uniform i64, t an i32 tile of known interval [lo, hi]. Then
// u + t < v is t < v - u, and clamping v - u to [lo, hi + 1] changes no outcome.
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tk {
#define GEN_PASS_DEF_SPLITADDRESSES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Lane parts stay below this in magnitude, so that sums of two fit i32.
static constexpr int64_t kLaneLimit = int64_t(1) << 30;
/// Uniform parts stay below this, so that differences of two fit i64.
static constexpr int64_t kUniformLimit = int64_t(1) << 60;

namespace {
/// uniform + lane; either may be null for zero.
struct Split {
  Value uniform, lane;
  Interval range{0, 0}; // of the lane part
};

struct PointerSplit {
  Value base;         // scalar pointer
  Value uniform;      // elements, i64, or null
  Value lane;         // i32 tile or null
  Value wide;         // i64 tile that did not split, or null
  Interval range{0, 0};
};

class AddressSplitting {
public:
  explicit AddressSplitting(KernelOp kernel) : kernel(kernel), scalars(kernel) {}
  void run();

private:
  std::optional<Split> split(Value tile);
  std::optional<Split> splitProduct(arith::MulIOp mul);
  std::optional<Split> combine(const Split &a, const Split &b, bool subtract);
  std::optional<PointerSplit> splitPointer(Value pointers);
  Interval tileRange(Value tile);
  Value addUniform(Value a, Value b);
  Value clampInto(Value value, int64_t lo, int64_t hi);
  Value constant(int64_t number, Type type);
  std::pair<Value, Value> baseAndOffset(const PointerSplit &split, ArrayRef<int64_t> shape);
  void narrowComparison(arith::CmpIOp compare);
  void splitLoad(LoadOp load);
  void splitStore(StoreOp store);
  bool isReadonly(Value base);

  KernelOp kernel;
  ScalarAnalysis scalars;
  OpBuilder builder{kernel.getContext()};
  Location loc = kernel.getLoc();
};
} // namespace

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

Value AddressSplitting::constant(int64_t number, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, number));
}

Value AddressSplitting::addUniform(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value AddressSplitting::clampInto(Value value, int64_t lo, int64_t hi) {
  Type type = value.getType();
  value = MaxOp::create(builder, loc, value, constant(lo, type), false, NumAttr());
  return MinOp::create(builder, loc, value, constant(hi, type), false, NumAttr());
}

/// The interval of an i32 tile's elements.
Interval AddressSplitting::tileRange(Value tile) {
  const Interval full{INT32_MIN, INT32_MAX};
  Operation *op = tile.getDefiningOp();
  if (!op)
    return full;
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    int64_t value = constant.getSplatValue<APInt>().getSExtValue();
    return {value, value};
  }
  auto fit = [&](__int128 lo, __int128 hi) {
    return lo < INT32_MIN || hi > INT32_MAX ? full : Interval{int64_t(lo), int64_t(hi)};
  };
  return TypeSwitch<Operation *, Interval>(op)
      .Case([&](ArangeOp arange) {
        int64_t start = arange.getStart();
        return Interval{start, start + shapeOf(tile)[0] - 1};
      })
      .Case([&](SplatOp splat) { return scalars.range(splat.getValue()); })
      .Case<ExpandDimsOp, BroadcastOp>([&](auto op) { return tileRange(op.getValue()); })
      .Case([&](arith::AddIOp add) {
        Interval a = tileRange(add.getLhs()), b = tileRange(add.getRhs());
        return fit(a.lo + b.lo, a.hi + b.hi);
      })
      .Case([&](arith::MulIOp mul) {
        Interval a = tileRange(mul.getLhs()), b = tileRange(mul.getRhs());
        __int128 products[] = {__int128(a.lo) * b.lo, __int128(a.lo) * b.hi, __int128(a.hi) * b.lo,
                               __int128(a.hi) * b.hi};
        return fit(*std::min_element(products, products + 4),
                   *std::max_element(products, products + 4));
      })
      .Default([&](Operation *) { return full; });
}

std::optional<Split> AddressSplitting::combine(const Split &a, const Split &b, bool subtract) {
  Split result;
  __int128 lo = subtract ? a.range.lo - b.range.hi : a.range.lo + b.range.lo;
  __int128 hi = subtract ? a.range.hi - b.range.lo : a.range.hi + b.range.hi;
  if (lo < -kLaneLimit || hi > kLaneLimit)
    return std::nullopt;
  result.range = {int64_t(lo), int64_t(hi)};
  auto join = [&](Value x, Value y) -> Value {
    if (!y)
      return x;
    if (subtract) {
      if (!x)
        x = isa<RankedTensorType>(y.getType())
                ? SplatOp::create(builder, loc, y.getType(), constant(0, builder.getI32Type())).getResult()
                : constant(0, y.getType());
      return arith::SubIOp::create(builder, loc, x, y);
    }
    return x ? arith::AddIOp::create(builder, loc, x, y).getResult() : y;
  };
  result.uniform = join(a.uniform, b.uniform);
  result.lane = join(a.lane, b.lane);
  return result;
}

std::optional<Split> AddressSplitting::splitProduct(arith::MulIOp mul) {
  std::optional<Split> a = split(mul.getLhs()), b = split(mul.getRhs());
  if (!a || !b)
    return std::nullopt;
  if (a->lane)
    std::swap(a, b);
  if (a->lane)
    return std::nullopt; // both run along the tile
  if (!a->uniform)
    return Split{};
  Split result;
  if (b->uniform)
    result.uniform = arith::MulIOp::create(builder, loc, a->uniform, b->uniform);
  if (!b->lane)
    return result;
  Interval factor = scalars.range(a->uniform);
  __int128 products[] = {__int128(factor.lo) * b->range.lo, __int128(factor.lo) * b->range.hi,
                         __int128(factor.hi) * b->range.lo, __int128(factor.hi) * b->range.hi};
  __int128 lo = *std::min_element(products, products + 4);
  __int128 hi = *std::max_element(products, products + 4);
  if (lo < -kLaneLimit || hi > kLaneLimit)
    return std::nullopt;
  Value narrow = arith::TruncIOp::create(builder, loc, builder.getI32Type(), a->uniform);
  result.lane = arith::MulIOp::create(builder, loc, b->lane,
                                      SplatOp::create(builder, loc, b->lane.getType(), narrow));
  result.range = {int64_t(lo), int64_t(hi)};
  return result;
}

std::optional<Split> AddressSplitting::split(Value tile) {
  if (elementTypeOf(tile.getType()).isInteger(32)) {
    Interval range = tileRange(tile);
    return range.within(-kLaneLimit, kLaneLimit) ? std::optional(Split{{}, tile, range})
                                                 : std::nullopt;
  }
  DenseElementsAttr number;
  if (matchPattern(tile, m_Constant(&number)) && number.isSplat())
    return Split{constant(number.getSplatValue<APInt>().getSExtValue(), builder.getI64Type()), {}, {0, 0}};
  Operation *op = tile.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto reshaped = [&](Value in, auto remake) -> std::optional<Split> {
    std::optional<Split> result = split(in);
    if (result && result->lane)
      result->lane = remake(withElementType(tile.getType(), builder.getI32Type()), result->lane);
    return result;
  };
  return TypeSwitch<Operation *, std::optional<Split>>(op)
      .Case([&](SplatOp splat) { return Split{splat.getValue(), {}, {0, 0}}; })
      .Case([&](arith::ExtSIOp ext) -> std::optional<Split> {
        return elementTypeOf(ext.getIn().getType()).isInteger(32) ? split(ext.getIn())
                                                                  : std::nullopt;
      })
      .Case<arith::AddIOp, arith::SubIOp>([&](auto add) -> std::optional<Split> {
        std::optional<Split> a = split(add.getLhs()), b = split(add.getRhs());
        return a && b ? combine(*a, *b, isa<arith::SubIOp>(add.getOperation())) : std::nullopt;
      })
      .Case([&](arith::MulIOp mul) { return splitProduct(mul); })
      .Case([&](ExpandDimsOp expand) {
        return reshaped(expand.getValue(), [&](Type type, Value lane) -> Value {
          return ExpandDimsOp::create(builder, loc, type, lane, expand.getAxis());
        });
      })
      .Case([&](BroadcastOp broadcast) {
        return reshaped(broadcast.getValue(), [&](Type type, Value lane) -> Value {
          return BroadcastOp::create(builder, loc, type, lane);
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<PointerSplit> AddressSplitting::splitPointer(Value pointers) {
  Operation *op = pointers.getDefiningOp();
  if (auto splat = dyn_cast_or_null<SplatOp>(op))
    return PointerSplit{splat.getValue(), {}, {}, {}, {0, 0}};
  auto add = dyn_cast_or_null<PtrAddOp>(op);
  std::optional<PointerSplit> result = add ? splitPointer(add.getPointer()) : std::nullopt;
  if (!result || result->wide)
    return std::nullopt;
  std::optional<Split> offset = split(add.getOffset());
  std::optional<Split> sum =
      offset ? combine({result->uniform, result->lane, result->range}, *offset, false) : std::nullopt;
  if (sum)
    return PointerSplit{result->base, sum->uniform, sum->lane, {}, sum->range};
  if (result->lane)
    return std::nullopt;
  Value wide = add.getOffset();
  if (!elementTypeOf(wide.getType()).isInteger(64))
    wide = arith::ExtSIOp::create(builder, loc, withElementType(wide.getType(), builder.getI64Type()), wide);
  emit<diag::WideLaneOffsets>(add.getLoc());
  return PointerSplit{result->base, result->uniform, {}, wide, {0, 0}};
}

std::pair<Value, Value> AddressSplitting::baseAndOffset(const PointerSplit &split,
                                                        ArrayRef<int64_t> shape) {
  Value base = split.base;
  if (split.uniform)
    base = PtrAddOp::create(builder, loc, base.getType(), base, split.uniform);
  Value offset = split.wide ? split.wide : split.lane;
  if (!offset) {
    auto type = RankedTensorType::get(shape, builder.getI32Type());
    offset = arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(type, APInt(32, 0)));
  }
  return {base, offset};
}

/// Memory that an `in` pointer parameter leads to is written by nobody.
bool AddressSplitting::isReadonly(Value base) {
  while (auto add = base.getDefiningOp<PtrAddOp>())
    base = add.getPointer();
  auto argument = dyn_cast<BlockArgument>(base);
  return argument && argument.getOwner()->getParentOp() == kernel &&
         isNeverWritten(kernel, argument.getArgNumber());
}

void AddressSplitting::splitLoad(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  std::optional<PointerSplit> split = type ? splitPointer(load.getPointer()) : std::nullopt;
  if (!split)
    return;
  auto [base, offset] = baseAndOffset(*split, type.getShape());
  auto result = tkg::LoadOp::create(builder, loc, type, base, offset, load.getMask(), load.getFill(),
                                    isReadonly(base), 1);
  load.replaceAllUsesWith(result.getResult());
  load.erase();
}

void AddressSplitting::splitStore(StoreOp store) {
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  std::optional<PointerSplit> split = type ? splitPointer(store.getPointer()) : std::nullopt;
  if (!split)
    return;
  auto [base, offset] = baseAndOffset(*split, type.getShape());
  tkg::StoreOp::create(builder, loc, store.getValue(), base, offset, store.getMask(), 1);
  store.erase();
}

/// The values to which the bound of `lane PREDICATE bound` may be clamped.
static Interval boundsFor(arith::CmpIPredicate predicate, Interval lane) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sge:
    return {lane.lo, lane.hi + 1};
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sgt:
    return {lane.lo - 1, lane.hi};
  default: // eq, ne
    return {lane.lo - 1, lane.hi + 1};
  }
}

void AddressSplitting::narrowComparison(arith::CmpIOp compare) {
  auto type = dyn_cast<RankedTensorType>(compare.getLhs().getType());
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!type || !type.getElementType().isInteger(64) || predicate > arith::CmpIPredicate::sge)
    return; // unsigned comparisons do not shift
  std::optional<Split> a = split(compare.getLhs()), b = split(compare.getRhs());
  if (!a || !b || (!a->lane && !b->lane))
    return;
  if (!a->lane) { // v < u + t is u + t > v
    std::swap(a, b);
    switch (predicate) {
    case arith::CmpIPredicate::slt: predicate = arith::CmpIPredicate::sgt; break;
    case arith::CmpIPredicate::sle: predicate = arith::CmpIPredicate::sge; break;
    case arith::CmpIPredicate::sgt: predicate = arith::CmpIPredicate::slt; break;
    case arith::CmpIPredicate::sge: predicate = arith::CmpIPredicate::sle; break;
    default: break;
    }
  }
  auto mayWrap = [&](const Split &side) {
    return side.lane && side.uniform &&
           !scalars.range(side.uniform).within(-kUniformLimit, kUniformLimit);
  };
  if (mayWrap(*a) || mayWrap(*b))
    return;
  std::optional<Split> lanes = combine({{}, a->lane, a->range}, {{}, b->lane, b->range}, true);
  if (!lanes)
    return;
  Value bound = b->uniform ? b->uniform : constant(0, builder.getI64Type());
  if (!scalars.range(bound).within(-kUniformLimit, kUniformLimit))
    bound = clampInto(bound, -2 * kUniformLimit, 2 * kUniformLimit);
  if (a->uniform)
    bound = arith::SubIOp::create(builder, loc, bound, a->uniform);
  Interval limits = boundsFor(predicate, lanes->range);
  bound = clampInto(bound, limits.lo, limits.hi);
  bound = arith::TruncIOp::create(builder, loc, builder.getI32Type(), bound);
  Value result = arith::CmpIOp::create(
      builder, loc, predicate, lanes->lane,
      SplatOp::create(builder, loc, lanes->lane.getType(), bound));
  compare.replaceAllUsesWith(result);
  compare.erase();
}

void AddressSplitting::run() {
  kernel.walk([&](Operation *op) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    TypeSwitch<Operation *>(op)
        .Case([&](LoadOp load) { splitLoad(load); })
        .Case([&](StoreOp store) { splitStore(store); })
        .Case([&](arith::CmpIOp compare) { narrowComparison(compare); });
  });
}

namespace {
struct SplitAddresses : tk::impl::SplitAddressesBase<SplitAddresses> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      AddressSplitting(kernel).run();
  }
};
} // namespace
