//===- AllocateSharedMemory.cpp - byte offsets for shared buffers ----------------===//
//
// Requires: phase Expanded. No tkg.alloc has an offset.
// Ensures:  phase SmemAllocated. Offsets are multiples of 16, no two buffers of a kernel share a
//           byte, the kernel carries `shared_bytes`.
// Fails:    TK4001 when a kernel needs more than limit-bytes.
//
//   %a = tkg.alloc : !tkg.buf<5xf32>
//   %b = tkg.alloc : !tkg.buf<4xf32>
// becomes
//   %a = tkg.alloc {offset = 0 : i64} : !tkg.buf<5xf32>
//   %b = tkg.alloc {offset = 32 : i64} : !tkg.buf<4xf32>
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "mlir/IR/Builders.h"

namespace tk {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// The widest shared access of one thread.
static constexpr int64_t kAlignBytes = 16;

namespace {
struct AllocateSharedMemory : tk::impl::AllocateSharedMemoryBase<AllocateSharedMemory> {
  using Base::Base;

  void runOnOperation() override {
    Builder builder(&getContext());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      int64_t end = 0;
      Operation *last = kernel;
      kernel.walk([&](tkg::AllocOp alloc) {
        alloc.setOffset(end);
        end = llvm::alignTo(end + alloc.getResult().getType().getBytes(), kAlignBytes);
        last = alloc;
      });
      if (end > limitBytes) {
        emit<diag::SharedOverLimit>(last->getLoc(), end, int64_t(limitBytes));
        return signalPassFailure();
      }
      kernel->setAttr("shared_bytes", builder.getI64IntegerAttr(end));
    }
    setPhase(getOperation(), Phase::SmemAllocated);
  }
};
} // namespace
