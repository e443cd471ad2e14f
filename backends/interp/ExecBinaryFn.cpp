//===- ExecBinaryFn.cpp - functions of two numbers, functions of bits -----------------===//
//
// pow, atan2 and hypot are computed in a wider type as the functions of one number are; fmod,
// copysign, mulhi and the functions of bits are exact. Special arguments follow C: pow(x, 0) and
// pow(1, y) are 1 even for NaN, hypot of an infinity is infinite.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <type_traits>

using namespace tk::interp;

template <class T, class Op> static void binaryWide(const Inst &inst, Frame &frame) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = fromDouble<T>(
        double(Op::apply(Wide(Numeric<T>::load(a[i])), Wide(Numeric<T>::load(b[i])))));
}

/// The remainder of two numbers of a type is a number of that type.
template <class T> static void fmodExact(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Numeric<T>::round(std::fmod(Numeric<T>::load(a[i]), Numeric<T>::load(b[i])));
}

template <class U> static void copySign(const Inst &inst, Frame &frame) {
  constexpr U kSign = U(1) << (8 * sizeof(U) - 1);
  const U *__restrict a = frame.at<U>(inst.a);
  const U *__restrict b = frame.at<U>(inst.b);
  U *__restrict result = frame.at<U>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = U((a[i] & U(~kSign)) | (b[i] & kSign));
}

namespace {
struct Pow {
  template <class C> static C apply(C a, C b) { return std::pow(a, b); }
};
struct Atan2 {
  template <class C> static C apply(C a, C b) { return std::atan2(a, b); }
};
struct Hypot {
  template <class C> static C apply(C a, C b) { return std::hypot(a, b); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <class T> static T upperHalf(T a, T b) {
  __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T((Wide(a) * Wide(b)) >> (8 * sizeof(T)));
}

template <class T> static void mulHigh(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = upperHalf(a[i], b[i]);
}

/// The product of two bits, as of 0 and -1, has nothing in its upper half.
static void mulHighBool(const Inst &inst, Frame &frame) {
  std::fill_n(frame.at<uint8_t>(inst.dst), frame.count(inst), uint8_t(0));
}

template <class S> static InstFn mulHighOf(bool isUnsigned) {
  return isUnsigned ? mulHigh<std::make_unsigned_t<S>> : mulHigh<S>;
}

static InstFn selectMulHigh(DType type, bool isUnsigned) {
  switch (type) {
  case DType::i1:
    return mulHighBool;
  case DType::i8:
    return mulHighOf<int8_t>(isUnsigned);
  case DType::i16:
    return mulHighOf<int16_t>(isUnsigned);
  case DType::i32:
    return mulHighOf<int32_t>(isUnsigned);
  case DType::i64:
    return mulHighOf<int64_t>(isUnsigned);
  default:
    return nullptr;
  }
}

template <class T> static InstFn floatFn(BinaryMath fn) {
  using U = std::conditional_t<sizeof(T) == 2, uint16_t,
                               std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  switch (fn) {
  case BinaryMath::Pow:
    return binaryWide<T, Pow>;
  case BinaryMath::Atan2:
    return binaryWide<T, Atan2>;
  case BinaryMath::Hypot:
    return binaryWide<T, Hypot>;
  case BinaryMath::Fmod:
    return fmodExact<T>;
  case BinaryMath::Copysign:
    return copySign<U>;
  case BinaryMath::MulHi:
    return nullptr;
  }
  return nullptr;
}

InstFn tk::interp::selectBinaryFn(BinaryMath fn, DType type, bool isUnsigned) {
  if (fn == BinaryMath::MulHi)
    return selectMulHigh(type, isUnsigned);
  switch (type) {
  case DType::f16:
    return floatFn<F16>(fn);
  case DType::bf16:
    return floatFn<BF16>(fn);
  case DType::f32:
    return floatFn<float>(fn);
  case DType::f64:
    return floatFn<double>(fn);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

namespace {
struct Popcount {
  template <class U> static U apply(U bits) { return U(std::popcount(bits)); }
};
struct LeadingZeros {
  template <class U> static U apply(U bits) { return U(std::countl_zero(bits)); }
};
struct TrailingZeros {
  template <class U> static U apply(U bits) { return U(std::countr_zero(bits)); }
};
struct Reverse {
  template <class U> static U apply(U bits) {
    uint64_t b = bits;
    b = (b >> 1 & 0x5555555555555555) | (b & 0x5555555555555555) << 1;
    b = (b >> 2 & 0x3333333333333333) | (b & 0x3333333333333333) << 2;
    b = (b >> 4 & 0x0f0f0f0f0f0f0f0f) | (b & 0x0f0f0f0f0f0f0f0f) << 4;
    return U(__builtin_bswap64(b) >> (64 - 8 * sizeof(U)));
  }
};
/// One bit: as many ones as the bit says, as many zeros as it does not.
struct OneBit {
  static uint8_t apply(uint8_t bit) { return bit; }
};
struct ZeroBit {
  static uint8_t apply(uint8_t bit) { return bit ^ 1; }
};
} // namespace

template <class U, class Op> static void bits(const Inst &inst, Frame &frame) {
  const U *__restrict a = frame.at<U>(inst.a);
  U *__restrict result = frame.at<U>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::apply(a[i]);
}

template <class U> static InstFn bitsOf(BitsMath fn) {
  switch (fn) {
  case BitsMath::Popcount:
    return bits<U, Popcount>;
  case BitsMath::Clz:
    return bits<U, LeadingZeros>;
  case BitsMath::Ctz:
    return bits<U, TrailingZeros>;
  case BitsMath::Brev:
    return bits<U, Reverse>;
  }
  return nullptr;
}

InstFn tk::interp::selectBits(BitsMath fn, DType type) {
  switch (type) {
  case DType::i1:
    return fn == BitsMath::Popcount || fn == BitsMath::Brev ? bits<uint8_t, OneBit>
                                                            : bits<uint8_t, ZeroBit>;
  case DType::i8:
    return bitsOf<uint8_t>(fn);
  case DType::i16:
    return bitsOf<uint16_t>(fn);
  case DType::i32:
    return bitsOf<uint32_t>(fn);
  case DType::i64:
    return bitsOf<uint64_t>(fn);
  default:
    return nullptr;
  }
}
