//===- MachineShuffle.cpp - tiles in other layouts, within threads and warps --------===//

#include "backends/nvptx/Machine.h"
#include "ir/layout/ShufflePlan.h"
#include "llvm/ADT/bit.h"
#include <map>

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

void Machine::lowerConvert(tkg::ConvertOp op) {
  LayoutConversion map =
      llvm::cantFail(LayoutConversion::create(layoutOf(op.getValue()), layoutOf(op.getResult())));
  if (op.getHow() == "shuffle")
    return lowerShuffles(op, map);
  Tile tile;
  for (int32_t i = 0; i < layoutOf(op.getResult()).numRegisters(); ++i) {
    std::optional<Index> source = map.sourceOf(Index{i, 0, 0, 0, 0});
    tile.push_back(tiles[op.getValue()][source ? source->reg : 0]);
  }
  tiles[op.getResult()] = std::move(tile);
}

/// Whether an odd number of the masked bits of this thread's lane and warp is set.
Value Machine::parity(const ThreadParity &when) {
  Value bits = LLVM::AndOp::create(builder, loc, lane, integer(when.lanes, 32));
  if (when.warps) {
    // The lane's bits stay clear of the warp's.
    Value shifted = LLVM::ShlOp::create(builder, loc, warp, integer(8, 32));
    shifted = LLVM::AndOp::create(builder, loc, shifted, integer(int64_t(when.warps) << 8, 32));
    bits = LLVM::OrOp::create(builder, loc, bits, shifted);
  }
  if (llvm::popcount(uint32_t(when.lanes)) + llvm::popcount(uint32_t(when.warps)) > 1) {
    bits = LLVM::CtPopOp::create(builder, loc, builder.getI32Type(), bits);
    bits = LLVM::AndOp::create(builder, loc, bits, integer(1, 32));
  }
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, bits, integer(0, 32));
}

/// The lane whose bits are these parities: bits that move equally far move together.
Value Machine::laneOf(ArrayRef<ThreadParity> bits) {
  std::map<std::pair<bool, int>, int32_t> masks; // of the warp or the lane, by distance
  for (auto [to, parity] : llvm::enumerate(bits))
    for (bool ofWarp : {false, true})
      for (int32_t left = ofWarp ? parity.warps : parity.lanes; left; left &= left - 1) {
        int from = llvm::countr_zero(uint32_t(left));
        masks[{ofWarp, int(to) - from}] |= 1 << from;
      }
  Value sum = integer(0, 32);
  for (auto [key, mask] : masks) {
    auto [ofWarp, distance] = key;
    Value term = LLVM::AndOp::create(builder, loc, ofWarp ? warp : lane, integer(mask, 32));
    if (distance > 0)
      term = LLVM::ShlOp::create(builder, loc, term, integer(distance, 32));
    if (distance < 0)
      term = LLVM::LShrOp::create(builder, loc, term, integer(-distance, 32));
    sum = LLVM::XOrOp::create(builder, loc, sum, term);
  }
  return sum;
}

/// The words that a plan makes of one core's registers, from register `first` of the tile on.
SmallVector<Value> Machine::runPlan(const ShufflePlan &plan, Value tile, int32_t first, Value from) {
  SmallVector<Value> words;
  for (ArrayRef<int32_t> registers : plan.inputs()) {
    SmallVector<Value> elements;
    for (int32_t index : registers)
      elements.push_back(reg(tile, unsigned(first + index)));
    words.push_back(elements.size() == 1 ? elements[0] : toWords(elements)[0]);
  }
  for (const ShuffleStep &step : plan.steps()) {
    if (step.kind == ShuffleStep::Select) {
      words.push_back(
          LLVM::SelectOp::create(builder, loc, parity(step.when), words[step.other], words[step.value]));
    } else if (from) {
      Value source = LLVM::XOrOp::create(builder, loc, from, integer(step.laneFlip, 32));
      words.push_back(shuffle(words[step.value], source, NVVM::ShflKind::idx));
    } else {
      words.push_back(shuffle(words[step.value], step.laneFlip));
    }
  }
  return words;
}

void Machine::lowerShuffles(tkg::ConvertOp op, const LayoutConversion &map) {
  Type type = machineType(elementTypeOf(op.getResult().getType()));
  ShufflePlan plan = *ShufflePlan::create(map, tk::elementsPerWord(op.getResult().getType()));
  Value from = plan.sourceLane().empty() ? Value() : laneOf(plan.sourceLane());
  Tile tile;
  for (int32_t repeat = 0; repeat < map.target().numRepeats(); ++repeat) {
    SmallVector<Value> words =
        runPlan(plan, op.getValue(), repeat * map.source().numCoreElements(), from);
    std::map<unsigned, SmallVector<Value>> elements;
    for (const ShufflePlan::Output &output : plan.outputs()) {
      SmallVector<Value> &parts = elements[output.word];
      Value word = words[output.word];
      if (parts.empty())
        parts = plan.perWord() == 1 ? SmallVector<Value>{word} : fromWords({word}, type, unsigned(plan.perWord()));
      tile.push_back({parts[output.part], 0});
    }
  }
  tiles[op.getResult()] = std::move(tile);
}
