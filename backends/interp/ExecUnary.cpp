//===- ExecUnary.cpp - functions of one number ---------------------------------===//
//
// Computed in double by the C library and rounded once to the element's type, so that for types
// below f64 the result is the correctly rounded one but for a few inputs in 2^29.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"

using namespace tk::interp;

template <class T, class Op> static void unary(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = fromDouble<T>(Op::apply(double(Numeric<T>::load(a[i]))));
}

/// Functions that are exact or correctly rounded in the type itself.
template <class T, class Op> static void unaryInType(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Numeric<T>::round(Op::apply(Numeric<T>::load(a[i])));
}

namespace {
struct Exp {
  static double apply(double x) { return std::exp(x); }
};
struct Exp2 {
  static double apply(double x) { return std::exp2(x); }
};
struct Log {
  static double apply(double x) { return std::log(x); }
};
struct Log2 {
  static double apply(double x) { return std::log2(x); }
};
struct Sqrt {
  template <class C> static C apply(C x) { return std::sqrt(x); }
};
struct Rsqrt {
  static double apply(double x) { return 1.0 / std::sqrt(x); }
};
struct Sin {
  static double apply(double x) { return std::sin(x); }
};
struct Cos {
  static double apply(double x) { return std::cos(x); }
};
struct Tanh {
  static double apply(double x) { return std::tanh(x); }
};
struct Erf {
  static double apply(double x) { return std::erf(x); }
};
struct Floor {
  template <class C> static C apply(C x) { return std::floor(x); }
};
struct Ceil {
  template <class C> static C apply(C x) { return std::ceil(x); }
};
/// Below zero in the form that keeps the small results exact.
struct Sigmoid {
  static double apply(double x) {
    if (x >= 0)
      return 1.0 / (1.0 + std::exp(-x));
    double e = std::exp(x);
    return e / (1.0 + e);
  }
};
} // namespace

template <class T> static InstFn unaryOf(UnaryMath fn) {
  switch (fn) {
  case UnaryMath::Abs:
    return nullptr;
  case UnaryMath::Exp:
    return unary<T, Exp>;
  case UnaryMath::Exp2:
    return unary<T, Exp2>;
  case UnaryMath::Log:
    return unary<T, Log>;
  case UnaryMath::Log2:
    return unary<T, Log2>;
  case UnaryMath::Sqrt:
    return unary<T, Sqrt>;
  case UnaryMath::Rsqrt:
    return unary<T, Rsqrt>;
  case UnaryMath::Sin:
    return unary<T, Sin>;
  case UnaryMath::Cos:
    return unary<T, Cos>;
  case UnaryMath::Tanh:
    return unary<T, Tanh>;
  case UnaryMath::Erf:
    return unary<T, Erf>;
  case UnaryMath::Floor:
    return unaryInType<T, Floor>;
  case UnaryMath::Ceil:
    return unaryInType<T, Ceil>;
  case UnaryMath::Sigmoid:
    return unary<T, Sigmoid>;
  }
  return nullptr;
}

InstFn tk::interp::selectUnary(UnaryMath fn, DType type) {
  if (fn == UnaryMath::Abs)
    return selectAbs(type);
  switch (type) {
  case DType::f16:
    return unaryOf<F16>(fn);
  case DType::bf16:
    return unaryOf<BF16>(fn);
  case DType::f32:
    return fn == UnaryMath::Sqrt ? unaryInType<float, Sqrt> : unaryOf<float>(fn);
  case DType::f64:
    return unaryOf<double>(fn);
  default:
    return nullptr;
  }
}
