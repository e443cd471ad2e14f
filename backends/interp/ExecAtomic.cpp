//===- ExecAtomic.cpp - atomic operations -------------------------------------------===//
//
// The elements of a tile are taken one after the other, in row-major order, so that two with one
// address are two operations. Instances run one at a time: an operation needs no locks.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// NaN on either side gives NaN; -0 is below +0, as for `maximum` and `minimum`.
template <class C> static C extreme(C a, C b, bool wantsMax) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b)
      return std::numeric_limits<C>::quiet_NaN();
    if (a == b)
      return std::signbit(a) == wantsMax ? b : a;
  }
  return (a < b) == wantsMax ? b : a;
}

/// What an element becomes. T is the type in which it is compared and added.
template <class T, AtomicAction Action> static T combined(T memory, T value) {
  if constexpr (Action == AtomicAction::Exchange || Action == AtomicAction::Store) {
    return value;
  } else if constexpr (Action == AtomicAction::And || Action == AtomicAction::Or ||
                       Action == AtomicAction::Xor) {
    static_assert(std::is_integral_v<T>);
    return Action == AtomicAction::And  ? T(memory & value)
           : Action == AtomicAction::Or ? T(memory | value)
                                        : T(memory ^ value);
  } else {
    auto a = Numeric<T>::load(memory), b = Numeric<T>::load(value);
    if constexpr (Action == AtomicAction::Add && std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(memory) + std::make_unsigned_t<T>(value)); // wraps
    else if constexpr (Action == AtomicAction::Add)
      return Numeric<T>::round(a + b);
    else
      return Numeric<T>::round(extreme(a, b, Action == AtomicAction::Max));
  }
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// What is acquired counts for the accesses that follow, what is released for those before.
static void orderBefore(Frame &frame, const AtomicPlan &plan, uint64_t address) {
  if (plan.acquires && frame.races)
    frame.races->acquire(frame.instance, address);
}

static void orderAfter(Frame &frame, const AtomicPlan &plan, uint64_t address, bool changes) {
  if (!frame.races || !changes)
    return;
  const bool keeps = plan.action != AtomicAction::Store;
  if (plan.releases) {
    frame.races->release(frame.instance, address, keeps);
    frame.event = frame.races->eventOf(frame.instance);
  } else if (!keeps) {
    frame.races->drop(address);
  }
}

/// An exchange or store whose old value nobody uses does not read.
static bool readsMemory(const AtomicPlan &plan) {
  return plan.action == AtomicAction::Load || plan.action == AtomicAction::Cas ||
         plan.result != kNoSlot ||
         (plan.action != AtomicAction::Store && plan.action != AtomicAction::Exchange);
}

static void note(const Inst &inst, Frame &frame, const AtomicPlan &plan, ArgState &arg, int64_t e,
                 bool changes, const uint8_t *value) {
  if (plan.isShared)
    return noteAtomic(inst, frame, arg, e, readsMemory(plan), changes);
  // For others, what is atomic among one instance's threads is a plain access.
  if (readsMemory(plan) && arg.notesReads)
    noteRead(inst, frame, arg, e, 1, 1);
  if (changes && arg.notesWrites)
    noteWrite(inst, frame, arg, e, 1, 1, value);
}

/// Sums may be in any order: each of n additions errs by half a unit of at most the sum of all
/// magnitudes, and one of f32 may take what is below the normal numbers for zero.
static void boundSum(const Frame &frame, const PointerPlan &plan, BufferState &buffer, int64_t e,
                     uint32_t lane, double memory, double value) {
  double &total = buffer.sums[2 * e], &count = buffer.sums[2 * e + 1];
  const double unit = formatOf(plan.dtype).halfUlp;
  const double flushed = plan.dtype == DType::f32 ? 3 * 0x1p-126 : 0; // either operand, the sum
  const double before = count * (unit * total + flushed);
  if (count == 0)
    total = std::fabs(memory);
  total += std::fabs(value);
  count += 1;
  buffer.bounds[e] = std::max(buffer.bounds[e] - before, 0.0) + count * (unit * total + flushed) +
                     frame.boundsAt(plan.value)[lane];
}

template <class T, AtomicAction Action>
static void boundOf(const Frame &frame, const PointerPlan &plan, BufferState &buffer, int64_t e,
                    uint32_t lane, const T &memory, const T &value) {
  if (!frame.boundArena || !isFloat(plan.dtype))
    return;
  if constexpr (Action == AtomicAction::Add)
    boundSum(frame, plan, buffer, e, lane, double(Numeric<T>::load(memory)),
             double(Numeric<T>::load(value)));
  else if constexpr (Action == AtomicAction::Max || Action == AtomicAction::Min)
    buffer.bounds[e] = std::max(buffer.bounds[e], frame.boundsAt(plan.value)[lane]);
  else if constexpr (Action != AtomicAction::Load)
    buffer.bounds[e] = frame.boundsAt(plan.value)[lane];
}

template <class T, AtomicAction Action>
static void operate(const Inst &inst, Frame &frame, const AtomicPlan &plan, ArgState &arg,
                    int64_t e, uint32_t lane) {
  const PointerPlan &pointer = plan.pointer;
  T *place = reinterpret_cast<T *>(arg.buffer->data) + e;
  const uint64_t address = reinterpret_cast<uint64_t>(place);
  T old, next;
  std::memcpy(&old, place, sizeof(T));
  bool changes = Action != AtomicAction::Load;
  if constexpr (Action == AtomicAction::Load)
    next = old;
  else if constexpr (Action == AtomicAction::Cas)
    changes = std::memcmp(&old, frame.at<T>(plan.expected) + lane, sizeof(T)) == 0;
  if constexpr (Action == AtomicAction::Cas)
    next = changes ? frame.at<T>(pointer.value)[lane] : old;
  else if constexpr (Action != AtomicAction::Load)
    next = combined<T, Action>(old, frame.at<T>(pointer.value)[lane]);
  orderBefore(frame, plan, address);
  note(inst, frame, plan, arg, e, changes, reinterpret_cast<const uint8_t *>(&next));
  if (plan.result != kNoSlot) {
    frame.at<T>(plan.result)[lane] = old;
    if (frame.boundArena && isFloat(pointer.dtype))
      frame.boundsAt(plan.result)[lane] = arg.buffer->bounds[e];
  }
  frame.lookedAt = {&arg, e};
  if (!changes)
    return;
  if (!frame.findings->pending.empty() && holdsNan(pointer.dtype, &next, 1))
    frame.findings->promotePending();
  boundOf<T, Action>(frame, pointer, *arg.buffer, e, lane, old,
                     frame.at<T>(pointer.value)[lane]);
  frame.changes += std::memcmp(&old, &next, sizeof(T)) != 0;
  std::memcpy(place, &next, sizeof(T));
  orderAfter(frame, plan, address, changes);
}

template <class T, AtomicAction Action> static void atomicLanes(const Inst &inst, Frame &frame) {
  const AtomicPlan &plan = frame.program->memory.atomics[inst.aux];
  const PointerPlan &pointer = plan.pointer;
  const uint64_t *address = frame.at<uint64_t>(pointer.pointer);
  const uint8_t *mask = pointer.mask != kNoSlot ? frame.at<uint8_t>(pointer.mask) : nullptr;
  if (plan.result != kNoSlot) {
    std::memset(frame.at<T>(plan.result), 0, pointer.elements * sizeof(T));
    if (frame.boundArena && isFloat(pointer.dtype))
      std::fill_n(frame.boundsAt(plan.result), pointer.elements, 0.0);
  }
  for (uint32_t lane = 0; lane < pointer.elements; ++lane) {
    if (mask && !mask[lane])
      continue;
    int64_t element = 0;
    if (ArgState *arg = argumentAt(pointer, frame, address[lane], 1, element))
      operate<T, Action>(inst, frame, plan, *arg, element, lane);
    else
      reportOutside(inst, frame, FindingKind::AtomicOutside, pointer.root, pointer.aliasClass,
                    address[lane], sizeof(T), lane);
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

template <class T> static InstFn atomicOf(AtomicAction action) {
  switch (action) {
  case AtomicAction::Add:
    return atomicLanes<T, AtomicAction::Add>;
  case AtomicAction::Max:
    return atomicLanes<T, AtomicAction::Max>;
  case AtomicAction::Min:
    return atomicLanes<T, AtomicAction::Min>;
  case AtomicAction::Exchange:
    return atomicLanes<T, AtomicAction::Exchange>;
  case AtomicAction::Cas:
    return atomicLanes<T, AtomicAction::Cas>;
  case AtomicAction::Load:
    return atomicLanes<T, AtomicAction::Load>;
  case AtomicAction::Store:
    return atomicLanes<T, AtomicAction::Store>;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (action == AtomicAction::And)
      return atomicLanes<T, AtomicAction::And>;
    if (action == AtomicAction::Or)
      return atomicLanes<T, AtomicAction::Or>;
    if (action == AtomicAction::Xor)
      return atomicLanes<T, AtomicAction::Xor>;
  }
  return nullptr;
}

InstFn tk::interp::selectAtomic(AtomicAction action, DType type) {
  switch (type) {
  case DType::i8:
    return atomicOf<int8_t>(action);
  case DType::u8:
    return atomicOf<uint8_t>(action);
  case DType::i16:
    return atomicOf<int16_t>(action);
  case DType::u16:
    return atomicOf<uint16_t>(action);
  case DType::i32:
    return atomicOf<int32_t>(action);
  case DType::u32:
    return atomicOf<uint32_t>(action);
  case DType::i64:
    return atomicOf<int64_t>(action);
  case DType::u64:
    return atomicOf<uint64_t>(action);
  case DType::f16:
    return atomicOf<F16>(action);
  case DType::bf16:
    return atomicOf<BF16>(action);
  case DType::f32:
    return atomicOf<float>(action);
  case DType::f64:
    return atomicOf<double>(action);
  default:
    return nullptr;
  }
}
