//===- MatrixChoice.h - which matrix instruction a product takes -----------------===//
#pragma once

#include "ir/target/Matrix.h"
#include "ir/tk/TkDialect.h"

namespace tk {

/// What the choice asks of the machine.
struct MatrixMachine {
  int64_t warpSize, warps;
  MatrixKinds kinds;
};

/// The instruction for a product, if there is one for its types and padding its sides to those of
/// the instruction takes less time than multiply-adds.
std::optional<MatrixKind> chooseMatrixKind(DotOp dot, const MatrixMachine &machine);

} // namespace tk
