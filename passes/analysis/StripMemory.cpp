//===- StripMemory.cpp - the order of memory in loops over pieces -------------===//

#include "passes/analysis/StripMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/analysis/Scalars.h"

using namespace mlir;
using namespace tk;

/// Operations whose effects keep them alive, but that touch no memory of a tensor.
static bool touchesNoTensor(Operation *op) { return isa<AssumeOp, AssertOp, PrintOp, ClockOp>(op); }

Touch tk::touchOf(Operation *op, int64_t aliasClass) {
  if (touchesNoTensor(op) || isMemoryEffectFree(op))
    return {};
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  if (!effects)
    return {true, true};
  Touch touch;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    auto own = dyn_cast_or_null<IntegerAttr>(effect.getParameters());
    if (own && own.getInt() != aliasClass)
      continue;
    touch.reads |= isa<MemoryEffects::Read>(effect.getEffect());
    touch.writes |= isa<MemoryEffects::Write>(effect.getEffect());
  }
  return touch;
}

std::optional<int64_t> tk::classOfAccess(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getView().getType().getAliasClass();
  if (auto write = dyn_cast<WriteOp>(op))
    return write.getView().getType().getAliasClass();
  Value pointer;
  if (auto load = dyn_cast<LoadOp>(op))
    pointer = load.getPointer();
  if (auto store = dyn_cast<StoreOp>(op))
    pointer = store.getPointer();
  return pointer ? std::optional(cast<PtrType>(elementTypeOf(pointer.getType())).getAliasClass()) : std::nullopt;
}

namespace {
struct PlaceOf {
  Value view;
  OperandRange indices;
  ArrayRef<int64_t> widths;
};
} // namespace

static std::optional<PlaceOf> placeOf(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return PlaceOf{read.getView(), read.getIndices(), read.getWidths()};
  if (auto write = dyn_cast<WriteOp>(op))
    return PlaceOf{write.getView(), write.getIndices(), write.getWidths()};
  return std::nullopt;
}

/// Elements of a place differ along the cut axis alone, and by a stride that is known not to be 0.
static bool isLine(const PlaceOf &place, int axis) {
  std::optional<unsigned> sliced = slicedAxis(place.view, place.indices, place.widths, axis);
  auto argument = dyn_cast<BlockArgument>(place.view);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!sliced || !kernel)
    return false;
  for (auto [at, width] : llvm::enumerate(place.widths))
    if (at != *sliced && width != 0 && width != 1)
      return false;
  auto stride = dyn_cast_or_null<IntegerAttr>(strideExpression(kernel, place.view, *sliced));
  return stride && stride.getInt() != 0;
}

/// A range that a uniform number was added to: no two elements are equal.
static bool isRun(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (isa_and_nonnull<ArangeOp>(op))
    return true;
  if (isa_and_nonnull<arith::ExtSIOp>(op))
    return isRun(op->getOperand(0));
  if (!isa_and_nonnull<arith::AddIOp, PtrAddOp>(op))
    return false;
  Value a = op->getOperand(0), b = op->getOperand(1);
  auto isUniform = [](Value value) { return isa_and_nonnull<SplatOp, arith::ConstantOp>(value.getDefiningOp()); };
  return (isUniform(a) && isRun(b)) || (isUniform(b) && isRun(a));
}

static Value pointersOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPointer();
  auto store = dyn_cast<StoreOp>(op);
  return store ? store.getPointer() : Value();
}

bool tk::areSideBySide(const Cut &a, const Cut &b) {
  if (a.axis != b.axis)
    return false;
  std::optional<PlaceOf> x = placeOf(a.op), y = placeOf(b.op);
  if (x && y)
    return x->view == y->view && x->widths == y->widths && llvm::equal(x->indices, y->indices) &&
           isLine(*x, a.axis);
  Value pointers = pointersOf(a.op);
  return pointers && pointers == pointersOf(b.op) && isRun(pointers);
}

bool tk::keepsMemoryOrder(const StripLoop &loop, function_ref<bool(Operation *)> changing) {
  SmallVector<Cut> loads, stores;
  DenseSet<Operation *> roots;
  for (const StripRoot &root : loop.roots) {
    roots.insert(root.op);
    if (classOfAccess(root.op))
      stores.push_back({root.op, root.axis});
    for (const Cut &cut : root.slice)
      if (classOfAccess(cut.op) && changing(cut.op))
        loads.push_back(cut);
  }
  // What the loop itself does: a piece must not meet another one.
  for (size_t i = 0; i < stores.size(); ++i) {
    int64_t own = *classOfAccess(stores[i].op);
    auto mayMeet = [&](const Cut &other) {
      return *classOfAccess(other.op) == own && !areSideBySide(stores[i], other);
    };
    if (llvm::any_of(loads, mayMeet) || llvm::any_of(ArrayRef(stores).drop_front(i + 1), mayMeet))
      return false;
  }
  // What it is moved past, up to its last root.
  Operation *last = loop.roots.back().op;
  auto isBlocked = [&](const Cut &moved, bool isStore) {
    if (moved.op == last || moved.op->getBlock() != last->getBlock())
      return false; // around the block stand loads of memory that never changes
    int64_t own = *classOfAccess(moved.op);
    for (Operation *op = moved.op->getNextNode(); op && op != last; op = op->getNextNode()) {
      Touch touch = touchOf(op, own);
      if ((touch.writes && !roots.contains(op)) || (isStore && touch.reads))
        return true;
    }
    return false;
  };
  return llvm::none_of(loads, [&](const Cut &load) { return isBlocked(load, false); }) &&
         llvm::none_of(stores, [&](const Cut &store) { return isBlocked(store, true); });
}
