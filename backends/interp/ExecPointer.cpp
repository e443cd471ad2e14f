//===- ExecPointer.cpp - tk.load and tk.store -------------------------------------===//
//
// The lanes of a tile of pointers are taken in runs of neighbouring addresses. A run within one
// buffer moves like a row of a place; a lane outside every buffer of its alias class is a finding,
// gives the fill value and stores nothing.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>
#include <cstring>

using namespace tk::interp;

/// Lanes i..result-1 are set and have neighbouring addresses; `i` itself is set.
static uint32_t endOfRun(const uint64_t *address, const uint8_t *mask, uint32_t i, uint32_t n,
                         unsigned bytes) {
  ++i;
  while (i < n && (!mask || mask[i]) && address[i] == address[i - 1] + bytes)
    ++i;
  return i;
}

/// All lanes are set and have neighbouring addresses: the usual case, tested without branches.
static bool isOneRun(const uint64_t *address, const uint8_t *mask, uint32_t n, unsigned bytes) {
  if (mask && std::memchr(mask, 0, n))
    return false;
  uint64_t difference = 0;
  for (uint32_t i = 0; i < n; ++i)
    difference |= address[i] ^ (address[0] + uint64_t(i) * bytes);
  return difference == 0;
}

static bool holds(const ArgState &arg, uint64_t address, uint64_t count, unsigned elementBytes,
                  int64_t &element) {
  const BufferState &buffer = *arg.buffer;
  const uint64_t offset = address - reinterpret_cast<uint64_t>(buffer.data);
  const uint64_t size = uint64_t(buffer.elements) * elementBytes;
  element = int64_t(offset / elementBytes);
  return offset < size && count * elementBytes <= size - offset;
}

ArgState *tk::interp::argumentAt(const PointerPlan &plan, const Frame &frame, uint64_t address,
                                 uint64_t count, int64_t &element) {
  if (plan.root != kNoSlot &&
      holds(frame.args[plan.root], address, count, plan.elementBytes, element))
    return &frame.args[plan.root];
  ArgState *arg = frame.memory->find(plan.aliasClass, address);
  // A pointer that was loaded may point anywhere.
  if (!arg || arg->buffer->elementBytes != plan.elementBytes ||
      !holds(*arg, address, count, plan.elementBytes, element) ||
      (address - reinterpret_cast<uint64_t>(arg->buffer->data)) % plan.elementBytes != 0)
    return nullptr;
  return arg;
}

/// Calls `within(arg, element, lane, count)` for runs inside a buffer and `outside(lane)` for lanes
/// that are in none. Returns the number of runs.
template <class Within, class Outside>
static uint32_t forEachRun(const PointerPlan &plan, Frame &frame, Within within, Outside outside) {
  const uint64_t *address = frame.at<uint64_t>(plan.pointer);
  const uint8_t *mask = plan.mask != kNoSlot ? frame.at<uint8_t>(plan.mask) : nullptr;
  const uint32_t n = plan.elements;
  const bool oneRun = isOneRun(address, mask, n, plan.elementBytes);
  uint32_t runs = 0;
  for (uint32_t i = 0; i < n;) {
    if (mask && !mask[i]) {
      ++i;
      continue;
    }
    const uint32_t end = oneRun ? n : endOfRun(address, mask, i, n, plan.elementBytes);
    int64_t element = 0;
    ++runs;
    if (ArgState *arg = argumentAt(plan, frame, address[i], end - i, element)) {
      within(*arg, element, i, end - i);
    } else {
      for (uint32_t lane = i; lane < end; ++lane)
        if (ArgState *single = argumentAt(plan, frame, address[lane], 1, element))
          within(*single, element, lane, 1);
        else
          outside(lane, address[lane]);
    }
    i = end;
  }
  return runs;
}

template <class T> static void loadLanes(const Inst &inst, Frame &frame) {
  const PointerPlan &plan = frame.program->memory.pointers[inst.aux];
  T *value = frame.at<T>(plan.value);
  const bool hasBounds = frame.boundArena && isFloat(plan.dtype);
  const T fill = plan.fill != kNoSlot ? *frame.at<T>(plan.fill) : T(0);
  if (plan.mask != kNoSlot) {
    std::fill_n(value, plan.elements, fill);
    if (hasBounds)
      std::fill_n(frame.boundsAt(plan.value), plan.elements,
                  plan.fill != kNoSlot ? *frame.boundsAt(plan.fill) : 0.0);
  }
  auto within = [&](ArgState &arg, int64_t element, uint32_t lane, uint32_t count) {
    if (plan.isVolatile) {
      for (uint32_t i = 0; i < count; ++i)
        noteAtomic(inst, frame, arg, element + i, /*reads=*/true, /*changes=*/false);
      frame.lookedAt = {&arg, element};
    } else if (arg.notesReads) {
      noteRead(inst, frame, arg, element, 1, count);
    }
    std::memcpy(value + lane, arg.buffer->data + size_t(element) * sizeof(T), count * sizeof(T));
    if (hasBounds)
      std::copy_n(arg.buffer->bounds + element, count, frame.boundsAt(plan.value) + lane);
  };
  forEachRun(plan, frame, within, [&](uint32_t lane, uint64_t address) {
    value[lane] = fill;
    if (hasBounds)
      frame.boundsAt(plan.value)[lane] = 0;
    reportOutside(inst, frame, FindingKind::LoadOutside, plan.root, plan.aliasClass, address,
                  sizeof(T), lane);
  });
}

/// After stores through scattered pointers: a lane whose value is not in memory lost its element to
/// a later lane with another value.
template <class T>
static void reportDuplicates(const Inst &inst, Frame &frame, const PointerPlan &plan) {
  const uint64_t *address = frame.at<uint64_t>(plan.pointer);
  const T *value = frame.at<T>(plan.value);
  for (uint32_t lane = 0; lane < plan.elements; ++lane) {
    int64_t element = 0;
    if (plan.mask != kNoSlot && !frame.at<uint8_t>(plan.mask)[lane])
      continue;
    const ArgState *arg = argumentAt(plan, frame, address[lane], 1, element);
    if (!arg || !arg->checkRaces)
      continue;
    if (std::memcmp(arg->buffer->data + size_t(element) * sizeof(T), value + lane, sizeof(T)) != 0)
      reportDuplicate(inst, frame, *arg, element, plan.dtype, value + lane, lane);
  }
}

template <class T> static void storeLanes(const Inst &inst, Frame &frame) {
  const PointerPlan &plan = frame.program->memory.pointers[inst.aux];
  const T *value = frame.at<T>(plan.value);
  const bool hasBounds = frame.boundArena && isFloat(plan.dtype);
  auto within = [&](ArgState &arg, int64_t element, uint32_t lane, uint32_t count) {
    if (arg.notesWrites)
      noteWrite(inst, frame, arg, element, 1, count,
                reinterpret_cast<const uint8_t *>(value + lane));
    if (!frame.findings->pending.empty() && holdsNan(plan.dtype, value + lane, count))
      frame.findings->promotePending();
    if (frame.watchesChanges)
      frame.changes += std::memcmp(arg.buffer->data + size_t(element) * sizeof(T), value + lane,
                                   count * sizeof(T)) != 0;
    std::memcpy(arg.buffer->data + size_t(element) * sizeof(T), value + lane, count * sizeof(T));
    if (hasBounds)
      std::copy_n(frame.boundsAt(plan.value) + lane, count, arg.buffer->bounds + element);
  };
  uint32_t runs = forEachRun(plan, frame, within, [&](uint32_t lane, uint64_t address) {
    reportOutside(inst, frame, FindingKind::StoreOutside, plan.root, plan.aliasClass, address,
                  sizeof(T), lane);
  });
  if (runs > 1)
    reportDuplicates<T>(inst, frame, plan);
}

InstFn tk::interp::selectLoad(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return loadLanes<uint8_t>;
  case 2:
    return loadLanes<uint16_t>;
  case 4:
    return loadLanes<uint32_t>;
  default:
    return loadLanes<uint64_t>;
  }
}

InstFn tk::interp::selectStore(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return storeLanes<uint8_t>;
  case 2:
    return storeLanes<uint16_t>;
  case 4:
    return storeLanes<uint32_t>;
  default:
    return storeLanes<uint64_t>;
  }
}
