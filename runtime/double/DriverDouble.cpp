//===- DriverDouble.cpp - what the doubles of a driver share ----------------===//
// The signatures are written out here a second time, from the vendors' documentation and not from
// runtime/src/Gpu.h, so that a slip there does not hide.
#include "DriverDouble.h"

DriverDouble *DriverDouble::current = nullptr;
std::mutex DriverDouble::mutex;

int DriverDouble::enter(const char *name) {
  ++calls[name];
  auto it = failures.find(name);
  return it == failures.end() ? 0 : it->second;
}

int DriverDouble::enterDevice(const char *name) {
  int failure = enter(name);
  return failure ? failure : fault;
}

int DriverDouble::enterContext(const char *name) {
  int failure = enterDevice(name);
  return failure || !contexts.empty() ? failure : kInvalidContext;
}

bool readParamBuffer(void **extra, uintptr_t end, std::vector<unsigned char> &out) {
  const unsigned char *bytes = nullptr;
  for (; extra && *extra != reinterpret_cast<void *>(end); extra += 2) {
    if (*extra == reinterpret_cast<void *>(1)) // CU_LAUNCH_PARAM_BUFFER_POINTER
      bytes = static_cast<const unsigned char *>(extra[1]);
    else if (*extra == reinterpret_cast<void *>(2)) // CU_LAUNCH_PARAM_BUFFER_SIZE
      out.assign(bytes, bytes + *static_cast<size_t *>(extra[1]));
    else
      return false;
  }
  return true;
}

static DriverDouble &self() {
  return *DriverDouble::current;
}

int cuInit(unsigned) {
  DOUBLE_ENTER("cuInit");
  return 0;
}

int cuDriverGetVersion(int *version) {
  DOUBLE_ENTER("cuDriverGetVersion");
  *version = self().driverVersion;
  return 0;
}

int cuGetErrorName(int error, const char **text) {
  *text = error == DriverDouble::kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == DriverDouble::kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                                 : "CUDA_ERROR_OF_THE_DOUBLE";
  return 0;
}

int cuGetErrorString(int, const char **text) {
  *text = "as the test asked";
  return 0;
}

int cuDeviceGetCount(int *count) {
  DOUBLE_ENTER("cuDeviceGetCount");
  *count = self().deviceCount;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  DOUBLE_ENTER("cuDeviceGet");
  *device = ordinal;
  return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int) {
  DOUBLE_ENTER("cuDeviceTotalMem_v2");
  *bytes = self().memoryBytes;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  static int primary[8]; // their addresses are the primary contexts
  DOUBLE_ENTER_DEVICE("cuDevicePrimaryCtxRetain");
  ++self().retained;
  *context = &primary[device];
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  DOUBLE_ENTER_DEVICE("cuDevicePrimaryCtxRelease_v2");
  --self().retained;
  return 0;
}

int cuCtxPushCurrent_v2(void *context) {
  DOUBLE_ENTER("cuCtxPushCurrent_v2");
  self().contexts.push_back(context);
  return 0;
}

int cuCtxPopCurrent_v2(void **context) {
  DOUBLE_ENTER("cuCtxPopCurrent_v2");
  if (self().contexts.empty())
    return DriverDouble::kInvalidContext;
  *context = self().contexts.back();
  self().contexts.pop_back();
  return 0;
}

int cuKernelGetFunction(void **function, void *kernel) {
  DOUBLE_ENTER_CONTEXT("cuKernelGetFunction");
  *function = kernel;
  return 0;
}

const std::map<std::string, void *> &sharedDriverFunctions() {
#define ENTRY(name)                                                                                \
  { #name, reinterpret_cast < void *>(name) }
  static const std::map<std::string, void *> table = {
      ENTRY(cuInit),
      ENTRY(cuDriverGetVersion),
      ENTRY(cuGetErrorName),
      ENTRY(cuGetErrorString),
      ENTRY(cuDeviceGetCount),
      ENTRY(cuDeviceGet),
      ENTRY(cuDeviceTotalMem_v2),
      ENTRY(cuDevicePrimaryCtxRetain),
      ENTRY(cuDevicePrimaryCtxRelease_v2),
      ENTRY(cuCtxPushCurrent_v2),
      ENTRY(cuCtxPopCurrent_v2),
      ENTRY(cuKernelGetFunction),
  };
#undef ENTRY
  return table;
}
