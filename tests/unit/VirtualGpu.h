//===- VirtualGpu.h - a driver whose clock is computed ---------------------===//
// A double of libcuda for timing: memory is the host's, launches take as long as a function of
// their symbol and grid says, plus noise, and events read that clock. One at a time; its functions
// have the driver's own names, so that it also serves as a libcuda.so.1 (tests/tools).
#ifndef TKC_TESTS_VIRTUAL_GPU_H
#define TKC_TESTS_VIRTUAL_GPU_H

#include "runtime/double/DriverDouble.h"

#include <tkc/runtime.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct VirtualGpu : DriverDouble {
  struct Launch {
    std::string symbol;
    unsigned grid[3], block[3];
    std::vector<unsigned char> params;

    double blocks() const { return double(grid[0]) * grid[1] * grid[2]; }
    /// A pointer in the parameter buffer.
    template <typename T> T *pointer(size_t at) const {
      return *reinterpret_cast<T *const *>(params.data() + at);
    }
  };

  VirtualGpu();
  ~VirtualGpu();

  /// A descriptor whose resolver finds this double's functions.
  tkc_driver_desc descriptor();

  /// What the system does when the process ends: nothing lives on.
  void endProcess();

  // What the machine is like: an H200, unless a test says otherwise.
  std::map<int, int> attributes;
  std::string name = "Virtual H200";
  double noise = 0.02;                            ///< a launch takes up to this share more or less
  std::set<std::string> faulty;                   ///< symbols whose launch faults
  std::string faultyPart;                         ///< the same for all that contain this
  std::string endless;                            ///< launches of symbols that hold this never end
  std::string crashing;                           ///< launches of these end the process: SIGSEGV
  std::map<std::string, double> microseconds;     ///< by symbol; else `duration`
  std::function<double(const Launch &)> duration; ///< default: by blocks and threads
  std::function<void(const Launch &)> effect;     ///< what a launch does to memory

  // What happened.
  std::vector<Launch> launches;
  double clock = 0; ///< microseconds
  bool isHung = false;
  int blockedCalls = 0; ///< that would have waited for ever
  int liveContexts = 0, liveStreams = 0, liveEvents = 0;
  std::map<uint64_t, size_t> memory; ///< allocations that live

private:
  std::vector<std::shared_ptr<void>> objects; ///< of the driver's: they end with the process
  template <typename Object> friend Object *make();
};

#endif
