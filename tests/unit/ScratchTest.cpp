//===- ScratchTest.cpp - orders of scratch, and their bank conflicts by looking ------===//

#include "ir/layout/Scratch.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace tk;
using llvm::ArrayRef;

static LinearLayout parsed(llvm::StringRef text) { return llvm::cantFail(LinearLayout::parse(text)); }

namespace {
struct Random {
  uint64_t state = 1;
  uint32_t operator()(uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33) % bound;
  }
};
} // namespace

/// Bank by bank and byte by byte, as the header says.
static int64_t wavefrontsByLooking(ArrayRef<int64_t> addresses, int64_t bytes) {
  int64_t sum = 0, together = std::min<int64_t>(32, 128 / bytes);
  for (int64_t first = 0; first < int64_t(addresses.size()); first += together) {
    int64_t most = 0;
    for (int64_t bank = 0; bank < 32; ++bank) {
      std::set<int64_t> words;
      for (int64_t lane = first; lane < std::min<int64_t>(first + together, addresses.size()); ++lane)
        for (int64_t at = addresses[lane]; at < addresses[lane] + bytes; ++at)
          if (at / 4 % 32 == bank)
            words.insert(at / 4);
      most = std::max<int64_t>(most, words.size());
    }
    sum += most;
  }
  return sum;
}

TEST_CASE("wavefronts of known patterns", "[scratch]") {
  auto lanes = [](int64_t stride) {
    std::vector<std::optional<int64_t>> list;
    for (int64_t lane = 0; lane < 32; ++lane)
      list.push_back(lane * stride);
    return list;
  };
  CHECK(wavefrontsOf(lanes(4), 4).taken == 1);
  CHECK(wavefrontsOf(lanes(128), 4).taken == 32);
  CHECK(wavefrontsOf(lanes(132), 4).taken == 1);
  CHECK(wavefrontsOf(lanes(8), 4).taken == 2);
  CHECK(wavefrontsOf(lanes(0), 4).taken == 1);
  CHECK(wavefrontsOf(lanes(2), 2).taken == 1);
  CHECK(wavefrontsOf(lanes(16), 16).taken == 4);
  CHECK(wavefrontsOf(lanes(16), 16).least == 4);
  CHECK(wavefrontsOf(lanes(128), 16).taken == 32);
  CHECK(wavefrontsOf(lanes(144), 16).taken == 4);
  CHECK(wavefrontsOf({std::nullopt, std::nullopt}, 4).taken == 0);
}

TEST_CASE("wavefronts of any addresses are those found by looking", "[scratch]") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    int64_t bytes = int64_t(1) << random(5);
    std::vector<int64_t> addresses;
    for (int lane = 0; lane < 32; ++lane)
      addresses.push_back(random(64) * bytes);
    std::vector<std::optional<int64_t>> all(addresses.begin(), addresses.end());
    REQUIRE(wavefrontsOf(all, bytes).taken == wavefrontsByLooking(addresses, bytes));
  }
}

static std::optional<LinearLayout> anyLayout(Random &random, ArrayRef<int32_t> sides, unsigned registerBits,
                                             unsigned warpBits, ArrayRef<Repeat> repeats) {
  std::vector<DimBases> all{{InDim::Register, {}}, {InDim::Lane, {}}, {InDim::Warp, {}}};
  const unsigned numBits[] = {registerBits, 5, warpBits};
  for (unsigned dim = 0; dim < 3; ++dim)
    for (unsigned bit = 0; bit < numBits[dim]; ++bit) {
      std::vector<int32_t> basis(sides.size());
      for (size_t axis = 0; axis < sides.size(); ++axis)
        basis[axis] = random(3) ? 0 : int32_t(random(sides[axis]));
      all[dim].bases.push_back(basis);
    }
  llvm::Expected<LinearLayout> layout = LinearLayout::fromBases(all, {}, repeats);
  if (!layout)
    return llvm::consumeError(layout.takeError()), std::nullopt;
  for (size_t axis = 0; axis < sides.size(); ++axis)
    if (layout->coreSize(axis) != sides[axis])
      return std::nullopt;
  return *layout;
}

/// Each register is in one access (or a copy of one that is), at the offset that its element has.
static void checkAccesses(const LinearLayout &memory, const LinearLayout &tile, int64_t maxVector) {
  LinearLayout offsets = offsetsIn(memory, tile);
  std::set<int32_t> covered;
  int64_t faults = 0;
  for (const RegisterVector &access : vectorAccesses(offsets, maxVector)) {
    faults += int64_t(access.size()) > maxVector;
    for (int32_t warp = 0; warp < tile.numWarps(); ++warp)
      for (int32_t lane = 0; lane < tile.numLanes(); ++lane) {
        int32_t first = offsets.apply(access.front(), lane, warp)[0];
        faults += first % int32_t(access.size()) != 0;
        for (auto [i, reg] : llvm::enumerate(access))
          faults += memory.apply(Index{.offset = first + int32_t(i)}) != tile.apply(reg, lane, warp);
      }
    for (int32_t reg : access)
      covered.insert(offsets.apply(reg, 0, 0)[0]);
  }
  for (int32_t reg = 0; reg < tile.numRegisters(); ++reg)
    faults += !covered.count(offsets.apply(reg, 0, 0)[0]);
  CHECK(faults == 0);
}

/// Access by access, lane by lane.
static int64_t takenByLooking(const LinearLayout &memory, const LinearLayout &tile, int64_t bytes) {
  int64_t sum = 0;
  for (const RegisterVector &access : vectorAccesses(offsetsIn(memory, tile), 16 / bytes)) {
    std::vector<int64_t> addresses;
    for (int32_t lane = 0; lane < tile.numLanes(); ++lane)
      addresses.push_back(memory.invert(tile.apply(access.front(), lane, 0))->offset * bytes);
    sum += wavefrontsByLooking(addresses, bytes * int64_t(access.size()));
  }
  return sum;
}

TEST_CASE("between any two layouts the scratch is free of bank conflicts, and right", "[scratch]") {
  Random random;
  int checked = 0;
  const std::vector<std::vector<int32_t>> shapes = {{64}, {512}, {16, 32}, {64, 32}, {4, 8, 16}};
  for (int attempt = 0; checked < 400; ++attempt) {
    REQUIRE(attempt < 10000000);
    const std::vector<int32_t> &sides = shapes[random(shapes.size())];
    llvm::SmallVector<Repeat> repeats;
    if (random(4) == 0)
      repeats.push_back({random(sides.size()), 3});
    std::optional<LinearLayout> src = anyLayout(random, sides, random(8), random(4), repeats);
    std::optional<LinearLayout> dst = src ? anyLayout(random, sides, random(8), random(4), repeats) : std::nullopt;
    if (!dst)
      continue;
    int64_t bytes = int64_t(1) << random(4);
    INFO(src->str() << "  to  " << dst->str() << " of " << bytes);
    std::optional<LinearLayout> memory = scratchLayout(*src, *dst, bytes);
    REQUIRE(memory);
    INFO(memory->str());
    CHECK(memory->invertible());
    checkAccesses(*memory, *src, 16 / bytes);
    checkAccesses(*memory, *dst, 16 / bytes);
    Wavefronts store = wavefrontsIn(*memory, *src, bytes, true), load = wavefrontsIn(*memory, *dst, bytes, false);
    CHECK(store.taken == store.least);
    CHECK(load.taken == load.least);
    CHECK(load.taken == takenByLooking(*memory, *dst, bytes));
    ++checked;
  }
}

TEST_CASE("conflicts of a plain order are counted as looking finds them", "[scratch]") {
  LinearLayout memory = parsed("offset=[[0,1],[0,2],[0,4],[0,8],[0,16],[1,0],[2,0],[4,0],[8,0],[16,0]]");
  LinearLayout columns = parsed("register=[[0,1],[0,2],[0,4],[0,8],[0,16]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]]");
  for (int64_t bytes : {1, 2, 4, 8})
    CHECK(wavefrontsIn(memory, columns, bytes, false).taken == takenByLooking(memory, columns, bytes));
  CHECK(wavefrontsIn(memory, columns, 4, false).taken == 8 * 32);
}

TEST_CASE("a transposition writes wide on one side, without conflicts on both", "[scratch]") {
  LinearLayout rows = parsed("register=[[0,1],[0,2]], lane=[[0,4],[0,8],[0,16],[1,0],[2,0]], warp=[[4,0],[8,0],[16,0]]");
  LinearLayout columns = parsed("register=[[1,0],[2,0]], lane=[[4,0],[8,0],[16,0],[0,1],[0,2]], warp=[[0,4],[0,8],[0,16]]");
  LinearLayout memory = *scratchLayout(rows, columns, 4);
  CHECK(vectorAccesses(offsetsIn(memory, rows), 4).size() == 4);
  CHECK(vectorAccesses(offsetsIn(memory, columns), 4).size() == 1);
  CHECK(wavefrontsIn(memory, rows, 4, true).taken == 4);
  CHECK(wavefrontsIn(memory, columns, 4, false).taken == 4);
}

TEST_CASE("what threads keep side by side is a vector of both", "[scratch]") {
  LinearLayout src = parsed("register=[[0,1],[0,2],[0,4],[8,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]]");
  LinearLayout dst = parsed("register=[[0,1],[0,2],[0,4],[0,8]], lane=[[0,16],[1,0],[2,0],[4,0],[8,0]]");
  LinearLayout memory = *scratchLayout(src, dst, 2);
  CHECK(vectorAccesses(offsetsIn(memory, src), 8).size() == 2);
  CHECK(vectorAccesses(offsetsIn(memory, dst), 8).size() == 2);
}
