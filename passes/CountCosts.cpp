//===- CountCosts.cpp - what a kernel's exchanges between threads cost ---------------===//
//
// Requires: phase Expanded or later.
// Ensures:  each kernel carries `tkg.costs`: its barriers, its conversions by means, and the
//           wavefronts that a warp's accesses to shared buffers take and would take without bank
//           conflicts. What stands in a loop counts once. Nothing else changes.
// Fails:    never.
//
//   tk.kernel @k(%n: i64) attributes {contract = #contract}
// becomes, with one barrier in it,
//   tk.kernel @k(%n: i64) attributes {contract = #contract, tkg.costs = {barriers = 1 : i64, ...}}
//
// For tests, which keep these numbers from growing. Fragments that matrix instructions read are not
// among the accesses.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/SharedAccess.h"
#include "mlir/IR/Builders.h"

namespace tk {
#define GEN_PASS_DEF_COUNTCOSTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static DictionaryAttr costsOf(KernelOp kernel) {
  int64_t barriers = 0, renamed = 0, shuffled = 0, throughMemory = 0;
  Wavefronts wavefronts;
  kernel.walk([&](Operation *op) {
    if (auto convert = dyn_cast<tkg::ConvertOp>(op))
      ++(convert.getHow() == "registers" ? renamed : convert.getHow() == "shuffle" ? shuffled : throughMemory);
    barriers += isa<tkg::BarrierOp>(op);
    throughMemory += isa<tkg::AllocOp>(op) && op->hasAttr("conversion");
    wavefronts += wavefrontsOf(op);
  });
  Builder builder(kernel.getContext());
  auto entry = [&](StringRef name, int64_t count) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(count));
  };
  return builder.getDictionaryAttr({entry("barriers", barriers), entry("registers", renamed), entry("shuffle", shuffled),
                                    entry("shared", throughMemory), entry("wavefronts", wavefronts.taken),
                                    entry("conflicts", wavefronts.taken - wavefronts.least)});
}

namespace {
struct CountCosts : tk::impl::CountCostsBase<CountCosts> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel->setAttr("tkg.costs", costsOf(kernel));
  }
};
} // namespace
