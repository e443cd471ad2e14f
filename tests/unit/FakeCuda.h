//===- FakeCuda.h - a recording double of libcuda --------------------------===//
// Stands in for the driver through tkc_driver_desc.resolve: it keeps contexts, libraries and
// functions as plain objects, records launches, and fails on request. One at a time.
#ifndef TKC_TESTS_FAKE_CUDA_H
#define TKC_TESTS_FAKE_CUDA_H

#include <tkc/runtime.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct FakeCuda {
  struct Launch {
    std::string symbol;
    unsigned grid[3], block[3], sharedBytes;
    void *stream;
    std::vector<unsigned char> params;
  };

  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  /// A descriptor whose resolver finds this double's functions.
  tkc_driver_desc descriptor();

  // What the machine is like.
  int driverVersion = 13000, deviceCount = 2, major = 9, minor = 0, sms = 132;
  int maxThreadsPerFunction = 1024, maxShared = 232448;
  std::set<std::string> symbols;                 ///< in the image; empty: all that are asked for
  std::set<std::string> missing;                 ///< driver functions that do not exist
  std::map<std::string, int> failures;           ///< driver function to the CUresult it gives
  std::vector<std::pair<size_t, size_t>> params; ///< offset and size, for cuKernelGetParamInfo
  bool knowsParams = false;                      ///< else cuKernelGetParamInfo does not exist
  std::string jitLog;                            ///< written when loading fails

  // What happened.
  std::map<std::string, int> calls;
  std::vector<Launch> launches;
  std::map<std::string, int> dynamicShared; ///< by symbol: cuFuncSetAttribute's
  std::vector<void *> contexts;             ///< the stack; back is current
  int retained = 0, loadedLibraries = 0;
  std::string loadedBytes; ///< the image that was loaded last, to its NUL
};

#endif
