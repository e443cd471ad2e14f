//===- Findings.h - what the checks found ------------------------------------===//
//
// Each kind is reported once an operation, with the number of further ones; the first is the one
// of the lowest program id, because findings that count are collected by running instances in
// order. Workers that run side by side are speculative: a finding only says that the run must be
// done again in order.
//
// A run ends early when it has as many errors as are wanted. Warnings end none: what a program that
// only causes warnings leaves in memory is its result. Those past the limit are counted.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tk::interp {

enum class FindingKind : uint8_t {
  LoadOutside,
  StoreOutside,
  IndexOutside,
  ReadUnwritten,
  ReadOut,
  WriteIn,
  RaceWriteWrite,
  RaceReadWritten,
  RaceWriteRead,
  NanAppears,
  StepNotPositive,
  DivideByZero,
  DivideOverflow,
  ShiftTooWide,
  DuplicateStore,
  TileIndexOutside,
  // Atomic operations, scheduling and promises:
  AtomicOutside,
  UsesAbsent,
  RaceReadAtomic,
  RaceWriteAtomic,
  RaceAtomicWritten,
  RaceAtomicRead,
  Deadlock,
  AssertFailed,
  AssumptionFalse,
  HintFalse,
  AddressWraps,
};
constexpr unsigned kNumFindingKinds = 27;

struct Finding {
  FindingKind kind;
  uint32_t op = 0;
  uint64_t further = 0; // more of the kind at the same operation
  std::array<std::string, 6> args;
};

class Findings {
public:
  Findings(size_t numOps, unsigned limit, bool nanIsError, std::atomic<bool> *speculative)
      : seen(numOps * kNumFindingKinds, kUnseen), limit(limit), nanIsError(nanIsError),
        speculative(speculative) {}

  /// The entry to fill in, or null when this one is only counted.
  Finding *add(FindingKind kind, uint32_t op);

  /// Nothing more is wanted: the limit is reached, or the run is done again anyway.
  bool isOver() const {
    return speculative ? speculative->load(std::memory_order_relaxed) : errors >= limit;
  }
  bool isError(FindingKind kind) const;
  /// Places with warnings that are not in the list, because it has enough of them.
  unsigned leftOut() const { return warningsLeftOut; }
  /// Findings are only noticed, not kept.
  bool isSpeculative() const { return speculative; }
  const std::vector<Finding> &all() const { return list; }

  /// NaNs that count only when one is stored: kept until then. See NanCheck.cpp.
  std::vector<Finding> pending;
  void clearPending() { pending.clear(); }
  void promotePending();

private:
  static constexpr int32_t kUnseen = -1, kLeftOut = -2;
  std::vector<int32_t> seen; // index into the list
  std::vector<Finding> list;
  unsigned limit, errors = 0, warningsLeftOut = 0;
  bool nanIsError;
  std::atomic<bool> *speculative;
};

} // namespace tk::interp
