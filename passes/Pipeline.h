//===- Pipeline.h - the passes from `tk` to `tkg`, top to bottom ------------===//
#pragma once

#include "ir/Phases.h"
#include "ir/target/Target.h"
#include "mlir/Pass/PassManager.h"

namespace tk {

/// Adds every pass that takes a module from phase `from` (Emitted for a fresh one) to Ordered, for
/// `target`. Each pass sets the module's phase when it is the one that reaches it.
void addPipeline(mlir::OpPassManager &manager, const Target &target, Phase from);

/// Registers the passes by flag for tk-opt.
void registerTkPasses();

} // namespace tk
