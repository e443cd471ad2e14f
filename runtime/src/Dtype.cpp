//===- Dtype.cpp - facts about element types -------------------------------===//
#include "Dtype.h"

#include <cmath>
#include <cstring>

namespace tkcrt {

static constexpr DtypeInfo kDtypes[] = {
    {"i1", TKC_I1, 8, DtypeClass::Bool, true},
    {"i8", TKC_I8, 8, DtypeClass::Signed, true},
    {"i16", TKC_I16, 16, DtypeClass::Signed, true},
    {"i32", TKC_I32, 32, DtypeClass::Signed, true},
    {"i64", TKC_I64, 64, DtypeClass::Signed, true},
    {"u8", TKC_U8, 8, DtypeClass::Unsigned, true},
    {"u16", TKC_U16, 16, DtypeClass::Unsigned, true},
    {"u32", TKC_U32, 32, DtypeClass::Unsigned, true},
    {"u64", TKC_U64, 64, DtypeClass::Unsigned, true},
    {"f16", TKC_F16, 16, DtypeClass::Float, true},
    {"bf16", TKC_BF16, 16, DtypeClass::Float, true},
    {"f32", TKC_F32, 32, DtypeClass::Float, true},
    {"f64", TKC_F64, 64, DtypeClass::Float, true},
    {"f8e4m3fn", TKC_F8E4M3FN, 8, DtypeClass::Float, false},
    {"f8e5m2", TKC_F8E5M2, 8, DtypeClass::Float, false},
    {"f8e4m3fnuz", TKC_F8E4M3FNUZ, 8, DtypeClass::Float, false},
    {"f8e5m2fnuz", TKC_F8E5M2FNUZ, 8, DtypeClass::Float, false},
    {"e8m0", TKC_E8M0, 8, DtypeClass::Float, false},
    {"i4", TKC_I4, 4, DtypeClass::Signed, false},
    {"u4", TKC_U4, 4, DtypeClass::Unsigned, false},
    {"f4e2m1", TKC_F4E2M1, 4, DtypeClass::Float, false},
};

const DtypeInfo *findDtype(const std::string &name) {
  for (const DtypeInfo &info : kDtypes)
    if (name == info.name)
      return &info;
  return nullptr;
}

/// The table is in the order of the codes, which begin at 1.
const DtypeInfo *findDtype(uint32_t code) {
  constexpr uint32_t count = sizeof(kDtypes) / sizeof(kDtypes[0]);
  return code >= 1 && code <= count ? &kDtypes[code - 1] : nullptr;
}

const char *dtypeName(uint32_t code) {
  const DtypeInfo *info = findDtype(code);
  return info ? info->name : "unknown dtype";
}

bool fitsInteger(const DtypeInfo &type, int64_t value) {
  switch (type.cls) {
  case DtypeClass::Bool:
    return value == 0 || value == 1;
  case DtypeClass::Signed:
    return type.bits == 64 ||
           (value >= -(int64_t(1) << (type.bits - 1)) && value < int64_t(1) << (type.bits - 1));
  case DtypeClass::Unsigned:
    return value >= 0 && (type.bits == 64 || value < int64_t(1) << type.bits);
  case DtypeClass::Float:
    return false;
  }
  return false;
}

/// To the nearest integer, ties to even, for values below 2^52 (by hand: std::nearbyint is libm's).
static uint64_t roundToEven(double value) {
  uint64_t floor = static_cast<uint64_t>(value);
  double rest = value - static_cast<double>(floor);
  return floor + (rest > 0.5 || (rest == 0.5 && floor % 2 == 1));
}

/// f16 and bf16: sign, exponent with this bias, mantissa of this width.
static uint64_t narrowBits(double value, int mantissaBits, int bias) {
  uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  uint64_t infinity = uint64_t(2 * bias + 1) << mantissaBits;
  if (std::isnan(value))
    return infinity | uint64_t(1) << (mantissaBits - 1);
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent); // magnitude = m * 2^exponent with m in [0.5, 1)
  --exponent;
  if (exponent > bias)
    return sign | infinity;
  if (exponent < 1 - bias)
    exponent = 1 - bias; // subnormal: the lowest exponent's spacing
  // Scaling by a power of two is exact here, so this rounds once.
  uint64_t units = roundToEven(std::ldexp(magnitude, mantissaBits - exponent));
  // A carry out of the mantissa runs into the exponent field, which is what is wanted, up to
  // infinity. The implicit bit of a normal number is taken off by the "- 1" on the exponent.
  return sign | ((uint64_t(exponent + bias - 1) << mantissaBits) + units);
}

uint64_t floatBits(const DtypeInfo &type, double value) {
  uint64_t bits = 0;
  switch (type.code) {
  case TKC_F16:
    return narrowBits(value, 10, 15);
  case TKC_BF16:
    return narrowBits(value, 7, 127);
  case TKC_F32: {
    float narrow = static_cast<float>(value);
    memcpy(&bits, &narrow, sizeof(narrow));
    return bits;
  }
  default:
    memcpy(&bits, &value, sizeof(value));
    return bits;
  }
}

} // namespace tkcrt
