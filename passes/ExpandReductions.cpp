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
// combined by shuffles. `order indexed` first brings the axis into natural order (registers lowest,
// then lanes, then warps), so that every combine has the lower index on its left.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Partials that one thread reads itself; beyond, reading takes longer than shuffling.
static constexpr int64_t kMaxPartialsInThread = 8;

static LinearLayout make(ArrayRef<DimBases> bases, ArrayRef<int32_t> shape,
                         ArrayRef<Repeat> repeats = {}) {
  return llvm::cantFail(LinearLayout::fromBases(bases, shape, repeats));
}

static DimBases basesOf(const LinearLayout &layout, InDim dim) {
  DimBases result{dim, {}};
  for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
    Coords basis = layout.basis(dim, bit);
    result.bases.emplace_back(basis.begin(), basis.end());
  }
  return result;
}

/// What is left after combining registers and lanes: one value a warp along `axis`. Warps that have
/// nothing but padding there are the highest; they get no place in the result.
static LinearLayout partialLayout(const LinearLayout &layout, unsigned axis) {
  DimBases registers{InDim::Register, {}};
  for (const std::vector<int32_t> &basis : basesOf(layout, InDim::Register).bases)
    if (basis[axis] == 0 && llvm::any_of(basis, [](int32_t c) { return c != 0; }))
      registers.bases.push_back(basis);
  DimBases lanes = basesOf(layout, InDim::Lane), warps = basesOf(layout, InDim::Warp);
  for (std::vector<int32_t> &basis : lanes.bases)
    basis[axis] = 0;
  int32_t next = 1, withElements = 0;
  SmallVector<int32_t> firsts{0}; // of each warp along the axis
  for (std::vector<int32_t> &basis : warps.bases)
    if (basis[axis] != 0) {
      for (int32_t i = 0; i < next; ++i)
        firsts.push_back(firsts[i] ^ basis[axis]);
      basis[axis] = next;
      next *= 2;
    }
  while (withElements < next && firsts[withElements] < layout.shape()[axis])
    ++withElements;
  SmallVector<int32_t> shape(layout.shape());
  shape[axis] = withElements;
  SmallVector<Repeat> repeats;
  for (const Repeat &repeat : layout.repeats())
    if (repeat.dim != axis)
      repeats.push_back(repeat);
  return make({registers, lanes, warps}, shape, repeats);
}

/// The layout in which every thread gets all partials of the elements that `result` gives it.
static LinearLayout gatherLayout(const LinearLayout &result, unsigned axis, int64_t count) {
  LinearLayout spread = result.expandAxis(axis);
  uint32_t freeLanes = spread.freeBits(InDim::Lane);
  unsigned bits = llvm::Log2_64_Ceil(count);
  if (count <= kMaxPartialsInThread || unsigned(llvm::popcount(freeLanes)) < bits)
    return *spread.broadcastAxis(axis, count);
  DimBases lanes = basesOf(spread, InDim::Lane);
  int32_t next = 1;
  for (unsigned bit = 0; bit < lanes.bases.size() && next < count; ++bit)
    if (freeLanes >> bit & 1) {
      lanes.bases[bit][axis] = next;
      next *= 2;
    }
  SmallVector<int32_t> shape(spread.shape());
  shape[axis] = count;
  return make({basesOf(spread, InDim::Register), lanes, basesOf(spread, InDim::Warp)}, shape,
              spread.repeats());
}

/// True when going up the axis means registers first, then lanes, then warps, each in order.
static bool isNaturalOrder(const LinearLayout &layout, unsigned axis) {
  int32_t last = 0;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
      int32_t step = layout.basis(dim, bit)[axis];
      if (step == 0)
        continue;
      if (step < last || !llvm::isPowerOf2_32(step))
        return false;
      last = step;
    }
  return layout.reps(axis) == 1;
}

/// The same tile with `axis` in natural order: as many lanes and warps along it as before.
static LinearLayout naturalLayout(const LinearLayout &layout, unsigned axis) {
  unsigned rank = layout.rank();
  SmallVector<int32_t> perThread(rank, 1), lanes(rank, 1), warps(rank, 1);
  SmallVector<unsigned> order{axis};
  for (unsigned i = 0; i < rank; ++i) {
    lanes[i] = 1 << llvm::popcount(layout.bitsMovingAxis(InDim::Lane, i));
    warps[i] = 1 << llvm::popcount(layout.bitsMovingAxis(InDim::Warp, i));
    if (i != axis)
      order.push_back(i);
  }
  int32_t side = llvm::PowerOf2Ceil(layout.shape()[axis]);
  perThread[axis] = std::max(1, side / (lanes[axis] * warps[axis]));
  lanes[axis] *= layout.numLanes() / (1 << llvm::popcount(~layout.freeBits(InDim::Lane) &
                                                          uint32_t(layout.numLanes() - 1)));
  warps[axis] *= layout.numWarps() / (1 << llvm::popcount(~layout.freeBits(InDim::Warp) &
                                                          uint32_t(layout.numWarps() - 1)));
  return llvm::cantFail(
      LinearLayout::blocked(layout.shape(), perThread, lanes, warps, order));
}

namespace {
class ReductionExpansion {
public:
  explicit ReductionExpansion(ReduceOp op)
      : op(op), axis(op.getAxis()), builder(op), loc(op.getLoc()) {}
  void run();

private:
  Type typeFor(Value operand, const LinearLayout &layout);
  SmallVector<Value> reduceWarps(ValueRange operands, TypeRange results);
  Value throughMemory(Value partial, const LinearLayout &gathered);

  ReduceOp op;
  unsigned axis;
  OpBuilder builder;
  Location loc;
};
} // namespace

Type ReductionExpansion::typeFor(Value operand, const LinearLayout &layout) {
  SmallVector<int64_t> shape(layout.shape().begin(), layout.shape().end());
  return RankedTensorType::get(shape, elementTypeOf(operand.getType()),
                               tkg::LayoutAttr::get(op.getContext(), layout));
}

SmallVector<Value> ReductionExpansion::reduceWarps(ValueRange operands, TypeRange results) {
  auto reduce = tkg::ReduceOp::create(builder, loc, results, operands, axis, op.getOrder());
  IRMapping mapping;
  op.getCombine().cloneInto(&reduce.getCombine(), mapping);
  Operation *yield = reduce.getCombine().front().getTerminator();
  OpBuilder inner(yield);
  tkg::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
  return SmallVector<Value>(reduce.getResults());
}

Value ReductionExpansion::throughMemory(Value partial, const LinearLayout &gathered) {
  auto type = cast<RankedTensorType>(partial.getType());
  auto bufferType = tkg::BufType::get(op.getContext(), type.getShape(), type.getElementType());
  Value buffer = tkg::AllocOp::create(builder, loc, bufferType, IntegerAttr());
  tkg::BufStoreOp::create(builder, loc, partial, buffer);
  return tkg::BufLoadOp::create(builder, loc, typeFor(partial, gathered), buffer);
}

void ReductionExpansion::run() {
  SmallVector<Value> operands(op.getOperands());
  LinearLayout layout = tkg::layoutOf(operands.front().getType()).getMap();
  if (op.getOrder() == ReduceOrder::indexed && !isNaturalOrder(layout, axis)) {
    LinearLayout natural = naturalLayout(layout, axis);
    for (Value &operand : operands)
      operand = tkg::ConvertOp::create(builder, loc, typeFor(operand, natural), operand, "shared");
    layout = natural;
  }
  LinearLayout resultLayout = reducedLayout(layout, axis);
  SmallVector<Type> resultTypes;
  for (Value result : op.getResults())
    resultTypes.push_back(isa<RankedTensorType>(result.getType()) ? typeFor(result, resultLayout)
                                                                  : result.getType());
  SmallVector<Value> results;
  if (layout.bitsMovingAxis(InDim::Warp, axis) == 0) {
    results = reduceWarps(operands, resultTypes);
  } else {
    LinearLayout partial = partialLayout(layout, axis);
    LinearLayout gather = gatherLayout(resultLayout, axis, partial.shape()[axis]);
    SmallVector<Type> partialTypes;
    for (Value operand : operands)
      partialTypes.push_back(typeFor(operand, partial));
    SmallVector<Value> gathered;
    for (Value each : reduceWarps(operands, partialTypes))
      gathered.push_back(throughMemory(each, gather));
    results = reduceWarps(gathered, resultTypes);
  }
  for (auto [old, result] : llvm::zip(op.getResults(), results)) {
    if (result.getType() != old.getType())
      result = tkg::ConvertOp::create(builder, loc, old.getType(), result, "shared");
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
