//===- Units.h - what a bundle is compiled from ----------------------------------------===//
//
// A unit is a compile of its own: a kernel with its values and configuration, for one target. Units
// know nothing of each other, so that they may run on any number of threads, or on other machines.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Compile.h"
#include "driver/Session.h"
#include "frontend/Units.h"
#include "ir/target/Target.h"

namespace tk {

class TuningTable;

struct Unit {
  std::optional<KernelUnit> kernel; // none: all that a stage file holds
  std::string target;               // a chip, `compute_80` for PTX, `cpu`; empty: the input's

  /// "matmul[T=f16] BM64.w4 for sm_80"
  std::string text() const;
  /// The same for the name of a file.
  std::string slug() const;
  /// `cpu` and `compute_80` are no chips: the image is another stage then.
  Stage stage() const;
  CompileOptions optionsFor(const CompileOptions &all) const;
};

/// The targets that say what kind of image is wanted.
bool isImageTarget(llvm::StringRef target);

/// The chip of "compute_80", if PTX for it runs on newer ones; null otherwise.
const Target *fallbackChip(llvm::StringRef target);
std::string fallbackNames();

/// The units that options and input ask for; the status is not 0 after an error. `table` (may be
/// null) gets the one that --tuned names.
int planUnits(const CompileOptions &options, const Input &input, mlir::MLIRContext &context,
              std::vector<Unit> &units, TuningTable *table = nullptr);

/// Prints them, as text or JSON, and compiles nothing.
void printUnits(const CompileOptions &options, llvm::ArrayRef<Unit> units, llvm::raw_ostream &os);

struct UnitOutcome {
  WorkResult work;
  CompileResult result;
};

/// Compiles on as many threads as -j says; the outcomes are in the order of `units`.
std::vector<UnitOutcome> compileUnits(const CompileOptions &options, const Input &input,
                                      llvm::ArrayRef<Unit> units);

/// What all units reported, each message once; errors say in which unit they are.
WorkResult joinMessages(WorkResult planned, llvm::ArrayRef<Unit> units,
                        llvm::ArrayRef<UnitOutcome> outcomes);

} // namespace tk
