//===- TkDialect.h - the dialect `tk` for C++ --------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/tk/TkDialect.h.inc"
#include "ir/tk/TkEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tk/TkAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tk/TkTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/tk/TkOps.h.inc"

namespace tk {

/// The most that a program id, an extent or a stride can be: addresses have 47
/// bits. The loader checks extents.
inline constexpr int64_t kLargestIndex = int64_t(1) << 47;

/// The element type of a tile, or the type itself when it is a scalar.
inline mlir::Type elementTypeOf(mlir::Type type) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tile ? tile.getElementType() : type;
}

/// The sides of a tile; none of a scalar.
inline llvm::ArrayRef<int64_t> tileSides(mlir::Type type) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tile ? tile.getShape() : llvm::ArrayRef<int64_t>();
}

/// Bits that one element takes in memory: i1 takes a byte, a pointer eight. Builtin
/// `getElementTypeBitWidth` crashes on a tile of pointers.
unsigned elementBits(mlir::Type type);

/// `type` with the scalar element `element` in place of its own.
mlir::Type withElementType(mlir::Type type, mlir::Type element);

} // namespace tk
