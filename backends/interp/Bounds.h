//===- Bounds.h - how far two engines may differ ---------------------------------===//
//
// With error bounds, every float carries in double how much the values of two engines may differ
// there, when both obey the numeric contract of the language (docs/language.md): every operation
// is rounded as it says, a * b + c may be one rounding, sums may be in any order, functions have
// their ulps and may flush subnormal results to zero. This is first-order interval arithmetic
// around the interpreter's values: a product's bound is |a| eb + |b| ea + ea eb and two roundings.
//
// Where both operands are equal on all engines (bound 0) and the operation is correctly rounded,
// the result is too. So exact data keeps bound 0 and must agree in every bit. What is not bounded:
// branches and integers that depend on a float near its threshold; select takes the bound of the
// side the interpreter takes; so are indices that sort and argmax-like combines give near ties. A
// combine that is not a plain sum is bounded for the interpreter's order only.
//
// Each instruction here stands beside the one that makes the value and reads its operands and
// result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Exec.h"

namespace tk::interp {

InstFn selectBoundZero();
InstFn selectBoundMove();
InstFn selectBoundCopy();
InstFn selectBoundSplat();
InstFn selectBoundBroadcast();
InstFn selectBoundSelect(bool scalarCondition);
/// `contracts`: of a product whose rounding a contraction may leave out.
InstFn selectBoundBinary(BinaryOp op, DType type, bool contracts);
InstFn selectBoundFma(DType type);
/// aux: ulps allowed, 0 for correct rounding; b: the UnaryMath.
InstFn selectBoundUnary(DType type);
/// aux: ulps allowed, 0 for correct rounding; c: the BinaryMath.
InstFn selectBoundBinaryFn(DType type);
/// aux: these flags.
constexpr uint32_t kBoundDirected = 1; // not rounded to nearest
constexpr uint32_t kBoundExcess = 2;   // what is too large becomes infinity or NaN
InstFn selectBoundRound(DType from, DType to);
/// aux: index of a ReducePlan that is a plain sum, of a reduction or a scan.
InstFn selectBoundSum(DType type);
InstFn selectBoundScanSum(DType type);
/// aux: index of a SortPlan.
InstFn selectBoundSort(DType type);
/// aux: index of a DotPlan.
InstFn selectBoundDot(DType accumulator);
/// Bits read as floats: 0 where the bits are the same on all engines. a: floats, or none; c: their
/// number.
InstFn selectBoundBitcast();

} // namespace tk::interp
