//===- BufferParts.cpp - slots of rings and other parts of shared buffers ----------===//

#include "passes/analysis/BufferParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

Bytes tk::bytesOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>())
    buffer = view.getBuffer();
  auto alloc = buffer.getDefiningOp<tkg::AllocOp>();
  int64_t first = int64_t(*alloc.getOffset());
  return {first, first + alloc.getResult().getType().getBytes()};
}

/// The loop that carries the number of a slot of the ring, one more each iteration from zero on.
static scf::ForOp loopOfSlot(Value slot, int64_t slots) {
  auto argument = dyn_cast<BlockArgument>(slot);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || argument == loop.getInductionVar())
    return {};
  unsigned number = argument.getArgNumber() - 1;
  auto next = loop.getYieldedValues()[number].getDefiningOp<tkg::RingSlotOp>();
  bool steps = next && next.getSlot() == slot && next.getDistance() == 1 && int64_t(next.getSlots()) == slots;
  return steps && matchPattern(loop.getInitArgs()[number], m_Zero()) ? loop : scf::ForOp();
}

std::optional<Slot> tk::slotOf(Value buffer) {
  Value index;
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>()) {
    if (view.getIndex() && index)
      return std::nullopt;
    if (view.getIndex())
      index = view.getIndex();
    buffer = view.getBuffer();
  }
  auto ring = buffer.getDefiningOp<tkg::AllocOp>();
  auto scaled = index ? index.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  APInt factor;
  tkg::BufType type = ring.getResult().getType();
  if (!scaled || !matchPattern(scaled.getRhs(), m_ConstantInt(&factor)) || factor.getSExtValue() != type.stride(0))
    return std::nullopt;
  Slot slot{ring, {}, 0, type.getShape()[0]};
  Value number = scaled.getLhs();
  while (auto other = number.getDefiningOp<tkg::RingSlotOp>()) {
    if (int64_t(other.getSlots()) != slot.slots)
      return std::nullopt;
    slot.distance += int64_t(other.getDistance());
    number = other.getSlot();
  }
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    slot.distance += constant.getSExtValue();
  else if (!(slot.loop = loopOfSlot(number, slot.slots)))
    return std::nullopt;
  return slot;
}

scf::ForOp tk::ringLoop(Value buffer) {
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>())
    buffer = view.getBuffer();
  for (Operation *user : buffer.getUsers())
    if (isa<tkg::BufViewOp>(user))
      if (std::optional<Slot> slot = slotOf(user->getResult(0)); slot && slot->loop)
        return slot->loop;
  return {};
}

/// The first element of a view that has no run-time part, along each axis of the buffer that it is a part of, both
/// having the same strides, largest first; nothing for other views.
static std::optional<SmallVector<int64_t>> originOf(tkg::BufViewOp view) {
  auto type = cast<tkg::BufType>(view.getBuffer().getType()), part = cast<tkg::BufType>(view.getResult().getType());
  int64_t rest = view.getOffset();
  SmallVector<int64_t> origin;
  for (unsigned axis = 0; axis < type.getShape().size(); ++axis) {
    int64_t stride = type.stride(axis);
    bool isOrdered = axis == 0 || stride <= type.stride(axis - 1);
    if (view.getIndex() || part.getShape().size() != type.getShape().size() || part.stride(axis) != stride || !isOrdered)
      return std::nullopt;
    origin.push_back(rest / stride);
    rest %= stride;
    if (origin.back() + part.getShape()[axis] > type.getShape()[axis])
      return std::nullopt;
  }
  return origin;
}

/// As a tile and what fills up its rows.
bool tk::areApart(Value a, Value b) {
  auto one = a.getDefiningOp<tkg::BufViewOp>(), other = b.getDefiningOp<tkg::BufViewOp>();
  if (!one || !other || one.getBuffer() != other.getBuffer())
    return false;
  auto first = originOf(one), second = originOf(other);
  if (!first || !second)
    return false;
  for (auto [x, y, width, otherWidth] : llvm::zip(*first, *second, cast<tkg::BufType>(a.getType()).getShape(),
                                                  cast<tkg::BufType>(b.getType()).getShape()))
    if (x + width <= y || y + otherWidth <= x)
      return true;
  return false;
}
