//===- LowerExit.h - how a piece of code is left ------------------------------===//
//
// Statements and blocks are left in one of four ways. Often the way is known; where branches of a
// run-time `if` differ it is a value, as small as the ways that are possible allow:
//
//   one way          no value
//   two ways         an i1, true for the earlier way (`inverted`: for the later one)
//   three or four    an i32, the number of the way
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace tk {

/// The ways, in order of how far they lead.
enum class Flow : uint8_t { Next, Continue, Break, Return };

class Exit {
public:
  Exit(Flow way = Flow::Next) : ways(bit(way)) {}
  /// The way that a condition chooses.
  static Exit either(mlir::Value condition, Exit ifTrue, Exit ifFalse);
  /// Of two different ways: whether it is the earlier one.
  static Exit ofTest(Flow earlier, Flow later, mlir::Value isEarlier);

  bool may(Flow way) const { return (ways & bit(way)) != 0; }
  bool always(Flow way) const { return ways == bit(way); }
  bool leavesLoop() const { return may(Flow::Break) || may(Flow::Return); }
  bool isKnown() const { return (ways & (ways - 1)) == 0; }

  /// An exit of the ways of both, without value: which it was is not known.
  Exit withWaysOf(const Exit &other) const;
  /// This exit's value as one of the ways of `form` has it; an exit of one way becomes a constant.
  mlir::Value valueIn(const Exit &form, mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The exit with the ways of this one and `valueIn` of it.
  Exit withValue(mlir::Value value) const;

  /// Whether the way lies before `bound`, as an i1.
  mlir::Value isBefore(Flow bound, mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The exit once it is known that the way is another one.
  Exit without(Flow way, mlir::OpBuilder &builder, mlir::Location loc) const;
  /// Counts `from` as `to`, which lies before it with no possible way between.
  Exit renamed(Flow from, Flow to, mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  static uint8_t bit(Flow way) { return uint8_t(1U << unsigned(way)); }
  unsigned count() const;
  Flow earliest() const;
  Flow latest() const;
  Exit narrowedTo(uint8_t newWays, mlir::OpBuilder &builder, mlir::Location loc) const;

  uint8_t ways;
  bool inverted = false;
  mlir::Value value;
};

} // namespace tk
