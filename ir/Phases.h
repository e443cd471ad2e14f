//===- Phases.h - the phases of a module, and what may exist at each ---------===//
//
// A module carries its phase in the attribute `tk.phase`. `verifyPhase` is the checked text of what
// each phase admits; the pipeline runs it after every pass under --verify-phases and in tests.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace tk {

/// In the order in which a module passes through them.
enum class Phase {
  Emitted,       // what the front end makes and the interpreter runs
  Canonical,     // folded, split into variants, host facts attached
  Resident,      // each tile has a residency (register, strip, shared memory)
  Planned,       // layouts chosen, as attributes only
  LaidOut,       // every tile type has a layout; conversions are explicit
  Scheduled,     // pipelines decided, as attributes only
  Expanded,      // pipelines, reductions and conversions use shared buffers explicitly
  Grouped,       // warp groups formed
  SmemAllocated, // every buffer has an offset
  Ordered,       // every dependence between threads is ordered by a barrier or wait
  Machine,       // LLVM dialect, one thread
  Llvm,          // LLVM IR
  Assembled      // a binary
};

llvm::StringRef phaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);

/// The phase a module says it is in; none when it does not say.
std::optional<Phase> phaseOf(mlir::ModuleOp module);
void setPhase(mlir::ModuleOp module, Phase phase);

/// Fails, with a TK9002 at the first offender, when `module` breaks the rules of `phase`. `after`
/// names the pass that just ran.
mlir::LogicalResult verifyPhase(mlir::ModuleOp module, Phase phase, llvm::StringRef after);

} // namespace tk
