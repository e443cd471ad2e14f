//===- Worker.cpp - one thread's view of a run -------------------------------------===//

#include "backends/interp/Worker.h"
#include "backends/interp/Translate.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>
#include <tuple>

using namespace mlir;
using namespace tk;
using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

InstanceOrder::InstanceOrder(const Options &options, int64_t programs)
    : kind(options.order), programs(programs) {
  if (kind != Order::Shuffle)
    return;
  ids.resize(size_t(programs));
  std::iota(ids.begin(), ids.end(), 0u);
  std::mt19937_64 random(options.seed); // the same numbers everywhere, as std::shuffle's are not
  for (size_t i = ids.size(); i > 1; --i)
    std::swap(ids[i - 1], ids[random() % i]);
}

void PrintedLines::add(int64_t id, std::string text) {
  if (!out)
    return;
  waiting[id] = std::move(text);
  while (!waiting.empty() && waiting.begin()->first == next) {
    *out << waiting.begin()->second;
    waiting.erase(waiting.begin());
    ++next;
  }
}

void PrintedLines::flush() {
  for (const auto &[id, text] : waiting)
    *out << text;
  waiting.clear();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Access accessOf(DictionaryAttr entry) {
  auto access = entry.getAs<StringAttr>("access");
  if (access && access.getValue() == "in")
    return Access::In;
  return access && access.getValue() == "out" ? Access::Out : Access::InOut;
}

static uint8_t *endOf(const BufferState &state) {
  return state.data + size_t(state.elements) * state.elementBytes;
}

/// Buffers over the same memory share the entries of the elements that they share.
void Worker::addShadows(ArrayRef<BufferState *> sharing) {
  ClassUse use;
  uint8_t *begin = sharing.front()->data, *end = begin;
  for (BufferState *state : sharing) {
    use.add(state->use);
    end = std::max(end, endOf(*state));
  }
  const size_t elements = size_t(end - begin) / sharing.front()->elementBytes;
  auto shadow = [&](uint32_t *BufferState::*place, bool isNeeded) {
    if (!isNeeded)
      return;
    // calloc takes pages that are zero already.
    shadows.emplace_back(static_cast<uint32_t *>(std::calloc(elements + 1, 4)), std::free);
    if (!shadows.back())
      throw std::bad_alloc();
    for (BufferState *state : sharing)
      state->*place = shadows.back().get() + size_t(state->data - begin) / state->elementBytes;
  };
  const bool isPlain = use.isRead || use.isWritten;
  shadow(&BufferState::writer, use.isWritten);
  shadow(&BufferState::reader, use.isRead && (use.isWritten || use.isAtomic));
  shadow(&BufferState::changer, use.isAtomic && isPlain);
  shadow(&BufferState::observer, use.isAtomic && isPlain);
}

/// Once all names of a buffer have said how it is used. Buffers whose elements do not coincide, by
/// their size or by where they begin, have entries of their own even where they share bytes.
void Worker::addShadows() {
  std::vector<BufferState *> sorted;
  for (const std::unique_ptr<BufferState> &state : buffers)
    if (state->elements > 0 && !state->isUnbounded)
      sorted.push_back(state.get());
  auto key = [](const BufferState *state) {
    const uint64_t address = reinterpret_cast<uint64_t>(state->data);
    return std::tuple(state->elementBytes, address % state->elementBytes, address);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](BufferState *a, BufferState *b) { return key(a) < key(b); });
  for (size_t first = 0, next; first < sorted.size(); first = next) {
    uint8_t *end = endOf(*sorted[first]);
    auto coincides = [&](const BufferState &state) {
      return state.data < end && state.elementBytes == sorted[first]->elementBytes &&
             (state.data - sorted[first]->data) % state.elementBytes == 0;
    };
    for (next = first + 1; next < sorted.size() && coincides(*sorted[next]); ++next)
      end = std::max(end, endOf(*sorted[next]));
    addShadows(ArrayRef(sorted).slice(first, next - first));
  }
}

void Worker::addSums() {
  for (const std::unique_ptr<BufferState> &state : buffers) {
    if (!state->use.isAtomic || !isFloat(state->dtype))
      continue;
    sums.emplace_back(size_t(state->elements) * 2, 0.0);
    state->sums = sums.back().data();
  }
}

/// One buffer has one state, under however many names it is there.
BufferState *Worker::bufferStateOf(Buffer *buffer) {
  BufferState *&state = stateOf[buffer];
  if (state && buffer)
    return state;
  buffers.push_back(std::make_unique<BufferState>());
  state = buffers.back().get();
  if (!buffer)
    return state;
  state->data = buffer->data();
  state->elements = buffer->elements;
  state->dtype = buffer->dtype;
  state->elementBytes = byteSize(buffer->dtype);
  state->isUnbounded = buffer->isUnbounded;
  if (!buffer->borrowed)
    state->hintBase = reinterpret_cast<uint64_t>(state->data);
  if (!buffer->written.empty())
    state->written = buffer->written.data();
  if (!buffer->bounds.empty())
    state->bounds = buffer->bounds.data();
  return state;
}

void Worker::setMemory(ArgState &state, Buffer *buffer, int64_t aliasClass) {
  state.buffer = bufferStateOf(buffer);
  state.checkBounds = options.checks.bounds;
  state.checkInit = options.checks.init;
  state.checkRaces = options.checks.races;
  if (!buffer)
    return;
  auto use = program.classes.find(aliasClass);
  if (use != program.classes.end())
    state.buffer->use.add(use->second);
  state.origin = buffer->origin;
  state.extents = buffer->extents;
  state.strides = buffer->strides;
  memory.add(aliasClass, &state);
}

/// Once its buffer has its shadows.
void Worker::setNotes(ArgState &state) {
  const BufferState &buffer = *state.buffer;
  bool readsOut = state.access == Access::Out && options.checks.access && options.checks.init;
  bool writesIn = state.access == Access::In && options.checks.access;
  state.checkAccess = readsOut || writesIn;
  state.notesReads =
      (buffer.written && options.checks.init) || buffer.writer || buffer.changer || readsOut;
  state.notesWrites = buffer.written || buffer.writer || writesIn;
}

static Type pointeeOf(Type type) {
  if (auto view = dyn_cast<ViewType>(type))
    return view.getElement();
  auto pointer = dyn_cast<PtrType>(type);
  return pointer ? pointer.getPointee() : Type();
}

/// What a table of pointers points to, and the addresses in the table.
void Worker::addPointees(const Argument &argument, Type pointer, Access access) {
  for (auto [i, pointee] : llvm::enumerate(argument.pointees)) {
    ArgState &state = pointees.emplace_back();
    state.name = pointee.name;
    state.access = pointee.pointees.empty() ? access : Access::In;
    setMemory(state, pointee.buffer, aliasClassOf(pointer));
    uint64_t address = reinterpret_cast<uint64_t>(pointee.buffer->data()) +
                       uint64_t(pointee.buffer->origin) * state.buffer->elementBytes;
    std::memcpy(argument.buffer->data() + 8 * argument.buffer->elementAt(int64_t(i)), &address, 8);
    addPointees(pointee, pointeeOf(pointer), access);
  }
}

/// What a table of the caller's points to may lie anywhere.
void Worker::addUnknown(const std::string &name, Type pointer, Access access) {
  for (; isa_and_present<PtrType>(pointer); pointer = pointeeOf(pointer)) {
    const Type pointee = pointeeOf(pointer);
    const DType dtype = *slotTypeOf(pointee);
    unknown.push_back(Buffer::unbounded(name, dtype, nullptr));
    ArgState &state = pointees.emplace_back();
    state.name = "what `" + name + "` points to";
    state.access = isa<PtrType>(pointee) ? Access::In : access;
    setMemory(state, &unknown.back(), aliasClassOf(pointer));
  }
}

void Worker::addArgument(size_t index) {
  DictionaryAttr entry = kernel.getArgContract(unsigned(index));
  Type type = kernel.getArgumentTypes()[index];
  const Argument *argument = binding.arguments[index];
  ArgState &state = args.emplace_back();
  state.name = entry.getAs<StringAttr>("name").getValue().str();
  Access access = accessOf(entry);
  Buffer *buffer = argument ? argument->buffer : nullptr;
  const bool isKnown = argument && !argument->pointees.empty();
  const bool isUnknown =
      !isKnown && buffer && buffer->borrowed && isa_and_present<PtrType>(pointeeOf(type));
  state.access = isKnown || isUnknown ? Access::In : access;
  setMemory(state, buffer, isa<ViewType, PtrType>(type) ? aliasClassOf(type) : -1);
  if (isKnown)
    addPointees(*argument, pointeeOf(type), access);
  if (isUnknown)
    addUnknown(state.name, pointeeOf(type), access);
  if (!isa<ViewType, PtrType>(type) || buffer)
    return;
  state.isAbsent = true;
  if (auto view = dyn_cast<ViewType>(type)) {
    state.extents.assign(size_t(view.getRank()), 0);
    state.strides.assign(size_t(view.getRank()), 0);
  }
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

Worker::Worker(const Program &program, KernelOp kernel, const Binding &binding,
               const Options &options, std::atomic<bool> *speculative)
    : findings(program.ops.size(), options.maxFindings, options.checks.nan == NanCheck::Error,
               speculative),
      program(program), kernel(kernel), binding(binding), options(options), lines(options.out) {
  args.reserve(program.params.size());
  for (size_t i = 0; i < program.params.size(); ++i)
    addArgument(i);
  if (options.checks.races)
    addShadows();
  if (options.errorBounds)
    addSums();
  for (ArgState &state : args)
    setNotes(state);
  for (ArgState &state : pointees)
    setNotes(state);
  if (program.hasOrder && options.checks.races)
    races = std::make_unique<Races>(uint32_t(binding.grid[0] * binding.grid[1] * binding.grid[2]));
}

/// The arena begins on a cache line.
static uint8_t *aligned(std::vector<uint64_t> &memory, size_t bytes) {
  memory.assign(bytes / 8 + 9, 0);
  uint64_t address = reinterpret_cast<uint64_t>(memory.data());
  return reinterpret_cast<uint8_t *>((address + 63) & ~uint64_t(63));
}

uint64_t Worker::initialBits(size_t index) {
  const Argument *argument = binding.arguments[index];
  if (!program.params[index].isScalar) {
    const ArgState &state = args[index];
    return reinterpret_cast<uint64_t>(state.buffer->data) +
           uint64_t(state.origin) * state.buffer->elementBytes;
  }
  if (argument && !argument->isAbsent)
    return argument->bits;
  Attribute value = kernel.getArgContract(unsigned(index)).get("default");
  if (auto integer = dyn_cast_if_present<IntegerAttr>(value))
    return integer.getValue().getZExtValue();
  if (auto number = dyn_cast_if_present<FloatAttr>(value))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return 0;
}

void Worker::prepare(Space &space) {
  Frame &frame = space.frame;
  frame.program = &program;
  frame.findings = &findings;
  frame.args = args.data();
  frame.memory = &memory;
  frame.races = races.get();
  frame.watchesChanges = program.takesTurns;
  frame.printed = options.out && !findings.isSpeculative() ? &space.printed : nullptr;
  frame.arena = aligned(space.arena, program.arenaBytes);
  if (options.errorBounds)
    frame.boundArena = aligned(space.boundArena, program.arenaBytes * 8);
  std::copy_n(binding.grid, 3, frame.grid);
  for (const Program::Constant &constant : program.constants)
    std::memcpy(frame.arena + constant.slot, constant.bytes.data(), constant.bytes.size());
  for (auto [i, param] : llvm::enumerate(program.params)) {
    if (param.slot == kNoSlot)
      continue;
    uint64_t bits = initialBits(i);
    std::memcpy(frame.arena + param.slot, &bits, 8);
  }
}

void Worker::start(Space &space, int64_t id) {
  Frame &frame = space.frame;
  frame.instance = uint32_t(id + 1);
  frame.event = frame.instance;
  frame.programId[0] = id % frame.grid[0];
  frame.programId[1] = id / frame.grid[0] % frame.grid[1];
  frame.programId[2] = id / frame.grid[0] / frame.grid[1];
}

void Worker::runOn(Space &space, size_t from) {
  Frame &frame = space.frame;
  frame.pause = Pause::None;
  if (!program.hasClock)
    return execute(program.code, frame, from);
  frame.ticks = ticks;
  execute<true>(program.code, frame, from);
  ticks = frame.ticks;
}

void Worker::run(const InstanceOrder &order, int64_t begin, int64_t end) {
  Space space;
  prepare(space);
  for (int64_t position = begin; position < end && !findings.isOver(); ++position) {
    const int64_t id = order.idAt(position);
    start(space, id);
    findings.clearPending();
    runOn(space, 0);
    if (races)
      races->end(space.frame.instance);
    if (program.hasPrints)
      lines.add(id, std::exchange(space.printed, {}));
  }
  if (program.hasPrints && options.out)
    lines.flush();
}
