//===- RelieveRegisters.cpp - tiles computed again, or kept in shared memory ------------===//
//
// Requires: phase LaidOut, loops pipelined.
// Ensures:  where the tiles that are alive while a loop's elements meet in a reduction need more registers
//           than a thread has, loads that are used only behind the reduction begin behind it, tiles that
//           follow from shared memory are computed again there, and those that the loop does not change
//           are kept in shared memory.
// Fails:    never.
//
//   scf.for ... {
//     %x = tkg.buf_load %slot
//     %h = arith.extf %x
//     %s = tkg.reduce %h
//     %y = arith.mulf %h, %scale           // %scale is from before the loop
//   }
// becomes
//   tkg.buf_store %scale, %b
//   scf.for ... {
//     %x = tkg.buf_load %slot
//     %h = arith.extf %x
//     %s = tkg.reduce %h
//     %x2 = tkg.buf_load %slot
//     %h2 = arith.extf %x2
//     %scale2 = tkg.buf_load %b
//     %y = arith.mulf %h2, %scale2
//   }
//
// Between a reduction and the next, elements go through one after the other and take hardly any
// registers; in a reduction all have to be there. What is computed again is elementwise, from a ring's slot or
// another buffer of the iteration; the barrier within the reduction keeps later passes from merging both.
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/Launch.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"

namespace tk {
#define GEN_PASS_DEF_RELIEVEREGISTERS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Longer chains are not worth to be computed twice.
static constexpr unsigned kMostRecomputed = 24;

/// Registers of a thread for addresses, scalars and elements on their way.
static constexpr int64_t kReserved = 48;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

namespace {
/// The body of one loop.
class Body {
public:
  Body(scf::ForOp loop, int64_t budget, int64_t sharedLeft) : loop(loop), block(*loop.getBody()), budget(budget), sharedLeft(sharedLeft) {}
  void relieve();
  int64_t recomputed = 0, kept = 0; // words a thread

private:
  SmallVector<Operation *> meetings();
  SmallVector<Value> aliveOver(Operation *meeting);
  bool isUsedAfter(Value value, Operation *meeting);
  Operation *firstUseBehind(Value value, Operation *place);
  bool collectChain(Value value, SmallVectorImpl<Operation *> &chain);
  void recompute(Value value, ArrayRef<Operation *> chain, Operation *meeting);
  bool recomputeBest(Operation *meeting, ArrayRef<Value> alive);
  bool keepBest(ArrayRef<Value> alive);
  bool sinkLoad(Operation *meeting, ArrayRef<Value> alive);
  void keep(Value value);

  scf::ForOp loop;
  Block &block;
  int64_t budget, sharedLeft;
};
} // namespace

/// Where elements of several threads meet, so that all of a tile must have been computed.
SmallVector<Operation *> Body::meetings() {
  SmallVector<Operation *> list;
  for (Operation &op : block)
    if (auto reduce = dyn_cast<tkg::ReduceOp>(op); reduce && registerWords(reduce.getOperands().front()) > 1)
      list.push_back(&op);
  return list;
}

bool Body::isUsedAfter(Value value, Operation *meeting) {
  return firstUseBehind(value, meeting);
}

/// Tiles in registers while the reduction runs: made before and used behind it, or made before the loop.
SmallVector<Value> Body::aliveOver(Operation *meeting) {
  llvm::SetVector<Value> alive;
  auto consider = [&](Value value) {
    if (!isTile(value) || registerWords(value) < 2)
      return;
    Operation *source = value.getDefiningOp();
    if (isa_and_nonnull<arith::ConstantOp, ArangeOp, SplatOp>(source))
      return;
    bool isInside = value.getParentBlock() == &block && source;
    if (isInside ? source->isBeforeInBlock(meeting) && isUsedAfter(value, meeting) : true)
      alive.insert(value);
  };
  for (Value argument : loop.getRegionIterArgs())
    consider(argument);
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentBlock() == &block || !loop->isAncestor(operand.getParentBlock()->getParentOp()))
        consider(operand);
  });
  return alive.takeVector();
}

/// The operations of the iteration that compute `value`, operands first; false when one is not worth it or
/// must not run again.
bool Body::collectChain(Value value, SmallVectorImpl<Operation *> &chain) {
  Operation *op = value.getDefiningOp();
  if (!isTile(value) || !op || op->getBlock() != &block || llvm::is_contained(chain, op))
    return true;
  if (chain.size() == kMostRecomputed)
    return false;
  if (auto load = dyn_cast<tkg::BufLoadOp>(op)) { // of a slot, which nobody writes in this iteration
    auto slot = load.getBuffer().getDefiningOp<tkg::BufViewOp>();
    chain.push_back(op);
    return slot && slot.getIndex();
  }
  bool isCheap = op->hasTrait<OpTrait::Elementwise>() || isa<ArangeOp, SplatOp, ExpandDimsOp, BroadcastOp>(op);
  if (!isCheap || op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectChain(operand, chain))
      return false;
  chain.push_back(op);
  return true;
}

Operation *Body::firstUseBehind(Value value, Operation *place) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (here && place->isBeforeInBlock(here) && (!first || here->isBeforeInBlock(first)))
      first = here;
  }
  return first;
}

/// A load that nobody waits for before the reduction begins behind it: its tile has to be in registers anyway, but not
/// beside those that the reduction takes.
bool Body::sinkLoad(Operation *meeting, ArrayRef<Value> alive) {
  for (Value value : alive) {
    auto load = value.getDefiningOp<tkg::LoadOp>();
    bool waits = load && llvm::all_of(value.getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here && meeting->isBeforeInBlock(here);
    });
    if (!waits || load->getBlock() != &block || !load.getReadonly())
      continue;
    load->moveBefore(firstUseBehind(value, meeting));
    return true;
  }
  return false;
}

/// Computes the value again before its first use behind the reduction, for all uses there.
void Body::recompute(Value value, ArrayRef<Operation *> chain, Operation *meeting) {
  Operation *first = firstUseBehind(value, meeting);
  OpBuilder builder(first);
  IRMapping mapping;
  for (Operation *op : chain)
    builder.clone(*op, mapping);
  value.replaceUsesWithIf(mapping.lookup(value), [&](OpOperand &use) {
    Operation *here = block.findAncestorOpInBlock(*use.getOwner());
    return here && !here->isBeforeInBlock(first);
  });
  recomputed += registerWords(value);
}

/// The largest value that can be, and that leaves nothing else alive in its stead.
bool Body::recomputeBest(Operation *meeting, ArrayRef<Value> alive) {
  Value best;
  SmallVector<Operation *> bestChain;
  for (Value value : alive) {
    SmallVector<Operation *> chain;
    if (value.getParentBlock() != &block || isa<BlockArgument>(value) || (best && registerWords(value) <= registerWords(best)) ||
        !collectChain(value, chain))
      continue;
    bool hasLoad = llvm::any_of(chain, llvm::IsaPred<tkg::BufLoadOp>);
    if (hasLoad) {
      best = value;
      bestChain = chain;
    }
  }
  if (best)
    recompute(best, bestChain, meeting);
  return bool(best);
}

/// What a value from before the loop is an elementwise function of, if that is smaller.
static Value narrowest(Value value) {
  Operation *op = value.getDefiningOp();
  bool widens = isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, CastOp>(op);
  return widens && registerWords(op->getOperand(0)) < registerWords(value) ? narrowest(op->getOperand(0)) : value;
}

/// In shared memory before the loop, in the layout it has, so that each thread reads what it wrote; in
/// registers only where it is used.
void Body::keep(Value value) {
  Value source = narrowest(value);
  OpBuilder before(loop);
  SharedBuilder outside{before, loop.getLoc()};
  Value buffer = outside.spill(source);
  sharedLeft -= cast<tkg::BufType>(buffer.getType()).getBytes();
  llvm::SetVector<Operation *> users;
  for (Operation *user : value.getUsers())
    if (Operation *here = block.findAncestorOpInBlock(*user))
      users.insert(here);
  for (Operation *user : users) {
    OpBuilder builder(user);
    Value again = SharedBuilder{builder, user->getLoc()}.load(buffer, source.getType());
    SmallVector<Operation *> chain;
    for (Value at = value; at != source; at = at.getDefiningOp()->getOperand(0))
      chain.push_back(at.getDefiningOp());
    IRMapping mapping;
    mapping.map(source, again);
    for (Operation *op : llvm::reverse(chain))
      again = builder.clone(*op, mapping)->getResult(0);
    value.replaceUsesWithIf(again, [&](OpOperand &use) { return block.findAncestorOpInBlock(*use.getOwner()) == user; });
  }
  kept += registerWords(value);
}

/// The largest tile from before the loop for which there is room.
bool Body::keepBest(ArrayRef<Value> alive) {
  Value best;
  for (Value value : alive) {
    bool isOutside = !loop->isAncestor(value.getParentBlock()->getParentOp());
    Value source = isOutside ? narrowest(value) : Value();
    if (!source || isa<PtrType>(elementTypeOf(source.getType())) || elementBits(source.getType()) < 8 ||
        !mapOf(source).invertible() || (best && registerWords(value) <= registerWords(best)))
      continue;
    int64_t bytes = elementBits(source.getType()) / 8;
    for (int64_t side : shapeOf(source))
      bytes *= side;
    if (bytes + bytes / 8 <= sharedLeft) // rows may be padded
      best = value;
  }
  if (best)
    keep(best);
  return bool(best);
}

void Body::relieve() {
  for (Operation *meeting : meetings())
    for (;;) {
      SmallVector<Value> alive = aliveOver(meeting);
      int64_t words = 0;
      for (Value value : alive)
        words += registerWords(value);
      if (words <= budget || (!sinkLoad(meeting, alive) && !recomputeBest(meeting, alive) && !keepBest(alive)))
        break;
    }
}

namespace {
struct RelieveRegisters : tk::impl::RelieveRegistersBase<RelieveRegisters> {
  using Base::Base;

  int64_t sharedLeft(KernelOp kernel) {
    int64_t left = limitBytes;
    kernel.walk([&](tkg::AllocOp alloc) { left -= alloc.getResult().getType().getBytes() + 16; });
    return left;
  }

  void relieve(KernelOp kernel) {
    int64_t budget = registersOfThread(kernel, warpSize, registersPerThread, registersPerBlock) - kReserved;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Body body(loop, budget, sharedLeft(kernel));
      body.relieve();
      if (body.recomputed + body.kept)
        emit<diag::RegistersRelieved>(loop.getLoc(), body.recomputed, body.kept, budget);
    }
  }

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      relieve(kernel);
  }
};
} // namespace
