//===- Ordering.cpp - dependences between the threads of a block -----------------===//

#include "passes/analysis/Ordering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tk;

namespace {
/// What one operation touches: a shared buffer, or global memory of one alias class.
struct Access {
  Value buffer;
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
                              : std::optional(Access{{}, aliasClassOf(load.getBase()), false});
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return Access{{}, aliasClassOf(store.getBase()), true};
  if (auto load = dyn_cast<LoadOp>(op))
    return Access{{}, aliasClassOf(load.getPointer()), false};
  if (auto store = dyn_cast<StoreOp>(op))
    return Access{{}, aliasClassOf(store.getPointer()), true};
  if (auto store = dyn_cast<tkg::BufStoreOp>(op))
    return Access{store.getBuffer(), -1, true};
  if (auto load = dyn_cast<tkg::BufLoadOp>(op))
    return Access{load.getBuffer(), -1, false};
  return std::nullopt;
}

/// Each element is touched by the same one thread in both accesses: equal addresses, equal layouts,
/// no duplicates.
static bool sameThreads(Operation *a, Operation *b) {
  auto parts = [](Operation *op) -> std::tuple<Value, Value, Type> {
    if (auto load = dyn_cast<tkg::LoadOp>(op))
      return {load.getBase(), load.getOffset(), load.getOffset().getType()};
    if (auto store = dyn_cast<tkg::StoreOp>(op))
      return {store.getBase(), store.getOffset(), store.getOffset().getType()};
    return {};
  };
  auto [base, offset, type] = parts(a);
  if (!base || parts(a) != parts(b))
    return false;
  tkg::LayoutAttr layout = tkg::layoutOf(type);
  // Within a loop the same SSA value means the same address only in the same iteration.
  bool sameIteration = a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
  return layout && layout.getMap().invertible() && sameIteration;
}

static bool conflicts(Operation *earlier, Operation *later) {
  Access a = *accessOf(earlier), b = *accessOf(later);
  if (!a.writes && !b.writes)
    return false;
  if (a.buffer || b.buffer)
    return a.buffer == b.buffer;
  return a.aliasClass == b.aliasClass && !sameThreads(earlier, later);
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
    } else if (accessOf(&op)) {
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
