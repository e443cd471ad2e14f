//===- ExpandReductions.cpp - within warps, then across them --------------------===//
//
// Requires: phase LaidOut.
// Ensures:  no tk.reduce is left. tkg.reduce combines registers and lanes; an axis that is spread
//           over W warps leaves W partial values, which go through a shared buffer so that every
//           thread gets all of them and combines them in the same order.
// Fails:    never.
//
//   %s = tk.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> f32 {...}
// becomes
//   %p = tkg.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> tensor<4xf32, #onePerWarp> {...}
//   %b = tkg.alloc : !tkg.buf<4xf32>
//   tkg.buf_store %p, %b
//   %q = tkg.buf_load %b : -> tensor<4xf32, #allInEachThread>
//   %s = tkg.reduce %q axis 0 order any : -> f32 {...}
//
// Up to eight partials a thread reads all (one or two vector loads); more are dealt to lanes and
// combined by shuffles. `order indexed` and `order tree` first bring the axis into natural order
// (registers lowest, then lanes, then warps), so that every combine has the lower index on its left,
// and the levels of the tree are those of registers, of lanes and of warps. Where only the highest
// bits of a tree's index are out of place, as in registers above lanes, the axis is split there instead
// if that costs less: %s = reduce(reduce(reshape(%x, [n / m, m]), 1), 0).
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/AxisLayouts.h"
#include "passes/analysis/LayoutPlan.h"
#include "llvm/ADT/bit.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
class ReductionExpansion {
public:
  explicit ReductionExpansion(ReduceOp op)
      : op(op), axis(op.getAxis()), builder(op), loc(op.getLoc()) {}
  void run();

private:
  bool splitAxis();
  SmallVector<Value> reduceWarps(ValueRange operands, TypeRange results);
  SmallVector<Value> throughMemory(ValueRange partials, const LinearLayout &gathered);

  ReduceOp op;
  unsigned axis;
  OpBuilder builder;
  Location loc;
};
} // namespace

SmallVector<Value> ReductionExpansion::reduceWarps(ValueRange operands, TypeRange results) {
  auto reduce = tkg::ReduceOp::create(builder, loc, results, operands, axis, op.getOrder());
  cloneCombine(op.getCombine(), reduce.getCombine());
  return SmallVector<Value>(reduce.getResults());
}

/// All are stored before any is loaded: one barrier orders them.
SmallVector<Value> ReductionExpansion::throughMemory(ValueRange partials, const LinearLayout &gathered) {
  SharedBuilder shared{builder, loc};
  SmallVector<Value> buffers, loaded;
  for (Value partial : partials)
    buffers.push_back(shared.spill(partial));
  for (auto [partial, buffer] : llvm::zip(partials, buffers))
    loaded.push_back(shared.load(buffer, tileTypeFor(partial, gathered)));
  return loaded;
}

/// Whether combining registers, then lanes, then warps goes up the levels of a tree. A thread that has the whole
/// axis knows which register is which.
static bool isTreeOrder(const LinearLayout &layout, unsigned axis) {
  return isNaturalOrder(layout, axis) ||
         (layout.bitsMovingAxis(InDim::Lane, axis) == 0 && layout.bitsMovingAxis(InDim::Warp, axis) == 0);
}

/// A barrier and what it waits for, in moves of one register.
static constexpr int64_t kBarrierMoves = 20;

/// Moves of registers between threads for a reduction along an axis in natural order that leaves `left`
/// registers: a shuffle a lane bit, and partials through memory.
static int64_t movesOf(const LinearLayout &layout, unsigned axis, int64_t left) {
  int64_t lanes = llvm::popcount(layout.bitsMovingAxis(InDim::Lane, axis));
  int64_t warps = int64_t(1) << llvm::popcount(layout.bitsMovingAxis(InDim::Warp, axis));
  return left * (lanes + (warps > 1 ? 1 + warps : 0)) + (warps > 1 ? kBarrierMoves : 0);
}

/// The axis as two, the lower one as long as its order is natural.
static std::optional<LinearLayout> splitNatural(const LinearLayout &layout, unsigned axis) {
  SmallVector<int32_t> sides(layout.shape());
  int32_t side = sides[axis];
  for (int32_t low = side & -side; low > 1; low /= 2) {
    sides[axis] = side / low;
    sides.insert(sides.begin() + axis + 1, low);
    std::optional<LinearLayout> split = low < side ? layout.reshape(sides) : std::nullopt;
    if (split && isNaturalOrder(*split, axis + 1))
      return split;
    sides.erase(sides.begin() + axis + 1);
  }
  return std::nullopt;
}

/// As two reductions, whose nodes are those of the tree; false where that moves more than bringing the whole axis
/// into order does.
bool ReductionExpansion::splitAxis() {
  LinearLayout layout = mapOf(op.getOperands().front());
  std::optional<LinearLayout> split = splitNatural(layout, axis);
  if (!split)
    return false;
  LinearLayout between = reducedLayout(*split, axis + 1), last = reducedLayout(layout, axis);
  int64_t ordered = 2 * layout.numRegisters() + kBarrierMoves + movesOf(layout, axis, last.numRegisters());
  if (!isTreeOrder(between, axis) || movesOf(*split, axis + 1, between.numRegisters()) +
                                                movesOf(between, axis, last.numRegisters()) > ordered)
    return false;
  auto reduced = [&](ArrayRef<Value> operands, ArrayRef<Type> types, unsigned along) {
    auto reduce = ReduceOp::create(builder, loc, types, operands, along, ReduceOrder::tree);
    IRMapping mapping;
    op.getCombine().cloneInto(&reduce.getCombine(), mapping);
    return reduce;
  };
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op.getOperands()) {
    operands.push_back(ReshapeOp::create(builder, loc, tileTypeFor(operand, *split), operand));
    types.push_back(tileTypeFor(operand, between));
  }
  ReduceOp low = reduced(operands, types, axis + 1);
  ReduceOp high = reduced(SmallVector<Value>(low.getResults()), SmallVector<Type>(op.getResultTypes()), axis);
  op.replaceAllUsesWith(high.getResults());
  op.erase();
  ReductionExpansion(low).run();
  ReductionExpansion(high).run();
  return true;
}

void ReductionExpansion::run() {
  SmallVector<Value> operands(op.getOperands());
  LinearLayout layout = mapOf(operands.front());
  bool isTree = op.getOrder() == ReduceOrder::tree;
  bool isGood = op.getOrder() == ReduceOrder::any || (isTree ? isTreeOrder : isNaturalOrder)(layout, axis);
  if (!isGood && isTree && splitAxis())
    return;
  if (!isGood) {
    LinearLayout natural = naturalLayout(layout, axis);
    for (Value &operand : operands)
      operand = convertTile(builder, loc, operand, natural, "a reduction in order needs the axis in order");
    layout = natural;
  }
  LinearLayout resultLayout = reducedLayout(layout, axis);
  SmallVector<Type> resultTypes;
  for (Value result : op.getResults())
    resultTypes.push_back(isa<RankedTensorType>(result.getType()) ? tileTypeFor(result, resultLayout)
                                                                  : result.getType());
  SmallVector<Value> results;
  if (layout.bitsMovingAxis(InDim::Warp, axis) == 0) {
    results = reduceWarps(operands, resultTypes);
  } else {
    LinearLayout partial = partialLayout(layout, axis);
    LinearLayout gather = gatherLayout(resultLayout, axis, partial.shape()[axis]);
    SmallVector<Type> partialTypes;
    for (Value operand : operands)
      partialTypes.push_back(tileTypeFor(operand, partial));
    results = reduceWarps(throughMemory(reduceWarps(operands, partialTypes), gather), resultTypes);
  }
  for (auto [old, result] : llvm::zip(op.getResults(), results)) {
    if (result.getType() != old.getType())
      result = convertTile(builder, loc, result, mapOf(old), "a reduction leaves its result where the operand was");
    old.replaceAllUsesWith(result);
  }
  op.erase();
}

namespace {
struct ExpandReductions : tk::impl::ExpandReductionsBase<ExpandReductions> {
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      ReductionExpansion(op).run();
  }
};
} // namespace
