//===- AxisLayouts.cpp - layouts of what meets along an axis -----------------------===//

#include "passes/analysis/AxisLayouts.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
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

LinearLayout tk::partialLayout(const LinearLayout &layout, unsigned axis) {
  DimBases registers{InDim::Register, {}};
  for (const std::vector<int32_t> &basis : basesOf(layout, InDim::Register).bases)
    if (basis[axis] == 0 && llvm::any_of(basis, [](int32_t c) { return c != 0; }))
      registers.bases.push_back(basis);
  DimBases lanes = basesOf(layout, InDim::Lane), warps = basesOf(layout, InDim::Warp);
  for (std::vector<int32_t> &basis : lanes.bases)
    basis[axis] = 0;
  SmallVector<std::vector<int32_t> *> along; // lowest first, so that warps that have only padding are the highest
  for (std::vector<int32_t> &basis : warps.bases)
    if (basis[axis] != 0)
      along.push_back(&basis);
  llvm::sort(along, [axis](auto *a, auto *b) { return (*a)[axis] < (*b)[axis]; });
  int32_t next = 1, withElements = 0;
  SmallVector<int32_t> firsts{0}; // of each warp along the axis
  for (std::vector<int32_t> *basis : along) {
    for (int32_t i = 0; i < next; ++i)
      firsts.push_back(firsts[i] ^ (*basis)[axis]);
    (*basis)[axis] = next;
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

LinearLayout tk::gatherLayout(const LinearLayout &result, unsigned axis, int64_t count) {
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

bool tk::isNaturalOrder(const LinearLayout &layout, unsigned axis) {
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

LinearLayout tk::naturalLayout(const LinearLayout &layout, unsigned axis) {
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
