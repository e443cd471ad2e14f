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
// registers all that time.
//
//===----------------------------------------------------------------------===//

#include "ir/tkg/TkgDialect.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/MovableSlice.h"

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

namespace {
/// What lies between the last wall and a load.
class Stretch {
public:
  explicit Stretch(int64_t mostWords) : wordsLeft(mostWords) {}
  void visit(Operation &op);

private:
  void hoist(tkg::LoadOp load);

  int64_t wordsLeft;
  Operation *meeting = nullptr; // the first
};
} // namespace

void Stretch::hoist(tkg::LoadOp load) {
  llvm::SetVector<Operation *> slice;
  int64_t words = registerWords(load.getResult());
  if (!load.getReadonly() || words > wordsLeft || !collectMovable(load, meeting, slice, isMeeting))
    return;
  for (Operation *op : slice)
    op->moveBefore(meeting);
  load->moveBefore(meeting);
  wordsLeft -= words;
}

void Stretch::visit(Operation &op) {
  if (isWall(&op))
    meeting = nullptr;
  else if (isMeeting(&op) && !meeting)
    meeting = &op;
  else if (auto load = dyn_cast<tkg::LoadOp>(op); load && meeting)
    hoist(load);
}

namespace {
struct HoistLoads : tk::impl::HoistLoadsBase<HoistLoads> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](Block *block) {
      Stretch stretch(mostRegisters);
      for (Operation &op : llvm::make_early_inc_range(*block))
        stretch.visit(op);
    });
  }
};
} // namespace
