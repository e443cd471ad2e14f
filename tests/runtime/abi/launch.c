/* Launches: what a kernel takes, what is refused and by which number, and every byte that the
 * driver gets. */
#include "caller.h"

#include <string.h>

enum { ROWS = 33, COLUMNS = 20, ROW = 24 };

static char memory[1 << 20]; /* addresses, which nothing reads */
static const int64_t extents[2] = {ROWS, COLUMNS}, strides[2] = {ROW, 1}, columns[1] = {COLUMNS};
static unsigned char buffer[128];

static char *at(size_t offset) {
  return memory + (256 - (uintptr_t)memory % 256) % 256 + offset;
}

/* x, bias, y, p, n, s, d, w of kernels.json's scale. */
static void give(tkc_arg args[8]) {
  memset(args, 0, 8 * sizeof(tkc_arg));
  args[0].kind = args[2].kind = TKC_TENSOR;
  args[0].u.tensor.data = at(1024);
  args[2].u.tensor.data = at(65536);
  args[0].u.tensor.extents = args[2].u.tensor.extents = extents;
  args[0].u.tensor.strides = strides;
  args[0].u.tensor.span_bytes = ROWS * ROW * 4;
  args[0].u.tensor.dtype = args[2].u.tensor.dtype = TKC_F32;
  args[0].u.tensor.rank = args[2].u.tensor.rank = 2;
  args[1].kind = TKC_ABSENT;
  args[3].kind = TKC_POINTER;
  args[3].dtype = TKC_I32;
  args[3].u.pointer.data = at(512);
  args[3].u.pointer.span_bytes = 64;
  args[4].kind = TKC_SCALAR;
  args[4].dtype = TKC_I32;
  args[4].u.bits = 7;
  args[5].kind = TKC_ABSENT;
  args[6].kind = TKC_SCALAR;
  args[6].dtype = TKC_F64;
  args[6].u.f64 = 0.75;
  args[7].kind = TKC_ABSENT;
}

static tkc_options allowed(void) {
  tkc_options options = {sizeof(tkc_options), 0, 0, 0, NULL, 0, NULL, 0};
  options.workspace = at(1 << 19);
  options.workspace_bytes = 1 << 16;
  return options;
}

static tkc_launch room(void) {
  tkc_launch launch;
  memset(&launch, 0, sizeof(launch));
  launch.size = sizeof(launch);
  launch.params = buffer;
  launch.param_capacity = sizeof(buffer);
  return launch;
}

/* What encoding these arguments ends with. */
static tkc_status encoded(const tkc_kernel *kernel, const tkc_arg args[8],
                          const tkc_options *options) {
  tkc_launch launch = room();
  tkc_status status = tkc_encode(kernel, args, 8, options, &launch, &error);
  CHECK(status == error.status);
  return status;
}

static uint64_t word(const void *bytes, size_t at) {
  uint64_t value;
  memcpy(&value, (const char *)bytes + at, sizeof(value));
  return value;
}

static void parameters_are(const void *bytes, const tkc_arg args[8], const tkc_options *options,
                           float s) {
  int32_t n;
  float f32;
  double f64;
  CHECK(word(bytes, 0) == (uintptr_t)args[0].u.tensor.data && word(bytes, 8) == 0);
  CHECK(word(bytes, 16) == (uintptr_t)args[2].u.tensor.data &&
        word(bytes, 24) == (uintptr_t)args[3].u.pointer.data);
  CHECK(word(bytes, 32) == (uintptr_t)options->workspace);
  CHECK(word(bytes, 40) == ROW && word(bytes, 48) == ROWS && word(bytes, 56) == COLUMNS);
  memcpy(&f64, (const char *)bytes + 64, 8);
  memcpy(&n, (const char *)bytes + 72, 4);
  memcpy(&f32, (const char *)bytes + 76, 4);
  CHECK(f64 == 0.75 && n == 7 && f32 == s);
}

/* The first variant, by everything that the launch says and by what came to the driver. */
static void launch_once(const tkc_kernel *kernel, tkc_double *gpu) {
  int stream;
  tkc_arg args[8];
  tkc_options options = allowed();
  tkc_launch launch = room();
  tkc_double_launch got;
  give(args);
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK);
  CHECK(launch.variant == 0 && launch.function != NULL && launch.params == buffer &&
        launch.flags == 0);
  CHECK(launch.grid[0] == 3 && launch.grid[1] == 20 && launch.grid[2] == 1);
  CHECK(launch.block[0] == 128 && launch.block[1] == 1 && launch.block[2] == 1);
  CHECK(launch.cluster[0] == 1 && launch.cluster[1] == 1 && launch.cluster[2] == 1);
  CHECK(launch.dynamic_smem == 0 && launch.param_bytes == 80 &&
        launch.param_capacity == sizeof(buffer));
  CHECK(launch.flops == 2.0 * ROWS * COLUMNS && launch.bytes == 8.0 * ROWS * COLUMNS);
  parameters_are(buffer, args, &options, 2.5f);
  tkc_double_forget(gpu);
  CHECK(tkc_submit(kernel, &launch, &stream, &error) == TKC_OK && tkc_double_launches(gpu) == 1);
  CHECK(strcmp(seen.symbol, "scale_f32_aligned") == 0 && seen.stream == &stream);
  CHECK(seen.flops == launch.flops && seen.bytes == launch.bytes);
  got.size = sizeof(got);
  CHECK(tkc_double_launch_at(gpu, 0, &got) == TKC_OK &&
        strcmp(got.symbol, "scale_f32_aligned") == 0);
  CHECK(got.param_bytes == 80 && got.stream == &stream && got.flags == 0 && got.dynamic_smem == 0);
  CHECK(got.grid[0] == 3 && got.grid[1] == 20 && got.block[0] == 128 && got.cluster[0] == 1);
  parameters_are(got.params, args, &options, 2.5f);
  CHECK(tkc_double_launch_at(gpu, 1, &got) == TKC_E_ARG &&
        tkc_double_calls(gpu, "cuLaunchKernel") == 1);
}

/* What may be left out is given. */
static void give_all(const tkc_kernel *kernel) {
  static const int64_t scratch[2] = {ROWS, 32};
  tkc_arg args[8];
  tkc_launch launch = room();
  float s;
  give(args);
  args[1].kind = args[7].kind = TKC_TENSOR;
  args[1].u.tensor.data = at(8192);
  args[1].u.tensor.extents = columns;
  args[7].u.tensor.data = at(131072);
  args[7].u.tensor.extents = scratch;
  args[1].u.tensor.dtype = args[7].u.tensor.dtype = TKC_F32;
  args[1].u.tensor.rank = 1;
  args[7].u.tensor.rank = 2;
  args[5].kind = TKC_SCALAR;
  args[5].dtype = TKC_F32;
  args[5].u.f32 = -3.5f;
  CHECK(tkc_encode(kernel, args, 8, NULL, &launch, &error) == TKC_OK);
  memcpy(&s, buffer + 76, 4);
  CHECK(word(buffer, 8) == (uintptr_t)at(8192) && word(buffer, 32) == (uintptr_t)at(131072) &&
        s == -3.5f);
}

/* A caller that has not yet flops and bytes, less room than is needed, nothing to do. */
static void encode_otherwise(const tkc_kernel *kernel, tkc_double *gpu) {
  static const int64_t none[2] = {ROWS, 0};
  tkc_arg args[8];
  tkc_options options = allowed();
  tkc_launch launch = room();
  give(args);
  launch.size = TKC_LAUNCH_SIZE_1_0;
  launch.flops = -1;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK && launch.flops == -1);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK && seen.flops == 0 &&
        seen.stream == NULL);
  launch = room();
  launch.param_capacity = 79;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_E_ARG &&
        launch.param_bytes == 80);
  args[0].u.tensor.extents = args[2].u.tensor.extents = none;
  launch = room();
  tkc_double_forget(gpu);
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK);
  CHECK(launch.variant == -1 && launch.grid[0] == 0 && launch.grid[1] == 0 && launch.grid[2] == 0);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK && tkc_double_launches(gpu) == 0);
  tkc_double_fail(gpu, "cuLaunchKernel", 1);
  give(args);
  launch = room();
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_E_DRIVER);
  CHECK(error.driver_code == 1 && error.earlier_async == 0);
  tkc_double_fail(gpu, "cuLaunchKernel", 700);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_E_DRIVER);
  CHECK(error.driver_code == 700 && error.earlier_async == 1);
  tkc_double_fail(gpu, "cuLaunchKernel", 0);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK && error.driver_code == 0 &&
        error.text[0] == 0);
}

/* Every argument that is wrong has its number. */
static void refuse(const tkc_kernel *kernel) {
  static const int64_t wide[2] = {ROWS, COLUMNS + 1}, tall[2] = {100001, COLUMNS};
  tkc_arg args[8];
  tkc_options options = allowed();
  tkc_launch launch = room();
#define REFUSED(change, status)                                                                    \
  give(args);                                                                                      \
  change;                                                                                          \
  CHECK(encoded(kernel, args, &options) == status)
  REFUSED(args[0].u.tensor.dtype = TKC_F16, TKC_E_DTYPE);
  REFUSED(args[4].dtype = TKC_U32, TKC_E_DTYPE);
  REFUSED(args[0].kind = TKC_POINTER, TKC_E_ARG);
  REFUSED(args[6].kind = TKC_ABSENT, TKC_E_ARG);
  REFUSED(args[0].u.tensor.reserved = 1, TKC_E_ARG);
  REFUSED(args[0].u.tensor.rank = 1, TKC_E_EXTENT);
  REFUSED(args[2].u.tensor.extents = wide, TKC_E_EXTENT);
  REFUSED(args[0].u.tensor.extents = args[2].u.tensor.extents = tall, TKC_E_EXTENT);
  REFUSED(args[0].u.tensor.span_bytes = ROWS * ROW * 4 - 17, TKC_E_EXTENT);
  REFUSED(args[0].u.tensor.data = at(1025), TKC_E_ALIGN);
  REFUSED(args[2].u.tensor.data = at(1024), TKC_E_OVERLAP);
  REFUSED(args[3].u.pointer.data = at(65536), TKC_E_OVERLAP);
  REFUSED(args[3].u.pointer.span_bytes = 0, TKC_E_OVERLAP);
  REFUSED(args[4].u.bits = (uint64_t)-1, TKC_E_REQUIRE);
  options.workspace_bytes = 100;
  REFUSED((void)0, TKC_E_WORKSPACE);
  options = allowed();
  options.num_vendor_attrs = 1;
  REFUSED((void)0, TKC_E_UNSUPPORTED);
  options = allowed();
  options.vendor_attrs = memory;
  REFUSED((void)0, TKC_E_UNSUPPORTED);
  options = allowed();
  options.flags = TKC_NO_OVERLAP_CHECK;
  REFUSED(args[2].u.tensor.data = at(1024), TKC_OK);
  options.flags = 1 << 20;
  REFUSED((void)0, TKC_E_ARG);
  CHECK(tkc_encode(kernel, args, 7, NULL, &launch, &error) == TKC_E_ARG);
#undef REFUSED
}

/* Which variant, how many multiprocessors, how it is launched. */
static void choose(tkc_bundle *bundle, tkc_double *gpu) {
  static const tkc_const f32 = {"T", "f32"};
  static const char table[] =
      "[{\"kernel\":\"scale\",\"arch\":\"sm_90a\",\"sms\":20,\"key\":[33],\"config_id\":\"w8\"}]";
  tkc_prepare_desc desc = {sizeof(tkc_prepare_desc), 0, NULL, 0, 0, NULL, NULL, NULL, 0};
  tkc_options options = allowed();
  tkc_launch launch = room();
  tkc_kernel *kernel = NULL;
  tkc_arg args[8];
  give(args);
  desc.max_sms = 7;
  CHECK(tkc_kernel_prepare(bundle, "scale", &f32, 1, 0, &desc, &kernel, &error) == TKC_OK);
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK && launch.grid[1] == 7);
  options.sms = 5;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK && launch.grid[1] == 5);
  options.flags = TKC_PDL;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_E_UNSUPPORTED);
  options.flags = TKC_PDL | TKC_PIN_VARIANT;
  options.variant = 1;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK);
  CHECK(launch.variant == 1 && launch.flags == TKC_PDL && launch.dynamic_smem == 1024);
  options.flags = TKC_PIN_VARIANT;
  options.variant = 2;
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_E_NO_VARIANT);
  tkc_kernel_release(kernel);
  desc.max_sms = 0;
  desc.table = table;
  desc.table_bytes = sizeof(table) - 1;
  options = allowed();
  CHECK(tkc_kernel_prepare(bundle, "scale", &f32, 1, 0, &desc, &kernel, &error) == TKC_OK);
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK && launch.variant == 2);
  CHECK(launch.block[0] == 256 && launch.flags == TKC_COOPERATIVE);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK &&
        tkc_double_calls(gpu, "cuLaunchKernelEx") == 1);
  tkc_kernel_release(kernel);
  desc.table = NULL;
  desc.table_bytes = 0;
  desc.config = "w8";
  CHECK(tkc_kernel_prepare(bundle, "scale", &f32, 1, 0, &desc, &kernel, &error) == TKC_OK);
  CHECK(tkc_encode(kernel, args, 8, &options, &launch, &error) == TKC_OK && launch.variant == 2);
  tkc_kernel_release(kernel);
}

static void ask(const tkc_kernel *kernel) {
  char text[4096];
  size_t bytes = sizeof(text);
  uint64_t needed = 0, bound = 0;
  uint32_t align = 0, is_zero = 0;
  tkc_options options = allowed();
  tkc_arg args[8];
  give(args);
  args[0].u.tensor.data = args[2].u.tensor.data = NULL;
  CHECK(tkc_workspace_query(kernel, args, 8, NULL, &needed, &align, &is_zero, &error) == TKC_OK);
  CHECK(needed >= ROWS * 32 * 4 && needed < ROWS * 32 * 4 + 256 && align == 256 && is_zero == 1);
  CHECK(tkc_workspace_query(kernel, args, 8, NULL, &needed, NULL, NULL, &error) == TKC_OK);
  CHECK(tkc_workspace_bound(kernel, args, 8, NULL, &bound, &error) == TKC_OK && bound >= needed);
  give(args);
  CHECK(tkc_why(kernel, args, 8, &options, text, &bytes, &error) == TKC_OK);
  CHECK(strstr(text, "`aligned/w4`") != NULL && bytes == strlen(text) + 1);
}

void call_kernels(tkc_driver *driver, tkc_double *gpu) {
  static const tkc_const f32 = {"T", "f32"};
  tkc_bundle_desc file = described(cubin);
  tkc_bundle *bundle = NULL;
  tkc_kernel *kernel = NULL;
  CHECK(tkc_bundle_open(driver, &file, &bundle, &error) == TKC_OK);
  CHECK(bundle && tkc_kernel_prepare(bundle, "scale", &f32, 1, 0, NULL, &kernel, &error) == TKC_OK);
  if (kernel) {
    launch_once(kernel, gpu);
    give_all(kernel);
    encode_otherwise(kernel, gpu);
    refuse(kernel);
    ask(kernel);
    choose(bundle, gpu);
  }
  tkc_bundle_release(bundle); /* it lives on as long as its kernels */
  tkc_kernel_release(kernel);
}
