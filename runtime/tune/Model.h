//===- Model.h - what is not worth a launch --------------------------------===//
// Two questions, answered before anything is timed: does a configuration fit the device at all,
// and how much time does it need at the very least? The model knows the grid, the block's
// resources and what the kernel declares to cost; it is there to leave out the hopeless, not to
// choose.
#ifndef TKC_TUNE_MODEL_H
#define TKC_TUNE_MODEL_H

#include "Gpu.h"

#include <string>

namespace tkctune {

/// What a launch takes. 0: not known.
struct Footprint {
  int64_t threads = 0, registers = 0, sharedBytes = 0, localBytes = 0;
  double blocks = 0;
  double flops = 0, bytes = 0;  ///< of the whole launch
  bool usesMatrixUnits = false; ///< the element types have them: flops may be theirs
};

/// Blocks of this kind that one multiprocessor holds; 0: it does not fit.
int64_t occupancyOf(const DeviceFacts &device, const Footprint &need);

/// Why it can't run here; empty when it can.
std::string whyUnfit(const DeviceFacts &device, const Footprint &need);

/// Microseconds that it can't beat by much: the busiest multiprocessor's share of bytes and
/// operations at the device's peaks. 0: nothing is known.
double leastTime(const DeviceFacts &device, const Footprint &need);

/// Dense operations per clock and multiprocessor on 16-bit floats; 0: not known.
double matrixFlopsPerClock(int major, int minor);

} // namespace tkctune

#endif
