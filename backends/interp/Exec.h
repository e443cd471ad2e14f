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
  Sigmoid,
  Exp10,
  Expm1,
  Log10,
  Log1p,
  Round,
  Trunc,
  Tan,
  Sinh,
  Cosh,
  Asin,
  Acos,
  Atan,
  Asinh,
  Acosh,
  Atanh,
  Erfc,
  Erfinv,
  Lgamma,
  Cbrt
};

/// In the order of tk::BinaryFn.
enum class BinaryMath : uint8_t { Pow, Atan2, Hypot, Fmod, Copysign, MulHi };
/// In the order of tk::BitsFn.
enum class BitsMath : uint8_t { Popcount, Clz, Ctz, Brev };

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

// ExecArith.cpp
InstFn selectBinary(BinaryOp op, DType type, bool isUnsigned);
InstFn selectFma(DType type);
InstFn selectNegate(DType type);
InstFn selectAbs(DType type);

// ExecCompare.cpp
InstFn selectCompare(IntCompare predicate, DType type);
InstFn selectCompare(FloatCompare predicate, DType type);
InstFn selectSelect(unsigned elementBytes, bool scalarCondition);

// ExecUnary.cpp, ExecBinaryFn.cpp
InstFn selectUnary(UnaryMath fn, DType type);
InstFn selectBinaryFn(BinaryMath fn, DType type, bool isUnsigned);
InstFn selectBits(BitsMath fn, DType type);

// ExecCast.cpp
/// Integers of whole bytes and i1.
InstFn selectExtend(DType from, DType to, bool isUnsigned);
InstFn selectTruncate(DType from, DType to);
InstFn selectConversion(); // aux: index into Program::conversions

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

// ExecMove.cpp (aux: index of a MovePlan, GatherPlan or BitcastPlan)
InstFn selectMove(unsigned elementBytes);
InstFn selectMoveBounds();
InstFn selectPick(unsigned elementBytes); // b: the index
InstFn selectPickBounds();
InstFn selectPut(unsigned elementBytes); // a: the part, b: the index; the tile is in dst already
InstFn selectPutBounds();
InstFn selectGather(unsigned elementBytes, DType index); // b: the indices
InstFn selectGatherBounds(DType index);
InstFn selectBitcast(unsigned fromBytes, unsigned toBytes, bool joins);

// ExecReduce.cpp, ExecScan.cpp (aux: index of a ReducePlan)
InstFn selectReduce();
InstFn selectScan();
InstFn selectScanSum(DType type); // of a region that is x + y

// ExecMap.cpp (aux: index of a MapPlan)
InstFn selectMap();

// ExecSort.cpp (aux: index of a SortPlan or HistogramPlan)
InstFn selectSort(DType type, bool isUnsigned);
InstFn selectHistogram(DType type, bool isUnsigned);
constexpr size_t kSortEntryBytes = 16; // of scratch memory for an element of a line

// ExecDot.cpp (aux: index of a DotPlan)
InstFn selectDot(DType accumulator);
/// A NaN where neither the accumulator (a), nor the row, nor the column has one.
InstFn selectDotNanCheck(DType accumulator, bool atOnce);

// NumberCheck.cpp
/// b: divisor, a: dividend.
InstFn selectDivideCheck(DType type, bool isUnsigned);
InstFn selectShiftCheck(DType type);
/// Reports a NaN in dst where none of a, b, c (those given) has one. `atOnce`: else only when a NaN
/// is stored later.
InstFn selectNanCheck(DType type, bool atOnce);
/// A NaN at `lane` of the result, made of `operands`.
void reportNan(const Inst &inst, Frame &frame, size_t lane, const std::string &operands,
               bool atOnce);
/// True when one of `count` elements of type `type` is NaN.
bool holdsNan(DType type, const void *elements, size_t count);

} // namespace tk::interp
