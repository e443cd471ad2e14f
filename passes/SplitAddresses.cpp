//===- SplitAddresses.cpp - uniform 64-bit and lane 32-bit parts of indices ----===//
//
// Requires: phase Resident.
// Ensures:  an access through pointers that are one base plus offsets is a tkg.load, tkg.store or, of relaxed
//           order and without a result, tkg.atomic_rmw; a 64-bit comparison of index tiles that split is a 32-bit one.
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
  std::optional<Split> splitHint(HintOp hint);
  std::optional<Split> combine(const Split &a, const Split &b, bool subtract);
  std::optional<PointerSplit> splitPointer(Value pointers);
  Value addUniform(Value a, Value b);
  Value clampInto(Value value, int64_t lo, int64_t hi);
  Value constant(int64_t number, Type type);
  std::pair<Value, Value> baseAndOffset(const PointerSplit &split, ArrayRef<int64_t> shape);
  void narrowComparison(arith::CmpIOp compare);
  void splitLoad(LoadOp load);
  void splitStore(StoreOp store);
  void splitAtomic(AtomicRmwOp atomic);
  bool isReadonly(Value base);

  KernelOp kernel;
  ScalarAnalysis scalars;
  SmallVector<Operation *> done; // erased at the end: analyses remember their results
  OpBuilder builder{kernel.getContext()};
  Location loc = kernel.getLoc();
};
} // namespace


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

/// The first element is the uniform part where the lane part begins at 0: what is promised of its
/// divisor is then promised of that scalar.
std::optional<Split> AddressSplitting::splitHint(HintOp hint) {
  std::optional<Split> result = split(hint.getValue());
  if (!result || !result->uniform)
    return result;
  Value lane = result->lane;
  while (lane && isa_and_nonnull<ExpandDimsOp, BroadcastOp>(lane.getDefiningOp()))
    lane = lane.getDefiningOp()->getOperand(0);
  auto arange = lane ? lane.getDefiningOp<ArangeOp>() : ArangeOp();
  if (lane && (!arange || arange.getStart() != 0))
    return result;
  int64_t multiple = *llvm::max_element(hint.getMultipleOf());
  result->uniform = HintOp::create(builder, loc, result->uniform.getType(), result->uniform,
                                   ArrayRef<int64_t>{multiple}, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
  return result;
}

std::optional<Split> AddressSplitting::split(Value tile) {
  if (elementTypeOf(tile.getType()).isInteger(32)) {
    Interval range = scalars.range(tile);
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
      .Case([&](HintOp hint) { return splitHint(hint); })
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
  if (auto hint = dyn_cast_or_null<HintOp>(op))
    return splitPointer(hint.getValue());
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

/// Memory that an `in` parameter leads to is written by nobody.
bool AddressSplitting::isReadonly(Value base) {
  while (isa_and_nonnull<PtrAddOp, BaseOp>(base.getDefiningOp()))
    base = base.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(base);
  return argument && argument.getOwner()->getParentOp() == kernel &&
         isNeverWritten(kernel, argument.getArgNumber());
}

void AddressSplitting::splitLoad(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  bool splits = type && !load.getIsVolatile(); // a volatile load is one access an element
  std::optional<PointerSplit> split = splits ? splitPointer(load.getPointer()) : std::nullopt;
  if (!split)
    return;
  auto [base, offset] = baseAndOffset(*split, type.getShape());
  auto result = tkg::LoadOp::create(builder, loc, type, base, offset, load.getMask(), load.getFill(),
                                    isReadonly(base), load.getCacheAttr(), load.getEvictAttr(), 1);
  load.replaceAllUsesWith(result.getResult());
  done.push_back(load);
}

void AddressSplitting::splitStore(StoreOp store) {
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  std::optional<PointerSplit> split = type ? splitPointer(store.getPointer()) : std::nullopt;
  if (!split)
    return;
  auto [base, offset] = baseAndOffset(*split, type.getShape());
  tkg::StoreOp::create(builder, loc, store.getValue(), base, offset, store.getMask(),
                       store.getCacheAttr(), store.getEvictAttr(), 1);
  done.push_back(store);
}

void AddressSplitting::splitAtomic(AtomicRmwOp atomic) {
  auto type = dyn_cast<RankedTensorType>(atomic.getType());
  bool splits = type && atomic.use_empty() && atomic.getOrder() == MemOrder::relaxed;
  std::optional<PointerSplit> split = splits ? splitPointer(atomic.getPointer()) : std::nullopt;
  if (!split)
    return;
  auto [base, offset] = baseAndOffset(*split, type.getShape());
  tkg::AtomicRmwOp::create(builder, loc, atomic.getKind(), atomic.getValue(), base, offset, atomic.getMask(),
                           atomic.getIsUnsigned(), atomic.getScope(), 1);
  done.push_back(atomic);
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
  done.push_back(compare);
}

void AddressSplitting::run() {
  kernel.walk([&](Operation *op) {
    builder.setInsertionPoint(op);
    loc = op->getLoc();
    TypeSwitch<Operation *>(op)
        .Case([&](LoadOp load) { splitLoad(load); })
        .Case([&](StoreOp store) { splitStore(store); })
        .Case([&](AtomicRmwOp atomic) { splitAtomic(atomic); })
        .Case([&](arith::CmpIOp compare) { narrowComparison(compare); });
  });
  for (Operation *op : done)
    op->erase();
  keepFacts(kernel, scalars.usedFacts());
}

namespace {
struct SplitAddresses : tk::impl::SplitAddressesBase<SplitAddresses> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      AddressSplitting(kernel).run();
  }
};
} // namespace
