//===- ShufflePlanTest.cpp - plans of shuffles, run for every element ------------===//
//
// A plan is run on the elements' numbers: each thread makes the words of all steps, and in the end
// each register of the result must hold its element.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/ShufflePlan.h"

#include <catch2/catch.hpp>

#include <map>

using namespace tk;
using llvm::ArrayRef;

namespace {
struct Random {
  uint64_t state = 1;
  uint32_t operator()(uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33) % bound;
  }
};

using Word = std::vector<Coords>;
} // namespace

static LayoutConversion conversionOf(const LinearLayout &src, const LinearLayout &dst) {
  return llvm::cantFail(LayoutConversion::create(src, dst));
}

static LinearLayout parsed(llvm::StringRef text) { return llvm::cantFail(LinearLayout::parse(text)); }

static int32_t sourceLane(const ShufflePlan &plan, const ShuffleStep &step, int32_t lane, int32_t warp) {
  int32_t from = plan.sourceLane().empty() ? lane : 0;
  for (size_t bit = 0; bit < plan.sourceLane().size(); ++bit)
    from |= int32_t(plan.sourceLane()[bit](lane, warp)) << bit;
  return from ^ step.laneFlip;
}

/// All words of all lanes of a warp.
static std::vector<std::vector<Word>> execute(const ShufflePlan &plan, const LinearLayout &src, int32_t warp,
                                              int32_t repeat) {
  int32_t lanes = src.numLanes();
  std::vector<std::vector<Word>> words;
  for (ArrayRef<int32_t> registers : plan.inputs()) {
    std::vector<Word> &ofLanes = words.emplace_back(lanes);
    for (int32_t lane = 0; lane < lanes; ++lane)
      for (int32_t reg : registers)
        ofLanes[lane].push_back(src.apply(reg + repeat * src.numCoreElements(), lane, warp));
  }
  for (const ShuffleStep &step : plan.steps()) {
    std::vector<Word> made(lanes);
    for (int32_t lane = 0; lane < lanes; ++lane)
      made[lane] = step.kind == ShuffleStep::Shuffle ? words[step.value][sourceLane(plan, step, lane, warp)]
                                                     : words[step.when(lane, warp) ? step.other : step.value][lane];
    words.push_back(std::move(made));
  }
  return words;
}

/// Runs the plan; false where there is none.
static bool checkPlan(const LinearLayout &src, const LinearLayout &dst, int32_t perWord) {
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), perWord);
  if (!plan)
    return false;
  INFO(src.str() << "  to  " << dst.str());
  REQUIRE(plan->perWord() <= perWord);
  int64_t faults = 0;
  for (int32_t warp = 0; warp < dst.numWarps(); ++warp)
    for (int32_t repeat = 0; repeat < dst.numRepeats(); ++repeat) {
      auto words = execute(*plan, src, warp, repeat);
      for (int32_t lane = 0; lane < dst.numLanes(); ++lane)
        for (int32_t reg = 0; reg < dst.numCoreElements(); ++reg) {
          const ShufflePlan::Output &output = plan->outputs()[reg];
          faults += words[output.word][lane][output.part] !=
                    dst.apply(reg + repeat * dst.numCoreElements(), lane, warp);
        }
    }
  REQUIRE(faults == 0);
  return true;
}

static std::optional<LinearLayout> anyLayout(Random &random, ArrayRef<int32_t> sides, ArrayRef<unsigned> numBits,
                                             ArrayRef<Repeat> repeats) {
  std::vector<DimBases> all;
  for (unsigned dim = 0; dim < numBits.size(); ++dim) {
    DimBases &entry = all.emplace_back(DimBases{InDim(dim), {}});
    for (unsigned bit = 0; bit < numBits[dim]; ++bit) {
      bool sparse = random(2);
      std::vector<int32_t> &basis = entry.bases.emplace_back();
      for (int32_t side : sides)
        basis.push_back(sparse && random(2) ? 0 : random(side));
    }
  }
  llvm::Expected<LinearLayout> layout = LinearLayout::fromBases(all, {}, repeats);
  if (!layout)
    return llvm::consumeError(layout.takeError()), std::nullopt;
  for (size_t axis = 0; axis < sides.size(); ++axis)
    if (layout->coreSize(axis) != sides[axis])
      return std::nullopt;
  return *layout;
}

/// Another layout with all data in the warps: registers, lanes (and what they add to warps) mixed anew.
static std::optional<LinearLayout> mixed(Random &random, const LinearLayout &from, unsigned registerBits) {
  auto sumOf = [&](unsigned count) {
    std::vector<int32_t> sum(from.rank());
    for (unsigned i = 0; i < count; ++i) {
      InDim dim = random(2) ? InDim::Register : InDim::Lane;
      if (from.numBits(dim) == 0)
        continue;
      Coords basis = from.basis(dim, random(from.numBits(dim)));
      for (unsigned axis = 0; axis < from.rank(); ++axis)
        sum[axis] ^= basis[axis];
    }
    return sum;
  };
  std::vector<DimBases> all{{InDim::Register, {}}, {InDim::Lane, {}}, {InDim::Warp, {}}};
  for (unsigned bit = 0; bit < registerBits; ++bit)
    all[0].bases.push_back(sumOf(1 + random(3)));
  for (unsigned bit = 0; bit < from.numBits(InDim::Lane); ++bit)
    all[1].bases.push_back(sumOf(random(4)));
  for (unsigned bit = 0; bit < from.numBits(InDim::Warp); ++bit) {
    std::vector<int32_t> &basis = all[2].bases.emplace_back(sumOf(random(3)));
    for (unsigned axis = 0; axis < from.rank(); ++axis)
      basis[axis] ^= from.basis(InDim::Warp, bit)[axis];
  }
  llvm::Expected<LinearLayout> layout = LinearLayout::fromBases(all, {}, from.repeats());
  if (!layout || layout->outSizes() != from.outSizes())
    return llvm::consumeError(layout.takeError()), std::nullopt;
  return *layout;
}

TEST_CASE("the header's example: two by two", "[shuffle]") {
  LinearLayout src = parsed("register=[[1]], lane=[[2]]"), dst = parsed("register=[[2]], lane=[[1]]");
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), 1);
  REQUIRE(plan);
  CHECK(plan->numShuffles() == 1);
  CHECK(plan->numSelects() == 4);
  CHECK(plan->sourceLane().empty());
  CHECK(checkPlan(src, dst, 1));
}

TEST_CASE("registers that depend on the lane are selected, not sent", "[shuffle]") {
  LinearLayout src = parsed("register=[[1]], lane=[[2],[4]]"), dst = parsed("register=[[1]], lane=[[3],[4]]");
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), 1);
  REQUIRE(plan);
  CHECK(plan->numShuffles() == 0);
  CHECK(plan->numSelects() == 2);
}

TEST_CASE("copies in other lanes each send another register", "[shuffle]") {
  LinearLayout src = parsed("register=[[1],[2]], lane=[[0],[0],[4]]"), dst = parsed("register=[], lane=[[1],[2],[4]]");
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), 1);
  REQUIRE(plan);
  CHECK(plan->numShuffles() == 0);
  CHECK(checkPlan(src, dst, 1));
  dst = parsed("register=[], lane=[[4],[1],[2]]");
  plan = ShufflePlan::create(conversionOf(src, dst), 1);
  REQUIRE(plan);
  CHECK(plan->numShuffles() == 1);
  CHECK(checkPlan(src, dst, 1));
}

TEST_CASE("neighbours travel packed", "[shuffle]") {
  LinearLayout src = parsed("register=[[1],[2]], lane=[[4],[8]]"), dst = parsed("register=[[1],[8]], lane=[[4],[2]]");
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), 2);
  REQUIRE(plan);
  CHECK(plan->perWord() == 2);
  CHECK(plan->numShuffles() == 1);
  CHECK(checkPlan(src, dst, 2));
  CHECK(checkPlan(src, dst, 1));
}

TEST_CASE("neighbours that are in other lanes afterwards do not travel in one word", "[shuffle]") {
  LinearLayout src = parsed("register=[[1]], lane=[[2],[4],[8],[16],[32]]");
  LinearLayout dst = parsed("register=[[3]], lane=[[2],[4],[8],[16],[32]]");
  std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(src, dst), 2);
  REQUIRE(plan);
  CHECK(plan->perWord() == 1);
  CHECK(checkPlan(src, dst, 2));
}

TEST_CASE("plans of any two layouts that agree within warps are right in every element", "[shuffle]") {
  Random random;
  int64_t plans = 0, packed = 0;
  const std::vector<std::vector<int32_t>> shapes = {{2}, {16}, {128}, {4, 4}, {8, 16}, {2, 4, 2}, {4, 8, 4}};
  for (int round = 0; plans < 6000; ++round) {
    REQUIRE(round < 1000000);
    const std::vector<int32_t> &shape = shapes[random(shapes.size())];
    llvm::SmallVector<Repeat> repeats;
    if (random(4) == 0)
      repeats.push_back({random(shape.size()), 3});
    std::optional<LinearLayout> src =
        anyLayout(random, shape, {random(5), 1 + random(5), random(4)}, repeats);
    std::optional<LinearLayout> dst = src ? mixed(random, *src, random(5)) : std::nullopt;
    if (!dst)
      continue;
    for (int32_t perWord : {1, 2, 4}) {
      REQUIRE(checkPlan(*src, *dst, perWord) ==
              (conversionOf(*src, *dst).kind() <= ConversionKind::Lanes));
      packed += ShufflePlan::create(conversionOf(*src, *dst), perWord)->perWord() > 1;
      ++plans;
    }
  }
  CHECK(packed > 100);
}

TEST_CASE("a thread with as many registers before as after gets by with one shuffle a register", "[shuffle]") {
  Random random;
  int checked = 0;
  for (int round = 0; checked < 500; ++round) {
    REQUIRE(round < 3000000);
    std::optional<LinearLayout> src = anyLayout(random, {4, 32}, {2, 5, 0}, {});
    std::optional<LinearLayout> dst = src ? mixed(random, *src, 2) : std::nullopt;
    if (!dst)
      continue;
    std::optional<ShufflePlan> plan = ShufflePlan::create(conversionOf(*src, *dst), 1);
    REQUIRE(plan);
    CHECK(plan->numShuffles() <= 4);
    ++checked;
  }
}
