//===- MatrixChoice.cpp - which matrix instruction a product takes ----------------===//
//
// Any sides can be padded to those of an instruction; a product of one row wastes 15 of 16. Whether it
// pays follows from an estimate of the issue slots that a warp takes for either way. The weights are
// rough: a matrix unit of a quarter of a multiprocessor takes about eight slots for an instruction of
// any kind, and shared memory serves four quarters.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/MatrixChoice.h"
#include "ir/tk/Elements.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tk;

static constexpr int64_t kInstructionSlots = 8, kFragmentSlots = 6, kReadSlots = 3;
/// Cutting the fragments of one instruction for f32 into pieces.
static constexpr int64_t kPieceSlots = 12;

namespace {
struct Sides {
  int64_t batch = 1, m, n, k;
};
} // namespace

static Sides sidesOf(DotOp dot) {
  ArrayRef<int64_t> a = cast<RankedTensorType>(dot.getA().getType()).getShape();
  ArrayRef<int64_t> c = cast<RankedTensorType>(dot.getResult().getType()).getShape();
  Sides sides{1, c[c.size() - 2], c.back(), a.back()};
  for (int64_t side : c.drop_back(2))
    sides.batch *= int64_t(llvm::PowerOf2Ceil(side));
  return sides;
}

static std::optional<MatrixKind> kindOf(Type a, Type b) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(a) && isa<Float8E4M3FNType, Float8E5M2Type>(b))
    return MatrixKind::Fp8;
  if (a != b)
    return std::nullopt;
  if (a.isF16())
    return MatrixKind::F16;
  if (a.isBF16())
    return MatrixKind::BF16;
  if (a.isF32())
    return MatrixKind::Tf32;
  if (a.isF64())
    return MatrixKind::F64;
  return a.isInteger(8) ? std::optional(MatrixKind::I8) : std::nullopt;
}

static int64_t slotsByInstructions(const Sides &sides, MatrixKind kind, bool inPieces, int64_t warps) {
  const MatrixInstruction &one = matrixInstruction(kind);
  int64_t tiles = sides.batch * llvm::divideCeil(sides.m, one.m) * llvm::divideCeil(sides.n, one.n);
  int64_t count = llvm::divideCeil(tiles, warps) * llvm::divideCeil(sides.k, one.k);
  return count * (inPieces ? 3 * kInstructionSlots + kPieceSlots + kFragmentSlots : kInstructionSlots + kFragmentSlots);
}

/// A thread with some elements of the result reads about as many lines as a square of them has sides.
static int64_t slotsByMultiplyAdds(const Sides &sides, int64_t threads) {
  int64_t elements = llvm::divideCeil(sides.batch * sides.m * sides.n, threads);
  double lines = 2 * std::sqrt(double(elements));
  return sides.k * (elements + int64_t(lines * kReadSlots));
}

std::optional<MatrixKind> tk::chooseMatrixKind(DotOp dot, const MatrixMachine &machine) {
  std::optional<MatrixKind> kind = kindOf(elementTypeOf(dot.getA().getType()), elementTypeOf(dot.getB().getType()));
  if (!kind || !(machine.kinds & matrixBit(*kind)))
    return std::nullopt;
  Sides sides = sidesOf(dot);
  bool inPieces = *kind == MatrixKind::Tf32 && dot.getInput() != DotInput::tf32;
  int64_t slots = slotsByInstructions(sides, *kind, inPieces, machine.warps);
  bool pays = slots <= slotsByMultiplyAdds(sides, machine.warps * machine.warpSize);
  return pays ? kind : std::nullopt;
}
