//===- ExecReduce.cpp - reductions along one axis -------------------------------===//
//
// The tree that splits n elements after the largest power of two below n is the one that combines
// neighbours, level by level, and carries an odd last element up unchanged. So each level gathers
// the left and the right operands of all its pairs and runs the combine region once over them.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/ExecBySize.h"
#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace tk::interp;

namespace {
/// One level: `side` elements along the axis become (side + 1) / 2.
struct Level {
  uint32_t outer, side, inner;
  uint32_t pairs() const { return side / 2; }
  bool isOdd() const { return side % 2; }
};
} // namespace

template <class T>
static void gatherPairs(Level level, const T *__restrict from, T *__restrict left,
                        T *__restrict right) {
  const size_t pairs = level.pairs(), inner = level.inner;
  for (uint32_t o = 0; o < level.outer; ++o) {
    const T *row = from + size_t(o) * level.side * inner;
    if (inner == 1) {
      for (size_t p = 0; p < pairs; ++p) {
        left[p] = row[2 * p];
        right[p] = row[2 * p + 1];
      }
    } else {
      for (size_t p = 0; p < pairs; ++p) {
        std::copy_n(row + 2 * p * inner, inner, left + p * inner);
        std::copy_n(row + (2 * p + 1) * inner, inner, right + p * inner);
      }
    }
    left += pairs * inner;
    right += pairs * inner;
  }
}

/// The combined pairs and the last elements of `from`, row by row. `to` may be `from`: no row is
/// written before it has been read.
template <class T> static void carryLast(Level level, const T *from, const T *combined, T *to) {
  const size_t pairs = level.pairs(), inner = level.inner;
  for (uint32_t o = 0; o < level.outer; ++o) {
    T *row = to + size_t(o) * (pairs + 1) * inner;
    std::memcpy(row, combined + size_t(o) * pairs * inner, pairs * inner * sizeof(T));
    std::memmove(row + pairs * inner, from + (size_t(o + 1) * level.side - 1) * inner,
                 inner * sizeof(T));
  }
}

static bool carriesBounds(const ReducePlan &plan, const ReducePlan::Operand &operand,
                          const Frame &frame) {
  return frame.boundArena && isFloat(operand.dtype) && !plan.isFloatSum;
}

static void gatherOperand(Level level, const ReducePlan::Operand &operand, uint32_t from,
                          bool bounds, Frame &frame) {
  bySize(operand.elementBytes, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    gatherPairs(level, frame.at<T>(from), frame.at<T>(operand.left), frame.at<T>(operand.right));
  });
  if (bounds)
    gatherPairs(level, frame.boundsAt(from), frame.boundsAt(operand.left),
                frame.boundsAt(operand.right));
}

static void carryOperand(Level level, const ReducePlan::Operand &operand, uint32_t from,
                         bool bounds, Frame &frame) {
  bySize(operand.elementBytes, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    carryLast(level, frame.at<T>(from), frame.at<T>(operand.combined), frame.at<T>(operand.work));
  });
  if (bounds)
    carryLast(level, frame.boundsAt(from), frame.boundsAt(operand.combined),
              frame.boundsAt(operand.work));
}

static void finishOperand(const ReducePlan &plan, const ReducePlan::Operand &operand, uint32_t from,
                          Frame &frame) {
  const size_t count = size_t(plan.outer) * plan.inner;
  std::memcpy(frame.arena + operand.result, frame.arena + from, count * operand.elementBytes);
  if (carriesBounds(plan, operand, frame))
    std::copy_n(frame.boundsAt(from), count, frame.boundsAt(operand.result));
}

/// Regions with control flow run one pair at a time; results replace operands in `work`.
static void runOneByOne(const ReducePlan &plan, Level level, Frame &frame) {
  const Code &body = frame.program->bodies[plan.body];
  const size_t sideAfter = level.pairs() + level.isOdd();
  auto move = [&](const ReducePlan::Operand &operand, uint32_t to, size_t toIndex, uint32_t from,
                  size_t fromIndex) {
    const unsigned bytes = operand.elementBytes;
    std::memmove(frame.arena + to + toIndex * bytes, frame.arena + from + fromIndex * bytes, bytes);
    if (carriesBounds(plan, operand, frame))
      frame.boundsAt(to)[toIndex] = frame.boundsAt(from)[fromIndex];
  };
  frame.lanes = 1;
  for (uint32_t o = 0; o < level.outer; ++o)
    for (size_t p = 0; p < sideAfter; ++p)
      for (uint32_t i = 0; i < level.inner; ++i) {
        const size_t to = (o * sideAfter + p) * level.inner + i;
        const size_t left = (size_t(o) * level.side + 2 * p) * level.inner + i;
        if (p == level.pairs()) { // the odd last element
          for (const ReducePlan::Operand &operand : plan.operands)
            move(operand, operand.work, to, operand.work, left);
          continue;
        }
        for (const ReducePlan::Operand &operand : plan.operands) {
          move(operand, operand.left, 0, operand.work, left);
          move(operand, operand.right, 0, operand.work, left + level.inner);
        }
        execute(body, frame);
        for (const ReducePlan::Operand &operand : plan.operands)
          move(operand, operand.work, to, operand.combined, 0);
      }
}

static void copyToWork(const ReducePlan &plan, Frame &frame) {
  const size_t count = size_t(plan.outer) * plan.side * plan.inner;
  for (const ReducePlan::Operand &operand : plan.operands) {
    std::memcpy(frame.arena + operand.work, frame.arena + operand.value,
                count * operand.elementBytes);
    if (carriesBounds(plan, operand, frame))
      std::copy_n(frame.boundsAt(operand.value), count, frame.boundsAt(operand.work));
  }
}

static void reduceOneByOne(const ReducePlan &plan, Frame &frame) {
  copyToWork(plan, frame);
  Level level = {plan.outer, plan.side, plan.inner};
  for (; level.side > 1; level.side = (level.side + 1) / 2)
    runOneByOne(plan, level, frame);
  for (const ReducePlan::Operand &operand : plan.operands)
    finishOperand(plan, operand, operand.work, frame);
}

static void reduce(const Inst &inst, Frame &frame) {
  const ReducePlan &plan = frame.program->reductions[inst.aux];
  const uint32_t savedLanes = frame.lanes;
  if (plan.oneByOne) {
    reduceOneByOne(plan, frame);
    frame.lanes = savedLanes;
    return;
  }
  Level level = {plan.outer, plan.side, plan.inner};
  enum { Value, Combined, Work } current = Value;
  auto slotOf = [&](const ReducePlan::Operand &operand) {
    return current == Value ? operand.value : current == Combined ? operand.combined : operand.work;
  };
  while (level.side > 1) {
    for (const ReducePlan::Operand &operand : plan.operands)
      gatherOperand(level, operand, slotOf(operand), carriesBounds(plan, operand, frame), frame);
    // The region overwrites `combined`; an odd last element that lies there is saved first.
    if (level.isOdd() && current == Combined) {
      const size_t count = size_t(level.outer) * level.side * level.inner;
      for (const ReducePlan::Operand &operand : plan.operands) {
        std::memcpy(frame.arena + operand.work, frame.arena + operand.combined,
                    count * operand.elementBytes);
        if (carriesBounds(plan, operand, frame))
          std::copy_n(frame.boundsAt(operand.combined), count, frame.boundsAt(operand.work));
      }
      current = Work;
    }
    frame.lanes = level.outer * level.pairs() * level.inner;
    execute(frame.program->bodies[plan.body], frame);
    if (level.isOdd())
      for (const ReducePlan::Operand &operand : plan.operands)
        carryOperand(level, operand, slotOf(operand), carriesBounds(plan, operand, frame), frame);
    current = level.isOdd() ? Work : Combined;
    level.side = (level.side + 1) / 2;
  }
  for (const ReducePlan::Operand &operand : plan.operands)
    finishOperand(plan, operand, slotOf(operand), frame);
  frame.lanes = savedLanes;
}

InstFn tk::interp::selectReduce() {
  return reduce;
}
