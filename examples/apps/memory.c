#include "memory.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the CUDA driver: CUdeviceptr is an integer as wide as a pointer. */
static struct {
  int (*init)(unsigned), (*deviceGet)(int *, int), (*retain)(void **, int), (*setCurrent)(void *);
  int (*alloc)(size_t *, size_t), (*release)(size_t);
  int (*upload)(size_t, const void *, size_t), (*download)(void *, size_t, size_t);
} cuda;
static int onCpu;

static int findCuda(void) {
  static const struct {
    void *slot;
    const char *name;
  } wanted[] = {{&cuda.init, "cuInit"},
                {&cuda.deviceGet, "cuDeviceGet"},
                {&cuda.retain, "cuDevicePrimaryCtxRetain"},
                {&cuda.setCurrent, "cuCtxSetCurrent"},
                {&cuda.alloc, "cuMemAlloc_v2"},
                {&cuda.release, "cuMemFree_v2"},
                {&cuda.upload, "cuMemcpyHtoD_v2"},
                {&cuda.download, "cuMemcpyDtoH_v2"}};
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "no CUDA driver: %s\n", dlerror());
    return 1;
  }
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    void *symbol = dlsym(library, wanted[i].name);
    if (!symbol) {
      fprintf(stderr, "the CUDA driver has no %s\n", wanted[i].name);
      return 1;
    }
    memcpy(wanted[i].slot, &symbol, sizeof symbol);
  }
  return 0;
}

int memory_open(const char *device) {
  int ordinal = 0;
  void *context = NULL;
  onCpu = strcmp(device, "cpu") == 0;
  if (onCpu)
    return 0;
  if (strcmp(device, "cuda") != 0) {
    fprintf(stderr, "the device is cpu or cuda, not %s\n", device);
    return 1;
  }
  if (findCuda())
    return 1;
  int status = cuda.init(0);
  if (!status)
    status = cuda.deviceGet(&ordinal, 0);
  if (!status)
    status = cuda.retain(&context, ordinal);
  if (!status)
    status = cuda.setCurrent(context);
  if (status)
    fprintf(stderr, "no CUDA device: error %d of the driver\n", status);
  return status;
}

void *memory_alloc(size_t bytes) {
  size_t address = 0;
  if (onCpu)
    return malloc(bytes);
  return cuda.alloc(&address, bytes) ? NULL : (void *)address;
}

void memory_free(void *memory) {
  if (onCpu)
    free(memory);
  else if (memory)
    cuda.release((size_t)memory);
}

int memory_upload(void *device, const void *host, size_t bytes) {
  if (!onCpu)
    return cuda.upload((size_t)device, host, bytes);
  memcpy(device, host, bytes);
  return 0;
}

int memory_download(void *host, const void *device, size_t bytes) {
  if (!onCpu)
    return cuda.download(host, (size_t)device, bytes);
  memcpy(host, device, bytes);
  return 0;
}
