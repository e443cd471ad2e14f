//===- Clock.cpp - what one program instance knows of the others --------------===//

#include "backends/interp/Clock.h"
#include <algorithm>

using namespace tk::interp;

uint32_t Clock::countOf(uint32_t instance) const {
  auto after = std::upper_bound(runs.begin(), runs.end(), instance,
                                [](uint32_t value, const Run &run) { return value < run.begin; });
  if (after == runs.begin())
    return 0;
  const Run &run = *std::prev(after);
  return instance < run.end ? run.count : 0;
}

void Clock::append(std::vector<Run> &to, Run run) {
  if (!to.empty() && to.back().end == run.begin && to.back().count == run.count)
    to.back().end = run.end;
  else
    to.push_back(run);
}

void Clock::raise(uint32_t instance, uint32_t count) {
  Clock one;
  one.runs.push_back({instance, instance + 1, count});
  join(one);
}

/// Walks both lists at once; where they overlap the larger count stays.
void Clock::join(const Clock &other) {
  if (other.runs.empty())
    return;
  std::vector<Run> result;
  result.reserve(runs.size() + 1);
  auto a = runs.begin();
  auto b = other.runs.begin();
  uint32_t at = 0; // everything below is done
  while (a != runs.end() || b != other.runs.end()) {
    const bool hasA = a != runs.end(), hasB = b != other.runs.end();
    const uint32_t beginA = hasA ? std::max(a->begin, at) : UINT32_MAX;
    const uint32_t beginB = hasB ? std::max(b->begin, at) : UINT32_MAX;
    const uint32_t begin = std::min(beginA, beginB);
    // Up to where the same runs cover `begin`.
    uint32_t end = UINT32_MAX, count = 0;
    if (hasA) {
      end = std::min(end, beginA == begin ? a->end : beginA);
      count = beginA == begin ? a->count : 0;
    }
    if (hasB) {
      end = std::min(end, beginB == begin ? b->end : beginB);
      count = std::max(count, beginB == begin ? b->count : 0);
    }
    append(result, {begin, end, count});
    at = end;
    if (hasA && a->end <= at)
      ++a;
    if (hasB && b->end <= at)
      ++b;
  }
  runs = std::move(result);
}
