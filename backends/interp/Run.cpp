//===- Run.cpp - all instances of a kernel, on one worker or several ---------------------===//
//
// Workers that run side by side take contiguous ranges of program ids, each with an arena and
// shadows of its own. Afterwards the shadows are compared: an element that two workers touched, of
// which one wrote it, is a race that no single worker saw. On any finding the memory is put back
// and the run repeated in order on one worker, which makes both report and results those of the
// order of program ids.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Memory.h"
#include "backends/interp/Translate.h"
#include "ir/diagnostics/Diagnostics.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace mlir;
using namespace tk;
using namespace tk::interp;

namespace {

/// Memory for one worker.
class Worker {
public:
  Worker(const Program &program, const Binding &binding, const Options &options,
         std::atomic<bool> *speculative);
  void run(int64_t begin, int64_t end);

  Findings findings;
  /// In the order of the buffers of all workers.
  std::vector<std::unique_ptr<BufferState>> buffers;

private:
  void addArgument(const ParamInfo &param, const Argument *argument, KernelOp kernel);
  void addShadows(const ParamInfo &param, Buffer &buffer, BufferState &state);
  void setScalars();

public:
  void bindArguments(KernelOp kernel);

private:
  const Program &program;
  const Binding &binding;
  const Options &options;
  Frame frame;
  std::vector<uint64_t> arena, boundArena;
  std::vector<std::unique_ptr<uint32_t, void (*)(void *)>> shadows;
  std::map<Buffer *, BufferState *> stateOf;
  std::vector<ArgState> args;
};

} // namespace

/// The arena begins on a cache line.
static uint8_t *aligned(std::vector<uint64_t> &memory, size_t bytes) {
  memory.assign(bytes / 8 + 9, 0);
  uint64_t address = reinterpret_cast<uint64_t>(memory.data());
  return reinterpret_cast<uint8_t *>((address + 63) & ~uint64_t(63));
}

Worker::Worker(const Program &program, const Binding &binding, const Options &options,
               std::atomic<bool> *speculative)
    : findings(program.ops.size(), options.maxFindings, speculative), program(program),
      binding(binding), options(options) {
  frame.program = &program;
  frame.findings = &findings;
  frame.arena = aligned(arena, program.arenaBytes);
  if (options.errorBounds)
    frame.boundArena = aligned(boundArena, program.arenaBytes * 4);
  std::copy_n(binding.grid, 3, frame.grid);
  for (const Program::Constant &constant : program.constants)
    std::memcpy(frame.arena + constant.slot, constant.bytes.data(), constant.bytes.size());
}

void Worker::addShadows(const ParamInfo &param, Buffer &buffer, BufferState &state) {
  auto shadow = [&](uint32_t *&place) {
    if (place)
      return;
    // calloc takes pages that are zero already.
    shadows.emplace_back(static_cast<uint32_t *>(std::calloc(size_t(buffer.elements) + 1, 4)),
                         std::free);
    place = shadows.back().get();
  };
  if (!options.checks.races || !param.isWritten)
    return;
  shadow(state.writer);
  if (param.isRead)
    shadow(state.reader);
}

static Access accessOf(DictionaryAttr entry) {
  auto access = entry.getAs<StringAttr>("access");
  if (access && access.getValue() == "in")
    return Access::In;
  return access && access.getValue() == "out" ? Access::Out : Access::InOut;
}

void Worker::addArgument(const ParamInfo &param, const Argument *argument, KernelOp kernel) {
  DictionaryAttr entry = kernel.getArgContract(unsigned(args.size()));
  ArgState &state = args.emplace_back();
  state.name = entry.getAs<StringAttr>("name").getValue().data();
  state.access = accessOf(entry);
  Buffer *buffer = argument ? argument->buffer : nullptr;
  BufferState *&shared = stateOf[buffer];
  if (!shared || !buffer) {
    buffers.push_back(std::make_unique<BufferState>());
    shared = buffers.back().get();
  }
  state.buffer = shared;
  if (!buffer)
    return;
  shared->data = buffer->data();
  shared->elements = buffer->elements;
  shared->dtype = buffer->dtype;
  shared->elementBytes = byteSize(buffer->dtype);
  if (!buffer->written.empty())
    shared->written = buffer->written.data();
  if (!buffer->bounds.empty())
    shared->bounds = buffer->bounds.data();
  addShadows(param, *buffer, *shared);
  state.origin = buffer->origin;
  state.extents = buffer->extents;
  state.strides = buffer->strides;
  state.checkBounds = options.checks.bounds;
  state.checkAccess = options.checks.access;
  state.checkRaces = options.checks.races;
}

void Worker::bindArguments(KernelOp kernel) {
  args.reserve(program.params.size());
  for (size_t i = 0; i < program.params.size(); ++i)
    addArgument(program.params[i], binding.arguments[i], kernel);
  for (ArgState &state : args) {
    const BufferState &buffer = *state.buffer;
    bool readsOut = state.access == Access::Out && options.checks.access && options.checks.init;
    bool writesIn = state.access == Access::In && options.checks.access;
    state.checkAccess = readsOut || writesIn;
    state.notesReads = (buffer.written && options.checks.init) || buffer.writer || readsOut;
    state.notesWrites = buffer.written || buffer.writer || writesIn;
  }
  frame.args = args.data();
  for (size_t i = 0; i < program.params.size(); ++i) {
    const ParamInfo &param = program.params[i];
    if (param.slot == kNoSlot)
      continue;
    uint64_t bits = 0;
    const Argument *argument = binding.arguments[i];
    if (!param.isScalar) {
      const ArgState &state = args[i];
      bits = reinterpret_cast<uint64_t>(state.buffer->data) +
             uint64_t(state.origin) * state.buffer->elementBytes;
    } else if (argument) {
      bits = argument->bits;
    } else {
      Attribute value = kernel.getArgContract(unsigned(i)).get("default");
      if (auto integer = dyn_cast<IntegerAttr>(value))
        bits = integer.getValue().getZExtValue();
      else if (auto number = dyn_cast<FloatAttr>(value))
        bits = number.getValue().bitcastToAPInt().getZExtValue();
    }
    std::memcpy(frame.arena + param.slot, &bits, 8);
  }
}

void Worker::run(int64_t begin, int64_t end) {
  for (int64_t id = begin; id < end && !findings.isOver(); ++id) {
    frame.instance = uint32_t(id + 1);
    frame.programId[0] = id % frame.grid[0];
    frame.programId[1] = id / frame.grid[0] % frame.grid[1];
    frame.programId[2] = id / frame.grid[0] / frame.grid[1];
    findings.clearPending();
    execute(program.code, frame);
  }
}

//===----------------------------------------------------------------------===//
// Side by side
//===----------------------------------------------------------------------===//

namespace {
/// What the kernel may write, as it was before.
struct Snapshot {
  Buffer *buffer;
  std::vector<uint64_t> storage;
  std::vector<uint8_t> written;
  std::vector<double> bounds;

  explicit Snapshot(Buffer *buffer)
      : buffer(buffer), storage(buffer->storage), written(buffer->written), bounds(buffer->bounds) {
  }
  void restore() const {
    // In place: workers and arguments hold pointers.
    std::copy(storage.begin(), storage.end(), buffer->storage.begin());
    std::copy(written.begin(), written.end(), buffer->written.begin());
    std::copy(bounds.begin(), bounds.end(), buffer->bounds.begin());
  }
};
} // namespace

static std::vector<Snapshot> takeSnapshots(const Program &program, const Binding &binding) {
  std::vector<Snapshot> snapshots;
  for (size_t i = 0; i < program.params.size(); ++i) {
    Buffer *buffer = binding.arguments[i] ? binding.arguments[i]->buffer : nullptr;
    if (buffer && program.params[i].isWritten)
      snapshots.emplace_back(buffer);
  }
  return snapshots;
}

/// Counts, for a stretch of elements, the workers that wrote and that touched each.
static void countTouches(const BufferState &state, int64_t begin, size_t count, uint8_t *writers,
                         uint8_t *touchers) {
  const uint32_t *writer = state.writer + begin;
  const uint32_t *reader = state.reader ? state.reader + begin : nullptr;
  for (size_t i = 0; i < count; ++i) {
    writers[i] |= writer[i] != 0;
    // Saturates at 2, which is all that is asked.
    uint8_t touched = writer[i] != 0 || (reader && reader[i] != 0);
    touchers[i] = uint8_t(std::min(touchers[i] + touched, 2));
  }
}

/// Two workers touched an element of the buffer and one of them wrote it.
static bool conflict(const std::vector<std::unique_ptr<Worker>> &workers, size_t buffer) {
  constexpr size_t kStretch = 4096;
  const BufferState &first = *workers[0]->buffers[buffer];
  if (!first.writer)
    return false;
  for (int64_t begin = 0; begin < first.elements; begin += kStretch) {
    size_t count = size_t(std::min<int64_t>(kStretch, first.elements - begin));
    uint8_t writers[kStretch] = {}, touchers[kStretch] = {};
    for (const auto &worker : workers)
      countTouches(*worker->buffers[buffer], begin, count, writers, touchers);
    bool found = false;
    for (size_t i = 0; i < count; ++i)
      found |= writers[i] && touchers[i] > 1;
    if (found)
      return true;
  }
  return false;
}

/// True when nothing was found, so that the results stand.
static bool runSideBySide(KernelOp kernel, const Program &program, const Binding &binding,
                          const Options &options, int64_t programs, unsigned threads) {
  std::atomic<bool> found = false;
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(program, binding, options, &found));
    workers.back()->bindArguments(kernel);
  }
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < threads; ++i)
    pool.emplace_back(
        [&, i] { workers[i]->run(programs * i / threads, programs * (i + 1) / threads); });
  for (std::thread &thread : pool)
    thread.join();
  if (found)
    return false;
  for (size_t buffer = 0; buffer < workers[0]->buffers.size(); ++buffer)
    if (conflict(workers, buffer))
      return false;
  return true;
}

/// As many workers as asked for, as long as their shadows fit and each has a few instances.
static unsigned numWorkers(const Program &program, const Binding &binding, const Options &options,
                           int64_t programs) {
  constexpr uint64_t kShadowBudgetBytes = uint64_t(1) << 30;
  uint64_t bytes = 1;
  for (size_t i = 0; i < program.params.size(); ++i)
    if (const Argument *argument = binding.arguments[i]; argument && argument->buffer)
      bytes += program.params[i].isWritten ? uint64_t(argument->buffer->elements) * 8 : 0;
  uint64_t workers = std::max<uint64_t>(options.threads, 1);
  workers = std::min<uint64_t>(workers, std::max<uint64_t>(kShadowBudgetBytes / bytes, 1));
  return unsigned(std::min<uint64_t>(workers, std::max<uint64_t>(uint64_t(programs) / 4, 1)));
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static InFlightDiagnostic emitFinding(Location loc, const Finding &finding, bool nanIsError) {
  const std::array<std::string, 6> &a = finding.args;
  switch (finding.kind) {
  case FindingKind::LoadOutside:
    return tk::emit<diag::LoadOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::StoreOutside:
    return tk::emit<diag::StoreOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::IndexOutside:
    return tk::emit<diag::IndexOutside>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::ReadUnwritten:
    return tk::emit<diag::ReadUnwritten>(loc, a[0], a[1], a[2]);
  case FindingKind::ReadOut:
    return tk::emit<diag::ReadOutParameter>(loc, a[0], a[1], a[2]);
  case FindingKind::WriteIn:
    return tk::emit<diag::WriteInParameter>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceWriteWrite:
    return tk::emit<diag::RaceWriteWrite>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::RaceReadWritten:
    return tk::emit<diag::RaceReadWritten>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::RaceWriteRead:
    return tk::emit<diag::RaceWriteRead>(loc, a[0], a[1], a[2], a[3], a[4]);
  case FindingKind::NanAppears:
    return nanIsError ? tk::emit<diag::NanMade>(loc, a[0], a[1], a[2])
                      : tk::emit<diag::NanStored>(loc, a[0], a[1], a[2]);
  case FindingKind::StepNotPositive:
    return tk::emit<diag::StepNotPositive>(loc, a[0], a[1]);
  case FindingKind::DivideByZero:
    return tk::emit<diag::DivideByZero>(loc, a[0], a[1], a[2]);
  case FindingKind::DivideOverflow:
    return tk::emit<diag::DivideOverflow>(loc, a[0], a[1], a[2]);
  case FindingKind::ShiftTooWide:
    return tk::emit<diag::ShiftTooWide>(loc, a[0], a[1], a[2], a[3]);
  case FindingKind::DuplicateStore:
    return tk::emit<diag::DuplicateStore>(loc, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  llvm_unreachable("all kinds are listed");
}

static void report(const Findings &findings, ArrayRef<Location> locations, const Options &options,
                   RunReport &result) {
  bool nanIsError = options.checks.nan == NanCheck::Error;
  for (const Finding &finding : findings.all()) {
    InFlightDiagnostic diag = emitFinding(locations[finding.op], finding, nanIsError);
    bool isError = diag.getUnderlyingDiagnostic()->getSeverity() == DiagnosticSeverity::Error;
    ++(isError ? result.errors : result.warnings);
    if (finding.further)
      diag.attachNote() << finding.further << " more of this kind at this place";
  }
  if (findings.all().size() >= options.maxFindings)
    result.errors += result.errors == 0; // the run was cut short
}

FailureOr<RunReport> tk::interp::run(KernelOp kernel, ArrayRef<Argument> args,
                                     const Options &options) {
  Translator translator(kernel, options);
  if (failed(translator.run()))
    return failure();
  FailureOr<Binding> binding = bind(kernel, args, options);
  if (failed(binding))
    return failure();
  const Program &program = translator.program;
  if (options.errorBounds)
    for (const Argument *argument : binding->arguments)
      if (argument && argument->buffer)
        argument->buffer->bounds.resize(size_t(argument->buffer->elements), 0.0);
  RunReport result;
  std::copy_n(binding->grid, 3, result.grid);
  result.programs = binding->grid[0] * binding->grid[1] * binding->grid[2];
  unsigned threads = numWorkers(program, *binding, options, result.programs);
  if (threads > 1) {
    std::vector<Snapshot> before = takeSnapshots(program, *binding);
    if (runSideBySide(kernel, program, *binding, options, result.programs, threads))
      return result;
    for (const Snapshot &snapshot : before)
      snapshot.restore();
  }
  Worker worker(program, *binding, options, nullptr);
  worker.bindArguments(kernel);
  worker.run(0, result.programs);
  report(worker.findings, translator.locations, options, result);
  return result;
}
