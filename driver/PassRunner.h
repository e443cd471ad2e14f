//===- PassRunner.h - pass pipelines with everything one may want to see ---------===//
#pragma once

#include "driver/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include <vector>

namespace tk {

/// While it lives, errors without a code become errors of `Spec`, which takes the text; they are
/// reported when it goes.
class UncodedDiagnostics {
public:

  UncodedDiagnostics(mlir::MLIRContext &context, const DiagSpec &spec);
  ~UncodedDiagnostics();
  UncodedDiagnostics(const UncodedDiagnostics &) = delete;

private:
  mlir::MLIRContext &context;
  const DiagSpec &spec;
  mlir::DiagnosticEngine::HandlerID handler;
  std::vector<mlir::Diagnostic> kept;
};

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
