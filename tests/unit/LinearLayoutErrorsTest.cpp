//===- LinearLayoutErrorsTest.cpp - what layouts reject, and how ----------===//

#include "ir/layout/LinearLayout.h"

#include <catch2/catch.hpp>

using namespace tk;

template <typename T> static std::string messageOf(llvm::Expected<T> result) {
  return result ? "no error" : llvm::toString(result.takeError());
}

TEST_CASE("malformed text is rejected with the column", "[layout]") {
  const std::pair<const char *, const char *> cases[] = {
      {"", "column 1: expected register, lane, warp, block, offset, repeats or shape"},
      {"lanes=[]", "column 1: expected register, lane, warp, block, offset, repeats or shape"},
      {"lane", "column 5: expected `=`"},
      {"lane=", "column 6: expected `[`"},
      {"lane=[1]", "column 7: expected `[`"},
      {"lane=[[1]", "column 10: expected `,` or `]`"},
      {"lane=[[1 2]]", "column 10: expected `,` or `]`"},
      {"lane=[[x]]", "column 8: expected a number of 32 bits"},
      {"lane=[[99999999999]]", "column 8: expected a number of 32 bits"},
      {"lane=[[1]] warp=[]", "column 12: expected `,` or the end"},
      {"lane=[[1]],", "column 12: expected register, lane, warp, block, offset, repeats or shape"},
      {"shape=[1], shape=[1]", "column 12: `shape` is given twice"},
      {"lane=[[1]], repeats=[[0]]", "column 21: a repeat is `[dimension,count]`"}};
  for (auto [text, message] : cases)
    CHECK(messageOf(LinearLayout::parse(text)) == message);
}

TEST_CASE("maps that are no layouts are rejected with the numbers", "[layout]") {
  const std::pair<const char *, const char *> cases[] = {
      {"lane=[]", "the rank is unknown: without a basis, `shape` must be given"},
      {"lane=[[1]], lane=[[2]]", "`lane` is given twice"},
      {"offset=[[1]], warp=[]", "`offset` cannot stand beside `register`, `lane` or `warp`"},
      {"lane=[[1],[2,0]]", "basis [2,0] of `lane` has 2 coordinates, the tile has rank 1"},
      {"lane=[[-1]]", "basis [-1] of `lane` is out of range"},
      {"lane=[[1073741824]]", "basis [1073741824] of `lane` is out of range"},
      {"lane=[[1,0],[2,0],[1,4]]", "no place holds element [0,1]"},
      {"lane=[[65536,65536]]", "the tile has over 2^30 elements"},
      {"lane=[[1]], shape=[3]",
       "side 3 of dimension 0 is not between 1 and 2, which the layout covers"},
      {"lane=[[1]], shape=[0]",
       "side 0 of dimension 0 is not between 1 and 2, which the layout covers"},
      {"lane=[[1]], repeats=[[1,3]]", "repeat of dimension 1, but the rank is 1"},
      {"lane=[[1]], repeats=[[0,4]]", "repeat count 4 is not an odd number above 1"},
      {"lane=[[1]], repeats=[[0,1]]", "repeat count 1 is not an odd number above 1"},
      {"lane=[[1]], repeats=[[0,3],[0,3]]", "dimension 0 is repeated twice"},
      {"lane=[[1]], repeats=[[0,2147483647]]", "repeat count 2147483647 is too big"},
      {"lane=[[1]], repeats=[[0,1000000001]]", "the tile has over 2^30 elements"}};
  for (auto [text, message] : cases)
    CHECK(messageOf(LinearLayout::parse(text)) == message);
  std::vector<std::vector<int32_t>> many(31, {0});
  CHECK(messageOf(LinearLayout::fromBases(DimBases{InDim::Lane, many})) ==
        "`lane` has 31 bits, at most 30 are possible");
  many.pop_back();
  CHECK(messageOf(LinearLayout::fromBases(
            {DimBases{InDim::Lane, many}, {InDim::Warp, many}, {InDim::Block, many}})) ==
        "the layout has 90 input bits, at most 64 are possible");
}

TEST_CASE("constructors reject what a kernel can ask for wrongly", "[layout]") {
  using L = LinearLayout;
  CHECK(messageOf(L::blocked({8}, {3}, {32}, {4}, {0})) ==
        "elementsPerThread has 3, which is not a power of two in range");
  CHECK(messageOf(L::blocked({8}, {1}, {32, 1}, {4}, {0})) ==
        "threadsPerWarp has 2 entries, the tile has rank 1");
  CHECK(messageOf(L::coalesced({8, 8}, 1, {0, 0}, 32, 4)) ==
        "order [0,0] does not name each of 2 dimensions once");
  CHECK(messageOf(L::coalesced({8}, 1, {0}, 32, 3)) ==
        "vec, lanes, warps has 3, which is not a power of two in range");
  CHECK(messageOf(L::coalesced({8}, 1, {0}, 32, 4, {2})) == "repeat count 2 is not odd");
  CHECK(messageOf(L::coalesced({8}, 1, {0}, 32, 4, {1, 1})) == "reps [1,1] is not of rank 1");
  CHECK(messageOf(L::coalesced({0}, 1, {0}, 32, 4)) ==
        "side 0 of dimension 0 is not between 1 and 2^30");
  CHECK(messageOf(L::coalesced({1 << 20, 1 << 20}, 1, {1, 0}, 32, 4)) ==
        "the tile has over 2^30 elements");
  CHECK(messageOf(L::swizzledShared({8, 16}, {1, 0}, 8, 1, 8)) ==
        "a swizzle of 8 phases of 8 elements does not fit in shape [8,16]");
}

TEST_CASE("layouts of different tiles have no conversion, and a bad shape does not fit") {
  LinearLayout a = LinearLayout::identity1D(InDim::Lane, 32);
  LinearLayout b = LinearLayout::identity1D(InDim::Lane, 64);
  CHECK(messageOf(LayoutConversion::create(a, b)) ==
        "no conversion between tiles of shapes [32] and [64]");
  CHECK_FALSE(conversionKind(a, b));
  CHECK(messageOf(a.withShape({33})) ==
        "side 33 of dimension 0 is not between 1 and 32, which the layout covers");
  CHECK(messageOf(a.withShape({1, 1})) == "shape [1,1] is not of rank 1");
  CHECK(messageOf(a.withShape({31})->withRepeats({{0, 3}})) ==
        "the layout has repeats or pads already");
}
