//===- ViewTable.cpp - addresses, extents and strides of views ----------------===//

#include "passes/ViewTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

static std::optional<int64_t> numberOf(Value value) {
  IntegerAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().getSExtValue();
  return std::nullopt;
}

static std::optional<int64_t> numberOf(Attribute expression) {
  auto number = dyn_cast_or_null<IntegerAttr>(expression);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

static Value constant(OpBuilder &builder, Location loc, int64_t number) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(number));
}

static Value sum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value ViewTable::least(OpBuilder &builder, Location loc, Value a, Value b) {
  if (a == b || scalars.range(a).hi <= scalars.range(b).lo)
    return a;
  if (scalars.range(b).hi <= scalars.range(a).lo)
    return b;
  return MinOp::create(builder, loc, a, b, false, NumAttr());
}

Value ViewTable::most(OpBuilder &builder, Location loc, Value a, Value b) {
  if (a == b || scalars.range(a).lo >= scalars.range(b).hi)
    return a;
  if (scalars.range(b).lo >= scalars.range(a).hi)
    return b;
  return MaxOp::create(builder, loc, a, b, false, NumAttr());
}

//===----------------------------------------------------------------------===//
// Taking in
//===----------------------------------------------------------------------===//

void ViewTable::record(MakeViewOp op) {
  OpBuilder builder(op);
  Parts parts;
  parts.pointer = op.getPointer();
  for (Value extent : op.getExtents())
    parts.extents.push_back(most(builder, op.getLoc(), extent, constant(builder, op.getLoc(), 0)));
  llvm::append_range(parts.strides, op.getStrides());
  table[op.getResult()] = std::move(parts);
}

/// The elements of one axis that a part keeps; an axis that it drops has no extent, but a condition.
ViewTable::Axis ViewTable::axisOf(OpBuilder &builder, SubviewOp op, unsigned axis) {
  Location loc = op.getLoc();
  Value low = op.getLow()[axis], have = extent(builder, loc, op.getView(), axis);
  Value zero = constant(builder, loc, 0);
  if (!op.getDrop()[axis]) {
    Value begin = least(builder, loc, most(builder, loc, low, zero), have);
    Value end = most(builder, loc, least(builder, loc, op.getHigh()[axis], have), begin);
    return {begin, builder.createOrFold<arith::SubIOp>(loc, end, begin), {}};
  }
  Interval range = scalars.range(low);
  std::optional<int64_t> side = knownExtent(op.getView(), axis);
  if (range.isNonNegative() &&
      ((side && range.hi < *side) ||
       scalars.isBelowByGrid(low, extentName(op.getView(), axis))))
    return {low, {}, {}};
  Value within = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, low, have);
  if (!range.isNonNegative()) {
    Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, low, zero);
    within = arith::AndIOp::create(builder, loc, within, above);
  }
  return {low, {}, within};
}

void ViewTable::record(SubviewOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Parts parts;
  parts.argument = argument(op.getView());
  if (!parts.argument)
    parts.pointer = address(builder, loc, op.getView());
  parts.offset = offset(op.getView());
  parts.exists = exists(op.getView());
  for (unsigned axis = 0; axis < op.getLow().size(); ++axis) {
    Axis kept = axisOf(builder, op, axis);
    Value step = stride(builder, loc, op.getView(), axis);
    if (numberOf(kept.begin) != 0)
      parts.offset = sum(builder, loc, parts.offset,
                         builder.createOrFold<arith::MulIOp>(loc, kept.begin, step));
    if (kept.within)
      parts.exists = parts.exists
                         ? arith::AndIOp::create(builder, loc, parts.exists, kept.within).getResult()
                         : kept.within;
    if (!kept.extent)
      continue;
    parts.extents.push_back(kept.extent);
    parts.strides.push_back(step);
  }
  for (Value &extent : parts.extents)
    if (parts.exists)
      extent = arith::SelectOp::create(builder, loc, parts.exists, extent, constant(builder, loc, 0));
  table[op.getResult()] = std::move(parts);
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

const ViewTable::Parts *ViewTable::partsOf(Value view) const {
  auto it = table.find(view);
  return it == table.end() ? nullptr : &it->second;
}

BlockArgument ViewTable::argument(Value view) const {
  const Parts *parts = partsOf(view);
  return parts ? parts->argument : cast<BlockArgument>(view);
}

Value ViewTable::offset(Value view) const {
  const Parts *parts = partsOf(view);
  return parts ? parts->offset : Value();
}

/// Where a view has extents they are zero already when it does not exist.
Value ViewTable::exists(Value view) const {
  const Parts *parts = partsOf(view);
  return parts && parts->extents.empty() ? parts->exists : Value();
}

std::optional<int64_t> ViewTable::knownExtent(Value view, int64_t axis) const {
  const Parts *parts = partsOf(view);
  return parts ? numberOf(parts->extents[axis]) : numberOf(extentExpression(kernel, view, axis));
}

Attribute ViewTable::extentName(Value view, int64_t axis) const {
  return partsOf(view) ? Attribute() : extentExpression(kernel, view, axis);
}

Attribute ViewTable::strideName(Value view, int64_t axis) const {
  const Parts *parts = partsOf(view);
  auto stride = parts ? parts->strides[axis].getDefiningOp<StrideOp>() : StrideOp();
  if (stride)
    return strideExpression(kernel, stride.getView(), stride.getAxis());
  return parts ? Attribute() : strideExpression(kernel, view, axis);
}

std::optional<int64_t> ViewTable::knownStride(Value view, int64_t axis) const {
  const Parts *parts = partsOf(view);
  return parts ? numberOf(parts->strides[axis]) : numberOf(strideExpression(kernel, view, axis));
}

/// The extent of an argument is read from the first one that has an extent of the same name, so
/// that views of one shape share their masks.
Value ViewTable::extent(OpBuilder &builder, Location loc, Value view, int64_t axis) {
  if (const Parts *parts = partsOf(view))
    return parts->extents[axis];
  Attribute wanted = extentName(view, axis);
  if (std::optional<int64_t> number = numberOf(wanted))
    return constant(builder, loc, *number);
  Type i64 = builder.getI64Type();
  if (wanted == builder.getStringAttr("_")) // any extent: each axis is its own
    return ExtentOp::create(builder, loc, i64, view, axis);
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<ViewType>(argument.getType());
    for (int64_t other = 0; type && other < type.getRank(); ++other)
      if (extentExpression(kernel, argument, other) == wanted && isa<StringAttr>(wanted))
        return ExtentOp::create(builder, loc, i64, argument, other);
  }
  return ExtentOp::create(builder, loc, i64, view, axis);
}

Value ViewTable::stride(OpBuilder &builder, Location loc, Value view, int64_t axis) {
  if (std::optional<int64_t> number = knownStride(view, axis))
    return constant(builder, loc, *number);
  if (const Parts *parts = partsOf(view))
    return parts->strides[axis];
  return StrideOp::create(builder, loc, builder.getI64Type(), view, axis);
}

Value ViewTable::address(OpBuilder &builder, Location loc, Value view) {
  const Parts *parts = partsOf(view);
  if (parts && !parts->argument)
    return parts->pointer;
  auto type = cast<ViewType>(view.getType());
  Type element = elementBits(type.getElement()) < 8 && !type.getElement().isInteger(1)
                     ? builder.getI8Type()
                     : type.getElement();
  return BaseOp::create(builder, loc,
                        PtrType::get(builder.getContext(), element, type.getAliasClass()),
                        argument(view));
}
