//===- Fault.h - which of the planted faults a program has ---------------------------===//
//
// Only copies that plant.py made include this. TKC_FAULT is the number of the fault, none without it.
// Where TKC_FAULTS_SEEN names a file, the number of each place that is reached is appended once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace tk {

struct FaultSettings {
  int chosen = 0;
  const char *seenFile = std::getenv("TKC_FAULTS_SEEN");

  FaultSettings() {
    if (const char *number = std::getenv("TKC_FAULT"))
      chosen = std::atoi(number);
  }
  void append(int number) const {
    if (std::FILE *out = std::fopen(seenFile, "a")) {
      std::fprintf(out, "%d\n", number);
      std::fclose(out);
    }
  }
};
inline const FaultSettings faultSettings;

template <int Number> bool fault() {
  static std::atomic<bool> seen{false};
  if (faultSettings.seenFile && !seen.exchange(true, std::memory_order_relaxed))
    faultSettings.append(Number);
  return Number == faultSettings.chosen;
}

} // namespace tk
