//===- VirtualGpu.cpp - a driver whose clock is computed -------------------===//
#include "VirtualGpu.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {
/// Larger blocks are not touched: a flush of the L2 cache would take the host most of the time.
constexpr size_t kMostTouched = size_t(64) << 20;

struct Context {};
struct Function {
  std::string symbol;
};
struct Event {
  double at = 0;
};

VirtualGpu *gpu = nullptr;
uint64_t noiseState = 1;
} // namespace

template <typename Object> Object *make() {
  auto object = std::make_shared<Object>();
  gpu->objects.push_back(object);
  return object.get();
}

namespace {

/// In [-1, 1), the same numbers each time.
double nextNoise() {
  noiseState = noiseState * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(static_cast<int64_t>(noiseState) >> 11) * 0x1p-52;
}

bool holds(const std::string &symbol, const std::string &part) {
  return !part.empty() && symbol.find(part) != std::string::npos;
}

double bytesTime(size_t bytes) {
  return 2 + static_cast<double>(bytes) / 4e6; // 4 TB/s
}

double defaultDuration(const VirtualGpu::Launch &launch) {
  double threads = double(launch.block[0]) * launch.block[1] * launch.block[2];
  return 5 + launch.blocks() * (2 + threads / 64) / gpu->attributes[16];
}
} // namespace

extern "C" {
int cuDeviceGetName(char *name, int bytes, int) {
  DOUBLE_ENTER("cuDeviceGetName");
  snprintf(name, static_cast<size_t>(bytes), "%s", gpu->name.c_str());
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  DOUBLE_ENTER("cuDeviceGetAttribute");
  auto it = gpu->attributes.find(attribute);
  if (it == gpu->attributes.end())
    return DriverDouble::kInvalidValue;
  *value = it->second;
  return 0;
}
int cuCtxCreate_v2(void **context, unsigned, int) {
  DOUBLE_ENTER_DEVICE("cuCtxCreate_v2");
  ++gpu->liveContexts;
  *context = make<Context>();
  gpu->contexts.push_back(*context);
  return 0;
}
int cuCtxDestroy_v2(void *context) {
  gpu->blockedCalls += gpu->isHung;
  DOUBLE_ENTER_DEVICE("cuCtxDestroy_v2");
  if (!gpu->contexts.empty() && gpu->contexts.back() == context)
    gpu->contexts.pop_back();
  --gpu->liveContexts;
  return 0;
}
int cuCtxSetCurrent(void *context) {
  DOUBLE_ENTER("cuCtxSetCurrent");
  if (!gpu->contexts.empty())
    gpu->contexts.pop_back();
  gpu->contexts.push_back(context);
  return 0;
}
int cuCtxSynchronize() {
  DOUBLE_ENTER_CONTEXT("cuCtxSynchronize");
  return 0;
}
int cuCtxGetDevice(int *device) {
  DOUBLE_ENTER_CONTEXT("cuCtxGetDevice");
  *device = 0;
  return 0;
}
int cuLibraryLoadData(void **library, const void *, int *, void **, unsigned, int *, void **,
                      unsigned) {
  DOUBLE_ENTER_DEVICE("cuLibraryLoadData");
  ++gpu->loadedLibraries;
  *library = gpu;
  return 0;
}
int cuLibraryUnload(void *) {
  gpu->blockedCalls += gpu->isHung;
  DOUBLE_ENTER_DEVICE("cuLibraryUnload");
  --gpu->loadedLibraries;
  return 0;
}
int cuLibraryGetKernel(void **kernel, void *, const char *name) {
  DOUBLE_ENTER_DEVICE("cuLibraryGetKernel");
  Function *function = make<Function>();
  function->symbol = name;
  *kernel = function;
  return 0;
}
int cuFuncGetAttribute(int *value, int, void *) {
  DOUBLE_ENTER_DEVICE("cuFuncGetAttribute");
  *value = 1024;
  return 0;
}
int cuFuncSetAttribute(void *, int, int) {
  DOUBLE_ENTER_DEVICE("cuFuncSetAttribute");
  return 0;
}
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned, void *, void **, void **extra) {
  DOUBLE_ENTER_CONTEXT("cuLaunchKernel");
  VirtualGpu::Launch launch{static_cast<Function *>(function)->symbol,
                            {gridX, gridY, gridZ},
                            {blockX, blockY, blockZ},
                            {}};
  if (!readParamBuffer(extra, 0, launch.params))
    return DriverDouble::kInvalidValue;
  if (holds(launch.symbol, gpu->crashing))
    raise(SIGSEGV);
  gpu->isHung |= holds(launch.symbol, gpu->endless);
  if (gpu->faulty.count(launch.symbol) || holds(launch.symbol, gpu->faultyPart))
    gpu->fault = DriverDouble::kIllegalAddress;
  if (gpu->effect)
    gpu->effect(launch);
  auto it = gpu->microseconds.find(launch.symbol);
  double time = it != gpu->microseconds.end() ? it->second
                : gpu->duration               ? gpu->duration(launch)
                                              : defaultDuration(launch);
  gpu->clock += time * (1 + gpu->noise * nextNoise());
  gpu->launches.push_back(std::move(launch));
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  gpu->blockedCalls += gpu->isHung;
  DOUBLE_ENTER_CONTEXT("cuMemAlloc_v2");
  size_t used = 0;
  for (const auto &block : gpu->memory)
    used += block.second;
  if (bytes > gpu->memoryBytes - std::min(used, gpu->memoryBytes))
    return DriverDouble::kOutOfMemory;
  void *data = aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!data)
    return DriverDouble::kOutOfMemory;
  *address = reinterpret_cast<uint64_t>(data);
  gpu->memory[*address] = bytes;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  gpu->blockedCalls += gpu->isHung;
  DOUBLE_ENTER_DEVICE("cuMemFree_v2");
  if (!gpu->memory.erase(address))
    return DriverDouble::kInvalidValue;
  free(reinterpret_cast<void *>(address));
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
  DOUBLE_ENTER_CONTEXT("cuMemcpyHtoDAsync_v2");
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  DOUBLE_ENTER_CONTEXT("cuMemcpyHtoD_v2");
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  DOUBLE_ENTER_CONTEXT("cuMemcpyDtoH_v2");
  memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  DOUBLE_ENTER_CONTEXT("cuMemcpyDtoDAsync_v2");
  if (bytes <= kMostTouched)
    memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  gpu->clock += 2 * bytesTime(bytes);
  return 0;
}
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t count, void *) {
  DOUBLE_ENTER_CONTEXT("cuMemsetD8Async");
  if (count <= kMostTouched)
    memset(reinterpret_cast<void *>(address), value, count);
  gpu->clock += bytesTime(count);
  return 0;
}
int cuStreamCreate(void **stream, unsigned) {
  DOUBLE_ENTER_CONTEXT("cuStreamCreate");
  ++gpu->liveStreams;
  *stream = &gpu->liveStreams;
  return 0;
}
int cuStreamDestroy_v2(void *) {
  DOUBLE_ENTER_DEVICE("cuStreamDestroy_v2");
  --gpu->liveStreams;
  return 0;
}
int cuStreamQuery(void *) {
  DOUBLE_ENTER_CONTEXT("cuStreamQuery");
  return gpu->isHung ? DriverDouble::kNotReady : 0;
}
int cuEventCreate(void **event, unsigned) {
  DOUBLE_ENTER_CONTEXT("cuEventCreate");
  ++gpu->liveEvents;
  *event = make<Event>();
  return 0;
}
int cuEventDestroy_v2(void *) {
  DOUBLE_ENTER_DEVICE("cuEventDestroy_v2");
  --gpu->liveEvents;
  return 0;
}
int cuEventRecord(void *event, void *) {
  DOUBLE_ENTER_CONTEXT("cuEventRecord");
  static_cast<Event *>(event)->at = gpu->clock;
  return 0;
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  DOUBLE_ENTER_CONTEXT("cuEventElapsedTime");
  *milliseconds =
      static_cast<float>((static_cast<Event *>(end)->at - static_cast<Event *>(start)->at) / 1e3);
  return 0;
}
} // extern "C"

static void *resolve(void *, const char *symbol) {
#define ENTRY(name)                                                                                \
  { #name, reinterpret_cast < void *>(name) }
  static const std::map<std::string, void *> table = {
      ENTRY(cuDeviceGetName),    ENTRY(cuDeviceGetAttribute), ENTRY(cuCtxCreate_v2),
      ENTRY(cuCtxDestroy_v2),    ENTRY(cuCtxGetDevice),       ENTRY(cuLibraryLoadData),
      ENTRY(cuLibraryUnload),    ENTRY(cuLibraryGetKernel),   ENTRY(cuFuncGetAttribute),
      ENTRY(cuFuncSetAttribute), ENTRY(cuLaunchKernel),       ENTRY(cuMemAlloc_v2),
      ENTRY(cuMemFree_v2),       ENTRY(cuMemcpyHtoDAsync_v2), ENTRY(cuMemcpyDtoDAsync_v2),
      ENTRY(cuMemsetD8Async),    ENTRY(cuStreamCreate),       ENTRY(cuStreamDestroy_v2),
      ENTRY(cuStreamQuery),      ENTRY(cuEventCreate),        ENTRY(cuEventDestroy_v2),
      ENTRY(cuEventRecord),      ENTRY(cuEventElapsedTime)};
#undef ENTRY
  for (const auto *functions : {&table, &sharedDriverFunctions()})
    if (auto it = functions->find(symbol); it != functions->end())
      return it->second;
  return nullptr;
}

VirtualGpu::VirtualGpu() {
  // CUdevice_attribute's numbers; values are an H200's.
  attributes = {{1, 1024},    {12, 65536},    {13, 1980000}, {16, 132}, {36, 3201000},
                {37, 6144},   {38, 52428800}, {39, 2048},    {75, 9},   {76, 0},
                {81, 233472}, {82, 65536},    {97, 232448},  {106, 32}, {111, 1024}};
  gpu = this;
  noiseState = 1;
}

void VirtualGpu::endProcess() {
  for (const auto &block : memory)
    free(reinterpret_cast<void *>(block.first));
  memory.clear();
  liveContexts = liveStreams = liveEvents = loadedLibraries = retained = 0;
  isHung = false;
  fault = 0;
  objects.clear();
}

VirtualGpu::~VirtualGpu() {
  endProcess();
  gpu = nullptr;
}

tkc_driver_desc VirtualGpu::descriptor() {
  tkc_driver_desc desc{};
  desc.size = sizeof(desc);
  desc.backend = TKC_CUDA;
  desc.resolve = resolve;
  desc.user = this;
  return desc;
}
