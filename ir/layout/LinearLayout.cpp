//===- LinearLayout.cpp - which thread holds which element of a tile ------===//
//
// The header explains layouts. Here: linear algebra over F2, checked construction from bases, the
// map and its inverse, and queries. The other members are in LayoutConstructors.cpp,
// LayoutTransforms.cpp, LayoutConversion.cpp and LayoutText.cpp.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

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

static std::string listText(ArrayRef<int32_t> list) {
  return "[" + llvm::join(llvm::map_range(list, [](int32_t n) { return std::to_string(n); }), ",") +
         "]";
}

//===----------------------------------------------------------------------===//
// F2Span, Index
//===----------------------------------------------------------------------===//

uint32_t F2Span::reduce(uint32_t vector, uint64_t &sum) const {
  for (unsigned lead = llvm::bit_width(vector); lead-- > 0;) {
    if ((vector >> lead & 1) == 0 || rows[lead] == 0)
      continue;
    vector ^= rows[lead];
    sum ^= sums[lead];
  }
  return vector;
}

bool F2Span::insert(uint32_t vector, unsigned number) {
  uint64_t sum = uint64_t(1) << number;
  vector = reduce(vector, sum);
  if (vector == 0)
    return false;
  rows[llvm::Log2_32(vector)] = vector;
  sums[llvm::Log2_32(vector)] = sum;
  return true;
}

std::optional<uint64_t> F2Span::solve(uint32_t vector) const {
  uint64_t sum = 0;
  if (reduce(vector, sum) != 0)
    return std::nullopt;
  return sum;
}

StringRef tk::inDimName(InDim dim) {
  static constexpr StringRef kNames[kNumInDims] = {"register", "lane", "warp", "block", "offset"};
  return kNames[unsigned(dim)];
}

static constexpr int32_t Index::*kIndexFields[kNumInDims] = {
    &Index::reg, &Index::lane, &Index::warp, &Index::block, &Index::offset};

int32_t Index::get(InDim dim) const {
  return this->*kIndexFields[unsigned(dim)];
}
void Index::set(InDim dim, int32_t value) {
  this->*kIndexFields[unsigned(dim)] = value;
}

Index tk::operator^(const Index &a, const Index &b) {
  Index result;
  for (InDim dim : kInDims)
    result.set(dim, a.get(dim) ^ b.get(dim));
  return result;
}

//===----------------------------------------------------------------------===//
// Construction and its checks
//===----------------------------------------------------------------------===//

/// The rank that shape or bases tell, after the checks of single bases.
static Expected<unsigned> checkBases(ArrayRef<DimBases> bases,
                                     std::optional<ArrayRef<int32_t>> shape) {
  std::optional<size_t> rank;
  if (shape)
    rank = shape->size();
  uint32_t seen = 0;
  size_t numBits = 0;
  for (const DimBases &entry : bases) {
    StringRef name = inDimName(entry.dim);
    if (seen >> unsigned(entry.dim) & 1)
      return fail("`" + name + "` is given twice");
    seen |= 1u << unsigned(entry.dim);
    if (entry.bases.size() > LinearLayout::kMaxBits)
      return fail("`" + name + "` has " + Twine(entry.bases.size()) + " bits, at most " +
                  Twine(LinearLayout::kMaxBits) + " are possible");
    numBits += entry.bases.size();
    for (const std::vector<int32_t> &basis : entry.bases) {
      rank = rank.value_or(basis.size());
      if (basis.size() != *rank)
        return fail("basis " + listText(basis) + " of `" + name + "` has " + Twine(basis.size()) +
                    " coordinates, the tile has rank " + Twine(*rank));
      for (int32_t coordinate : basis)
        if (coordinate < 0 || coordinate >= LinearLayout::kMaxElements)
          return fail("basis " + listText(basis) + " of `" + name + "` is out of range");
    }
  }
  if ((seen >> unsigned(InDim::Offset) & 1) && (seen & 0b111))
    return fail("`offset` cannot stand beside `register`, `lane` or `warp`");
  if (numBits > LinearLayout::kMaxInputBits)
    return fail("the layout has " + Twine(numBits) + " input bits, at most " +
                Twine(LinearLayout::kMaxInputBits) + " are possible");
  if (!rank)
    return fail("the rank is unknown: without a basis, `shape` must be given");
  return *rank;
}

Expected<LinearLayout> LinearLayout::fromBases(ArrayRef<DimBases> bases,
                                               std::optional<ArrayRef<int32_t>> shape,
                                               ArrayRef<Repeat> repeats) {
  Expected<unsigned> rank = checkBases(bases, shape);
  if (!rank)
    return rank.takeError();
  LinearLayout layout;
  Coords reached(*rank, 0);
  for (const DimBases &entry : bases) {
    layout.memory |= entry.dim == InDim::Offset;
    for (const std::vector<int32_t> &basis : entry.bases)
      for (auto [axis, coordinate] : llvm::enumerate(basis))
        reached[axis] |= coordinate;
  }
  for (int32_t bits : reached)
    layout.coreBits.push_back(llvm::bit_width(uint32_t(bits)));
  if (layout.numCoreBits() > kMaxBits)
    return fail("the tile has over 2^" + Twine(kMaxBits) + " elements");
  for (const DimBases &entry : bases)
    for (const std::vector<int32_t> &basis : entry.bases)
      layout.appendBit(entry.dim, layout.pack(basis));
  if (Error error = layout.checkSurjective())
    return error;
  if (Error error = layout.addRepeats(repeats))
    return error;
  layout.tileShape = layout.outSizes();
  if (shape)
    if (Error error = layout.fitShape(*shape))
      return error;
  return layout;
}

Error LinearLayout::checkSurjective() const {
  F2Span span;
  for (auto [number, basis] : llvm::enumerate(packed))
    span.insert(basis, number);
  for (unsigned bit = 0; bit < numCoreBits(); ++bit)
    if (!span.solve(1u << bit))
      return fail("no place holds element " + listText(unpack(1u << bit)));
  return Error::success();
}

Error LinearLayout::addRepeats(ArrayRef<Repeat> repeats) {
  for (const Repeat &repeat : repeats) {
    if (repeat.dim >= rank())
      return fail("repeat of dimension " + Twine(repeat.dim) + ", but the rank is " +
                  Twine(rank()));
    if (reps(repeat.dim) != 1)
      return fail("dimension " + Twine(repeat.dim) + " is repeated twice");
    if (repeat.count < 3 || repeat.count % 2 == 0)
      return fail("repeat count " + Twine(repeat.count) + " is not an odd number above 1");
    if (repeat.count > kMaxElements)
      return fail("repeat count " + Twine(repeat.count) + " is too big");
    repeatList.push_back(repeat);
    if (tooBig())
      return fail("the tile has over 2^" + Twine(kMaxBits) + " elements");
  }
  return Error::success();
}

Error LinearLayout::fitShape(ArrayRef<int32_t> newShape) {
  if (newShape.size() != rank())
    return fail("shape " + listText(newShape) + " is not of rank " + Twine(rank()));
  for (auto [axis, side] : llvm::enumerate(newShape))
    if (side < 1 || side > padded(axis))
      return fail("side " + Twine(side) + " of dimension " + Twine(axis) +
                  " is not between 1 and " + Twine(padded(axis)) + ", which the layout covers");
  tileShape.assign(newShape.begin(), newShape.end());
  return Error::success();
}

bool LinearLayout::tooBig() const {
  int64_t repeats = 1;
  for (const Repeat &repeat : repeatList)
    if ((repeats *= repeat.count) > kMaxElements)
      return true;
  unsigned most = std::max<unsigned>(numCoreBits(), *std::max_element(bits.begin(), bits.end()));
  return most > kMaxBits ||
         (repeats << std::max(numCoreBits(), numBits(elementDim()))) > kMaxElements ||
         packed.size() > kMaxInputBits;
}

void LinearLayout::appendBit(InDim dim, uint32_t element) {
  packed.insert(packed.begin() + firstBit(dim) + numBits(dim), element);
  ++bits[unsigned(dim)];
}

/// Gives the core other sides; `change` says where the elements go.
void LinearLayout::setCore(ArrayRef<uint8_t> newCoreBits,
                           llvm::function_ref<Coords(ArrayRef<int32_t>)> change) {
  SmallVector<Coords> changed;
  for (uint32_t basis : packed)
    changed.push_back(change(unpack(basis)));
  coreBits.assign(newCoreBits.begin(), newCoreBits.end());
  for (auto [basis, coords] : llvm::zip_equal(packed, changed))
    basis = pack(coords);
}

//===----------------------------------------------------------------------===//
// Packed bases
//===----------------------------------------------------------------------===//

unsigned LinearLayout::firstBit(InDim dim) const {
  return std::accumulate(bits.begin(), bits.begin() + unsigned(dim), 0u);
}

ArrayRef<uint32_t> LinearLayout::packedBases(InDim dim) const {
  return ArrayRef<uint32_t>(packed).slice(firstBit(dim), numBits(dim));
}

unsigned LinearLayout::numCoreBits() const {
  return std::accumulate(coreBits.begin(), coreBits.end(), 0u);
}

/// Where the coordinate of `axis` begins in the number of a core element.
unsigned LinearLayout::axisShift(unsigned axis) const {
  return std::accumulate(coreBits.begin() + axis + 1, coreBits.end(), 0u);
}

/// The number of a core element; the part of the coordinates that is beyond the core is dropped.
uint32_t LinearLayout::pack(ArrayRef<int32_t> coords) const {
  uint32_t element = 0;
  for (auto [coordinate, numBits] : llvm::zip_equal(coords, coreBits))
    element = element << numBits | (uint32_t(coordinate) & ((1u << numBits) - 1));
  return element;
}

Coords LinearLayout::unpack(uint32_t element) const {
  Coords coords(rank());
  for (unsigned axis = rank(); axis-- > 0; element >>= coreBits[axis])
    coords[axis] = int32_t(element & ((1u << coreBits[axis]) - 1));
  return coords;
}

/// The core element at a place; repeats in the index are ignored.
uint32_t LinearLayout::applyCore(const Index &index) const {
  uint32_t element = 0;
  const uint32_t *basis = packed.begin();
  for (InDim dim : kInDims) {
    for (uint32_t set = uint32_t(index.get(dim)) & ((1u << numBits(dim)) - 1); set != 0; set &= set - 1)
      element ^= basis[llvm::countr_zero(set)];
    basis += numBits(dim);
  }
  return element;
}

/// The number of the repeat that the coordinates are in; none if outside the padded tile.
std::optional<int32_t> LinearLayout::repeatOf(ArrayRef<int32_t> coords) const {
  for (unsigned axis = 0; axis < rank(); ++axis)
    if (coords[axis] < 0 || coords[axis] >= padded(axis))
      return std::nullopt;
  int32_t repeat = 0, weight = 1;
  for (const Repeat &entry : repeatList) {
    repeat += (coords[entry.dim] >> coreBits[entry.dim]) * weight;
    weight *= entry.count;
  }
  return repeat;
}

/// The bits that add nothing to the span of the bits before them.
uint64_t LinearLayout::redundantBits() const {
  F2Span span;
  uint64_t redundant = 0;
  for (auto [number, basis] : llvm::enumerate(packed))
    if (!span.insert(basis, number))
      redundant |= uint64_t(1) << number;
  return redundant;
}

Index LinearLayout::indexOfBits(uint64_t bitSet) const {
  Index index;
  for (InDim dim : kInDims)
    for (unsigned bit = 0; bit < numBits(dim); ++bit)
      if (bitSet >> (firstBit(dim) + bit) & 1)
        index.set(dim, index.get(dim) | int32_t(1) << bit);
  return index;
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

int32_t LinearLayout::reps(unsigned dim) const {
  for (const Repeat &repeat : repeatList)
    if (repeat.dim == dim)
      return repeat.count;
  return 1;
}

Coords LinearLayout::outSizes() const {
  Coords sizes;
  for (unsigned axis = 0; axis < rank(); ++axis)
    sizes.push_back(padded(axis));
  return sizes;
}

bool LinearLayout::hasPads() const {
  return !llvm::equal(tileShape, outSizes());
}

bool LinearLayout::isValid(ArrayRef<int32_t> coords) const {
  return llvm::all_of(llvm::zip_equal(coords, tileShape), [](auto pair) {
    return std::get<0>(pair) >= 0 && std::get<0>(pair) < std::get<1>(pair);
  });
}

int32_t LinearLayout::numRepeats() const {
  int32_t product = 1;
  for (const Repeat &repeat : repeatList)
    product *= repeat.count;
  return product;
}

int32_t LinearLayout::inSize(InDim dim) const {
  return (int32_t(1) << numBits(dim)) * (dim == elementDim() ? numRepeats() : 1);
}

Coords LinearLayout::basis(InDim dim, unsigned bit) const {
  return unpack(packedBases(dim)[bit]);
}

Coords LinearLayout::apply(const Index &index) const {
  Coords coords = unpack(applyCore(index));
  int32_t repeat = index.get(elementDim()) >> numBits(elementDim());
  for (const Repeat &entry : repeatList) {
    coords[entry.dim] += repeat % entry.count << coreBits[entry.dim];
    repeat /= entry.count;
  }
  assert(repeat == 0 && "index beyond the input sizes");
  return coords;
}

std::optional<Index> LinearLayout::invert(ArrayRef<int32_t> coords) const {
  std::optional<int32_t> repeat = repeatOf(coords);
  if (!repeat)
    return std::nullopt;
  F2Span span;
  for (auto [number, basis] : llvm::enumerate(packed))
    span.insert(basis, number);
  Index index = indexOfBits(*span.solve(pack(coords)));
  index.set(elementDim(), index.get(elementDim()) + *repeat * numCoreElements());
  return index;
}

void LinearLayout::forEach(llvm::function_ref<void(const Index &, ArrayRef<int32_t>)> visit) const {
  Index index;
  for (index.block = 0; index.block < numBlocks(); ++index.block)
    for (index.warp = 0; index.warp < numWarps(); ++index.warp)
      for (index.lane = 0; index.lane < numLanes(); ++index.lane)
        for (int32_t element = 0; element < inSize(elementDim()); ++element) {
          index.set(elementDim(), element);
          visit(index, apply(index));
        }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

uint32_t LinearLayout::freeBits(InDim dim) const {
  uint32_t mask = 0;
  for (auto [bit, basis] : llvm::enumerate(packedBases(dim)))
    mask |= uint32_t(basis == 0) << bit;
  return mask;
}

uint32_t LinearLayout::ownerMask(InDim dim) const {
  return uint32_t(indexOfBits(redundantBits()).get(dim));
}

uint32_t LinearLayout::bitsMovingAxis(InDim dim, unsigned axis) const {
  uint32_t mask = 0;
  for (auto [bit, basis] : llvm::enumerate(packedBases(dim)))
    mask |= uint32_t(unpack(basis)[axis] != 0) << bit;
  return mask;
}

bool LinearLayout::axisOnly(InDim dim) const {
  return llvm::all_of(packedBases(dim), [&](uint32_t basis) {
    return llvm::count_if(unpack(basis), [](int32_t c) { return c != 0; }) <= 1;
  });
}

bool LinearLayout::axisOnly() const {
  return llvm::all_of(kInDims, [&](InDim dim) { return axisOnly(dim); });
}

int32_t LinearLayout::contiguousPerThread(unsigned axis) const {
  ArrayRef<uint32_t> elements = packedBases(elementDim());
  unsigned run = 0;
  while (run < elements.size() && elements[run] == 1u << (axisShift(axis) + run) &&
         run < coreBits[axis])
    ++run;
  // Every other bit must leave the run aligned.
  for (auto [number, basis] : llvm::enumerate(packed)) {
    bool inRun = number >= firstBit(elementDim()) && number < firstBit(elementDim()) + run;
    uint32_t step = unpack(basis)[axis];
    if (!inRun && step != 0)
      run = std::min<unsigned>(run, llvm::countr_zero(step));
  }
  return int32_t(1) << run;
}

bool LinearLayout::invertible() const {
  return redundantBits() == 0;
}

std::weak_ordering LinearLayout::operator<=>(const LinearLayout &other) const {
  auto key = [](const LinearLayout &layout) {
    return std::tie(layout.memory, layout.tileShape, layout.coreBits, layout.repeatList,
                    layout.bits, layout.packed);
  };
  return key(*this) <=> key(other);
}

bool LinearLayout::operator==(const LinearLayout &other) const {
  return std::is_eq(*this <=> other);
}

llvm::hash_code tk::hash_value(const LinearLayout &layout) {
  llvm::hash_code hash = llvm::hash_combine(
      layout.memory, llvm::hash_combine_range(layout.tileShape),
      llvm::hash_combine_range(layout.coreBits), llvm::hash_combine_range(layout.bits),
      llvm::hash_combine_range(layout.packed));
  for (const Repeat &repeat : layout.repeatList)
    hash = llvm::hash_combine(hash, repeat.dim, repeat.count);
  return hash;
}
