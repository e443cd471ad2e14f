//===- Driver.h - one copy of libcuda --------------------------------------===//
#ifndef TKC_RUNTIME_DRIVER_H
#define TKC_RUNTIME_DRIVER_H

#include "Cuda.h"
#include "tkc/runtime.h"

#include <atomic>
#include <sys/types.h>

struct tkc_driver {
  std::atomic<int> references{1}; ///< the caller's and one for each bundle
  tkcrt::Cuda cuda;
  int version = 0; ///< cuDriverGetVersion
  pid_t pid = 0;   ///< who opened it: CUDA does not survive a fork
};

namespace tkcrt {

/// Reports a failed driver call: `what` is "kernel `k`", `call` the function's name. A failure
/// that earlier work left behind is marked as such. Returns the status.
tkc_status failDriver(const Cuda &cuda, CUresult result, const char *what, const char *call,
                      tkc_error *err);

/// Fails in a process that was forked off after the driver was opened.
tkc_status checkProcess(const tkc_driver &driver, tkc_error *err);

} // namespace tkcrt

#endif
