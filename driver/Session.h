//===- Session.h - one piece of guarded work with its messages ---------------------------===//
//
// What the commands share: reading an input, working on it in a context of its own where a crash is
// caught, and printing what was found.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Compile.h"
#include "driver/Crash.h"
#include "driver/Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tk {

/// Prints a diagnostic that has no place; returns `status`.
int printAlone(const DiagRecord &record, bool json, int status);

std::optional<DiagRecord> readInput(llvm::StringRef path, Input &input);
/// Messages call it <stdin>.
std::optional<DiagRecord> readStandardInput(Input &input);

/// What guarded work left behind.
struct WorkResult {
  int status = 0; // as the work thinks right
  std::vector<DiagRecord> records;
  CrashReport crash;
};

/// Runs `work` in a context of its own; any thread may.
WorkResult runGuardedWork(const CompileOptions &options,
                          llvm::function_ref<int(mlir::MLIRContext &)> work);

/// Prints what was found and gives the exit status; ends the process after a crash.
int reportWork(const CompileOptions &options, const Input &input, const WorkResult &work);

/// Both.
int runSession(const CompileOptions &options, const Input &input,
               llvm::function_ref<int(mlir::MLIRContext &)> work);

} // namespace tk
