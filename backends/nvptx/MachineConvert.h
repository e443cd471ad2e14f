//===- MachineConvert.h - the sequences that MachineConvert.cpp chooses from --------===//
#pragma once

#include "ir/tk/TkDialect.h"
#include "mlir/IR/Builders.h"

namespace tk::nvptx {

/// The f32 that a code of a narrow float format stands for, exactly. `code` is an integer of the
/// format's register (i8, i16).
mlir::Value decodeFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value code,
                        mlir::Type from);

/// `value`, an f32, as the code of a narrow format in an i32, rounded once. What is beyond the
/// largest number becomes it under `saturate`, else what IEEE 754 says.
mlir::Value encodeFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::Type to, Round round, Overflow overflow);

} // namespace tk::nvptx
