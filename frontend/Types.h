//===- Types.h - the language's data types and the types of run-time values ---===//
//
// MLIR's integers are signless and its tensors know no tiles of pointers with a direction; the
// front end keeps what the language says beside each mlir::Value.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tk {

/// In the order of the language's text; the table in Types.cpp has one row each.
enum class Dtype : uint8_t {
  I1,
  I4,
  I8,
  I16,
  I32,
  I64,
  U4,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F4E2M1,
  E8M0,
};

/// "f32"; every name of the language.
llvm::StringRef dtypeName(Dtype dtype);
std::optional<Dtype> dtypeByName(llvm::StringRef name);
/// All names in order, for lists in messages.
llvm::ArrayRef<llvm::StringRef> allDtypeNames();

unsigned dtypeBits(Dtype dtype);
/// Bytes that one element begins at: an i1 takes one, two of 4 bits share one.
unsigned dtypeBytes(Dtype dtype);
bool isFloat(Dtype dtype);
/// Integers, signed or not; i1 is a truth value and no integer.
bool isInteger(Dtype dtype);
bool isSignedInteger(Dtype dtype);
/// Unsigned integers and i1: what widens by zeros.
bool isUnsignedLike(Dtype dtype);
/// Types that are stored, moved and converted, and have no arithmetic: i4, u4, fp8, f4e2m1, e8m0.
bool isStorage(Dtype dtype);
/// Floats that have infinities, and a code for NaN.
bool hasInfinity(Dtype dtype);
bool hasNan(Dtype dtype);

mlir::Type toMlir(mlir::MLIRContext *context, Dtype dtype);
/// Of a float.
const llvm::fltSemantics &floatSemantics(Dtype dtype);

using Shape = llvm::SmallVector<int64_t, 4>;

/// "[64, 128]", "a scalar" for rank 0.
std::string describeShape(llvm::ArrayRef<int64_t> shape);

/// The type of a run-time value: a scalar or tile of numbers or of addresses of numbers.
struct RunType {
  Dtype dtype = Dtype::I64; // of the pointee when `pointer`
  bool pointer = false;
  unsigned param = 0; // of a pointer: which kernel parameter it came from
  Shape shape;        // empty: a scalar
  /// Of a pointer: the pointers between it and the numbers, 1 for `**f32`.
  unsigned indirections = 0;

  bool isScalar() const { return shape.empty(); }
  /// What a pointer, or each one of a tile of pointers, points at.
  RunType pointee() const;
  bool operator==(const RunType &) const = default;
  /// "f32", "*f32", "**f32", "tile[f32, 4, 8]".
  std::string str() const;
};

} // namespace tk
