//===- Elements.h - how elements lie in registers ------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

/// Bytes that one element takes in a register or in a shared buffer, where none shares a byte.
inline unsigned elementBytes(mlir::Type type) { return (elementBits(type) + 7) / 8; }

/// Elements that one 32-bit word has room for; 1 if an element takes more.
inline int32_t elementsPerWord(mlir::Type type) { return std::max<int32_t>(1, 4 / int32_t(elementBytes(type))); }

/// Whether a type of 4 or 8 bits is a float: fp8, f4e2m1, e8m0.
inline bool isNarrowStorage(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

} // namespace tk
