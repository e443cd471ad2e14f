//===- MatrixLayoutsTest.cpp - fragments multiply what belongs together --------------===//
//
// The rules of the PTX ISA for one instruction, held against the layouts of whole products: of lane 4 g + t, the
// rows of the result are those of its left fragment, its columns those that lanes 8 t and 8 t + 4 have of
// the right one, and both operands have the same k in the same place.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/MatrixLayouts.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tk;

namespace {
struct Product {
  MatrixTiling tiling;
  LinearLayout result = accumulatorLayout(tiling);
  LinearLayout left = leftOperandLayout(tiling), right = rightOperandLayout(tiling);
  int32_t pack = std::max(tiling.instruction().pack, 1), last = int32_t(tiling.batch.size()) + 1;
  int32_t resultOne = tiling.instruction().m * 8 / 32, leftOne = tiling.instruction().m * tiling.instruction().k / 32;
  int32_t rightOne = 8 * tiling.instruction().k / 32, batches = batchesOfWarp(tiling);
  int32_t steps = tiling.k / tiling.instruction().k;
  int32_t rows = left.numRegisters() / batches / steps / leftOne;
  int32_t columns = right.numRegisters() / batches / steps / rightOne;
};
} // namespace

/// One lane of one instruction.
static void checkLane(const Product &p, int32_t batch, int32_t step, int32_t row, int32_t column,
                      int32_t lane, int32_t warp) {
  int32_t m = p.last - 1, n = p.last;
  int32_t leftFirst = ((batch * p.steps + step) * p.rows + row) * p.leftOne;
  int32_t rightFirst = ((batch * p.steps + step) * p.columns + column) * p.rightOne;
  int32_t first = ((batch * p.rows + row) * p.columns + column) * p.resultOne;
  for (int32_t i = 0; i < p.resultOne; ++i) {
    Coords sum = p.result.apply(first + i, lane, warp);
    Coords a = p.left.apply(leftFirst + i / 2 * p.pack, lane, warp); // a second row: the next word
    Coords b = p.right.apply(rightFirst, (2 * (lane % 4) + i % 2) * 4, warp);
    REQUIRE(sum[m] == a[m]);
    REQUIRE(sum[n] == b[n]);
    for (int32_t axis = 0; axis < m; ++axis)
      REQUIRE((sum[axis] == a[axis] && sum[axis] == b[axis]));
  }
  for (int32_t word = 0; word < p.rightOne / p.pack; ++word)
    for (int32_t i = 0; i < p.pack; ++i) {
      int32_t ofLeft = word * (p.tiling.instruction().m / 8) * p.pack + i, ofRight = word * p.pack + i;
      Coords a = p.left.apply(leftFirst + ofLeft, lane, warp), b = p.right.apply(rightFirst + ofRight, lane, warp);
      REQUIRE(a[n] == b[m]);
    }
}

static void checkAll(const Product &p) {
  REQUIRE(p.result.numRegisters() == p.batches * p.rows * p.columns * p.resultOne);
  std::set<std::vector<int32_t>> seen;
  for (int32_t warp = 0; warp < p.result.numWarps(); ++warp)
    for (int32_t lane = 0; lane < 32; ++lane) {
      for (int32_t batch = 0; batch < p.batches; ++batch)
        for (int32_t step = 0; step < p.steps; ++step)
          for (int32_t row = 0; row < p.rows; ++row)
            for (int32_t column = 0; column < p.columns; ++column)
              checkLane(p, batch, step, row, column, lane, warp);
      for (int32_t i = 0; i < p.result.numRegisters(); ++i) {
        Coords coords = p.result.apply(i, lane, warp);
        seen.emplace(coords.begin(), coords.end());
      }
    }
  REQUIRE(int32_t(seen.size()) == p.result.numRegisters() * 32 * p.result.numWarps());
}

TEST_CASE("the fragments of a product multiply what belongs together", "[matrix]") {
  MatrixKind kind = GENERATE(MatrixKind::F16, MatrixKind::BF16, MatrixKind::Tf32, MatrixKind::F64,
                             MatrixKind::I8, MatrixKind::Fp8);
  int32_t warps = GENERATE(1, 4, 8);
  std::vector<int32_t> batch = GENERATE(std::vector<int32_t>{}, std::vector<int32_t>{3}, std::vector<int32_t>{2, 3});
  bool pairs = GENERATE(false, true);
  MatrixTiling tiling = tileProduct(kind, 32, 64, 64, warps, false, batch);
  tiling.pairsColumns = pairs && 64 / tiling.warpsN >= 16; // two instructions beside each other
  checkAll(Product{tiling});
}

TEST_CASE("sides below those of an instruction are padded", "[matrix]") {
  MatrixTiling tiling = tileProduct(MatrixKind::F16, 1, 24, 32, 4, false);
  REQUIRE(accumulatorLayout(tiling).padded(0) == 16);
  REQUIRE(accumulatorLayout(tiling).padded(1) == 32);
  checkAll(Product{tiling});
}

/// 96 columns on two warps: of the 64 that each has with its padding the last quarter is beyond.
TEST_CASE("padding of a side is in the same registers of all warps", "[matrix]") {
  MatrixTiling tiling = tileProduct(MatrixKind::F16, 16, 96, 32, 2, false);
  tiling.pairsColumns = GENERATE(false, true);
  LinearLayout result = accumulatorLayout(tiling);
  REQUIRE(tiling.warpsN == 2);
  checkAll(Product{tiling});
  for (int32_t i = 0; i < result.numRegisters(); ++i)
    for (int32_t lane = 0; lane < 32; ++lane)
      for (int32_t warp = 0; warp < 2; ++warp)
        REQUIRE(result.isValid(result.apply(i, lane, warp)) == (i < result.numRegisters() / 4 * 3));
}

TEST_CASE("sides that are no powers of two are dealt evenly", "[matrix]") {
  MatrixTiling rows = tileProduct(MatrixKind::F16, 48, 64, 32, 2, false); // three instructions high, eight wide
  CHECK((rows.warpsM == 1 && rows.warpsN == 2));
  MatrixTiling batch = tileProduct(MatrixKind::F16, 16, 64, 32, 2, false, {3});
  CHECK((batch.warpsBatch == 1 && batch.warpsN == 2));
  MatrixTiling inWarp = tileProduct(MatrixKind::F16, 48, 64, 32, 2, /*rowsInWarp=*/true);
  CHECK(inWarp.warpsM == 2);
}

TEST_CASE("with paired columns a result of bytes is the left operand of the next product", "[matrix]") {
  MatrixTiling first = tileProduct(MatrixKind::Fp8, 64, 64, 32, 4, /*rowsInWarp=*/true);
  MatrixTiling next = tileProduct(MatrixKind::Fp8, 64, 32, 64, 4, /*rowsInWarp=*/true);
  first.pairsColumns = GENERATE(false, true);
  auto map = llvm::cantFail(LayoutConversion::create(accumulatorLayout(first), leftOperandLayout(next)));
  REQUIRE(map.isRenaming() == first.pairsColumns);
}

/// The k and the column of each byte that one `ldmatrix` of pairs brings, by lane and register.
TEST_CASE("pairs of columns come apart into the fragments of two instructions", "[matrix]") {
  MatrixTiling tiling = tileProduct(MatrixKind::I8, 16, 32, 64, 1, false);
  tiling.pairsColumns = true;
  LinearLayout right = rightOperandLayout(tiling), addresses = pairAddressLayout(right);
  for (int32_t word = 0; word < right.numRegisters() / 4; word += 4)
    for (int32_t lane = 0; lane < 32; ++lane) {
      auto byteOf = [&](int32_t matrix, int32_t byte) { // what a transposing load gives this lane
        int32_t row = lane % 4 * 2 + byte / 2;
        Coords start = addresses.apply(word / 4, 8 * matrix + row, 0);
        return Coords{start[0], start[1] + lane / 4 * 2 + byte % 2};
      };
      for (int32_t i = 0; i < 4; ++i)
        for (int32_t byte = 0; byte < 4; ++byte) {
          // Words: k and k + 16 of the even column, then of the odd one; a register has two k.
          Coords loaded = byteOf(i % 2 * 2 + byte / 2, byte % 2 * 2 + i / 2);
          REQUIRE(right.apply((word + i) * 4 + byte, lane, 0) == loaded);
        }
    }
}
