//===- ExpandConversions.cpp - other layouts through shared memory --------------===//
//
// Requires: phase LaidOut, no tk.reduce left.
// Ensures:  phase Expanded. A tkg.convert that needs shared memory is a buffer, a store and a load;
//           one that renames registers stays.
// Fails:    never.
//
//   %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %m = tkg.alloc : !tkg.buf<64xf32>
//   tkg.buf_store %a, %m : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %b = tkg.buf_load %m : !tkg.buf<64xf32> -> tensor<64xf32, #B>
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDCONVERSIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static void expand(tkg::ConvertOp op) {
  OpBuilder builder(op);
  SharedBuilder shared{builder, op.getLoc()};
  op.replaceAllUsesWith(shared.load(shared.spill(op.getValue()), op.getResult().getType()));
  op.erase();
}

namespace {
struct ExpandConversions : tk::impl::ExpandConversionsBase<ExpandConversions> {
  void runOnOperation() override {
    getOperation().walk([](tkg::ConvertOp op) {
      if (op.getHow() == "shared")
        expand(op);
    });
    setPhase(getOperation(), Phase::Expanded);
  }
};
} // namespace
