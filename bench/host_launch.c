/*
 * Host cost of a warm launch, in C: what the loader adds to the driver's own call.
 *
 *   host_launch vector_add.cubin vector_add
 *
 * Launches an addition of 1024 f32 elements in batches with an idle device before each, and prints
 * one JSON object: the median over the batches, in microseconds, of tkc_encode alone, tkc_submit
 * alone, both, and cuLaunchKernel alone with the same arguments in the two ways it takes them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tkc/runtime.h>

enum { BATCH = 200, BATCHES = 101, COUNT = 1024, MAX_PARAMS = 64 };

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
typedef int (*param_info_fn)(void *, size_t, size_t *, size_t *);

typedef struct {
  void *library;
  launch_fn launch;
  int (*synchronize)(void);
} driver;

typedef struct {
  driver cuda;
  tkc_kernel *kernel;
  tkc_arg args[3];
  tkc_launch launch;
  tkc_error error;
  void *stream;
  size_t bytes;
  void *extra[5];
  void *pointers[MAX_PARAMS];
} bench;

static void die(const char *what, const char *text) {
  fprintf(stderr, "host_launch: %s: %s\n", what, text);
  exit(1);
}

static void *symbol(driver *cuda, const char *name) {
  void *found = dlsym(cuda->library, name);
  if (!found)
    die(name, "not in libcuda");
  return found;
}

static void expect(int status, const char *what) {
  if (status) {
    char text[32];
    snprintf(text, sizeof text, "error %d", status);
    die(what, text);
  }
}

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    die(path, "can't be opened");
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*bytes + 1);
  if (!data || fread(data, 1, *bytes, file) != *bytes)
    die(path, "can't be read");
  fclose(file);
  return data;
}

/* The device's primary context, current, with a stream and three arrays. */
static void open_device(bench *b) {
  driver *cuda = &b->cuda;
  cuda->library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda->library)
    die("libcuda.so.1", dlerror());
  cuda->launch = (launch_fn)symbol(cuda, "cuLaunchKernel");
  cuda->synchronize = (int (*)(void))symbol(cuda, "cuCtxSynchronize");
  int device;
  void *context;
  expect(((int (*)(unsigned))symbol(cuda, "cuInit"))(0), "cuInit");
  expect(((int (*)(int *, int))symbol(cuda, "cuDeviceGet"))(&device, 0), "cuDeviceGet");
  expect(((int (*)(void **, int))symbol(cuda, "cuDevicePrimaryCtxRetain"))(&context, device),
         "cuDevicePrimaryCtxRetain");
  expect(((int (*)(void *))symbol(cuda, "cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  expect(((int (*)(void **, unsigned))symbol(cuda, "cuStreamCreate"))(&b->stream, 1),
         "cuStreamCreate");
  static const int64_t extents[1] = {COUNT};
  for (int i = 0; i < 3; ++i) {
    uint64_t address;
    expect(((int (*)(uint64_t *, size_t))symbol(cuda, "cuMemAlloc_v2"))(&address, 4 * COUNT),
           "cuMemAlloc");
    memset(&b->args[i], 0, sizeof b->args[i]);
    b->args[i].kind = TKC_TENSOR;
    b->args[i].u.tensor.data = (void *)(uintptr_t)address;
    b->args[i].u.tensor.extents = extents;
    b->args[i].u.tensor.dtype = TKC_F32;
    b->args[i].u.tensor.rank = 1;
  }
}

static void open_kernel(bench *b, const char *path, const char *name) {
  char json_path[4096];
  snprintf(json_path, sizeof json_path, "%s.json", path);
  tkc_bundle_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.size = sizeof desc;
  desc.data = read_file(path, &desc.bytes);
  desc.json = read_file(json_path, &desc.json_bytes);
  tkc_driver *opened;
  tkc_bundle *bundle;
  b->error.size = sizeof b->error;
  if (tkc_driver_open(NULL, &opened, &b->error) ||
      tkc_bundle_open(opened, &desc, &bundle, &b->error) ||
      tkc_kernel_prepare(bundle, name, NULL, 0, 0, NULL, &b->kernel, &b->error))
    die(path, b->error.text);
}

static void encode(bench *b) {
  if (tkc_encode(b->kernel, b->args, 3, NULL, &b->launch, &b->error))
    die("tkc_encode", b->error.text);
}

static void submit(bench *b) {
  if (tkc_submit(b->kernel, &b->launch, b->stream, &b->error))
    die("tkc_submit", b->error.text);
}

static void encode_and_submit(bench *b) {
  encode(b);
  submit(b);
}

static void call_driver(bench *b, void **pointers, void **extra) {
  const tkc_launch *l = &b->launch;
  expect(b->cuda.launch(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                        l->block[2], l->dynamic_smem, b->stream, pointers, extra),
         "cuLaunchKernel");
}

static void driver_with_buffer(bench *b) { call_driver(b, NULL, b->extra); }
static void driver_with_pointers(bench *b) { call_driver(b, b->pointers, NULL); }

/* The encoded parameters in the two forms of cuLaunchKernel. Whether the second is there. */
static int make_parameters(bench *b) {
  b->bytes = b->launch.param_bytes;
  b->extra[0] = (void *)1; /* CU_LAUNCH_PARAM_BUFFER_POINTER */
  b->extra[1] = b->launch.params;
  b->extra[2] = (void *)2; /* CU_LAUNCH_PARAM_BUFFER_SIZE */
  b->extra[3] = &b->bytes;
  b->extra[4] = NULL;
  param_info_fn info = (param_info_fn)dlsym(b->cuda.library, "cuFuncGetParamInfo");
  if (!info)
    return 0;
  size_t offset, bytes;
  for (size_t i = 0; i < MAX_PARAMS && !info(b->launch.function, i, &offset, &bytes); ++i)
    b->pointers[i] = (char *)b->launch.params + offset;
  return 1;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double measure(bench *b, void (*call)(bench *)) {
  double samples[BATCHES];
  for (int i = 0; i < BATCHES; ++i) {
    expect(b->cuda.synchronize(), "cuCtxSynchronize");
    double begin = now_us();
    for (int j = 0; j < BATCH; ++j)
      call(b);
    samples[i] = (now_us() - begin) / BATCH;
  }
  expect(b->cuda.synchronize(), "cuCtxSynchronize");
  qsort(samples, BATCHES, sizeof samples[0], compare);
  return samples[BATCHES / 2];
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: host_launch FILE.cubin KERNEL\n");
    return 2;
  }
  static bench b;
  static _Alignas(128) char params[4096];
  open_device(&b);
  open_kernel(&b, argv[1], argv[2]);
  b.launch.size = sizeof b.launch;
  b.launch.params = params;
  b.launch.param_capacity = sizeof params;
  encode(&b);
  int has_pointers = make_parameters(&b);
  for (int i = 0; i < BATCH; ++i)
    encode_and_submit(&b);
  printf("{\"encode\": %.3f, ", measure(&b, encode));
  printf("\"submit\": %.3f, ", measure(&b, submit));
  printf("\"encode + submit\": %.3f, ", measure(&b, encode_and_submit));
  if (has_pointers)
    printf("\"cuLaunchKernel, array of pointers\": %.3f, ", measure(&b, driver_with_pointers));
  printf("\"cuLaunchKernel, buffer\": %.3f}\n", measure(&b, driver_with_buffer));
  return 0;
}
