//===- PrepareDots.cpp - operands of types that matrix instructions take ------------===//
//
// Requires: phase Resident.
// Ensures:  no tk.dot_scaled is left. An element times its scale is exact in f32, but for what the scale
//           brings out of range; the product is of the first of f16, bf16, tf32 and f32 in which both
//           operands are exact as well (docs/language.md says what is beyond their range). Operands in
//           the fp8 of AMD become f16, which has all their numbers.
// Fails:    never.
//
//   %d = tk.dot_scaled %a scale %s, %b, %c
// becomes, with blocks of 32,
//   %f = arith.extf %a : f32
//   %e = tk.cast %s : f32
//   %x = tk.reshape %f : tensor<64x2x32xf32>
//   %y = tk.reshape %e : tensor<64x2x1xf32>
//   %z = tk.broadcast %y : tensor<64x2x32xf32>
//   %m = arith.mulf %x, %z
//   %n = tk.reshape %m : tensor<64x64xf32>
//   %p = tk.cast %n : bf16
//   %q = tk.cast %b : bf16
//   %d = tk.dot %p, %q, %c
//
//===----------------------------------------------------------------------===//

#include "ir/tk/Elements.h"
#include "passes/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tk {
#define GEN_PASS_DEF_PREPAREDOTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
/// Binary digits, and the exponents of the last digit of the smallest number and beyond the largest.
struct Numbers {
  unsigned digits;
  int lowest, end;

  bool holds(const Numbers &other, bool anyRange) const {
    return other.digits <= digits && (anyRange || (other.lowest >= lowest && other.end <= end));
  }
};

/// A type of operands, and how a product of it is asked for.
struct Candidate {
  Numbers numbers;
  bool anyRange; // its range is that of f32
  DotInput input;
};

/// One operand of a scaled product; K is its axis `depthAxis`.
struct Operand {
  Value tile, scale;
  size_t depthAxis;
};
} // namespace

static Numbers numbersOf(Type type) {
  if (isa<Float4E2M1FNType>(type))
    return {2, -1, 3};
  if (isa<Float8E4M3FNType>(type))
    return {4, -9, 9};
  if (isa<Float8E5M2Type>(type))
    return {3, -16, 16};
  if (isa<Float8E8M0FNUType>(type))
    return {1, -127, 128};
  return type.isF16() ? Numbers{11, -24, 16} : Numbers{8, -133, 128};
}

/// Of an element times its scale. Leading digits below 2 give a product below 4.
static Numbers numbersOf(const Operand &operand) {
  Numbers element = numbersOf(elementTypeOf(operand.tile.getType()));
  if (!operand.scale)
    return element;
  Type type = elementTypeOf(operand.scale.getType());
  Numbers scale = numbersOf(type);
  bool isPower = isa<Float8E8M0FNUType>(type);
  return {isPower ? element.digits : element.digits + scale.digits, element.lowest + scale.lowest,
          element.end + scale.end};
}

/// Of f16, bf16, tf32 and f32, the first that holds both.
static std::pair<Type, DotInput> operandType(const Operand &a, const Operand &b) {
  Builder builder(a.tile.getContext());
  const std::pair<Type, Candidate> candidates[] = {
      {builder.getF16Type(), {{11, -24, 16}, false, DotInput::exact}},
      {builder.getBF16Type(), {{8, 0, 0}, true, DotInput::exact}},
      {builder.getF32Type(), {{11, 0, 0}, true, DotInput::tf32}},
  };
  Numbers left = numbersOf(a), right = numbersOf(b);
  for (const auto &[type, candidate] : candidates)
    if (candidate.numbers.holds(left, candidate.anyRange) && candidate.numbers.holds(right, candidate.anyRange))
      return {type, candidate.input};
  return {builder.getF32Type(), DotInput::exact};
}

static Type withElement(Value tile, Type element) {
  return cast<RankedTensorType>(tile.getType()).clone(element);
}

static Value convert(OpBuilder &builder, Location loc, Value tile, Type element) {
  Type from = elementTypeOf(tile.getType()), type = withElement(tile, element);
  if (from == element)
    return tile;
  bool widens = element.isF32() && (from.isF16() || from.isBF16());
  return widens ? arith::ExtFOp::create(builder, loc, type, tile).getResult()
                : CastOp::create(builder, loc, type, tile, UnitAttr(), UnitAttr(), NumAttr()).getResult();
}

/// The operand times its scales: one axis more, along which a scale is repeated, and back.
static Value scaled(OpBuilder &builder, Location loc, const Operand &operand) {
  Type f32 = builder.getF32Type();
  Value values = convert(builder, loc, operand.tile, f32), scales = convert(builder, loc, operand.scale, f32);
  ArrayRef<int64_t> whole = tileSides(values.getType());
  SmallVector<int64_t> blocks(tileSides(scales.getType())), split(blocks);
  size_t inner = operand.depthAxis + 1;
  blocks.insert(blocks.begin() + inner, 1);
  split.insert(split.begin() + inner, whole[operand.depthAxis] / split[operand.depthAxis]);
  auto reshaped = [&](Value tile, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, f32), tile);
  };
  Value repeated = BroadcastOp::create(builder, loc, RankedTensorType::get(split, f32), reshaped(scales, blocks));
  Value product = arith::MulFOp::create(builder, loc, reshaped(values, split), repeated);
  return reshaped(product, whole);
}

static void expandScaled(DotScaledOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  size_t rank = tileSides(op.getType()).size();
  Operand a{op.getA(), op.getAScale(), rank - 1}, b{op.getB(), op.getBScale(), rank - 2};
  auto [element, input] = operandType(a, b);
  auto prepared = [&, element = element](const Operand &operand) {
    Value tile = operand.scale ? scaled(builder, loc, operand) : operand.tile;
    return convert(builder, loc, tile, element);
  };
  Value left = prepared(a), right = prepared(b);
  Value made = DotOp::create(builder, loc, op.getType(), left, right, op.getAcc(),
                             DotInputAttr::get(op.getContext(), input), builder.getI64IntegerAttr(0), UnitAttr(),
                             UnitAttr());
  op.getResult().replaceAllUsesWith(made);
  op.erase();
}

static bool isFp8OfAmd(Value tile) {
  return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(elementTypeOf(tile.getType()));
}

static void widenAmd(DotOp op) {
  if (!isFp8OfAmd(op.getA()) && !isFp8OfAmd(op.getB()))
    return;
  OpBuilder builder(op);
  op.getAMutable().assign(convert(builder, op.getLoc(), op.getA(), builder.getF16Type()));
  op.getBMutable().assign(convert(builder, op.getLoc(), op.getB(), builder.getF16Type()));
}

namespace {
struct PrepareDots : tk::impl::PrepareDotsBase<PrepareDots> {
  void runOnOperation() override {
    getOperation().walk([](DotScaledOp op) { expandScaled(op); });
    getOperation().walk([](DotOp op) { widenAmd(op); });
  }
};
} // namespace
