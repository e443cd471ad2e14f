//===- Ordering.cpp - dependences between the threads of a block -----------------===//

#include "passes/analysis/Ordering.h"
#include "passes/analysis/BufferParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tk;

namespace {
/// Global memory of one alias class that one operation touches.
struct Access {
  int64_t aliasClass = -1;
  bool writes = false;
};

/// An access since the last barrier, on some path that leads here: of global memory, or of a shared
/// buffer, one of the operation's.
struct Pending {
  Operation *op;
  Value buffer;                 // null: global memory
  std::optional<int64_t> trips; // of the ring's loop since then, where that is known
  bool arrived = true;          // false of what a copy writes, until a wait
  int64_t commits = 0;          // of groups since then, where it has not arrived

  auto key() const {
    return std::make_tuple(op, buffer, trips.value_or(-1), arrived ? -1 : commits);
  }
};

/// Accesses on all paths, each once.
class PendingSet {
public:
  /// True when it was not there.
  bool insert(const Pending &access) {
    bool isNew = known.insert(access.key()).second;
    if (isNew)
      list.push_back(access);
    return isNew;
  }
  /// True when one of them was not there.
  bool insert(const PendingSet &other) {
    bool grows = false;
    for (const Pending &access : other.list)
      grows |= insert(access);
    return grows;
  }
  /// Changes each; those that become equal are one.
  void update(function_ref<void(Pending &)> change) {
    PendingSet changed;
    for (Pending &access : list) {
      change(access);
      changed.insert(access);
    }
    *this = std::move(changed);
  }
  /// What a copy writes is under way until a wait, whatever barrier comes before.
  void barrier() {
    PendingSet left;
    for (const Pending &access : list)
      if (!access.arrived)
        left.insert(access);
    *this = std::move(left);
  }

  SmallVector<Pending, 8> list;

private:
  llvm::DenseSet<decltype(Pending().key())> known;
};

class Walk {
public:
  explicit Walk(function_ref<bool(Operation *, Operation *)> conflict) : conflict(conflict) {}
  PendingSet block(Block &block, PendingSet pending);

private:
  PendingSet loop(scf::ForOp op, const PendingSet &before);
  PendingSet loop(scf::WhileOp op, const PendingSet &before);
  PendingSet branch(scf::IfOp op, const PendingSet &before);
  void access(Operation *op, PendingSet &pending);

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
  if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(op))
    return Access{aliasClassOf(atomic.getBase()), true};
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

/// Both are about one ring, in slots that surely differ.
static bool inOtherSlots(const Pending &earlier, Value later) {
  std::optional<Slot> a = slotOf(earlier.buffer), b = slotOf(later);
  if (!a || !b || a->ring != b->ring)
    return false;
  if (!a->loop && !b->loop)
    return (a->distance - b->distance) % a->slots != 0;
  // A number stands for a distance from the loop's first iteration, when it was used before the loop.
  bool isComparable = a->loop ? a->loop == b->loop : !b->loop->isAncestor(earlier.op);
  return isComparable && earlier.trips && (a->distance - *earlier.trips - b->distance) % a->slots != 0;
}

/// Additions to counters go in any order.
static bool countersCommute(Operation *a, Operation *b) {
  return isa<tkg::BufCountOp>(a) && isa<tkg::BufCountOp>(b);
}

/// The layout in which threads have the tile that an operation copies, loads or stores whole.
static tkg::LayoutAttr threadsOf(Operation *op) {
  if (auto copy = dyn_cast<tkg::AsyncCopyOp>(op))
    return tkg::layoutOf(copy.getOffset().getType());
  if (auto load = dyn_cast<tkg::BufLoadOp>(op))
    return isa<RankedTensorType>(load.getResult().getType()) ? tkg::layoutOf(load.getResult().getType()) : tkg::LayoutAttr();
  if (auto store = dyn_cast<tkg::BufStoreOp>(op))
    return isa<RankedTensorType>(store.getValue().getType()) ? tkg::layoutOf(store.getValue().getType()) : tkg::LayoutAttr();
  return {};
}

/// A load reads the first element where a thread's own is padding, whoever copied that one.
static bool readsForPadding(Operation *op, const LinearLayout &layout) {
  auto load = dyn_cast<tkg::BufLoadOp>(op);
  if (!load || load.getBuffer().getType().getOrder())
    return false;
  auto axes = llvm::seq<unsigned>(0, layout.rank());
  return llvm::any_of(axes, [&](unsigned axis) { return layout.shape()[axis] != layout.padded(axis); });
}

/// Each byte of a slot, or of a buffer without slots, is touched by the same one thread in both accesses.
static bool sameThreadsOfBuffer(const Pending &earlier, Operation *op, Value later) {
  if (earlier.buffer.getType() != later.getType() || !earlier.arrived)
    return false;
  auto place = [](Value buffer) -> std::pair<Value, int64_t> {
    auto view = buffer.getDefiningOp<tkg::BufViewOp>();
    bool isWhole = !view || (view.getIndex() && slotOf(buffer) && view.getBuffer().getDefiningOp<tkg::AllocOp>());
    return isWhole ? std::pair(view ? view.getBuffer() : buffer, view ? int64_t(view.getOffset()) : 0) : std::pair(Value(), int64_t(0));
  };
  tkg::LayoutAttr layout = threadsOf(op);
  return place(later).first && place(earlier.buffer) == place(later) && layout && layout == threadsOf(earlier.op) &&
         layout.getMap().invertible() && !readsForPadding(op, layout.getMap()) && !readsForPadding(earlier.op, layout.getMap());
}

static bool shareBytes(const Pending &earlier, Value later) {
  Bytes one = bytesOf(earlier.buffer), other = bytesOf(later);
  return one.first < other.second && other.first < one.second && !inOtherSlots(earlier, later) &&
         !areApart(earlier.buffer, later);
}

/// Base and offsets of an access; null for others.
static std::pair<Value, Value> addressOf(Operation *op) {
  if (auto load = dyn_cast<tkg::LoadOp>(op))
    return {load.getBase(), load.getOffset()};
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return {store.getBase(), store.getOffset()};
  if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(op))
    return {atomic.getBase(), atomic.getOffset()};
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
  bool bothOwned = isa<tkg::StoreOp, tkg::AtomicRmwOp>(a) && isa<tkg::StoreOp, tkg::AtomicRmwOp>(b); // who is the same
  if (!layout || !(bothOwned || layout.getMap().invertible()))
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
  auto changeOf = [](Operation *op) -> std::optional<AtomicKind> {
    if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(op))
      return atomic.getKind();
    auto atomic = dyn_cast<AtomicRmwOp>(op);
    return atomic && atomic.use_empty() ? std::optional(atomic.getKind()) : std::nullopt;
  };
  std::optional<AtomicKind> first = changeOf(a);
  return first && first == changeOf(b) && first != AtomicKind::exchange;
}

static bool conflicts(const Pending &earlier, Operation *later) {
  if (earlier.buffer) {
    bool writes = writesBuffers(earlier.op) || writesBuffers(later);
    return writes && !countersCommute(earlier.op, later) &&
           llvm::any_of(buffersOf(later), [&](Value buffer) {
             return shareBytes(earlier, buffer) && !sameThreadsOfBuffer(earlier, later, buffer);
           });
  }
  std::optional<Access> a = accessOf(earlier.op), b = accessOf(later);
  if (!a || !b || (!a->writes && !b->writes))
    return false;
  return a->aliasClass == b->aliasClass && !sameThreads(earlier.op, later) &&
         !sameThreadsInAllTrips(earlier.op, later) && !commute(earlier.op, later);
}

/// Trips and commits beyond this are not counted: no ring has so many slots.
static constexpr int64_t kMostTrips = 64;

/// Rounds until nothing is new. What is not in a ring is as it was after the second round, since what
/// passes through an iteration is there before it already; slots go round once more.
PendingSet Walk::loop(scf::ForOp op, const PendingSet &before) {
  PendingSet state = before;
  auto mine = [&](const Pending &access) { return access.buffer && ringLoop(access.buffer) == op; };
  state.update([&](Pending &access) {
    if (mine(access))
      access.trips = op->isAncestor(access.op) ? std::nullopt : std::optional<int64_t>(0);
  });
  PendingSet all = state;
  for (bool grows = true; grows;) {
    state = block(*op.getBody(), state);
    state.update([&](Pending &access) {
      if (mine(access) && access.trips)
        access.trips = *access.trips == kMostTrips ? std::nullopt : std::optional(*access.trips + 1);
    });
    grows = all.insert(state);
    state = all;
  }
  all.update([&](Pending &access) {
    if (mine(access))
      access.trips = std::nullopt;
  });
  return all;
}

/// A while loop is left from its condition, so that is what its state is after.
PendingSet Walk::loop(scf::WhileOp op, const PendingSet &before) {
  PendingSet condition = block(*op.getBeforeBody(), before);
  for (bool grows = true; grows;) {
    PendingSet body = block(*op.getAfterBody(), condition);
    grows = condition.insert(block(*op.getBeforeBody(), std::move(body)));
  }
  return condition;
}

PendingSet Walk::branch(scf::IfOp op, const PendingSet &before) {
  PendingSet then = block(op.getThenRegion().front(), before);
  bool hasElse = !op.getElseRegion().empty();
  then.insert(hasElse ? block(op.getElseRegion().front(), before) : before);
  return then;
}

void Walk::access(Operation *op, PendingSet &pending) {
  auto earlier = llvm::find_if(pending.list, [&](const Pending &access) { return conflicts(access, op); });
  if (earlier != pending.list.end() && conflict(earlier->op, op))
    pending.barrier();
  if (accessOf(op))
    pending.insert({op, Value(), std::nullopt});
  for (Value buffer : buffersOf(op))
    pending.insert({op, buffer, 0, !isa<tkg::AsyncCopyOp>(op)});
}

PendingSet Walk::block(Block &body, PendingSet pending) {
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (isa<tkg::BarrierOp>(op)) {
      pending.barrier();
    } else if (isa<tkg::AsyncCommitOp>(op)) {
      pending.update([](Pending &access) { access.commits += !access.arrived && access.commits < kMostTrips; });
    } else if (auto wait = dyn_cast<tkg::AsyncWaitOp>(op)) {
      pending.update([&](Pending &access) {
        if (access.commits > int64_t(wait.getPending())) {
          access.arrived = true;
          access.commits = 0;
        }
      });
    } else if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      pending = branch(ifOp, pending);
    } else if (auto forOp = dyn_cast<scf::ForOp>(op)) {
      pending = loop(forOp, pending);
    } else if (auto whileOp = dyn_cast<scf::WhileOp>(op)) {
      pending = loop(whileOp, pending);
    } else if (accessOf(&op) || !buffersOf(&op).empty()) {
      access(&op, pending);
    }
  }
  return pending;
}

void tk::walkDependences(KernelOp kernel, function_ref<bool(Operation *, Operation *)> conflict) {
  Walk(conflict).block(kernel.getBody().front(), {});
}
