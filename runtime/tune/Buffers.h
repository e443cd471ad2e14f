//===- Buffers.h - the memory that is timed on -----------------------------===//
// What a kernel writes is never the caller's: a copy stands in for it, and where the kernel also
// reads it, every launch begins with what stood there first. So no launch sees another's result.
#ifndef TKC_TUNE_BUFFERS_H
#define TKC_TUNE_BUFFERS_H

#include "Gpu.h"
#include "Plan.h"

namespace tkctune {

class Buffers {
public:
  /// Allocates and fills. The plan must outlive this.
  tkc_status make(Gpu &gpu, const Plan &plan, const std::map<std::string, Fill> &fills,
                  tkc_error *err);

  /// Puts back, on the stream, what a launch changes and the next would read.
  tkc_status reset(Gpu &gpu, tkc_error *err) const;

  const std::vector<tkc_arg> &args() const { return arguments; }

private:
  struct Slot {
    Memory work;           ///< what is launched on; none: the caller's memory, which is only read
    Memory pristine;       ///< what `work` begins with, where that matters and is not the caller's
    uint64_t original = 0; ///< where to copy from before each launch; 0: nowhere
    bool isZeroed = false;
  };
  tkc_status makeSlot(Gpu &gpu, const PlannedArg &arg, const Fill *fill, Slot &slot,
                      tkc_error *err);
  void addArgument(const PlannedArg &arg, const Slot &slot);

  std::vector<Slot> slots;
  std::vector<tkc_arg> arguments;
};

} // namespace tkctune

#endif
