//===- TableLookup.h - which records of a tuning table a launch gets -------===//
// The loader and the tool that explains a table ask here, so that both name the same record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tkcrt {

/// The product of what factor each number is off by. Tile sizes suit a problem by its magnitude, so
/// 100 is as near to 200 as 1000 to 2000.
inline double keyDistance(const int64_t *a, const int64_t *b, size_t width) {
  double product = 1;
  for (size_t i = 0; i < width; ++i) {
    double left = static_cast<double>(std::max<int64_t>(a[i], 1));
    double right = static_cast<double>(std::max<int64_t>(b[i], 1));
    product *= left > right ? left / right : right / left;
  }
  return product;
}

/// What tells devices of one arch apart: a launch's, or those that records were measured on.
struct TableDevice {
  int64_t sms = 0;
  int64_t memoryGib = 0; ///< 0: not known; a record of any memory
};

/// A driver keeps a part of the memory for itself, and the next release a little more or less.
constexpr int64_t kSameMemoryGib = 1;

/// Bytes as tables have them, rounded.
inline int64_t gibOf(uint64_t bytes) {
  constexpr int shift = 30;
  return static_cast<int64_t>((bytes + (uint64_t(1) << (shift - 1))) >> shift);
}

/// How far `value` is from `wanted`; of two that are equally far the smaller one is nearer.
inline std::pair<int64_t, int64_t> offBy(int64_t value, int64_t wanted) {
  return {value > wanted ? value - wanted : wanted - value, value};
}

/// The records for `device`: those of its number of SMs and of its memory, or with `isNearest` of
/// the nearest number and then the nearest memory. Those that name no memory come last.
inline std::vector<size_t> recordsFor(const std::vector<TableDevice> &records, TableDevice device,
                                      bool isNearest) {
  auto smsOff = [&](size_t i) { return offBy(records[i].sms, device.sms); };
  auto memoryOff = [&](size_t i) { return offBy(records[i].memoryGib, device.memoryGib); };
  std::pair<int64_t, int64_t> sms(isNearest ? INT64_MAX : 0, isNearest ? INT64_MAX : device.sms);
  for (size_t i = 0; i < records.size(); ++i)
    sms = std::min(sms, smsOff(i));
  std::pair<int64_t, int64_t> memory(isNearest ? INT64_MAX : kSameMemoryGib, INT64_MAX);
  std::vector<size_t> found, anyMemory;
  for (size_t i = 0; i < records.size(); ++i) {
    if (smsOff(i) != sms)
      continue;
    if (records[i].memoryGib == 0 || device.memoryGib == 0) {
      anyMemory.push_back(i);
    } else if (memoryOff(i) <= memory) {
      if (memoryOff(i) < memory)
        found.clear();
      memory = memoryOff(i);
      found.push_back(i);
    }
  }
  found.insert(found.end(), anyMemory.begin(), anyMemory.end());
  return found;
}

} // namespace tkcrt
