//===- Gpu.h - the little of CUDA's and HIP's driver interfaces that is used ===//
// Declared here, so that neither building nor installing needs a vendor's headers. Names, numbers
// and signatures are those of the CUDA 12.0 driver API; a `_v2` belongs to the exported symbol.
// HIP 6's functions have the same signatures and, where both have them, the same error numbers, so
// that one table serves both; device attributes have numbers of their own.
#ifndef TKC_RUNTIME_GPU_H
#define TKC_RUNTIME_GPU_H

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
  kCudaCooperativeTooLarge = 720,
  kCudaCaptureFirst = 900, ///< CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  kCudaCaptureLast = 908,  ///< CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
};

/// A device attribute's number in CUDA and in HIP (hipDeviceAttribute_t); -1: HIP has none.
struct DeviceAttribute {
  int cuda, hip;
};
constexpr DeviceAttribute kMaxThreadsPerBlock{1, 56};
constexpr DeviceAttribute kMultiprocessorCount{16, 63};
constexpr DeviceAttribute kComputeMajor{75, 23};
constexpr DeviceAttribute kComputeMinor{76, 61};
constexpr DeviceAttribute kMaxSharedPerBlock{97, 74}; ///< CUDA: with the function's consent
constexpr DeviceAttribute kCooperativeLaunch{95, 10};
constexpr DeviceAttribute kClusterLaunch{120, -1};

enum FunctionAttribute : int {
  kFunctionMaxThreadsPerBlock = 0,
  kFunctionSharedBytes = 1,
  kFunctionMaxDynamicSharedBytes = 8,
  kFunctionBigClusterAllowed = 14, ///< ..._NON_PORTABLE_CLUSTER_SIZE_ALLOWED
};

enum JitOption : int { kJitErrorLogBuffer = 5, kJitErrorLogBufferBytes = 6 };

/// Elements of cuLaunchKernel's `extra`. HIP ends the list with 3.
enum : uintptr_t {
  kLaunchParamEnd = 0,
  kLaunchParamBuffer = 1,
  kLaunchParamBufferBytes = 2,
  kHipLaunchParamEnd = 3
};

/// CUlaunchAttribute: the value is a union of 64 bytes.
struct LaunchAttribute {
  int id;
  int pad;
  union {
    char bytes[64];
    unsigned cluster[3];
    int flag;
  } value;
};
enum LaunchAttributeId : int {
  kLaunchCooperative = 2,
  kLaunchCluster = 4,
  kLaunchProgrammaticSerialization = 6,
};

/// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  CUstream stream;
  const LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// CUtensorMap
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// cuDriverGetVersion of the first driver (525) that has cuLibrary*.
constexpr int kMinDriverVersion = 12000;

/// hipDeviceProp_tR0600 (1472 bytes in ROCm 6), of which the chip's name is read:
/// "gfx942:sramecc+:xnack-".
constexpr size_t kHipPropertiesRoom = 4096, kHipArchNameAt = 1160, kHipArchNameBytes = 256;

// X(return and name, CUDA's symbol, HIP's symbol, parameters)

/// Every function that both have and that is needed.
#define TKC_GPU_FUNCTIONS(X)                                                                       \
  X(init, "cuInit", "hipInit", (unsigned flags))                                                   \
  X(driverGetVersion, "cuDriverGetVersion", "hipDriverGetVersion", (int *version))                 \
  X(getErrorName, "cuGetErrorName", "hipDrvGetErrorName", (CUresult error, const char **text))     \
  X(getErrorString, "cuGetErrorString", "hipDrvGetErrorString",                                    \
    (CUresult error, const char **text))                                                           \
  X(deviceGetCount, "cuDeviceGetCount", "hipGetDeviceCount", (int *count))                         \
  X(deviceGet, "cuDeviceGet", "hipDeviceGet", (CUdevice * device, int ordinal))                    \
  X(deviceGetAttribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute",                           \
    (int *value, int attribute, CUdevice device))                                                  \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain",                     \
    (CUcontext * context, CUdevice device))                                                        \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease",               \
    (CUdevice device))                                                                             \
  X(ctxPushCurrent, "cuCtxPushCurrent_v2", "hipCtxPushCurrent", (CUcontext context))               \
  X(ctxPopCurrent, "cuCtxPopCurrent_v2", "hipCtxPopCurrent", (CUcontext * context))                \
  X(ctxGetDevice, "cuCtxGetDevice", "hipCtxGetDevice", (CUdevice * device))                        \
  X(funcGetAttribute, "cuFuncGetAttribute", "hipFuncGetAttribute",                                 \
    (int *value, int attribute, CUfunction function))                                              \
  X(launchKernel, "cuLaunchKernel", "hipModuleLaunchKernel",                                       \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,         \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **params,       \
     void **extra))

/// Those that only CUDA has and that are needed there.
#define TKC_CUDA_FUNCTIONS(X)                                                                      \
  X(libraryLoadData, "cuLibraryLoadData", nullptr,                                                 \
    (CUlibrary * library, const void *code, int *jitOptions, void **jitValues, unsigned jitCount,  \
     int *options, void **values, unsigned count))                                                 \
  X(libraryUnload, "cuLibraryUnload", nullptr, (CUlibrary library))                                \
  X(libraryGetKernel, "cuLibraryGetKernel", nullptr,                                               \
    (CUkernel * kernel, CUlibrary library, const char *name))                                      \
  X(kernelGetFunction, "cuKernelGetFunction", nullptr, (CUfunction * function, CUkernel kernel))   \
  X(funcSetAttribute, "cuFuncSetAttribute", nullptr,                                               \
    (CUfunction function, int attribute, int value))

/// Those that only HIP has and that are needed there: a module belongs to one context.
#define TKC_HIP_FUNCTIONS(X)                                                                       \
  X(moduleLoadData, nullptr, "hipModuleLoadData", (CUlibrary * module, const void *code))          \
  X(moduleUnload, nullptr, "hipModuleUnload", (CUlibrary module))                                  \
  X(moduleGetFunction, nullptr, "hipModuleGetFunction",                                            \
    (CUfunction * function, CUlibrary module, const char *name))                                   \
  X(getDeviceProperties, nullptr, "hipGetDevicePropertiesR0600",                                   \
    (void *properties, CUdevice device))

/// Those that are used when they are there; a kernel that can't do without says so.
#define TKC_OPTIONAL_FUNCTIONS(X)                                                                  \
  X(kernelGetParamInfo, "cuKernelGetParamInfo", nullptr,                                           \
    (CUkernel kernel, size_t index, size_t * offset, size_t * bytes))                              \
  X(funcLoad, "cuFuncLoad", nullptr, (CUfunction function))                                        \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", "hipDeviceTotalMem", (size_t * bytes, CUdevice device)) \
  X(launchKernelEx, "cuLaunchKernelEx", nullptr,                                                   \
    (const void *config, CUfunction function, void **params, void **extra))                        \
  X(occupancyBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                \
    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",                                          \
    (int *blocks, CUfunction function, int blockSize, size_t dynamicBytes))                        \
  X(occupancyClusters, "cuOccupancyMaxActiveClusters", nullptr,                                    \
    (int *clusters, CUfunction function, const void *config))                                      \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled", nullptr,                                       \
    (void *map, int dataType, unsigned rank, void *address, const uint64_t *dims,                  \
     const uint64_t *strides, const unsigned *box, const unsigned *elementStrides, int interleave, \
     int swizzle, int l2, int oob))

/// Functions of the driver that was opened; those of the other vendor are null.
struct Gpu {
#define TKC_MEMBER(name, cuda, hip, params) CUresult(*name) params = nullptr;
  TKC_GPU_FUNCTIONS(TKC_MEMBER)
  TKC_CUDA_FUNCTIONS(TKC_MEMBER)
  TKC_HIP_FUNCTIONS(TKC_MEMBER)
  TKC_OPTIONAL_FUNCTIONS(TKC_MEMBER)
#undef TKC_MEMBER
};

} // namespace tkcrt

#endif
