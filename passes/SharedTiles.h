//===- SharedTiles.h - tiles through shared memory: what the expansions share -----===//
#pragma once

#include "ir/layout/ShufflePlan.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tk {

inline LinearLayout mapOf(mlir::Value tile) { return tkg::layoutOf(tile.getType()).getMap(); }

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value tile) {
  return mlir::cast<mlir::RankedTensorType>(tile.getType()).getShape();
}

/// 32-bit registers a thread for a tile in `layout`; of elements of 8 and 16 bits several are in one.
inline int64_t registerWords(const LinearLayout &layout, mlir::Type element) {
  return layout.numRegisters() * std::max<int64_t>(elementBits(element), 8) / 32;
}
inline int64_t registerWords(mlir::Value tile) { return registerWords(mapOf(tile), tile.getType()); }

/// The type of a tile with `tile`'s elements and the shape of `layout`.
inline mlir::RankedTensorType tileTypeFor(mlir::Value tile, const LinearLayout &layout) {
  llvm::SmallVector<int64_t> shape(layout.shape().begin(), layout.shape().end());
  return mlir::RankedTensorType::get(shape, elementTypeOf(tile.getType()),
                                     tkg::LayoutAttr::get(tile.getContext(), layout));
}

/// The tile in another layout, by the least means that the algebra proves possible; ExpandConversions
/// decides whether shuffles pay. `why` ends the sentence "the tile changes its layout: ...".
inline mlir::Value convertTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                               const LinearLayout &wanted, llvm::StringRef why) {
  LinearLayout have = mapOf(tile);
  if (have == wanted)
    return tile;
  LayoutConversion conversion = llvm::cantFail(LayoutConversion::create(have, wanted));
  llvm::StringRef how = conversion.isRenaming()           ? "registers"
                        : ShufflePlan::exists(conversion) ? "shuffle"
                                                          : "shared";
  return tkg::ConvertOp::create(builder, loc, tileTypeFor(tile, wanted), tile, how, builder.getStringAttr(why));
}

/// Strides of a row-major tile whose rows lie an odd number of 16-byte pieces apart, so that the same
/// piece of eight rows lies in different banks. Short rows are left as they are.
inline llvm::SmallVector<int64_t> paddedStrides(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  int64_t bytes = std::max<int64_t>(elementBits(element) / 8, 1), pitch = shape.back() * bytes;
  if (shape.size() > 1 && pitch >= 64 && pitch % 32 == 0)
    pitch += 16;
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  int64_t next = pitch / bytes;
  for (int axis = int(shape.size()) - 2; axis >= 0; --axis) {
    strides[axis] = next;
    next *= shape[axis];
  }
  return strides;
}

/// Builds accesses to shared buffers at one place.
struct SharedBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value alloc(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                    llvm::ArrayRef<int64_t> strides = {}) {
    auto type = tkg::BufType::get(builder.getContext(), shape, element, strides);
    return tkg::AllocOp::create(builder, loc, type, mlir::IntegerAttr());
  }
  mlir::Value view(mlir::Value buffer, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> strides, int64_t offset, mlir::Value index = {}) {
    mlir::Type element = mlir::cast<tkg::BufType>(buffer.getType()).getElement();
    auto type = tkg::BufType::get(builder.getContext(), shape, element, strides);
    return tkg::BufViewOp::create(builder, loc, type, buffer, index, offset);
  }
  void store(mlir::Value value, mlir::Value buffer) {
    tkg::BufStoreOp::create(builder, loc, value, buffer);
  }
  mlir::Value load(mlir::Value buffer, mlir::Type type) {
    return tkg::BufLoadOp::create(builder, loc, type, buffer);
  }
  /// A new buffer of the tile's shape that holds it.
  mlir::Value spill(mlir::Value tile) {
    mlir::Type element = elementTypeOf(tile.getType());
    mlir::Value buffer = alloc(shapeOf(tile), element, paddedStrides(shapeOf(tile), element));
    store(tile, buffer);
    return buffer;
  }
};

/// The slot `distance` behind another in a ring of `slots`.
inline mlir::Value ringSlot(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value slot, int64_t distance,
                            int64_t slots) {
  return tkg::RingSlotOp::create(builder, loc, slot.getType(), slot, distance, slots);
}

/// A copy of the region of scalars `from` in `to`, its terminator one of `tkg`.
inline void cloneCombine(mlir::Region &from, mlir::Region &to) {
  mlir::IRMapping mapping;
  from.cloneInto(&to, mapping);
  mlir::Operation *yield = to.front().getTerminator();
  mlir::OpBuilder inner(yield);
  tkg::YieldOp::create(inner, yield->getLoc(), yield->getOperands());
  yield->erase();
}

} // namespace tk
