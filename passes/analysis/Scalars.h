//===- Scalars.h - what is known of a kernel's scalars before it runs ---------===//
//
// Two questions about an integer or pointer scalar: within which interval is it (also asked of the
// elements of a tile), and which power of two divides it (a pointer: its address in bytes)? Answers come from constants, from what the
// language says (a program id is not negative) and from the kernel's *facts*: conditions on its
// parameters, listed in its attribute `facts`, that the loader checks before it picks this
// variant. Facts that an answer used are remembered, so that the others can be dropped.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace tk {

/// All values from `lo` to `hi`.
struct Interval {
  int64_t lo = INT64_MIN, hi = INT64_MAX;

  bool within(int64_t low, int64_t high) const { return lo >= low && hi <= high; }
  bool isNonNegative() const { return lo >= 0; }
};

/// The contract expression of an extent or stride of a view that is a kernel argument: an integer,
/// a name, or a term. Null when `view` is no argument.
mlir::Attribute extentExpression(KernelOp kernel, mlir::Value view, int64_t axis);
mlir::Attribute strideExpression(KernelOp kernel, mlir::Value view, int64_t axis);

/// True when nothing writes the memory of argument `argument` while the kernel runs: it and all
/// arguments of its alias class are `in`.
bool isNeverWritten(KernelOp kernel, unsigned argument);

/// The name of an argument in the source.
llvm::StringRef argumentName(KernelOp kernel, unsigned argument);

/// `x.ptr` for the argument `x`.
std::string pointerName(KernelOp kernel, unsigned argument);

/// `name op number` of a condition of the host, whichever side the number stands on; `op` is as it
/// reads with the name first. Of "divides" the number is the divisor.
struct HostComparison {
  llvm::StringRef op;
  mlir::StringAttr name;
  int64_t number;
};
std::optional<HostComparison> comparisonOf(mlir::Attribute condition);

/// Adds to the kernel's `tkg.kept_facts`: what a pass relies on before PruneVariants runs.
void keepFacts(KernelOp kernel, llvm::ArrayRef<mlir::Attribute> facts);

class ScalarAnalysis {
public:
  explicit ScalarAnalysis(KernelOp kernel);

  Interval range(mlir::Value value);
  /// Of an extent or stride by its expression, as far as facts say.
  Interval bounds(mlir::Attribute expression);
  /// The largest known power of two that divides `value`; for pointers, its address.
  int64_t divisor(mlir::Value value);
  /// True when `value` is below the extent that `bound` names whenever this instance runs, since
  /// the grid says so.
  bool isBelowByGrid(mlir::Value value, mlir::Attribute bound);

  KernelOp getKernel() { return kernel; }
  /// Facts that some answer rested on, in order of use.
  llvm::ArrayRef<mlir::Attribute> usedFacts() const { return used.getArrayRef(); }

private:
  struct Divisor {
    int64_t power;
    mlir::Attribute fact; // null: it always holds
  };
  struct Bound {
    Interval interval;
    llvm::SmallVector<mlir::Attribute, 2> facts;
  };
  void addFact(mlir::Attribute fact, bool isChecked);
  void addAssumption(AssumeOp assume);
  Interval computeRange(mlir::Value value);
  Interval rangeOfArgument(mlir::BlockArgument argument);
  Interval rangeOfOperation(mlir::Value value);
  int64_t computeDivisor(mlir::Value value);
  int64_t divisorOfExpression(mlir::Attribute expression);
  int64_t divisorOfName(llvm::StringRef name);

  KernelOp kernel;
  llvm::StringMap<Divisor> divisors;
  llvm::StringMap<Bound> named;
  llvm::DenseMap<mlir::Value, Interval> ranges;
  llvm::DenseMap<mlir::Value, int64_t> powers;
  llvm::DenseMap<mlir::Value, Interval> promisedRanges;
  llvm::DenseMap<mlir::Value, int64_t> promisedPowers;
  llvm::SetVector<mlir::Attribute> used;
};

} // namespace tk
