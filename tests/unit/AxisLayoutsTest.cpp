//===- AxisLayoutsTest.cpp - what is left of a reduction between warps ---------------===//

#include "passes/analysis/AxisLayouts.h"
#include <catch2/catch.hpp>
#include <map>

using namespace tk;

namespace {
/// One element a thread of one lane, warps along the only axis: `bases` in the order of the bits of a warp's number.
LinearLayout warpsAt(llvm::ArrayRef<int32_t> bases, int32_t side) {
  DimBases registers{InDim::Register, {}}, lanes{InDim::Lane, {}}, warps{InDim::Warp, {}};
  for (int32_t step = 1; step < side; step *= 2)
    if (!llvm::is_contained(bases, step))
      registers.bases.push_back({step});
  for (int32_t basis : bases)
    warps.bases.push_back({basis});
  return llvm::cantFail(LinearLayout::fromBases({registers, lanes, warps}, {side}));
}
} // namespace

// Products leave rows to the low bits of a warp's number and columns to the high ones, so that in a flattened tile the low
// bits are the farther ones, and padding is not in the last warps.
TEST_CASE("each warp with elements has a place of its own between warps, and no place is empty", "[layout]") {
  for (llvm::ArrayRef<int32_t> bases : std::vector<std::vector<int32_t>>{
           {8, 16, 32}, {32, 8, 16}, {16, 32, 8}, {32, 16, 8}, {16, 8}, {1, 16}, {16, 1}, {4, 32, 2}})
    for (int32_t side : {33, 40, 48, 56, 63, 64}) {
      LinearLayout layout = warpsAt(bases, side), partial = partialLayout(layout, 0);
      std::map<int32_t, int32_t> firsts; // by place
      for (int32_t warp = 0; warp < layout.numWarps(); ++warp) {
        int32_t first = layout.apply(0, 0, warp)[0], place = partial.apply(0, 0, warp)[0];
        INFO("warp " << warp << " begins at " << first << " of " << side << ", has place " << place);
        CHECK((first < side) == (place < partial.shape()[0]));
        if (first < side)
          CHECK(firsts.emplace(place, first).second);
      }
      CHECK(int32_t(firsts.size()) == partial.shape()[0]);
    }
}
