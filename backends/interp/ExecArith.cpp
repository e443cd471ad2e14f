//===- ExecArith.cpp - arithmetic on floats and integers ----------------------===//
//
// One loop for each operation and element type. The loops are plain so that the compiler
// vectorizes them; this file is compiled without contraction of a * b + c.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <algorithm>
#include <type_traits>

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <class T, class Op> static void binaryFloat(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Numeric<T>::round(Op::apply(Numeric<T>::load(a[i]), Numeric<T>::load(b[i])));
}

template <class T, class Op> static void binaryInt(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::apply(a[i], b[i]);
}

/// i1 computes in one bit: a byte that is masked after the operation.
template <class Op> static void binaryBool(const Inst &inst, Frame &frame) {
  const uint8_t *__restrict a = frame.at<uint8_t>(inst.a);
  const uint8_t *__restrict b = frame.at<uint8_t>(inst.b);
  uint8_t *__restrict result = frame.at<uint8_t>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::apply(a[i], b[i]) & 1;
}

//===----------------------------------------------------------------------===//
// Float operations
//===----------------------------------------------------------------------===//

namespace {
struct AddF {
  template <class C> static C apply(C a, C b) { return a + b; }
};
struct SubF {
  template <class C> static C apply(C a, C b) { return a - b; }
};
struct MulF {
  template <class C> static C apply(C a, C b) { return a * b; }
};
struct DivF {
  template <class C> static C apply(C a, C b) { return a / b; }
};

template <class C> using BitsOf = std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t>;

/// Equal numbers differ at most in the sign of zero: + & gives the larger, | the smaller.
template <class C> C largerOfEqual(C a, C b) {
  return std::bit_cast<C>(std::bit_cast<BitsOf<C>>(a) & std::bit_cast<BitsOf<C>>(b));
}
template <class C> C smallerOfEqual(C a, C b) {
  return std::bit_cast<C>(std::bit_cast<BitsOf<C>>(a) | std::bit_cast<BitsOf<C>>(b));
}

template <bool Number> struct MaxF {
  template <class C> static C apply(C a, C b) {
    C ordered = a > b ? a : a < b ? b : largerOfEqual(a, b);
    if constexpr (Number)
      return a != a ? b : b != b ? a : ordered;
    return a != a || b != b ? a + b : ordered;
  }
};
template <bool Number> struct MinF {
  template <class C> static C apply(C a, C b) {
    C ordered = a < b ? a : a > b ? b : smallerOfEqual(a, b);
    if constexpr (Number)
      return a != a ? b : b != b ? a : ordered;
    return a != a || b != b ? a + b : ordered;
  }
};

//===----------------------------------------------------------------------===//
// Integer operations (T is unsigned for the operations that wrap)
//===----------------------------------------------------------------------===//

struct AddI {
  template <class T> static T apply(T a, T b) { return T(a + b); }
};
struct SubI {
  template <class T> static T apply(T a, T b) { return T(a - b); }
};
struct MulI {
  // A product of two uint16_t would be computed in int and may overflow there.
  template <class T> static T apply(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
};
template <> uint32_t MulI::apply(uint32_t a, uint32_t b) {
  return a * b;
}
template <> uint16_t MulI::apply(uint16_t a, uint16_t b) {
  return uint16_t(uint32_t(a) * b);
}
struct AndI {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct OrI {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct XorI {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};
struct MinI {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct MaxI {
  template <class T> static T apply(T a, T b) { return a > b ? a : b; }
};
struct DivI {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return T(0 - std::make_unsigned_t<T>(a)); // MIN stays MIN
    return T(a / b);
  }
};
struct RemI {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return T(a % b);
  }
};
struct ShlI {
  template <class T> static T apply(T a, T b) {
    return b >= T(8 * sizeof(T)) ? T(0) : T(uint64_t(a) << b);
  }
};
struct ShrI {
  template <class T> static T apply(T a, T b) {
    using U = std::make_unsigned_t<T>;
    constexpr U kLast = 8 * sizeof(T) - 1;
    if (std::is_unsigned_v<T> && U(b) > kLast)
      return 0;
    return T(a >> (U(b) > kLast ? kLast : U(b)));
  }
};

/// One bit: b = 0 divides by zero, b = 1 is 1 unsigned and -1 = MIN signed: always a & b.
struct RemBool {
  static uint8_t apply(uint8_t a, uint8_t b) { return a & (b ^ 1); }
};
struct ShlBool {
  static uint8_t apply(uint8_t a, uint8_t b) { return a & (b ^ 1); }
};
struct KeepBool {
  static uint8_t apply(uint8_t a, uint8_t) { return a; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

template <class T> static InstFn floatOp(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return binaryFloat<T, AddF>;
  case BinaryOp::Sub:
    return binaryFloat<T, SubF>;
  case BinaryOp::Mul:
    return binaryFloat<T, MulF>;
  case BinaryOp::Div:
    return binaryFloat<T, DivF>;
  case BinaryOp::Min:
    return binaryFloat<T, MinF<false>>;
  case BinaryOp::Max:
    return binaryFloat<T, MaxF<false>>;
  case BinaryOp::MinNumber:
    return binaryFloat<T, MinF<true>>;
  case BinaryOp::MaxNumber:
    return binaryFloat<T, MaxF<true>>;
  default:
    return nullptr;
  }
}

template <class S> static InstFn intOp(BinaryOp op, bool isUnsigned) {
  using U = std::make_unsigned_t<S>;
  switch (op) {
  case BinaryOp::Add:
    return binaryInt<U, AddI>;
  case BinaryOp::Sub:
    return binaryInt<U, SubI>;
  case BinaryOp::Mul:
    return binaryInt<U, MulI>;
  case BinaryOp::And:
    return binaryInt<U, AndI>;
  case BinaryOp::Or:
    return binaryInt<U, OrI>;
  case BinaryOp::Xor:
    return binaryInt<U, XorI>;
  case BinaryOp::Shl:
    return binaryInt<U, ShlI>;
  case BinaryOp::Shr:
    return isUnsigned ? binaryInt<U, ShrI> : binaryInt<S, ShrI>;
  case BinaryOp::Div:
    return isUnsigned ? binaryInt<U, DivI> : binaryInt<S, DivI>;
  case BinaryOp::Rem:
    return isUnsigned ? binaryInt<U, RemI> : binaryInt<S, RemI>;
  case BinaryOp::Min:
  case BinaryOp::MinNumber:
    return isUnsigned ? binaryInt<U, MinI> : binaryInt<S, MinI>;
  case BinaryOp::Max:
  case BinaryOp::MaxNumber:
    return isUnsigned ? binaryInt<U, MaxI> : binaryInt<S, MaxI>;
  }
  return nullptr;
}

static InstFn boolOp(BinaryOp op, bool isUnsigned) {
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Xor:
    return binaryBool<XorI>;
  case BinaryOp::Mul:
  case BinaryOp::And:
  case BinaryOp::Div:
    return binaryBool<AndI>;
  case BinaryOp::Or:
    return binaryBool<OrI>;
  case BinaryOp::Rem:
    return binaryBool<RemBool>;
  case BinaryOp::Shl:
    return binaryBool<ShlBool>;
  case BinaryOp::Shr: // signed: the sign bit is the only bit
    return isUnsigned ? binaryBool<ShlBool> : binaryBool<KeepBool>;
  case BinaryOp::Min: // signed: 1 is -1, the smaller
  case BinaryOp::MinNumber:
    return isUnsigned ? binaryBool<AndI> : binaryBool<OrI>;
  case BinaryOp::Max:
  case BinaryOp::MaxNumber:
    return isUnsigned ? binaryBool<OrI> : binaryBool<AndI>;
  }
  return nullptr;
}

InstFn tk::interp::selectBinary(BinaryOp op, DType type, bool isUnsigned) {
  switch (type) {
  case DType::i1:
    return boolOp(op, isUnsigned);
  case DType::i8:
    return intOp<int8_t>(op, isUnsigned);
  case DType::i16:
    return intOp<int16_t>(op, isUnsigned);
  case DType::i32:
    return intOp<int32_t>(op, isUnsigned);
  case DType::i64:
    return intOp<int64_t>(op, isUnsigned);
  case DType::f16:
    return floatOp<F16>(op);
  case DType::bf16:
    return floatOp<BF16>(op);
  case DType::f32:
    return floatOp<float>(op);
  case DType::f64:
    return floatOp<double>(op);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// fma and negf
//===----------------------------------------------------------------------===//

/// a * b + c with one rounding. Products of f16 and bf16 are exact in f32, but the sum is not: it
/// is made in f64 with the error term folded in as a sticky bit.
template <class T> static T fuse(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return std::fma(a, b, c);
  double product = double(Numeric<T>::load(a)) * double(Numeric<T>::load(b));
  double addend = double(Numeric<T>::load(c));
  double sum = product + addend;
  double back = sum - product;
  double error = (product - (sum - back)) + (addend - back);
  bool isOdd = std::bit_cast<uint64_t>(sum) & 1;
  if (error != 0 && std::isfinite(sum) && !isOdd)
    sum = std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
  return fromDouble<T>(sum);
}

template <class T> static void fma(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *c = frame.at<T>(inst.c);
  T *result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = fuse(a[i], b[i], c[i]);
}

InstFn tk::interp::selectFma(DType type) {
  switch (type) {
  case DType::f16:
    return fma<F16>;
  case DType::bf16:
    return fma<BF16>;
  case DType::f32:
    return fma<float>;
  case DType::f64:
    return fma<double>;
  default:
    return nullptr;
  }
}

template <class U, bool ClearOnly> static void flipSign(const Inst &inst, Frame &frame) {
  constexpr U kSign = U(1) << (8 * sizeof(U) - 1);
  const U *__restrict a = frame.at<U>(inst.a);
  U *__restrict result = frame.at<U>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = ClearOnly ? U(a[i] & U(~kSign)) : U(a[i] ^ kSign);
}

InstFn tk::interp::selectNegate(DType type) {
  switch (byteSize(type)) {
  case 2:
    return flipSign<uint16_t, false>;
  case 4:
    return flipSign<uint32_t, false>;
  default:
    return flipSign<uint64_t, false>;
  }
}

template <class S> static void absInt(const Inst &inst, Frame &frame) {
  using U = std::make_unsigned_t<S>;
  const S *__restrict a = frame.at<S>(inst.a);
  S *__restrict result = frame.at<S>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = a[i] < 0 ? S(U(0) - U(a[i])) : a[i];
}

static void absBool(const Inst &inst, Frame &frame) {
  std::copy_n(frame.at<uint8_t>(inst.a), frame.count(inst), frame.at<uint8_t>(inst.dst));
}

InstFn tk::interp::selectAbs(DType type) {
  switch (type) {
  case DType::i1:
    return absBool; // |-1| = -MIN = MIN
  case DType::i8:
    return absInt<int8_t>;
  case DType::i16:
    return absInt<int16_t>;
  case DType::i32:
    return absInt<int32_t>;
  case DType::i64:
    return absInt<int64_t>;
  case DType::f16:
  case DType::bf16:
    return flipSign<uint16_t, true>;
  case DType::f32:
    return flipSign<uint32_t, true>;
  default:
    return flipSign<uint64_t, true>;
  }
}
