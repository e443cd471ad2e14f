//===- Number.cpp - element types at run time --------------------------------===//
//
// The slow, one-element forms of Number.h, for arguments, messages and expectations.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Number.h"
#include <cstring>

using namespace tk;
using namespace tk::interp;

FloatFormat tk::interp::formatOf(DType type) {
  if (type == DType::f32)
    return {0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep127};
  if (!isFloat(type) || type == DType::f64)
    return {0x1p-53, 0x1p-1022, 0x1p-1074, std::numeric_limits<double>::max()};
  return withNarrowFloat(type, [](auto narrow) {
    return formatOf<typename decltype(narrow)::Format>();
  });
}

namespace {
struct Row {
  const char *name;
  uint8_t bits, bytes; // in memory, in a program
};
} // namespace

static constexpr Row kTypes[] = {
    {"i1", 8, 1},         {"i4", 4, 1},     {"i8", 8, 1},         {"i16", 16, 2},
    {"i32", 32, 4},       {"i64", 64, 8},   {"u4", 4, 1},         {"u8", 8, 1},
    {"u16", 16, 2},       {"u32", 32, 4},   {"u64", 64, 8},       {"f16", 16, 2},
    {"bf16", 16, 2},      {"f32", 32, 4},   {"f64", 64, 8},       {"f8e4m3fn", 8, 1},
    {"f8e5m2", 8, 1},     {"f8e4m3fnuz", 8, 1}, {"f8e5m2fnuz", 8, 1}, {"f4e2m1", 4, 1},
    {"e8m0", 8, 1},       {"ptr", 64, 8}};

unsigned tk::interp::byteSize(DType type) {
  return kTypes[unsigned(type)].bytes;
}
unsigned tk::interp::bitSize(DType type) {
  return kTypes[unsigned(type)].bits;
}
const char *tk::interp::nameOf(DType type) {
  return kTypes[unsigned(type)].name;
}

bool tk::interp::isFloat(DType type) {
  return type >= DType::f16 && type <= DType::e8m0;
}
bool tk::interp::isStorage(DType type) {
  return (type >= DType::f8e4m3fn && type <= DType::e8m0) || type == DType::i4 || type == DType::u4;
}
bool tk::interp::isUnsigned(DType type) {
  return type >= DType::u4 && type <= DType::u64;
}

DType tk::interp::signlessOf(DType type) {
  if (!isUnsigned(type))
    return type;
  return DType(unsigned(type) - unsigned(DType::u4) + unsigned(DType::i4));
}

DType tk::interp::unsignedOf(DType type) {
  if (type < DType::i4 || type > DType::i64)
    return type;
  return DType(unsigned(type) - unsigned(DType::i4) + unsigned(DType::u4));
}

template <class T> static T get(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

int64_t tk::interp::elementToInteger(DType type, const void *element) {
  switch (type) {
  case DType::i4:
    return int8_t(get<uint8_t>(element) << 4) >> 4;
  case DType::u4:
    return get<uint8_t>(element) & 15;
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
  if (bitSize(type) == 4)
    value &= 15;
  std::memcpy(element, &value, byteSize(type)); // little endian: the low bytes come first
}

double tk::interp::elementToDouble(DType type, const void *element) {
  if (type == DType::f32)
    return get<float>(element);
  if (type == DType::f64)
    return get<double>(element);
  if (type == DType::u64)
    return double(get<uint64_t>(element));
  if (!isFloat(type))
    return double(elementToInteger(type, element));
  return withNarrowFloat(type, [&](auto narrow) -> double {
    return toFloat(get<decltype(narrow)>(element));
  });
}

bool tk::interp::isNan(DType type, const void *element) {
  return isFloat(type) && std::isnan(elementToDouble(type, element));
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
  return value < -top ? uint64_t(0) - (uint64_t(1) << (bits - 1)) : uint64_t(int64_t(value));
}

template <class T> static void put(T value, void *element) {
  std::memcpy(element, &value, sizeof(T));
}

void tk::interp::elementFromDouble(DType type, double value, void *element) {
  if (type == DType::f32)
    return put(float(value), element);
  if (type == DType::f64)
    return put(value, element);
  if (type == DType::i1)
    return put(uint8_t(value != 0), element);
  if (!isFloat(type)) {
    uint64_t bits = saturate(value, bitSize(type), isUnsigned(type));
    return elementFromInteger(type, int64_t(bits), element);
  }
  withNarrowFloat(type, [&](auto narrow) {
    put(fromDouble<decltype(narrow)>(value), element);
  });
}
