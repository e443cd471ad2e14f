//===- Cuda.h - the little of CUDA's driver interface that is used ---------===//
// Declared here, so that neither building nor installing needs NVIDIA's headers. Names, numbers
// and signatures are those of the CUDA 12.0 driver API; a `_v2` belongs to the exported symbol.
#ifndef TKC_RUNTIME_CUDA_H
#define TKC_RUNTIME_CUDA_H

#include <cstddef>
#include <cstdint>

namespace tkcrt {

using CUresult = int;
using CUdevice = int;
// Handles are plain addresses, so that a test double has the very same function types (UBSan checks
// calls through pointers).
using CUcontext = void *;
using CUlibrary = void *;
using CUkernel = void *;
using CUfunction = void *;
using CUstream = void *;

enum : CUresult {
  kCudaSuccess = 0,
  kCudaNotFound = 500,
  kCudaLaunchOutOfResources = 701,
  kCudaCaptureFirst = 900, ///< CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  kCudaCaptureLast = 908,  ///< CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMultiprocessorCount = 16,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kMaxSharedPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kFunctionMaxThreadsPerBlock = 0,
  kFunctionSharedBytes = 1,
  kFunctionMaxDynamicSharedBytes = 8,
};

enum JitOption : int { kJitErrorLogBuffer = 5, kJitErrorLogBufferBytes = 6 };

/// Elements of cuLaunchKernel's `extra`.
enum : uintptr_t { kLaunchParamEnd = 0, kLaunchParamBuffer = 1, kLaunchParamBufferBytes = 2 };

/// cuDriverGetVersion of the first driver (525) that has cuLibrary*.
constexpr int kMinDriverVersion = 12000;

/// Every function that is used: X(return and name, symbol, parameters).
#define TKC_CUDA_FUNCTIONS(X)                                                                      \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  X(getErrorName, "cuGetErrorName", (CUresult error, const char **text))                           \
  X(getErrorString, "cuGetErrorString", (CUresult error, const char **text))                       \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                                    \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))      \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))          \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                          \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext context))                                    \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext * context))                                    \
  X(ctxGetDevice, "cuCtxGetDevice", (CUdevice * device))                                           \
  X(libraryLoadData, "cuLibraryLoadData",                                                          \
    (CUlibrary * library, const void *code, int *jitOptions, void **jitValues, unsigned jitCount,  \
     int *options, void **values, unsigned count))                                                 \
  X(libraryUnload, "cuLibraryUnload", (CUlibrary library))                                         \
  X(libraryGetKernel, "cuLibraryGetKernel",                                                        \
    (CUkernel * kernel, CUlibrary library, const char *name))                                      \
  X(kernelGetFunction, "cuKernelGetFunction", (CUfunction * function, CUkernel kernel))            \
  X(funcGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))      \
  X(funcSetAttribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))       \
  X(launchKernel, "cuLaunchKernel",                                                                \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **params,       \
     void **extra))

/// Those that later drivers have (12.4) and that are used when they are there.
#define TKC_CUDA_OPTIONAL_FUNCTIONS(X)                                                             \
  X(kernelGetParamInfo, "cuKernelGetParamInfo",                                                    \
    (CUkernel kernel, size_t index, size_t * offset, size_t * bytes))                              \
  X(funcLoad, "cuFuncLoad", (CUfunction function))

struct Cuda {
#define TKC_MEMBER(name, symbol, params) CUresult(*name) params = nullptr;
  TKC_CUDA_FUNCTIONS(TKC_MEMBER)
  TKC_CUDA_OPTIONAL_FUNCTIONS(TKC_MEMBER)
#undef TKC_MEMBER
};

} // namespace tkcrt

#endif
