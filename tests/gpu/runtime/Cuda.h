//===- Cuda.h - what the suite itself asks of the CUDA driver ---------------===//
// Found by dlopen, so that the program starts, and says what is missing, where there is no driver.
// Names are the driver's; CUdeviceptr and all handles are addresses. Memory is that of
// examples/apps/memory.h.
#ifndef TKC_TESTS_GPU_RUNTIME_CUDA_H
#define TKC_TESTS_GPU_RUNTIME_CUDA_H

#include <cstddef>
#include <cstdint>

namespace suite {

#define SUITE_CUDA_FUNCTIONS(X)                                                                    \
  X(cuGetErrorName, (int error, const char **text))                                                \
  X(cuDriverGetVersion, (int *version))                                                            \
  X(cuDeviceGetCount, (int *count))                                                                \
  X(cuDeviceGetName, (char *text, int bytes, int device))                                          \
  X(cuDeviceGetAttribute, (int *value, int attribute, int device))                                 \
  X(cuDevicePrimaryCtxRetain, (void **context, int device))                                        \
  X(cuDevicePrimaryCtxRelease_v2, (int device))                                                    \
  X(cuCtxCreate_v2, (void **context, unsigned flags, int device))                                  \
  X(cuCtxDestroy_v2, (void *context))                                                              \
  X(cuCtxGetCurrent, (void **context))                                                             \
  X(cuCtxSetCurrent, (void *context))                                                              \
  X(cuCtxSynchronize, ())                                                                          \
  X(cuStreamCreate, (void **stream, unsigned flags))                                               \
  X(cuStreamDestroy_v2, (void *stream))                                                            \
  X(cuStreamSynchronize, (void *stream))                                                           \
  X(cuStreamBeginCapture_v2, (void *stream, int mode))                                             \
  X(cuStreamIsCapturing, (void *stream, int *state))                                               \
  X(cuStreamEndCapture, (void *stream, void **graph))                                              \
  X(cuGraphCreate, (void **graph, unsigned flags))                                                 \
  X(cuGraphAddKernelNode_v2,                                                                       \
    (void **node, void *graph, const void *dependencies, size_t count, const void *params))        \
  X(cuGraphKernelNodeSetAttribute, (void *node, int attribute, const void *value))                 \
  X(cuGraphInstantiateWithFlags, (void **executable, void *graph, unsigned long long flags))       \
  X(cuGraphLaunch, (void *executable, void *stream))                                               \
  X(cuGraphExecDestroy, (void *executable))                                                        \
  X(cuGraphDestroy, (void *graph))                                                                 \
  X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                              \
  X(cuMemsetD8Async, (void *memory, unsigned char value, size_t bytes, void *stream))              \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                   \
    (int *blocks, void *function, int threads, size_t sharedBytes))                                \
  X(cuLaunchKernel, (void *function, unsigned gridX, unsigned gridY, unsigned gridZ,               \
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,      \
                     void *stream, void **params, void **extra))                                   \
  X(cuLaunchKernelEx, (const void *config, void *function, void **params, void **extra))           \
  X(cuLaunchCooperativeKernel,                                                                     \
    (void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,              \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream, void **params))

struct Cuda {
#define SUITE_MEMBER(name, params) int(*name) params = nullptr;
  SUITE_CUDA_FUNCTIONS(SUITE_MEMBER)
#undef SUITE_MEMBER
  void *library = nullptr;

  /// Throws a Failure that names what is missing.
  void open();
  void *find(const char *symbol) const;
};

extern Cuda cuda;

/// Throws a Failure unless the driver's answer is 0.
void expectGood(int result, const char *call);
#define SUITE_CALL(function, ...)                                                                  \
  ::suite::expectGood(::suite::cuda.function(__VA_ARGS__), #function)

} // namespace suite

#endif
