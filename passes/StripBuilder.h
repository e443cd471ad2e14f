//===- StripBuilder.h - builds a loop over pieces of tiles --------------------===//
//
// The loop and the pieces are in StripBuilder.cpp, what reductions carry through it in
// StripReductions.cpp. The old operations stay until all loops are built.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/StripPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tk {

/// Turns branches that yield tiles over the budget into selections, where both sides can run: loads get
/// masks. Registers that come from two sides keep the assembler busy for minutes.
void flattenBranches(KernelOp kernel, const StripBudget &budget);

class StripBuilder {
public:
  explicit StripBuilder(const StripLoop &strips)
      : strips(strips), builder(strips.roots.back().op), loc(strips.roots.back().op->getLoc()) {}
  void run();

  /// The results of the loop's reductions, in place of the old ones.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> replacements;

private:
  // StripBuilder.cpp
  mlir::Type pieceType(mlir::Value tile, int axis);
  mlir::Value pieceOf(mlir::Value tile, int axis);
  mlir::Value constant(mlir::TypedAttr value) {
    return mlir::arith::ConstantOp::create(builder, loc, value);
  }
  mlir::Value start(int64_t width, mlir::Type type);
  mlir::Operation *cloneCut(mlir::Operation *op, int axis, const llvm::SmallVector<int> &cuts);
  template <typename Op> void moveSlice(Op place, int axis);
  void emit(const Cut &cut);
  llvm::SmallVector<mlir::Value> emitRoot(const StripRoot &root, mlir::ValueRange carried);
  void moveLateOperations();

  // StripReductions.cpp
  llvm::SmallVector<mlir::Value> initialValues();
  llvm::SmallVector<mlir::Value> emitReduction(ReduceOp reduce, const StripRoot &root, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> emitScan(ScanOp piece);
  llvm::SmallVector<mlir::Value> combine(mlir::Region &function, mlir::ValueRange left, mlir::ValueRange right);
  llvm::SmallVector<mlir::Value> combineCarried(mlir::Region &function, mlir::ValueRange carried, mlir::ValueRange next);
  size_t carriedBy(const StripRoot &root);
  mlir::Value choose(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value tripEndsIn(unsigned bits, int64_t value);
  llvm::SmallVector<mlir::Value> combineTree(mlir::Region &function, mlir::ValueRange carried, mlir::ValueRange next);
  llvm::SmallVector<mlir::Value> finishTree(mlir::Region &function, mlir::ValueRange carried);
  void finish(ReduceOp reduce, mlir::ValueRange carried);

  const StripLoop &strips;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::scf::ForOp loop;
  llvm::DenseMap<std::pair<mlir::Value, int>, mlir::Value> pieces;
  size_t scanCarry = 0;                      // the iteration argument that the next scan takes
  llvm::SmallVector<mlir::Value> scanTotals; // what scans carry from this trip on
};

} // namespace tk
