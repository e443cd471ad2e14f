//===- LowerPlaces.cpp - places of tensors become addresses and masks ----------===//
//
// Requires: phase Canonical.
// Ensures:  phase Resident. No tk.read, tk.write or tk.locate is left, nor a view but as an
//           argument. Uniform address arithmetic is i64; lane offsets are i32 where side times
//           stride is known to fit, by a constant stride or by a fact that the fast variant adds;
//           else i64. An axis is masked unless it is known to be in bounds.
// Fails:    never.
//
//   %v = tk.read %x[%i] widths [1024] : !tk.view<f32, 1, 0> -> tensor<1024xf32>
// becomes
//   %b = tk.base %x, %p = tk.ptr_add %b, %i, %l = tk.arange 0
//   %n = min(max(extent - %i, 0), 1024) as i32, %m = %l < splat(%n)
//   %v = tkg.load %p[%l] mask %m
//
// A scalar index that may be out of bounds makes the first mask's bound zero, or, where there is
// none, a mask of its own. Tiles of indices make a tile of pointers, which SplitAddresses looks at.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/PlaceLowering.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tk {
#define GEN_PASS_DEF_LOWERPLACES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Elements of 4 bits lie two a byte.
static bool isPacked(Value view) {
  return elementBits(cast<ViewType>(view.getType()).getElement()) < 8;
}

/// The offsets of a tile's axes stay below this in magnitude, so that the sum of `axes` fits i32.
static int64_t largestLaneOffset(size_t axes) {
  return (int64_t(1) << 31) / std::max<int64_t>(axes, 2);
}

Place::Place(Value view, ValueRange indices, ArrayRef<int64_t> widths)
    : view(view), indices(indices), widths(widths) {
  std::optional<unsigned> gathered;
  for (auto [index, width] : llvm::zip(indices, widths)) {
    bool again = width < 0 && gathered;
    dims.push_back(again ? *gathered : shape.size());
    if (width > 0)
      shape.push_back(width);
    if (width < 0 && !gathered) {
      gathered = dims.back();
      llvm::append_range(shape, cast<RankedTensorType>(index.getType()).getShape());
    }
  }
}

void Place::turn(unsigned dim) {
  for (unsigned &made : dims)
    made = made == dim ? shape.size() - 1 : made - (made > dim);
  std::rotate(shape.begin() + dim, shape.begin() + dim + 1, shape.end());
}

Value PlaceLowering::constant(int64_t number, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, number));
}

/// A tile whose axes stand at `dim` and behind it in the place's, as a tile of the place's shape.
Value PlaceLowering::spread(Value tile, const Place &place, unsigned dim) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  unsigned behind = dim + shape.size();
  for (unsigned axis = 0; axis < place.shape.size(); ++axis) {
    if (axis >= dim && axis < behind)
      continue;
    shape.insert(shape.begin() + axis, 1);
    tile = ExpandDimsOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()),
                                tile, axis);
  }
  auto full = RankedTensorType::get(place.shape, type.getElementType());
  return tile.getType() == full ? tile : BroadcastOp::create(builder, loc, full, tile);
}

Value PlaceLowering::laneCoordinate(const Place &place, int64_t axis, Type element) {
  auto type = RankedTensorType::get({place.widths[axis]}, builder.getI32Type());
  Value lanes = ArangeOp::create(builder, loc, type, 0);
  if (element.isInteger(64))
    lanes = arith::ExtSIOp::create(builder, loc, withElementType(type, element), lanes);
  return lanes;
}

/// Whether side times stride fits a lane offset: by what is known, or by facts of the fast variant.
bool PlaceLowering::fitsLane(const Place &place, int64_t axis) {
  int64_t width = place.widths[axis], limit = largestLaneOffset(place.shape.size()) / width;
  if (std::optional<int64_t> number = views.knownStride(place.view, axis))
    return *number >= -limit && *number <= limit;
  if (width == 1)
    return true; // the only coordinate is 0
  Attribute expression = views.strideName(place.view, axis);
  if (!expression)
    return scalars.range(views.stride(builder, loc, place.view, axis)).within(-limit, limit);
  Interval known = scalars.bounds(expression);
  bool fits = known.within(-limit, limit);
  if (fits || !kernel->hasAttr("facts"))
    return fits;
  auto add = [&](StringRef op, int64_t number) {
    addedFacts.insert(builder.getArrayAttr(
        {builder.getStringAttr(op), expression, builder.getI64IntegerAttr(number)}));
  };
  if (known.hi > limit)
    add("le", limit);
  if (known.lo < -limit)
    add("ge", -limit);
  return true;
}

/// The element of the memory at which the place begins; null for the first.
Value PlaceLowering::uniformOffset(const Place &place) {
  Value offset = views.offset(place.view);
  for (auto [axis, index] : llvm::enumerate(place.indices)) {
    if (place.widths[axis] < 0)
      continue;
    Value term = arith::MulIOp::create(builder, loc, index,
                                       views.stride(builder, loc, place.view, axis));
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term) : term;
  }
  return offset;
}

/// Where each element of the tile lies from there.
Value PlaceLowering::laneOffset(const Place &place, bool narrow) {
  for (auto [axis, width] : llvm::enumerate(place.widths))
    narrow = narrow && width >= 0 && (width == 0 || fitsLane(place, axis));
  Type element = narrow ? builder.getI32Type() : builder.getI64Type();
  Value sum;
  for (auto [axis, width] : llvm::enumerate(place.widths)) {
    if (width == 0)
      continue;
    Value lanes = place.indices[axis];
    if (width > 0)
      lanes = laneCoordinate(place, axis, element);
    else if (!elementTypeOf(lanes.getType()).isInteger(64))
      lanes = arith::ExtSIOp::create(builder, loc, withElementType(lanes.getType(), element), lanes);
    Value stride = views.stride(builder, loc, place.view, axis);
    if (!matchPattern(stride, m_One())) {
      if (narrow)
        stride = arith::TruncIOp::create(builder, loc, element, stride);
      lanes = arith::MulIOp::create(builder, loc, lanes,
                                    SplatOp::create(builder, loc, lanes.getType(), stride));
    }
    Value term = spread(lanes, place, place.dims[axis]);
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  return sum;
}

/// The address of a byte; what is left of the offset, 0 or 1, is added to the lanes'. A scalar is a
/// tile of one.
PlaceLowering::Address PlaceLowering::packedAddress(const Place &place, Value offset, Value mask,
                                                    bool narrow) {
  Type i64 = builder.getI64Type();
  Value base = views.address(builder, loc, place.view), odd;
  if (offset) {
    bool isEven = scalars.divisor(offset) > 1;
    odd = isEven ? Value()
                 : arith::AndIOp::create(builder, loc, offset, constant(1, i64)).getResult();
    Value bytes = ShrOp::create(builder, loc, offset, constant(1, i64), /*is_unsigned=*/false,
                                NumAttr());
    base = PtrAddOp::create(builder, loc, base.getType(), base, bytes);
  }
  Value lanes;
  if (!place.shape.empty())
    lanes = laneOffset(place, narrow);
  else
    lanes = arith::ConstantOp::create(
        builder, loc, SplatElementsAttr::get(RankedTensorType::get({1}, i64), APInt(64, 0)));
  if (odd) {
    Type element = elementTypeOf(lanes.getType());
    if (element != i64)
      odd = arith::TruncIOp::create(builder, loc, element, odd);
    lanes = arith::AddIOp::create(builder, loc, lanes,
                                  SplatOp::create(builder, loc, lanes.getType(), odd));
  }
  if (mask && place.shape.empty())
    mask = SplatOp::create(builder, loc, RankedTensorType::get({1}, builder.getI1Type()), mask);
  return {base, lanes, mask};
}

/// The base, the offsets of the elements (null for a scalar), and which of them are accessed. The
/// offsets are i32 where they fit and `narrow` is set.
PlaceLowering::Address PlaceLowering::address(Operation *op, const Place &place, Value mask,
                                              bool narrow) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  Value all = both(mask, boundsMask(place));
  Value offset = uniformOffset(place);
  if (isPacked(place.view))
    return packedAddress(place, offset, all, narrow);
  Value base = views.address(builder, loc, place.view);
  if (offset)
    base = PtrAddOp::create(builder, loc, base.getType(), base, offset);
  return {base, place.shape.empty() ? Value() : laneOffset(place, narrow), all};
}

/// A tile of pointers from a base and offsets.
static Value pointersOf(OpBuilder &builder, Location loc, Value base, Value offset) {
  Type type = withElementType(offset.getType(), base.getType());
  Value bases = SplatOp::create(builder, loc, type, base);
  return PtrAddOp::create(builder, loc, type, bases, offset);
}

bool PlaceLowering::isReadonly(Value view) {
  BlockArgument argument = views.argument(view);
  return argument && isNeverWritten(kernel, argument.getArgNumber());
}

/// The element of a tile of one.
Value PlaceLowering::itemOf(Value tile) {
  Type type = elementTypeOf(tile.getType());
  auto reduce = ReduceOp::create(builder, loc, type, tile, 0, ReduceOrder::any);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getCombine(), {}, {type, type}, {loc, loc});
  YieldOp::create(builder, loc, body->getArgument(0));
  return reduce.getResult(0);
}

void PlaceLowering::lowerPackedRead(ReadOp read, const Address &at) {
  Type type = withElementType(at.offset.getType(), elementTypeOf(read.getType()));
  Value result = tkg::LoadOp::create(builder, loc, type, at.base, at.offset, at.mask, read.getFill(),
                                     isReadonly(read.getView()), read.getCacheAttr(),
                                     read.getEvictAttr(), 1);
  read.replaceAllUsesWith(type == read.getType() ? result : itemOf(result));
}

void PlaceLowering::lowerPackedWrite(WriteOp write, const Address &at) {
  Value value = write.getValue();
  Type type = withElementType(at.offset.getType(), elementTypeOf(value.getType()));
  if (value.getType() != type)
    value = SplatOp::create(builder, loc, type, value);
  tkg::StoreOp::create(builder, loc, value, at.base, at.offset, at.mask, write.getCacheAttr(),
                       write.getEvictAttr(), 1);
}

/// The dimension of the tile whose elements are known to lie side by side, where that is not the
/// last one.
std::optional<unsigned> PlaceLowering::innerDimension(const Place &place) {
  if (place.gathers() || place.shape.size() < 2 || isPacked(place.view))
    return std::nullopt;
  std::optional<unsigned> inner;
  for (auto [axis, width] : llvm::enumerate(place.widths))
    if (width > 1 && views.knownStride(place.view, axis) == 1)
      inner = place.dims[axis];
  return inner == place.shape.size() - 1 ? std::nullopt : inner;
}

/// A tile is accessed along its last axis. Makes the inner dimension the last one, so that threads
/// next to each other meet elements next to each other; returns which it was. Code of `op` follows.
std::optional<unsigned> PlaceLowering::turnToInner(Operation *op, Place &place) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  std::optional<unsigned> inner = innerDimension(place);
  if (inner)
    place.turn(*inner);
  return inner;
}

/// A value or mask of a place that was turned; null and scalars stay as they are.
Value PlaceLowering::turned(Value tile, std::optional<unsigned> inner) {
  auto type = tile ? dyn_cast<RankedTensorType>(tile.getType()) : RankedTensorType();
  return type && inner ? moved(tile, *inner, type.getRank() - 1) : tile;
}

/// `tile` with its axis `from` at `to`.
Value PlaceLowering::moved(Value tile, unsigned from, unsigned to) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), shape;
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, int64_t(from));
  for (int64_t axis : order)
    shape.push_back(type.getShape()[axis]);
  return PermuteOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), tile, order);
}

void PlaceLowering::lowerRead(ReadOp read) {
  Place place(read.getView(), read.getIndices(), read.getWidths());
  std::optional<unsigned> inner = turnToInner(read, place);
  Address at = address(read, place, turned(read.getMask(), inner), /*narrow=*/true);
  if (isPacked(read.getView()))
    return lowerPackedRead(read, at);
  Value result;
  if (at.offset && !place.gathers()) {
    Type type = withElementType(at.offset.getType(), elementTypeOf(read.getType()));
    auto load = tkg::LoadOp::create(builder, loc, type, at.base, at.offset, at.mask,
                                    read.getFill(), isReadonly(read.getView()), read.getCacheAttr(),
                                    read.getEvictAttr(), 1);
    result = inner ? moved(load.getResult(), place.shape.size() - 1, *inner) : load.getResult();
  } else {
    Value pointer = at.offset ? pointersOf(builder, loc, at.base, at.offset) : at.base;
    result = LoadOp::create(builder, loc, read.getType(), pointer, at.mask, read.getFill(),
                            read.getCacheAttr(), read.getEvictAttr(), UnitAttr());
  }
  read.replaceAllUsesWith(result);
}

void PlaceLowering::lowerWrite(WriteOp write) {
  Place place(write.getView(), write.getIndices(), write.getWidths());
  std::optional<unsigned> inner = turnToInner(write, place);
  Value value = turned(write.getValue(), inner);
  Address at = address(write, place, turned(write.getMask(), inner), /*narrow=*/true);
  if (isPacked(write.getView()))
    return lowerPackedWrite(write, at);
  if (at.offset && !place.gathers()) {
    tkg::StoreOp::create(builder, loc, value, at.base, at.offset, at.mask,
                         write.getCacheAttr(), write.getEvictAttr(), 1);
    return;
  }
  Value pointer = at.offset ? pointersOf(builder, loc, at.base, at.offset) : at.base;
  StoreOp::create(builder, loc, write.getValue(), pointer, at.mask, write.getCacheAttr(),
                  write.getEvictAttr());
}

/// Whether the pointers are there for changes alone whose result nobody wants: those take lane offsets.
static bool isOnlyChanged(Value pointers) {
  return llvm::all_of(pointers.getUsers(), [](Operation *user) {
    auto atomic = dyn_cast<AtomicRmwOp>(user);
    return atomic && atomic.use_empty() && atomic.getOrder() == MemOrder::relaxed;
  });
}

void PlaceLowering::lowerLocate(LocateOp locate) {
  Place place(locate.getView(), locate.getIndices(), locate.getWidths());
  Address at = address(locate, place, Value(), /*narrow=*/isOnlyChanged(locate.getPointer()));
  locate.getPointer().replaceAllUsesWith(
      at.offset ? pointersOf(builder, loc, at.base, at.offset) : at.base);
  if (!at.mask) {
    TypedAttr always = builder.getBoolAttr(true);
    if (auto tile = dyn_cast<RankedTensorType>(locate.getExists().getType()))
      always = SplatElementsAttr::get(tile, true);
    at.mask = arith::ConstantOp::create(builder, loc, always);
  }
  locate.getExists().replaceAllUsesWith(at.mask);
}

/// tk.extent, tk.stride and tk.base of a view that the kernel made.
void PlaceLowering::lowerQuery(Operation *op) {
  Value view = op->getOperand(0);
  if (isa<BlockArgument>(view))
    return;
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  Value result;
  if (auto extent = dyn_cast<ExtentOp>(op)) {
    result = views.extent(builder, loc, view, extent.getAxis());
  } else if (auto stride = dyn_cast<StrideOp>(op)) {
    result = views.stride(builder, loc, view, stride.getAxis());
  } else {
    result = views.address(builder, loc, view);
    if (Value offset = views.offset(view))
      result = PtrAddOp::create(builder, loc, result.getType(), result, offset);
  }
  op->getResult(0).replaceAllUsesWith(result);
  done.push_back(op);
}

void PlaceLowering::lower(Operation *op) {
  bool lowered = true;
  TypeSwitch<Operation *>(op)
      .Case([&](MakeViewOp view) { views.record(view); })
      .Case([&](SubviewOp view) { views.record(view); })
      .Case([&](ReadOp read) { lowerRead(read); })
      .Case([&](WriteOp write) { lowerWrite(write); })
      .Case([&](LocateOp locate) { lowerLocate(locate); })
      .Default([&](Operation *) { lowered = false; });
  if (lowered)
    done.push_back(op);
  else if (isa<ExtentOp, StrideOp, BaseOp>(op))
    lowerQuery(op);
}

void PlaceLowering::run() {
  SmallVector<Operation *> work;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { work.push_back(op); });
  for (Operation *op : work)
    lower(op);
  for (Operation *op : llvm::reverse(done))
    op->erase();
  keepFacts(kernel, scalars.usedFacts());
  keepFacts(kernel, addedFacts.getArrayRef());
  if (addedFacts.empty())
    return;
  SmallVector<Attribute> facts(kernel->getAttrOfType<ArrayAttr>("facts").getValue());
  llvm::append_range(facts, addedFacts);
  kernel->setAttr("facts", ArrayAttr::get(kernel.getContext(), facts));
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
