//===- Bounds.cpp - error bounds beside values ------------------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/BoundRules.h"

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static double productBound(Bounded a, Bounded b) {
  double bound = 0;
  if (b.bound != 0)
    bound += a.largest() * b.bound;
  if (a.bound != 0)
    bound += b.largest() * a.bound;
  return bound;
}

static double quotientBound(Bounded a, Bounded b) {
  if (a.bound == 0 && b.bound == 0)
    return 0;
  if (b.smallest() == 0)
    return kInfinity;
  return (a.bound + a.largest() / b.smallest() * b.bound) / b.smallest();
}

/// What rounding the product of equal operands changes: a contraction leaves it out.
static double productResidual(DType type, double a, double b, double result) {
  if (type == DType::f64)
    return std::fabs(std::fma(a, b, -result));
  return std::fabs(a * b - result); // a * b is exact in double
}

template <class T, BinaryOp Op, bool Contracts>
static double binaryBoundOf(const FloatFormat &format, Bounded a, Bounded b, double result) {
  switch (Op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return roundedBound(format, result, a.bound + b.bound, false);
  case BinaryOp::Mul: {
    double bound = productBound(a, b);
    if (Contracts && bound == 0)
      return productResidual(TypeOf<T>::value, a.value, b.value, result) * kBoundSlack;
    return roundedBound(format, result, bound, true);
  }
  case BinaryOp::Div:
    return roundedBound(format, result, quotientBound(a, b), true);
  default:
    return std::max(a.bound, b.bound);
  }
}

template <class T, BinaryOp Op, bool Contracts>
static void binaryBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a), *eb = frame.boundsAt(inst.b);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]},
            y = {double(Numeric<T>::load(b[i])), eb[i]};
    double result = double(Numeric<T>::load(r[i]));
    bool finite = std::isfinite(x.value) && std::isfinite(y.value);
    bounds[i] = finishBound(result, binaryBoundOf<T, Op, Contracts>(format, x, y, result), finite);
  }
}

template <class T> static InstFn binaryBoundFor(BinaryOp op, bool contracts) {
  switch (op) {
  case BinaryOp::Add:
    return binaryBound<T, BinaryOp::Add, false>;
  case BinaryOp::Sub:
    return binaryBound<T, BinaryOp::Sub, false>;
  case BinaryOp::Mul:
    return contracts ? binaryBound<T, BinaryOp::Mul, true> : binaryBound<T, BinaryOp::Mul, false>;
  case BinaryOp::Div:
    return binaryBound<T, BinaryOp::Div, false>;
  default:
    return binaryBound<T, BinaryOp::Max, false>;
  }
}

InstFn tk::interp::selectBoundBinary(BinaryOp op, DType type, bool contracts) {
#define TK_CALL(T) (binaryBoundFor<T>(op, contracts))
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

template <class T> static void fmaBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *c = frame.at<T>(inst.c);
  const T *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a), *eb = frame.boundsAt(inst.b);
  const double *ec = frame.boundsAt(inst.c);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]},
            y = {double(Numeric<T>::load(b[i])), eb[i]};
    double z = double(Numeric<T>::load(c[i])), result = double(Numeric<T>::load(r[i]));
    bool finite = std::isfinite(x.value) && std::isfinite(y.value) && std::isfinite(z);
    double bound = roundedBound(format, result, productBound(x, y) + ec[i], true);
    bounds[i] = finishBound(result, bound, finite);
  }
}

InstFn tk::interp::selectBoundFma(DType type) {
#define TK_CALL(T) (fmaBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <class T> static void roundBound(const Inst &inst, Frame &frame) {
  const T *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    double result = double(Numeric<T>::load(r[i]));
    double bound = roundedBound(format, result, ea[i], true);
    // Toward zero, each of the two roundings may be as large as one ulp.
    if ((inst.aux & kBoundDirected) && bound != 0)
      bound += 2 * format.halfUlp * (std::fabs(result) + ea[i]) + format.minSubnormal;
    bounds[i] = finishBound(result, bound, std::fabs(result) <= format.max);
  }
}

/// Storage types mostly saturate: then two results differ by no more than the range.
template <class T> static void storageBound(const Inst &inst, Frame &frame) {
  const T *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf<typename T::Format>();
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    double result = std::fabs(double(toFloat(r[i]))), largest = std::min(result + ea[i], format.max);
    double bound = 0;
    if (ea[i] != 0)
      bound = (ea[i] + 2 * format.halfUlp * largest + format.minSubnormal) * kBoundSlack;
    bool mayExceed = (inst.aux & kBoundExcess) && result + bound > format.max;
    bounds[i] = finishBound(result, bound != 0 && mayExceed ? kInfinity : bound, result <= format.max);
  }
}

InstFn tk::interp::selectBoundRound(DType, DType to) {
  if (isStorage(to))
    return withNarrowFloat(to, [](auto narrow) -> InstFn { return storageBound<decltype(narrow)>; });
#define TK_CALL(T) (roundBound<T>)
  TK_FOR_FLOAT(to, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Bounds that only move
//===----------------------------------------------------------------------===//

static void boundZero(const Inst &inst, Frame &frame) {
  std::fill_n(frame.boundsAt(inst.dst), frame.count(inst), 0.0);
}
InstFn tk::interp::selectBoundZero() {
  return boundZero;
}

static void boundMove(const Inst &inst, Frame &frame) {
  std::copy_n(frame.boundsAt(inst.a), frame.count(inst), frame.boundsAt(inst.dst));
}
InstFn tk::interp::selectBoundMove() {
  return boundMove;
}
InstFn tk::interp::selectBoundCopy() {
  return boundMove;
}

static void boundBitcast(const Inst &inst, Frame &frame) {
  bool isSame = true;
  const size_t from = inst.c ? inst.c : frame.lanes;
  for (size_t i = 0; inst.a != kNoSlot && i < from; ++i)
    isSame &= frame.boundsAt(inst.a)[i] == 0;
  std::fill_n(frame.boundsAt(inst.dst), frame.count(inst), isSame ? 0 : kInfinity);
}
InstFn tk::interp::selectBoundBitcast() {
  return boundBitcast;
}

static void boundSplat(const Inst &inst, Frame &frame) {
  std::fill_n(frame.boundsAt(inst.dst), frame.count(inst), *frame.boundsAt(inst.a));
}
InstFn tk::interp::selectBoundSplat() {
  return boundSplat;
}

static void boundBroadcast(const Inst &inst, Frame &frame) {
  const CopyPlan &plan = frame.program->copies[inst.aux];
  const double *from = frame.boundsAt(inst.a);
  double *to = frame.boundsAt(inst.dst);
  std::vector<uint32_t> at(plan.sides.size(), 0);
  for (size_t i = 0; i < frame.count(inst); ++i) {
    size_t source = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      source += size_t(at[axis]) * plan.strides[axis];
    to[i] = from[source];
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < plan.sides[axis])
        break;
      at[axis] = 0;
    }
  }
}
InstFn tk::interp::selectBoundBroadcast() {
  return boundBroadcast;
}

template <bool Scalar> static void boundSelect(const Inst &inst, Frame &frame) {
  const uint8_t *condition = frame.at<uint8_t>(inst.a);
  const double *whenTrue = frame.boundsAt(inst.b), *whenFalse = frame.boundsAt(inst.c);
  double *bounds = frame.boundsAt(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    bounds[i] = condition[Scalar ? 0 : i] ? whenTrue[i] : whenFalse[i];
}
InstFn tk::interp::selectBoundSelect(bool scalarCondition) {
  return scalarCondition ? boundSelect<true> : boundSelect<false>;
}
