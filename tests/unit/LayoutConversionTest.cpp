//===- LayoutConversionTest.cpp - conversions, swizzles and reshapes by example -----===//
//
// What LinearLayoutTest.cpp, which looks at whole families, leaves out.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include <catch2/catch.hpp>

using namespace tk;

static LinearLayout parsed(llvm::StringRef text) { return llvm::cantFail(LinearLayout::parse(text)); }

TEST_CASE("blocks of unlike threads convert through shared memory", "[layout]") {
  LinearLayout four = parsed("register=[[1],[2]], lane=[[0],[0]], warp=[[0]]");
  LinearLayout two = parsed("register=[[1],[2]], lane=[[0]], warp=[[0]]");
  LinearLayout oneWarp = parsed("register=[[1],[2]], lane=[[0],[0]], warp=[]");
  CHECK(conversionKind(four, two) == ConversionKind::Shared);
  CHECK(conversionKind(two, four) == ConversionKind::Shared);
  CHECK(conversionKind(four, oneWarp) == ConversionKind::Shared);
  CHECK(conversionKind(four, four) == ConversionKind::None);
}

TEST_CASE("rows of one phase share a swizzle", "[layout]") {
  const int32_t vec = 2, perPhase = 2, maxPhase = 4, columns = 16;
  LinearLayout layout =
      llvm::cantFail(LinearLayout::swizzledShared({16, columns}, {1, 0}, vec, perPhase, maxPhase));
  for (int32_t offset = 0; offset < 16 * columns; ++offset) {
    int32_t row = offset / columns, phase = row / perPhase % maxPhase;
    Coords at = layout.apply(Index{0, 0, 0, 0, offset});
    CHECK(at[0] == row);
    CHECK(at[1] == (offset % columns ^ phase * vec));
  }
}

TEST_CASE("a reshape does not run over padding within a row", "[layout]") {
  LinearLayout rows = llvm::cantFail(LinearLayout::coalesced({4, 6}, 1, {1, 0}, 4, 1));
  CHECK_FALSE(rows.reshape({24}));
  LinearLayout outer = llvm::cantFail(LinearLayout::coalesced({6, 4}, 1, {1, 0}, 4, 1));
  REQUIRE(outer.reshape({24}));
  CHECK(outer.reshape({24})->padded(0) == 32);
}

TEST_CASE("a permutation of three axes takes their repeats along", "[layout]") {
  LinearLayout layout = llvm::cantFail(LinearLayout::coalesced({12, 2, 4}, 1, {2, 1, 0}, 4, 1, {3, 1, 1}));
  LinearLayout turned = layout.transpose({1, 2, 0});
  CHECK(turned.reps(2) == 3);
  CHECK(turned.reps(0) == 1);
  CHECK(turned.shape().vec() == std::vector<int32_t>{2, 4, 12});
}

TEST_CASE("a conversion renames registers where each thread has what it needs in the same ones", "[layout]") {
  std::vector<LinearLayout> layouts;
  for (llvm::StringRef text :
       {"register=[[1],[2]], lane=[[4],[8]], warp=[[0]]", "register=[[2],[1]], lane=[[4],[8]], warp=[[0]]",
        "register=[[1],[2],[0]], lane=[[4],[8]], warp=[[0]]", "register=[[1],[2]], lane=[[8],[4]], warp=[[0]]",
        "register=[[5],[2]], lane=[[4],[8]], warp=[[0]]", "register=[[1],[2],[4],[8]], lane=[[0],[0]], warp=[[0]]",
        "register=[[1],[2],[4]], lane=[[4],[8]], warp=[[0]]", "register=[[1],[2]], lane=[[4],[8]], warp=[[4]]",
        "register=[[1],[2]], lane=[[5],[8]], warp=[[0]]", "register=[[1],[2],[8]], lane=[[4],[0]], warp=[[8]]"})
    for (int32_t repeats : {1, 3})
      for (int32_t pads : {0, 3}) {
        LinearLayout layout = parsed(text);
        if (repeats > 1)
          layout = llvm::cantFail(layout.withRepeats({Repeat{0, repeats}}));
        layouts.push_back(llvm::cantFail(layout.withShape({layout.padded(0) - pads})));
      }
  int renamings = 0;
  for (const LinearLayout &src : layouts)
    for (const LinearLayout &dst : layouts) {
      if (src.shape() != dst.shape())
        continue;
      LayoutConversion map = llvm::cantFail(LayoutConversion::create(src, dst));
      bool renames = map.kind() <= ConversionKind::Registers;
      for (int32_t reg = 0; renames && reg < dst.numRegisters(); ++reg)
        for (int32_t place = 0; place < dst.numLanes() * dst.numWarps(); ++place) {
          int32_t lane = place % dst.numLanes(), warp = place / dst.numLanes();
          std::optional<Index> first = map.sourceOf(Index{reg, 0, 0, 0, 0}), from = map.sourceOf(Index{reg, lane, warp, 0, 0});
          renames &= from && from->lane == lane && from->warp == warp && first && first->reg == from->reg;
        }
      CHECK(map.isRenaming() == renames);
      renamings += renames;
    }
  CHECK(renamings > int(layouts.size()));
}
