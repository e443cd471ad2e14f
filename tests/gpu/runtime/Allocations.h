//===- Allocations.h - how often this thread asked for host memory ----------===//
#ifndef TKC_TESTS_GPU_RUNTIME_ALLOCATIONS_H
#define TKC_TESTS_GPU_RUNTIME_ALLOCATIONS_H

#include <cstdint>

namespace suite {
/// Calls of malloc and its kin by this thread, from whatever library: this program's functions
/// stand in front of the C library's.
uint64_t allocations();
} // namespace suite

#endif
