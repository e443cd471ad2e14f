//===- MachineMemory.cpp - loads and stores of global memory -----------------------===//
//
// One access of a thread is one to four words. Under a mask it is a predicated instruction
// (tkg.ptx.load, tkg.ptx.store), never a branch; without one a plain LLVM load or store.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "passes/analysis/Scalars.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// base + offset * bytes.
Value Machine::moved(Value base, Value offset, int64_t bytes) {
  if (!offset)
    return base;
  if (offset.getType().isInteger(32))
    offset = once<LLVM::SExtOp>(builder.getI64Type(), offset);
  return shifted(base, once<LLVM::MulOp>(offset, integer(bytes, 64)));
}

/// base + offset, the variable part first, so that the registers of a tile share it.
Value Machine::pointer(Value base, const Element &offset, Type pointee) {
  int64_t bytes = elementBits(pointee) / 8;
  Value address = moved(moved(base, offset.var, bytes), offset.uniform, bytes);
  if (offset.imm == 0)
    return address;
  return shifted(address, integer(offset.imm * bytes, 64));
}

/// Words at `pointer`, all of type `word`.
SmallVector<Value> Machine::loadWords(Value pointer, Value predicate, ArrayRef<Value> fills,
                                      AccessKind kind, bool byte, Type word) {
  if (predicate || !kind.isPlain()) {
    auto load = tkg::PtxLoadOp::create(builder, loc, SmallVector<Type>(fills.size(), word), pointer,
                                       predicate, fills, kind.readonly && !kind.isVolatile, byte,
                                       kind.isVolatile, kind.cache, kind.evict);
    return SmallVector<Value>(load.getResults());
  }
  Type memory = byte ? builder.getI8Type() : word;
  unsigned align = memory.getIntOrFloatBitWidth() / 8 * fills.size();
  Type type = fills.size() == 1 ? memory : VectorType::get({int64_t(fills.size())}, memory);
  auto load = LLVM::LoadOp::create(builder, loc, type, pointer, align, /*isVolatile=*/false,
                                   /*isNonTemporal=*/false, /*isInvariant=*/kind.readonly);
  if (byte)
    return {LLVM::ZExtOp::create(builder, loc, word, load)};
  if (fills.size() == 1)
    return {load.getResult()};
  SmallVector<Value> words;
  for (unsigned i = 0; i < fills.size(); ++i)
    words.push_back(LLVM::ExtractElementOp::create(builder, loc, load, integer(i, 32)));
  return words;
}

Value Machine::zeroOf(Type type) {
  if (isa<FloatType>(type))
    return floating(0.0, type);
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::ZeroOp::create(builder, loc, type);
  return integer(0, type.getIntOrFloatBitWidth());
}

SmallVector<Value> Machine::loadElements(Value pointer, Value predicate, Value fill, Type type,
                                         unsigned count, AccessKind kind) {
  auto [word, number] = wordsFor(type, count);
  SmallVector<Value> fills = fill ? toWords(SmallVector<Value>(count, fill)) : SmallVector<Value>(number, zeroOf(word));
  bool byte = count * bytesOf(type) == 1;
  return fromWords(loadWords(pointer, predicate, fills, kind, byte, word), type, count);
}

void Machine::storeElements(Value pointer, Value predicate, ArrayRef<Value> elements,
                            AccessKind kind) {
  SmallVector<Value> words = toWords(elements);
  bool byte = elements.size() * bytesOf(elements.front().getType()) == 1;
  if (predicate || !kind.isPlain()) {
    tkg::PtxStoreOp::create(builder, loc, pointer, predicate, words, byte, kind.cache, kind.evict);
    return;
  }
  if (byte)
    words = {LLVM::TruncOp::create(builder, loc, builder.getI8Type(), words.front())};
  unsigned align = words.front().getType().getIntOrFloatBitWidth() / 8 * words.size();
  LLVM::StoreOp::create(builder, loc, vectorOf(words), pointer, align);
}

namespace {
/// A 64-bit offset of rows at a stride: (lane + number) x stride + rest. Lane and rest may be null.
struct RowOffset {
  int64_t number;
  Value stride, lane, rest;

  /// What rows have in common that differ in their number.
  auto family() const {
    return std::tuple(stride.getAsOpaquePointer(), lane.getAsOpaquePointer(), rest.getAsOpaquePointer());
  }
};
} // namespace

static std::optional<RowOffset> rowOffset(const Element &offset) {
  if (!offset.var || !offset.var.getType().isInteger(64) || offset.imm || offset.uniform)
    return std::nullopt;
  RowOffset row{0, {}, {}, {}};
  auto product = offset.var.getDefiningOp<LLVM::MulOp>();
  if (auto sum = offset.var.getDefiningOp<LLVM::AddOp>()) {
    product = sum.getLhs().getDefiningOp<LLVM::MulOp>();
    row.rest = sum.getRhs();
  }
  if (!product)
    return std::nullopt;
  row.stride = product.getRhs();
  Value place = product.getLhs(); // as extendRange makes it
  APInt number;
  if (auto sum = place.getDefiningOp<LLVM::AddOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&number)))
    row.lane = sum.getLhs();
  else if (!matchPattern(place, m_ConstantInt(&number)))
    row.lane = place, number = APInt(64, 0);
  row.number = number.getSExtValue();
  return row;
}

/// An address made from another, which LLVM does not see into: from the same base it would make a product for each row,
/// which does not depend on the iteration of a loop and keeps two registers of its own all through it.
static Value stepOn(OpBuilder &builder, Location loc, Value address, Value distance) {
  return LLVM::InlineAsmOp::create(builder, loc, address.getType(), ValueRange{address, distance}, "add.s64 $0, $1, $2;",
                                   "=l,l,l", /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

static bool isPacked(Type tile) { return elementBits(tile) < 8; }

void Machine::lowerLoad(tkg::LoadOp op) {
  if (isPacked(op.getResult().getType()))
    return lowerPackedLoad(op);
  LinearLayout layout = layoutOf(op.getResult());
  Type type = machineType(elementTypeOf(op.getResult().getType()));
  Value base = scalar(op.getBase()), fill = op.getFill() ? scalar(op.getFill()) : Value();
  int64_t vector = op.getVector();
  AccessKind kind{op.getReadonly(), false, op.getCacheAttr(), op.getEvictAttr()};
  Type pointee = op.getBase().getType().getPointee();
  int64_t bytes = elementBits(pointee) / 8;
  std::map<std::tuple<const void *, const void *, const void *>, std::pair<int64_t, Value>> rows; // the last of each family
  Tile result(layout.numRegisters());
  for (int64_t first = 0; first < layout.numRegisters(); first += vector) {
    Value predicate = op.getMask() ? reg(op.getMask(), first) : Value();
    predicate = andOf(predicate, validity(layout, first));
    const Element &offset = tiles[op.getOffset()][first];
    Value address;
    std::optional<RowOffset> row = rowOffset(offset);
    auto before = row ? rows.find(row->family()) : rows.end();
    if (before != rows.end())
      address = stepOn(builder, loc, before->second.second,
                       once<LLVM::MulOp>(row->stride, integer((row->number - before->second.first) * bytes, 64)));
    else
      address = pointer(base, offset, pointee);
    if (row)
      rows[row->family()] = {row->number, address};
    SmallVector<Value> elements = loadElements(address, predicate, fill, type, vector, kind);
    for (int64_t i = 0; i < vector; ++i)
      result[first + i] = {elements[i], 0};
  }
  tiles[op.getResult()] = std::move(result);
}

void Machine::lowerStore(tkg::StoreOp op) {
  if (isPacked(op.getValue().getType()))
    return lowerPackedStore(op);
  Value base = scalar(op.getBase());
  int64_t vector = op.getVector();
  forEachOwned(op.getValue(), op.getMask(), vector, [&](unsigned first, Value predicate) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vector; ++i)
      elements.push_back(reg(op.getValue(), first + i));
    storeElements(pointer(base, tiles[op.getOffset()][first], op.getBase().getType().getPointee()),
                  predicate, elements, {false, false, op.getCacheAttr(), op.getEvictAttr()});
  });
}

/// Whether nothing writes what a pointer leads to while the kernel runs.
bool Machine::isReadonly(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<PtrAddOp, SplatOp, BroadcastOp, ExpandDimsOp, BaseOp>(op))
      return false;
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  return argument.getOwner()->getParentOp() == kernel &&
         isNeverWritten(kernel, argument.getArgNumber());
}

Value Machine::firstThread() {
  return compared(LLVM::ICmpPredicate::eq, thread, integer(0, 32));
}

/// Through a scalar pointer, or a tile of pointers that has no common base.
LogicalResult Machine::lowerPointerLoad(LoadOp op) {
  Type type = machineType(elementTypeOf(op.getType()));
  Value fill = op.getFill() ? scalar(op.getFill()) : Value();
  AccessKind kind{isReadonly(op.getPointer()), op.getIsVolatile(), op.getCacheAttr(),
                  op.getEvictAttr()};
  if (!isa<RankedTensorType>(op.getType())) {
    Value predicate = op.getMask() ? scalar(op.getMask()) : Value();
    if (kind.isVolatile)
      predicate = andOf(predicate, firstThread());
    scalars[op] = loadElements(scalar(op.getPointer()), predicate, fill, type, 1, kind)[0];
    return success();
  }
  LinearLayout layout = layoutOf(op);
  Value owner = kind.isVolatile ? ownership(layout) : Value(); // one access an element
  uint32_t duplicates = kind.isVolatile ? layout.ownerMask(InDim::Register) : 0;
  Tile result(layout.numRegisters());
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    if (i % layout.numCoreElements() & duplicates)
      continue;
    Value predicate = op.getMask() ? reg(op.getMask(), i) : Value();
    predicate = andOf(andOf(predicate, validity(layout, i)), owner);
    result[i] = {loadElements(reg(op.getPointer(), i), predicate, fill, type, 1, kind)[0], 0};
  }
  if (kind.isVolatile)
    shareResult(op, std::move(result));
  else
    tiles[op] = std::move(result);
  return success();
}

/// Each element of a tile once, `vector` at a time: the register that holds the first, and where this is to be done (null:
/// always), which is in one thread, where the mask holds, and not for padding.
void Machine::forEachOwned(Value tile, Value mask, int64_t vector, llvm::function_ref<void(unsigned, Value)> visit) {
  LinearLayout layout = layoutOf(tile);
  Value owner = ownership(layout);
  uint32_t duplicates = layout.ownerMask(InDim::Register);
  for (int64_t first = 0; first < layout.numRegisters(); first += vector) {
    if (first % layout.numCoreElements() & duplicates)
      continue;
    Value predicate = mask ? reg(mask, first) : Value();
    visit(unsigned(first), andOf(andOf(predicate, validity(layout, first)), owner));
  }
}

LogicalResult Machine::lowerPointerStore(StoreOp op) {
  AccessKind kind{false, false, op.getCacheAttr(), op.getEvictAttr()};
  if (!isa<RankedTensorType>(op.getValue().getType())) {
    Value predicate = andOf(op.getMask() ? scalar(op.getMask()) : Value(), firstThread());
    storeElements(scalar(op.getPointer()), predicate, scalar(op.getValue()), kind);
    return success();
  }
  forEachOwned(op.getValue(), op.getMask(), 1, [&](unsigned i, Value predicate) {
    storeElements(reg(op.getPointer(), i), predicate, reg(op.getValue(), i), kind);
  });
  return success();
}

/// A range as i64: its constants are added after the lane's part is extended, so that LLVM sees no
/// extended sum and the registers of a tile differ in a constant. True when `op` is such.
bool Machine::extendRange(Operation *op) {
  Type i64 = builder.getI64Type();
  if (!isRange(op->getOperand(0)) || elementTypeOf(op->getResult(0).getType()) != i64)
    return false;
  llvm::DenseMap<Value, Value> lanes;
  std::map<std::pair<void *, int64_t>, Value> sums;
  Tile result;
  for (const Element &element : tiles[op->getOperand(0)]) {
    if (!element.var) {
      result.push_back({integer(element.imm, 64), 0});
      continue;
    }
    Value &wide = lanes[element.var];
    if (!wide)
      wide = LLVM::SExtOp::create(builder, loc, i64, element.var);
    Value &sum = sums[{element.var.getAsOpaquePointer(), element.imm}];
    if (!sum)
      sum = element.imm == 0 ? wide
                             : LLVM::AddOp::create(builder, loc, wide, integer(element.imm, 64),
                                                   LLVM::IntegerOverflowFlags::nsw)
                                   .getResult();
    result.push_back({sum, 0});
  }
  tiles[op->getResult(0)] = std::move(result);
  return true;
}

void Machine::lowerPtrAdd(PtrAddOp op) {
  Type pointee = cast<PtrType>(elementTypeOf(op.getType())).getPointee();
  if (!isa<RankedTensorType>(op.getType())) {
    scalars[op] = pointer(scalar(op.getPointer()), {scalar(op.getOffset()), 0}, pointee);
    return;
  }
  // Here the sum may wrap, as the language says, so it is made before it is extended.
  Tile result;
  for (int32_t i = 0; i < layoutOf(op).numRegisters(); ++i)
    result.push_back({pointer(reg(op.getPointer(), i), {reg(op.getOffset(), i), 0}, pointee), 0});
  tiles[op] = std::move(result);
}

void Machine::lowerPrefetch(PrefetchOp op) {
  if (!isa<RankedTensorType>(op.getPointer().getType())) {
    Value predicate = andOf(op.getMask() ? scalar(op.getMask()) : Value(), firstThread());
    tkg::PtxPrefetchOp::create(builder, loc, scalar(op.getPointer()), predicate, op.getEvictAttr());
    return;
  }
  forEachOwned(op.getPointer(), op.getMask(), 1, [&](unsigned i, Value predicate) {
    tkg::PtxPrefetchOp::create(builder, loc, reg(op.getPointer(), i), predicate, op.getEvictAttr());
  });
}
