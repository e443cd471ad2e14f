//===- Stats.cpp - what many timed launches come to ------------------------===//
#include "Stats.h"

#include <algorithm>

namespace tkctune {

double percentile(const std::vector<double> &sorted, double fraction) {
  if (sorted.empty())
    return 0;
  double at = fraction * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

Summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  Summary result;
  result.count = samples.size();
  if (samples.empty())
    return result;
  result.least = samples.front();
  result.p20 = percentile(samples, 0.2);
  result.median = percentile(samples, 0.5);
  result.p80 = percentile(samples, 0.8);
  return result;
}

} // namespace tkctune
