//===- MatrixLayouts.cpp - fragments of matrix instructions as layouts --------------===//

#include "passes/analysis/MatrixLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tk;

namespace {
using Basis = std::vector<int32_t>;

/// Bases along one axis of a tile of rank 2.
class BasisList {
public:
  explicit BasisList(InDim dim) : bases{dim, {}} {}
  /// Steps from, from * 2, ... below `end` along `axis`.
  BasisList &run(unsigned axis, int32_t from, int32_t end) {
    for (int32_t step = from; step < end; step *= 2)
      bases.bases.push_back(axis == 0 ? Basis{step, 0} : Basis{0, step});
    return *this;
  }
  BasisList &same(int32_t count) {
    for (; count > 1; count /= 2)
      bases.bases.push_back({0, 0});
    return *this;
  }
  DimBases bases;
};
} // namespace

static LinearLayout make(ArrayRef<DimBases> bases, int32_t rows, int32_t columns) {
  return cantFail(LinearLayout::fromBases(bases, ArrayRef<int32_t>{rows, columns}));
}

static int32_t padded(int32_t side, int32_t least) {
  return std::max<int32_t>(int32_t(PowerOf2Ceil(side)), least);
}

/// A warp's rows lie `m` by `m` between those of the others; its columns lie together, so that one
/// load brings two instructions' worth.
LinearLayout tk::accumulatorLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t m = padded(t.m, one.m * t.warpsM), n = padded(t.n, one.n * t.warpsN);
  BasisList registers(InDim::Register), lanes(InDim::Lane), warps(InDim::Warp);
  registers.run(1, 1, 2).run(0, 8, one.m).run(1, 8, n / t.warpsN).run(0, one.m * t.warpsM, m);
  lanes.run(1, 2, 8).run(0, 1, 8);
  warps.run(0, one.m, one.m * t.warpsM).run(1, n / t.warpsN, n);
  return make({registers.bases, lanes.bases, warps.bases}, t.m, t.n);
}

LinearLayout tk::leftOperandLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t m = padded(t.m, one.m * t.warpsM), pack = std::max(one.pack, 1);
  BasisList registers(InDim::Register), lanes(InDim::Lane), warps(InDim::Warp);
  registers.run(1, 1, pack).run(0, 8, one.m).run(1, pack * 4, one.k).run(0, one.m * t.warpsM, m).run(1, one.k, t.k);
  lanes.run(1, pack, pack * 4).run(0, 1, 8);
  warps.run(0, one.m, one.m * t.warpsM).same(t.warpsN);
  return make({registers.bases, lanes.bases, warps.bases}, t.m, t.k);
}

LinearLayout tk::rightOperandLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t n = padded(t.n, one.n * t.warpsN), pack = std::max(one.pack, 1);
  BasisList registers(InDim::Register), lanes(InDim::Lane), warps(InDim::Warp);
  registers.run(0, 1, pack).run(0, pack * 4, one.k).run(1, 8, n / t.warpsN).run(0, one.k, t.k);
  lanes.run(0, pack, pack * 4).run(1, 1, 8);
  warps.same(t.warpsM).run(1, n / t.warpsN, n);
  return make({registers.bases, lanes.bases, warps.bases}, t.k, t.n);
}

LinearLayout tk::matrixAddressLayout(const LinearLayout &operand, unsigned rowAxis, int32_t pack,
                                     int32_t matrices) {
  BasisList lanes(InDim::Lane), registers(InDim::Register);
  DimBases warps{InDim::Warp, {}};
  lanes.run(rowAxis, 1, 8);
  unsigned first = Log2_32(pack), skipped = first + Log2_32(matrices);
  for (unsigned bit = first; bit < operand.numBits(InDim::Register); ++bit) {
    Coords basis = operand.basis(InDim::Register, bit);
    auto &list = bit < skipped ? lanes.bases.bases : registers.bases.bases;
    list.emplace_back(basis.begin(), basis.end());
  }
  lanes.same(4 / matrices);
  for (unsigned bit = 0; bit < operand.numBits(InDim::Warp); ++bit) {
    Coords basis = operand.basis(InDim::Warp, bit);
    warps.bases.emplace_back(basis.begin(), basis.end());
  }
  // The bytes of a row follow from its first: the bits of the other axis within it stay away, which
  // would leave elements out. They are added as registers that no load uses.
  BasisList rest(InDim::Register);
  rest.run(1 - rowAxis, 1, pack * 4);
  llvm::append_range(registers.bases.bases, rest.bases.bases);
  return make({registers.bases, lanes.bases, warps}, operand.shape()[0], operand.shape()[1]);
}

/// As near to square as a warp's part gets: what it reads grows with the sum of its sides.
MatrixTiling tk::tileProduct(MatrixKind kind, int64_t m, int64_t n, int64_t k, int64_t warps,
                             bool rowsInWarp) {
  const MatrixInstruction &one = matrixInstruction(kind);
  MatrixTiling tiling{kind, int32_t(m), int32_t(n), int32_t(k), 1, 1};
  int64_t sideM = PowerOf2Ceil(m), sideN = PowerOf2Ceil(n);
  for (int64_t left = warps; left > 1; left /= 2) {
    int64_t partM = sideM / tiling.warpsM, partN = sideN / tiling.warpsN;
    bool canM = partM > one.m, canN = partN > one.n && !rowsInWarp;
    bool alongM = rowsInWarp || (canM && (!canN || partM >= partN));
    (alongM ? tiling.warpsM : tiling.warpsN) *= 2;
  }
  return tiling;
}
