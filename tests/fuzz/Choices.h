//===- Choices.h - the decisions behind a generated program --------------------===//
//
// A generator draws all it decides from here. What it draws is kept, and drawing can be replayed
// from a shortened or lowered list, so that a program is made smaller by making its list of
// choices smaller: whatever the list, the generator makes a valid program of it. 0 is always the
// simplest choice, and what a list lacks at its end is 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace tk::fuzz {

class Choices {
public:
  explicit Choices(uint64_t seed) : random(seed) {}
  explicit Choices(std::vector<uint32_t> replay) : replay(std::move(replay)), isReplay(true) {}
  /// Each choice takes as many bytes as its range needs.
  static Choices ofBytes(llvm::ArrayRef<uint8_t> bytes) {
    Choices choices{std::vector<uint32_t>()};
    choices.bytes = bytes;
    return choices;
  }

  /// A number from 0 to n - 1.
  uint32_t below(uint32_t n) {
    uint32_t value = 0;
    if (!isReplay)
      value = uint32_t(random() % n);
    else if (taken.size() < replay.size())
      value = replay[taken.size()] % n;
    for (uint32_t range = n - 1; isReplay && range != 0 && !bytes.empty(); range >>= 8) {
      value = (value << 8 | bytes.front()) % n;
      bytes = bytes.drop_front();
    }
    taken.push_back(value);
    return value;
  }
  bool chance(uint32_t percent) { return below(100) >= 100 - percent; }
  template <class T> T pick(const std::vector<T> &list) { return list[below(uint32_t(list.size()))]; }
  template <class T> T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(uint32_t(list.size())));
  }

  /// All that was drawn so far.
  const std::vector<uint32_t> &drawn() const { return taken; }

private:
  std::mt19937_64 random;
  std::vector<uint32_t> replay, taken;
  llvm::ArrayRef<uint8_t> bytes; // to come
  bool isReplay = false;
};

/// Makes a list of choices smaller while `fails` holds of it; asks at most `budget` times.
template <class Fails> class Reducer {
public:
  Reducer(std::vector<uint32_t> list, unsigned budget, Fails fails)
      : list(std::move(list)), budget(budget), fails(std::move(fails)) {}

  /// Large changes first: most of what a program has is of no matter to its fault.
  std::vector<uint32_t> run() {
    shorten();
    for (size_t least = std::max<size_t>(list.size() / 16, 1);; least = 1) {
      bool progress = changeRuns(least);
      progress |= lowerSingles();
      if ((!progress && least == 1) || budget == 0)
        return list;
    }
  }

private:
  bool attempt(std::vector<uint32_t> candidate) {
    if (budget == 0 || candidate == list)
      return false;
    --budget;
    if (!fails(candidate))
      return false;
    list = std::move(candidate);
    return true;
  }

  /// The shortest beginning, by halves: what a list lacks is 0.
  void shorten() {
    for (size_t good = 0; list.size() - good > 1 && budget != 0;) {
      size_t middle = (good + list.size()) / 2;
      if (!attempt(std::vector<uint32_t>(list.begin(), list.begin() + long(middle))))
        good = middle;
    }
  }

  /// Runs of `least` choices or more: left out, else made 0; the last ones first.
  bool changeRuns(size_t least) {
    bool progress = false;
    for (size_t size = list.size(); size >= least && size != 0; size /= 2)
      for (size_t end = list.size(); end >= size && end != 0;) {
        auto first = long(end - size), last = long(end);
        std::vector<uint32_t> shorter(list), lower(list);
        shorter.erase(shorter.begin() + first, shorter.begin() + last);
        std::fill(lower.begin() + first, lower.begin() + last, 0);
        progress |= attempt(std::move(shorter)) || attempt(std::move(lower));
        end = std::min(size_t(first), list.size());
      }
    return progress;
  }

  bool lowerSingles() {
    bool progress = false;
    for (size_t i = 0; i < list.size() && budget != 0; ++i)
      for (uint32_t value : {0u, list[i] / 2, list[i] - (list[i] != 0)}) {
        if (value >= list[i])
          continue;
        std::vector<uint32_t> lower(list);
        lower[i] = value;
        if (attempt(std::move(lower))) {
          progress = true;
          break;
        }
      }
    return progress;
  }

  std::vector<uint32_t> list;
  unsigned budget;
  Fails fails;
};

/// The least list, as far as a simple search finds it, for which `fails` still holds; `list` is one
/// for which it does.
template <class Fails>
std::vector<uint32_t> reduce(std::vector<uint32_t> list, unsigned budget, Fails fails) {
  return Reducer<Fails>(std::move(list), budget, std::move(fails)).run();
}

} // namespace tk::fuzz
