//===- Worker.h - one thread's view of a run ---------------------------------------===//
//
// A worker has the memory of the arguments with shadows of its own, and runs program instances:
// one after the other in one arena, or, where they may wait for each other, many that are live at
// once and take turns, each in an arena of its own (Schedule.cpp).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Interp.h"
#include "backends/interp/Memory.h"
#include <deque>

namespace tk::interp {

/// In which order instances run: the position in the order gives the linear id.
class InstanceOrder {
public:
  InstanceOrder(const Options &options, int64_t programs);
  int64_t idAt(int64_t position) const {
    if (kind == Order::Forward)
      return position;
    return kind == Order::Reverse ? programs - 1 - position : ids[size_t(position)];
  }

private:
  Order kind;
  int64_t programs;
  std::vector<uint32_t> ids; // shuffled
};

/// The lines that instances print, in the order of ids whatever the order in which they run.
class PrintedLines {
public:
  explicit PrintedLines(llvm::raw_ostream *out) : out(out) {}
  /// All that instance `id` printed.
  void add(int64_t id, std::string text);
  /// What is left of a run that was cut short.
  void flush();

private:
  llvm::raw_ostream *out;
  int64_t next = 0;
  std::map<int64_t, std::string> waiting;
};

/// Where one instance runs: a frame and the memory behind it.
struct Space {
  Frame frame;
  std::vector<uint64_t> arena, boundArena;
  std::string printed;
};

class Worker {
public:
  Worker(const Program &program, KernelOp kernel, const Binding &binding, const Options &options,
         std::atomic<bool> *speculative);

  /// Runs the instances at positions `begin` to before `end`, one after the other.
  void run(const InstanceOrder &order, int64_t begin, int64_t end);
  /// Runs all instances, `window` of them live at once.
  void takeTurns(int64_t programs, int64_t window);

  Findings findings;
  /// In the order of the buffers of all workers.
  std::vector<std::unique_ptr<BufferState>> buffers;

private:
  BufferState *bufferStateOf(Buffer *buffer);
  void addShadows();
  void addShadows(llvm::ArrayRef<BufferState *> sharing);
  void addSums();
  void setMemory(ArgState &state, Buffer *buffer, int64_t aliasClass);
  void addArgument(size_t index);
  void addPointees(const Argument &argument, mlir::Type pointer, Access access);
  void addUnknown(const std::string &name, mlir::Type pointer, Access access);
  void setNotes(ArgState &state);
  uint64_t initialBits(size_t index);
  void prepare(Space &space);
  void start(Space &space, int64_t id);
  void runOn(Space &space, size_t from);

  const Program &program;
  KernelOp kernel;
  const Binding &binding;
  const Options &options;
  std::vector<std::unique_ptr<uint32_t, void (*)(void *)>> shadows;
  std::vector<std::vector<double>> sums;
  std::map<Buffer *, BufferState *> stateOf;
  std::vector<ArgState> args;
  std::deque<ArgState> pointees;
  std::deque<Buffer> unknown; // what tables of the caller's point to
  MemoryMap memory;
  std::unique_ptr<Races> races;
  PrintedLines lines;
  uint64_t ticks = 0;

  friend class Turns;
};

/// Says what was found, and counts it in `result`.
void report(const Findings &findings, llvm::ArrayRef<mlir::Location> locations,
            const Options &options, RunReport &result);

} // namespace tk::interp
