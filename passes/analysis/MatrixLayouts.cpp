//===- MatrixLayouts.cpp - fragments of matrix instructions as layouts --------------===//

#include "passes/analysis/MatrixLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tk;

namespace {
/// Bases of one input dimension. Axis 0 is the last but one, axis 1 the last.
class BasisList {
public:
  BasisList(InDim dim, size_t rank) : bases{dim, {}}, rank(rank) {}
  /// Steps from, from * 2, ... below `end` along `axis`.
  BasisList &run(unsigned axis, int32_t from, int32_t end) {
    for (int32_t step = from; step < end; step *= 2)
      add(rank - 2 + axis, step);
    return *this;
  }
  BasisList &same(int32_t count) {
    for (; count > 1; count /= 2)
      bases.bases.emplace_back(rank, 0);
    return *this;
  }
  /// Steps `first` to `end` of those through the batch, the last of its axes fastest.
  BasisList &batch(ArrayRef<int32_t> sides, unsigned first, unsigned end) {
    unsigned number = 0;
    for (size_t axis = sides.size(); axis-- > 0;)
      for (int32_t step = 1; step < sides[axis]; step *= 2, ++number)
        if (number >= first && number < end)
          add(axis, step);
    return *this;
  }
  DimBases bases;

private:
  void add(size_t axis, int32_t step) {
    bases.bases.emplace_back(rank, 0);
    bases.bases.back()[axis] = step;
  }
  size_t rank;
};

/// The three lists of a fragment's layout.
struct Fragment {
  explicit Fragment(const MatrixTiling &tiling)
      : tiling(tiling), registers(InDim::Register, rank()), lanes(InDim::Lane, rank()), warps(InDim::Warp, rank()) {}
  LinearLayout layout(int32_t rows, int32_t columns);

  size_t rank() const { return tiling.batch.size() + 2; }
  const MatrixTiling &tiling;
  BasisList registers, lanes, warps;
};
} // namespace

static int32_t padded(int32_t side, int32_t least) {
  return std::max<int32_t>(int32_t(PowerOf2Ceil(side)), least);
}

static int32_t paddedColumns(const MatrixTiling &t) { return padded(t.n, t.instruction().n * t.warpsN); }

/// How many columns of a warp lie together: all, or of a padded side those of one instruction (with pairs, of
/// two). Then instructions whose columns are all padding are the same ones in each warp, and can be left out.
static int32_t columnsTogether(const MatrixTiling &t) {
  int32_t ofWarp = paddedColumns(t) / t.warpsN;
  return isPowerOf2_32(uint32_t(t.n)) ? ofWarp : std::min(ofWarp, t.pairsColumns ? 16 : 8);
}

/// The columns of a warp's instructions, with pairs those of two beside each other first.
static void runColumns(BasisList &registers, const MatrixTiling &t) {
  int32_t together = columnsTogether(t);
  if (t.pairsColumns)
    registers.run(1, 1, 2).run(1, 16, together);
  else
    registers.run(1, 8, together);
  registers.run(1, together * t.warpsN, paddedColumns(t));
}

/// The batch is dealt to the highest bits of the warp, and what is left of it to those of the register.
LinearLayout Fragment::layout(int32_t rows, int32_t columns) {
  unsigned ofWarps = Log2_32(uint32_t(tiling.warpsBatch));
  warps.batch(tiling.batch, 0, ofWarps);
  registers.batch(tiling.batch, ofWarps, ~0u);
  SmallVector<int32_t> shape(ArrayRef<int32_t>(tiling.batch));
  shape.append({rows, columns});
  return cantFail(LinearLayout::fromBases({registers.bases, lanes.bases, warps.bases}, ArrayRef<int32_t>(shape)));
}

static int32_t paddedBatch(ArrayRef<int32_t> batch) {
  int32_t count = 1;
  for (int32_t side : batch)
    count *= int32_t(PowerOf2Ceil(side));
  return count;
}

int32_t tk::batchesOfWarp(const MatrixTiling &t) { return paddedBatch(t.batch) / t.warpsBatch; }

/// A warp's rows lie `m` by `m` between those of the others.
LinearLayout tk::accumulatorLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t m = padded(t.m, one.m * t.warpsM), together = columnsTogether(t);
  int32_t step = t.pairsColumns ? 2 : 1; // between the columns of an instruction
  Fragment f(t);
  f.registers.run(1, step, step * 2).run(0, 8, one.m);
  runColumns(f.registers, t);
  f.registers.run(0, one.m * t.warpsM, m);
  f.lanes.run(1, step * 2, step * 8).run(0, 1, 8);
  f.warps.run(0, one.m, one.m * t.warpsM).run(1, together, together * t.warpsN);
  return f.layout(t.m, t.n);
}

LinearLayout tk::leftOperandLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t m = padded(t.m, one.m * t.warpsM), pack = std::max(one.pack, 1);
  Fragment f(t);
  f.registers.run(1, 1, pack).run(0, 8, one.m).run(1, pack * 4, one.k).run(0, one.m * t.warpsM, m).run(1, one.k, t.k);
  f.lanes.run(1, pack, pack * 4).run(0, 1, 8);
  f.warps.run(0, one.m, one.m * t.warpsM).same(t.warpsN);
  return f.layout(t.m, t.k);
}

LinearLayout tk::rightOperandLayout(const MatrixTiling &t) {
  const MatrixInstruction &one = t.instruction();
  int32_t together = columnsTogether(t), pack = std::max(one.pack, 1);
  int32_t step = t.pairsColumns ? 2 : 1;
  Fragment f(t);
  f.registers.run(0, 1, pack).run(0, pack * 4, one.k);
  runColumns(f.registers, t);
  f.registers.run(0, one.k, t.k);
  f.lanes.run(0, pack, pack * 4).run(1, step, step * 8);
  f.warps.same(t.warpsM).run(1, together, together * t.warpsN);
  return f.layout(t.k, t.n);
}

/// Bits `first` and up of the registers, then `rest`, with `lanes` and the warps of `operand`.
static LinearLayout addressLayout(const LinearLayout &operand, const BasisList &lanes, BasisList registers,
                                  unsigned first, const BasisList &rest) {
  DimBases warps{InDim::Warp, {}};
  auto copy = [&](InDim dim, unsigned bit, DimBases &to) {
    Coords basis = operand.basis(dim, bit);
    to.bases.emplace_back(basis.begin(), basis.end());
  };
  for (unsigned bit = first; bit < operand.numBits(InDim::Register); ++bit)
    copy(InDim::Register, bit, registers.bases);
  for (unsigned bit = 0; bit < operand.numBits(InDim::Warp); ++bit)
    copy(InDim::Warp, bit, warps);
  // The bytes of a row follow from its first: the bits of the other axis within it stay away, which
  // would leave elements out. They are added as registers that no load uses.
  llvm::append_range(registers.bases.bases, rest.bases.bases);
  return cantFail(LinearLayout::fromBases({registers.bases, lanes.bases, warps}, operand.shape()));
}

LinearLayout tk::matrixAddressLayout(const LinearLayout &operand, unsigned rowAxis, int32_t pack,
                                     int32_t matrices) {
  size_t rank = operand.rank();
  BasisList lanes(InDim::Lane, rank), registers(InDim::Register, rank), rest(InDim::Register, rank);
  bool isGroup = operand.basis(InDim::Lane, 2)[rank - 2 + rowAxis]; // rows are what lanes 4 apart hold
  int32_t step = isGroup ? operand.basis(InDim::Lane, 2)[rank - 2 + rowAxis] : 1;
  lanes.run(rowAxis, step, step * 8);
  unsigned first = Log2_32(pack), skipped = first + Log2_32(matrices);
  for (unsigned bit = first; bit < skipped; ++bit) {
    Coords basis = operand.basis(InDim::Register, bit);
    lanes.bases.bases.emplace_back(basis.begin(), basis.end());
  }
  lanes.same(4 / matrices);
  rest.run(1 - rowAxis, 1, pack * 4);
  return addressLayout(operand, lanes, registers, skipped, rest);
}

LinearLayout tk::pairAddressLayout(const LinearLayout &operand) {
  size_t rank = operand.rank();
  BasisList lanes(InDim::Lane, rank), registers(InDim::Register, rank), rest(InDim::Register, rank);
  lanes.run(0, 1, 2).run(0, 4, 16).run(0, 2, 4).run(0, 16, 32);
  rest.run(1, 1, 16);
  constexpr unsigned first = 4; // after the four bytes of a word, k + 16 and the odd columns
  return addressLayout(operand, lanes, registers, first, rest);
}

/// What the warp with the most of them does in a step along K.
static int64_t instructionsOfWarp(const MatrixTiling &t) {
  int64_t batch = 1;
  for (int32_t side : t.batch)
    batch *= side;
  int64_t rows = divideCeil(t.m, t.instruction().m), columns = divideCeil(t.n, t.instruction().n);
  return int64_t(divideCeil(batch, t.warpsBatch) * divideCeil(rows, t.warpsM) * divideCeil(columns, t.warpsN));
}

/// Batch elements first, which share nothing. Then as near to square as a warp's part gets: what it
/// reads grows with the sum of its sides.
static MatrixTiling dealEvenly(MatrixTiling tiling, int64_t warps, bool rowsInWarp) {
  const MatrixInstruction &one = tiling.instruction();
  tiling.warpsBatch = int32_t(std::min<int64_t>(paddedBatch(tiling.batch), warps));
  int64_t sideM = PowerOf2Ceil(tiling.m), sideN = PowerOf2Ceil(tiling.n);
  for (int64_t left = warps / tiling.warpsBatch; left > 1; left /= 2) {
    int64_t partM = sideM / tiling.warpsM, partN = sideN / tiling.warpsN;
    bool canM = partM > one.m, canN = partN > one.n && !rowsInWarp;
    bool alongM = rowsInWarp || (canM && (!canN || partM >= partN));
    (alongM ? tiling.warpsM : tiling.warpsN) *= 2;
  }
  return tiling;
}

/// Sides that are no powers of two may be dealt more evenly in another way: 48 rows, which are three instructions,
/// not to two warps.
MatrixTiling tk::tileProduct(MatrixKind kind, int64_t m, int64_t n, int64_t k, int64_t warps,
                             bool rowsInWarp, ArrayRef<int32_t> batch) {
  MatrixTiling tiling{kind, int32_t(m), int32_t(n), int32_t(k), 1, 1};
  tiling.batch.assign(batch.begin(), batch.end());
  MatrixTiling best = dealEvenly(tiling, warps, rowsInWarp);
  for (int64_t ofBatch = best.warpsBatch; ofBatch >= 1; ofBatch /= 2)
    for (int64_t ofM = 1; ofM * ofBatch <= warps; ofM *= 2) {
      tiling.warpsBatch = int32_t(ofBatch);
      tiling.warpsM = int32_t(ofM);
      tiling.warpsN = int32_t(warps / ofBatch / ofM);
      if ((!rowsInWarp || tiling.warpsN == 1) && instructionsOfWarp(tiling) < instructionsOfWarp(best))
        best = tiling;
    }
  return best;
}
