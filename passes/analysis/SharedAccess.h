//===- SharedAccess.h - how threads access shared buffers ------------------------===//
//
// What the machine code does with a tile and a buffer that lies at strides: how many elements a
// thread moves at once, and what the banks make of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/layout/Scratch.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/analysis/MatrixLayouts.h"

namespace tk {

/// The widest access of one thread to shared memory.
inline constexpr int64_t kMaxSharedBytes = 16;

/// Where a buffer begins, views included: bytes after its allocation (with its offset, if it has one
/// yet), without an index known at run time only.
struct BufferStart {
  int64_t bytes = 0;
  int64_t alignment = kMaxSharedBytes; // a power of two that divides it, whatever the index
};
BufferStart startOf(mlir::Value buffer);

/// Elements of the last axis that lie side by side in a buffer at strides and may be accessed at once.
int64_t vectorIn(tkg::BufType type, BufferStart start, const LinearLayout &layout);
inline int64_t vectorIn(mlir::Value buffer, const LinearLayout &layout) {
  return vectorIn(mlir::cast<tkg::BufType>(buffer.getType()), startOf(buffer), layout);
}

/// How `ldmatrix` brings a buffer into the fragments of a matrix instruction.
struct MatrixAccess {
  LinearLayout addresses; // register i of it: where each lane points for load i
  int32_t matrices;       // of one load
  bool transposed;
  bool pairs; // of bytes: two neighbouring columns at once
};
/// Nothing where `ldmatrix` cannot.
std::optional<MatrixAccess> matrixAccess(tkg::BufType type, BufferStart start, const LinearLayout &layout);
inline std::optional<MatrixAccess> matrixAccess(mlir::Value buffer, const LinearLayout &layout) {
  return matrixAccess(mlir::cast<tkg::BufType>(buffer.getType()), startOf(buffer), layout);
}

/// The accesses of a thread to a buffer of this type, and the wavefronts of its warp, the first.
struct SharedAccesses {
  int64_t count = 0;
  Wavefronts wavefronts;
};
SharedAccesses accessesTo(tkg::BufType type, BufferStart start, const LinearLayout &layout, bool isStore);

/// Of the first warp's accesses of a tkg.buf_store, tkg.buf_load or tkg.async_copy; none for others.
Wavefronts wavefrontsOf(mlir::Operation *access);

} // namespace tk
