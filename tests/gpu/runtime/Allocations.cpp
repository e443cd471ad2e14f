//===- Allocations.cpp - counting calls of malloc ---------------------------===//
// A function of the program stands in front of one of a library with the same name, for every
// library of the process. glibc's own are called under the names that it keeps for that.
#include "Allocations.h"

#include <cerrno>
#include <cstddef>

static thread_local uint64_t count = 0;

extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

void *malloc(size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  ++count;
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t align, size_t bytes) {
  ++count;
  return __libc_memalign(align, bytes);
}
int posix_memalign(void **memory, size_t align, size_t bytes) {
  ++count;
  *memory = __libc_memalign(align, bytes);
  return *memory ? 0 : ENOMEM;
}
}

namespace suite {
uint64_t allocations() {
  return count;
}
} // namespace suite
