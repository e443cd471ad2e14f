//===- Crash.h - when LLVM or MLIR gives up, tkc does not ----------------------===//
//
// LLVM and MLIR end the process on input that they do not foresee. Work runs under a guard that
// catches signals (also the overflow of the stack), aborts, and LLVM's fatal errors, so that every
// such end becomes TK9003 with a way to reproduce it, exit status 3, and no output.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tk {

/// Says what is being done ("running ptxas"), for the report of a crash. `what` is a literal.
void setActivity(const char *what);

/// What makes the crash happen again, for a report that can't be made any more, as text or as the
/// line of JSON that was asked for; kept once.
void setReproduction(llvm::StringRef command, bool asJson);

struct CrashReport {
  bool crashed = false;
  std::string activity; // what was being done
  std::string reason;   // "segmentation fault", LLVM's own words; may be empty
};

/// Runs `work`. After a crash nothing that `work` used may be touched any more, and the process
/// should end soon without running destructors.
CrashReport runGuarded(llvm::function_ref<void()> work);

/// From here on the process ends within seconds, with a short report if no other one is made: what
/// crashed may have left locks behind, also the allocator's.
void limitReport();

/// For tests: crashes in the way called `kind`: segv, abort, fatal, stack, malloc or stuck.
void crashOnPurpose(llvm::StringRef kind);

} // namespace tk
