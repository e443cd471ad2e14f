//===- MachineShared.cpp - buffers in shared memory ---------------------------------===//

#include "backends/nvptx/Machine.h"
#include "ir/diagnostics/Diagnostics.h"
#include <map>

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// Lives in the entry block.
Value Machine::sharedBase() {
  if (!shared) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    shared = LLVM::AddressOfOp::create(builder, function.getLoc(), LLVM::LLVMPointerType::get(context, 3), kSharedName);
  }
  return shared;
}

/// Where a buffer begins, views included: a constant, and perhaps a run-time part; in bytes.
Element Machine::bufferStart(Value buffer) {
  int64_t bytes = cast<tkg::BufType>(buffer.getType()).getElementBytes();
  Element start;
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>()) {
    start.imm += int64_t(view.getOffset()) * bytes;
    if (Value index = view.getIndex()) {
      Value scaled = once<LLVM::MulOp>(scalar(index), integer(bytes, 32), kNoWrap);
      start.var = start.var ? once<LLVM::AddOp>(start.var, scaled, kNoWrap) : scaled;
    }
    buffer = view.getBuffer();
  }
  start.imm += int64_t(*buffer.getDefiningOp<tkg::AllocOp>().getOffset());
  return start;
}

/// Sums of elements: offsets are within the block's shared memory, so nothing wraps.
Element Machine::plus(Element a, const Element &b) {
  a.imm += b.imm;
  if (b.var)
    a.var = a.var ? once<LLVM::AddOp>(a.var, b.var, kNoWrap) : b.var;
  return a;
}

Element Machine::times(const Element &a, int64_t factor) {
  Element result{a.var, a.imm * factor};
  if (a.var && factor != 1)
    result.var = once<LLVM::MulOp>(a.var, integer(factor, 32), kNoWrap);
  return result;
}

Value Machine::sharedPointer(const Element &offset) {
  Value address = offset.var ? shifted(sharedBase(), offset.var) : sharedBase();
  return offset.imm ? shifted(address, integer(offset.imm, 32)) : address;
}

/// Byte offset of what register `index` of a tile in `layout` has in the buffer; without the axis
/// `skip`, if any.
Element Machine::bufferOffset(Value buffer, const LinearLayout &layout, unsigned index,
                              std::optional<unsigned> skip) {
  auto type = cast<tkg::BufType>(buffer.getType());
  Element sum = bufferStart(buffer);
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    if (axis != skip)
      sum = plus(sum, times(coordinate(layout, axis, index), type.stride(axis) * type.getElementBytes()));
  return sum;
}

Type Machine::bufferElement(Value buffer) {
  Type type = machineType(cast<tkg::BufType>(buffer.getType()).getElement());
  return type.isInteger(1) ? builder.getI8Type() : type;
}

/// Code under a condition; none means always.
void Machine::guarded(Value predicate, llvm::function_ref<void()> body) {
  if (!predicate)
    return body();
  Block *inside = newBlock({}), *after = newBlock({});
  LLVM::CondBrOp::create(builder, loc, predicate, inside, ValueRange(), after, ValueRange());
  builder.setInsertionPointToEnd(inside);
  {
    MadeScope inner(made);
    body();
  }
  LLVM::BrOp::create(builder, loc, ValueRange(), after);
  builder.setInsertionPointToEnd(after);
}

/// Elements side by side, at `pointer`, as one to four words.
void Machine::storeShared(ArrayRef<Value> elements, Value pointer, Type type) {
  SmallVector<Value> words = toWords(elements);
  bool isByte = elements.size() == 1 && !isa<LLVM::LLVMPointerType>(type) && type.getIntOrFloatBitWidth() == 8;
  if (isByte)
    words = {LLVM::TruncOp::create(builder, loc, builder.getI8Type(), words.front())};
  unsigned bytes = words.front().getType().getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(builder, loc, vectorOf(words), pointer, unsigned(bytes * words.size()));
}

void Machine::lowerBufStore(tkg::BufStoreOp op) {
  Type type = bufferElement(op.getBuffer());
  if (!isa<RankedTensorType>(op.getValue().getType())) {
    Value first = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, thread, integer(0, 32));
    Value pointer = sharedPointer(bufferStart(op.getBuffer())), value = scalar(op.getValue());
    return guarded(first, [&] { storeShared(value, pointer, type); });
  }
  if (op.getBuffer().getType().getOrder())
    return storeOrdered(op);
  LinearLayout layout = layoutOf(op.getValue());
  int64_t vector = vectorIn(op.getBuffer(), layout);
  guarded(ownership(layout), [&] {
    for (int64_t i = 0; i < layout.numRegisters(); i += vector) {
      if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
        continue;
      SmallVector<Value> elements;
      for (int64_t j = 0; j < vector; ++j)
        elements.push_back(reg(op.getValue(), i + j));
      Value pointer = sharedPointer(bufferOffset(op.getBuffer(), layout, i));
      guarded(validity(layout, i), [&] { storeShared(elements, pointer, type); });
    }
  });
}

SmallVector<Value> Machine::loadShared(Value pointer, Type type, Type memory, int64_t count) {
  int64_t bytes = isa<LLVM::LLVMPointerType>(memory) ? 8 : memory.getIntOrFloatBitWidth() / 8;
  if (count == 1) {
    Value value = LLVM::LoadOp::create(builder, loc, memory, pointer, unsigned(bytes));
    if (type.isInteger(1))
      value = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value, integer(0, 8));
    return {value};
  }
  int64_t wordBytes = std::max(bytes, std::min<int64_t>(bytes * count, 4)), words = bytes * count / wordBytes;
  Type word = builder.getIntegerType(unsigned(wordBytes * 8));
  Value all = LLVM::LoadOp::create(builder, loc, words == 1 ? word : VectorType::get({words}, word), pointer,
                                   unsigned(bytes * count));
  SmallVector<Value> list{all};
  if (words > 1) {
    list.clear();
    for (int64_t i = 0; i < words; ++i)
      list.push_back(LLVM::ExtractElementOp::create(builder, loc, all, integer(i, 32)));
  }
  return fromWords(list, type, unsigned(count));
}

/// Calls `visit` for each access of a thread to a buffer that has an order. Padding has a place there too.
void Machine::forEachOrdered(Value buffer, const LinearLayout &layout,
                             llvm::function_ref<void(ArrayRef<int32_t>, Value)> visit) {
  auto type = cast<tkg::BufType>(buffer.getType());
  LinearLayout offsets = offsetsIn(type.getOrder().getMap(), layout);
  int64_t bytes = type.getElementBytes();
  int64_t widest = isa<PtrType>(type.getElement()) ? 1 : kMaxSharedBytes / bytes;
  for (const RegisterVector &access : vectorAccesses(offsets, widest)) {
    Element offset = times(coordinate(offsets, 0, unsigned(access.front())), bytes);
    visit(access, sharedPointer(plus(bufferStart(buffer), offset)));
  }
}

void Machine::storeOrdered(tkg::BufStoreOp op) {
  LinearLayout layout = layoutOf(op.getValue());
  guarded(ownership(layout), [&] {
    forEachOrdered(op.getBuffer(), layout, [&](ArrayRef<int32_t> registers, Value pointer) {
      SmallVector<Value> elements;
      for (int32_t index : registers)
        elements.push_back(reg(op.getValue(), unsigned(index)));
      storeShared(elements, pointer, bufferElement(op.getBuffer()));
    });
  });
}

void Machine::loadOrdered(tkg::BufLoadOp op) {
  Value buffer = op.getBuffer();
  LinearLayout layout = layoutOf(op.getResult());
  LinearLayout offsets = offsetsIn(op.getBuffer().getType().getOrder().getMap(), layout);
  Type type = machineType(elementTypeOf(op.getResult().getType())), memory = bufferElement(buffer);
  std::map<int32_t, Value> valueAt;
  forEachOrdered(buffer, layout, [&](ArrayRef<int32_t> registers, Value pointer) {
    SmallVector<Value> values = loadShared(pointer, type, memory, int64_t(registers.size()));
    for (auto [index, value] : llvm::zip_equal(registers, values))
      valueAt[offsets.apply(index, 0, 0)[0]] = value;
  });
  Tile tile;
  for (int32_t index = 0; index < layout.numRegisters(); ++index)
    tile.push_back({valueAt.at(offsets.apply(index, 0, 0)[0]), 0});
  tiles[op.getResult()] = std::move(tile);
}

/// Padding is read from the buffer's first element.
Element Machine::validOffset(Value buffer, const LinearLayout &layout, unsigned index, Element offset) {
  Value valid = validity(layout, index);
  if (!valid)
    return offset;
  Element start = bufferStart(buffer);
  Value var = LLVM::SelectOp::create(builder, loc, valid, materialize(offset), materialize(start));
  return {var, 0};
}

void Machine::lowerBufLoad(tkg::BufLoadOp op) {
  Value buffer = op.getBuffer();
  Type type = machineType(elementTypeOf(op.getResult().getType())), memory = bufferElement(buffer);
  if (!isa<RankedTensorType>(op.getResult().getType())) {
    scalars[op.getResult()] = loadShared(sharedPointer(bufferStart(buffer)), type, memory, 1)[0];
    return;
  }
  if (op.getBuffer().getType().getOrder())
    return loadOrdered(op);
  LinearLayout layout = layoutOf(op.getResult());
  Tile tile;
  if (std::optional<MatrixAccess> load = matrixAccess(buffer, layout)) {
    unsigned count = unsigned(layout.numRegisters()), pack = 32 / elementBits(elementTypeOf(op.getResult().getType()));
    for (Value value : fromWords(loadMatrices(buffer, *load, 0, count / pack), type, count))
      tile.push_back({value, 0});
    tiles[op.getResult()] = std::move(tile);
    return;
  }
  int64_t vector = vectorIn(buffer, layout);
  for (int64_t i = 0; i < layout.numRegisters(); i += vector) {
    Element offset = validOffset(buffer, layout, i, bufferOffset(buffer, layout, i));
    for (Value value : loadShared(sharedPointer(offset), type, memory, vector))
      tile.push_back({value, 0});
  }
  tiles[op.getResult()] = std::move(tile);
}

/// Each element's index instead of its coordinate along the axis; outside, the buffer's first element,
/// which zero then replaces.
void Machine::lowerBufGather(tkg::BufGatherOp op) {
  Value buffer = op.getBuffer();
  auto bufferType = cast<tkg::BufType>(buffer.getType());
  unsigned axis = op.getAxis();
  LinearLayout layout = layoutOf(op.getResult());
  Type type = machineType(bufferType.getElement()), memory = bufferElement(buffer), i32 = builder.getI32Type();
  Value zero = LLVM::ZeroOp::create(builder, loc, type);
  int64_t step = bufferType.stride(axis) * bufferType.getElementBytes();
  Tile tile;
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    Value index = reg(op.getIndices(), i);
    Value inside = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, index,
                                        integer(bufferType.getShape()[axis], index.getType().getIntOrFloatBitWidth()));
    inside = andOf(inside, validity(layout, i));
    if (index.getType().isInteger(64))
      index = LLVM::TruncOp::create(builder, loc, i32, index);
    Element offset = plus(bufferOffset(buffer, layout, i, axis), times({index, 0}, step));
    Element first = bufferStart(buffer);
    Value safe = LLVM::SelectOp::create(builder, loc, inside, materialize(offset), materialize(first));
    Value value = loadShared(sharedPointer({safe, 0}), type, memory, 1)[0];
    tile.push_back({LLVM::SelectOp::create(builder, loc, inside, value, zero), 0});
  }
  tiles[op.getResult()] = std::move(tile);
}

void Machine::lowerBufCount(tkg::BufCountOp op) {
  LinearLayout layout = layoutOf(op.getValue());
  int64_t bins = cast<tkg::BufType>(op.getBuffer().getType()).getShape()[0];
  Type i32 = builder.getI32Type();
  Value owner = ownership(layout);
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
      continue;
    Value value = reg(op.getValue(), i);
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (bits < 32) {
      bool isUnsigned = op.getIsUnsigned() || bits == 1;
      value = isUnsigned ? LLVM::ZExtOp::create(builder, loc, i32, value).getResult()
                         : LLVM::SExtOp::create(builder, loc, i32, value).getResult();
      bits = 32;
    }
    Value counts = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, value, integer(bins, bits));
    counts = andOf(andOf(counts, owner), validity(layout, i));
    if (op.getMask())
      counts = andOf(counts, reg(op.getMask(), i));
    guarded(counts, [&] {
      Value bin = bits == 64 ? LLVM::TruncOp::create(builder, loc, i32, value).getResult() : value;
      Value pointer = sharedPointer(plus(bufferStart(op.getBuffer()), times({bin, 0}, 4)));
      LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add, pointer, integer(1, 32),
                                LLVM::AtomicOrdering::monotonic, "block");
    });
  }
}

/// (slot + distance) mod slots, of a slot in range.
void Machine::lowerRingSlot(tkg::RingSlotOp op) {
  auto number = [&](uint64_t value) { return integer(int64_t(value), 32); };
  uint64_t up = op.getDistance(), slots = op.getSlots();
  Value slot = scalar(op.getSlot());
  Value wraps = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::uge, slot, number(slots - up));
  Value on = LLVM::AddOp::create(builder, loc, slot, number(up)), back = LLVM::SubOp::create(builder, loc, slot, number(slots - up));
  scalars[op] = LLVM::SelectOp::create(builder, loc, wraps, back, on);
}

/// cp.async: where the mask is false no byte is read and zeros are written. The mask goes in as the predicate
/// that it is; as a number of bytes (NVVM's operation) it would be selected and compared again.
void Machine::copyAsync(Value target, Value source, int64_t bytes, Value read) {
  if (!read) {
    auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
    NVVM::CpAsyncOp::create(builder, loc, target, source, uint32_t(bytes), cache, Value());
    return;
  }
  Value ignored = LLVM::XOrOp::create(builder, loc, read, integer(1, 1));
  StringRef cache = bytes == 16 ? "cg" : "ca";
  std::string text = llvm::formatv("cp.async.{0}.shared.global [$0], [$1], {1}, $2;", cache, bytes);
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange{target, source, ignored}, text,
                            "r,l,b,~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

void Machine::lowerAsyncCopy(tkg::AsyncCopyOp op) {
  LinearLayout layout = layoutOf(op.getOffset());
  Value base = scalar(op.getBase());
  Type pointee = op.getBase().getType().getPointee();
  int64_t vector = op.getVector(), bytes = vector * op.getBuffer().getType().getElementBytes();
  guarded(ownership(layout), [&] {
    for (int64_t i = 0; i < layout.numRegisters(); i += vector) {
      if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
        continue;
      Value source = pointer(base, tiles[op.getOffset()][i], pointee);
      Value target = sharedPointer(bufferOffset(op.getBuffer(), layout, i));
      Value read = andOf(op.getWhen() ? scalar(op.getWhen()) : Value(), op.getMask() ? reg(op.getMask(), i) : Value());
      guarded(validity(layout, i), [&] { copyAsync(target, source, bytes, read); });
    }
  });
}
