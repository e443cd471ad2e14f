//===- PhaseTimes.cpp - where the time of a compile went, by phase and pass ------------===//

#include "driver/PhaseTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tk;

/// On each thread a phase has parts of its own, so that nobody else starts or stops them.
struct PhaseTimes::Phase {
  std::string name;
  const void *id = nullptr;
  uint64_t thread = 0;
  bool isHidden = false;
  llvm::TimeRecord taken{};
  llvm::TimeRecord begun{};
  std::vector<std::unique_ptr<Phase>> parts{};
};

PhaseTimes::PhaseTimes(bool enabled) {
  if (enabled)
    root = std::make_unique<Phase>(Phase{.name = "total"});
}

PhaseTimes::~PhaseTimes() = default;

std::optional<void *> PhaseTimes::rootTimer() {
  return root ? std::optional<void *>(root.get()) : std::nullopt;
}

void PhaseTimes::startTimer(void *handle) {
  static_cast<Phase *>(handle)->begun = llvm::TimeRecord::getCurrentTime(/*Start=*/true);
}

void PhaseTimes::stopTimer(void *handle) {
  auto *phase = static_cast<Phase *>(handle);
  llvm::TimeRecord took = llvm::TimeRecord::getCurrentTime(/*Start=*/false);
  took -= phase->begun;
  phase->taken += took;
}

void *PhaseTimes::nestTimer(void *handle, const void *id, llvm::function_ref<std::string()> name) {
  std::lock_guard<std::mutex> guard(mutex);
  auto &parts = static_cast<Phase *>(handle)->parts;
  uint64_t thread = llvm::get_threadid();
  auto known = llvm::find_if(parts, [&](const auto &part) { return part->id == id && part->thread == thread; });
  if (known == parts.end())
    known = parts.insert(parts.end(), std::make_unique<Phase>(Phase{.name = name(), .id = id, .thread = thread}));
  return known->get();
}

void PhaseTimes::hideTimer(void *handle) {
  std::lock_guard<std::mutex> guard(mutex);
  static_cast<Phase *>(handle)->isHidden = true;
}

void PhaseTimes::print(llvm::raw_ostream &out) const {
  if (!root)
    return;
  out << "  clock ms  processor ms  phase\n";
  printPhase(out, *root, 0);
}

void PhaseTimes::printPhase(llvm::raw_ostream &out, const Phase &phase, unsigned depth) {
  if (!phase.isHidden) {
    out << llvm::format("%10.1f  %12.1f  ", 1e3 * phase.taken.getWallTime(), 1e3 * phase.taken.getProcessTime());
    out.indent(2 * depth) << phase.name << "\n";
  }
  for (const auto &part : phase.parts)
    printPhase(out, *part, depth + !phase.isHidden);
}
