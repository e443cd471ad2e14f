//===- AllocateSharedMemory.cpp - byte offsets for shared buffers ----------------===//
//
// Requires: phase Expanded. No tkg.alloc has an offset.
// Ensures:  phase SmemAllocated. Offsets are multiples of 16, no two buffers of a kernel that hold
//           something at the same time share a byte, the kernel carries `shared_bytes`.
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
#include "passes/analysis/Oversized.h"
#include "mlir/IR/Builders.h"

namespace tk {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// The widest shared access of one thread.
static constexpr int64_t kAlignBytes = 16;

/// Up to this many bytes a block shares none between buffers: the barriers that sharing asks for cost
/// more than memory that no other block of the processor could use.
static constexpr int64_t kRoomyBytes = 8 * 1024;

/// So do buffers up to this size, the partial results of reductions say, while there is room.
static constexpr int64_t kSmallBytes = 512;

namespace {
/// A buffer and the operations, numbered in program order, between which it holds anything.
struct Buffer {
  tkg::AllocOp alloc;
  int64_t bytes, first, last;
  int64_t offset = 0;

  bool meets(const Buffer &other) const { return first <= other.last && other.first <= last; }
};

/// Numbers operations, and finds the last of each buffer.
class Lifetimes {
public:
  explicit Lifetimes(KernelOp kernel);
  SmallVector<Buffer> buffers;

private:
  int64_t lastUse(Value buffer, Block *home);

  llvm::DenseMap<Operation *, int64_t> begin, end; // of an operation with all its regions
};
} // namespace

Lifetimes::Lifetimes(KernelOp kernel) {
  int64_t next = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { begin[op] = next++; });
  kernel.walk([&](Operation *op) {
    int64_t last = std::max(end.lookup(op), begin.lookup(op));
    end[op] = last;
    if (Operation *parent = op->getParentOp()) {
      int64_t &all = end[parent];
      all = std::max(all, last);
    }
  });
  kernel.walk([&](tkg::AllocOp alloc) {
    buffers.push_back({alloc, int64_t(llvm::alignTo(alloc.getResult().getType().getBytes(), kAlignBytes)),
                       begin[alloc], lastUse(alloc, alloc->getBlock())});
  });
}

/// A use inside a loop lasts as long as the loop.
int64_t Lifetimes::lastUse(Value buffer, Block *home) {
  int64_t last = begin[buffer.getDefiningOp()];
  for (Operation *user : buffer.getUsers()) {
    last = std::max(last, end[home->findAncestorOpInBlock(*user)]);
    if (auto view = dyn_cast<tkg::BufViewOp>(user))
      last = std::max(last, lastUse(view, home));
  }
  return last;
}

/// Large buffers first, each at the lowest place where none lies that holds something at the same time.
/// Buffers of less than `shareFrom` bytes share with none.
static int64_t place(MutableArrayRef<Buffer> buffers, int64_t shareFrom) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  auto mayShare = [&](const Buffer &buffer) { return buffer.bytes >= shareFrom; };
  llvm::stable_sort(order, [&](Buffer *a, Buffer *b) { return mayShare(*a) && a->bytes > b->bytes; });
  int64_t total = 0;
  for (auto [number, buffer] : llvm::enumerate(order)) {
    SmallVector<Buffer *> taken;
    for (Buffer *other : ArrayRef(order).take_front(number))
      if (!mayShare(*buffer) || !mayShare(*other) || other->meets(*buffer))
        taken.push_back(other);
    llvm::sort(taken, [](Buffer *a, Buffer *b) { return a->offset < b->offset; });
    buffer->offset = 0;
    for (Buffer *other : taken)
      if (buffer->offset + buffer->bytes > other->offset)
        buffer->offset = std::max(buffer->offset, other->offset + other->bytes);
    total = std::max(total, buffer->offset + buffer->bytes);
  }
  return total;
}

namespace {
struct AllocateSharedMemory : tk::impl::AllocateSharedMemoryBase<AllocateSharedMemory> {
  using Base::Base;

  LogicalResult allocate(KernelOp kernel) {
    SmallVector<Buffer> buffers = Lifetimes(kernel).buffers;
    int64_t total = place(buffers, /*shareFrom=*/INT64_MAX);
    if (total > std::min<int64_t>(kRoomyBytes, limitBytes))
      total = place(buffers, kSmallBytes + 1);
    if (total > limitBytes)
      total = place(buffers, 0);
    for (Buffer &buffer : buffers)
      buffer.alloc.setOffset(buffer.offset);
    kernel->setAttr("shared_bytes", Builder(&getContext()).getI64IntegerAttr(total));
    if (total <= limitBytes)
      return success();
    markOversized(kernel);
    return tooMuch(buffers, total);
  }

  /// Lists the buffers that hold something where most is needed.
  LogicalResult tooMuch(ArrayRef<Buffer> buffers, int64_t total) {
    const Buffer *last = llvm::max_element(buffers, [](const Buffer &a, const Buffer &b) {
      return a.offset + a.bytes < b.offset + b.bytes;
    });
    InFlightDiagnostic error = emit<diag::SharedOverLimit>(tkg::AllocOp(last->alloc).getLoc(), total, int64_t(limitBytes));
    for (const Buffer &buffer : buffers)
      if (buffer.meets(*last))
        error.attachNote(tkg::AllocOp(buffer.alloc).getLoc()) << buffer.bytes << " bytes for this";
    return error;
  }

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(allocate(kernel)))
        return signalPassFailure();
    setPhase(getOperation(), Phase::SmemAllocated);
  }
};
} // namespace
