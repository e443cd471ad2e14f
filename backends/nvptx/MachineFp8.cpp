//===- MachineFp8.cpp - four numbers of fp8 in a register as two pairs of f16 --------===//
//
// Exact: f16 has all numbers of e4m3 and e5m2, subnormal ones too.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// e5m2 is the upper half of f16. e4m3 with its digits moved to where f16 has them is the number times
/// 2^-8; its NaN, all digits ones, is found by the carry of one more.
static Value e4m3PairAsHalf(BitOps ops, Value upper) {
  auto pair = VectorType::get({2}, Float16Type::get(upper.getContext()));
  Value magnitude = ops.lshr(ops.band(upper, 0x7f007f00), 1);
  Value moved = ops.bor(magnitude, ops.band(upper, int32_t(0x80008000)));
  Value scale = ops.bitcast(ops.number(upper.getType(), 0x5c005c00), pair); // 2^8 twice
  Value bits = ops.bitcast(ops.fmul(ops.bitcast(moved, pair), scale), upper.getType());
  Value carry = ops.band(ops.add(magnitude, 0x00800080), 0x40004000);
  Value nan = ops.bor(carry, ops.sub(carry, ops.lshr(carry, 5)));
  return ops.bor(bits, nan);
}

std::pair<Value, Value> Machine::halvesOfFp8(Value word, Type element) {
  BitOps ops(builder, loc);
  Type i32 = builder.getI32Type();
  if (isa<Float8E4M3FNType>(element) && target.hasFp8Conversion) {
    auto pair = VectorType::get({2}, builder.getF16Type());
    auto converted = [&](Value half) {
      return ops.bitcast(intrinsic("llvm.nvvm.e4m3x2.to.f16x2.rn", pair, half), i32);
    };
    return {converted(ops.trunc(word, 16)), converted(ops.trunc(ops.lshr(word, 16), 16))};
  }
  auto upperHalves = [&](int64_t selector) { // two bytes of the word, each above a byte of zeros
    return intrinsic("llvm.nvvm.prmt", i32, {word, integer(0, 32), integer(selector, 32)});
  };
  Value low = upperHalves(0x1404), high = upperHalves(0x3424);
  if (isa<Float8E5M2Type>(element))
    return {low, high};
  return {e4m3PairAsHalf(ops, low), e4m3PairAsHalf(ops, high)};
}
