//===- PlaceLowering.h - addresses and masks of the places of one kernel -----===//
//
// A place is a box of a view: one index an axis, of which some are slices, some scalars, and some
// tiles of indices, which share one shape. The bounds are in PlaceBounds.cpp, the rest in
// LowerPlaces.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"
#include "passes/ViewTable.h"
#include "llvm/ADT/SetVector.h"

namespace tk {

struct Place {
  mlir::Value view;
  mlir::ValueRange indices;
  llvm::ArrayRef<int64_t> widths;
  llvm::SmallVector<int64_t> shape; // of the tile
  llvm::SmallVector<unsigned> dims; // for each axis the first dimension of the tile that it makes

  Place(mlir::Value view, mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths);
  bool gathers() const { return llvm::is_contained(widths, -1); }
  /// Makes dimension `dim` of the tile the last one.
  void turn(unsigned dim);
};

/// Lowers the accesses of one kernel.
class PlaceLowering {
public:
  explicit PlaceLowering(KernelOp kernel) : kernel(kernel), scalars(kernel), views(kernel, scalars) {}
  void run();

private:
  struct Address {
    mlir::Value base, offset, mask; // offset and mask are null for a scalar without
  };

  // PlaceBounds.cpp
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value scalarCondition(const Place &place);
  mlir::Value clampInto(mlir::Value value, int64_t most);
  mlir::Value axisMask(const Place &place, int64_t axis, mlir::Value &condition);
  mlir::Value gatherMask(const Place &place, int64_t axis);
  mlir::Value boundsMask(const Place &place);

  // LowerPlaces.cpp
  mlir::Value constant(int64_t number, mlir::Type type);
  mlir::Value laneCoordinate(const Place &place, int64_t axis, mlir::Type element);
  mlir::Value spread(mlir::Value tile, const Place &place, unsigned dim);
  bool fitsLane(const Place &place, int64_t axis);
  mlir::Value uniformOffset(const Place &place);
  mlir::Value laneOffset(const Place &place, bool narrow);
  Address packedAddress(const Place &place, mlir::Value offset, mlir::Value mask, bool narrow);
  Address address(mlir::Operation *op, const Place &place, mlir::Value mask, bool narrow);
  bool isReadonly(mlir::Value view);
  std::optional<unsigned> innerDimension(const Place &place);
  std::optional<unsigned> turnToInner(mlir::Operation *op, Place &place);
  mlir::Value turned(mlir::Value tile, std::optional<unsigned> inner);
  mlir::Value moved(mlir::Value tile, unsigned from, unsigned to);
  mlir::Value itemOf(mlir::Value tile);
  void lowerPackedRead(ReadOp read, const Address &at);
  void lowerPackedWrite(WriteOp write, const Address &at);
  void lowerRead(ReadOp read);
  void lowerWrite(WriteOp write);
  void lowerLocate(LocateOp locate);
  void lowerQuery(mlir::Operation *op);
  void lower(mlir::Operation *op);

  KernelOp kernel;
  ScalarAnalysis scalars;
  ViewTable views;
  llvm::SetVector<mlir::Attribute> addedFacts;
  llvm::SmallVector<mlir::Operation *> done; // erased at the end: analyses remember their results
  mlir::OpBuilder builder{kernel.getContext()};
  mlir::Location loc = kernel.getLoc();
};

} // namespace tk
