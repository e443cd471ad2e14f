//===- Ordering.cpp - dependences between the threads of a block -----------------===//

#include "passes/analysis/Ordering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tk;

namespace {
/// Global memory of one alias class that one operation touches.
struct Access {
  int64_t aliasClass = -1;
  bool writes = false;
};

/// Accesses since the last barrier, on any path that leads here.
using Pending = llvm::SetVector<Operation *>;

class Walk {
public:
  explicit Walk(function_ref<bool(Operation *, Operation *)> conflict) : conflict(conflict) {}
  Pending block(Block &block, Pending pending);

private:
  Pending loop(scf::ForOp op, const Pending &before);
  Pending loop(scf::WhileOp op, const Pending &before);
  Pending branch(scf::IfOp op, const Pending &before);

  function_ref<bool(Operation *, Operation *)> conflict;
};
} // namespace

static int64_t aliasClassOf(Value pointer) {
  return cast<PtrType>(elementTypeOf(pointer.getType())).getAliasClass();
}

static std::optional<Access> accessOf(Operation *op) {
  if (auto load = dyn_cast<tkg::LoadOp>(op))
    return load.getReadonly() ? std::nullopt
                              : std::optional(Access{aliasClassOf(load.getBase()), false});
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return Access{aliasClassOf(store.getBase()), true};
  if (auto copy = dyn_cast<tkg::AsyncCopyOp>(op))
    return Access{aliasClassOf(copy.getBase()), false};
  if (auto load = dyn_cast<LoadOp>(op))
    return Access{aliasClassOf(load.getPointer()), false};
  if (auto store = dyn_cast<StoreOp>(op))
    return Access{aliasClassOf(store.getPointer()), true};
  if (isa<AtomicRmwOp, AtomicCasOp, AtomicLoadOp, AtomicStoreOp>(op)) {
    Value pointer = op->getOperand(isa<AtomicLoadOp>(op) ? 0 : isa<AtomicCasOp>(op) ? 2 : 1);
    return Access{aliasClassOf(pointer), !isa<AtomicLoadOp>(op)};
  }
  return std::nullopt;
}

/// Bytes of shared memory, from the first to behind the last.
using Bytes = std::pair<int64_t, int64_t>;

static Bytes bytesOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>())
    buffer = view.getBuffer();
  auto alloc = buffer.getDefiningOp<tkg::AllocOp>();
  int64_t first = int64_t(*alloc.getOffset());
  return {first, first + alloc.getResult().getType().getBytes()};
}

/// The shared buffers that an operation reads or writes; each access that writes anything writes all.
static SmallVector<Value> buffersOf(Operation *op) {
  SmallVector<Value> buffers;
  if (!isa<tkg::BufViewOp>(op))
    for (Value operand : op->getOperands())
      if (isa<tkg::BufType>(operand.getType()))
        buffers.push_back(operand);
  return buffers;
}

static bool writesBuffers(Operation *op) {
  return isa<tkg::BufStoreOp, tkg::BufCountOp, tkg::BufSortOp, tkg::AsyncCopyOp>(op);
}

/// A copy into a ring and what follows in the same iteration are about different slots: the slot that
/// is read was filled iterations ago, which a wait and a barrier at the head of the loop order.
static bool inOtherSlots(Operation *earlier, Operation *later) {
  auto copy = dyn_cast<tkg::AsyncCopyOp>(earlier);
  return copy && copy->hasAttr("tkg.ahead") && !isa<tkg::AsyncCopyOp>(later);
}

/// Additions to counters go in any order.
static bool countersCommute(Operation *a, Operation *b) {
  return isa<tkg::BufCountOp>(a) && isa<tkg::BufCountOp>(b);
}

static bool shareBytes(Operation *a, Operation *b) {
  for (Value x : buffersOf(a))
    for (Value y : buffersOf(b)) {
      Bytes one = bytesOf(x), other = bytesOf(y);
      if (one.first < other.second && other.first < one.second)
        return true;
    }
  return false;
}

/// Base and offsets of an access; null for others.
static std::pair<Value, Value> addressOf(Operation *op) {
  if (auto load = dyn_cast<tkg::LoadOp>(op))
    return {load.getBase(), load.getOffset()};
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return {store.getBase(), store.getOffset()};
  return {};
}

/// Each element is touched by the same one thread in both accesses: equal addresses, equal layouts,
/// no duplicates.
static bool sameThreads(Operation *a, Operation *b) {
  auto [base, offset] = addressOf(a);
  if (!base || addressOf(a) != addressOf(b))
    return false;
  tkg::LayoutAttr layout = tkg::layoutOf(offset.getType());
  // Within a loop the same SSA value means the same address only in the same iteration.
  bool sameIteration = a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
  return layout && layout.getMap().invertible() && sameIteration;
}

/// By how much `value` grows with each trip of the loop that `counter` counts, when nothing else in
/// `outermost`, a loop around, changes it.
static std::optional<int64_t> growth(Value value, Value counter, Operation *outermost) {
  if (value == counter)
    return 1;
  Operation *op = value.getDefiningOp();
  if (!outermost->isAncestor(value.getParentBlock()->getParentOp()))
    return 0;
  if (!op || !isPure(op) || op->getNumRegions() != 0)
    return std::nullopt;
  SmallVector<int64_t, 2> each;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> part = growth(operand, counter, outermost);
    if (!part)
      return std::nullopt;
    each.push_back(*part);
  }
  if (llvm::all_of(each, [](int64_t part) { return part == 0; }))
    return 0;
  APInt factor;
  if (isa<PtrAddOp, arith::AddIOp>(op))
    return each[0] + each[1];
  if (isa<arith::SubIOp>(op))
    return each[0] - each[1];
  if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return each[0] * factor.getSExtValue();
  return std::nullopt;
}

/// Whether an address always leads to the same element of the tile, in whichever trip, and so to the
/// thread that has it: the tile's elements lie side by side, and each trip goes on behind the one before.
static bool sameThreadsInAllTrips(Operation *a, Operation *b) {
  auto [base, offset] = addressOf(a);
  auto loop = dyn_cast<scf::ForOp>(a->getParentOp());
  if (!base || !loop || a->getBlock() != b->getBlock() || addressOf(a) != addressOf(b))
    return false;
  tkg::LayoutAttr layout = tkg::layoutOf(offset.getType());
  bool bothStore = isa<tkg::StoreOp>(a) && isa<tkg::StoreOp>(b); // by the owner, who is the same
  if (!layout || !(bothStore || layout.getMap().invertible()))
    return false;
  Operation *outermost = loop;
  for (Operation *parent = loop; !isa<KernelOp>(parent); parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      outermost = parent;
  std::optional<int64_t> step = growth(base, loop.getInductionVar(), outermost);
  std::optional<int64_t> own = growth(offset, loop.getInductionVar(), outermost);
  Interval range = ScalarAnalysis(loop->getParentOfType<KernelOp>()).range(offset);
  return step && own == 0 && range.within(INT32_MIN, INT32_MAX) &&
         (*step == 0 || std::abs(*step) > range.hi - range.lo);
}

/// Changes of one kind of which nobody wants the result may happen in any order.
static bool commute(Operation *a, Operation *b) {
  auto first = dyn_cast<AtomicRmwOp>(a), second = dyn_cast<AtomicRmwOp>(b);
  return first && second && first.getKind() == second.getKind() &&
         first.getKind() != AtomicKind::exchange && first.use_empty() && second.use_empty();
}

static bool conflicts(Operation *earlier, Operation *later) {
  if ((writesBuffers(earlier) || writesBuffers(later)) && !countersCommute(earlier, later) &&
      !inOtherSlots(earlier, later) && shareBytes(earlier, later))
    return true;
  std::optional<Access> a = accessOf(earlier), b = accessOf(later);
  if (!a || !b || (!a->writes && !b->writes))
    return false;
  return a->aliasClass == b->aliasClass && !sameThreads(earlier, later) &&
         !sameThreadsInAllTrips(earlier, later) && !commute(earlier, later);
}

static Pending join(Pending a, const Pending &b) {
  a.insert(b.begin(), b.end());
  return a;
}

/// Two rounds: the second meets everything that an iteration leaves pending, and a third would meet
/// the same, since what passes through an iteration is there before it already.
Pending Walk::loop(scf::ForOp op, const Pending &before) {
  Pending state = before;
  for (int round = 0; round < 2; ++round)
    state = block(*op.getBody(), join(before, state));
  return join(before, state);
}

/// A while loop is left from its condition, so that is what its state is after.
Pending Walk::loop(scf::WhileOp op, const Pending &before) {
  Pending condition = block(*op.getBeforeBody(), before);
  for (int round = 0; round < 2; ++round) {
    Pending body = block(*op.getAfterBody(), condition);
    condition = join(condition, block(*op.getBeforeBody(), join(before, body)));
  }
  return condition;
}

Pending Walk::branch(scf::IfOp op, const Pending &before) {
  Pending then = block(op.getThenRegion().front(), before);
  bool hasElse = !op.getElseRegion().empty();
  return join(then, hasElse ? block(op.getElseRegion().front(), before) : before);
}

Pending Walk::block(Block &body, Pending pending) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isa<tkg::BarrierOp>(op)) {
      pending.clear();
    } else if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      pending = branch(ifOp, pending);
    } else if (auto forOp = dyn_cast<scf::ForOp>(op)) {
      pending = loop(forOp, pending);
    } else if (auto whileOp = dyn_cast<scf::WhileOp>(op)) {
      pending = loop(whileOp, pending);
    } else if (accessOf(&op) || !buffersOf(&op).empty()) {
      for (Operation *earlier : pending)
        if (conflicts(earlier, &op)) {
          if (conflict(earlier, &op))
            pending.clear();
          break;
        }
      pending.insert(&op);
    }
  }
  return pending;
}

void tk::walkDependences(KernelOp kernel, function_ref<bool(Operation *, Operation *)> conflict) {
  Walk(conflict).block(kernel.getBody().front(), {});
}
