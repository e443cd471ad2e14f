//===- DriverDouble.h - what the doubles of a driver share ------------------===//
// FakeCuda records, VirtualGpu of the tests computes times: both are a machine with devices and a
// stack of contexts that counts its calls and fails on request. The functions that need no more
// are here, under the driver's own names.
#ifndef TKC_RUNTIME_DRIVER_DOUBLE_H
#define TKC_RUNTIME_DRIVER_DOUBLE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct DriverDouble {
  DriverDouble(const DriverDouble &) = delete;
  DriverDouble &operator=(const DriverDouble &) = delete;

  // What the machine is like.
  int driverVersion = 13000, deviceCount = 2;
  size_t memoryBytes = size_t(141) << 30;
  std::map<std::string, int> failures; ///< driver function to the CUresult it gives

  // What happened.
  std::map<std::string, int> calls;
  std::vector<void *> contexts; ///< the stack; back is current
  int retained = 0, loadedLibraries = 0;
  int fault = 0; ///< what every call that needs the device gives from the first fault on

  /// Counts the call and gives the failure asked for.
  int enter(const char *name);
  /// The same for a call that needs the device. A fault is the process's, not its context's:
  /// measured on an H200, where a new context is refused with the fault's own error.
  int enterDevice(const char *name);
  /// The same for a call that needs a context too.
  int enterContext(const char *name);

  static DriverDouble *current; ///< the one that lives
  static std::mutex mutex;      ///< held in every function

  enum : int {
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kInvalidContext = 201,
    kNotFound = 500,
    kNotReady = 600,
    kIllegalAddress = 700
  };

protected:
  DriverDouble() { current = this; }
  ~DriverDouble() { current = nullptr; }
};

/// How a function of a double begins.
#define DOUBLE_ENTER_BY(how, name)                                                                 \
  std::lock_guard<std::mutex> lock(DriverDouble::mutex);                                           \
  if (int failure = DriverDouble::current->how(name))                                              \
  return failure
#define DOUBLE_ENTER(name) DOUBLE_ENTER_BY(enter, name)
#define DOUBLE_ENTER_DEVICE(name) DOUBLE_ENTER_BY(enterDevice, name)
#define DOUBLE_ENTER_CONTEXT(name) DOUBLE_ENTER_BY(enterContext, name)

/// The functions that all doubles share, by their names in CUDA.
const std::map<std::string, void *> &sharedDriverFunctions();

/// The parameter buffer out of `extra`, which `end` ends; false where it is malformed.
bool readParamBuffer(void **extra, uintptr_t end, std::vector<unsigned char> &out);

extern "C" {
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **text);
int cuGetErrorString(int error, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuKernelGetFunction(void **function, void *kernel);
}

#endif
