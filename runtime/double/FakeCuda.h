//===- FakeCuda.h - a recording double of libcuda and libamdhip64 ----------===//
// Stands in for the driver through tkc_driver_desc.resolve: it keeps contexts, libraries and
// functions as plain objects, records launches, and fails on request. One at a time; threads may
// call it at the same time. <tkc/double.h> is its face for other programs.
#ifndef TKC_RUNTIME_FAKE_CUDA_H
#define TKC_RUNTIME_FAKE_CUDA_H

#include "DriverDouble.h"

#include <tkc/runtime.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct FakeCuda : DriverDouble {
  struct Launch {
    std::string symbol;
    unsigned grid[3], block[3], sharedBytes;
    void *stream;
    std::vector<unsigned char> params;
    std::vector<size_t> offsets; ///< of the parameters in it, where each was passed by a pointer
    unsigned cluster[3] = {1, 1, 1};
    bool isCooperative = false, isProgrammatic = false, isExtended = false;
  };
  struct TensorMap {
    int dataType, interleave, swizzle, l2, oob;
    void *address;
    std::vector<uint64_t> dims, strides;
    std::vector<unsigned> box, elementStrides;
  };

  FakeCuda();
  ~FakeCuda();

  /// A descriptor whose resolver finds this double's functions.
  tkc_driver_desc descriptor();
  /// For that descriptor: `user` is the double.
  static void *resolve(void *user, const char *symbol);

  // What the machine is like.
  int major = 9, minor = 0, sms = 132;
  int maxThreadsPerFunction = 1024, maxShared = 232448;
  int blocksPerSm = 2, clusters = 60; ///< what occupancy queries answer
  bool canCluster = true, canCooperate = true;
  std::string archName = "gfx942:sramecc+:xnack-"; ///< HIP's
  std::set<std::string> symbols;                   ///< in the image; empty: all that are asked for
  std::set<std::string> missing;                   ///< driver functions that do not exist
  std::vector<std::pair<size_t, size_t>> params;   ///< offset and size, for cuKernelGetParamInfo
  bool knowsParams = false;                        ///< else cuKernelGetParamInfo does not exist
  std::string jitLog;                              ///< written when loading fails
  size_t readBytes = 0; ///< to read of an image: where it ends the double does not know

  // What happened.
  std::vector<Launch> launches;
  std::vector<TensorMap> tensorMaps;
  std::map<std::string, int> dynamicShared; ///< by symbol: cuFuncSetAttribute's
  std::set<std::string> bigClusters;        ///< symbols that may have clusters of more than 8
  std::string loadedBytes;                  ///< of the image that was loaded last
};

#endif
