//===- Run.cpp - all instances of a kernel, on one worker or several ---------------------===//
//
// Workers that run side by side take contiguous ranges of program ids, each with an arena and
// shadows of its own. Afterwards the shadows are compared: an element that two workers touched, of
// which one wrote it, is a race that no single worker saw. On any finding the memory is put back
// and the run repeated in order on one worker, which makes both report and results those of the
// order of program ids.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Translate.h"
#include "backends/interp/Worker.h"
#include "ir/diagnostics/Diagnostics.h"
#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

using namespace mlir;
using namespace tk;
using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Side by side
//===----------------------------------------------------------------------===//

namespace {
/// What the kernel may write, as it was before.
struct Snapshot {
  Buffer *buffer;
  std::vector<uint8_t> bytes; // of the elements that forEachRun gives
  std::vector<uint8_t> written;
  std::vector<double> bounds;

  explicit Snapshot(Buffer *buffer);
  void restore() const;
};
} // namespace

/// Calls `fn(first, count)` for runs of adjacent elements that are the buffer's: in memory of its
/// own all, in the caller's those that its indices reach, since others may be at work between them.
static void forEachRun(const Buffer &buffer, llvm::function_ref<void(int64_t, int64_t)> fn) {
  if (!buffer.borrowed || buffer.elements == 0)
    return fn(0, buffer.elements);
  std::vector<int64_t> extents = buffer.extents, strides = buffer.strides;
  int64_t run = 1;
  if (auto inner = llvm::find(strides, 1); inner != strides.end())
    run = std::exchange(extents[size_t(inner - strides.begin())], 1);
  std::vector<int64_t> at(extents.size(), 0);
  int64_t element = buffer.origin;
  for (bool isMore = true; isMore;) {
    fn(element, run);
    isMore = false;
    for (size_t axis = 0; axis < at.size() && !isMore; ++axis) {
      element += strides[axis];
      isMore = ++at[axis] < extents[axis];
      if (isMore)
        continue;
      element -= extents[axis] * strides[axis];
      at[axis] = 0;
    }
  }
}

Snapshot::Snapshot(Buffer *buffer)
    : buffer(buffer), written(buffer->written), bounds(buffer->bounds) {
  const size_t size = byteSize(buffer->dtype);
  forEachRun(*buffer, [&](int64_t first, int64_t count) {
    const uint8_t *from = buffer->data() + size_t(first) * size;
    bytes.insert(bytes.end(), from, from + size_t(count) * size);
  });
}

/// In place: workers and arguments hold pointers.
void Snapshot::restore() const {
  const size_t size = byteSize(buffer->dtype);
  const uint8_t *from = bytes.data();
  forEachRun(*buffer, [&](int64_t first, int64_t count) {
    std::memcpy(buffer->data() + size_t(first) * size, from, size_t(count) * size);
    from += size_t(count) * size;
  });
  std::copy(written.begin(), written.end(), buffer->written.begin());
  std::copy(bounds.begin(), bounds.end(), buffer->bounds.begin());
}

static void forEachBuffer(const Argument &argument, int64_t aliasClass, Type pointee,
                          llvm::function_ref<void(Buffer &, int64_t)> fn) {
  if (argument.buffer)
    fn(*argument.buffer, aliasClass);
  auto pointer = dyn_cast_if_present<PtrType>(pointee);
  for (const Argument &inner : argument.pointees)
    forEachBuffer(inner, pointer.getAliasClass(), pointer.getPointee(), fn);
}

/// All memory of the arguments, with its alias class.
static void forEachBuffer(KernelOp kernel, const Binding &binding,
                          llvm::function_ref<void(Buffer &, int64_t)> fn) {
  for (auto [argument, type] : llvm::zip(binding.arguments, kernel.getArgumentTypes())) {
    if (!argument)
      continue;
    if (auto view = dyn_cast<ViewType>(type))
      forEachBuffer(*argument, view.getAliasClass(), view.getElement(), fn);
    else if (auto pointer = dyn_cast<PtrType>(type))
      forEachBuffer(*argument, pointer.getAliasClass(), pointer.getPointee(), fn);
  }
}

static ClassUse useOf(const Program &program, int64_t aliasClass) {
  auto found = program.classes.find(aliasClass);
  return found == program.classes.end() ? ClassUse() : found->second;
}

static std::vector<Snapshot> takeSnapshots(KernelOp kernel, const Program &program,
                                           const Binding &binding) {
  std::vector<Snapshot> snapshots;
  forEachBuffer(kernel, binding, [&](Buffer &buffer, int64_t aliasClass) {
    if (useOf(program, aliasClass).isWritten)
      snapshots.emplace_back(&buffer);
  });
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
  for (unsigned i = 0; i < threads; ++i)
    workers.push_back(std::make_unique<Worker>(program, kernel, binding, options, &found));
  const InstanceOrder order(options, programs);
  auto work = [&](unsigned i) {
    try {
      workers[i]->run(order, programs * i / threads, programs * (i + 1) / threads);
    } catch (const std::bad_alloc &) {
      found = true; // one worker may fit; where it does not, the caller is told
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(threads);
  for (unsigned i = 1; i < threads; ++i) {
    try {
      pool.emplace_back(work, i);
    } catch (const std::system_error &) { // no more threads
      work(i);
    }
  }
  work(0);
  for (std::thread &thread : pool)
    thread.join();
  if (found)
    return false;
  for (size_t buffer = 0; buffer < workers[0]->buffers.size(); ++buffer)
    if (conflict(workers, buffer))
      return false;
  return true;
}

/// As many workers as asked for, as long as their shadows fit and each has a few instances. What
/// depends on the order in which instances run has one.
static unsigned numWorkers(KernelOp kernel, const Program &program, const Binding &binding,
                           const Options &options, int64_t programs) {
  bool isUnbounded = false; // cannot be put back
  forEachBuffer(kernel, binding,
                [&](Buffer &buffer, int64_t) { isUnbounded |= buffer.isUnbounded; });
  if (program.hasAtomics || program.takesTurns || program.hasPrints || program.hasClock ||
      isUnbounded)
    return 1;
  constexpr uint64_t kShadowBudgetBytes = uint64_t(1) << 30;
  uint64_t bytes = 1;
  forEachBuffer(kernel, binding, [&](Buffer &buffer, int64_t aliasClass) {
    bytes += useOf(program, aliasClass).isWritten ? uint64_t(buffer.elements) * 8 : 0;
  });
  uint64_t workers = std::max<uint64_t>(options.threads, 1);
  workers = std::min<uint64_t>(workers, std::max<uint64_t>(kShadowBudgetBytes / bytes, 1));
  return unsigned(std::min<uint64_t>(workers, std::max<uint64_t>(uint64_t(programs) / 4, 1)));
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

/// How many instances are live at once where they take turns; none after an error.
static FailureOr<int64_t> windowOf(KernelOp kernel, const Program &program, const Options &options,
                                   int64_t programs) {
  const size_t bytes = std::max<size_t>(program.arenaBytes * (options.errorBounds ? 5 : 1), 1);
  const int64_t fitting = std::max<int64_t>(int64_t(options.maxArenaBytes / bytes), 1);
  auto cooperative = kernel.getContract().getFields().getAs<BoolAttr>("cooperative");
  if (!cooperative || !cooperative.getValue())
    return std::min({options.window, fitting, programs});
  if (programs > fitting)
    return tk::emit<diag::CooperativeTooLarge>(kernel.getLoc(), programs, bytes,
                                               options.maxArenaBytes);
  return programs;
}

/// In order, on one worker.
static LogicalResult runAlone(KernelOp kernel, const Program &program, ArrayRef<Location> locations,
                              const Binding &binding, const Options &options, RunReport &result) {
  FailureOr<int64_t> window = 1;
  if (program.takesTurns)
    window = windowOf(kernel, program, options, result.programs);
  if (failed(window))
    return failure();
  Worker worker(program, kernel, binding, options, nullptr);
  if (program.takesTurns)
    worker.takeTurns(result.programs, *window);
  else
    worker.run(InstanceOrder(options, result.programs), 0, result.programs);
  report(worker.findings, locations, options, result);
  return success();
}

FailureOr<Prepared> Prepared::make(KernelOp kernel, const Options &options) {
  Translator translator(kernel, options);
  if (failed(translator.run()))
    return failure();
  Prepared prepared;
  prepared.kernel = kernel;
  prepared.program = std::make_shared<const Program>(std::move(translator.program));
  prepared.locations = std::move(translator.locations);
  return prepared;
}

FailureOr<RunReport> Prepared::run(ArrayRef<Argument> args, const Options &options) const {
  FailureOr<Binding> binding = bind(kernel, args, options);
  if (failed(binding))
    return failure();
  return runBound(*binding, options);
}

FailureOr<RunReport> Prepared::launch(ArrayRef<Argument> args, const int64_t (&grid)[3],
                                      const Options &options) const {
  Binding binding;
  for (const Argument &argument : args)
    binding.arguments.push_back(&argument);
  std::copy_n(grid, 3, binding.grid);
  if (failed(checkGrid(kernel, grid)))
    return failure();
  return runBound(binding, options);
}

FailureOr<RunReport> Prepared::runBound(const Binding &binding, const Options &options) const {
  const Program &program = *this->program;
  if (options.errorBounds)
    forEachBuffer(kernel, binding, [](Buffer &buffer, int64_t) {
      buffer.bounds.resize(size_t(buffer.elements), 0.0);
    });
  RunReport result;
  std::copy_n(binding.grid, 3, result.grid);
  result.programs = binding.grid[0] * binding.grid[1] * binding.grid[2];
  unsigned threads = numWorkers(kernel, program, binding, options, result.programs);
  if (threads > 1) {
    std::vector<Snapshot> before = takeSnapshots(kernel, program, binding);
    if (runSideBySide(kernel, program, binding, options, result.programs, threads))
      return result;
    for (const Snapshot &snapshot : before)
      snapshot.restore();
  }
  if (failed(runAlone(kernel, program, locations, binding, options, result)))
    return failure();
  return result;
}

FailureOr<RunReport> tk::interp::run(KernelOp kernel, ArrayRef<Argument> args,
                                     const Options &options) {
  FailureOr<Prepared> prepared = Prepared::make(kernel, options);
  if (failed(prepared))
    return failure();
  return prepared->run(args, options);
}
