//===- SemaConstEvalTest.cpp - compile-time numbers, data types, suggestions ----===//

#include "frontend/ConstEval.h"
#include "frontend/SemaScope.h"
#include <catch2/catch.hpp>

using namespace tk;
using ast::BinaryOp;
using ast::CompareOp;

static Int128 value(BinaryOp op, Int128 a, Int128 b) {
  ConstResult<Int128> result = evalInt(op, a, b);
  REQUIRE(result.error == ConstError::None);
  return result.value;
}

static ConstError fault(BinaryOp op, Int128 a, Int128 b) { return evalInt(op, a, b).error; }

TEST_CASE("division and remainder truncate", "[sema]") {
  CHECK(value(BinaryOp::IntDiv, -7, 2) == -3);
  CHECK(value(BinaryOp::Rem, -7, 2) == -1);
  CHECK(value(BinaryOp::Rem, 7, -2) == 1);
  CHECK(value(BinaryOp::IntDiv, 7, -1) == -7);
  CHECK(fault(BinaryOp::IntDiv, 1, 0) == ConstError::DivisionByZero);
  CHECK(fault(BinaryOp::Rem, 1, 0) == ConstError::DivisionByZero);
  CHECK(ceilDiv(7, 2) == 4);
  CHECK(ceilDiv(8, 2) == 4);
  CHECK(ceilDiv(-7, 2) == -3);
  CHECK(ceilDiv(0, 2) == 0);
}

TEST_CASE("integers do not wrap at compile time", "[sema]") {
  Int128 highest = Int128(~(unsigned __int128)(0) >> 1), lowest = -highest - 1;
  CHECK(fault(BinaryOp::Add, highest, 1) == ConstError::Overflow);
  CHECK(fault(BinaryOp::Sub, lowest, 1) == ConstError::Overflow);
  CHECK(fault(BinaryOp::Mul, highest, 2) == ConstError::Overflow);
  CHECK(fault(BinaryOp::IntDiv, lowest, -1) == ConstError::Overflow);
  CHECK(value(BinaryOp::Rem, lowest, -1) == 0);
  CHECK(toString(lowest) == "-170141183460469231731687303715884105728");
  CHECK(toString(highest) == "170141183460469231731687303715884105727");
  CHECK(toString(Int128(0)) == "0");
}

TEST_CASE("shifts have every count", "[sema]") {
  CHECK(value(BinaryOp::Shl, 1, 126) == Int128(1) << 126);
  CHECK(value(BinaryOp::Shl, 0, 1000) == 0);
  CHECK(fault(BinaryOp::Shl, 1, 127) == ConstError::Overflow);
  CHECK(fault(BinaryOp::Shl, 1, -1) == ConstError::BadShift);
  CHECK(value(BinaryOp::Shr, -8, 1) == -4);
  CHECK(value(BinaryOp::Shr, -8, 1000) == -1);
  CHECK(value(BinaryOp::Shr, 8, 1000) == 0);
}

TEST_CASE("ranges of integer types", "[sema]") {
  CHECK(minOf(Dtype::I8) == -128);
  CHECK(maxOf(Dtype::U64) == (Int128(1) << 64) - 1);
  CHECK(minOf(Dtype::U8) == 0);
  CHECK(fits(255, Dtype::U8));
  CHECK_FALSE(fits(256, Dtype::U8));
}

TEST_CASE("a literal is rounded once", "[sema]") {
  // Through f64 this tie would round to even, the other way.
  llvm::APFloat literal = floatFromText("1.0000000596046447753906250001");
  CHECK(roundTo(literal, Dtype::F32).convertToFloat() == 0x1.000002p0f);
  CHECK(roundTo(floatFromText("0.1"), Dtype::F64).convertToDouble() == 0.1);
  CHECK(roundTo(floatFromText("65520"), Dtype::F16).isInfinity());
  CHECK(wholeOf(floatFromText("1e30"), Dtype::I8) == 127);
  CHECK(wholeOf(floatFromText("-2.9"), Dtype::I32) == -2);
  CHECK(wholeOf(floatFromText("-2.9"), Dtype::U32) == 0);
  CHECK(wholeOf(llvm::APFloat::getNaN(llvm::APFloat::IEEEquad()), Dtype::I32) == 0);
  CHECK(toString(floatFromText("100000")) == "100000.0");
}

TEST_CASE("comparisons with NaN are false but for !=", "[sema]") {
  llvm::APFloat nan = llvm::APFloat::getNaN(llvm::APFloat::IEEEquad());
  CHECK_FALSE(compareFloat(CompareOp::Eq, nan, nan));
  CHECK_FALSE(compareFloat(CompareOp::Le, nan, nan));
  CHECK(compareFloat(CompareOp::Ne, nan, nan));
}

TEST_CASE("the table of data types is in the order of the enum", "[sema]") {
  for (llvm::StringRef name : allDtypeNames())
    CHECK(dtypeName(*dtypeByName(name)) == name);
  CHECK(dtypeByName("f32") == Dtype::F32);
  CHECK(dtypeByName("e8m0") == Dtype::E8M0);
  CHECK_FALSE(dtypeByName("f31"));
  CHECK(dtypeBytes(Dtype::I1) == 1);
  CHECK(RunType{Dtype::F32, true, 0, {4, 8}}.str() == "tile[*f32, 4, 8]");
}

TEST_CASE("a misspelling has at most one slip in three letters", "[sema]") {
  llvm::StringRef names[] = {"index", "BLOCK", "M", "maximum"};
  CHECK(nearestName("indez", names) == "index");
  CHECK(nearestName("block", names) == "BLOCK");
  CHECK(nearestName("maximun", names) == "maximum");
  CHECK(nearestName("stride", names) == "");
}
