//===- Exec.h - the functions that instructions run ---------------------------===//
//
// Each `select` gives the loop for an operation and an element type, or null when there is none.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Program.h"

namespace tk::interp {

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Min,
  Max,
  MinNumber,
  MaxNumber
};

/// In the order of tk::UnaryFn.
enum class UnaryMath : uint8_t {
  Abs,
  Exp,
  Exp2,
  Log,
  Log2,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Erf,
  Floor,
  Ceil,
  Sigmoid
};

/// Comparisons of integers; the unsigned ones are apart.
enum class IntCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, ULt, ULe, UGt, UGe };
/// In the order of arith::CmpFPredicate.
enum class FloatCompare : uint8_t {
  False,
  OEq,
  OGt,
  OGe,
  OLt,
  OLe,
  ONe,
  Ord,
  UEq,
  UGt,
  UGe,
  ULt,
  ULe,
  UNe,
  Uno,
  True
};

struct CastRule {
  bool fromUnsigned = false;
  bool toUnsigned = false;
  bool towardZero = true; // float to integer: truncate
  bool saturate = true;
};

// ExecArith.cpp
InstFn selectBinary(BinaryOp op, DType type, bool isUnsigned);
InstFn selectFma(DType type);
InstFn selectNegate(DType type);
InstFn selectAbs(DType type);

// ExecCompare.cpp
InstFn selectCompare(IntCompare predicate, DType type);
InstFn selectCompare(FloatCompare predicate, DType type);
InstFn selectSelect(unsigned elementBytes, bool scalarCondition);

// ExecUnary.cpp
InstFn selectUnary(UnaryMath fn, DType type);

// ExecCast.cpp: integers to integers, floats to wider floats
InstFn selectExtend(DType from, DType to, bool isUnsigned);
InstFn selectTruncate(DType from, DType to);
InstFn selectCast(DType from, DType to, CastRule rule);

// ExecShape.cpp
InstFn selectArange();                         // aux: the start
InstFn selectSplat(unsigned elementBytes);     // n: elements of the result
InstFn selectCopy();                           // aux: bytes an element
InstFn selectBroadcast(unsigned elementBytes); // aux: index of a CopyPlan
InstFn selectPointerAdd(DType offset);         // aux: bytes an element

// ExecControl.cpp
InstFn selectProgramId();   // aux: axis
InstFn selectNumPrograms(); // aux: axis
InstFn selectExtent();      // a: argument, aux: axis
InstFn selectStride();
InstFn selectBase();         // a: argument
InstFn selectJump();         // aux: target
InstFn selectJumpIfFalse();  // a: i1, aux: target
InstFn selectStopWhenOver(); // jumps to aux when no more findings are wanted
/// a: induction variable, b: end; jumps to aux when it is not below the end.
InstFn selectLoopTest(DType type, bool isUnsigned);
/// dst: induction variable, b: step, c: end; jumps to aux (the test) unless the sum wraps.
InstFn selectLoopNext(DType type, bool isUnsigned);
/// b: step; reports one that is not positive and jumps to aux.
InstFn selectStepCheck(DType type);
InstFn selectZeroStepCheck(DType type);

// ExecReduce.cpp
InstFn selectReduce(); // aux: index of a ReducePlan

// NumberCheck.cpp
/// b: divisor, a: dividend.
InstFn selectDivideCheck(DType type, bool isUnsigned);
InstFn selectShiftCheck(DType type);
/// Reports a NaN in dst where none of a, b, c (those given) has one. `atOnce`: else only when a NaN
/// is stored later.
InstFn selectNanCheck(DType type, bool atOnce);
/// True when one of `count` elements of type `type` is NaN.
bool holdsNan(DType type, const void *elements, size_t count);

} // namespace tk::interp
