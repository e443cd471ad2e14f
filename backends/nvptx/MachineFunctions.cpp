//===- MachineFunctions.cpp - functions of two numbers, functions of bits -----------===//
//
// pow, atan2, hypot and fmod come from libdevice (errors by CUDA's math documentation, in ulp of
// f32 and f64: pow 4 and 2, atan2 3 and 2, hypot 3 and 2; fmod is exact). f16 and bf16 are computed
// in f32 and rounded once; the remainder of two of them is one of them. All else here is exact.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// The magnitude of the first, the sign of the second.
Value Machine::copySign(Value magnitude, Value sign) {
  BitOps ops(builder, loc);
  int64_t signBit = int64_t(uint64_t(1) << (magnitude.getType().getIntOrFloatBitWidth() - 1));
  Value bits = ops.band(ops.bitsOf(magnitude), ~signBit);
  return ops.bitcast(ops.bor(bits, ops.band(ops.bitsOf(sign), signBit)), magnitude.getType());
}

/// The upper half of the product.
Value Machine::upperHalf(Value a, Value b, bool isUnsigned) {
  BitOps ops(builder, loc);
  unsigned bits = a.getType().getIntOrFloatBitWidth();
  if (bits == 1) // of 0 and 1, as of 0 and -1, nothing is in it
    return integer(0, 1);
  if (bits == 64)
    return intrinsic(isUnsigned ? "llvm.nvvm.mulhi.ull" : "llvm.nvvm.mulhi.ll", a.getType(),
                     {a, b});
  unsigned wide = bits == 32 ? 64 : 32;
  auto widen = [&](Value x) { return isUnsigned ? ops.zext(x, wide) : ops.sext(x, wide); };
  return ops.trunc(ops.lshr(ops.mul(widen(a), widen(b)), bits), bits);
}

Value Machine::binaryFunction(BinaryFnOp op, Value a, Value b) {
  Type type = a.getType();
  BinaryFn fn = op.getFn();
  if (fn == BinaryFn::mulhi)
    return upperHalf(a, b, op.getIsUnsigned());
  if (fn == BinaryFn::copysign)
    return copySign(a, b);
  std::string name = ("__nv_" + stringifyBinaryFn(fn)).str();
  if (type.isF64())
    return libdevice(name, {a, b});
  BitOps ops(builder, loc);
  Type f32 = builder.getF32Type();
  return ops.fptrunc(libdevice(name + "f", {ops.fpext(a, f32), ops.fpext(b, f32)}), type);
}

Value Machine::bitsFunction(BitsOp op, Value x) {
  BitOps ops(builder, loc);
  Type type = x.getType();
  BitsFn fn = op.getFn();
  if (type.isInteger(1)) // as many ones as the bit says, as many zeros as it does not
    return fn == BitsFn::popcount || fn == BitsFn::brev ? x : ops.bnot(x);
  switch (fn) {
  case BitsFn::popcount:
    return intrinsic("llvm.ctpop", type, x);
  case BitsFn::clz:
    return intrinsic("llvm.ctlz", type, {x, integer(0, 1)});
  case BitsFn::ctz:
    return intrinsic("llvm.cttz", type, {x, integer(0, 1)});
  case BitsFn::brev:
    return intrinsic("llvm.bitreverse", type, x);
  }
  return {};
}
