//===- Gpu.h - memory, streams and events of one device --------------------===//
// What timing needs of CUDA's driver beside the loader: found in the same driver, declared here
// like the loader's part (runtime/src/Cuda.h).
#ifndef TKC_TUNE_GPU_H
#define TKC_TUNE_GPU_H

#include "tkc/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tkctune {

/// X(return and name, symbol, parameters); results are CUresult.
#define TKC_TUNE_CUDA_FUNCTIONS(X)                                                                 \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorName, "cuGetErrorName", (int error, const char **text))                                \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (int *device, int ordinal))                                          \
  X(deviceGetName, "cuDeviceGetName", (char *name, int bytes, int device))                         \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                           \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))           \
  X(ctxCreate, "cuCtxCreate_v2", (void **context, unsigned flags, int device))                     \
  X(ctxDestroy, "cuCtxDestroy_v2", (void *context))                                                \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (void *context))                                        \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (void **context))                                         \
  X(memAlloc, "cuMemAlloc_v2", (uint64_t * address, size_t bytes))                                 \
  X(memFree, "cuMemFree_v2", (uint64_t address))                                                   \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                       \
    (uint64_t to, const void *from, size_t bytes, void *stream))                                   \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                       \
    (uint64_t to, uint64_t from, size_t bytes, void *stream))                                      \
  X(memsetD8Async, "cuMemsetD8Async",                                                              \
    (uint64_t address, unsigned char value, size_t count, void *stream))                           \
  X(streamCreate, "cuStreamCreate", (void **stream, unsigned flags))                               \
  X(streamDestroy, "cuStreamDestroy_v2", (void *stream))                                           \
  X(streamQuery, "cuStreamQuery", (void *stream))                                                  \
  X(eventCreate, "cuEventCreate", (void **event, unsigned flags))                                  \
  X(eventDestroy, "cuEventDestroy_v2", (void *event))                                              \
  X(eventRecord, "cuEventRecord", (void *event, void *stream))                                     \
  X(eventElapsedTime, "cuEventElapsedTime", (float *milliseconds, void *start, void *end))

struct GpuApi {
#define TKC_TUNE_MEMBER(name, symbol, params) int(*name) params = nullptr;
  TKC_TUNE_CUDA_FUNCTIONS(TKC_TUNE_MEMBER)
#undef TKC_TUNE_MEMBER
};

/// What the device is. 0: the driver does not say.
struct DeviceFacts {
  std::string name;
  int driverVersion = 0, major = 0, minor = 0, sms = 0;
  int64_t memoryBytes = 0, l2Bytes = 0;
  int64_t sharedPerSm = 0, sharedPerBlock = 0, sharedReserved = 0;
  int64_t registersPerSm = 0, registersPerBlock = 0, threadsPerSm = 0, blocksPerSm = 0;
  int64_t clockKhz = 0, memoryClockKhz = 0, memoryBusBits = 0;

  std::string arch() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
  /// Bytes per second of the memory's pins.
  double peakBandwidth() const {
    return static_cast<double>(memoryClockKhz) * 1e3 * 2 * static_cast<double>(memoryBusBits) / 8;
  }
};

/// One device with a context and a stream. Everything but open and the destructor wants the
/// context to be current: see Current.
class Gpu {
public:
  Gpu() = default;
  ~Gpu() { close(); }
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// `context` is the caller's, or null: then one is made here.
  tkc_status open(const tkc_driver_desc *desc, int device, void *context, tkc_error *err);
  void close();

  tkc_status allocate(size_t bytes, uint64_t &address, tkc_error *err);
  void free(uint64_t address) {
    if (!isLost())
      api.memFree(address);
  }
  tkc_status upload(uint64_t to, const void *from, size_t bytes, tkc_error *err);
  tkc_status copy(uint64_t to, uint64_t from, size_t bytes, tkc_error *err);
  tkc_status fill(uint64_t address, unsigned char value, size_t bytes, tkc_error *err);
  tkc_status record(size_t event, tkc_error *err);
  /// Waits for all work of the stream; TKC_E_KERNEL when that has not ended after the time-out: then
  /// the device is lost.
  tkc_status synchronize(tkc_error *err);
  /// A launch that faults or never ends stays with the process for good: a new context is refused
  /// or waits as well. From there on nothing is given back, which might wait for ever.
  void lose(const std::string &why) { lost = why; }
  bool isLost() const { return !lost.empty(); }
  const std::string &whyLost() const { return lost; }
  void setTimeout(double milliseconds) { timeoutMs = milliseconds; }
  double timeout() const { return timeoutMs; } ///< milliseconds
  /// Microseconds between two recorded events.
  tkc_status elapsed(size_t start, size_t end, double &microseconds, tkc_error *err);
  /// Makes sure that events [0, count) exist.
  tkc_status needEvents(size_t count, tkc_error *err);

  void *context() const { return ctx; }
  void *stream() const { return work; }
  int ordinal() const { return device; }
  const DeviceFacts &facts() const { return deviceFacts; }

  /// Makes the context current for as long as it lives.
  class Current {
  public:
    explicit Current(Gpu &gpu) : gpu(gpu) { gpu.api.ctxPushCurrent(gpu.ctx); }
    ~Current() {
      void *popped = nullptr;
      gpu.api.ctxPopCurrent(&popped);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

  private:
    Gpu &gpu;
  };

private:
  tkc_status check(int result, const char *call, tkc_error *err);
  tkc_status resolve(const tkc_driver_desc *desc, tkc_error *err);
  tkc_status readFacts(tkc_error *err);
  tkc_status makeContext(tkc_error *err);

  GpuApi api;
  DeviceFacts deviceFacts;
  int device = 0, handle = 0;
  void *ctx = nullptr, *work = nullptr;
  bool ownsContext = false;
  std::string lost;
  double timeoutMs = 10000;
  std::vector<void *> events;
};

/// Device memory that frees itself; the context must be current when it ends.
class Memory {
public:
  Memory() = default;
  ~Memory() { reset(); }
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(gpu, other.gpu);
    std::swap(begin, other.begin);
    std::swap(size, other.size);
    return *this;
  }
  tkc_status allocate(Gpu &on, size_t bytes, tkc_error *err);
  void reset();
  uint64_t address() const { return begin; }
  size_t bytes() const { return size; }

private:
  Gpu *gpu = nullptr;
  uint64_t begin = 0;
  size_t size = 0;
};

} // namespace tkctune

#endif
