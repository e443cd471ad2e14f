//===- LinearLayoutTest.cpp - layouts, by looking at every element --------===//
//
// The layouts under test are small enough to list every place of every tile, so nearly all checks
// here are "compute it the slow way and compare".
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <map>
#include <numeric>
#include <set>

using namespace tk;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

using Shape = std::vector<int32_t>;
using Place = std::tuple<int32_t, int32_t, int32_t>; // lane, warp, block

static LinearLayout good(Expected<LinearLayout> layout) {
  if (layout)
    return *layout;
  FAIL(llvm::toString(layout.takeError()));
  return {};
}

static LinearLayout parsed(llvm::StringRef text) {
  return good(LinearLayout::parse(text));
}

static int64_t product(ArrayRef<int32_t> sides) {
  return std::accumulate(sides.begin(), sides.end(), int64_t(1), std::multiplies<int64_t>());
}

/// Row-major number of an element.
static int64_t flat(ArrayRef<int32_t> coords, ArrayRef<int32_t> sides) {
  int64_t number = 0;
  for (size_t i = 0; i < sides.size(); ++i)
    number = number * sides[i] + coords[i];
  return number;
}

static Place threadOf(const Index &index) {
  return {index.lane, index.warp, index.block};
}

static bool isOwner(const Index &masks, const Index &index) {
  return llvm::none_of(kInDims, [&](InDim dim) { return index.get(dim) & masks.get(dim); });
}

static std::vector<unsigned> order(unsigned rank, bool lastFastest) {
  std::vector<unsigned> result(rank);
  std::iota(result.begin(), result.end(), 0);
  if (lastFastest)
    std::reverse(result.begin(), result.end());
  return result;
}

/// Repeats that cover the sides without pads.
static Shape oddParts(const Shape &shape) {
  Shape result;
  for (int32_t side : shape)
    result.push_back(side / (side & -side));
  return result;
}

/// A repeatable stream of numbers.
struct Random {
  uint64_t state = 1;
  uint32_t operator()(uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33) % bound;
  }
};

/// A layout with any bases at all, mostly not along one axis; none if not surjective.
static std::optional<LinearLayout> anyLayout(Random &random, ArrayRef<int32_t> core,
                                             ArrayRef<unsigned> numBits,
                                             ArrayRef<Repeat> repeats = {}) {
  std::vector<DimBases> all;
  for (unsigned dim = 0; dim < numBits.size(); ++dim) {
    if (numBits[dim] == 0)
      continue;
    DimBases &entry = all.emplace_back(DimBases{InDim(dim), {}});
    for (unsigned bit = 0; bit < numBits[dim]; ++bit) {
      std::vector<int32_t> &basis = entry.bases.emplace_back();
      bool sparse = random(2);
      for (int32_t side : core)
        basis.push_back(sparse && random(2) ? 0 : random(side));
    }
  }
  Expected<LinearLayout> layout = LinearLayout::fromBases(all, {}, repeats);
  if (!layout) {
    llvm::consumeError(layout.takeError());
    return std::nullopt;
  }
  for (size_t axis = 0; axis < core.size(); ++axis)
    if (layout->coreSize(axis) != core[axis])
      return std::nullopt;
  return *layout;
}

//===----------------------------------------------------------------------===//
// Checks of one layout, element by element
//===----------------------------------------------------------------------===//

/// Every element of the padded tile is held equally often and owned once; invert finds the owner.
static void checkCover(const LinearLayout &layout) {
  Coords sizes = layout.outSizes();
  std::vector<int> copies(product(sizes)), owners(product(sizes));
  int64_t places = 0, faults = 0;
  Index masks;
  for (InDim dim : kInDims)
    masks.set(dim, layout.ownerMask(dim));
  layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    ++places;
    ++copies[flat(coords, sizes)];
    std::optional<Index> owner = layout.invert(coords);
    faults += !owner || !isOwner(masks, *owner) || layout.apply(*owner) != Coords(coords);
    if (!isOwner(masks, index))
      return;
    ++owners[flat(coords, sizes)];
    faults += owner != index;
  });
  CHECK(faults == 0);
  CHECK(std::count(owners.begin(), owners.end(), 1) == int64_t(owners.size()));
  int64_t each = places / product(sizes);
  CHECK(std::count(copies.begin(), copies.end(), each) == int64_t(copies.size()));
  CHECK(layout.invertible() == (each == 1));
  CHECK((layout.rank() == 0 || !layout.invert(sizes)));
}

/// Free bits and axis masks, by flipping each bit of every seventh place.
static void checkBits(const LinearLayout &layout) {
  std::map<std::pair<InDim, unsigned>, Coords> moved;
  int64_t place = 0;
  layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    if (place++ % 7 != 0)
      return;
    for (InDim dim : kInDims)
      for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
        Index other = index;
        other.set(dim, index.get(dim) ^ 1 << bit);
        Coords &all = moved.try_emplace({dim, bit}, layout.rank(), 0).first->second;
        Coords there = layout.apply(other);
        for (unsigned axis = 0; axis < layout.rank(); ++axis)
          all[axis] |= there[axis] ^ coords[axis];
      }
  });
  for (auto &[key, axes] : moved) {
    auto [dim, bit] = key;
    int count = 0;
    for (unsigned axis = 0; axis < layout.rank(); ++axis) {
      CHECK((layout.bitsMovingAxis(dim, axis) >> bit & 1) == unsigned(axes[axis] != 0));
      count += axes[axis] != 0;
    }
    CHECK((layout.freeBits(dim) >> bit & 1) == unsigned(count == 0));
    CHECK_FALSE((count > 1 && layout.axisOnly(dim)));
    CHECK_FALSE((count > 1 && layout.axisOnly()));
  }
}

/// Does every aligned group of `width` elements of each thread run along the axis?
static bool runsAlong(const LinearLayout &layout, unsigned axis, int32_t width) {
  bool runs = layout.numCoreElements() >= width && layout.coreSize(axis) >= width;
  Coords expected;
  layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    if (index.get(layout.elementDim()) % width == 0)
      runs &= coords[axis] % width == 0;
    else
      runs &= coords == ArrayRef<int32_t>(expected);
    expected = Coords(coords);
    ++expected[axis];
  });
  return runs;
}

static void checkVectors(const LinearLayout &layout) {
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    int32_t width = 1;
    while (runsAlong(layout, axis, width * 2))
      width *= 2;
    CHECK(layout.contiguousPerThread(axis) == width);
  }
}

static void checkText(const LinearLayout &layout) {
  LinearLayout again = parsed(layout.str());
  CHECK(again == layout);
  CHECK((again.str() == layout.str() && hash_value(again) == hash_value(layout)));
  CHECK(std::is_eq(again <=> layout));
}

/// Both maps of a slice, place by place; `axis` is the dropped one.
static void checkSlice(const LinearLayout &layout, const Slice &slice,
                       std::optional<unsigned> axis) {
  InDim element = layout.elementDim();
  REQUIRE(int32_t(slice.newOfOld.size()) == layout.inSize(element));
  REQUIRE(int32_t(slice.oldOfNew.size()) == slice.layout.inSize(element));
  int64_t faults = 0;
  layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    Index made = index;
    made.set(element, slice.newOfOld[index.get(element)]);
    Coords rest(coords);
    if (axis)
      rest.erase(rest.begin() + *axis);
    faults += slice.layout.apply(made) != rest;
    int32_t representative = slice.oldOfNew[made.get(element)];
    faults += representative > index.get(element);
    faults += slice.newOfOld[representative] != made.get(element);
  });
  std::set<int64_t> held; // By the present thread, whose places come one after the other.
  slice.layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    if (index.get(element) == 0)
      held.clear();
    faults += !held.insert(flat(coords, slice.layout.outSizes())).second;
  });
  CHECK(faults == 0);
}

static void checkSlices(const LinearLayout &layout) {
  checkSlice(layout, layout.withoutDuplicateRegisters(), std::nullopt);
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    Slice slice = layout.reduceAxis(axis);
    checkSlice(layout, slice, axis);
    LinearLayout column = slice.layout.expandAxis(axis);
    CHECK(column.shape()[axis] == 1);
    CHECK(column.reduceAxis(axis).layout == slice.layout);
    auto wide = column.broadcastAxis(axis, 5);
    REQUIRE(wide);
    CHECK(wide->shape()[axis] == 5);
    CHECK(wide->padded(axis) == 8);
    CHECK(wide->bitsMovingAxis(InDim::Lane, axis) == 0);
    CHECK(wide->reduceAxis(axis).layout == slice.layout);
  }
}

static void checkAll(const LinearLayout &layout) {
  INFO(layout.str());
  checkCover(layout);
  checkBits(layout);
  checkVectors(layout);
  checkText(layout);
  checkSlices(layout);
}

//===----------------------------------------------------------------------===//
// The header's examples
//===----------------------------------------------------------------------===//

TEST_CASE("example 1 of the header: the 8x4 tile", "[layout]") {
  LinearLayout layout = parsed("register=[[0,1]], lane=[[0,2],[1,0],[2,0]], warp=[[4,0]]");
  checkAll(layout);
  CHECK(layout.shape() == ArrayRef<int32_t>({8, 4}));
  CHECK(layout.apply(1, 5, 1) == Coords{6, 3});
  for (int32_t row = 0; row < 8; ++row)
    for (int32_t col = 0; col < 4; ++col)
      CHECK(layout.invert({row, col}) == Index{col % 2, row % 4 * 2 + col / 2, row / 4});
  CHECK(layout.contiguousPerThread(1) == 2);
  CHECK(layout.contiguousPerThread(0) == 1);
  CHECK(layout.bitsMovingAxis(InDim::Lane, 0) == 0b110);
  CHECK(layout.bitsMovingAxis(InDim::Warp, 0) == 0b1);
}

TEST_CASE("example 2 of the header: the swizzle", "[layout]") {
  LinearLayout layout = good(LinearLayout::swizzledShared({4, 4}, {1, 0}, 1, 1, 4));
  CHECK(layout.str() == "offset=[[0,1],[0,2],[1,1],[2,2]]");
  checkAll(layout);
  const int32_t offsets[4][4] = {{0, 1, 2, 3}, {5, 4, 7, 6}, {10, 11, 8, 9}, {15, 14, 13, 12}};
  for (int32_t row = 0; row < 4; ++row)
    for (int32_t col = 0; col < 4; ++col)
      CHECK(layout.invert({row, col})->offset == offsets[row][col]);
}

TEST_CASE("example 3 of the header, and the repeats: broadcast lanes and side 12", "[layout]") {
  LinearLayout broadcast = parsed("lane=[[1],[2],[0]]");
  checkAll(broadcast);
  CHECK(broadcast.str() == "register=[], lane=[[1],[2],[0]], warp=[]");
  CHECK(broadcast.ownerMask(InDim::Lane) == 4);
  CHECK(broadcast.freeBits(InDim::Lane) == 4);
  LinearLayout repeated = parsed("register=[[1]], lane=[[2]], repeats=[[0,3]]");
  checkAll(repeated);
  const int32_t held[2][6] = {{0, 1, 4, 5, 8, 9}, {2, 3, 6, 7, 10, 11}};
  for (int32_t lane = 0; lane < 2; ++lane)
    for (int32_t reg = 0; reg < 6; ++reg)
      CHECK(repeated.apply(reg, lane, 0) == Coords{held[lane][reg]});
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

static const std::vector<Shape> kShapes = {{1},       {3},        {48},      {96},     {1000},
                                           {1024},    {1, 1},     {3, 48},   {48, 3},  {24, 96},
                                           {1, 1000}, {1024, 1},  {7, 100},  {64, 48}, {1, 3, 48},
                                           {3, 3, 3}, {4, 1, 96}, {8, 3, 16}};

TEST_CASE("coalesced layouts cover every shape, with pads and with repeats", "[layout]") {
  for (const Shape &shape : kShapes)
    for (int32_t lanes : {32, 64})
      for (int32_t warps : {1, 4})
        for (int32_t vec : {1, 8})
          for (bool lastFastest : {true, false})
            for (bool repeat : {false, true}) {
              auto fastest = order(shape.size(), lastFastest);
              LinearLayout layout = good(LinearLayout::coalesced(
                  shape, vec, fastest, lanes, warps, repeat ? oddParts(shape) : Shape()));
              checkAll(layout);
              CHECK(layout.shape() == ArrayRef<int32_t>(shape));
              CHECK((layout.numLanes() == lanes && layout.numWarps() == warps));
              CHECK(layout.hasPads() == (!repeat && oddParts(shape) != Shape(shape.size(), 1)));
              CHECK(layout.withoutDuplicateRegisters().layout == layout);
              CHECK(layout.contiguousPerThread(fastest[0]) >=
                    std::min(vec, layout.coreSize(fastest[0])));
            }
}

TEST_CASE("blocked deals out registers, lanes and warps, then wraps", "[layout]") {
  // 8x32: 1x2 registers, 4x8 lanes, 1x2 warps cover 4x32; rows wrap once.
  LinearLayout layout = good(LinearLayout::blocked({8, 32}, {1, 2}, {4, 8}, {1, 2}, {1, 0}));
  checkAll(layout);
  CHECK(layout.numRegisters() == 4);
  layout.forEach([&](const Index &at, ArrayRef<int32_t> coords) {
    CHECK(coords[0] == at.lane / 8 + 4 * (at.reg / 2));
    CHECK(coords[1] == at.reg % 2 + 2 * (at.lane % 8) + 16 * at.warp);
  });
  // The same on 2x8: of the row bits of the lanes one is surplus, of the columns' one and the warp.
  LinearLayout small = good(LinearLayout::blocked({2, 8}, {1, 2}, {4, 8}, {1, 2}, {1, 0}));
  checkAll(small);
  CHECK(small.freeBits(InDim::Lane) == 0b10100);
  CHECK(small.ownerMask(InDim::Warp) == 1);
  CHECK(small.numRegisters() == 2);
}

TEST_CASE("two repeated dimensions count the fastest dimension first", "[layout]") {
  LinearLayout layout =
      good(LinearLayout::blocked({48, 80}, {1, 4}, {8, 4}, {2, 1}, {1, 0}, {3, 5}));
  checkAll(layout);
  CHECK(layout.numRepeats() == 15);
  CHECK(layout.repeats() == ArrayRef<Repeat>({{1, 5}, {0, 3}}));
  for (int32_t repeat = 0; repeat < 15; ++repeat)
    CHECK(layout.apply(repeat * layout.numCoreElements(), 0, 0) ==
          Coords{repeat / 5 * 16, repeat % 5 * 16});
}

TEST_CASE("shared layouts are bijections; row-major is row-major", "[layout]") {
  for (const Shape &shape : kShapes) {
    LinearLayout padded = good(LinearLayout::rowMajorShared(shape, order(shape.size(), true)));
    checkAll(padded);
    CHECK(padded.invertible());
    padded.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
      REQUIRE(flat(coords, padded.outSizes()) == index.offset);
    });
    checkAll(
        good(LinearLayout::rowMajorShared(shape, order(shape.size(), false), oddParts(shape))));
  }
  // 128-byte swizzle of f16: the chunk of 8 is XORed with the row.
  LinearLayout swizzle = good(LinearLayout::swizzledShared({96, 64}, {1, 0}, 8, 1, 8, {3, 1}));
  checkAll(swizzle);
  swizzle.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    REQUIRE(coords[0] == index.offset / 64);
    REQUIRE(coords[1] == ((index.offset % 64) ^ (coords[0] % 8 * 8)));
  });
}

TEST_CASE("a product places one layout in the cells of another", "[layout]") {
  using L = LinearLayout;
  LinearLayout mma = L::identity1D(InDim::Register, 2, 2, 1) * L::identity1D(InDim::Lane, 4, 2, 1) *
                     L::identity1D(InDim::Lane, 8, 2, 0) * L::identity1D(InDim::Register, 2, 2, 0);
  CHECK(mma.str() == "register=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[]");
  checkAll(mma);
  LinearLayout tiles = good(L::blocked({5, 12}, {1, 2}, {1, 1}, {2, 2}, {1, 0}, {1, 3}));
  LinearLayout all = mma * tiles;
  checkAll(all);
  CHECK(all.shape() == ArrayRef<int32_t>({5 * 16, 12 * 8}));
  int64_t faults = 0;
  all.forEach([&](const Index &at, ArrayRef<int32_t> coords) {
    Coords in = mma.apply(at.reg % 4, at.lane, 0), out = tiles.apply(at.reg / 4, 0, at.warp);
    faults += coords[0] != in[0] + 16 * out[0] || coords[1] != in[1] + 8 * out[1];
  });
  CHECK(faults == 0);
  LinearLayout twice = L::identity1D(InDim::Lane, 4) * L::zeros(InDim::Lane, 2);
  CHECK(twice == parsed("lane=[[1],[2],[0]]"));
  CHECK(L::zeros(InDim::Lane, 2) * L::identity1D(InDim::Lane, 4) == parsed("lane=[[0],[1],[2]]"));
  checkAll(good(mma.withShape({9, 5})));
  LinearLayout repeated = good(mma.withRepeats({{1, 3}}));
  checkAll(repeated);
  CHECK(repeated.shape() == ArrayRef<int32_t>({16, 24}));
}

TEST_CASE("scalars have layouts of rank 0", "[layout]") {
  LinearLayout scalar = good(LinearLayout::coalesced({}, 4, {}, 32, 4));
  CHECK(scalar.str() == "register=[], lane=[[],[],[],[],[]], warp=[[],[]]");
  checkAll(scalar);
  CHECK(scalar.ownerMask(InDim::Lane) == 31);
  CHECK(good(LinearLayout::coalesced({96}, 1, {0}, 32, 4, {3})).reduceAxis(0).layout == scalar);
  checkAll(LinearLayout());
}

TEST_CASE("any surjective map is answered right", "[layout]") {
  Random random;
  int tried = 0;
  for (int attempt = 0; tried < 300; ++attempt) {
    REQUIRE(attempt < 100000);
    std::optional<LinearLayout> layout =
        tried % 3 == 0   ? anyLayout(random, {8, 4}, {3, 3, 1, 1})
        : tried % 3 == 1 ? anyLayout(random, {4, 2, 2}, {2, 3, 1}, {{2, 3}, {0, 5}})
                         : anyLayout(random, {8, 4}, {0, 0, 0, 0, 5}, {{0, 3}});
    if (!layout)
      continue;
    ++tried;
    checkAll(*layout);
  }
}

//===----------------------------------------------------------------------===//
// Transpose, reshape, compose
//===----------------------------------------------------------------------===//

TEST_CASE("transpose permutes coordinates and nothing else", "[layout]") {
  for (const Shape &reps : {Shape{1, 1, 1}, Shape{1, 3, 3}}) {
    LinearLayout layout =
        good(LinearLayout::blocked({8, 12, 24}, {1, 2, 2}, {4, 1, 8}, {2, 1, 2}, {1, 2, 0}, reps));
    LinearLayout turned = layout.transpose({2, 0, 1});
    checkAll(turned);
    layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
      REQUIRE(turned.apply(index) == Coords{coords[2], coords[0], coords[1]});
    });
    CHECK(turned.transpose({1, 2, 0}) == layout);
  }
}

/// If the reshape exists, it must leave every element in its place.
static bool reshapes(const LinearLayout &layout, const Shape &shape) {
  INFO(layout.str());
  std::optional<LinearLayout> result = layout.reshape(shape);
  if (!result)
    return false;
  checkCover(*result);
  checkText(*result);
  for (InDim dim : kInDims)
    REQUIRE(result->inSize(dim) == layout.inSize(dim));
  layout.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    Coords made = result->apply(index);
    REQUIRE(result->isValid(made) == layout.isValid(coords));
    if (layout.isValid(coords))
      REQUIRE(flat(made, result->shape()) == flat(coords, layout.shape()));
  });
  REQUIRE(result->reshape(layout.shape()) == layout);
  return true;
}

TEST_CASE("reshape: closed where the digits fit, and then exact", "[layout]") {
  struct Case {
    Shape from, to;
    bool withRepeats, withPads;
  };
  const Case cases[] = {{{1024}, {32, 32}, true, true},      {{32, 32}, {4, 256}, true, true},
                        {{96}, {3, 32}, true, true},         {{96}, {32, 3}, false, false},
                        {{96}, {6, 16}, true, true},         {{3, 32}, {96}, true, true},
                        {{32, 3}, {96}, false, false},       {{48}, {1, 48, 1}, true, true},
                        {{1, 48, 1}, {48}, true, true},      {{48, 64}, {3072}, true, true},
                        {{64, 48}, {3072}, false, false},    {{1000}, {125, 8}, true, true},
                        {{1000}, {10, 100}, false, false},   {{1000}, {5, 200}, true, false},
                        {{15}, {3, 5}, true, false},         {{3, 5}, {15}, true, false},
                        {{15, 16}, {3, 5, 16}, true, false}, {{3, 48}, {9, 16}, true, false},
                        {{3, 4, 5}, {60}, false, false},     {{8, 3}, {8, 3, 1}, true, true},
                        {{8, 3}, {2, 4, 3}, true, true},     {{7, 96}, {7, 3, 32}, true, true},
                        {{9, 16}, {144}, true, true},        {{3, 3, 16}, {9, 16}, true, false}};
  for (const Case &c : cases) {
    unsigned rank = c.from.size();
    LinearLayout padded = good(LinearLayout::coalesced(c.from, 2, order(rank, true), 32, 2));
    LinearLayout repeated =
        good(LinearLayout::coalesced(c.from, 2, order(rank, true), 32, 2, oddParts(c.from)));
    CAPTURE(c.from, c.to);
    CHECK(reshapes(repeated, c.to) == c.withRepeats);
    CHECK(reshapes(padded, c.to) == c.withPads);
  }
  LinearLayout layout = parsed("register=[[1]], lane=[[2]]");
  CHECK_FALSE(layout.reshape({5}));
  CHECK_FALSE(layout.reshape({-1, -4}));
  CHECK_FALSE(layout.reshape({2, 0}));
}

TEST_CASE("reshape with repeats that count the wrong way round is not closed", "[layout]") {
  CHECK(parsed("register=[], repeats=[[1,5],[0,3]], shape=[3,5]").reshape({15}));
  CHECK_FALSE(parsed("register=[], repeats=[[0,3],[1,5]], shape=[3,5]").reshape({15}));
}

TEST_CASE("compose: what threads read that address shared memory", "[layout]") {
  LinearLayout shared = good(LinearLayout::swizzledShared({24, 64}, {1, 0}, 8, 1, 8, {3, 1}));
  LinearLayout reads = good(LinearLayout::coalesced({24 * 64}, 8, {0}, 32, 2, {3}));
  std::optional<LinearLayout> held = shared.compose(reads);
  REQUIRE(held);
  checkAll(*held);
  reads.forEach([&](const Index &index, ArrayRef<int32_t> offset) {
    REQUIRE(held->apply(index) == shared.apply(Index{0, 0, 0, 0, offset[0]}));
  });
  CHECK_FALSE(shared.compose(good(LinearLayout::coalesced({512}, 8, {0}, 32, 2))));
  CHECK_FALSE(reads.compose(reads));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The least means by looking: does each place's thread, warp or block hold the element already?
static ConversionKind kindByLooking(const LinearLayout &src, const LinearLayout &dst, bool all) {
  std::map<Coords, std::set<Place>> holders;
  src.forEach([&](const Index &index, ArrayRef<int32_t> coords) {
    holders[Coords(coords)].insert(threadOf(index));
  });
  ConversionKind kind = src == dst ? ConversionKind::None : ConversionKind::Registers;
  dst.forEach([&](const Index &at, ArrayRef<int32_t> coords) {
    if (!all && !dst.isValid(coords))
      return;
    ConversionKind need = ConversionKind::Blocks;
    for (auto [lane, warp, block] : holders[Coords(coords)])
      need = std::min(need, block != at.block ? ConversionKind::Blocks
                            : warp != at.warp ? ConversionKind::Shared
                            : lane != at.lane ? ConversionKind::Lanes
                                              : ConversionKind::None);
    kind = std::max(kind, need);
  });
  return kind;
}

static ConversionKind checkConversion(const LinearLayout &src, const LinearLayout &dst) {
  INFO(src.str() << "  to  " << dst.str());
  Expected<LayoutConversion> conversion = LayoutConversion::create(src, dst);
  REQUIRE(bool(conversion));
  ConversionKind kind = conversion->kind();
  int64_t faults = 0;
  dst.forEach([&](const Index &at, ArrayRef<int32_t> coords) {
    std::optional<Index> from = conversion->sourceOf(at);
    if (!from) {
      faults += dst.isValid(coords);
      return;
    }
    for (InDim dim : kInDims)
      faults += from->get(dim) < 0 || from->get(dim) >= src.inSize(dim);
    faults += src.apply(*from) != Coords(coords);
    if (!dst.isValid(coords))
      return;
    faults += kind == ConversionKind::None && *from != at;
    faults += kind <= ConversionKind::Registers && from->lane != at.lane;
    faults += kind <= ConversionKind::Lanes && from->warp != at.warp;
    faults += kind <= ConversionKind::Shared && from->block != at.block;
  });
  CHECK(faults == 0);
  CHECK(conversionKind(src, dst) == kind);
  if (!src.isMemory() && !dst.isMemory())
    CHECK(kind == kindByLooking(src, dst, conversion->isLinear()));
  else
    CHECK(kind == (src == dst ? ConversionKind::None : ConversionKind::Shared));
  return kind;
}

TEST_CASE("conversions between all pairs of layouts of a tile", "[layout]") {
  std::set<ConversionKind> kinds;
  for (const Shape &shape : {Shape{16, 32}, Shape{6, 48}, Shape{1, 96}}) {
    std::vector<LinearLayout> layouts;
    for (const Shape &reps : {Shape(), oddParts(shape)}) {
      for (int32_t vec : {1, 4})
        for (bool last : {true, false})
          layouts.push_back(good(LinearLayout::coalesced(shape, vec, order(2, last), 32, 4, reps)));
      layouts.push_back(good(LinearLayout::blocked(shape, {1, 4}, {4, 8}, {2, 2}, {1, 0}, reps)));
      layouts.push_back(good(LinearLayout::blocked(shape, {2, 2}, {4, 8}, {2, 2}, {1, 0}, reps)));
      layouts.push_back(good(LinearLayout::swizzledShared(shape, {1, 0}, 2, 1, 4, reps)));
      layouts.push_back(good(LinearLayout::rowMajorShared(shape, {0, 1}, reps)));
    }
    for (const LinearLayout &src : layouts)
      for (const LinearLayout &dst : layouts)
        kinds.insert(checkConversion(src, dst));
  }
  CHECK(kinds.size() >= 3);
}

TEST_CASE("conversions between any two maps take the least means", "[layout]") {
  Random random;
  std::map<ConversionKind, int> kinds;
  std::vector<LinearLayout> layouts;
  for (int attempt = 0; layouts.size() < 60; ++attempt) {
    REQUIRE(attempt < 100000);
    SmallVector<unsigned> bits{2 + random(2), 2, random(3), random(2)};
    if (auto layout = anyLayout(random, {4, 4}, bits, {{1, 3}}))
      layouts.push_back(*layout);
  }
  for (const LinearLayout &src : layouts)
    for (const LinearLayout &dst : layouts)
      if (src.numWarps() == dst.numWarps() && src.numBlocks() == dst.numBlocks())
        ++kinds[checkConversion(src, dst)];
  CHECK(kinds.size() == 5);
}
