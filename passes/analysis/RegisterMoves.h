//===- RegisterMoves.h - shape operations without data movement -------------------===//
//
// A shape operation is free where each register of its result is a register of an operand in the
// same thread, the same one in every thread. `registerMoves` finds those registers; the machine
// code then has nothing to do.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"

namespace tk {

/// A register of one of an operation's operands.
struct RegisterSource {
  unsigned operand = 0;
  int32_t reg = 0;
};

/// For each register of the result of a reshape, permutation, flip, slice, concatenation or
/// insertion, where it comes from; none when an element is in another thread. Tiles have layouts.
/// Padding may come from anywhere.
std::optional<llvm::SmallVector<RegisterSource>> registerMoves(mlir::Operation *op);

inline bool movesOnlyRegisters(mlir::Operation *op) { return registerMoves(op).has_value(); }

} // namespace tk
