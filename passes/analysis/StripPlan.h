//===- StripPlan.h - which operations work through tiles strip by strip -------===//
//
// Decides, changes nothing. A block of code whose tiles take more registers than a thread has, or
// would be unrolled too far, is worked through in loops over pieces of the tiles. A loop serves one
// or more *roots*: stores, and reductions over the cut axis. Everything a root's pieces are made of,
// its *slice*, is computed again in each piece, from memory where it comes from there; so nothing
// big lives across a reduction. What cannot be cut stays in registers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/StripCuts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tk {

struct StripBudget {
  int64_t threads;   // of a block
  int64_t registers; // that one thread may have

  /// Elements of a tile that one thread has.
  int64_t elementsOf(mlir::Value tile) const;
  /// Words of tiles that may live at once; the rest is for addresses and what is being computed.
  int64_t liveWords() const { return registers * 3 / 4; }
  /// Elements of a tile that one thread may have.
  int64_t mostUnrolled() const;
  /// Elements of a tile that one thread has in a piece.
  int64_t pieceElements() const;
};

/// One operation, cut along an axis of its results (a root: of its operands).
struct Cut {
  mlir::Operation *op;
  int axis;

  bool operator==(const Cut &) const = default;
};

struct StripRoot {
  mlir::Operation *op = nullptr;
  int axis = 0;
  int64_t pieces = 1;
  int64_t elements = 0;               // of the largest tile, a thread
  mlir::Value largest;                // that tile
  llvm::SmallVector<Cut> slice;       // without the root, in program order
  llvm::SmallSetVector<mlir::Value, 4> whole; // what every piece uses whole
};

/// Stands before the last of its roots, which are in program order.
struct StripLoop {
  llvm::SmallVector<StripRoot> roots;
  llvm::SmallVector<Cut> slice; // of all roots, in program order

  int64_t pieces() const { return roots.front().pieces; }
};

class StripPlan {
public:
  StripPlan(KernelOp kernel, StripBudget budget);

  /// The loops of one block of the kernel, in program order.
  llvm::SmallVector<StripLoop> decide(mlir::Block &block);

private:
  /// Program order of cuts.
  auto isBefore() const {
    return [this](const Cut &a, const Cut &b) {
      return std::pair(order.at(a.op), a.axis) < std::pair(order.at(b.op), b.axis);
    };
  }
  int64_t elementsOf(mlir::Value tile) const { return budget.elementsOf(tile); }
  int64_t wordsOf(mlir::Value tile) const;
  int64_t wordsMeetingIn(mlir::Operation *op) const;
  bool isOverBudget(mlir::Block &block) const;
  bool isWritten(mlir::Operation *load) const;
  bool canRepeat(mlir::Operation *op, mlir::Block *block) const;
  bool addSlice(StripRoot &root, const llvm::SmallVector<int> &cuts, mlir::Operation *user,
                llvm::SmallVectorImpl<Cut> &work, int64_t &divisor) const;
  std::optional<StripRoot> cutAlong(mlir::Operation *op, int axis) const;
  int64_t reductionsBehind(const StripRoot &root) const;
  std::optional<StripRoot> bestStore(mlir::Operation *op) const;
  std::optional<StripRoot> rootAt(mlir::Operation *op, const llvm::DenseSet<mlir::Value> &needed,
                                  size_t &allowance) const;
  llvm::SmallVector<StripRoot> findRoots(mlir::Block &block) const;
  bool isLegal(const StripLoop &loop) const;
  void mergeSlices(StripLoop &loop) const;

  KernelOp kernel;
  StripBudget budget;
  llvm::DenseMap<mlir::Operation *, unsigned> order; // of all operations, in program order
  mutable llvm::DenseMap<int64_t, bool> written;     // of an alias class: whether the kernel writes it
};

} // namespace tk
