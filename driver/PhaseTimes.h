//===- PhaseTimes.h - where the time of a compile went, by phase and pass --------------===//
//
// For --time-passes. MLIR's own manager knows the clock alone, which also counts what other processes did.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/Timing.h"
#include <memory>
#include <mutex>

namespace tk {

class PhaseTimes : public mlir::TimingManager {
public:
  explicit PhaseTimes(bool enabled);
  ~PhaseTimes() override; // frees what `Phase` holds
  /// Milliseconds of the clock and of the processor, which counts all threads of the process; a line a phase, indented
  /// below the one that it is part of. Nothing when not enabled.
  void print(llvm::raw_ostream &out) const;

protected:
  std::optional<void *> rootTimer() override;
  void startTimer(void *handle) override;
  void stopTimer(void *handle) override;
  void *nestTimer(void *handle, const void *id, llvm::function_ref<std::string()> name) override;
  void hideTimer(void *handle) override;

private:
  struct Phase;
  static void printPhase(llvm::raw_ostream &out, const Phase &phase, unsigned depth);

  std::mutex mutex; // of all phases' `parts`: passes nest theirs from several threads
  std::unique_ptr<Phase> root;
};

} // namespace tk
