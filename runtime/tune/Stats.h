//===- Stats.h - what many timed launches come to --------------------------===//
#ifndef TKC_TUNE_STATS_H
#define TKC_TUNE_STATS_H

#include <cstddef>
#include <vector>

namespace tkctune {

/// Microseconds of one candidate's launches.
struct Summary {
  double median = 0, p20 = 0, p80 = 0, least = 0;
  size_t count = 0;
};

/// The value below which `fraction` of the sorted samples lie, between neighbours linearly.
double percentile(const std::vector<double> &sorted, double fraction);

/// Of no samples: zeros.
Summary summarize(std::vector<double> samples);

} // namespace tkctune

#endif
