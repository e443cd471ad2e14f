//===- Search.cpp - which candidates get how many launches -----------------===//
#include "Search.h"

#include <algorithm>
#include <cstdio>

namespace tkctune {

using State = Trial::State;

size_t leaderOf(const std::vector<Trial> &trials) {
  size_t leader = trials.size();
  double best = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].state != State::Running || trials[i].samples.empty())
      continue;
    double median = summarize(trials[i].samples).median;
    if (leader == trials.size() || median < best) {
      leader = i;
      best = median;
    }
  }
  return leader;
}

/// One turn of every running trial; false when some can't have theirs any more: then the others
/// are not all there to be compared with.
static bool takeTurns(std::vector<Trial> &trials, double share, const Turn &turn) {
  bool isComplete = true;
  for (size_t i = 0; i < trials.size(); ++i) {
    Trial &trial = trials[i];
    if (trial.state != State::Running)
      continue;
    Turned turned = turn(i, share, trial.samples, trial.why);
    if (turned != Turned::Well)
      trial.state = turned == Turned::Lost ? State::CutShort : State::Failed;
    isComplete &= turned != Turned::Lost;
  }
  return isComplete;
}

static void stop(Trial &trial, const char *format, double a, double b) {
  char text[160];
  snprintf(text, sizeof(text), format, a, b);
  trial.state = State::Stopped;
  trial.why = text;
}

/// Stops those whose best launch so far is worse than the leader's slow ones.
static void stopHopeless(std::vector<Trial> &trials, double margin) {
  size_t leader = leaderOf(trials);
  if (leader == trials.size())
    return;
  double bar = summarize(trials[leader].samples).p80 * (1 + margin);
  for (Trial &trial : trials)
    if (trial.state == State::Running && !trial.samples.empty()) {
      double best = summarize(trial.samples).least;
      if (best > bar)
        stop(trial, "its best launch took %.2f us, the leader's slow ones take %.2f us", best, bar);
    }
}

/// Stops the slower half, as long as more than two are left.
static void halve(std::vector<Trial> &trials) {
  std::vector<std::pair<double, size_t>> running;
  for (size_t i = 0; i < trials.size(); ++i)
    if (trials[i].state == State::Running)
      running.emplace_back(summarize(trials[i].samples).median, i);
  std::sort(running.begin(), running.end());
  size_t kept = std::max<size_t>(2, (running.size() + 1) / 2);
  for (size_t i = kept; i < running.size(); ++i)
    stop(trials[running[i].second], "halved away: median %.2f us, the leader's %.2f us",
         running[i].first, running[0].first);
}

static size_t countRunning(const std::vector<Trial> &trials) {
  return static_cast<size_t>(std::count_if(trials.begin(), trials.end(), [](const Trial &trial) {
    return trial.state == State::Running;
  }));
}

/// Successive halving: short turns for many, longer ones for the better half, and so on.
static void searchHalving(std::vector<Trial> &trials, const Turn &turn) {
  for (double share = 0.125; countRunning(trials) > 2; share = std::min(1.0, share * 2)) {
    if (!takeTurns(trials, share, turn))
      return;
    halve(trials);
  }
}

void search(const SearchOptions &options, std::vector<Trial> &trials, const Turn &turn) {
  if (options.method == Method::Halving)
    searchHalving(trials, turn);
  for (int round = 0; round < options.rounds; ++round) {
    if (takeTurns(trials, 1, turn))
      stopHopeless(trials, options.margin);
  }
}

} // namespace tkctune
