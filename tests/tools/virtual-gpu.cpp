//===- virtual-gpu.cpp - a libcuda.so.1 whose clock is computed ------------===//
// What tests of the command line find by LD_LIBRARY_PATH: tests/unit/VirtualGpu with its default
// machine. A launch takes longer the more blocks it has. TKC_VIRTUAL_ARCH=75 makes it another chip.
// Launches of kernels whose symbol contains the text of TKC_VIRTUAL_FAULT fault, those of
// TKC_VIRTUAL_HANG never end, and those of TKC_VIRTUAL_CRASH end the process by SIGSEGV.
#include "../unit/VirtualGpu.h"

#include <cstdlib>

static VirtualGpu *machine() {
  static VirtualGpu &gpu = *new VirtualGpu; // never destroyed: others end after it
  if (const char *arch = getenv("TKC_VIRTUAL_ARCH")) {
    gpu.attributes[75] = atoi(arch) / 10;
    gpu.attributes[76] = atoi(arch) % 10;
  }
  if (const char *part = getenv("TKC_VIRTUAL_FAULT"))
    gpu.faultyPart = part;
  if (const char *endless = getenv("TKC_VIRTUAL_HANG"))
    gpu.endless = endless;
  if (const char *crashing = getenv("TKC_VIRTUAL_CRASH"))
    gpu.crashing = crashing;
  return &gpu;
}

// Made when the library is opened, before anybody calls a function of it.
__attribute__((constructor)) static void start() {
  machine();
}
