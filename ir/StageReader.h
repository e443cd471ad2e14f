//===- StageReader.h - stage files read back -------------------------------------===//
//
// A stage file may have been edited or made by anybody: its nesting is bounded before a recursive
// parser sees it, and what was parsed is verified before it is used.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
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

/// Deepest nesting of brackets in a stage file. The front end's own bound is the same.
constexpr unsigned kMaxStageNesting = 256;

/// Fails with a diagnostic when the brackets of `text` are nested too deeply. Strings and the rest
/// of a line after `comment` do not count.
mlir::LogicalResult checkNesting(mlir::MLIRContext &context, llvm::StringRef path,
                                 llvm::StringRef text, llvm::StringRef comment);

/// A module with a known, verified phase.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
readMlir(mlir::MLIRContext &context, llvm::StringRef path, llvm::StringRef text);

} // namespace tk
