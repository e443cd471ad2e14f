//===- Session.h - candidates on a device, ready to be timed ---------------===//
// How a launch is timed: docs/performance.md. A kernel that faults or never ends takes the device
// from the process, whatever the context: nothing is launched after it.
#ifndef TKC_TUNE_SESSION_H
#define TKC_TUNE_SESSION_H

#include "Buffers.h"
#include "Candidate.h"
#include "Search.h"

namespace tkctune {

struct TimingOptions {
  double budgetMs = 20;    ///< of one candidate's full turn, flushes included
  uint64_t flushBytes = 0; ///< zeroed ahead of each launch; 0: chosen after the L2 cache
};

class Session {
public:
  Session(tkc_driver *driver, Gpu &gpu, const Plan &plan, const std::map<std::string, Fill> &fills,
          std::vector<const Candidate *> candidates, const TimingOptions &options)
      : driver(driver), gpu(gpu), plan(plan), fills(fills), candidates(std::move(candidates)),
        options(options), ready(this->candidates.size()) {}
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Allocates, unless the device is lost. The gpu's context must be current from here to the end.
  tkc_status open(tkc_error *err);

  /// Times one candidate for a share of a full turn, or gives the reason why it can't.
  Turned turn(size_t index, double share, std::vector<double> &samples, std::string &why);

  /// Launches a candidate once on other arguments, untimed.
  tkc_status launchOn(size_t index, const std::vector<tkc_arg> &args, tkc_error *err);

  /// Bytes read and written a second by the driver's own copy.
  tkc_status copyBandwidth(double &bytesPerSecond, tkc_error *err);

  /// The index of the variant that was launched; -1: none was.
  int32_t variantOf(size_t index) const { return ready[index].variant; }
  /// Whether its own launches failed: not for want of code, memory or a context.
  bool hasFaulted(size_t index) const { return ready[index].hasFaulted; }
  /// Whether the device waited for the host: the figures then hold host time too.
  bool isHostBound(size_t index) const {
    return ready[index].hostBoundTurns * 2 > ready[index].turns;
  }

private:
  struct Ready {
    tkc_bundle *bundle = nullptr;
    tkc_kernel *kernel = nullptr;
    tkc_launch launch{};
    std::vector<unsigned char> params;
    double launchUs = 0; ///< a flush and a launch, estimated
    int turns = 0, hostBoundTurns = 0;
    int32_t variant = -1;
    bool hasFaulted = false;
  };
  tkc_status prepare(size_t index, tkc_error *err);
  tkc_status encode(Ready &entry, const std::vector<tkc_arg> &args, tkc_error *err);
  tkc_status launchOnce(const Ready &entry, tkc_error *err);
  tkc_status estimate(Ready &entry, tkc_error *err);
  tkc_status sample(Ready &entry, size_t count, std::vector<double> &samples, tkc_error *err);
  void release(Ready &entry);
  void checkDevice(size_t index, const char *why);

  tkc_driver *driver;
  Gpu &gpu;
  const Plan &plan;
  const std::map<std::string, Fill> &fills;
  std::vector<const Candidate *> candidates;
  TimingOptions options;
  std::vector<Ready> ready;
  std::unique_ptr<Buffers> buffers;
  Memory flush;
};

} // namespace tkctune

#endif
