//===- ViewTable.h - what the views of a kernel consist of ------------------===//
//
// A view is an argument of the kernel, a part of another view, or made from a pointer. Of each the
// table knows an address, an offset, extents and strides, as values that exist wherever the view
// does; so places in views of all kinds are lowered alike, and no view is left as a value.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/Scalars.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace tk {

class ViewTable {
public:
  ViewTable(KernelOp kernel, ScalarAnalysis &scalars) : kernel(kernel), scalars(scalars) {}

  /// Takes in a view where it is made; the values that it needs are made there.
  void record(MakeViewOp op);
  void record(SubviewOp op);

  /// The argument whose memory the view shows; null when it was made from a pointer.
  mlir::BlockArgument argument(mlir::Value view) const;
  /// Null, or an i1 that says whether the view has any elements at all.
  mlir::Value exists(mlir::Value view) const;
  /// Numbers that are known when compiling.
  std::optional<int64_t> knownExtent(mlir::Value view, int64_t axis) const;
  std::optional<int64_t> knownStride(mlir::Value view, int64_t axis) const;
  /// The contract's expressions; null when an extent or stride is no parameter.
  mlir::Attribute extentName(mlir::Value view, int64_t axis) const;
  mlir::Attribute strideName(mlir::Value view, int64_t axis) const;

  mlir::Value extent(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value view, int64_t axis);
  mlir::Value stride(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value view, int64_t axis);
  /// The address of the memory, and the element of it (or null for 0) that has index zero. Of
  /// elements of 4 bits the address is one of bytes; the offset counts elements all the same.
  mlir::Value address(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value view);
  mlir::Value offset(mlir::Value view) const;

private:
  struct Parts {
    mlir::BlockArgument argument;
    mlir::Value pointer, offset, exists;
    llvm::SmallVector<mlir::Value> extents, strides;
  };
  struct Axis {
    mlir::Value begin, extent, within;
  };
  Axis axisOf(mlir::OpBuilder &builder, SubviewOp op, unsigned axis);
  mlir::Value least(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
  mlir::Value most(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
  const Parts *partsOf(mlir::Value view) const;

  KernelOp kernel;
  ScalarAnalysis &scalars;
  llvm::DenseMap<mlir::Value, Parts> table;
};

} // namespace tk
