//===- Cuda.cpp - finding the CUDA driver's functions -----------------------===//
#include "Cuda.h"

#include "Suite.h"

#include <dlfcn.h>

namespace suite {

Cuda cuda;

void *Cuda::find(const char *symbol) const {
  return dlsym(library, symbol);
}

void Cuda::open() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    fail("no CUDA driver: %s", dlerror());
#define SUITE_FIND(name, params)                                                                   \
  name = reinterpret_cast<decltype(name)>(find(#name));                                            \
  if (!name)                                                                                       \
    fail("the CUDA driver has no %s", #name);
  SUITE_CUDA_FUNCTIONS(SUITE_FIND)
#undef SUITE_FIND
}

void expectGood(int result, const char *call) {
  if (!result)
    return;
  const char *name = nullptr;
  cuda.cuGetErrorName(result, &name);
  fail("%s: %s (%d)", call, name ? name : "unknown error", result);
}

} // namespace suite
