//===- LayoutTransforms.cpp - layouts made from layouts -------------------===//
//
// What happens to a layout when its tile is reduced, broadcast, transposed, reshaped, or read
// through another layout. None of these moves an element.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace tk;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Drops `axis`, if given, then the registers that became (or were) duplicates.
Slice LinearLayout::slice(std::optional<unsigned> axis) const {
  Slice result{*this, {}, {}};
  LinearLayout &layout = result.layout;
  auto drop = [&](auto list) {
    if (axis)
      list.erase(list.begin() + *axis);
    return list;
  };
  layout.setCore(drop(coreBits), [&](ArrayRef<int32_t> coords) { return drop(Coords(coords)); });
  layout.tileShape = drop(tileShape);
  layout.repeatList.clear();
  for (Repeat repeat : repeatList)
    if (repeat.dim != axis)
      layout.repeatList.push_back({repeat.dim - (axis && repeat.dim > *axis), repeat.count});

  F2Span span;
  SmallVector<uint32_t> kept, all(layout.packedBases(elementDim()));
  for (uint32_t basis : all)
    if (span.insert(basis, kept.size()))
      kept.push_back(basis);
  auto begin = layout.packed.begin() + firstBit(elementDim());
  layout.packed.erase(begin, begin + all.size());
  layout.bits[unsigned(elementDim())] = 0;
  for (uint32_t basis : kept)
    layout.appendBit(elementDim(), basis);

  SmallVector<int32_t> images;
  for (uint32_t basis : all)
    images.push_back(int32_t(*span.solve(basis)));
  result.oldOfNew.assign(layout.inSize(elementDim()), -1);
  for (int32_t old = 0; old < inSize(elementDim()); ++old) {
    int32_t made = 0, weight = layout.numCoreElements(), repeat = old / numCoreElements();
    for (auto [bit, image] : llvm::enumerate(images))
      made ^= old >> bit & 1 ? image : 0;
    for (const Repeat &entry : repeatList) {
      if (entry.dim != axis) {
        made += repeat % entry.count * weight;
        weight *= entry.count;
      }
      repeat /= entry.count;
    }
    result.newOfOld.push_back(made);
    if (result.oldOfNew[made] < 0)
      result.oldOfNew[made] = old;
  }
  return result;
}

Slice LinearLayout::reduceAxis(unsigned axis) const {
  return slice(axis);
}

Slice LinearLayout::withoutDuplicateRegisters() const {
  return slice(std::nullopt);
}

LinearLayout LinearLayout::expandAxis(unsigned axis) const {
  LinearLayout result = *this;
  result.coreBits.insert(result.coreBits.begin() + axis, 0);
  result.tileShape.insert(result.tileShape.begin() + axis, 1);
  for (Repeat &repeat : result.repeatList)
    repeat.dim += repeat.dim >= axis;
  return result;
}

std::optional<LinearLayout> LinearLayout::broadcastAxis(unsigned axis, int32_t size) const {
  if (padded(axis) != 1 || size < 1 || size > kMaxElements)
    return std::nullopt;
  unsigned newBits = llvm::Log2_32_Ceil(size);
  if (numCoreBits() + newBits > kMaxBits)
    return std::nullopt;
  LinearLayout result = *this;
  SmallVector<uint8_t, 4> sizes = coreBits;
  sizes[axis] = newBits;
  result.setCore(sizes, [](ArrayRef<int32_t> coords) { return Coords(coords); });
  result.tileShape[axis] = size;
  for (unsigned bit = 0; bit < newBits; ++bit)
    result.appendBit(elementDim(), 1u << (result.axisShift(axis) + bit));
  if (result.tooBig())
    return std::nullopt;
  return result;
}

LinearLayout LinearLayout::transpose(ArrayRef<unsigned> perm) const {
  assert(perm.size() == rank() && "a permutation of the dimensions");
  LinearLayout result = *this;
  SmallVector<uint8_t> sizes;
  for (unsigned from : perm)
    sizes.push_back(coreBits[from]);
  result.setCore(sizes, [&](ArrayRef<int32_t> coords) {
    Coords permuted;
    for (unsigned from : perm)
      permuted.push_back(coords[from]);
    return permuted;
  });
  for (auto [to, from] : llvm::enumerate(perm))
    result.tileShape[to] = tileShape[from];
  for (Repeat &repeat : result.repeatList)
    repeat.dim = llvm::find(perm, repeat.dim) - perm.begin();
  return result;
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The padded sides after a row-major reshape. Runs of dimensions with equal products before and
/// after are taken by themselves; within a run only the outermost dimension may be padded.
static std::optional<Coords> reshapePadded(ArrayRef<int32_t> shape, ArrayRef<int32_t> padded,
                                           ArrayRef<int32_t> newShape) {
  Coords result(newShape.begin(), newShape.end());
  size_t i = 0, j = 0;
  while (true) {
    for (; i < shape.size() && shape[i] == 1; ++i)
      if (padded[i] != 1)
        return std::nullopt;
    while (j < newShape.size() && newShape[j] == 1)
      ++j;
    if (i == shape.size() || j == newShape.size())
      break;
    size_t firstOld = i, firstNew = j;
    int64_t oldSize = shape[i++], newSize = newShape[j++];
    int64_t paddedSize = padded[firstOld];
    while (oldSize != newSize) {
      if (oldSize > newSize ? j == newShape.size() : i == shape.size())
        return std::nullopt;
      if (oldSize > newSize) {
        newSize *= newShape[j++];
      } else if (shape[i] == padded[i]) {
        oldSize *= shape[i];
        paddedSize *= shape[i++];
      } else {
        return std::nullopt;
      }
    }
    int64_t inner = newSize / newShape[firstNew];
    if (paddedSize % inner != 0)
      return std::nullopt;
    result[firstNew] = paddedSize / inner;
  }
  if (i != shape.size() || j != newShape.size())
    return std::nullopt;
  return result;
}

namespace {
/// The row-major number of an element, written in mixed radix, lowest first: each dimension gives
/// its core (a power of two), then its repeats (odd). Sizes of 1 are left out.
struct Digit {
  unsigned dim;
  int32_t size;
  bool isOdd() const { return size & 1; }
};
/// The part of an old dimension's repeats that goes to a new dimension.
struct Piece {
  unsigned oldDim, newDim;
  int32_t size;
};
} // namespace

static SmallVector<Digit> digitsOf(ArrayRef<int32_t> padded) {
  SmallVector<Digit> digits;
  for (unsigned dim = padded.size(); dim-- > 0;) {
    int32_t core = padded[dim] & -padded[dim];
    if (core > 1)
      digits.push_back({dim, core});
    if (padded[dim] > core)
      digits.push_back({dim, padded[dim] / core});
  }
  return digits;
}

/// Cuts both numbers into the same digits. None if they do not fit.
static std::optional<SmallVector<Piece>> matchDigits(SmallVector<Digit> from,
                                                     SmallVector<Digit> to) {
  SmallVector<Piece> oddPieces;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    int32_t common = std::min(from[i].size, to[j].size);
    if (from[i].isOdd() != to[j].isOdd() || from[i].size % common || to[j].size % common)
      return std::nullopt;
    if (from[i].isOdd())
      oddPieces.push_back({from[i].dim, to[j].dim, common});
    i += (from[i].size /= common) == 1;
    j += (to[j].size /= common) == 1;
  }
  if (i != from.size() || j != to.size())
    return std::nullopt;
  return oddPieces;
}

/// The list of repeats after the reshape. Pieces of one new dimension must follow each other, lower
/// digits first, else the repeat number does not count through the dimension.
static std::optional<SmallVector<Repeat, 1>> reshapeRepeats(ArrayRef<Repeat> repeats,
                                                            ArrayRef<Piece> pieces) {
  SmallVector<Repeat, 1> result;
  unsigned lastOldDim = 0;
  for (const Repeat &repeat : repeats)
    for (const Piece &piece : pieces) {
      if (piece.oldDim != repeat.dim)
        continue;
      auto found = llvm::find_if(result, [&](Repeat r) { return r.dim == piece.newDim; });
      if (found == result.end())
        result.push_back({piece.newDim, piece.size});
      else if (std::next(found) == result.end() && piece.oldDim < lastOldDim)
        found->count *= piece.size;
      else
        return std::nullopt;
      lastOldDim = piece.oldDim;
    }
  return result;
}

std::optional<LinearLayout> LinearLayout::reshape(ArrayRef<int32_t> newShape) const {
  if (newShape == ArrayRef<int32_t>(tileShape))
    return *this;
  if (llvm::any_of(newShape, [](int32_t side) { return side < 1; }))
    return std::nullopt;
  std::optional<Coords> newPadded = reshapePadded(tileShape, outSizes(), newShape);
  if (!newPadded)
    return std::nullopt;
  auto pieces = matchDigits(digitsOf(outSizes()), digitsOf(*newPadded));
  if (!pieces)
    return std::nullopt;
  auto newRepeats = reshapeRepeats(repeatList, *pieces);
  if (!newRepeats)
    return std::nullopt;
  LinearLayout result = *this; // The bases number elements of the core row-major: they stay.
  result.coreBits.clear();
  for (int32_t side : *newPadded)
    result.coreBits.push_back(llvm::countr_zero(uint32_t(side)));
  result.tileShape.assign(newShape.begin(), newShape.end());
  result.repeatList = *newRepeats;
  return result;
}

std::optional<LinearLayout> LinearLayout::compose(const LinearLayout &inner) const {
  if (!memory || numBlocks() != 1 || inner.rank() != 1 || inner.hasPads() ||
      inner.coreSize(0) != numCoreElements() || inner.numRepeats() != numRepeats())
    return std::nullopt;
  LinearLayout result = *this;
  result.memory = inner.memory;
  result.bits = inner.bits;
  result.packed.clear();
  for (uint32_t offset : inner.packed)
    result.packed.push_back(applyCore(Index{0, 0, 0, 0, int32_t(offset)}));
  return result;
}
