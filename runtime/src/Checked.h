//===- Checked.h - 64-bit arithmetic that says when it overflows -----------===//
#ifndef TKC_RUNTIME_CHECKED_H
#define TKC_RUNTIME_CHECKED_H

#include <cstdint>

namespace tkcrt {

/// All three: false on overflow, and then `out` is not to be used.
inline bool addTo(int64_t a, int64_t b, int64_t &out) {
  return !__builtin_add_overflow(a, b, &out);
}
inline bool subTo(int64_t a, int64_t b, int64_t &out) {
  return !__builtin_sub_overflow(a, b, &out);
}
inline bool mulTo(int64_t a, int64_t b, int64_t &out) {
  return !__builtin_mul_overflow(a, b, &out);
}

} // namespace tkcrt

#endif
