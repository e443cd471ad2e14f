//===- TranslateShape.cpp - tiles from nothing, and tiles of another shape --------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Translate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

static ArrayRef<int64_t> sidesOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sides) {
  SmallVector<int64_t> strides(sides.size(), 1);
  for (size_t axis = sides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * sides[axis];
  return strides;
}

AxisView tk::interp::axisView(ArrayRef<int64_t> sides, int64_t axis) {
  AxisView view;
  for (auto [i, side] : llvm::enumerate(sides)) {
    uint32_t &part = i < uint64_t(axis)    ? view.outer
                     : i == uint64_t(axis) ? view.side
                                           : view.inner;
    part *= uint32_t(side);
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Copies by strides
//===----------------------------------------------------------------------===//

/// Axes of side 1 vanish; neighbours whose elements follow each other on both sides become one.
static MovePlan planMove(ArrayRef<int64_t> sides, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  MovePlan plan;
  for (auto [side, fromStride, toStride] : llvm::zip(sides, from, to)) {
    if (side == 1)
      continue;
    bool joins = !plan.sides.empty() && plan.fromStrides.back() == fromStride * side &&
                 plan.toStrides.back() == toStride * side;
    if (joins) {
      plan.sides.back() *= uint32_t(side);
      plan.fromStrides.back() = fromStride;
      plan.toStrides.back() = toStride;
      continue;
    }
    plan.sides.push_back(uint32_t(side));
    plan.fromStrides.push_back(fromStride);
    plan.toStrides.push_back(toStride);
  }
  if (plan.sides.empty()) {
    plan.sides = {1};
    plan.fromStrides = plan.toStrides = {1};
  }
  return plan;
}

/// Adds the plan, emits `value` and, for floats with bounds, `bound` with the same places.
void Translator::emitMove(Operation *op, MovePlan plan, Type type, MoveForm form, uint32_t dst,
                          uint32_t a, uint32_t b) {
  const unsigned bytes = byteSize(*slotTypeOf(type));
  plan.elementBytes = bytes;
  plan.reports = options.checks.bounds;
  const uint32_t index = uint32_t(program.compute.moves.size());
  program.compute.moves.push_back(std::move(plan));
  InstFn value = form == MoveForm::Pick  ? selectPick(bytes)
                 : form == MoveForm::Put ? selectPut(bytes)
                                         : selectMove(bytes);
  InstFn bound = form == MoveForm::Pick  ? selectPickBounds()
                 : form == MoveForm::Put ? selectPutBounds()
                                         : selectMoveBounds();
  emit(value, op, dst, a, b).aux = index;
  if (hasBounds(type))
    emit(bound, op, dst, a, b).aux = index;
}

LogicalResult Translator::translatePermute(PermuteOp op) {
  ArrayRef<int64_t> from = sidesOf(op.getValue()), to = sidesOf(op.getResult());
  SmallVector<int64_t> strides = rowMajor(from), permuted;
  for (int64_t axis : op.getOrder())
    permuted.push_back(strides[size_t(axis)]);
  uint32_t source = offsetOf(op.getValue());
  emitMove(op, planMove(to, permuted, rowMajor(to)), op.getType(), MoveForm::Whole,
           define(op.getResult()), source);
  return success();
}

LogicalResult Translator::translateCat(CatOp op) {
  const size_t axis = size_t(op.getAxis());
  SmallVector<int64_t> strides = rowMajor(sidesOf(op.getResult()));
  SmallVector<uint32_t> sources;
  for (Value operand : op.getOperands())
    sources.push_back(offsetOf(operand));
  const uint32_t result = define(op.getResult());
  int64_t begin = 0;
  for (auto [operand, source] : llvm::zip(op.getOperands(), sources)) {
    ArrayRef<int64_t> sides = sidesOf(operand);
    MovePlan plan = planMove(sides, rowMajor(sides), strides);
    plan.toOffset = begin * strides[axis];
    emitMove(op, std::move(plan), op.getType(), MoveForm::Whole, result, source);
    begin += sides[axis];
  }
  return success();
}

LogicalResult Translator::translateFlip(FlipOp op) {
  ArrayRef<int64_t> sides = sidesOf(op.getResult());
  const size_t axis = size_t(op.getAxis());
  SmallVector<int64_t> to = rowMajor(sides), from = to;
  from[axis] = -from[axis];
  MovePlan plan = planMove(sides, from, to);
  plan.fromOffset = (sides[axis] - 1) * to[axis];
  uint32_t source = offsetOf(op.getValue());
  emitMove(op, std::move(plan), op.getType(), MoveForm::Whole, define(op.getResult()), source);
  return success();
}

/// Where a part at these offsets and strides begins in a tile, and its strides there.
static int64_t partStrides(ArrayRef<int64_t> sides, ArrayRef<int64_t> offsets,
                           ArrayRef<int64_t> strides, SmallVectorImpl<int64_t> &result) {
  result = rowMajor(sides);
  int64_t begin = 0;
  for (auto [stride, offset, step] : llvm::zip(result, offsets, strides)) {
    begin += offset * stride;
    stride *= step;
  }
  return begin;
}

LogicalResult Translator::translateSlice(SliceOp op) {
  SmallVector<int64_t> from;
  int64_t begin = partStrides(sidesOf(op.getValue()), op.getOffsets(), op.getStrides(), from);
  ArrayRef<int64_t> sides = sidesOf(op.getResult());
  MovePlan plan = planMove(sides, from, rowMajor(sides));
  plan.fromOffset = begin;
  uint32_t source = offsetOf(op.getValue());
  emitMove(op, std::move(plan), op.getType(), MoveForm::Whole, define(op.getResult()), source);
  return success();
}

LogicalResult Translator::translateInsert(InsertOp op) {
  SmallVector<int64_t> to;
  int64_t begin = partStrides(sidesOf(op.getValue()), op.getOffsets(), op.getStrides(), to);
  ArrayRef<int64_t> sides = sidesOf(op.getPart());
  MovePlan plan = planMove(sides, rowMajor(sides), to);
  plan.toOffset = begin;
  uint32_t whole = offsetOf(op.getValue()), part = offsetOf(op.getPart());
  uint32_t result = define(op.getResult());
  emitCopy(op, result, whole, op.getType());
  emitMove(op, std::move(plan), op.getType(), MoveForm::Whole, result, part);
  return success();
}

/// All elements of one layer of `tile`: `isPut` says which side has the tile's strides.
static MovePlan planLayer(Value tile, int64_t axis, bool isPut) {
  SmallVector<int64_t> sides(sidesOf(tile)), strides = rowMajor(sides);
  const int64_t layers = sides[size_t(axis)], layerStride = strides[size_t(axis)];
  sides.erase(sides.begin() + axis);
  strides.erase(strides.begin() + axis);
  SmallVector<int64_t> dense = rowMajor(sides);
  MovePlan plan = isPut ? planMove(sides, dense, strides) : planMove(sides, strides, dense);
  plan.layers = layers;
  plan.layerStride = layerStride;
  plan.axis = uint32_t(axis);
  return plan;
}

LogicalResult Translator::translatePick(PickOp op) {
  uint32_t source = offsetOf(op.getValue()), index = offsetOf(op.getIndex());
  emitMove(op, planLayer(op.getValue(), int64_t(op.getAxis()), false), op.getType(),
           MoveForm::Pick, define(op.getResult()), source, index);
  return success();
}

LogicalResult Translator::translatePut(PutOp op) {
  uint32_t whole = offsetOf(op.getValue()), part = offsetOf(op.getPart());
  uint32_t index = offsetOf(op.getIndex()), result = define(op.getResult());
  emitCopy(op, result, whole, op.getType());
  emitMove(op, planLayer(op.getValue(), int64_t(op.getAxis()), true), op.getType(), MoveForm::Put,
           result, part, index);
  return success();
}

LogicalResult Translator::translateGather(GatherOp op) {
  GatherPlan plan;
  plan.from = axisView(sidesOf(op.getValue()), int64_t(op.getAxis()));
  plan.picked = uint32_t(sidesOf(op.getResult())[size_t(op.getAxis())]);
  plan.elementBytes = byteSize(*slotTypeOf(op.getType()));
  plan.index = *slotTypeOf(op.getIndices().getType());
  plan.axis = uint32_t(op.getAxis());
  plan.reports = options.checks.bounds;
  const uint32_t index = uint32_t(program.compute.gathers.size());
  program.compute.gathers.push_back(plan);
  if (failed(emitValue(op, selectGather(plan.elementBytes, plan.index))))
    return failure();
  code->back().aux = index;
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectGatherBounds(plan.index), index));
  return success();
}

//===----------------------------------------------------------------------===//
// One value in many places
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateSplat(SplatOp op) {
  if (failed(emitValue(op, selectSplat(byteSize(*slotTypeOf(op.getType()))))))
    return failure();
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectBoundSplat()));
  return success();
}

/// Neighbouring axes that are both repeated or both copied become one.
static CopyPlan planBroadcast(RankedTensorType from, RankedTensorType to) {
  CopyPlan plan;
  uint32_t stride = 1;
  for (int64_t axis = to.getRank() - 1; axis >= 0; --axis) {
    uint32_t side = uint32_t(to.getDimSize(axis));
    bool isRepeated = from.getDimSize(axis) == 1 && side != 1;
    if (side == 1)
      continue;
    bool joins = !plan.sides.empty() && (plan.strides.back() == 0) == isRepeated;
    if (joins) {
      plan.sides.back() *= side;
    } else {
      plan.sides.push_back(side);
      plan.strides.push_back(isRepeated ? 0 : stride);
    }
    stride *= uint32_t(from.getDimSize(axis));
  }
  if (plan.sides.empty()) {
    plan.sides = {1};
    plan.strides = {1};
  }
  std::reverse(plan.sides.begin(), plan.sides.end());
  std::reverse(plan.strides.begin(), plan.strides.end());
  return plan;
}

LogicalResult Translator::translateBroadcast(BroadcastOp op) {
  CopyPlan plan = planBroadcast(cast<RankedTensorType>(op.getValue().getType()),
                                cast<RankedTensorType>(op.getType()));
  unsigned bytes = byteSize(*slotTypeOf(op.getType()));
  if (failed(emitValue(op, selectBroadcast(bytes))))
    return failure();
  code->back().aux = uint32_t(program.copies.size());
  program.copies.push_back(std::move(plan));
  if (hasBounds(op.getType()))
    code->push_back(beside(code->back(), selectBoundBroadcast(), code->back().aux));
  return success();
}

//===----------------------------------------------------------------------===//
// Bits under another type
//===----------------------------------------------------------------------===//

static unsigned bitsOf(Type type) {
  return elementTypeOf(type).getIntOrFloatBitWidth();
}

/// Bounds belong to floats: bits that are one thing and another need two places when they are kept.
LogicalResult Translator::translateBitcast(BitcastOp op) {
  Type from = op.getValue().getType(), to = op.getType();
  const unsigned fromBits = bitsOf(from), toBits = bitsOf(to);
  if (fromBits == toBits && !hasBounds(to)) {
    share(op.getResult(), op.getValue());
    return success();
  }
  const uint32_t source = offsetOf(op.getValue()), result = define(op.getResult());
  if (fromBits == toBits) {
    Inst &copy = emit(selectCopy(), op, result, source);
    copy.n = lanesOf(to);
    copy.aux = byteSize(*slotTypeOf(to));
  } else {
    if (body.lanes)
      return unsupported(op, "splits or joins elements inside a region");
    const bool joins = fromBits < toBits;
    BitcastPlan plan;
    plan.wide = axisView(tileSides(joins ? to : from), int64_t(*op.getAxis()));
    plan.ratio = joins ? toBits / fromBits : fromBits / toBits;
    plan.narrowBits = std::min(fromBits, toBits);
    Inst &cast = emit(selectBitcast(byteSize(*slotTypeOf(from)), byteSize(*slotTypeOf(to)), joins),
                      op, result, source);
    cast.aux = uint32_t(program.compute.bitcasts.size());
    program.compute.bitcasts.push_back(plan);
  }
  if (hasBounds(to)) {
    Inst &bound = emit(selectBoundBitcast(), op, result, hasBounds(from) ? source : kNoSlot);
    bound.n = lanesOf(to);
    bound.c = lanesOf(from);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateShape(Operation *op, bool &known) {
  known = true;
  if (auto bitcast = dyn_cast<BitcastOp>(op))
    return translateBitcast(bitcast);
  // What follows is about tiles, which a region of scalars does not have.
  known = !body.lanes;
  if (!known)
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SplatOp>([&](auto typed) { return translateSplat(typed); })
      .Case<BroadcastOp>([&](auto typed) { return translateBroadcast(typed); })
      .Case<ExpandDimsOp, ReshapeOp>([&](auto typed) {
        share(typed.getResult(), typed.getValue());
        return success();
      })
      .Case<ArangeOp>([&](auto typed) {
        LogicalResult emitted = emitValue(typed, selectArange());
        code->back().aux = uint32_t(int32_t(typed.getStart()));
        return emitted;
      })
      .Case<PermuteOp>([&](auto typed) { return translatePermute(typed); })
      .Case<CatOp>([&](auto typed) { return translateCat(typed); })
      .Case<FlipOp>([&](auto typed) { return translateFlip(typed); })
      .Case<SliceOp>([&](auto typed) { return translateSlice(typed); })
      .Case<InsertOp>([&](auto typed) { return translateInsert(typed); })
      .Case<PickOp>([&](auto typed) { return translatePick(typed); })
      .Case<PutOp>([&](auto typed) { return translatePut(typed); })
      .Case<GatherOp>([&](auto typed) { return translateGather(typed); })
      .Default([&](Operation *) {
        known = false;
        return success();
      });
}
