//===- Gpu.cpp - memory, streams and events of one device ------------------===//
#include "Gpu.h"

#include "Error.h"

#include <chrono>
#include <dlfcn.h>
#include <thread>

namespace tkctune {

using tkcrt::fail;

/// Numbers of CUDA 12's CUdevice_attribute.
enum : int {
  kRegistersPerBlock = 12,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedPerBlockOptin = 97,
  kBlocksPerMultiprocessor = 106,
  kReservedSharedPerBlock = 111,
};

constexpr int kCudaOutOfMemory = 2, kCudaNotReady = 600;

tkc_status Gpu::check(int result, const char *call, tkc_error *err) {
  if (!result)
    return TKC_OK;
  const char *name = nullptr;
  if (api.getErrorName)
    api.getErrorName(result, &name);
  fail(err, result == kCudaOutOfMemory ? TKC_E_NOMEM : TKC_E_DRIVER, "device %d: %s: %s (%d)",
       device, call, name ? name : "unknown error", result);
  tkcrt::addDriverCode(err, result, false);
  return result == kCudaOutOfMemory ? TKC_E_NOMEM : TKC_E_DRIVER;
}

/// The loader has opened the driver before: libcuda is mapped, or the caller resolves.
tkc_status Gpu::resolve(const tkc_driver_desc *desc, tkc_error *err) {
  bool isOurs = !desc || !desc->resolve;
  void *library = isOurs ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : nullptr;
  auto find = [&](const char *symbol) {
    if (!isOurs)
      return desc->resolve(desc->user, symbol);
    return library ? dlsym(library, symbol) : nullptr;
  };
#define TKC_TUNE_RESOLVE(name, symbol, params)                                                     \
  if (!(api.name = reinterpret_cast<decltype(api.name)>(find(symbol))))                            \
    return fail(err, TKC_E_DRIVER_OLD, "the driver has no %s, which timing needs", symbol);
  TKC_TUNE_CUDA_FUNCTIONS(TKC_TUNE_RESOLVE)
#undef TKC_TUNE_RESOLVE
  return TKC_OK;
}

tkc_status Gpu::readFacts(tkc_error *err) {
  char name[256] = {};
  size_t memory = 0;
  if (tkc_status status =
          check(api.deviceGetName(name, sizeof(name) - 1, handle), "cuDeviceGetName", err))
    return status;
  if (tkc_status status = check(api.deviceTotalMem(&memory, handle), "cuDeviceTotalMem", err))
    return status;
  if (tkc_status status =
          check(api.driverGetVersion(&deviceFacts.driverVersion), "cuDriverGetVersion", err))
    return status;
  deviceFacts.name = name;
  deviceFacts.memoryBytes = static_cast<int64_t>(memory);
  // What an older driver does not know stays 0; nothing here is needed for being right.
  auto ask = [&](int attribute) {
    int value = 0;
    return api.deviceGetAttribute(&value, attribute, handle) ? 0 : value;
  };
  deviceFacts.major = ask(kComputeMajor);
  deviceFacts.minor = ask(kComputeMinor);
  deviceFacts.sms = ask(kMultiprocessorCount);
  deviceFacts.l2Bytes = ask(kL2CacheSize);
  deviceFacts.sharedPerSm = ask(kSharedPerMultiprocessor);
  deviceFacts.sharedPerBlock = ask(kSharedPerBlockOptin);
  deviceFacts.sharedReserved = ask(kReservedSharedPerBlock);
  deviceFacts.registersPerSm = ask(kRegistersPerMultiprocessor);
  deviceFacts.registersPerBlock = ask(kRegistersPerBlock);
  deviceFacts.threadsPerSm = ask(kThreadsPerMultiprocessor);
  deviceFacts.blocksPerSm = ask(kBlocksPerMultiprocessor);
  deviceFacts.clockKhz = ask(kClockRate);
  deviceFacts.memoryClockKhz = ask(kMemoryClockRate);
  deviceFacts.memoryBusBits = ask(kMemoryBusWidth);
  return TKC_OK;
}

tkc_status Gpu::open(const tkc_driver_desc *desc, int ordinal, void *context, tkc_error *err) {
  device = ordinal;
  if (tkc_status status = resolve(desc, err))
    return status;
  int count = 0;
  if (tkc_status status = check(api.deviceGetCount(&count), "cuDeviceGetCount", err))
    return status;
  if (ordinal < 0 || ordinal >= count)
    return fail(err, TKC_E_DEVICE, "there is no device %d: this machine has %d", ordinal, count);
  if (tkc_status status = check(api.deviceGet(&handle, ordinal), "cuDeviceGet", err))
    return status;
  if (tkc_status status = readFacts(err))
    return status;
  ctx = context;
  ownsContext = !context;
  if (ownsContext)
    if (tkc_status status = makeContext(err))
      return status;
  Current current(*this);
  return check(api.streamCreate(&work, 1 /* CU_STREAM_NON_BLOCKING */), "cuStreamCreate", err);
}

tkc_status Gpu::makeContext(tkc_error *err) {
  if (tkc_status status = check(api.ctxCreate(&ctx, 0, handle), "cuCtxCreate", err)) {
    ctx = nullptr;
    return status;
  }
  void *popped = nullptr; // cuCtxCreate makes it current
  api.ctxPopCurrent(&popped);
  return TKC_OK;
}

void Gpu::close() {
  if (!ctx || isLost())
    return;
  {
    Current current(*this);
    for (void *event : events)
      api.eventDestroy(event);
    events.clear();
    if (work)
      api.streamDestroy(work);
    work = nullptr;
  }
  if (ownsContext)
    api.ctxDestroy(ctx);
  ctx = nullptr;
}

tkc_status Gpu::allocate(size_t bytes, uint64_t &address, tkc_error *err) {
  int result = api.memAlloc(&address, bytes);
  if (result == kCudaOutOfMemory)
    return fail(err, TKC_E_NOMEM,
                "device %d (%s) has no %zu bytes left for a buffer: tune a "
                "smaller shape, or end what else uses its memory",
                device, deviceFacts.name.c_str(), bytes);
  return check(result, "cuMemAlloc", err);
}

tkc_status Gpu::upload(uint64_t to, const void *from, size_t bytes, tkc_error *err) {
  return check(api.memcpyHtoDAsync(to, from, bytes, work), "cuMemcpyHtoDAsync", err);
}

tkc_status Gpu::copy(uint64_t to, uint64_t from, size_t bytes, tkc_error *err) {
  return check(api.memcpyDtoDAsync(to, from, bytes, work), "cuMemcpyDtoDAsync", err);
}

tkc_status Gpu::fill(uint64_t address, unsigned char value, size_t bytes, tkc_error *err) {
  return check(api.memsetD8Async(address, value, bytes, work), "cuMemsetD8Async", err);
}

tkc_status Gpu::record(size_t event, tkc_error *err) {
  return check(api.eventRecord(events[event], work), "cuEventRecord", err);
}

tkc_status Gpu::synchronize(tkc_error *err) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  int result = 0;
  while ((result = api.streamQuery(work)) == kCudaNotReady) {
    const std::chrono::duration<double, std::milli> waited = Clock::now() - begin;
    if (waited.count() > timeoutMs) {
      lose("a launch still runs");
      return fail(err, TKC_E_KERNEL, "it had not ended after %g s", timeoutMs / 1e3);
    }
    // Short waits are spun through: launches take microseconds, and nothing here is timed by the host.
    if (waited.count() > 1)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return check(result, "cuStreamQuery", err);
}

tkc_status Gpu::elapsed(size_t start, size_t end, double &microseconds, tkc_error *err) {
  float milliseconds = 0;
  tkc_status status = check(api.eventElapsedTime(&milliseconds, events[start], events[end]),
                            "cuEventElapsedTime", err);
  microseconds = static_cast<double>(milliseconds) * 1e3;
  return status;
}

tkc_status Gpu::needEvents(size_t count, tkc_error *err) {
  while (events.size() < count) {
    void *event = nullptr;
    if (tkc_status status = check(api.eventCreate(&event, 0), "cuEventCreate", err))
      return status;
    events.push_back(event);
  }
  return TKC_OK;
}

tkc_status Memory::allocate(Gpu &on, size_t bytes, tkc_error *err) {
  reset();
  if (!bytes)
    return TKC_OK;
  if (tkc_status status = on.allocate(bytes, begin, err)) {
    begin = 0;
    return status;
  }
  gpu = &on;
  size = bytes;
  return TKC_OK;
}

void Memory::reset() {
  if (begin)
    gpu->free(begin);
  begin = 0;
  size = 0;
}

} // namespace tkctune
