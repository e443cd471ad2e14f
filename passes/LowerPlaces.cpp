//===- LowerPlaces.cpp - places of tensors become addresses and masks ----------===//
//
// Requires: phase Canonical.
// Ensures:  phase Resident. No tk.read, tk.write is left. Uniform address arithmetic is i64; lane
//           offsets are i32 where side times stride is known to fit, by a constant stride or by a
//           fact that the fast variant adds; else i64. An axis is masked unless it is in bounds by
//           the grid, by ranges or by constants.
// Fails:    never.
//
//   %v = tk.read %x[%i] widths [1024] : !tk.view<f32, 1, 0> -> tensor<1024xf32>
// becomes
//   %b = tk.base %x, %p = tk.ptr_add %b, %i, %l = tk.arange 0
//   %n = min(max(extent - %i, 0), 1024) as i32, %m = %l < splat(%n)
//   %v = tkg.load %p[%l] mask %m
//
// A scalar index that may be out of bounds makes the first mask's bound zero, or, where there is
// none, a mask of its own.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk {
#define GEN_PASS_DEF_LOWERPLACES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Starts within this cannot make the difference to an extent wrap.
static constexpr int64_t kSafeStart = int64_t(1) << 60;
/// The offsets of a tile's axes stay below this in magnitude, so that the sum of `axes` fits i32.
static int64_t largestLaneOffset(size_t axes) {
  return (int64_t(1) << 31) / std::max<int64_t>(axes, 2);
}

namespace {
/// Lowers the accesses of one kernel.
class PlaceLowering {
public:
  explicit PlaceLowering(KernelOp kernel) : kernel(kernel), scalars(kernel) {}

  void run() {
    kernel.walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op))
        lowerRead(read);
      else if (auto write = dyn_cast<WriteOp>(op))
        lowerWrite(write);
    });
    if (!addedFacts.empty()) {
      SmallVector<Attribute> facts(kernel->getAttrOfType<ArrayAttr>("facts").getValue());
      for (Attribute fact : addedFacts)
        facts.push_back(fact);
      kernel->setAttr("facts", ArrayAttr::get(kernel.getContext(), facts));
    }
  }

private:
  struct Place {
    TypedValue<ViewType> view;
    ValueRange indices;
    ArrayRef<int64_t> widths;
    SmallVector<int64_t> shape;
  };
  struct Address {
    Value base, offset, mask; // offset and mask are null for a scalar without
  };

  Value constant(int64_t number, Type type);
  Value extentOf(const Place &place, int64_t axis);
  Value strideOf(const Place &place, int64_t axis);
  Value laneCoordinate(const Place &place, unsigned dim, Type element);
  Value spread(Value vector, const Place &place, unsigned dim);
  bool fitsLane(const Place &place, int64_t axis);
  Value uniformBase(const Place &place);
  Value laneOffset(const Place &place);
  Value scalarCondition(const Place &place);
  Value axisMask(const Place &place, int64_t axis, unsigned dim, Value &condition);
  Value boundsMask(const Place &place);
  Address address(Operation *op, TypedValue<ViewType> view, ValueRange indices,
                  ArrayRef<int64_t> widths, Value mask);
  void lowerRead(ReadOp read);
  void lowerWrite(WriteOp write);

  KernelOp kernel;
  ScalarAnalysis scalars;
  llvm::SetVector<Attribute> addedFacts;
  OpBuilder builder{kernel.getContext()};
  Location loc = kernel.getLoc();
};
} // namespace

Value PlaceLowering::constant(int64_t number, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, number));
}

/// The extent, read from the first view that has one of the same name, so that views of one shape
/// share their masks.
Value PlaceLowering::extentOf(const Place &place, int64_t axis) {
  Attribute wanted = extentExpression(kernel, place.view, axis);
  if (wanted == builder.getStringAttr("_")) // any extent: each axis is its own
    return ExtentOp::create(builder, loc, builder.getI64Type(), place.view, axis);
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<ViewType>(argument.getType());
    for (int64_t other = 0; type && other < type.getRank(); ++other)
      if (extentExpression(kernel, argument, other) == wanted && isa<StringAttr>(wanted))
        return ExtentOp::create(builder, loc, builder.getI64Type(), argument, other);
  }
  return ExtentOp::create(builder, loc, builder.getI64Type(), place.view, axis);
}

Value PlaceLowering::strideOf(const Place &place, int64_t axis) {
  if (auto number = dyn_cast<IntegerAttr>(strideExpression(kernel, place.view, axis)))
    return constant(number.getInt(), builder.getI64Type());
  return StrideOp::create(builder, loc, builder.getI64Type(), place.view, axis);
}

/// A tile of rank 1 along dimension `dim` of the place, as a tile of the place's shape.
Value PlaceLowering::spread(Value vector, const Place &place, unsigned dim) {
  Type element = elementTypeOf(vector.getType());
  Value tile = vector;
  SmallVector<int64_t> shape{place.shape[dim]};
  for (unsigned axis = 0; axis < place.shape.size(); ++axis) {
    if (axis == dim)
      continue;
    shape.insert(shape.begin() + axis, 1);
    tile = ExpandDimsOp::create(builder, loc, RankedTensorType::get(shape, element), tile, axis);
  }
  auto full = RankedTensorType::get(place.shape, element);
  return tile.getType() == full ? tile : BroadcastOp::create(builder, loc, full, tile);
}

Value PlaceLowering::laneCoordinate(const Place &place, unsigned dim, Type element) {
  auto type = RankedTensorType::get({place.shape[dim]}, builder.getI32Type());
  Value lanes = ArangeOp::create(builder, loc, type, 0);
  if (element.isInteger(64))
    lanes = arith::ExtSIOp::create(builder, loc, withElementType(type, element), lanes);
  return lanes;
}

/// Whether side times stride fits a lane offset: by a constant, or by a fact of the fast variant.
bool PlaceLowering::fitsLane(const Place &place, int64_t axis) {
  Attribute expression = strideExpression(kernel, place.view, axis);
  int64_t width = place.widths[axis], limit = largestLaneOffset(place.shape.size()) / width;
  if (auto number = dyn_cast<IntegerAttr>(expression))
    return std::abs(number.getInt()) <= limit;
  if (width == 1)
    return true; // the only coordinate is 0
  if (!kernel->hasAttr("facts"))
    return false;
  for (auto [op, sign] : {std::pair("le", 1), std::pair("ge", -1)})
    addedFacts.insert(builder.getArrayAttr(
        {builder.getStringAttr(op), expression,
         builder.getI64IntegerAttr(sign * limit)}));
  return true;
}

Value PlaceLowering::uniformBase(const Place &place) {
  Value offset;
  for (auto [axis, index] : llvm::enumerate(place.indices)) {
    Value term = arith::MulIOp::create(builder, loc, index, strideOf(place, axis));
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term) : term;
  }
  ViewType view = place.view.getType();
  auto type = PtrType::get(builder.getContext(), view.getElement(), view.getAliasClass());
  Value base = BaseOp::create(builder, loc, type, place.view);
  return offset ? PtrAddOp::create(builder, loc, type, base, offset) : base;
}

Value PlaceLowering::laneOffset(const Place &place) {
  bool narrow = true;
  for (auto [axis, width] : llvm::enumerate(place.widths))
    narrow &= width == 0 || fitsLane(place, axis);
  Type element = narrow ? builder.getI32Type() : builder.getI64Type();
  Value sum;
  unsigned dim = 0;
  for (auto [axis, width] : llvm::enumerate(place.widths)) {
    if (width == 0)
      continue;
    Value lanes = laneCoordinate(place, dim, element);
    Value stride = strideOf(place, axis);
    if (!matchPattern(stride, m_One())) {
      if (narrow)
        stride = arith::TruncIOp::create(builder, loc, element, stride);
      lanes = arith::MulIOp::create(builder, loc, lanes,
                                    SplatOp::create(builder, loc, lanes.getType(), stride));
    }
    Value term = spread(lanes, place, dim++);
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  return sum;
}

/// The condition that all scalar indices are in bounds; null when they are.
Value PlaceLowering::scalarCondition(const Place &place) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value left, Value right) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, left, right);
    all = all ? arith::AndIOp::create(builder, loc, all, holds) : holds;
  };
  for (auto [axis, width] : llvm::enumerate(place.widths)) {
    if (width != 0)
      continue;
    Value index = place.indices[axis];
    Interval range = scalars.range(index);
    Attribute extent = extentExpression(kernel, place.view, axis);
    auto number = dyn_cast<IntegerAttr>(extent);
    if (!range.isNonNegative())
      require(arith::CmpIPredicate::sge, index, constant(0, builder.getI64Type()));
    if ((number && range.hi < number.getInt()) || scalars.isBelowByGrid(index, extent))
      continue;
    require(arith::CmpIPredicate::slt, index,
            extentOf(place, axis));
  }
  return all;
}

/// The mask of one sliced axis: 0 <= start + lane < extent. Null when it always holds. Consumes
/// `condition`, the uniform one, when it can be folded into the bound.
Value PlaceLowering::axisMask(const Place &place, int64_t axis, unsigned dim, Value &condition) {
  Value start = place.indices[axis];
  int64_t width = place.widths[axis];
  Interval range = scalars.range(start);
  auto number = dyn_cast<IntegerAttr>(extentExpression(kernel, place.view, axis));
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    Value lanes = laneCoordinate(place, dim, i32);
    Value narrow = arith::TruncIOp::create(builder, loc, i32, bound);
    return arith::CmpIOp::create(builder, loc, predicate, lanes,
                                 SplatOp::create(builder, loc, lanes.getType(), narrow));
  };
  auto clamp = [&](Value value) -> Value {
    value = MaxOp::create(builder, loc, value, constant(0, i64), false, NumAttr());
    return MinOp::create(builder, loc, value, constant(width, i64), false, NumAttr());
  };
  Value mask;
  bool below = number && range.hi <= number.getInt() - width;
  if (!below) {
    // An unbounded start is clamped first, so that the subtraction cannot wrap.
    Value safe = start;
    if (!range.within(-kSafeStart, kSafeStart)) {
      safe = MinOp::create(builder, loc, start, constant(kSafeStart, i64), false, NumAttr());
      safe = MaxOp::create(builder, loc, safe, constant(-kSafeStart, i64), false, NumAttr());
    }
    Value extent = extentOf(place, axis);
    Value bound = clamp(arith::SubIOp::create(builder, loc, extent, safe));
    if (condition)
      bound = arith::SelectOp::create(builder, loc, condition, bound, constant(0, i64));
    condition = Value();
    mask = compare(arith::CmpIPredicate::slt, bound);
  }
  if (!range.isNonNegative()) {
    Value first = MaxOp::create(builder, loc, start, constant(-width, i64), false, NumAttr());
    Value bound = clamp(arith::SubIOp::create(builder, loc, constant(0, i64), first));
    Value lower = compare(arith::CmpIPredicate::sge, bound);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, lower) : lower;
  }
  return mask ? spread(mask, place, dim) : Value();
}

/// All that must hold for an element to be in bounds; a scalar for a scalar place. Null when all
/// elements are.
Value PlaceLowering::boundsMask(const Place &place) {
  Value condition = scalarCondition(place);
  if (place.shape.empty())
    return condition;
  Value all;
  unsigned dim = 0;
  for (auto [axis, width] : llvm::enumerate(place.widths)) {
    if (width == 0)
      continue;
    Value mask = axisMask(place, axis, dim++, condition);
    if (mask)
      all = all ? arith::AndIOp::create(builder, loc, all, mask) : mask;
  }
  if (!condition)
    return all;
  auto type = RankedTensorType::get(place.shape, builder.getI1Type());
  Value uniform = SplatOp::create(builder, loc, type, condition);
  return all ? arith::AndIOp::create(builder, loc, all, uniform) : uniform;
}

PlaceLowering::Address PlaceLowering::address(Operation *op, TypedValue<ViewType> view,
                                              ValueRange indices, ArrayRef<int64_t> widths,
                                              Value mask) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  Place place{view, indices, widths, {}};
  for (int64_t width : widths)
    if (width > 0)
      place.shape.push_back(width);
  Value bounds = boundsMask(place);
  Value all = !mask ? bounds : !bounds ? mask : arith::AndIOp::create(builder, loc, mask, bounds);
  Value base = uniformBase(place);
  return {base, place.shape.empty() ? Value() : laneOffset(place), all};
}

static bool isReadonly(KernelOp kernel, Value view) {
  return isNeverWritten(kernel, cast<BlockArgument>(view).getArgNumber());
}

void PlaceLowering::lowerRead(ReadOp read) {
  Address at = address(read, read.getView(), read.getIndices(), read.getWidths(), read.getMask());
  Value result;
  if (at.offset) {
    auto load = tkg::LoadOp::create(builder, loc, read.getType(), at.base, at.offset, at.mask,
                                    read.getFill(), isReadonly(kernel, read.getView()), 1);
    result = load.getResult();
  } else {
    result = LoadOp::create(builder, loc, read.getType(), at.base, at.mask, read.getFill(),
                            read.getCacheAttr(), read.getEvictAttr(), UnitAttr());
  }
  read.replaceAllUsesWith(result);
  read.erase();
}

void PlaceLowering::lowerWrite(WriteOp write) {
  Address at =
      address(write, write.getView(), write.getIndices(), write.getWidths(), write.getMask());
  if (at.offset)
    tkg::StoreOp::create(builder, loc, write.getValue(), at.base, at.offset, at.mask, 1);
  else
    StoreOp::create(builder, loc, write.getValue(), at.base, at.mask, write.getCacheAttr(),
                    write.getEvictAttr());
  write.erase();
}

namespace {
struct LowerPlaces : tk::impl::LowerPlacesBase<LowerPlaces> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      PlaceLowering(kernel).run();
    setPhase(getOperation(), Phase::Resident);
  }
};
} // namespace
