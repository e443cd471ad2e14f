//===- Memory.cpp - memory by address, and the words of findings about it --------===//

#include "backends/interp/Memory.h"
#include <algorithm>
#include <charconv>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// By address
//===----------------------------------------------------------------------===//

static bool beginsBehind(uint64_t address, const MemoryMap::Region &region) {
  return address < region.begin;
}

/// The same memory may be there under several names: the first stands for all.
void MemoryMap::add(int64_t aliasClass, ArgState *arg) {
  const uint64_t begin = reinterpret_cast<uint64_t>(arg->buffer->data);
  const uint64_t bytes = uint64_t(arg->buffer->elements) * arg->buffer->elementBytes;
  std::vector<Region> &regions = classes[aliasClass];
  auto after = std::upper_bound(regions.begin(), regions.end(), begin, beginsBehind);
  for (auto same = after; same != regions.begin() && std::prev(same)->begin == begin; --same)
    if (std::prev(same)->end == begin + bytes)
      return;
  regions.insert(after, {begin, begin + bytes, arg});
}

ArgState *MemoryMap::find(int64_t aliasClass, uint64_t address) const {
  auto found = classes.find(aliasClass);
  if (found == classes.end())
    return nullptr;
  const std::vector<Region> &regions = found->second;
  auto after = std::upper_bound(regions.begin(), regions.end(), address, beginsBehind);
  while (after != regions.begin()) // one that begins earlier may end later: regions may overlap
    if (address < (--after)->end)
      return after->arg;
  return nullptr;
}

ArgState *MemoryMap::nearest(int64_t aliasClass, uint64_t address) const {
  auto found = classes.find(aliasClass);
  if (found == classes.end())
    return nullptr;
  ArgState *best = nullptr;
  uint64_t bestDistance = 0;
  for (const Region &region : found->second) {
    uint64_t distance = address < region.begin  ? region.begin - address
                        : address >= region.end ? address - region.end
                                                : 0;
    if (best && distance >= bestDistance)
      continue;
    best = region.arg;
    bestDistance = distance;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string bracketed(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

std::string tk::interp::coordinatesOf(const ArgState &arg, int64_t element) {
  int64_t rest = element - arg.origin;
  std::vector<size_t> axes(arg.extents.size());
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = i;
  std::sort(axes.begin(), axes.end(), [&](size_t x, size_t y) {
    return arg.strides[x] != arg.strides[y] ? arg.strides[x] > arg.strides[y] : x < y;
  });
  std::vector<int64_t> coordinates(axes.size(), 0);
  for (size_t axis : axes) {
    if (arg.strides[axis] <= 0 || rest < 0) // no unique answer: the distance in elements
      return bracketed({element - arg.origin});
    coordinates[axis] = rest / arg.strides[axis];
    rest %= arg.strides[axis];
  }
  for (size_t i = 0; i < axes.size(); ++i)
    if (coordinates[i] >= arg.extents[i])
      return bracketed({element - arg.origin});
  return bracketed(coordinates);
}

std::string tk::interp::programText(const int64_t *grid, uint32_t instance) {
  uint64_t linear = instance - 1;
  std::string text = "(";
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t side = uint64_t(std::max<int64_t>(grid[axis], 1));
    text += (axis ? ", " : "") + std::to_string(linear % side);
    linear /= side;
  }
  return text + ")";
}

std::string tk::interp::programOf(const Frame &frame, uint32_t event) {
  return programText(frame.grid, frame.races ? frame.races->instanceOf(event) : event);
}

std::string tk::interp::programOf(const Frame &frame) {
  return programText(frame.grid, frame.instance);
}

std::string tk::interp::laneOf(const Frame &frame, const Inst &inst, size_t lane) {
  const std::vector<int64_t> &shape = frame.program->ops[inst.op].shape;
  if (shape.empty())
    return "";
  std::vector<int64_t> coordinates(shape.size());
  lane += frame.firstLane;
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = int64_t(lane) % shape[i];
    lane /= size_t(shape[i]);
  }
  return " at " + bracketed(coordinates);
}

template <class T> static std::string numberText(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string tk::interp::valueText(DType type, const void *element) {
  if (type == DType::f64)
    return numberText(elementToDouble(type, element));
  if (isFloat(type))
    return numberText(float(elementToDouble(type, element)));
  if (type == DType::u64)
    return numberText(uint64_t(elementToInteger(type, element)));
  return numberText(elementToInteger(type, element));
}

//===----------------------------------------------------------------------===//
// Accesses that find nothing
//===----------------------------------------------------------------------===//

static void reportAbsent(const Inst &inst, Frame &frame, const ArgState &arg) {
  if (Finding *finding = frame.findings->add(FindingKind::UsesAbsent, inst.op))
    finding->args = {programOf(frame), arg.name};
}

void tk::interp::reportIndex(const Inst &inst, Frame &frame, const ArgState *arg, size_t axis,
                             int64_t index, int64_t extent) {
  if (arg && !arg->checkBounds)
    return;
  if (arg && arg->isAbsent)
    return reportAbsent(inst, frame, *arg);
  Finding *finding = frame.findings->add(FindingKind::IndexOutside, inst.op);
  if (!finding)
    return;
  finding->args = {programOf(frame), std::to_string(index), std::to_string(axis),
                   arg ? arg->name : "a view", std::to_string(extent)};
  const bool isOwn = arg && axis < arg->extents.size() && arg->extents[axis] == extent;
  if (arg && !isOwn)
    finding->args[5] = "the extent is that of a view of `" + arg->name +
                       "`, and its index is counted from where the view begins";
}

void tk::interp::reportOutside(const Inst &inst, Frame &frame, FindingKind kind, uint32_t root,
                               int64_t aliasClass, uint64_t address, unsigned elementBytes,
                               size_t lane) {
  const ArgState *arg =
      root != kNoSlot ? &frame.args[root] : frame.memory->nearest(aliasClass, address);
  std::string name = "no argument";
  int64_t index = 0, elements = 0;
  if (arg) {
    if (!arg->checkBounds)
      return;
    if (arg->isAbsent)
      return reportAbsent(inst, frame, *arg);
    name = arg->name;
    elements = arg->buffer->elements;
    int64_t offset = int64_t(address - reinterpret_cast<uint64_t>(arg->buffer->data));
    index = offset / int64_t(elementBytes) - arg->origin;
  }
  if (Finding *finding = frame.findings->add(kind, inst.op))
    finding->args = {programOf(frame), name, std::to_string(index), std::to_string(elements),
                     laneOf(frame, inst, lane)};
}

void tk::interp::reportDuplicate(const Inst &inst, Frame &frame, const ArgState &arg,
                                 int64_t element, DType dtype, const void *value, size_t lane) {
  const uint8_t *kept = arg.buffer->data + size_t(element) * arg.buffer->elementBytes;
  if (Finding *finding = frame.findings->add(FindingKind::DuplicateStore, inst.op))
    finding->args = {programOf(frame),
                     valueText(dtype, value),
                     laneOf(frame, inst, lane),
                     coordinatesOf(arg, element),
                     arg.name,
                     valueText(dtype, kept)};
}
