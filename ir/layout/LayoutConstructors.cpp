//===- LayoutConstructors.cpp - blocked, shared and other layouts ---------===//
//
// The named kinds of layouts, each a function that returns a value of the one type, and the product
// by which other kinds (matrix fragments) are put together.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace tk;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

static Error fail(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

template <typename Int> static std::string listText(ArrayRef<Int> list) {
  return "[" + llvm::join(llvm::map_range(list, [](Int n) { return std::to_string(n); }), ",") +
         "]";
}

static Error checkPowers(StringRef name, ArrayRef<int32_t> list, size_t rank) {
  if (list.size() != rank)
    return fail(name + " has " + Twine(list.size()) + " entries, the tile has rank " + Twine(rank));
  for (int32_t size : list)
    if (size < 1 || size >= LinearLayout::kMaxElements || !llvm::isPowerOf2_32(size))
      return fail(name + " has " + Twine(size) + ", which is not a power of two in range");
  return Error::success();
}

namespace {
/// Hands out the bits of a core, dimension by dimension.
struct Dealer {
  SmallVector<unsigned> order;
  Coords core, next;
  SmallVector<Repeat> repeats;

  static Expected<Dealer> create(ArrayRef<int32_t> shape, ArrayRef<unsigned> order,
                                 ArrayRef<int32_t> reps);
  DimBases deal(InDim dim, ArrayRef<int32_t> sizes, bool keepSurplus);
};
} // namespace

Expected<Dealer> Dealer::create(ArrayRef<int32_t> shape, ArrayRef<unsigned> order,
                                ArrayRef<int32_t> reps) {
  SmallVector<unsigned> sorted(order.begin(), order.end());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<unsigned>(0, shape.size())))
    return fail("order " + listText(order) + " does not name each of " + Twine(shape.size()) +
                " dimensions once");
  if (!reps.empty() && reps.size() != shape.size())
    return fail("reps " + listText(reps) + " is not of rank " + Twine(shape.size()));
  Dealer dealer{{order.begin(), order.end()}, Coords(shape.size(), 1), Coords(shape.size(), 1), {}};
  int64_t elements = 1;
  for (unsigned axis : order) {
    int32_t count = reps.empty() ? 1 : reps[axis];
    if (shape[axis] < 1 || shape[axis] > LinearLayout::kMaxElements)
      return fail("side " + Twine(shape[axis]) + " of dimension " + Twine(axis) +
                  " is not between 1 and 2^" + Twine(LinearLayout::kMaxBits));
    if (count < 1 || count % 2 == 0)
      return fail("repeat count " + Twine(count) + " is not odd");
    dealer.core[axis] = llvm::PowerOf2Ceil(llvm::divideCeil(shape[axis], count));
    elements *= dealer.core[axis];
    if (elements > LinearLayout::kMaxElements)
      return fail("the tile has over 2^" + Twine(LinearLayout::kMaxBits) + " elements");
    if (count > 1)
      dealer.repeats.push_back({axis, count});
  }
  return dealer;
}

DimBases Dealer::deal(InDim dim, ArrayRef<int32_t> sizes, bool keepSurplus) {
  DimBases result{dim, {}};
  for (unsigned axis : order)
    for (int32_t size = 1; size < sizes[axis]; size *= 2) {
      std::vector<int32_t> basis(core.size(), 0);
      if (next[axis] < core[axis]) {
        basis[axis] = next[axis];
        next[axis] *= 2;
      } else if (!keepSurplus) {
        break;
      }
      result.bases.push_back(basis);
    }
  return result;
}

Expected<LinearLayout> LinearLayout::blocked(ArrayRef<int32_t> shape,
                                             ArrayRef<int32_t> elementsPerThread,
                                             ArrayRef<int32_t> threadsPerWarp,
                                             ArrayRef<int32_t> warpsPerBlock,
                                             ArrayRef<unsigned> order, ArrayRef<int32_t> reps) {
  if (Error error = checkPowers("elementsPerThread", elementsPerThread, shape.size()))
    return error;
  if (Error error = checkPowers("threadsPerWarp", threadsPerWarp, shape.size()))
    return error;
  if (Error error = checkPowers("warpsPerBlock", warpsPerBlock, shape.size()))
    return error;
  Expected<Dealer> dealer = Dealer::create(shape, order, reps);
  if (!dealer)
    return dealer.takeError();
  DimBases registers = dealer->deal(InDim::Register, elementsPerThread, false);
  DimBases lanes = dealer->deal(InDim::Lane, threadsPerWarp, true);
  DimBases warps = dealer->deal(InDim::Warp, warpsPerBlock, true);
  DimBases wrapped = dealer->deal(InDim::Register, dealer->core, false);
  llvm::append_range(registers.bases, wrapped.bases);
  return fromBases({registers, lanes, warps}, shape, dealer->repeats);
}

Expected<LinearLayout> LinearLayout::coalesced(ArrayRef<int32_t> shape, int32_t vec,
                                               ArrayRef<unsigned> order, int32_t lanes,
                                               int32_t warps, ArrayRef<int32_t> reps) {
  if (Error error = checkPowers("vec, lanes, warps", {vec, lanes, warps}, 3))
    return error;
  Expected<Dealer> dealer = Dealer::create(shape, order, reps);
  if (!dealer)
    return dealer.takeError();
  if (shape.empty())
    return zeros(InDim::Lane, lanes, 0) * zeros(InDim::Warp, warps, 0);
  Coords left = dealer->core;
  auto takeUp = [&](int32_t count, bool keepSurplus) {
    Coords sizes(shape.size(), 1);
    for (unsigned axis : order) {
      sizes[axis] = std::min(count, left[axis]);
      left[axis] /= sizes[axis];
      count /= sizes[axis];
    }
    if (keepSurplus)
      sizes[order.back()] *= count;
    return sizes;
  };
  Coords elementsPerThread(shape.size(), 1);
  elementsPerThread[order[0]] = std::min(vec, left[order[0]]);
  left[order[0]] /= elementsPerThread[order[0]];
  Coords threadsPerWarp = takeUp(lanes, true);
  return blocked(shape, elementsPerThread, threadsPerWarp, takeUp(warps, true), order, reps);
}

Expected<LinearLayout> LinearLayout::rowMajorShared(ArrayRef<int32_t> shape,
                                                    ArrayRef<unsigned> order,
                                                    ArrayRef<int32_t> reps) {
  return swizzledShared(shape, order, 1, 1, 1, reps);
}

Expected<LinearLayout> LinearLayout::swizzledShared(ArrayRef<int32_t> shape,
                                                    ArrayRef<unsigned> order, int32_t vec,
                                                    int32_t perPhase, int32_t maxPhase,
                                                    ArrayRef<int32_t> reps) {
  if (Error error = checkPowers("vec, perPhase, maxPhase", {vec, perPhase, maxPhase}, 3))
    return error;
  Expected<Dealer> dealer = Dealer::create(shape, order, reps);
  if (!dealer)
    return dealer.takeError();
  DimBases offsets = dealer->deal(InDim::Offset, dealer->core, false);
  if (maxPhase > 1) {
    if (shape.size() < 2 || int64_t(vec) * maxPhase > dealer->core[order[0]])
      return fail("a swizzle of " + Twine(maxPhase) + " phases of " + Twine(vec) +
                  " elements does not fit in shape " + listText(shape));
    for (std::vector<int32_t> &basis : offsets.bases)
      basis[order[0]] ^= basis[order[1]] / perPhase % maxPhase * vec;
  }
  return fromBases(offsets, shape, dealer->repeats);
}

LinearLayout LinearLayout::identity1D(InDim dim, int32_t size, unsigned rank, unsigned axis) {
  assert(axis < rank && size > 0 && llvm::isPowerOf2_32(size) && "callers pass powers of two");
  LinearLayout layout = zeros(dim, 1, rank);
  layout.coreBits[axis] = llvm::Log2_32(size);
  layout.tileShape[axis] = size;
  for (unsigned bit = 0; bit < layout.coreBits[axis]; ++bit)
    layout.appendBit(dim, 1u << (layout.axisShift(axis) + bit));
  return layout;
}

LinearLayout LinearLayout::zeros(InDim dim, int32_t size, unsigned rank) {
  assert(size > 0 && llvm::isPowerOf2_32(size) && "callers pass powers of two");
  LinearLayout layout;
  layout.memory = dim == InDim::Offset;
  layout.coreBits.assign(rank, 0);
  layout.tileShape.assign(rank, 1);
  for (unsigned bit = 0; bit < llvm::Log2_32(size); ++bit)
    layout.appendBit(dim, 0);
  return layout;
}

LinearLayout tk::operator*(const LinearLayout &inner, const LinearLayout &outer) {
  assert(inner.rank() == outer.rank() && !inner.hasPads() && inner.repeats().empty() &&
         "pads and repeats are outermost");
  LinearLayout result = outer;
  result.memory |= inner.memory;
  for (unsigned axis = 0; axis < outer.rank(); ++axis)
    result.tileShape[axis] *= inner.coreSize(axis);
  SmallVector<uint8_t> sizes;
  for (auto [a, b] : llvm::zip_equal(inner.coreBits, outer.coreBits))
    sizes.push_back(a + b);
  result.setCore(sizes, [&](ArrayRef<int32_t> coords) {
    Coords scaled;
    for (auto [coordinate, bits] : llvm::zip_equal(coords, inner.coreBits))
      scaled.push_back(coordinate << bits);
    return scaled;
  });
  for (InDim dim : kInDims)
    for (auto [bit, basis] : llvm::enumerate(inner.packedBases(dim))) {
      result.packed.insert(result.packed.begin() + result.firstBit(dim) + bit,
                           result.pack(inner.unpack(basis)));
      ++result.bits[unsigned(dim)];
    }
  assert(!result.tooBig() && !(result.memory && result.firstBit(InDim::Block) > 0));
  return result;
}

Expected<LinearLayout> LinearLayout::withShape(ArrayRef<int32_t> shape) const {
  LinearLayout result = *this;
  if (Error error = result.fitShape(shape))
    return error;
  return result;
}

Expected<LinearLayout> LinearLayout::withRepeats(ArrayRef<Repeat> repeats) const {
  if (!repeatList.empty() || hasPads())
    return fail("the layout has repeats or pads already");
  LinearLayout result = *this;
  if (Error error = result.addRepeats(repeats))
    return error;
  result.tileShape = result.outSizes();
  return result;
}
