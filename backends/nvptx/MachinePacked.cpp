//===- MachinePacked.cpp - elements of 4 bits, two a byte ----------------------------===//
//
// The offsets of such an access count elements; the base is an address of bytes. In registers an
// element is the low half of a byte. A thread that has both halves of a byte writes it at once;
// else it changes its half in one step, so that the neighbour's is not lost.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// The byte that holds element `offset`.
Value Machine::packedPointer(Value base, const Element &offset) {
  Value index = materialize(offset);
  Value byte = LLVM::AShrOp::create(builder, loc, index, integer(1, index.getType().getIntOrFloatBitWidth()));
  return pointer(base, {byte, 0}, builder.getI8Type());
}

/// The half of a byte at an element's offset.
Value Machine::nibbleOf(Value byte, Value index) {
  Type i8 = builder.getI8Type();
  Value odd = index.getType().isInteger(8) ? index : LLVM::TruncOp::create(builder, loc, i8, index).getResult();
  odd = LLVM::AndOp::create(builder, loc, odd, integer(1, 8));
  Value amount = LLVM::ShlOp::create(builder, loc, odd, integer(2, 8));
  Value moved = LLVM::LShrOp::create(builder, loc, byte, amount);
  return LLVM::AndOp::create(builder, loc, moved, integer(15, 8));
}

void Machine::lowerPackedLoad(tkg::LoadOp op) {
  LinearLayout layout = layoutOf(op.getResult());
  Type i8 = builder.getI8Type();
  Value base = scalar(op.getBase());
  Value fill = op.getFill() ? scalar(op.getFill()) : integer(0, 8);
  AccessKind kind{op.getReadonly(), false, op.getCacheAttr(), op.getEvictAttr()};
  int64_t vector = op.getVector();
  Value low = LLVM::AndOp::create(builder, loc, fill, integer(15, 8));
  Value both = LLVM::OrOp::create(builder, loc, low,
                                  LLVM::ShlOp::create(builder, loc, low, integer(4, 8)));
  Tile result(layout.numRegisters());
  for (int64_t first = 0; first < layout.numRegisters(); first += vector) {
    Value predicate = op.getMask() ? reg(op.getMask(), first) : Value();
    predicate = andOf(predicate, validity(layout, first));
    const Element &offset = tiles[op.getOffset()][first];
    unsigned bytes = std::max<int64_t>(vector / 2, 1);
    SmallVector<Value> loaded =
        loadElements(packedPointer(base, offset), predicate, both, i8, bytes, kind);
    for (int64_t i = 0; i < vector; ++i) {
      Value index = vector > 1 ? integer(i & 1, 8) : materialize(offset);
      result[first + i] = {nibbleOf(loaded[i / 2], index), 0};
    }
  }
  tiles[op.getResult()] = std::move(result);
}

void Machine::lowerPackedStore(tkg::StoreOp op) {
  LinearLayout layout = layoutOf(op.getValue());
  Value base = scalar(op.getBase()), owner = ownership(layout);
  int64_t vector = op.getVector();
  auto half = [&](unsigned index) -> Value {
    return LLVM::AndOp::create(builder, loc, reg(op.getValue(), index), integer(15, 8));
  };
  AtomicAccess access{op, {}, {}, MemOrder::relaxed, MemScope::gpu, builder.getI16Type(), true};
  for (int64_t first = 0; first < layout.numRegisters(); first += vector) {
    if (first % layout.numCoreElements() & layout.ownerMask(InDim::Register))
      continue;
    Value predicate = op.getMask() ? reg(op.getMask(), first) : Value();
    predicate = andOf(andOf(predicate, validity(layout, first)), owner);
    const Element &offset = tiles[op.getOffset()][first];
    if (vector > 1) {
      SmallVector<Value> bytes;
      for (int64_t i = 0; i < vector; i += 2) {
        Value high = LLVM::ShlOp::create(builder, loc, half(first + i + 1), integer(4, 8));
        bytes.push_back(LLVM::OrOp::create(builder, loc, half(first + i), high));
      }
      storeElements(packedPointer(base, offset), predicate, bytes,
                    {false, false, op.getCacheAttr(), op.getEvictAttr()});
      continue;
    }
    // Two bytes are the least that can be compared and swapped.
    Type i16 = builder.getI16Type(), i64 = builder.getI64Type();
    Value byte = packedPointer(base, offset), index = materialize(offset);
    Value bits = LLVM::PtrToIntOp::create(builder, loc, i64, byte);
    Value upper = LLVM::AndOp::create(builder, loc, bits, integer(1, 64));
    Value pair = LLVM::GEPOp::create(builder, loc, byte.getType(), builder.getI8Type(), byte,
                                     ArrayRef<LLVM::GEPArg>{LLVM::SubOp::create(
                                         builder, loc, integer(0, 64), upper).getResult()});
    Value odd = LLVM::TruncOp::create(builder, loc, i16, index);
    odd = LLVM::AndOp::create(builder, loc, odd, integer(1, 16));
    Value shift = LLVM::ShlOp::create(builder, loc, LLVM::TruncOp::create(builder, loc, i16, upper),
                                      integer(3, 16));
    shift = LLVM::OrOp::create(builder, loc, shift, LLVM::ShlOp::create(builder, loc, odd, integer(2, 16)));
    Value value = LLVM::ShlOp::create(builder, loc, LLVM::ZExtOp::create(builder, loc, i16, half(first)), shift);
    Value hole = LLVM::ShlOp::create(builder, loc, integer(15, 16), shift);
    hole = LLVM::XOrOp::create(builder, loc, hole, integer(-1, 16));
    replaced(pair, predicate, i16, access, [&](Value old) -> Value {
      return LLVM::OrOp::create(builder, loc, LLVM::AndOp::create(builder, loc, old, hole), value);
    });
  }
}
