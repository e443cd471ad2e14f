//===- Search.h - which candidates get how many launches -------------------===//
// Candidates are timed in turn, A B C A B C, so that a clock that drifts drifts for all of them.
// What a launch is stands behind a function, so that the search knows no device.
#ifndef TKC_TUNE_SEARCH_H
#define TKC_TUNE_SEARCH_H

#include "Stats.h"

#include <functional>
#include <string>

namespace tkctune {

enum class Method { Exhaustive, Halving };

struct SearchOptions {
  Method method = Method::Exhaustive;
  int rounds = 5;       ///< turns that each candidate gets
  double margin = 0.10; ///< how much slower than the leader's p80 is hopeless
};

/// What became of one turn. Lost: the device takes no more launches.
enum class Turned { Well, Failed, Lost };

/// One candidate on its way.
struct Trial {
  enum class State { Running, Stopped, Failed, CutShort };
  State state = State::Running;
  std::vector<double> samples; ///< microseconds
  std::string why;             ///< of all but Running
};

/// Times one candidate for a turn: `share` (0 to 1) of a full turn's launches. Adds samples, or
/// gives the reason why it can't.
using Turn = std::function<Turned(size_t candidate, double share, std::vector<double> &samples,
                                  std::string &why)>;

/// Times all trials. Those that failed before (with a state other than Running) are left alone.
/// When the device is lost, those that have not had all their turns are cut short.
void search(const SearchOptions &options, std::vector<Trial> &trials, const Turn &turn);

/// The running trial with the lowest median, the first of equals; trials.size() when none has one.
size_t leaderOf(const std::vector<Trial> &trials);

} // namespace tkctune

#endif
