//===- RegisterMoves.cpp - shape operations without data movement -----------------===//

#include "passes/analysis/RegisterMoves.h"
#include "llvm/ADT/TypeSwitch.h"
#include <functional>

using namespace mlir;
using namespace tk;

namespace {
/// An element of one of the operands.
struct Origin {
  unsigned operand;
  Coords coords;
};
using OriginOf = std::function<Origin(ArrayRef<int32_t>)>;
} // namespace

static LinearLayout layoutOf(Value tile) { return tkg::layoutOf(tile.getType()).getMap(); }

static OriginOf originOfReshape(ReshapeOp op) {
  SmallVector<int64_t> from(cast<RankedTensorType>(op.getValue().getType()).getShape());
  SmallVector<int64_t> to(cast<RankedTensorType>(op.getResult().getType()).getShape());
  return [=](ArrayRef<int32_t> at) {
    int64_t element = 0;
    for (auto [side, c] : llvm::zip(to, at))
      element = element * side + c;
    Coords coords(from.size());
    for (int axis = int(from.size()) - 1; axis >= 0; --axis) {
      coords[axis] = int32_t(element % from[axis]);
      element /= from[axis];
    }
    return Origin{0, coords};
  };
}

static OriginOf originOfPermute(PermuteOp op) {
  SmallVector<int64_t> order(op.getOrder());
  return [=](ArrayRef<int32_t> at) {
    Coords coords(at.size());
    for (auto [i, axis] : llvm::enumerate(order))
      coords[axis] = at[i];
    return Origin{0, coords};
  };
}

static OriginOf originOfFlip(FlipOp op) {
  int64_t axis = op.getAxis(), side = cast<RankedTensorType>(op.getType()).getShape()[axis];
  return [=](ArrayRef<int32_t> at) {
    Coords coords(at);
    coords[axis] = int32_t(side - 1 - coords[axis]);
    return Origin{0, coords};
  };
}

static OriginOf originOfSlice(SliceOp op) {
  SmallVector<int64_t> offsets(op.getOffsets()), strides(op.getStrides());
  return [=](ArrayRef<int32_t> at) {
    Coords coords;
    for (auto [offset, stride, c] : llvm::zip(offsets, strides, at))
      coords.push_back(int32_t(offset + stride * c));
    return Origin{0, coords};
  };
}

static OriginOf originOfCat(CatOp op) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> sides;
  for (Value operand : op.getOperands())
    sides.push_back(cast<RankedTensorType>(operand.getType()).getShape()[axis]);
  return [=](ArrayRef<int32_t> at) {
    Coords coords(at);
    unsigned operand = 0;
    for (; coords[axis] >= sides[operand]; ++operand)
      coords[axis] -= int32_t(sides[operand]);
    return Origin{operand, coords};
  };
}

/// Operand 0 is the part, operand 1 what surrounds it.
static OriginOf originOfInsert(InsertOp op) {
  SmallVector<int64_t> offsets(op.getOffsets()), strides(op.getStrides());
  SmallVector<int64_t> sides(cast<RankedTensorType>(op.getPart().getType()).getShape());
  return [=](ArrayRef<int32_t> at) {
    Coords part;
    for (auto [axis, c] : llvm::enumerate(at)) {
      int64_t distance = c - offsets[axis];
      if (distance < 0 || distance % strides[axis] || distance / strides[axis] >= sides[axis])
        return Origin{1, Coords(at)};
      part.push_back(int32_t(distance / strides[axis]));
    }
    return Origin{0, part};
  };
}

static OriginOf originOf(Operation *op) {
  return TypeSwitch<Operation *, OriginOf>(op)
      .Case([](ReshapeOp op) { return originOfReshape(op); })
      .Case([](PermuteOp op) { return originOfPermute(op); })
      .Case([](FlipOp op) { return originOfFlip(op); })
      .Case([](SliceOp op) { return originOfSlice(op); })
      .Case([](CatOp op) { return originOfCat(op); })
      .Case([](InsertOp op) { return originOfInsert(op); })
      .Default([](Operation *) { return OriginOf(); });
}

namespace {
/// Coordinates by register and thread. The bits of both meet in the core, where bases are added without carry;
/// repeats, which registers alone have, come on top.
class Places {
public:
  explicit Places(const LinearLayout &layout) {
    for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
      core.push_back(layout.apply(reg % layout.numCoreElements(), 0, 0));
      repeat.push_back(layout.apply(reg, 0, 0));
      for (auto [all, inCore] : llvm::zip(repeat.back(), core.back()))
        all -= inCore;
    }
  }
  int32_t numRegisters() const { return int32_t(core.size()); }
  /// `thread`: what register 0 of the thread holds.
  Coords at(int32_t reg, ArrayRef<int32_t> thread) const {
    Coords coords(thread);
    for (auto [coordinate, inCore, more] : llvm::zip(coords, core[reg], repeat[reg]))
      coordinate = (coordinate ^ inCore) + more;
    return coords;
  }

private:
  SmallVector<Coords> core, repeat;
};

/// Finds the registers that hold the wanted elements, thread by thread: after each thread fewer are left.
class Search {
public:
  Search(Operation *op, OriginOf origin);
  std::optional<SmallVector<RegisterSource>> run();

private:
  bool narrow(int32_t reg, ArrayRef<Coords> threads);

  OriginOf origin;
  SmallVector<LinearLayout> layouts; // of the result and of the operands
  SmallVector<Places> places;
  /// Of each register of the result, the operand and its registers still possible; none yet: any.
  struct Candidates {
    bool known = false;
    unsigned operand = 0;
    SmallVector<int32_t> registers;
  };
  std::vector<Candidates> candidates;
};
} // namespace

Search::Search(Operation *op, OriginOf origin) : origin(std::move(origin)) {
  layouts.push_back(layoutOf(op->getResult(0)));
  for (Value operand : op->getOperands())
    layouts.push_back(layoutOf(operand));
  for (const LinearLayout &layout : layouts)
    places.emplace_back(layout);
  candidates.resize(places[0].numRegisters());
}

/// `threads`: what register 0 of one thread holds, of the result and of the operands.
bool Search::narrow(int32_t reg, ArrayRef<Coords> threads) {
  Coords at = places[0].at(reg, threads[0]);
  if (!layouts[0].isValid(at))
    return true;
  Origin from = origin(at);
  Candidates &left = candidates[reg];
  const Places &held = places[from.operand + 1];
  auto holds = [&](int32_t candidate) { return held.at(candidate, threads[from.operand + 1]) == from.coords; };
  if (left.known && left.operand != from.operand)
    return false;
  if (left.known) {
    llvm::erase_if(left.registers, [&](int32_t candidate) { return !holds(candidate); });
    return !left.registers.empty();
  }
  left.known = true;
  left.operand = from.operand;
  llvm::append_range(left.registers, llvm::make_filter_range(llvm::seq(held.numRegisters()), holds));
  return !left.registers.empty();
}

std::optional<SmallVector<RegisterSource>> Search::run() {
  for (int32_t warp = 0; warp < layouts[0].numWarps(); ++warp)
    for (int32_t lane = 0; lane < layouts[0].numLanes(); ++lane) {
      SmallVector<Coords> threads;
      for (const LinearLayout &layout : layouts)
        threads.push_back(layout.apply(0, lane, warp));
      for (int32_t reg = 0; reg < places[0].numRegisters(); ++reg)
        if (!narrow(reg, threads))
          return std::nullopt;
    }
  SmallVector<RegisterSource> sources;
  for (const Candidates &left : candidates)
    sources.push_back({left.operand, left.registers.empty() ? 0 : left.registers.front()});
  return sources;
}

std::optional<SmallVector<RegisterSource>> tk::registerMoves(Operation *op) {
  OriginOf origin = originOf(op);
  if (!origin)
    return std::nullopt;
  return Search(op, std::move(origin)).run();
}
