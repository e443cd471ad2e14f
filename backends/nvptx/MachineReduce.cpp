//===- MachineReduce.cpp - reductions within a warp ---------------------------------===//

#include "backends/nvptx/Machine.h"
#include <algorithm>

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// left and right through the combine region; padding takes no part.
Machine::Partial Machine::combine(Region &region, const Partial &left, const Partial &right) {
  Block &body = region.front();
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

Machine::Partial Machine::partialAt(ValueRange tiles, unsigned index, Value valid) {
  Partial partial;
  for (Value tile : tiles)
    partial.values.push_back(reg(tile, index));
  partial.valid = valid;
  return partial;
}

/// Neighbours first, then pairs of pairs: depth log n, the lower index left.
Machine::Partial Machine::combineInThread(tkg::ReduceOp op, ArrayRef<unsigned> registers) {
  LinearLayout layout = layoutOf(op.getOperands().front());
  bool padded = layout.shape()[op.getAxis()] != layout.padded(op.getAxis());
  SmallVector<Partial> level;
  for (unsigned index : registers)
    level.push_back(partialAt(op.getOperands(), index, padded ? validity(layout, index) : Value()));
  while (level.size() > 1) {
    SmallVector<Partial> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(op.getCombine(), level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

/// A value as 32-bit words through `exchange`, and back.
Value Machine::exchangeWords(Value value, llvm::function_ref<Value(Value)> exchange) {
  Type type = value.getType(), i32 = builder.getI32Type();
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

Value Machine::shuffle(Value value, Value lane, NVVM::ShflKind kind) {
  return exchangeWords(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, loc, builder.getI32Type(), integer(-1, 32), word, lane,
                                integer(31, 32), kind, UnitAttr());
  });
}

/// One value from the lane whose number differs in `laneMask`.
Value Machine::shuffle(Value value, int32_t laneMask) {
  return shuffle(value, integer(laneMask, 32), NVVM::ShflKind::bfly);
}

Machine::Partial Machine::shuffle(const Partial &partial, Value lane) {
  Partial result;
  for (Value value : partial.values)
    result.values.push_back(shuffle(value, lane, NVVM::ShflKind::idx));
  if (partial.valid)
    result.valid = shuffle(partial.valid, lane, NVVM::ShflKind::idx);
  return result;
}

/// Whether both sides of a combine give the same bits when they change places.
static bool commutes(tkg::ReduceOp op) {
  if (op.getOrder() == ReduceOrder::any)
    return true;
  Block &body = op.getCombine().front();
  unsigned count = op.getNumResults();
  return llvm::all_of(llvm::enumerate(body.getTerminator()->getOperands()), [&](auto yielded) {
    Operation *of = yielded.value().getDefiningOp();
    Value left = body.getArgument(yielded.index()), right = body.getArgument(count + yielded.index());
    return isa_and_nonnull<arith::AddFOp, arith::MulFOp>(of) && of->getOperands() == ValueRange({left, right});
  });
}

/// Exchanges along the lane bits of the axis, the nearest elements first. Where the combine is
/// commutative to the last bit, both lanes of a pair get the same; else the lane with the higher
/// index puts itself on the right.
Machine::Partial Machine::combineLanes(tkg::ReduceOp op, Partial partial) {
  LinearLayout layout = layoutOf(op.getOperands().front());
  SmallVector<std::pair<int32_t, unsigned>> steps;
  for (unsigned bit = 0; bit < layout.numBits(InDim::Lane); ++bit)
    if (int32_t step = layout.basis(InDim::Lane, bit)[op.getAxis()])
      steps.push_back({step, bit});
  llvm::sort(steps);
  bool eitherSide = commutes(op);
  for (auto [step, bit] : steps) {
    Partial other;
    for (Value value : partial.values)
      other.values.push_back(shuffle(value, 1 << bit));
    if (partial.valid)
      other.valid = shuffle(partial.valid, 1 << bit);
    if (eitherSide && !partial.valid) {
      partial = combine(op.getCombine(), partial, other);
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
    partial = combine(op.getCombine(), left, right);
  }
  return partial;
}

/// Registers of the operand in groups that differ along the axis only, each in the axis's order.
Machine::RegisterGroups Machine::groupRegisters(const LinearLayout &layout, unsigned axis) {
  std::map<std::vector<int32_t>, std::map<int32_t, unsigned>> sorted;
  for (int32_t i = layout.numRegisters() - 1; i >= 0; --i) {
    Coords coords = layout.apply(i, 0, 0);
    int32_t along = coords[axis];
    coords.erase(coords.begin() + axis);
    sorted[std::vector<int32_t>(coords.begin(), coords.end())][along] = i;
  }
  RegisterGroups groups;
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
