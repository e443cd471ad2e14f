//===- LayoutConversion.cpp - from one layout to another ------------------===//
//
// Method. For every bit of the target we look for a source place that holds the bit's basis. Say
// only registers may differ from the target's place (reach Thread): a lane bit must then come from
// the same lane bit plus some registers, that is, the sum of its two bases must lie in the span of
// the source's register bases. If this works for every bit it works, by linearity, for every place;
// if it fails for one bit that bit's own place is a counterexample. So looking at bits is exact,
// with padding counted as elements. With different cores or repeats nothing is linear, and every
// valid place is looked at.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace tk;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;

static std::string shapeText(ArrayRef<int32_t> list) {
  return "[" + llvm::join(llvm::map_range(list, [](int32_t n) { return std::to_string(n); }), ",") +
         "]";
}

Expected<LayoutConversion> LayoutConversion::create(const LinearLayout &src,
                                                    const LinearLayout &dst) {
  if (src.shape() != dst.shape())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "no conversion between tiles of shapes " +
                                       llvm::Twine(shapeText(src.shape())) + " and " +
                                       shapeText(dst.shape()));
  return LayoutConversion(src, dst);
}

LayoutConversion::LayoutConversion(const LinearLayout &src, const LinearLayout &dst)
    : src(src), dst(dst) {
  linear = src.coreBits == dst.coreBits && src.repeatList == dst.repeatList;
  for (unsigned reach = 0; reach < kNumReaches; ++reach)
    for (InDim dim : kInDims)
      for (auto [bit, basis] : llvm::enumerate(src.packedBases(dim)))
        if (dim == src.elementDim() || unsigned(dim) <= reach)
          spans[reach].insert(basis, src.firstBit(dim) + bit);
  Reach needed = linear ? solveBits() : reachOfAll();
  static constexpr ConversionKind kKinds[kNumReaches] = {
      ConversionKind::Registers, ConversionKind::Lanes, ConversionKind::Shared,
      ConversionKind::Blocks};
  means = src == dst ? ConversionKind::None : kKinds[needed];
}

/// Must a source have the target's value of `dim`?
bool LayoutConversion::keeps(InDim dim, Reach reach) const {
  return dim != src.elementDim() && unsigned(dim) > reach && src.numBits(dim) == dst.numBits(dim);
}

/// The least reach that is thinkable: threads that one side lacks cannot keep their data.
LayoutConversion::Reach LayoutConversion::leastReach() const {
  if (src.numBlocks() != dst.numBlocks())
    return Cluster;
  if (src.isMemory() || dst.isMemory() || src.numLanes() != dst.numLanes() ||
      src.numWarps() != dst.numWarps())
    return Block;
  return Thread;
}

/// A place within reach of `at` where the core of the source holds `element`.
std::optional<Index> LayoutConversion::solve(uint32_t element, const Index &at, Reach reach) const {
  Index own;
  for (InDim dim : {InDim::Lane, InDim::Warp, InDim::Block})
    if (keeps(dim, reach))
      own.set(dim, at.get(dim));
  std::optional<uint64_t> sum = spans[reach].solve(element ^ src.applyCore(own));
  if (!sum)
    return std::nullopt;
  return own ^ src.indexOfBits(*sum);
}

LayoutConversion::Reach LayoutConversion::solveBits() {
  Reach needed = leastReach();
  for (InDim dim : kInDims)
    for (auto [bit, basis] : llvm::enumerate(dst.packedBases(dim))) {
      Index at;
      at.set(dim, int32_t(1) << bit);
      std::optional<Index> found;
      bool isSameBit =
          dim == dst.elementDim() ? bit < src.numBits(dim) : src.numBits(dim) == dst.numBits(dim);
      if (isSameBit && src.packedBases(dim)[bit] == basis)
        found = at; // Stays where it is, even if lower registers hold the same.
      for (unsigned reach = leastReach(); !found; ++reach) { // Ends: src reaches all elements.
        found = solve(basis, at, Reach(reach));
        needed = std::max(needed, Reach(reach));
      }
      bitSources.push_back(*found);
    }
  return needed;
}

/// The reach that every valid place of the target can do with.
LayoutConversion::Reach LayoutConversion::reachOfAll() const {
  unsigned needed = leastReach();
  dst.forEach([&](const Index &at, ArrayRef<int32_t> coords) {
    if (needed == Cluster || !dst.isValid(coords))
      return;
    unsigned reach = leastReach();
    while (!solve(src.pack(coords), at, Reach(reach)))
      ++reach;
    needed = std::max(needed, reach);
  });
  return Reach(needed);
}

Index LayoutConversion::sourceOfBit(InDim dim, unsigned bit) const {
  return bitSources[dst.firstBit(dim) + bit];
}

std::optional<Index> LayoutConversion::sourceOf(const Index &index) const {
  Index found;
  std::optional<int32_t> repeat;
  if (linear) {
    for (InDim dim : kInDims)
      for (unsigned bit = 0; bit < dst.numBits(dim); ++bit)
        if (index.get(dim) >> bit & 1)
          found = found ^ sourceOfBit(dim, bit);
    repeat = index.get(dst.elementDim()) >> dst.numBits(dst.elementDim());
  } else {
    Coords coords = dst.apply(index);
    repeat = src.repeatOf(coords);
    if (!repeat)
      return std::nullopt;
    std::optional<Index> solved;
    for (unsigned reach = leastReach(); !solved; ++reach)
      solved = solve(src.pack(coords), index, Reach(reach));
    found = *solved;
  }
  InDim element = src.elementDim();
  found.set(element, found.get(element) + *repeat * src.numCoreElements());
  return found;
}

bool LayoutConversion::isRenaming() const {
  if (means > ConversionKind::Registers)
    return false;
  if (linear) { // places add up, so that the bits tell
    for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
      for (unsigned bit = 0; bit < dst.numBits(dim); ++bit) {
        Index from = sourceOfBit(dim, bit), same;
        same.set(dim, int32_t(1) << bit);
        if (from.lane != same.lane || from.warp != same.warp || (dim != InDim::Register && from.reg != 0))
          return false;
      }
    return true;
  }
  for (int32_t reg = 0; reg < dst.numRegisters(); ++reg) {
    std::optional<int32_t> common;
    for (int32_t warp = 0; warp < dst.numWarps(); ++warp)
      for (int32_t lane = 0; lane < dst.numLanes(); ++lane) {
        std::optional<Index> from = sourceOf(Index{reg, lane, warp, 0, 0});
        if (!from)
          continue; // padding
        if (from->lane != lane || from->warp != warp || (common && *common != from->reg))
          return false;
        common = from->reg;
      }
  }
  return true;
}

std::optional<ConversionKind> tk::conversionKind(const LinearLayout &src, const LinearLayout &dst) {
  Expected<LayoutConversion> conversion = LayoutConversion::create(src, dst);
  if (conversion)
    return conversion->kind();
  llvm::consumeError(conversion.takeError());
  return std::nullopt;
}

StringRef tk::conversionKindName(ConversionKind kind) {
  static constexpr StringRef kNames[] = {"none", "registers", "lanes", "shared", "blocks"};
  return kNames[unsigned(kind)];
}
