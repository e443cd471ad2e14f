//===- StripMineTiles.cpp - big tiles are worked through piece by piece --------===//
//
// Requires: phase Canonical; the kernel's contract says how many warps a block has.
// Ensures:  stores and reductions of tiles over the register budget are in loops over pieces, as far
//           as their operands can be cut; no other code changes.
// Fails:    never. Remark TK4110 says what was cut, TK4111 what was not and why.
//
//   %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
//   %w = tk.unary exp %v : tensor<65536xf32>
//   tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
// becomes
//   scf.for %p = 0 to 16 {
//     %j = %i + %p * 4096
//     %v = tk.read %x[%j] widths [4096] : !tk.view<f32, 1, 0> -> tensor<4096xf32>
//     %w = tk.unary exp %v : tensor<4096xf32>
//     tk.write %w, %y[%j] widths [4096] : tensor<4096xf32>, !tk.view<f32, 1, 1>
//   }
//
// A reduction that any order suits keeps one partial result an element of a piece, and combines
// those after the loop; any other one combines what each piece gives, the earlier pieces on the
// left. There is no identity: in the first trip the piece itself is taken. Under `order tree` pieces
// are nodes of the tree, and combined as a counter carries. What is cut, and along which axis, is in
// analysis/StripPlan.h.
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/Launch.h"
#include "passes/Passes.h"
#include "passes/StripBuilder.h"

namespace tk {
#define GEN_PASS_DEF_STRIPMINETILES
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static StripBudget budgetOf(KernelOp kernel, int64_t warpSize, int64_t mostOfThread, int64_t mostOfBlock) {
  return {warpSize * warpsOf(kernel), registersOfThread(kernel, warpSize, mostOfThread, mostOfBlock)};
}

static SmallVector<StripLoop> decideAll(KernelOp kernel, StripBudget budget) {
  StripPlan plan(kernel, budget);
  SmallVector<StripLoop> loops;
  kernel.walk([&](Block *block) {
    if (isa<KernelOp, scf::ForOp, scf::WhileOp, scf::IfOp>(block->getParentOp()))
      llvm::append_range(loops, plan.decide(*block));
  });
  return loops;
}

static void sayWhatWasCut(const StripLoop &loop) {
  const StripRoot &root = *llvm::max_element(
      loop.roots, [](const StripRoot &a, const StripRoot &b) { return a.elements < b.elements; });
  std::string type;
  llvm::raw_string_ostream(type) << root.largest.getType();
  emit<diag::StripMined>(root.op->getLoc(), type, root.pieces,
                         llvm::divideCeil(root.elements, root.pieces));
}

/// Erases the roots, and what nobody uses any more of what their pieces were made of.
static void eraseOld(ArrayRef<StripLoop> loops) {
  SetVector<Operation *> old;
  for (const StripLoop &loop : loops) {
    for (const Cut &cut : loop.slice)
      old.insert(cut.op);
    for (const StripRoot &root : loop.roots)
      if (root.op->getNumResults() == 0)
        root.op->erase();
      else
        old.insert(root.op);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (Operation *op : llvm::to_vector(llvm::reverse(old)))
      if (isOpTriviallyDead(op)) {
        old.remove(op);
        op->erase();
        changes = true;
      }
  }
}

namespace {
struct StripMineTiles : tk::impl::StripMineTilesBase<StripMineTiles> {
  using Base::Base;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      StripBudget budget = budgetOf(kernel, warpSize, registersPerThread, registersPerBlock);
      flattenBranches(kernel, budget);
      SmallVector<StripLoop> loops = decideAll(kernel, budget);
      SmallVector<std::pair<Value, Value>> replacements;
      for (const StripLoop &loop : loops) {
        sayWhatWasCut(loop);
        StripBuilder build(loop);
        build.run();
        llvm::append_range(replacements, build.replacements);
      }
      for (auto [old, result] : replacements)
        old.replaceAllUsesWith(result);
      eraseOld(loops);
    }
  }
};
} // namespace
