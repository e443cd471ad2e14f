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

static bool isInside(ArrayRef<int32_t> coords, const LinearLayout &layout) {
  for (auto [c, side] : llvm::zip(coords, layout.shape()))
    if (c >= side)
      return false;
  return true;
}

namespace {
/// Finds the registers that hold the wanted elements, thread by thread: after each thread fewer are left.
class Search {
public:
  Search(Operation *op, OriginOf origin) : origin(std::move(origin)), result(layoutOf(op->getResult(0))) {
    for (Value operand : op->getOperands())
      operands.push_back(layoutOf(operand));
    candidates.resize(result.numRegisters());
  }
  std::optional<SmallVector<RegisterSource>> run();

private:
  bool narrow(int32_t reg, int32_t lane, int32_t warp);

  OriginOf origin;
  LinearLayout result;
  SmallVector<LinearLayout> operands;
  /// Of each register of the result, the operand and its registers still possible; none yet: any.
  struct Candidates {
    bool known = false;
    unsigned operand = 0;
    SmallVector<int32_t> registers;
  };
  std::vector<Candidates> candidates;
};
} // namespace

bool Search::narrow(int32_t reg, int32_t lane, int32_t warp) {
  Coords at = result.apply(reg, lane, warp);
  if (!isInside(at, result))
    return true;
  Origin from = origin(at);
  Candidates &left = candidates[reg];
  const LinearLayout &layout = operands[from.operand];
  auto holds = [&](int32_t candidate) { return layout.apply(candidate, lane, warp) == from.coords; };
  if (left.known) {
    llvm::erase_if(left.registers, [&](int32_t candidate) { return !holds(candidate); });
    return left.operand == from.operand && !left.registers.empty();
  }
  left.known = true;
  left.operand = from.operand;
  for (int32_t candidate = 0; candidate < layout.numRegisters(); ++candidate)
    if (holds(candidate))
      left.registers.push_back(candidate);
  return !left.registers.empty();
}

std::optional<SmallVector<RegisterSource>> Search::run() {
  for (int32_t warp = 0; warp < result.numWarps(); ++warp)
    for (int32_t lane = 0; lane < result.numLanes(); ++lane)
      for (int32_t reg = 0; reg < result.numRegisters(); ++reg)
        if (!narrow(reg, lane, warp))
          return std::nullopt;
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
