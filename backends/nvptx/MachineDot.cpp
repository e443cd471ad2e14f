//===- MachineDot.cpp - products by fused multiply-adds ---------------------------------===//
//
// For types and sides that no matrix instruction takes. The operands are in shared memory; a
// thread goes along K in a loop and reads the rows and columns that its elements of the result need.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// Where the lines along K of one operand begin, and which line each register of the result needs.
struct Machine::DotOperand {
  Value buffer;
  int64_t stepBytes; // along K
  SmallVector<Element> lines;
  SmallVector<unsigned> lineOf;
};

/// `along`: the operand's axis K. `across`: the result's axis that the operand lacks.
Machine::DotOperand Machine::dotOperand(Value buffer, const LinearLayout &acc, unsigned along,
                                        unsigned across) {
  auto type = cast<tkg::BufType>(buffer.getType());
  DotOperand operand{buffer, type.stride(along) * type.getElementBytes(), {}, {}};
  unsigned kept = acc.rank() - 2 + acc.rank() - 1 - across; // the other one of the last two axes
  std::map<std::vector<int32_t>, unsigned> known;
  for (int32_t i = 0; i < acc.numRegisters(); ++i) {
    Coords coords = acc.apply(i, 0, 0);
    coords.erase(coords.begin() + across);
    auto [it, isNew] = known.try_emplace({coords.begin(), coords.end()}, operand.lines.size());
    operand.lineOf.push_back(it->second);
    if (!isNew)
      continue;
    Element start = bufferStart(buffer), offset = start;
    for (unsigned axis = 0; axis < acc.rank(); ++axis)
      if (axis != across) {
        unsigned own = axis == kept ? acc.rank() - 2 + acc.rank() - 1 - along : axis;
        offset = plus(offset, times(coordinate(acc, axis, i), type.stride(own) * type.getElementBytes()));
      }
    if (Value valid = validity(acc, i, across))
      offset = {LLVM::SelectOp::create(builder, loc, valid, materialize(offset), materialize(start)), 0};
    operand.lines.push_back(offset);
  }
  return operand;
}

Value Machine::widened(Value value, Type type, Type wide, bool isUnsigned) {
  if (isa<FloatType>(type))
    value = readFloat(value, type);
  if (value.getType() == wide)
    return value;
  if (type.isInteger())
    return isUnsigned ? LLVM::ZExtOp::create(builder, loc, wide, value).getResult()
                      : LLVM::SExtOp::create(builder, loc, wide, value).getResult();
  return LLVM::FPExtOp::create(builder, loc, wide, value);
}

/// To nearest even in the eleven digits of tf32; the carry may run into the exponent. NaN stays.
Value Machine::roundedToTf32(Value x) {
  Type i32 = builder.getI32Type();
  Value bits = LLVM::BitcastOp::create(builder, loc, i32, x);
  Value odd = LLVM::AndOp::create(builder, loc, LLVM::LShrOp::create(builder, loc, bits, integer(13, 32)), integer(1, 32));
  Value moved = LLVM::AddOp::create(builder, loc, bits, LLVM::AddOp::create(builder, loc, odd, integer(0xfff, 32)));
  Value cut = LLVM::AndOp::create(builder, loc, moved, integer(int32_t(~0x1fffu), 32));
  Value nan = LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, x, x);
  return LLVM::SelectOp::create(builder, loc, nan, x, LLVM::BitcastOp::create(builder, loc, x.getType(), cut));
}

Value Machine::productStep(Value a, Value b, Value sum) {
  if (isa<FloatType>(sum.getType()))
    return LLVM::FMAOp::create(builder, loc, a, b, sum);
  return LLVM::AddOp::create(builder, loc, LLVM::MulOp::create(builder, loc, a, b), sum);
}

/// The elements of an accumulator to add to. One of f16 is summed in f32 from zero, and joins in the end.
SmallVector<Value> Machine::beginSums(Value acc) {
  bool isF16 = elementTypeOf(acc.getType()).isF16();
  SmallVector<Value> sums;
  for (int32_t i = 0; i < layoutOf(acc).numRegisters(); ++i)
    sums.push_back(isF16 ? floating(0.0, builder.getF32Type()) : reg(acc, i));
  return sums;
}

void Machine::endSums(Value acc, Value result, ArrayRef<Value> sums) {
  Type type = machineType(elementTypeOf(acc.getType()));
  Tile tile;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value value = sum;
    if (type != sum.getType()) {
      Type wide = sum.getType();
      Value start = LLVM::FPExtOp::create(builder, loc, wide, reg(acc, i));
      value = LLVM::FPTruncOp::create(builder, loc, type, LLVM::FAddOp::create(builder, loc, wide, sum, start));
    }
    tile.push_back({value, 0});
  }
  tiles[result] = std::move(tile);
}

/// Steps along K that one round of the loop takes.
static int64_t stepsPerRound(int64_t length) {
  for (int64_t steps : {4, 2})
    if (length % steps == 0)
      return steps;
  return 1;
}

void Machine::lowerDot(tkg::DotOp op) {
  LinearLayout acc = layoutOf(op.getAcc());
  unsigned rank = acc.rank(), m = rank - 2, n = rank - 1;
  auto aType = cast<tkg::BufType>(op.getA().getType());
  int64_t length = aType.getShape()[n], steps = stepsPerRound(length);
  DotOperand a = dotOperand(op.getA(), acc, n, n), b = dotOperand(op.getB(), acc, m, m);
  SmallVector<Value> sums = beginSums(op.getAcc());
  Type wide = sums.front().getType();
  auto read = [&](const DotOperand &operand, bool isUnsigned, Value k, int64_t step) {
    Type element = cast<tkg::BufType>(operand.buffer.getType()).getElement(), memory = bufferElement(operand.buffer);
    SmallVector<Value> values;
    for (const Element &line : operand.lines) {
      Element at = plus(line, plus(times({k, 0}, operand.stepBytes), {Value(), step * operand.stepBytes}));
      Value value = loadShared(sharedPointer(at), memory, memory, 1)[0];
      value = widened(value, element, wide, isUnsigned);
      values.push_back(op.getInput() == "tf32" ? roundedToTf32(value) : value);
    }
    return values;
  };
  sums = countedLoop(integer(0, 32), integer(length, 32), integer(steps, 32), sums, [&](Value k, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t step = 0; step < steps; ++step) {
      SmallVector<Value> rows = read(a, op.getAUnsigned(), k, step), columns = read(b, op.getBUnsigned(), k, step);
      for (auto [i, sum] : llvm::enumerate(next))
        sum = productStep(rows[a.lineOf[i]], columns[b.lineOf[i]], sum);
    }
    return next;
  });
  endSums(op.getAcc(), op.getResult(), sums);
}
