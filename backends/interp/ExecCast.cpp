//===- ExecCast.cpp - conversions between element types ------------------------===//
//
// Integers are extended and cut here, everything else is a Conversion. i1 is 0 or 1 in tk.cast,
// whatever the flags say; in arith.extsi a set bit extends to -1.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"

using namespace tk::interp;

template <class From, class To, class Op> static void convert(const Inst &inst, Frame &frame) {
  const From *__restrict a = frame.at<From>(inst.a);
  To *__restrict result = frame.at<To>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::template apply<From, To>(a[i]);
}

//===----------------------------------------------------------------------===//
// Integers to integers
//===----------------------------------------------------------------------===//

namespace {
/// Sign extension for signed From, zero extension for unsigned, truncation.
struct ByValue {
  template <class From, class To> static To apply(From value) { return To(value); }
};
struct BoolSign {
  template <class From, class To> static To apply(From value) { return value ? To(-1) : To(0); }
};
struct LowBit {
  template <class From, class To> static To apply(From value) { return To(value & 1); }
};
} // namespace

template <class From, class Op> static InstFn toInteger(DType to) {
  switch (to) {
  case DType::i8:
    return convert<From, int8_t, Op>;
  case DType::i16:
    return convert<From, int16_t, Op>;
  case DType::i32:
    return convert<From, int32_t, Op>;
  case DType::i64:
    return convert<From, int64_t, Op>;
  default:
    return nullptr;
  }
}

/// Runs `F<type>(args)` for the C++ type that holds integers of `type` with the sign asked for.
#define TK_FOR_INTEGER(TYPE, UNSIGNED, CALL)                                                       \
  switch (TYPE) {                                                                                  \
  case DType::i8:                                                                                  \
    return UNSIGNED ? CALL(uint8_t) : CALL(int8_t);                                                \
  case DType::i16:                                                                                 \
    return UNSIGNED ? CALL(uint16_t) : CALL(int16_t);                                              \
  case DType::i32:                                                                                 \
    return UNSIGNED ? CALL(uint32_t) : CALL(int32_t);                                              \
  case DType::i64:                                                                                 \
    return UNSIGNED ? CALL(uint64_t) : CALL(int64_t);                                              \
  default:                                                                                         \
    return nullptr;                                                                                \
  }

InstFn tk::interp::selectExtend(DType from, DType to, bool isUnsigned) {
  if (from == DType::i1)
    return isUnsigned ? toInteger<uint8_t, ByValue>(to) : toInteger<uint8_t, BoolSign>(to);
#define TK_CALL(T) (toInteger<T, ByValue>(to))
  TK_FOR_INTEGER(from, isUnsigned, TK_CALL)
#undef TK_CALL
}

InstFn tk::interp::selectTruncate(DType from, DType to) {
#define TK_TO_BOOL(T) (convert<T, uint8_t, LowBit>)
  if (to == DType::i1) {
    TK_FOR_INTEGER(from, true, TK_TO_BOOL)
  }
#undef TK_TO_BOOL
#define TK_CALL(T) (toInteger<T, ByValue>(to))
  TK_FOR_INTEGER(from, true, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// All other pairs
//===----------------------------------------------------------------------===//

static void runConversion(const Inst &inst, Frame &frame) {
  const Conversion &conversion = frame.program->conversions[inst.aux];
  conversion.run(frame.arena + inst.a, frame.arena + inst.dst, frame.count(inst));
}

InstFn tk::interp::selectConversion() {
  return runConversion;
}
