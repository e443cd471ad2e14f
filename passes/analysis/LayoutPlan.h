//===- LayoutPlan.h - which tiles share a layout, and which layout ------------===//
//
// Decides, changes nothing. Tiles tied together by elementwise operations, accesses and loops form
// a *class* with one layout. Between classes there are *links*: the result of a reduction, the
// operand of expand_dims or of broadcast has a layout that follows from the larger tile's, and is
// then free of data movement. Classes are taken from the largest tile down: one with a link to a
// decided class follows it, any other asks its accesses for the cheapest coalesced layout.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"
#include "passes/analysis/Contiguity.h"
#include "passes/analysis/MatrixLayouts.h"

namespace tk {

struct MachineShape {
  int64_t warpSize = 32;
  int64_t warps = 4;
  int64_t maxVectorBytes = 16;
  int64_t maxAtomicBytes = 0;
  MatrixKinds matrixKinds = 0;

  int64_t threads() const { return warpSize * warps; }
};

/// The layout that the result of a reduction over `axis` of a tile in `layout` has for free.
LinearLayout reducedLayout(const LinearLayout &layout, unsigned axis);

/// The layout that a broadcast's operand of shape `from` must have for a result in `to`.
LinearLayout broadcastOperandLayout(const LinearLayout &to, llvm::ArrayRef<int64_t> from);

/// The layout of a tile whose elements along `axis` are split into `ratio` each, all parts in the
/// thread of the whole.
LinearLayout splitElements(const LinearLayout &layout, unsigned axis, int32_t ratio);

/// The layout of a tile in which `ratio` neighbours along `axis` are joined; none unless each thread
/// has all of them.
std::optional<LinearLayout> joinElements(const LinearLayout &layout, unsigned axis, int32_t ratio);

/// How many elements of the narrower type of a bitcast make one of the wider; 1 when they are alike.
int64_t bitcastRatio(BitcastOp op);

class LayoutPlan {
public:
  LayoutPlan(KernelOp kernel, MachineShape machine);

  /// Decides all classes. Fails with a diagnostic when a tile does not fit the registers.
  mlir::LogicalResult decide();

  LinearLayout layoutOf(mlir::Value tile);
  /// Elements one thread accesses at once in `access` (a tkg.load or tkg.store).
  int64_t vectorOf(mlir::Operation *access);
  /// How a product is dealt to matrix instructions; none when none of them takes it.
  std::optional<MatrixTiling> tilingOf(mlir::Operation *op);

private:
  struct Link {
    unsigned parent;
    mlir::Operation *op;
    bool toResult = false; // of a reshape or permutation: the class has its result
  };
  struct Access {
    mlir::Operation *op;
    int64_t elementBytes, widest;
    int64_t weight; // how often it happens, guessed from the loops around
  };
  struct Class {
    llvm::SmallVector<int64_t> shape;
    mlir::Value example;
    llvm::SmallVector<Access, 4> accesses;
    llvm::SmallVector<Link, 2> links;
    bool reducedOverLast = false;
    bool isProduct = false;
    bool feedsProduct = false; // its tiles are the left operand of another product
    bool afterProduct = false; // the left operand of its product comes from another product
    bool onlyBytes = true;      // its products are of bytes,
    bool pairsColumns = false;  // and gain by MatrixTiling::pairsColumns
    std::optional<MatrixTiling> tiling;
    llvm::SmallVector<int32_t> together; // neighbours that a thread should have, by axis
    std::optional<LinearLayout> layout;
  };

  unsigned idOf(mlir::Value tile);
  unsigned rootOf(unsigned id);
  void tie(mlir::Value a, mlir::Value b);
  void tieAll(mlir::ValueRange values);
  void tieControl(mlir::Operation *op);
  void tieOperation(mlir::Operation *op);
  void collect();
  void addLinks(mlir::Operation *op);
  void addAccess(mlir::Operation *op);
  void tieStores();
  void addProduct(DotOp op);
  std::optional<LinearLayout> follow(const Class &child, const Link &link);
  LinearLayout chooseOwn(Class &tiles);
  void addBitcast(BitcastOp op);
  void keepTogether(Class &tiles, unsigned axis, int32_t count);
  int64_t chooseVector(const Class &tiles);
  LinearLayout distribute(const Class &tiles, int64_t vector);
  mlir::LogicalResult checkRegisters(const Class &tiles);

  KernelOp kernel;
  MachineShape machine;
  ScalarAnalysis scalars;
  ContiguityAnalysis contiguity;
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<unsigned> parents;
  llvm::MapVector<unsigned, Class> classes;
};

/// A tiling as an attribute, and back; null and none where there is none.
mlir::Attribute tilingAttr(mlir::MLIRContext *context, const MatrixTiling &tiling);
std::optional<MatrixTiling> tilingOf(mlir::Attribute attribute);

/// The offset, mask and value tiles of an access, and its base.
struct AccessOperands {
  mlir::Value base, offset, mask, tile;
};
std::optional<AccessOperands> accessOperands(mlir::Operation *op);

/// Bytes that an access of a thread may have. Sums of floats that nobody reads take up to `maxAtomicBytes` at once, f16
/// two elements in any case; other changes take one element.
int64_t widestAccess(mlir::Operation *op, int64_t maxVectorBytes, int64_t maxAtomicBytes);

} // namespace tk
