//===- Driver.h - one copy of libcuda, libamdhip64 or the interpreter ------===//
#ifndef TKC_RUNTIME_DRIVER_H
#define TKC_RUNTIME_DRIVER_H

#include "Gpu.h"
#include "tkc/cpu.h"
#include "tkc/runtime.h"

#include <atomic>
#include <sys/types.h>

struct tkc_driver {
  std::atomic<int> references{1}; ///< the caller's and one for each bundle
  uint32_t backend = TKC_CUDA;
  tkcrt::Gpu gpu;                              ///< TKC_CUDA and TKC_HIP
  const tkc_cpu_api *cpu = nullptr;            ///< TKC_CPU
  tkc_driver_desc hooks{};                     ///< alloc, free, log, on_submit and their user
  int version = 0;                             ///< cuDriverGetVersion, hipDriverGetVersion
  pid_t pid = 0;                               ///< who opened it, for messages
  const std::atomic<unsigned> *mark = nullptr; ///< the number of this process
  unsigned process = 0;                        ///< the number of the one that opened it

  /// Whether this is a child of the process that opened it: neither vendor's driver survives that.
  bool isForked() const;

  bool isCpu() const { return backend == TKC_CPU; }
  bool isHip() const { return backend == TKC_HIP; }
  /// "CUDA", "HIP", "CPU"
  const char *backendName() const;
};

namespace tkcrt {

/// Finds the functions of the driver's backend: by `desc`, among what is mapped, else by name.
tkc_status findFunctions(const tkc_driver_desc &desc, tkc_driver &driver, tkc_error *err);

/// Reports a failed driver call: `what` is "kernel `k`", `call` the function's name. A failure
/// that earlier work left behind is marked as such. Returns the status.
tkc_status failDriver(const Gpu &gpu, CUresult result, const char *what, const char *call,
                      tkc_error *err);

/// Fails in a process that was forked off after the driver was opened. Before every driver call;
/// what gives back is left out there, since the objects are the parent's.
tkc_status checkProcess(const tkc_driver &driver, tkc_error *err);

/// A line for the caller's `log`, when there is one. Never after prepare.
void logLine(const tkc_driver &driver, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

} // namespace tkcrt

#endif
