//===- Clock.h - what one program instance knows of the others ----------------===//
//
// A vector clock: for each instance, how many of its releases can be seen. Kept as runs of
// neighbouring instances with equal counts, because the usual idioms (a lock that is handed on, a
// chain of flags, a counter) make one run of all instances so far, however many there are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace tk::interp {

class Clock {
public:
  /// Releases of `instance` that can be seen; 0 for one that is not known.
  uint32_t countOf(uint32_t instance) const;
  /// Sees at least `count` releases of `instance`.
  void raise(uint32_t instance, uint32_t count);
  /// Sees what `other` sees, too.
  void join(const Clock &other);
  void clear() { runs.clear(); }
  bool isEmpty() const { return runs.empty(); }
  size_t numRuns() const { return runs.size(); }

private:
  /// Instances begin to before end; in order, apart, and no two that touch have one count.
  struct Run {
    uint32_t begin, end, count;
  };
  static void append(std::vector<Run> &to, Run run);
  std::vector<Run> runs;
};

} // namespace tk::interp
