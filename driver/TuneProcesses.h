//===- TuneProcesses.h - timing in processes that may be lost ------------------------------===//
//
// A launch that faults, never ends, or crashes the driver takes the device from its process for
// good. So that it costs the other configurations nothing, timing is done in attempts, each of them
// a child process: one whose device is lost says what was at fault and ends, and the next one,
// which knows of it, finds the times so far in the cache and times the others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace tk {

/// A configuration on a shape; with a reason, one that ended an attempt.
struct TunePlace {
  std::string kernel; // with its instance
  int64_t shape = 0;  // which of the command line
  int64_t candidate = 0;
  std::string config, reason;

  bool isSameAs(const TunePlace &other) const {
    return kernel == other.kernel && shape == other.shape && candidate == other.candidate;
  }
};

/// The child's side of one attempt.
class TuneAttempt {
public:
  TuneAttempt(int pipe, llvm::ArrayRef<TunePlace> faults) : pipe(pipe), faults(faults) {}

  /// What earlier attempts found at fault: not to be launched again.
  llvm::ArrayRef<TunePlace> knownFaults() const { return faults; }
  bool isKnown(const TunePlace &fault) const;

  /// Ahead of each turn: when the process ends from here on, this is at fault.
  void launching(TunePlace place);
  /// Nothing is being timed any more.
  void pause();
  /// What was launched last.
  const std::optional<TunePlace> &lastPlace() const { return last; }

  /// Asks for another attempt; this one prints nothing.
  void askForAnother(const TunePlace &fault);

private:
  void say(llvm::json::Object message);

  int pipe;
  llvm::ArrayRef<TunePlace> faults;
  std::optional<TunePlace> last;
};

/// Runs `body` in one child process after the other, until one does not ask for another; gives its
/// status. Returns in the child too, with what `body` returns. A call without a cache has one for
/// as long as it takes. No thread may run yet, and the driver may not be open.
int runAttempts(const CompileOptions &options, const TuneOptions &tune,
                llvm::function_ref<int(const TuneOptions &, TuneAttempt &)> body);

} // namespace tk
