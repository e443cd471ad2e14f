//===- Elements.h - how elements lie in registers ------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

/// Bytes that one element takes in a register or in a shared buffer, where none shares a byte.
inline unsigned elementBytes(mlir::Type type) { return (elementBits(type) + 7) / 8; }

/// Whether a type of 4 or 8 bits is a float: fp8, f4e2m1, e8m0.
inline bool isNarrowStorage(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

} // namespace tk
