//===- InsertBarriers.cpp - barriers where threads depend on one another ---------===//
//
// Requires: phase SmemAllocated.
// Ensures:  phase Ordered, checked on every compile: the analysis runs again over the result and
//           must find no unordered pair.
// Fails:    TK9004 when it finds one.
//
//   tkg.buf_store %p, %b
//   %q = tkg.buf_load %b
// becomes
//   tkg.buf_store %p, %b
//   tkg.barrier
//   %q = tkg.buf_load %b
//
// Branch conditions and trip counts are uniform over the block, so a barrier may stand anywhere.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "passes/Passes.h"
#include "passes/analysis/Ordering.h"
#include "mlir/IR/Builders.h"

namespace tk {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static LogicalResult prove(KernelOp kernel) {
  bool proved = true;
  walkDependences(kernel, [&](Operation *earlier, Operation *later) {
    if (proved)
      emit<diag::OrderNotProved>(later->getLoc(), later->getName().getStringRef(),
                                 earlier->getName().getStringRef());
    proved = false;
    return false;
  });
  return success(proved);
}

namespace {
struct InsertBarriers : tk::impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      walkDependences(kernel, [](Operation *, Operation *later) {
        OpBuilder builder(later);
        tkg::BarrierOp::create(builder, later->getLoc());
        return true;
      });
      if (failed(prove(kernel)))
        return signalPassFailure();
    }
    setPhase(getOperation(), Phase::Ordered);
  }
};
} // namespace
