//===- ExecCompare.cpp - comparisons and select --------------------------------===//
//
// A comparison gives one byte an element, 0 or 1.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <cstring>
#include <type_traits>

using namespace tk::interp;

template <class T, class Op> static void compareInt(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  uint8_t *__restrict result = frame.at<uint8_t>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::apply(a[i], b[i]);
}

/// i1: the signed value of 1 is -1.
template <class Op, bool Signed> static void compareBool(const Inst &inst, Frame &frame) {
  const uint8_t *a = frame.at<uint8_t>(inst.a), *b = frame.at<uint8_t>(inst.b);
  uint8_t *result = frame.at<uint8_t>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Signed ? Op::apply(-int(a[i]), -int(b[i])) : Op::apply(int(a[i]), int(b[i]));
}

template <class T, class Op> static void compareFloat(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  const T *__restrict b = frame.at<T>(inst.b);
  uint8_t *__restrict result = frame.at<uint8_t>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::apply(Numeric<T>::load(a[i]), Numeric<T>::load(b[i]));
}

namespace {
struct Eq {
  template <class T> static bool apply(T a, T b) { return a == b; }
};
struct Ne {
  template <class T> static bool apply(T a, T b) { return a != b; }
};
struct Lt {
  template <class T> static bool apply(T a, T b) { return a < b; }
};
struct Le {
  template <class T> static bool apply(T a, T b) { return a <= b; }
};
struct Gt {
  template <class T> static bool apply(T a, T b) { return a > b; }
};
struct Ge {
  template <class T> static bool apply(T a, T b) { return a >= b; }
};
struct Never {
  template <class T> static bool apply(T, T) { return false; }
};
struct Always {
  template <class T> static bool apply(T, T) { return true; }
};
struct Ordered {
  template <class T> static bool apply(T a, T b) { return a == a && b == b; }
};
/// Ordered and unequal.
struct OrderedNe {
  template <class T> static bool apply(T a, T b) { return a < b || a > b; }
};
template <class Op> struct NotOf {
  template <class T> static bool apply(T a, T b) { return !Op::apply(a, b); }
};
} // namespace

template <class S> static InstFn compareIntOf(IntCompare predicate) {
  using U = std::make_unsigned_t<S>;
  switch (predicate) {
  case IntCompare::Eq:
    return compareInt<S, Eq>;
  case IntCompare::Ne:
    return compareInt<S, Ne>;
  case IntCompare::Lt:
    return compareInt<S, Lt>;
  case IntCompare::Le:
    return compareInt<S, Le>;
  case IntCompare::Gt:
    return compareInt<S, Gt>;
  case IntCompare::Ge:
    return compareInt<S, Ge>;
  case IntCompare::ULt:
    return compareInt<U, Lt>;
  case IntCompare::ULe:
    return compareInt<U, Le>;
  case IntCompare::UGt:
    return compareInt<U, Gt>;
  case IntCompare::UGe:
    return compareInt<U, Ge>;
  }
  return nullptr;
}

static InstFn compareBoolOf(IntCompare predicate) {
  switch (predicate) {
  case IntCompare::Eq:
    return compareBool<Eq, false>;
  case IntCompare::Ne:
    return compareBool<Ne, false>;
  case IntCompare::Lt:
    return compareBool<Lt, true>;
  case IntCompare::Le:
    return compareBool<Le, true>;
  case IntCompare::Gt:
    return compareBool<Gt, true>;
  case IntCompare::Ge:
    return compareBool<Ge, true>;
  case IntCompare::ULt:
    return compareBool<Lt, false>;
  case IntCompare::ULe:
    return compareBool<Le, false>;
  case IntCompare::UGt:
    return compareBool<Gt, false>;
  case IntCompare::UGe:
    return compareBool<Ge, false>;
  }
  return nullptr;
}

InstFn tk::interp::selectCompare(IntCompare predicate, DType type) {
  switch (type) {
  case DType::i1:
    return compareBoolOf(predicate);
  case DType::i8:
    return compareIntOf<int8_t>(predicate);
  case DType::i16:
    return compareIntOf<int16_t>(predicate);
  case DType::i32:
    return compareIntOf<int32_t>(predicate);
  case DType::i64:
    return compareIntOf<int64_t>(predicate);
  default:
    return nullptr;
  }
}

template <class T> static InstFn compareFloatOf(FloatCompare predicate) {
  switch (predicate) {
  case FloatCompare::False:
    return compareFloat<T, Never>;
  case FloatCompare::OEq:
    return compareFloat<T, Eq>;
  case FloatCompare::OGt:
    return compareFloat<T, Gt>;
  case FloatCompare::OGe:
    return compareFloat<T, Ge>;
  case FloatCompare::OLt:
    return compareFloat<T, Lt>;
  case FloatCompare::OLe:
    return compareFloat<T, Le>;
  case FloatCompare::ONe:
    return compareFloat<T, OrderedNe>;
  case FloatCompare::Ord:
    return compareFloat<T, Ordered>;
  case FloatCompare::UEq:
    return compareFloat<T, NotOf<OrderedNe>>;
  case FloatCompare::UGt:
    return compareFloat<T, NotOf<Le>>;
  case FloatCompare::UGe:
    return compareFloat<T, NotOf<Lt>>;
  case FloatCompare::ULt:
    return compareFloat<T, NotOf<Ge>>;
  case FloatCompare::ULe:
    return compareFloat<T, NotOf<Gt>>;
  case FloatCompare::UNe:
    return compareFloat<T, Ne>;
  case FloatCompare::Uno:
    return compareFloat<T, NotOf<Ordered>>;
  case FloatCompare::True:
    return compareFloat<T, Always>;
  }
  return nullptr;
}

InstFn tk::interp::selectCompare(FloatCompare predicate, DType type) {
  switch (type) {
  case DType::f16:
    return compareFloatOf<F16>(predicate);
  case DType::bf16:
    return compareFloatOf<BF16>(predicate);
  case DType::f32:
    return compareFloatOf<float>(predicate);
  case DType::f64:
    return compareFloatOf<double>(predicate);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// select: a is the condition, b the value where it is true, c the other
//===----------------------------------------------------------------------===//

template <class T> static void selectTile(const Inst &inst, Frame &frame) {
  const uint8_t *__restrict condition = frame.at<uint8_t>(inst.a);
  const T *__restrict whenTrue = frame.at<T>(inst.b);
  const T *__restrict whenFalse = frame.at<T>(inst.c);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    T mask = T(0) - T(condition[i] != 0);
    result[i] = (whenTrue[i] & mask) | (whenFalse[i] & T(~mask));
  }
}

template <class T> static void selectScalar(const Inst &inst, Frame &frame) {
  uint32_t chosen = *frame.at<uint8_t>(inst.a) ? inst.b : inst.c;
  std::memcpy(frame.at<T>(inst.dst), frame.at<T>(chosen), frame.count(inst) * sizeof(T));
}

InstFn tk::interp::selectSelect(unsigned elementBytes, bool scalarCondition) {
  switch (elementBytes) {
  case 1:
    return scalarCondition ? selectScalar<uint8_t> : selectTile<uint8_t>;
  case 2:
    return scalarCondition ? selectScalar<uint16_t> : selectTile<uint16_t>;
  case 4:
    return scalarCondition ? selectScalar<uint32_t> : selectTile<uint32_t>;
  default:
    return scalarCondition ? selectScalar<uint64_t> : selectTile<uint64_t>;
  }
}
