//===- Number.cpp - element types at run time --------------------------------===//
//
// The slow, one-element forms of Number.h, for arguments, messages and expectations.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Number.h"
#include <cstring>

using namespace tk::interp;

FloatFormat tk::interp::formatOf(DType type) {
  switch (type) {
  case DType::f16:
    return {0x1p-11, 0x1p-14, 0x1p-24, 65504.0};
  case DType::bf16:
    return {0x1p-8, 0x1p-126, 0x1p-133, 0x1.fep127};
  case DType::f32:
    return {0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep127};
  default:
    return {0x1p-53, 0x1p-1022, 0x1p-1074, std::numeric_limits<double>::max()};
  }
}

unsigned tk::interp::byteSize(DType type) {
  switch (type) {
  case DType::i1:
  case DType::i8:
  case DType::u8:
    return 1;
  case DType::i16:
  case DType::u16:
  case DType::f16:
  case DType::bf16:
    return 2;
  case DType::i32:
  case DType::u32:
  case DType::f32:
    return 4;
  default:
    return 8;
  }
}

bool tk::interp::isFloat(DType type) {
  return type >= DType::f16 && type <= DType::f64;
}
bool tk::interp::isUnsigned(DType type) {
  return type >= DType::u8 && type <= DType::u64;
}

DType tk::interp::signlessOf(DType type) {
  if (!isUnsigned(type))
    return type;
  return DType(unsigned(type) - unsigned(DType::u8) + unsigned(DType::i8));
}

const char *tk::interp::nameOf(DType type) {
  static constexpr const char *names[] = {"i1",  "i8",  "i16", "i32",  "i64", "u8",  "u16",
                                          "u32", "u64", "f16", "bf16", "f32", "f64", "ptr"};
  return names[unsigned(type)];
}

template <class T> static T get(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

int64_t tk::interp::elementToInteger(DType type, const void *element) {
  switch (type) {
  case DType::i1:
  case DType::u8:
    return get<uint8_t>(element);
  case DType::i8:
    return get<int8_t>(element);
  case DType::i16:
    return get<int16_t>(element);
  case DType::u16:
    return get<uint16_t>(element);
  case DType::i32:
    return get<int32_t>(element);
  case DType::u32:
    return get<uint32_t>(element);
  default:
    return get<int64_t>(element);
  }
}

void tk::interp::elementFromInteger(DType type, int64_t value, void *element) {
  if (type == DType::i1)
    value = value != 0;
  std::memcpy(element, &value, byteSize(type)); // little endian: the low bytes come first
}

double tk::interp::elementToDouble(DType type, const void *element) {
  switch (type) {
  case DType::f16:
    return f16ToFloat(get<uint16_t>(element));
  case DType::bf16:
    return bf16ToFloat(get<uint16_t>(element));
  case DType::f32:
    return get<float>(element);
  case DType::f64:
    return get<double>(element);
  case DType::u64:
    return double(get<uint64_t>(element));
  default:
    return double(elementToInteger(type, element));
  }
}

/// Truncates and saturates to an integer of `bits` bits; NaN gives 0.
static uint64_t saturate(double value, unsigned bits, bool isUnsigned) {
  if (value != value)
    return 0;
  double top = std::ldexp(1.0, int(isUnsigned ? bits : bits - 1));
  if (isUnsigned)
    return value <= 0 ? 0 : value >= top ? ~uint64_t(0) >> (64 - bits) : uint64_t(value);
  if (value >= top)
    return (uint64_t(1) << (bits - 1)) - 1;
  return value < -top ? uint64_t(1) << (bits - 1) : uint64_t(int64_t(value));
}

void tk::interp::elementFromDouble(DType type, double value, void *element) {
  switch (type) {
  case DType::f16: {
    F16 rounded = fromDouble<F16>(value);
    std::memcpy(element, &rounded, 2);
    return;
  }
  case DType::bf16: {
    BF16 rounded = fromDouble<BF16>(value);
    std::memcpy(element, &rounded, 2);
    return;
  }
  case DType::f32: {
    float rounded = float(value);
    std::memcpy(element, &rounded, 4);
    return;
  }
  case DType::f64:
    std::memcpy(element, &value, 8);
    return;
  case DType::i1: {
    uint8_t bit = value != 0;
    std::memcpy(element, &bit, 1);
    return;
  }
  default: {
    unsigned bytes = byteSize(type);
    uint64_t bits = saturate(value, 8 * bytes, isUnsigned(type));
    std::memcpy(element, &bits, bytes);
  }
  }
}
