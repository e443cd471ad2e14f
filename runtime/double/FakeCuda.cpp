//===- FakeCuda.cpp - a recording double of libcuda and libamdhip64 --------===//
// The signatures are written out here a second time, from the vendors' documentation and not from
// runtime/src/Gpu.h, so that a slip there does not hide.
#include "FakeCuda.h"

#include <cstring>
#include <memory>

namespace {
constexpr int kInvalidValue = DriverDouble::kInvalidValue;

struct FakeFunction {
  std::string symbol;
};

struct FakeLaunchAttribute {
  int id;
  char pad[4];
  char value[64];
};

struct FakeLaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  FakeLaunchAttribute *attributes;
  unsigned attributeCount;
};

FakeCuda *fake = nullptr;
/// Owns what CUkernel and CUfunction handles point at, for the life of the double.
std::vector<std::unique_ptr<FakeFunction>> functions;

int fakeDeviceGetAttribute(int *value, int attribute, int) {
  DOUBLE_ENTER("cuDeviceGetAttribute");
  const std::map<int, int> known = {{1, 1024},
                                    {16, fake->sms},
                                    {75, fake->major},
                                    {76, fake->minor},
                                    {97, fake->maxShared},
                                    {95, fake->canCooperate},
                                    {120, fake->canCluster}};
  auto it = known.find(attribute);
  if (it == known.end())
    return kInvalidValue;
  *value = it->second;
  return 0;
}
int fakeHipDeviceGetAttribute(int *value, int attribute, int) {
  DOUBLE_ENTER("hipDeviceGetAttribute");
  const std::map<int, int> known = {
      {56, 1024},        {63, fake->sms},       {23, fake->major},
      {61, fake->minor}, {74, fake->maxShared}, {10, fake->canCooperate}};
  auto it = known.find(attribute);
  if (it == known.end())
    return kInvalidValue;
  *value = it->second;
  return 0;
}
int fakeHipGetDeviceProperties(void *properties, int) {
  DOUBLE_ENTER("hipGetDevicePropertiesR0600");
  memset(properties, 0x55, 1160); // all that is not read
  strncpy(static_cast<char *>(properties) + 1160, fake->archName.c_str(), 256);
  return 0;
}
int fakeCtxGetDevice(int *device) {
  DOUBLE_ENTER_CONTEXT("cuCtxGetDevice");
  *device = 1; // a context that a test brings is taken to be of device 1
  return 0;
}
int fakeLibraryLoadData(void **library, const void *code, int *options, void **values,
                        unsigned optionCount, int *, void **, unsigned) {
  std::lock_guard<std::mutex> lock(DriverDouble::mutex);
  int failure = fake->enter("cuLibraryLoadData");
  fake->loadedBytes.assign(static_cast<const char *>(code), fake->readBytes);
  for (unsigned i = 0; i < optionCount; ++i)
    if (options[i] == 5) // CU_JIT_ERROR_LOG_BUFFER
      strncpy(static_cast<char *>(values[i]), fake->jitLog.c_str(), 100);
  if (failure)
    return failure;
  ++fake->loadedLibraries;
  *library = fake;
  return 0;
}
int fakeHipModuleLoadData(void **module, const void *code) {
  DOUBLE_ENTER("hipModuleLoadData");
  fake->loadedBytes.assign(static_cast<const char *>(code), fake->readBytes);
  ++fake->loadedLibraries;
  *module = fake;
  return 0;
}
int fakeLibraryUnload(void *) {
  DOUBLE_ENTER("cuLibraryUnload");
  --fake->loadedLibraries;
  return 0;
}
int fakeLibraryGetKernel(void **kernel, void *library, const char *name) {
  DOUBLE_ENTER("cuLibraryGetKernel");
  if (library != fake || (!fake->symbols.empty() && !fake->symbols.count(name)))
    return DriverDouble::kNotFound;
  functions.push_back(std::unique_ptr<FakeFunction>(new FakeFunction{name}));
  *kernel = functions.back().get();
  return 0;
}
int fakeFuncGetAttribute(int *value, int attribute, void *) {
  DOUBLE_ENTER("cuFuncGetAttribute");
  *value = fake->maxThreadsPerFunction;
  return attribute == 0 ? 0 : kInvalidValue;
}
int fakeFuncSetAttribute(void *function, int attribute, int value) {
  DOUBLE_ENTER("cuFuncSetAttribute");
  const std::string &symbol = static_cast<FakeFunction *>(function)->symbol;
  if (attribute == 8) // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    fake->dynamicShared[symbol] = value;
  else if (attribute == 14 && value == 1) // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    fake->bigClusters.insert(symbol);
  else
    return kInvalidValue;
  return 0;
}
int fakeKernelGetParamInfo(void *, size_t index, size_t *offset, size_t *bytes) {
  if (index >= fake->params.size())
    return kInvalidValue;
  *offset = fake->params[index].first;
  *bytes = fake->params[index].second;
  return 0;
}
int fakeFuncLoad(void *) {
  DOUBLE_ENTER("cuFuncLoad");
  return 0;
}
int fakeOccupancyBlocks(int *blocks, void *, int, size_t) {
  DOUBLE_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = fake->blocksPerSm;
  return 0;
}
int fakeOccupancyClusters(int *clusters, void *, const void *opaque) {
  DOUBLE_ENTER("cuOccupancyMaxActiveClusters");
  const auto &config = *static_cast<const FakeLaunchConfig *>(opaque);
  if (config.attributeCount != 1 || config.attributes[0].id != 4)
    return kInvalidValue;
  *clusters = fake->clusters;
  return 0;
}
int fakeTensorMapEncodeTiled(void *map, int dataType, unsigned rank, void *address,
                             const uint64_t *dims, const uint64_t *strides, const unsigned *box,
                             const unsigned *elementStrides, int interleave, int swizzle, int l2,
                             int oob) {
  DOUBLE_ENTER("cuTensorMapEncodeTiled");
  if (reinterpret_cast<uintptr_t>(map) % 64)
    return kInvalidValue;
  FakeCuda::TensorMap record{dataType, interleave, swizzle, l2, oob, address, {}, {}, {}, {}};
  record.dims.assign(dims, dims + rank);
  record.strides.assign(strides, strides + rank - 1);
  record.box.assign(box, box + rank);
  record.elementStrides.assign(elementStrides, elementStrides + rank);
  memset(map, 0x40 + static_cast<int>(fake->tensorMaps.size()), 128);
  fake->tensorMaps.push_back(record);
  return 0;
}

/// The parameter buffer that the loader names behind the pointers to each parameter: this double
/// does not know how many of them the code has.
void readPointers(void **params, FakeCuda::Launch &launch) {
  void **end = params;
  while (*end)
    ++end;
  auto *begin = static_cast<unsigned char *>(end[-2]);
  launch.params.assign(begin, static_cast<unsigned char *>(end[-1]));
  for (; params != end - 2; ++params)
    launch.offsets.push_back(static_cast<size_t>(static_cast<unsigned char *>(*params) - begin));
}

int record(FakeCuda::Launch launch, void **params, void **extra, uintptr_t end) {
  if ((params && extra) || !readParamBuffer(extra, end, launch.params))
    return kInvalidValue;
  if (params)
    readPointers(params, launch);
  fake->launches.push_back(launch);
  return 0;
}

int fakeLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                     void *stream, void **params, void **extra) {
  DOUBLE_ENTER("cuLaunchKernel");
  return record({static_cast<FakeFunction *>(function)->symbol,
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 {},
                 {}},
                params, extra, 0);
}
int fakeHipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                              unsigned blockX, unsigned blockY, unsigned blockZ,
                              unsigned sharedBytes, void *stream, void **params, void **extra) {
  DOUBLE_ENTER("hipModuleLaunchKernel");
  return record({static_cast<FakeFunction *>(function)->symbol,
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 {},
                 {}},
                params, extra, 3);
}
int fakeLaunchKernelEx(const void *opaque, void *function, void **params, void **extra) {
  DOUBLE_ENTER("cuLaunchKernelEx");
  const auto &config = *static_cast<const FakeLaunchConfig *>(opaque);
  FakeCuda::Launch launch{static_cast<FakeFunction *>(function)->symbol,
                          {config.gridX, config.gridY, config.gridZ},
                          {config.blockX, config.blockY, config.blockZ},
                          config.sharedBytes,
                          config.stream,
                          {},
                          {}};
  launch.isExtended = true;
  for (unsigned i = 0; i < config.attributeCount; ++i) {
    int flag;
    memcpy(&flag, config.attributes[i].value, sizeof(flag));
    if (config.attributes[i].id == 2) // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
      launch.isCooperative = flag == 1;
    else if (config.attributes[i].id == 4) // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
      memcpy(launch.cluster, config.attributes[i].value, sizeof(launch.cluster));
    else if (config.attributes[i].id == 6) // ..._PROGRAMMATIC_STREAM_SERIALIZATION
      launch.isProgrammatic = flag == 1;
    else
      return kInvalidValue;
  }
  return record(launch, params, extra, 0);
}

template <typename Function> void *erase(Function *function) {
  return reinterpret_cast<void *>(function);
}

const std::map<std::string, void *> &functionTable() {
  static const std::map<std::string, void *> table = {
      {"cuDeviceGetAttribute", erase(fakeDeviceGetAttribute)},
      {"cuCtxGetDevice", erase(fakeCtxGetDevice)},
      {"cuLibraryLoadData", erase(fakeLibraryLoadData)},
      {"cuLibraryUnload", erase(fakeLibraryUnload)},
      {"cuLibraryGetKernel", erase(fakeLibraryGetKernel)},
      {"cuFuncGetAttribute", erase(fakeFuncGetAttribute)},
      {"cuFuncSetAttribute", erase(fakeFuncSetAttribute)},
      {"cuKernelGetParamInfo", erase(fakeKernelGetParamInfo)},
      {"cuFuncLoad", erase(fakeFuncLoad)},
      {"cuLaunchKernel", erase(fakeLaunchKernel)},
      {"cuLaunchKernelEx", erase(fakeLaunchKernelEx)},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", erase(fakeOccupancyBlocks)},
      {"cuOccupancyMaxActiveClusters", erase(fakeOccupancyClusters)},
      {"cuTensorMapEncodeTiled", erase(fakeTensorMapEncodeTiled)},
      {"hipInit", erase(cuInit)},
      {"hipDriverGetVersion", erase(cuDriverGetVersion)},
      {"hipDrvGetErrorName", erase(cuGetErrorName)},
      {"hipDrvGetErrorString", erase(cuGetErrorString)},
      {"hipGetDeviceCount", erase(cuDeviceGetCount)},
      {"hipDeviceGet", erase(cuDeviceGet)},
      {"hipDeviceGetAttribute", erase(fakeHipDeviceGetAttribute)},
      {"hipGetDevicePropertiesR0600", erase(fakeHipGetDeviceProperties)},
      {"hipDeviceTotalMem", erase(cuDeviceTotalMem_v2)},
      {"hipDevicePrimaryCtxRetain", erase(cuDevicePrimaryCtxRetain)},
      {"hipDevicePrimaryCtxRelease", erase(cuDevicePrimaryCtxRelease_v2)},
      {"hipCtxPushCurrent", erase(cuCtxPushCurrent_v2)},
      {"hipCtxPopCurrent", erase(cuCtxPopCurrent_v2)},
      {"hipCtxGetDevice", erase(fakeCtxGetDevice)},
      {"hipModuleLoadData", erase(fakeHipModuleLoadData)},
      {"hipModuleUnload", erase(fakeLibraryUnload)},
      {"hipModuleGetFunction", erase(fakeLibraryGetKernel)},
      {"hipFuncGetAttribute", erase(fakeFuncGetAttribute)},
      {"hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", erase(fakeOccupancyBlocks)},
      {"hipModuleLaunchKernel", erase(fakeHipModuleLaunchKernel)},
  };
  return table;
}
} // namespace

void *FakeCuda::resolve(void *user, const char *symbol) {
  const FakeCuda &self = *static_cast<FakeCuda *>(user);
  if (self.missing.count(symbol) ||
      (!self.knowsParams && strcmp(symbol, "cuKernelGetParamInfo") == 0))
    return nullptr;
  for (const auto *table : {&functionTable(), &sharedDriverFunctions()})
    if (auto it = table->find(symbol); it != table->end())
      return it->second;
  return nullptr;
}

FakeCuda::FakeCuda() {
  fake = this;
}

FakeCuda::~FakeCuda() {
  fake = nullptr;
  functions.clear();
}

tkc_driver_desc FakeCuda::descriptor() {
  tkc_driver_desc desc{};
  desc.size = sizeof(desc);
  desc.backend = TKC_CUDA;
  desc.resolve = resolve;
  desc.user = this;
  return desc;
}
