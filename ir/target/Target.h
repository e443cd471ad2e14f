//===- Target.h - what the compiler knows of a chip -------------------------===//
//
// Passes ask this record; a pass that names a chip is a bug. The table stands in
// backends/target/Targets.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/target/Matrix.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string_view>

namespace tk {

enum class Vendor { Nvidia, Amd };

/// How a binary's chip must match the device's.
enum class Match { Exact, Family, AtLeast };

/// What a warp's instructions take of a multiprocessor, in half clocks.
struct ExchangeCosts {
  int shuffle = 2;   // of a 32-bit word
  int select = 1;    // of a 32-bit word
  int wavefront = 2; // 128 bytes to or from shared memory
  int barrier = 64;  // the wait between a store and a load by other warps
};

struct Target {
  std::string_view name; // as on the command line: sm_90a
  std::string_view chip; // LLVM's CPU name
  std::string_view what; // for people: "Hopper: H100, H200"
  Vendor vendor;
  bool supported; // known names that are not built yet are false
  Match match;
  int computeMajor, computeMinor; // of the device, NVIDIA
  int ptxVersion;                 // of the PTX we emit, times ten: 86
  int warpSize;
  int64_t sharedBytesPerBlock; // dynamic shared memory one block may ask for
  int registersPerThread;      // most that one thread may have
  int64_t registersPerBlock; // of all threads of a block together
  int maxThreadsPerBlock;
  int maxVectorBytes; // widest global access of a thread
  int maxAtomicBytes; // of floats that one instruction adds to global memory; 0: one element
  bool hasBf16Arithmetic;
  bool hasFp8Conversion; // instructions between f16, f32 and OCP's fp8
  bool hasAsyncCopy;       // from global to shared memory, past the registers
  MatrixKinds matrixKinds; // of instructions that a warp runs
  int fp8MatrixBits;       // that they keep below the largest term of a sum of fp8 products; 0: they run on f16
  ExchangeCosts exchange = {};
};

} // namespace tk
