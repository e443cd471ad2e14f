//===- PlaceBounds.cpp - which elements of a place exist ---------------------===//
//
// An axis is masked unless it is in bounds by the grid, by ranges or by constants. Masks are one
// 32-bit comparison a lane: what is uniform is clamped to the lanes' range before.
//
//===----------------------------------------------------------------------===//

#include "passes/PlaceLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tk;

/// Starts within this cannot make the difference to an extent wrap.
static constexpr int64_t kSafeStart = int64_t(1) << 60;

Value PlaceLowering::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

/// The condition that all scalar indices are in bounds; null when they are.
Value PlaceLowering::scalarCondition(const Place &place) {
  Value all = views.exists(place.view);
  for (auto [axis, width] : llvm::enumerate(place.widths)) {
    if (width != 0)
      continue;
    Value index = place.indices[axis];
    Interval range = scalars.range(index);
    std::optional<int64_t> number = views.knownExtent(place.view, axis);
    if (!range.isNonNegative())
      all = both(all, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, index,
                                            constant(0, builder.getI64Type())));
    if ((number && range.hi < *number) ||
        scalars.isBelowByGrid(index, views.extentName(place.view, axis)))
      continue;
    all = both(all, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index,
                                          views.extent(builder, loc, place.view, axis)));
  }
  return all;
}

/// Into 0 to `most`.
Value PlaceLowering::clampInto(Value value, int64_t most) {
  value = MaxOp::create(builder, loc, value, constant(0, value.getType()), false, NumAttr());
  return MinOp::create(builder, loc, value, constant(most, value.getType()), false, NumAttr());
}

/// The mask of one sliced axis: 0 <= start + lane < extent. Null when it always holds. Consumes
/// `condition`, the uniform one, when it can be folded into the bound.
Value PlaceLowering::axisMask(const Place &place, int64_t axis, Value &condition) {
  Value start = place.indices[axis];
  int64_t width = place.widths[axis];
  Interval range = scalars.range(start);
  std::optional<int64_t> number = views.knownExtent(place.view, axis);
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    Value lanes = laneCoordinate(place, axis, i32);
    Value narrow = arith::TruncIOp::create(builder, loc, i32, bound);
    return arith::CmpIOp::create(builder, loc, predicate, lanes,
                                 SplatOp::create(builder, loc, lanes.getType(), narrow));
  };
  auto least = [&](Value value, int64_t bound) {
    return MinOp::create(builder, loc, value, constant(bound, i64), false, NumAttr());
  };
  Value mask;
  bool below = number && range.hi <= *number - width;
  if (!below) {
    // What has no bounds is clamped first, so that the subtraction cannot wrap.
    Value safe = start;
    if (!range.within(-kSafeStart, kSafeStart))
      safe = MaxOp::create(builder, loc, least(start, kSafeStart), constant(-kSafeStart, i64),
                           false, NumAttr());
    Value extent = views.extent(builder, loc, place.view, axis);
    if (scalars.range(extent).hi > kSafeStart)
      extent = least(extent, kSafeStart);
    Value bound = clampInto(arith::SubIOp::create(builder, loc, extent, safe), width);
    if (condition)
      bound = arith::SelectOp::create(builder, loc, condition, bound, constant(0, i64));
    condition = Value();
    mask = compare(arith::CmpIPredicate::slt, bound);
  }
  if (!range.isNonNegative()) {
    Value first = MaxOp::create(builder, loc, start, constant(-width, i64), false, NumAttr());
    Value bound = clampInto(arith::SubIOp::create(builder, loc, constant(0, i64), first), width);
    mask = both(mask, compare(arith::CmpIPredicate::sge, bound));
  }
  return mask ? spread(mask, place, place.dims[axis]) : Value();
}

/// Whether an index is made of a range by adding, multiplying and broadcasting.
static bool runsAlong(Value index, int depth = 0) {
  constexpr int kMaxDepth = 8;
  Operation *op = index.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return false;
  if (isa<ArangeOp>(op))
    return true;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp, ExpandDimsOp, BroadcastOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return runsAlong(operand, depth + 1); });
}

/// The mask of an axis that gathers: the index of each element lies within the extent. One unsigned
/// comparison; indices that run along a range are compared with sign, which SplitAddresses narrows.
Value PlaceLowering::gatherMask(const Place &place, int64_t axis) {
  Value index = place.indices[axis];
  auto type = cast<RankedTensorType>(index.getType());
  Interval range = scalars.range(index);
  std::optional<int64_t> number = views.knownExtent(place.view, axis);
  if (range.isNonNegative() && number && range.hi < *number)
    return {};
  Value extent = views.extent(builder, loc, place.view, axis), mask;
  if (type.getElementType().isInteger(32) && !runsAlong(index)) {
    Value bound = MinOp::create(builder, loc, extent,
                                constant(int64_t(1) << 31, builder.getI64Type()), false, NumAttr());
    bound = arith::TruncIOp::create(builder, loc, builder.getI32Type(), bound);
    mask = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index,
                                 SplatOp::create(builder, loc, type, bound));
    return spread(mask, place, place.dims[axis]);
  }
  Type wide = withElementType(type, builder.getI64Type());
  if (wide != type)
    index = arith::ExtSIOp::create(builder, loc, wide, index);
  mask = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index,
                               SplatOp::create(builder, loc, wide, extent));
  if (!range.isNonNegative()) {
    Value zero = SplatOp::create(builder, loc, wide, constant(0, builder.getI64Type()));
    mask = both(mask, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, index, zero));
  }
  return spread(mask, place, place.dims[axis]);
}

/// All that must hold for an element to be in bounds; a scalar for a scalar place. Null when all
/// elements are.
Value PlaceLowering::boundsMask(const Place &place) {
  Value condition = scalarCondition(place);
  if (place.shape.empty())
    return condition;
  Value all;
  for (auto [axis, width] : llvm::enumerate(place.widths))
    if (width != 0)
      all = both(all, width > 0 ? axisMask(place, axis, condition) : gatherMask(place, axis));
  if (!condition)
    return all;
  auto type = RankedTensorType::get(place.shape, builder.getI1Type());
  return both(all, SplatOp::create(builder, loc, type, condition));
}
