//===- MachineShared.cpp - reductions, shared buffers, barriers -------------------===//

#include "backends/nvptx/Machine.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <algorithm>

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

//===----------------------------------------------------------------------===//
// Reductions within a warp
//===----------------------------------------------------------------------===//

/// left and right through the combine region; padding takes no part.
Machine::Partial Machine::combine(tkg::ReduceOp op, const Partial &left, const Partial &right) {
  Block &body = op.getCombine().front();
  unsigned count = left.values.size();
  for (unsigned i = 0; i < count; ++i) {
    scalars[body.getArgument(i)] = left.values[i];
    scalars[body.getArgument(count + i)] = right.values[i];
  }
  for (Operation &inner : body.without_terminator())
    if (failed(lowerOp(&inner)))
      return left;
  Partial result;
  for (Value yielded : body.getTerminator()->getOperands())
    result.values.push_back(scalar(yielded));
  for (unsigned i = 0; i < count; ++i) {
    if (right.valid)
      result.values[i] = LLVM::SelectOp::create(builder, loc, right.valid, result.values[i], left.values[i]);
    if (left.valid)
      result.values[i] = LLVM::SelectOp::create(builder, loc, left.valid, result.values[i], right.values[i]);
  }
  if (left.valid && right.valid)
    result.valid = LLVM::OrOp::create(builder, loc, left.valid, right.valid);
  return result;
}

/// Neighbours first, then pairs of pairs: depth log n, the lower index left.
Machine::Partial Machine::combineInThread(tkg::ReduceOp op, ArrayRef<unsigned> registers) {
  LinearLayout layout = layoutOf(op.getOperands().front());
  bool padded = layout.shape()[op.getAxis()] != layout.padded(op.getAxis());
  SmallVector<Partial> level;
  for (unsigned index : registers) {
    Partial partial;
    for (Value operand : op.getOperands())
      partial.values.push_back(reg(operand, index));
    if (padded)
      partial.valid = validity(layout, index);
    level.push_back(std::move(partial));
  }
  while (level.size() > 1) {
    SmallVector<Partial> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(op, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

/// One value from the lane whose number differs in `laneMask`.
Value Machine::shuffle(Value value, int32_t laneMask) {
  Type type = value.getType(), i32 = builder.getI32Type();
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, loc, i32, integer(-1, 32), word, integer(laneMask, 32),
                                integer(31, 32), NVVM::ShflKind::bfly, UnitAttr());
  };
  unsigned bits = isa<LLVM::LLVMPointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
  Type plainType = builder.getIntegerType(bits);
  if (isa<LLVM::LLVMPointerType>(type))
    value = LLVM::PtrToIntOp::create(builder, loc, plainType, value);
  else if (isa<FloatType>(type))
    value = LLVM::BitcastOp::create(builder, loc, plainType, value);
  if (bits < 32) {
    value = exchange(LLVM::ZExtOp::create(builder, loc, i32, value));
    value = LLVM::TruncOp::create(builder, loc, plainType, value);
  } else if (bits == 32) {
    value = exchange(value);
  } else {
    auto pair = VectorType::get({2}, i32);
    Value words = LLVM::BitcastOp::create(builder, loc, pair, value);
    Value result = LLVM::PoisonOp::create(builder, loc, pair);
    for (int i = 0; i < 2; ++i) {
      Value word = LLVM::ExtractElementOp::create(builder, loc, words, integer(i, 32));
      result = LLVM::InsertElementOp::create(builder, loc, result, exchange(word), integer(i, 32));
    }
    value = LLVM::BitcastOp::create(builder, loc, plainType, result);
  }
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(builder, loc, type, value);
  return isa<FloatType>(type) ? LLVM::BitcastOp::create(builder, loc, type, value).getResult() : value;
}

/// Exchanges along the lane bits of the axis, the nearest elements first. Under `order any` the
/// combine is commutative to the last bit, so both lanes of a pair get the same; else the lane
/// with the higher index puts itself on the right.
Machine::Partial Machine::combineLanes(tkg::ReduceOp op, Partial partial) {
  LinearLayout layout = layoutOf(op.getOperands().front());
  SmallVector<std::pair<int32_t, unsigned>> steps;
  for (unsigned bit = 0; bit < layout.numBits(InDim::Lane); ++bit)
    if (int32_t step = layout.basis(InDim::Lane, bit)[op.getAxis()])
      steps.push_back({step, bit});
  llvm::sort(steps);
  for (auto [step, bit] : steps) {
    Partial other;
    for (Value value : partial.values)
      other.values.push_back(shuffle(value, 1 << bit));
    if (partial.valid)
      other.valid = shuffle(partial.valid, 1 << bit);
    if (op.getOrder() == ReduceOrder::any && !partial.valid) {
      partial = combine(op, partial, other);
      continue;
    }
    Value upper = LLVM::AndOp::create(builder, loc, lane, integer(1 << bit, 32));
    upper = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, upper, integer(0, 32));
    auto pick = [&](Value a, Value b) -> Value {
      return a ? LLVM::SelectOp::create(builder, loc, upper, a, b).getResult() : Value();
    };
    Partial left, right;
    for (auto [mine, others] : llvm::zip(partial.values, other.values)) {
      left.values.push_back(pick(others, mine));
      right.values.push_back(pick(mine, others));
    }
    left.valid = pick(other.valid, partial.valid);
    right.valid = pick(partial.valid, other.valid);
    partial = combine(op, left, right);
  }
  return partial;
}

/// Registers of the operand in groups that differ along the axis only, each in the axis's order.
static std::map<std::vector<int32_t>, SmallVector<unsigned>> groupRegisters(const LinearLayout &layout,
                                                                            unsigned axis) {
  std::map<std::vector<int32_t>, std::map<int32_t, unsigned>> sorted;
  for (int32_t i = layout.numRegisters() - 1; i >= 0; --i) {
    Coords coords = layout.apply(i, 0, 0);
    int32_t along = coords[axis];
    coords.erase(coords.begin() + axis);
    sorted[std::vector<int32_t>(coords.begin(), coords.end())][along] = i;
  }
  std::map<std::vector<int32_t>, SmallVector<unsigned>> groups;
  for (auto &[key, members] : sorted)
    for (auto [along, index] : members)
      groups[key].push_back(index);
  return groups;
}

void Machine::lowerReduce(tkg::ReduceOp op) {
  LinearLayout layout = layoutOf(op.getOperands().front());
  unsigned axis = op.getAxis();
  std::map<std::vector<int32_t>, Partial> partials;
  for (auto &[key, registers] : groupRegisters(layout, axis))
    partials[key] = combineLanes(op, combineInThread(op, registers));
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    if (!isa<RankedTensorType>(result.getType())) {
      scalars[result] = partials.begin()->second.values[number];
      continue;
    }
    LinearLayout to = layoutOf(result);
    Tile tile;
    for (int32_t i = 0; i < to.numRegisters(); ++i) {
      Coords coords = to.apply(i, 0, 0);
      if (to.rank() == layout.rank())
        coords.erase(coords.begin() + axis);
      tile.push_back({partials.at({coords.begin(), coords.end()}).values[number], 0});
    }
    tiles[result] = std::move(tile);
  }
}

//===----------------------------------------------------------------------===//
// Shared buffers
//===----------------------------------------------------------------------===//

Value Machine::sharedBase() {
  auto type = LLVM::LLVMPointerType::get(context, 3);
  return LLVM::AddressOfOp::create(builder, loc, type, kSharedName);
}

/// Row-major, from the coordinates; padding points at the first element.
Value Machine::bufferPointer(Value buffer, const LinearLayout &layout, unsigned index) {
  auto alloc = buffer.getDefiningOp<tkg::AllocOp>();
  auto type = alloc.getResult().getType();
  int64_t bytes = elementBits(type.getElement()) / 8, pitch = bytes;
  Value sum;
  int64_t constant = *alloc.getOffset();
  for (int axis = int(layout.rank()) - 1; axis >= 0; --axis) {
    Element at = coordinate(layout, axis, index);
    constant += at.imm * pitch;
    if (at.var) {
      // Offsets are within the block's shared memory: nothing wraps.
      Value term = LLVM::MulOp::create(builder, loc, at.var, integer(pitch, 32),
                                       LLVM::IntegerOverflowFlags::nsw);
      sum = sum ? LLVM::AddOp::create(builder, loc, sum, term, LLVM::IntegerOverflowFlags::nsw)
                      .getResult()
                : term;
    }
    pitch *= type.getShape()[axis];
  }
  Value offset = sum ? LLVM::AddOp::create(builder, loc, sum, integer(constant, 32),
                                           LLVM::IntegerOverflowFlags::nsw)
                           .getResult()
                     : integer(constant, 32);
  if (Value valid = validity(layout, index))
    offset = LLVM::SelectOp::create(builder, loc, valid, offset, integer(*alloc.getOffset(), 32));
  return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(context, 3), builder.getI8Type(),
                             sharedBase(), ArrayRef<LLVM::GEPArg>{offset});
}

void Machine::lowerBufStore(tkg::BufStoreOp op) {
  LinearLayout layout = layoutOf(op.getValue());
  Value owner = ownership(layout);
  Type i8 = builder.getI8Type();
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
      continue;
    Value predicate = andOf(owner, validity(layout, i));
    Value value = reg(op.getValue(), i);
    if (value.getType().isInteger(1))
      value = LLVM::ZExtOp::create(builder, loc, i8, value);
    Value address = bufferPointer(op.getBuffer(), layout, i);
    if (!predicate) {
      LLVM::StoreOp::create(builder, loc, value, address);
      continue;
    }
    Block *store = newBlock({}), *after = newBlock({});
    LLVM::CondBrOp::create(builder, loc, predicate, store, ValueRange(), after, ValueRange());
    builder.setInsertionPointToEnd(store);
    LLVM::StoreOp::create(builder, loc, value, address);
    LLVM::BrOp::create(builder, loc, ValueRange(), after);
    builder.setInsertionPointToEnd(after);
  }
}

void Machine::lowerBufLoad(tkg::BufLoadOp op) {
  LinearLayout layout = layoutOf(op.getResult());
  Type type = machineType(elementTypeOf(op.getResult().getType()));
  unsigned axis = layout.rank() - 1;
  int64_t bytes = elementBits(op.getResult().getType()) / 8;
  // A vector must not cross a row whose pitch does not keep it aligned.
  int64_t side = op.getBuffer().getType().getShape().back();
  int64_t vector = std::min<int64_t>({layout.contiguousPerThread(axis), 16 / bytes, side & -side});
  vector = std::max<int64_t>(vector, 1);
  Tile tile;
  for (int32_t i = 0; i < layout.numRegisters(); i += vector) {
    Value address = bufferPointer(op.getBuffer(), layout, i);
    Type memory = type.isInteger(1) ? builder.getI8Type() : type;
    Type loaded = vector == 1 ? memory : VectorType::get({vector}, memory);
    Value all = LLVM::LoadOp::create(builder, loc, loaded, address, unsigned(vector * bytes));
    for (int64_t j = 0; j < vector; ++j) {
      Value value = vector == 1 ? all : LLVM::ExtractElementOp::create(builder, loc, all, integer(j, 32)).getResult();
      if (type.isInteger(1))
        value = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, value, integer(0, 8));
      tile.push_back({value, 0});
    }
  }
  tiles[op.getResult()] = std::move(tile);
}

/// Only renaming is left: each thread has what it needs in some register.
void Machine::lowerConvert(tkg::ConvertOp op) {
  LayoutConversion map =
      llvm::cantFail(LayoutConversion::create(layoutOf(op.getValue()), layoutOf(op.getResult())));
  Tile tile;
  for (int32_t i = 0; i < layoutOf(op.getResult()).numRegisters(); ++i) {
    std::optional<Index> source = map.sourceOf(Index{i, 0, 0, 0, 0});
    tile.push_back(tiles[op.getValue()][source ? source->reg : 0]);
  }
  tiles[op.getResult()] = std::move(tile);
}
