//===- StripReductions.cpp - reductions and scans in loops over pieces --------===//

#include "passes/StripBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

/// What a reduction carries through the loop: a partial result an element, or one in all; of a tree
/// one a level.
static bool keepsPartials(ReduceOp reduce) { return reduce.getOrder() == ReduceOrder::any; }

static unsigned levelsOf(ReduceOp reduce, int64_t pieces) {
  return reduce.getOrder() == ReduceOrder::tree ? llvm::Log2_64(pieces) + 1 : 1;
}

size_t StripBuilder::carriedBy(const StripRoot &root) {
  auto reduce = dyn_cast<ReduceOp>(root.op);
  return reduce ? reduce.getNumResults() * levelsOf(reduce, strips.pieces()) : 0;
}

/// Whether a region of scalars is also one of tiles, operation by operation.
static bool isElementwise(Block &region) {
  return llvm::all_of(region.without_terminator(), [](Operation &op) {
    return isa<arith::ConstantOp>(op) || (op.getNumRegions() == 0 && op.hasTrait<OpTrait::Elementwise>());
  });
}

/// What the region yields; `convert` makes an operand of what it takes from outside.
static SmallVector<Value> inlineRegion(OpBuilder &builder, Block &region, ArrayRef<Value> operands,
                                       function_ref<Value(Value)> convert) {
  IRMapping mapping;
  mapping.map(region.getArguments(), operands);
  auto valueOf = [&](Value scalar) {
    if (!mapping.contains(scalar))
      mapping.map(scalar, convert(scalar));
    return mapping.lookup(scalar);
  };
  Type like = operands.front().getType();
  for (Operation &op : region.without_terminator()) {
    if (isa<arith::ConstantOp>(op)) {
      mapping.map(op.getResult(0), convert(builder.clone(op)->getResult(0)));
      continue;
    }
    for (Value operand : op.getOperands())
      valueOf(operand);
    for (OpResult result : builder.clone(op, mapping)->getResults())
      if (isa<RankedTensorType>(like))
        result.setType(withElementType(like, result.getType()));
  }
  return llvm::map_to_vector(region.getTerminator()->getOperands(), valueOf);
}

/// The combine region applied: to scalars, or element by element to tiles.
SmallVector<Value> StripBuilder::combine(Region &function, ValueRange left, ValueRange right) {
  Block &region = function.front();
  SmallVector<Value> operands(left);
  llvm::append_range(operands, right);
  auto type = dyn_cast<RankedTensorType>(left.front().getType());
  if (!type)
    return inlineRegion(builder, region, operands, [](Value scalar) { return scalar; });
  if (isElementwise(region))
    return inlineRegion(builder, region, operands, [&](Value scalar) -> Value {
      return SplatOp::create(builder, loc, withElementType(type, scalar.getType()), scalar);
    });
  auto map = MapOp::create(builder, loc, left.getTypes(), operands);
  IRMapping mapping;
  function.cloneInto(&map.getBody(), mapping);
  return SmallVector<Value>(map.getResults());
}

static FloatAttr infinity(Type type, bool negative) {
  bool hasInfinity = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
  if (!hasInfinity)
    return {};
  return FloatAttr::get(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), negative));
}

/// The end of the numbers from which every other one is taken; none where NaN does not count.
static TypedAttr neutralOfExtreme(Operation *op, Type type, bool isMax, bool isUnsigned, NumAttr num) {
  if (isa<FloatType>(type))
    return num && num.getNan() != NanRule::propagate ? FloatAttr() : infinity(type, isMax);
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt least = isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
  APInt most = isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits);
  return IntegerAttr::get(type, isMax ? least : most);
}

/// A number that changes no other when it is on the left; null where none is known.
static TypedAttr neutralOf(Region &function) {
  Block &region = function.front();
  Operation *only = &region.front(), *yield = region.getTerminator();
  if (region.getNumArguments() != 2 || only->getNextNode() != yield ||
      yield->getOperand(0).getDefiningOp() != only || only->getOperands() != ValueRange(region.getArguments()))
    return {};
  Type type = region.getArgument(0).getType();
  if (isa<arith::AddFOp>(only))
    return FloatAttr::get(type, -0.0);
  if (isa<arith::AddIOp>(only))
    return IntegerAttr::get(type, 0);
  if (auto max = dyn_cast<MaxOp>(only))
    return neutralOfExtreme(only, type, /*isMax=*/true, max.getIsUnsigned(), max.getNumAttr());
  if (auto min = dyn_cast<MinOp>(only))
    return neutralOfExtreme(only, type, /*isMax=*/false, min.getIsUnsigned(), min.getNumAttr());
  return {};
}

/// One of two values by a condition that holds for all elements.
Value StripBuilder::choose(Value condition, Value yes, Value no) {
  if (auto type = dyn_cast<RankedTensorType>(yes.getType()))
    condition = SplatOp::create(builder, loc, type.clone(builder.getI1Type()), condition);
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

/// Combines what was carried with what this trip gives. In the first one nothing was, unless the loop
/// began with a neutral number.
SmallVector<Value> StripBuilder::combineCarried(Region &function, ValueRange carried, ValueRange next) {
  SmallVector<Value> both = combine(function, carried, next);
  if (neutralOf(function))
    return both;
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, loop.getInductionVar(),
                                      constant(builder.getI64IntegerAttr(0)));
  for (auto [value, alone] : llvm::zip(both, next))
    value = choose(first, alone, value);
  return both;
}

/// Whether the last bits of the trip's number are those of `value`.
Value StripBuilder::tripEndsIn(unsigned bits, int64_t value) {
  Value low = arith::AndIOp::create(builder, loc, loop.getInductionVar(),
                                    constant(builder.getI64IntegerAttr((int64_t(1) << bits) - 1)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low, constant(builder.getI64IntegerAttr(value)));
}

/// Counts in binary: level i of what is carried holds a node of 2^i pieces that waits for its right one.
/// A piece is combined with what waits on the levels below the lowest 0 of its number, and waits there.
SmallVector<Value> StripBuilder::combineTree(Region &function, ValueRange carried, ValueRange next) {
  size_t count = next.size(), levels = carried.size() / count;
  SmallVector<Value> node(next), result;
  for (unsigned level = 0; level < levels; ++level) {
    ValueRange waiting = carried.slice(level * count, count);
    Value waits = tripEndsIn(level + 1, (int64_t(1) << level) - 1);
    for (auto [old, value] : llvm::zip(waiting, node))
      result.push_back(choose(waits, value, old));
    if (level + 1 < levels)
      node = combine(function, waiting, node);
  }
  return result;
}

/// What waits after the last piece, the earlier ones on the left.
SmallVector<Value> StripBuilder::finishTree(Region &function, ValueRange carried) {
  size_t count = function.getNumArguments() / 2;
  SmallVector<Value> result;
  for (unsigned level = 0; level * count < carried.size(); ++level) {
    ValueRange waiting = carried.slice(level * count, count);
    if (strips.pieces() >> level & 1)
      result = result.empty() ? SmallVector<Value>(waiting) : combine(function, waiting, result);
  }
  return result;
}

/// One trip of a reduction: what it carries from here on.
SmallVector<Value> StripBuilder::emitReduction(ReduceOp reduce, const StripRoot &root, ValueRange carried) {
  SmallVector<Value> next;
  if (keepsPartials(reduce))
    for (Value operand : reduce.getOperands())
      next.push_back(pieceOf(operand, root.axis));
  else
    llvm::append_range(next, cloneCut(reduce, root.axis, *rootCuts(reduce, root.axis))->getResults());
  if (reduce.getOrder() == ReduceOrder::tree)
    return combineTree(reduce.getCombine(), carried, next);
  return combineCarried(reduce.getCombine(), carried, next);
}

/// What the reduction gives, from what the loop has left.
void StripBuilder::finish(ReduceOp reduce, ValueRange carried) {
  SmallVector<Value> results(carried);
  if (reduce.getOrder() == ReduceOrder::tree)
    results = finishTree(reduce.getCombine(), carried);
  if (keepsPartials(reduce)) {
    Operation *copy = builder.clone(*reduce);
    copy->setOperands(carried);
    results.assign(copy->result_begin(), copy->result_end());
  }
  for (auto [old, result] : llvm::zip(reduce.getResults(), results))
    replacements.emplace_back(old, result);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// The type of a tile without one of its axes.
static Type withoutAxis(Type tile, int64_t axis) {
  auto type = cast<RankedTensorType>(tile);
  SmallVector<int64_t> sides(type.getShape());
  sides.erase(sides.begin() + axis);
  return sides.empty() ? type.getElementType() : RankedTensorType::get(sides, type.getElementType());
}

/// The same numbers all along an axis.
static Value repeat(OpBuilder &builder, Location loc, Value value, RankedTensorType type, int64_t axis) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return SplatOp::create(builder, loc, type, value);
  SmallVector<int64_t> sides(tile.getShape());
  sides.insert(sides.begin() + axis, 1);
  value = ExpandDimsOp::create(builder, loc, RankedTensorType::get(sides, tile.getElementType()), value, axis);
  return BroadcastOp::create(builder, loc, type, value);
}

/// A piece of a scan along the cut axis goes on from the total of the pieces before.
SmallVector<Value> StripBuilder::emitScan(ScanOp piece) {
  int64_t axis = piece.getAxis();
  SmallVector<Type> types;
  for (Type type : piece.getResultTypes())
    types.push_back(withoutAxis(type, axis));
  auto total = ReduceOp::create(builder, loc, types, piece.getOperands(), axis, ReduceOrder::indexed);
  IRMapping mapping;
  piece.getCombine().cloneInto(&total.getCombine(), mapping);
  ValueRange carried = loop.getRegionIterArgs().drop_front(scanCarry).take_front(types.size());
  scanCarry += types.size();
  SmallVector<Value> before;
  for (auto [value, type] : llvm::zip(carried, piece.getResultTypes()))
    before.push_back(repeat(builder, loc, value, cast<RankedTensorType>(type), axis));
  llvm::append_range(scanTotals, combineCarried(piece.getCombine(), carried, total.getResults()));
  return combineCarried(piece.getCombine(), before, piece.getResults());
}

static TypedAttr initialValue(OpBuilder &builder, Region &function, Type type) {
  TypedAttr start = neutralOf(function);
  if (!start)
    start = cast<TypedAttr>(builder.getZeroAttr(elementTypeOf(type)));
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? SplatElementsAttr::get(tile, Attribute(start)) : start;
}

/// The values with which the loop begins: any, where there is no neutral one. Those of scans come last.
SmallVector<Value> StripBuilder::initialValues() {
  SmallVector<Value> first;
  auto add = [&](Region &function, Type type) {
    first.push_back(constant(initialValue(builder, function, type)));
  };
  for (const StripRoot &root : strips.roots)
    if (auto reduce = dyn_cast<ReduceOp>(root.op))
      for (unsigned level = 0; level < levelsOf(reduce, strips.pieces()); ++level)
        for (auto [operand, result] : llvm::zip(reduce.getOperands(), reduce.getResults()))
          add(reduce.getCombine(), keepsPartials(reduce) ? pieceType(operand, root.axis) : result.getType());
  scanCarry = first.size();
  for (const Cut &cut : strips.slice)
    if (isCarriedScan(cut.op, cut.axis))
      for (Type type : cut.op->getResultTypes())
        add(cast<ScanOp>(cut.op).getCombine(), withoutAxis(type, cut.axis));
  return first;
}
