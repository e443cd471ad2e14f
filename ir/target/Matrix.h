//===- Matrix.h - matrix instructions as data ----------------------------------===//
//
// d = a * b + d of a whole warp. Where the elements of the fragments are is said by layouts
// (passes/analysis/MatrixLayouts.h); here are the sides. Shapes and fragments: PTX ISA, "Matrix
// multiply-accumulate operation using mma instruction".
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>

namespace tk {

enum class MatrixKind : uint8_t { F16, BF16, Tf32, F64, I8, Fp8 };
inline constexpr unsigned kNumMatrixKinds = 6;

struct MatrixInstruction {
  MatrixKind kind;
  std::string_view name;
  int32_t m, n, k;
  int32_t pack; // elements of an operand in one 32-bit register; 0: one in 64 bits
};

inline constexpr std::array<MatrixInstruction, kNumMatrixKinds> kMatrixInstructions = {{
    {MatrixKind::F16, "f16", 16, 8, 16, 2},
    {MatrixKind::BF16, "bf16", 16, 8, 16, 2},
    {MatrixKind::Tf32, "tf32", 16, 8, 8, 1},
    {MatrixKind::F64, "f64", 8, 8, 4, 0},
    {MatrixKind::I8, "i8", 16, 8, 32, 4},
    {MatrixKind::Fp8, "fp8", 16, 8, 32, 4},
}};

inline const MatrixInstruction &matrixInstruction(MatrixKind kind) {
  return kMatrixInstructions[size_t(kind)];
}

inline std::optional<MatrixKind> parseMatrixKind(llvm::StringRef name) {
  for (const MatrixInstruction &instruction : kMatrixInstructions)
    if (llvm::StringRef(instruction.name) == name)
      return instruction.kind;
  return std::nullopt;
}

/// A set of kinds.
using MatrixKinds = uint8_t;
constexpr MatrixKinds matrixBit(MatrixKind kind) { return MatrixKinds(1u << unsigned(kind)); }

} // namespace tk
