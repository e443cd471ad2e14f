//===- PassRunner.h - pass pipelines with everything one may want to see ---------===//
#pragma once

#include "driver/Options.h"
#include "ir/StageReader.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

namespace tk {

/// True when a pass of `manager`, nested ones included, is called `name`.
bool hasPass(const mlir::OpPassManager &manager, llvm::StringRef name);

/// What `runPasses` came to.
enum class PassOutcome { Done, Stopped, Failed };

/// Runs `manager` on `module` as `options` say: printing, timing, phases checked. With --stop-after
/// it ends after the pass of that name. What the passes leave is verified.
PassOutcome runPasses(mlir::OpPassManager &manager, mlir::ModuleOp module,
                      const CompileOptions &options, mlir::TimingScope &timing);

/// How modules are printed: with places only under -g, so that no path gets into a stage unasked.
mlir::OpPrintingFlags printingFlags(const CompileOptions &options);

} // namespace tk
