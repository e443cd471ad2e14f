//===- HoistLoads.cpp - loads begin before the reductions that they do not wait for -----===//
//
// Requires: phase LaidOut.
// Ensures:  loads of memory that the kernel never writes come before reductions and changes of layout of
//           their block whose results their addresses do not need.
// Fails:    never.
//
//   %s = tk.reduce %x
//   %w = tkg.load %p[%o] readonly
// becomes
//   %w = tkg.load %p[%o] readonly
//   %s = tk.reduce %x
//
// A reduction ends in barriers, over which the assembler moves no load: the memory's latency would be paid
// once more. Loads keep their order. Loops and branches are not passed: what is loaded would take
// registers all that time. Nor does a load begin early where its registers leave a multiprocessor fewer than
// kBlocks blocks: those that wait hide more of the latency than a load that began earlier. Measured on an H200 with
// examples/05_rms_norm.tk: rows of 4096 5 % faster with the weights ahead, rows of 16384 45 % slower.
//
//===----------------------------------------------------------------------===//

#include "ir/tk/Launch.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/MovableSlice.h"
#include <numeric>

namespace tk {
#define GEN_PASS_DEF_HOISTLOADS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Threads meet here, or may.
static bool isMeeting(Operation *op) { return isa<ReduceOp, ScanOp, tkg::ConvertOp, GatherOp, SortOp, HistogramOp>(op); }

/// Loops and branches, and what orders memory.
static bool isWall(Operation *op) {
  return !isMeeting(op) && (op->getNumRegions() || (!isMemoryEffectFree(op) && !isa<tkg::LoadOp, tkg::StoreOp>(op)));
}

/// Blocks that run together on a multiprocessor.
static constexpr int64_t kBlocks = 3;

/// Registers that the assembler takes for tiles of `words`, as it was seen to for row kernels of many sizes.
static int64_t registersFor(int64_t words) { return llvm::alignTo(words + words * 3 / 8 + 12, 8); }

/// Neither a place nor a mask: those are computed where they are needed.
static bool isElements(OpOperand &use) {
  Value value = use.get();
  if (!isa<RankedTensorType>(value.getType()) || isa_and_nonnull<arith::ConstantOp, ArangeOp, SplatOp>(value.getDefiningOp()) ||
      elementTypeOf(value.getType()).isInteger(1))
    return false;
  if (auto load = dyn_cast<tkg::LoadOp>(use.getOwner()))
    return value != load.getOffset();
  if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(use.getOwner()))
    return value != atomic.getOffset();
  auto store = dyn_cast<tkg::StoreOp>(use.getOwner());
  return !store || value != store.getOffset();
}

namespace {
/// 32-bit words a thread of the tiles that are alive over each operation of a block, made before it and used behind it.
class AliveWords {
public:
  explicit AliveWords(Block &block);
  int64_t over(Operation *op) const { return words[places.lookup(op)]; }

private:
  llvm::DenseMap<Operation *, size_t> places;
  SmallVector<int64_t> words;
};

/// What lies between the last wall and a load.
class Stretch {
public:
  /// `mostRegisters` a thread.
  Stretch(Block &block, int64_t mostRegisters) : alive(block), mostRegisters(mostRegisters) {}
  void visit(Operation &op);

private:
  void hoist(tkg::LoadOp load);

  AliveWords alive;
  int64_t mostRegisters;
  int64_t words = 0, hoisted = 0; // alive over what was passed since the first meeting, at most; of loads that moved ahead of it
  Operation *meeting = nullptr; // the first
};
} // namespace

AliveWords::AliveWords(Block &block) {
  struct Span {
    int64_t first, last;
  };
  llvm::MapVector<Value, Span> spans;
  for (Operation &op : block) {
    auto place = int64_t(places.size());
    places[&op] = size_t(place);
    op.walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands()) {
        Operation *source = use.get().getDefiningOp();
        Operation *here = source ? block.findAncestorOpInBlock(*source) : nullptr;
        if (here != &op && isElements(use))
          spans.try_emplace(use.get(), Span{here ? int64_t(places.lookup(here)) : -1, 0}).first->second.last = place;
      }
    });
  }
  words.assign(places.size() + 1, 0); // first how it changes from each operation to the next
  for (auto &[value, span] : spans) {
    int64_t each = registerWords(value);
    words[size_t(span.first + 1)] += each;
    words[size_t(std::max(span.last, span.first + 1))] -= each;
  }
  std::partial_sum(words.begin(), words.end(), words.begin());
}

void Stretch::hoist(tkg::LoadOp load) {
  llvm::SetVector<Operation *> slice;
  int64_t more = registerWords(load.getResult());
  if (!load.getReadonly() || registersFor(words + hoisted + more) > mostRegisters || !collectMovable(load, meeting, slice, isMeeting))
    return;
  for (Operation *op : slice)
    op->moveBefore(meeting);
  load->moveBefore(meeting);
  hoisted += more;
}

void Stretch::visit(Operation &op) {
  words = std::max(words, alive.over(&op));
  if (isWall(&op)) {
    meeting = nullptr;
  } else if (isMeeting(&op) && !meeting) {
    meeting = &op;
    words = alive.over(meeting), hoisted = 0;
  } else if (auto load = dyn_cast<tkg::LoadOp>(op); load && meeting) {
    hoist(load);
  }
}

namespace {
struct HoistLoads : tk::impl::HoistLoadsBase<HoistLoads> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](KernelOp kernel) {
      int64_t mostRegisters = registersPerBlock / (kBlocks * warpSize * warpsOf(kernel));
      kernel.walk([&](Block *block) {
        if (llvm::none_of(*block, [](Operation &op) { return isMeeting(&op); }))
          return;
        Stretch stretch(*block, mostRegisters);
        for (Operation &op : llvm::make_early_inc_range(*block))
          stretch.visit(op);
      });
    });
  }
};
} // namespace
