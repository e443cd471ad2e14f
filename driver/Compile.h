//===- Compile.h - the compiler as a call --------------------------------------===//
//
// `compile` takes options and one input and gives the stages that were asked for as bytes in
// memory; it writes no file and prints nothing but what -v, --print-ir-* and --time-passes ask
// for. What it finds goes through the context's diagnostics. The tests and `tkc` itself use it;
// Driver.h adds rendering, crash safety and files.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Options.h"
#include "driver/Stages.h"
#include "passes/analysis/Oversized.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <memory>
#include <string>
#include <vector>

namespace tk {

/// One finished stage.
struct Artifact {
  Stage stage;
  std::string bytes;
  std::string unit = {}; // of several: what its file is called besides the input
};

struct CompileResult {
  int status = 0;                        // exit status: 0, 1 or 2
  std::vector<Artifact> artifacts;       // the stages asked for, in order
  std::vector<Artifact> intermediates;   // for --dump-dir and --save-temps
  std::string description;               // JSON for the binary; empty when none is wanted or known
  std::vector<std::string> dependencies; // files that were read
  std::optional<Oversized> oversized;    // why it failed, if that was it
};

/// The input file, read once.
struct Input {
  std::string path; // as given; messages have it
  std::string text;
};

/// Compiles `input`. `outputName` is the file name that the description gives the binary.
CompileResult compile(const CompileOptions &options, const Input &input,
                      const std::string &outputName, mlir::MLIRContext &context);

/// The module of a .tk file, or of one that `--emit=tk` wrote; null after a diagnostic, with the
/// exit status in `status`.
mlir::OwningOpRef<mlir::ModuleOp> compileToTk(const CompileOptions &options, const Input &input,
                                              mlir::MLIRContext &context, int &status);

/// A context with the dialects and translations that any stage may need, single-threaded.
std::unique_ptr<mlir::MLIRContext> createContext();

} // namespace tk
