//===- MachineTiles.cpp - elements of tiles, and where a thread stands ---------===//

#include "backends/nvptx/Machine.h"
#include "passes/analysis/RegisterMoves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

Type Machine::machineType(Type element) {
  if (isa<PtrType>(element))
    return LLVM::LLVMPointerType::get(context, 1);
  if (isNarrowStorage(element) || element.isInteger(4)) // codes, in the low bits
    return builder.getI8Type();
  return element;
}

/// Integer constants live in the entry block, one of each.
Value Machine::integer(int64_t value, unsigned bits) {
  Value &known = constants[{value, bits}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  auto type = builder.getIntegerType(bits);
  known = LLVM::ConstantOp::create(builder, function.getLoc(), type,
                                   builder.getIntegerAttr(type, APInt(bits, value, true, true)));
  return known;
}

Value Machine::materialize(const Element &element) {
  Value sum = element.var;
  if (element.uniform)
    sum = sum ? once<LLVM::AddOp>(sum, element.uniform) : element.uniform;
  if (!sum)
    return integer(element.imm, 32);
  if (element.imm == 0)
    return sum;
  return once<LLVM::AddOp>(sum, integer(element.imm, 32));
}

Value Machine::scalar(Value value) { return scalars.at(value); }

Tile &Machine::tileOf(Value value) { return tiles[value]; }

Value Machine::reg(Value tile, unsigned index) { return materialize(tiles[tile][index]); }

LinearLayout Machine::layoutOf(Value tile) { return tkg::layoutOf(tile.getType()).getMap(); }

Value Machine::andOf(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return once<LLVM::AndOp>(a, b);
}

Value Machine::compared(LLVM::ICmpPredicate predicate, Value a, Value b) {
  return made.once({TypeID::get<LLVM::ICmpOp>(), uintptr_t(predicate), a, b},
                   [&] { return LLVM::ICmpOp::create(builder, loc, predicate, a, b); });
}

/// base + distance, in bytes.
Value Machine::shifted(Value base, Value distance) {
  return made.once({TypeID::get<LLVM::GEPOp>(), 0, base, distance}, [&] {
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{distance});
  });
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

/// XOR of the images of the thread's lane and warp bits along `axis`. Bits that follow one another
/// in both index and image are moved together. Lives in the entry block.
Value Machine::threadCoordinate(const LinearLayout &layout, unsigned axis) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(warp.getDefiningOp());
  Value sum;
  for (InDim dim : {InDim::Lane, InDim::Warp}) {
    Value index = dim == InDim::Lane ? lane : warp;
    for (unsigned bit = 0; bit < layout.numBits(dim);) {
      int32_t image = layout.basis(dim, bit)[axis];
      unsigned first = bit++;
      if (image == 0)
        continue;
      while (bit < layout.numBits(dim) && layout.basis(dim, bit)[axis] == image << (bit - first))
        ++bit;
      int32_t mask = ((1 << (bit - first)) - 1) << first;
      Value term = LLVM::AndOp::create(builder, loc, index, integer(mask, 32));
      if (first != 0)
        term = LLVM::LShrOp::create(builder, loc, term, integer(first, 32));
      if (image != 1)
        term = LLVM::MulOp::create(builder, loc, term, integer(image, 32),
                                   LLVM::IntegerOverflowFlags::nsw);
      sum = sum ? LLVM::XOrOp::create(builder, loc, sum, term).getResult() : term;
    }
  }
  return sum;
}

/// Bits of the coordinate along `axis` that threads set.
static int32_t threadBitsOf(const LinearLayout &layout, unsigned axis) {
  int32_t bits = 0;
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit)
      bits |= layout.basis(dim, bit)[axis];
  return bits;
}

/// What threads add to the coordinate along `axis`.
Machine::ThreadPart Machine::threadPart(const LinearLayout &layout, unsigned axis) {
  SmallVector<ThreadPart> &parts = threadParts[layout];
  if (parts.empty())
    for (unsigned i = 0; i < layout.rank(); ++i)
      parts.push_back({threadCoordinate(layout, i), threadBitsOf(layout, i)});
  return parts[axis];
}

/// The coordinate of register `index`. Images of registers and threads rarely share bits; then XOR
/// is a sum.
Element Machine::coordinate(const LinearLayout &layout, unsigned axis, unsigned index) {
  auto [var, threadBits] = threadPart(layout, axis);
  int32_t constant = layout.apply(index, 0, 0)[axis];
  if (!var)
    return {Value(), constant};
  int32_t copy = layout.coreSize(axis) - 1; // bits above come from repeats, which add
  if ((constant & copy & threadBits) == 0)
    return {var, constant};
  return {once<LLVM::XOrOp>(var, integer(constant & copy, 32)), constant & ~copy};
}

/// Whether register `index` holds an element of the true tile, whatever the axis `skip` says; null when
/// it always does.
Value Machine::validity(const LinearLayout &layout, unsigned index, std::optional<unsigned> skip) {
  Value all;
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    if (axis == skip)
      continue;
    int32_t side = layout.shape()[axis];
    int32_t farthest = layout.apply(index, 0, 0)[axis] | threadPart(layout, axis).bits;
    if (side == layout.padded(axis) || farthest < side)
      continue;
    Element at = coordinate(layout, axis, index);
    all = andOf(all, at.var ? compared(LLVM::ICmpPredicate::slt, at.var, integer(side - at.imm, 32))
                            : integer(at.imm < side, 1));
  }
  return all;
}

/// Whether this thread is the one that writes where several hold the same; null when each does.
Value Machine::ownership(const LinearLayout &layout) {
  Value all;
  for (InDim dim : {InDim::Lane, InDim::Warp}) {
    uint32_t mask = layout.ownerMask(dim);
    if (mask == 0)
      continue;
    Value bits = once<LLVM::AndOp>(dim == InDim::Lane ? lane : warp, integer(mask, 32));
    all = andOf(all, compared(LLVM::ICmpPredicate::eq, bits, integer(0, 32)));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Constants and shape operations: no code, or one coordinate
//===----------------------------------------------------------------------===//

void Machine::lowerConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  TypedAttr value = dense ? cast<TypedAttr>(dense.getSplatValue<Attribute>()) : constant.getValue();
  if (Type type = machineType(value.getType()); type != value.getType()) {
    auto number = dyn_cast<FloatAttr>(value);
    APInt code = number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(value).getValue();
    value = builder.getIntegerAttr(type, code.zext(8));
  }
  Element element;
  if (dense && value.getType().isInteger(32)) {
    element.imm = cast<IntegerAttr>(value).getValue().getSExtValue();
  } else {
    element.var = LLVM::ConstantOp::create(builder, loc, value.getType(), value);
  }
  if (!dense) {
    scalars[constant] = element.var;
    return;
  }
  tiles[constant] = Tile(layoutOf(constant).numRegisters(), element);
}

void Machine::lowerShape(Operation *op) {
  Value result = op->getResult(0);
  LinearLayout layout = layoutOf(result);
  Tile tile;
  if (auto arange = dyn_cast<ArangeOp>(op)) {
    for (int32_t i = 0; i < layout.numRegisters(); ++i) {
      Element at = coordinate(layout, 0, i);
      at.imm += int64_t(arange.getStart());
      tile.push_back(at);
    }
  } else if (auto splat = dyn_cast<SplatOp>(op)) {
    tile.assign(layout.numRegisters(), {scalar(splat.getValue()), 0});
  } else {
    // expand_dims and broadcast: the operand has the same element in one of its registers.
    Value operand = op->getOperand(0);
    LinearLayout from = layoutOf(operand);
    llvm::ArrayRef<int32_t> sides = from.shape();
    auto expand = dyn_cast<ExpandDimsOp>(op);
    std::map<std::vector<int32_t>, unsigned> registerAt;
    for (int32_t i = from.numRegisters() - 1; i >= 0; --i) {
      Coords coords = from.apply(i, 0, 0);
      registerAt[std::vector<int32_t>(coords.begin(), coords.end())] = i;
    }
    for (int32_t i = 0; i < layout.numRegisters(); ++i) {
      Coords coords = layout.apply(i, 0, 0);
      if (expand)
        coords.erase(coords.begin() + expand.getAxis());
      for (auto [axis, side] : llvm::enumerate(sides))
        if (side == 1)
          coords[axis] = 0;
      tile.push_back(tiles[operand][registerAt.at({coords.begin(), coords.end()})]);
    }
  }
  tiles[result] = std::move(tile);
}

/// A shape operation that only renames registers.
void Machine::lowerRegisterMove(Operation *op) {
  auto sources = registerMoves(op);
  Tile tile;
  for (const RegisterSource &source : *sources)
    tile.push_back(tiles[op->getOperand(source.operand)][source.reg]);
  tiles[op->getResult(0)] = std::move(tile);
}
