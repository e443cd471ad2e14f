//===- Schedule.cpp - program instances that take turns -----------------------------===//
//
// Where instances may wait for each other, several are live at once, in the order of their ids: the
// next one begins when one ends, so that all smaller ids have begun before a larger one does. Each
// runs until an atomic operation or the end of a round of a loop, then the next one does; who has
// its turn depends on nothing but the kernel and its arguments.
//
// An instance is stuck when a round of a loop has changed neither what the loop carries nor memory,
// and nobody else has changed memory since the round before: the next round would be the same. When
// all that are live are stuck, nothing will ever happen.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Worker.h"
#include <algorithm>
#include <cstring>
#include <random>

using namespace tk::interp;

namespace tk::interp {
class Turns {
public:
  Turns(Worker &worker, int64_t programs, int64_t window)
      : worker(worker), programs(programs), window(window), random(worker.options.seed) {}
  void run();

private:
  struct Live {
    Space space;
    int64_t id = 0;
    size_t resumeAt = 0;
    std::vector<Finding> pending;
    // The last round of a loop: where, and what it carried into the next one.
    const Inst *round = nullptr;
    std::vector<uint8_t> carried, carriedNow;
    Frame::Look lookedAt;
    uint64_t version = 0;          // of memory, after that round
    uint64_t stuckVersion = UINT64_MAX; // as long as memory is of this version it is stuck
  };
  /// When counters hide that nothing happens: so many turns without a change of memory are taken
  /// for never.
  static constexpr uint64_t kPatience = 20'000'000;

  void fill();
  void turn(Live &live);
  void endRound(Live &live);
  void end(Live &live);
  bool isDeadlocked() const;
  void reportDeadlock();
  std::vector<Live *> orderOfTurns();

  Worker &worker;
  int64_t programs, window, next = 0;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Live>> live; // in order of ids
  std::vector<std::unique_ptr<Live>> idle; // to be used again
  uint64_t version = 0;                    // changes of memory
  uint64_t quietTurns = 0;                 // since the last one, or since an instance began or ended
};
} // namespace tk::interp

void Turns::fill() {
  while (next < programs && int64_t(live.size()) < window) {
    if (idle.empty()) {
      idle.push_back(std::make_unique<Live>());
      worker.prepare(idle.back()->space);
    }
    live.push_back(std::move(idle.back()));
    idle.pop_back();
    Live &fresh = *live.back();
    fresh.id = next++;
    fresh.resumeAt = 0;
    fresh.round = nullptr;
    fresh.lookedAt = {};
    fresh.stuckVersion = UINT64_MAX;
    worker.start(fresh.space, fresh.id);
    quietTurns = 0;
  }
}

/// What a round of a loop has come to.
void Turns::endRound(Live &live) {
  Frame &frame = live.space.frame;
  const RoundPlan &plan = worker.program.memory.rounds[frame.pausedAt->aux];
  live.carriedNow.clear();
  for (const RoundPlan::Range &range : plan.carried) {
    const uint8_t *bytes = frame.at<uint8_t>(range.slot);
    live.carriedNow.insert(live.carriedNow.end(), bytes, bytes + range.bytes);
  }
  if (live.round == frame.pausedAt && live.version == version && live.carried == live.carriedNow)
    live.stuckVersion = version;
  live.round = frame.pausedAt;
  live.version = version;
  std::swap(live.carried, live.carriedNow);
  live.lookedAt = std::exchange(frame.lookedAt, {});
}

void Turns::turn(Live &live) {
  Frame &frame = live.space.frame;
  frame.changes = 0;
  std::swap(worker.findings.pending, live.pending);
  worker.runOn(live.space, live.resumeAt);
  std::swap(worker.findings.pending, live.pending);
  ++quietTurns;
  if (frame.changes) {
    ++version;
    quietTurns = 0;
  }
  live.resumeAt = frame.resumeAt;
  if (frame.pause == Pause::Round)
    endRound(live);
  if (frame.pause == Pause::None)
    end(live);
}

void Turns::end(Live &ended) {
  if (worker.races)
    worker.races->end(ended.space.frame.instance);
  if (worker.program.hasPrints)
    worker.lines.add(ended.id, std::exchange(ended.space.printed, {}));
  ended.pending.clear();
  ended.space.frame.lookedAt = {};
  auto found = std::find_if(live.begin(), live.end(),
                            [&](const std::unique_ptr<Live> &one) { return one.get() == &ended; });
  idle.push_back(std::move(*found));
  live.erase(found);
  quietTurns = 0;
}

bool Turns::isDeadlocked() const {
  if (quietTurns > kPatience)
    return true;
  return std::all_of(live.begin(), live.end(), [&](const std::unique_ptr<Live> &one) {
    return one->stuckVersion == version;
  });
}

void Turns::reportDeadlock() {
  for (const std::unique_ptr<Live> &one : live) {
    const Frame &frame = one->space.frame;
    Finding *finding = worker.findings.add(FindingKind::Deadlock, frame.pausedAt->op);
    if (!finding)
      continue;
    finding->args[0] = programOf(frame);
    const auto [arg, element] = one->lookedAt;
    if (arg)
      finding->args[1] = ": element " + coordinatesOf(*arg, element) + " of `" + arg->name +
                         "` stays " +
                         valueText(arg->buffer->dtype, arg->buffer->data +
                                                           size_t(element) *
                                                               arg->buffer->elementBytes);
    if (next < programs)
      finding->args[2] = programText(frame.grid, uint32_t(next + 1));
  }
}

std::vector<Turns::Live *> Turns::orderOfTurns() {
  std::vector<Live *> order;
  for (const std::unique_ptr<Live> &one : live)
    order.push_back(one.get());
  if (worker.options.order == Order::Reverse)
    std::reverse(order.begin(), order.end());
  if (worker.options.order == Order::Shuffle)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
  return order;
}

void Turns::run() {
  fill();
  while (!live.empty() && !worker.findings.isOver()) {
    for (Live *one : orderOfTurns())
      if (!worker.findings.isOver())
        turn(*one);
    fill();
    if (!live.empty() && isDeadlocked()) {
      reportDeadlock();
      break;
    }
  }
  for (const std::unique_ptr<Live> &one : live) // of a run that was cut short
    worker.lines.add(one->id, std::exchange(one->space.printed, {}));
  worker.lines.flush();
}

void Worker::takeTurns(int64_t programs, int64_t window) {
  Turns(*this, programs, window).run();
}

static void pause(const Inst &inst, Frame &frame, Pause why) {
  frame.pause = why;
  frame.pausedAt = &inst;
  frame.resumeAt = frame.pc;
  frame.pc = kPastTheEnd;
}
static void pauseForTurn(const Inst &inst, Frame &frame) {
  pause(inst, frame, Pause::Turn);
}
static void pauseForRound(const Inst &inst, Frame &frame) {
  pause(inst, frame, Pause::Round);
}

InstFn tk::interp::selectTurn() {
  return pauseForTurn;
}
InstFn tk::interp::selectRound() {
  return pauseForRound;
}
