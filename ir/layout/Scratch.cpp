//===- Scratch.cpp - orders of shared memory without bank conflicts -----------------===//

#include "ir/layout/Scratch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <map>

using namespace tk;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr int64_t kBanks = 32, kBankBytes = 4, kRowBytes = kBanks * kBankBytes;
static constexpr int64_t kMaxAccessBytes = 16;

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

Wavefronts &Wavefronts::operator+=(const Wavefronts &other) {
  taken += other.taken;
  least += other.least;
  return *this;
}

Wavefronts tk::wavefrontsOf(ArrayRef<std::optional<int64_t>> addresses, int64_t bytes) {
  Wavefronts sum;
  size_t together = std::min<size_t>(addresses.size(), size_t(std::min(kBanks, kRowBytes / bytes)));
  for (size_t first = 0; first < addresses.size(); first += together) {
    SmallVector<int64_t, 4 * kBanks> words;
    for (std::optional<int64_t> address : addresses.slice(first, together))
      for (int64_t at = 0; address && at < bytes; at += std::min(bytes, kBankBytes))
        words.push_back((*address + at) / kBankBytes);
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    std::array<int64_t, kBanks> wordsOfBank{};
    for (int64_t word : words)
      ++wordsOfBank[word % kBanks];
    int64_t most = *llvm::max_element(wordsOfBank);
    sum += {most, most ? 1 : 0};
  }
  return sum;
}

LinearLayout tk::offsetsIn(const LinearLayout &memory, const LinearLayout &tile) {
  LayoutConversion map = llvm::cantFail(LayoutConversion::create(memory, tile));
  std::vector<DimBases> all;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp}) {
    DimBases &bases = all.emplace_back(DimBases{dim, {}});
    for (unsigned bit = 0; bit < tile.numBits(dim); ++bit)
      bases.bases.push_back({map.sourceOfBit(dim, bit).offset});
  }
  int32_t size = memory.numOffsets();
  SmallVector<Repeat> repeats;
  if (memory.numRepeats() > 1)
    repeats.push_back({0, memory.numRepeats()});
  return llvm::cantFail(LinearLayout::fromBases(all, ArrayRef<int32_t>{size}, repeats));
}

std::vector<RegisterVector> tk::vectorAccesses(const LinearLayout &offsets, int64_t maxVector) {
  F2Span registers;
  uint32_t threads = 0;
  for (unsigned bit = 0; bit < offsets.numBits(InDim::Register); ++bit)
    registers.insert(uint32_t(offsets.basis(InDim::Register, bit)[0]), bit);
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (unsigned bit = 0; bit < offsets.numBits(dim); ++bit)
      threads |= uint32_t(offsets.basis(dim, bit)[0]);
  int32_t vector = 1;
  while (vector * 2 <= maxVector && !(threads & uint32_t(vector)) && registers.solve(uint32_t(vector)))
    vector *= 2;
  std::map<int32_t, int32_t> registerAt;
  for (int32_t reg = 0; reg < offsets.numRegisters(); ++reg)
    registerAt.try_emplace(offsets.apply(reg, 0, 0)[0], reg);
  std::vector<RegisterVector> accesses;
  for (auto [offset, reg] : registerAt) {
    if (offset % vector == 0)
      accesses.emplace_back();
    accesses.back().push_back(reg);
  }
  return accesses;
}

/// Each access is the first one shifted by XOR: other banks, but no two of them one.
Wavefronts tk::wavefrontsIn(const LinearLayout &memory, const LinearLayout &tile, int64_t elementBytes,
                            bool isStore) {
  LinearLayout offsets = offsetsIn(memory, tile);
  std::vector<RegisterVector> accesses = vectorAccesses(offsets, kMaxAccessBytes / elementBytes);
  uint32_t copies = isStore ? tile.ownerMask(InDim::Lane) : 0; // lanes that others write for
  SmallVector<std::optional<int64_t>> addresses;
  for (int32_t lane = 0; lane < tile.numLanes(); ++lane)
    addresses.push_back(uint32_t(lane) & copies
                            ? std::optional<int64_t>()
                            : offsets.apply(accesses.front().front(), lane, 0)[0] * elementBytes);
  Wavefronts one = wavefrontsOf(addresses, int64_t(accesses.front().size()) * elementBytes);
  return {one.taken * int64_t(accesses.size()), one.least * int64_t(accesses.size())};
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {
using Vectors = SmallVector<uint32_t>;

/// One of the layouts that a scratch serves: the elements that its bits add.
struct Side {
  Vectors registers, threads; // registers: a basis; threads: lanes, then warps
  unsigned numLaneBits;

  explicit Side(const LinearLayout &layout);
};

/// The bits of offsets, as elements.
struct Order {
  Vectors vector, rest;                 // rest: the others, any basis
  unsigned storeBits = 0, loadBits = 0; // of the vector: those that each side has in its threads
};

class ScratchChoice {
public:
  ScratchChoice(const LinearLayout &src, const LinearLayout &dst, int64_t elementBytes);
  LinearLayout run();

private:
  Vectors commonVector() const;
  Vectors widened(const Vectors &common, const Side &wide, const Side &other) const;
  Order orderOf(const Vectors &vector, const Side &first, const Side &second) const;
  Vectors touched(const Order &order, const Side &side, unsigned vectorBits) const;
  Vectors rowsOf(const Order &order) const;
  LinearLayout layoutOf(const Order &order) const;

  const LinearLayout &src, &dst;
  int64_t bytes;
  Side from, to;
  unsigned tileBits = 0, vectorLimit;
};
} // namespace

static uint32_t numberOf(const LinearLayout &layout, ArrayRef<int32_t> coords) {
  uint32_t number = 0;
  for (auto [axis, coordinate] : llvm::enumerate(coords))
    number = number * uint32_t(layout.coreSize(axis)) + uint32_t(coordinate);
  return number;
}

static std::vector<int32_t> coordsOf(const LinearLayout &layout, uint32_t number) {
  std::vector<int32_t> coords(layout.rank());
  for (unsigned axis = layout.rank(); axis-- > 0;) {
    coords[axis] = int32_t(number % uint32_t(layout.coreSize(axis)));
    number /= uint32_t(layout.coreSize(axis));
  }
  return coords;
}

/// Inserts; true if the vector was not in the span.
static bool extends(F2Span &span, uint32_t vector) { return span.insert(vector, 0); }

static F2Span spanOf(ArrayRef<uint32_t> vectors) {
  F2Span span;
  for (uint32_t vector : vectors)
    extends(span, vector);
  return span;
}

Side::Side(const LinearLayout &layout) : numLaneBits(layout.numBits(InDim::Lane)) {
  F2Span span;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
      uint32_t vector = numberOf(layout, layout.basis(dim, bit));
      if (dim != InDim::Register)
        threads.push_back(vector);
      else if (extends(span, vector))
        registers.push_back(vector);
    }
}

ScratchChoice::ScratchChoice(const LinearLayout &src, const LinearLayout &dst, int64_t elementBytes)
    : src(src), dst(dst), bytes(elementBytes), from(src), to(dst),
      vectorLimit(llvm::Log2_64(kMaxAccessBytes / elementBytes)) {
  for (unsigned axis = 0; axis < src.rank(); ++axis)
    tileBits += llvm::Log2_32(uint32_t(src.coreSize(axis)));
}

/// What a thread has side by side before and after. What threads add must not reach into a vector.
Vectors ScratchChoice::commonVector() const {
  F2Span span, taken = spanOf(from.threads);
  for (uint32_t thread : to.threads)
    extends(taken, thread);
  Vectors inserted, result;
  for (uint32_t vector : from.registers)
    span.insert(vector, 63);
  for (uint32_t vector : to.registers) {
    std::optional<uint64_t> sum = span.solve(vector);
    if (!sum) {
      span.insert(vector, inserted.size());
      inserted.push_back(vector);
      continue;
    }
    for (auto [number, other] : llvm::enumerate(inserted))
      if (*sum >> number & 1)
        vector ^= other;
    if (result.size() < vectorLimit && extends(taken, vector))
      result.push_back(vector);
  }
  return result;
}

/// The common vector and more that threads of one side have side by side.
Vectors ScratchChoice::widened(const Vectors &common, const Side &wide, const Side &other) const {
  F2Span own = spanOf(wide.threads), all = own;
  Vectors result = common;
  for (uint32_t each : common)
    extends(own, each);
  for (uint32_t each : other.threads)
    extends(all, each);
  for (uint32_t each : wide.registers) {
    F2Span with = all;
    extends(with, each);
    bool keepsCommon = llvm::all_of(common, [&](uint32_t kept) { return extends(with, kept); });
    if (result.size() == vectorLimit || !keepsCommon || !extends(own, each))
      continue;
    extends(all, each);
    result.push_back(each);
  }
  return result;
}

/// Completes a vector that the threads of `first` do not reach into.
Order ScratchChoice::orderOf(const Vectors &vector, const Side &first, const Side &second) const {
  Order order{vector, {}};
  F2Span span = spanOf(vector);
  auto add = [&](uint32_t each) {
    if (extends(span, each))
      order.rest.push_back(each);
  };
  llvm::for_each(first.threads, add);
  llvm::for_each(second.threads, add);
  for (unsigned bit = 0; bit < tileBits; ++bit)
    add(1u << bit);
  return order;
}

/// The span of what a side accesses in one wavefront.
Vectors ScratchChoice::touched(const Order &order, const Side &side, unsigned vectorBits) const {
  Vectors result(ArrayRef(order.vector).take_front(vectorBits));
  int64_t lanes = std::min(kRowBytes / (bytes << vectorBits), kBanks);
  llvm::append_range(result, ArrayRef(side.threads).take_front(std::min(llvm::Log2_64(lanes), side.numLaneBits)));
  return result;
}

/// As many row vectors as there are bits beyond 128 bytes, outside of what wavefronts touch if possible.
Vectors ScratchChoice::rowsOf(const Order &order) const {
  unsigned inRow = llvm::Log2_64(kRowBytes / bytes);
  Vectors result;
  F2Span store = spanOf(touched(order, from, order.storeBits)), load = spanOf(touched(order, to, order.loadBits));
  F2Span rows;
  auto take = [&](uint32_t each, bool anyway) {
    if (result.size() + inRow >= tileBits || (!anyway && (store.solve(each) || load.solve(each))) ||
        !extends(rows, each))
      return;
    result.push_back(each);
    extends(store, each);
    extends(load, each);
  };
  for (uint32_t each : llvm::reverse(order.rest))
    take(each, false);
  for (uint32_t first : llvm::reverse(order.rest))
    for (uint32_t second : order.rest)
      if (first != second)
        take(first ^ second, false);
  for (uint32_t each : llvm::reverse(order.rest))
    take(each, true);
  return result;
}

LinearLayout ScratchChoice::layoutOf(const Order &order) const {
  Vectors rows = rowsOf(order);
  F2Span span = spanOf(rows);
  DimBases offsets{InDim::Offset, {}};
  auto add = [&](uint32_t each) { offsets.bases.push_back(coordsOf(src, each)); };
  for (uint32_t each : order.vector) {
    extends(span, each);
    add(each);
  }
  for (uint32_t each : order.rest)
    if (extends(span, each))
      add(each);
  llvm::for_each(rows, add);
  return llvm::cantFail(LinearLayout::fromBases({offsets}, src.shape(), src.repeats()));
}

/// Of the orders without conflicts (the one with the common vector is) that with the fewest accesses.
LinearLayout ScratchChoice::run() {
  Vectors common = commonVector();
  Order plain = orderOf(common, from, to), load = orderOf(widened(common, to, from), to, from),
        store = orderOf(widened(common, from, to), from, to);
  for (Order *order : {&plain, &load, &store})
    order->storeBits = order->loadBits = unsigned(common.size());
  load.loadBits = unsigned(load.vector.size());
  store.storeBits = unsigned(store.vector.size());
  std::optional<LinearLayout> best;
  size_t fewest = 0;
  for (const Order *order : {&load, &store, &plain}) {
    LinearLayout memory = layoutOf(*order);
    Wavefronts both = wavefrontsIn(memory, src, bytes, /*isStore=*/true);
    both += wavefrontsIn(memory, dst, bytes, /*isStore=*/false);
    size_t accesses = vectorAccesses(offsetsIn(memory, src), kMaxAccessBytes / bytes).size() +
                      vectorAccesses(offsetsIn(memory, dst), kMaxAccessBytes / bytes).size();
    if ((!best || accesses < fewest) && (both.taken == both.least || (!best && order == &plain))) {
      best = memory;
      fewest = accesses;
    }
  }
  return *best;
}

std::optional<LinearLayout> tk::scratchLayout(const LinearLayout &src, const LinearLayout &dst,
                                              int64_t elementBytes) {
  LayoutConversion conversion = llvm::cantFail(LayoutConversion::create(src, dst));
  if (!conversion.isLinear() || src.isMemory() || dst.isMemory() || src.numBlocks() > 1 || dst.numBlocks() > 1)
    return std::nullopt;
  return ScratchChoice(src, dst, elementBytes).run();
}
