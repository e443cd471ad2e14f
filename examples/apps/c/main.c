/* axpy through the C interface, with the bundle embedded:
 *
 *   tkc ../kernels.tk --target=sm_80,sm_90a,cpu -o kernels.o
 *   cc -std=c99 -I.. main.c ../memory.c kernels.o $(pkg-config --cflags --libs tkc-runtime) -ldl \
 *       -Wl,-rpath,$(pkg-config --variable=libdir tkc-runtime) -o app
 *   ./app cpu        (or cuda)
 *
 * The rpath says where libtkcrt.so.1 is; where the dynamic linker finds it, none is needed.
 */
#include "memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tkc/runtime.h>

extern const unsigned char tkc_bundle_kernels[], tkc_bundle_kernels_end[];

enum { COUNT = 100000 };

/* Prints what went wrong and ends the program. */
static void check(tkc_status status, const tkc_error *error) {
  if (status == TKC_OK)
    return;
  fprintf(stderr, "%s: %s\n", tkc_status_name(status), error->text);
  exit(1);
}

static tkc_arg vector(void *data, const int64_t *extents) {
  tkc_arg arg;
  memset(&arg, 0, sizeof arg);
  arg.kind = TKC_TENSOR;
  arg.u.tensor.data = data;
  arg.u.tensor.extents = extents;
  arg.u.tensor.rank = 1;
  arg.u.tensor.dtype = TKC_F32;
  return arg;
}

static int launch(tkc_kernel *kernel, void *x, void *y, float a) {
  static union {
    unsigned char bytes[256];
    double aligned;
  } params;
  int64_t extents[1] = {COUNT};
  tkc_arg args[3];
  tkc_launch launch;
  tkc_error error;
  memset(&launch, 0, sizeof launch);
  memset(&args[0], 0, sizeof args[0]);
  error.size = sizeof error;
  launch.size = sizeof launch;
  launch.params = params.bytes;
  launch.param_capacity = sizeof params.bytes;
  args[0].kind = TKC_SCALAR;
  args[0].dtype = TKC_F32;
  args[0].u.f32 = a;
  args[1] = vector(x, extents);
  args[2] = vector(y, extents);
  check(tkc_encode(kernel, args, 3, NULL, &launch, &error), &error);
  check(tkc_submit(kernel, &launch, NULL, &error), &error);
  return launch.variant;
}

int main(int argc, char **argv) {
  const char *device = argc > 1 ? argv[1] : "cpu";
  static float x[COUNT], y[COUNT], result[COUNT];
  tkc_driver_desc driverDesc;
  tkc_bundle_desc bundleDesc;
  tkc_driver *driver = NULL;
  tkc_bundle *bundle = NULL;
  tkc_kernel *kernel = NULL;
  tkc_error error;
  void *dx, *dy;
  int wrong = 0;

  if (memory_open(device))
    return 1;
  memset(&driverDesc, 0, sizeof driverDesc);
  driverDesc.size = sizeof driverDesc;
  driverDesc.backend = strcmp(device, "cpu") == 0 ? TKC_CPU : TKC_CUDA;
  memset(&bundleDesc, 0, sizeof bundleDesc);
  bundleDesc.size = sizeof bundleDesc;
  bundleDesc.flags = TKC_BORROW;
  bundleDesc.data = tkc_bundle_kernels;
  bundleDesc.bytes = (size_t)(tkc_bundle_kernels_end - tkc_bundle_kernels);
  error.size = sizeof error;
  check(tkc_driver_open(&driverDesc, &driver, &error), &error);
  check(tkc_bundle_open(driver, &bundleDesc, &bundle, &error), &error);
  check(tkc_kernel_prepare(bundle, "axpy", NULL, 0, 0, NULL, &kernel, &error), &error);

  for (int i = 0; i < COUNT; ++i) {
    x[i] = (float)(i % 1000);
    y[i] = 1.0f;
  }
  dx = memory_alloc(sizeof x);
  dy = memory_alloc(sizeof y);
  if (!dx || !dy || memory_upload(dx, x, sizeof x) || memory_upload(dy, y, sizeof y))
    return 1;
  int variant = launch(kernel, dx, dy, 2.0f);
  if (memory_download(result, dy, sizeof y))
    return 1;
  for (int i = 0; i < COUNT; ++i)
    wrong += result[i] != 2.0f * x[i] + 1.0f;
  printf("axpy on %s, variant %d: %d of %d wrong\n", device, variant, wrong, COUNT);

  memory_free(dx);
  memory_free(dy);
  tkc_kernel_release(kernel);
  tkc_bundle_release(bundle);
  tkc_driver_release(driver);
  return wrong != 0;
}
