//===- KeyDistance.h - how far apart two keys of a tuning table are --------===//
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tkcrt {

/// The product of what factor each number is off by. Tile sizes suit a problem by its magnitude, so
/// 100 is as near to 200 as 1000 to 2000. The loader and the tool that explains a table ask here.
inline double keyDistance(const int64_t *a, const int64_t *b, size_t width) {
  double product = 1;
  for (size_t i = 0; i < width; ++i) {
    double left = static_cast<double>(std::max<int64_t>(a[i], 1));
    double right = static_cast<double>(std::max<int64_t>(b[i], 1));
    product *= left > right ? left / right : right / left;
  }
  return product;
}

} // namespace tkcrt
