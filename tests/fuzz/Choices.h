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

/// The least list, as far as a simple search finds it, for which `fails` still holds; `list` is one
/// for which it does. Calls `fails` at most `budget` times.
template <class Fails>
std::vector<uint32_t> reduce(std::vector<uint32_t> list, unsigned budget, Fails fails) {
  auto attempt = [&](std::vector<uint32_t> candidate) {
    if (budget == 0 || candidate == list)
      return false;
    --budget;
    if (!fails(candidate))
      return false;
    list = std::move(candidate);
    return true;
  };
  for (bool progress = true; progress && budget != 0;) {
    progress = false;
    for (size_t size = list.size(); size >= 1; size /= 2) // leave out runs, the last ones first
      for (size_t end = list.size(); end >= size; end -= std::min(end, size)) {
        std::vector<uint32_t> shorter(list);
        shorter.erase(shorter.begin() + long(end - size), shorter.begin() + long(end));
        progress |= attempt(std::move(shorter));
        if (end > list.size())
          end = list.size();
        if (end < size || end == 0)
          break;
      }
    for (size_t i = 0; i < list.size() && budget != 0; ++i) { // lower single choices
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
    }
  }
  return list;
}

} // namespace tk::fuzz
