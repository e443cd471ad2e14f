//===- BufferParts.h - slots of rings and other parts of shared buffers ------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk {

/// Bytes of shared memory, from the first to behind the last.
using Bytes = std::pair<int64_t, int64_t>;

/// Of the whole buffer that this is or is a view of; it has its offset.
Bytes bytesOf(mlir::Value buffer);

/// A slot of a ring: `distance` behind the one that an iteration of `loop` begins with; without a
/// loop, from the first.
struct Slot {
  tkg::AllocOp ring;
  mlir::scf::ForOp loop;
  int64_t distance, slots;
};

/// The slot that a view is within, by its index: slot x elements of one.
std::optional<Slot> slotOf(mlir::Value buffer);

/// The loop that carries the slots of the ring which a buffer is a view of, if it is of one.
mlir::scf::ForOp ringLoop(mlir::Value buffer);

/// Parts of one buffer, at constant places, that have no element in common.
bool areApart(mlir::Value a, mlir::Value b);

} // namespace tk
