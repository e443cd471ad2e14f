/* Every element type by its number and every scalar by its bits; then the interpreter's interface,
 * <tkc/cpu.h>. */
#include "caller.h"

#include <string.h>

static tkc_kernel *prepared(tkc_driver *driver, const char image[64], const char *name) {
  tkc_bundle_desc file = described(image);
  tkc_bundle *bundle = NULL;
  tkc_kernel *kernel = NULL;
  CHECK(tkc_bundle_open(driver, &file, &bundle, &error) == TKC_OK);
  CHECK(bundle && tkc_kernel_prepare(bundle, name, NULL, 0, 0, NULL, &kernel, &error) == TKC_OK);
  tkc_bundle_release(bundle);
  return kernel;
}

static tkc_launch room(void *buffer, uint32_t bytes) {
  tkc_launch launch;
  memset(&launch, 0, sizeof(launch));
  launch.size = sizeof(launch);
  launch.params = buffer;
  launch.param_capacity = bytes;
  return launch;
}

/* The pointers of kernels.json's `types`, in the order of its list: each takes its own type and no
 * other. */
static void pointers(tkc_driver *driver) {
  static const uint32_t types[18] = {
      TKC_I1,  TKC_I8,       TKC_I16,    TKC_I32,        TKC_I64,        TKC_U8,
      TKC_U16, TKC_U32,      TKC_U64,    TKC_F16,        TKC_BF16,       TKC_F32,
      TKC_F64, TKC_F8E4M3FN, TKC_F8E5M2, TKC_F8E4M3FNUZ, TKC_F8E5M2FNUZ, TKC_E8M0};
  static uint64_t data[18], buffer[18];
  tkc_kernel *kernel = prepared(driver, cubin, "types");
  tkc_launch launch = room(buffer, sizeof(buffer));
  tkc_arg args[18];
  int i;
  if (!kernel)
    return;
  memset(args, 0, sizeof(args));
  for (i = 0; i < 18; ++i) {
    args[i].kind = TKC_POINTER;
    args[i].dtype = types[i];
    args[i].u.pointer.data = data + i;
  }
  CHECK(tkc_encode(kernel, args, 18, NULL, &launch, &error) == TKC_OK);
  for (i = 0; i < 18; ++i) {
    CHECK(buffer[i] == (uintptr_t)(data + i));
    args[i].dtype = types[(i + 1) % 18];
    CHECK(tkc_encode(kernel, args, 18, NULL, &launch, &error) == TKC_E_DTYPE);
    args[i].dtype = types[i];
  }
  CHECK(TKC_I4 == 19 && TKC_U4 == 20 && TKC_F4E2M1 == 21);
  tkc_kernel_release(kernel);
}

/* The scalars of `numbers`: i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, each at a multiple
 * of its size. */
static void numbers(tkc_driver *driver, tkc_double *gpu) {
  static const uint32_t types[13] = {TKC_I1,  TKC_I8,  TKC_I16, TKC_I32,  TKC_I64, TKC_U8, TKC_U16,
                                     TKC_U32, TKC_U64, TKC_F16, TKC_BF16, TKC_F32, TKC_F64};
  static const uint32_t at[13] = {0, 1, 2, 4, 8, 16, 18, 20, 24, 32, 34, 36, 40},
                        sizes[13] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  static const uint64_t bits[13] = {1,
                                    (uint64_t)-3,
                                    (uint64_t)-300,
                                    (uint64_t)-70000,
                                    (uint64_t)-5000000000,
                                    200,
                                    60000,
                                    4000000000u,
                                    (uint64_t)-2,
                                    0x3c00,
                                    0x3f80,
                                    0,
                                    0};
  const float single = -1.5f;
  const double twice = 0.1;
  unsigned char buffer[64];
  tkc_kernel *kernel = prepared(driver, cubin, "numbers");
  tkc_launch launch = room(buffer, sizeof(buffer));
  tkc_double_launch got = {sizeof(tkc_double_launch), 0, NULL, NULL, NULL, {0}, {0}, {0}, 0, 0};
  tkc_arg args[13];
  int i;
  if (!kernel)
    return;
  memset(args, 0, sizeof(args));
  for (i = 0; i < 13; ++i) {
    args[i].kind = TKC_SCALAR;
    args[i].dtype = types[i];
    args[i].u.bits = bits[i];
  }
  args[11].u.f32 = single;
  args[12].u.f64 = twice;
  tkc_double_forget(gpu);
  CHECK(tkc_encode(kernel, args, 13, NULL, &launch, &error) == TKC_OK && launch.param_bytes == 48);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK &&
        tkc_double_launch_at(gpu, 0, &got) == TKC_OK);
  for (i = 0; i < 11; ++i)
    CHECK(memcmp((const char *)got.params + at[i], &bits[i], sizes[i]) == 0);
  CHECK(memcmp((const char *)got.params + at[11], &single, 4) == 0);
  CHECK(memcmp((const char *)got.params + at[12], &twice, 8) == 0);
  args[1].u.bits = 200; /* fits no i8 */
  CHECK(tkc_encode(kernel, args, 13, NULL, &launch, &error) == TKC_E_ARG);
  tkc_kernel_release(kernel);
}

/* A grid below zero has a number of its own. */
static void grids(tkc_driver *driver) {
  uint64_t buffer[1];
  tkc_kernel *kernel = prepared(driver, ptx, "jit");
  tkc_launch launch = room(buffer, sizeof(buffer));
  tkc_arg n = {TKC_SCALAR, TKC_I64, {{0}}};
  n.u.bits = 3;
  CHECK(tkc_encode(kernel, &n, 1, NULL, &launch, &error) == TKC_E_GRID);
  n.u.bits = 6;
  CHECK(tkc_encode(kernel, &n, 1, NULL, &launch, &error) == TKC_OK && launch.grid[0] == 2 &&
        buffer[0] == 6);
  tkc_kernel_release(kernel);
}

void call_types(tkc_driver *driver, tkc_double *gpu) {
  pointers(driver);
  numbers(driver, gpu);
  grids(driver);
}

/* --- a device as libtkccpu of that release is one: it fills y with v * p[0] --- */

struct tkc_cpu_program {
  int mark;
};
static struct tkc_cpu_program program = {7};
static int loaded;

static int32_t cpu_load(const void *image, size_t bytes, const char *symbol, tkc_cpu_program **out,
                        char *text, size_t room) {
  (void)text;
  CHECK(bytes == 64 && memcmp(image, tk, 64) == 0 && strcmp(symbol, "fill") == 0 && room > 0);
  *out = &program;
  ++loaded;
  return TKC_CPU_OK;
}

static int32_t cpu_launch(const tkc_cpu_program *given, const uint32_t grid[3], const void *params,
                          size_t bytes, char *text, size_t room) {
  struct {
    float *y;
    int64_t extent, stride;
    const float *p;
    uint64_t span;
    uint8_t b;
    float v;
  } call;
  int64_t i;
  CHECK(given->mark == 7 && bytes == 48 && sizeof(call) == 48);
  memcpy(&call, params, sizeof(call));
  CHECK(grid[0] == (uint32_t)((call.extent + 3) / 4) && grid[1] == 1 && grid[2] == 1);
  CHECK(call.span == 4 && call.stride == 2);
  if (!call.b) {
    snprintf(text, room, "line 3: b is false");
    return TKC_CPU_E_KERNEL;
  }
  for (i = 0; i < call.extent; ++i)
    call.y[i * call.stride] = call.v * *call.p;
  return TKC_CPU_OK;
}

static void cpu_unload(tkc_cpu_program *given) {
  loaded -= given == &program;
}

static const tkc_cpu_api cpu_table = {sizeof(tkc_cpu_api), TKC_CPU_VERSION, cpu_load, cpu_launch,
                                      cpu_unload};

const tkc_cpu_api *tkc_cpu_api_v1(void) {
  return &cpu_table;
}

static void *resolve_cpu(void *user, const char *symbol) {
  union {
    const tkc_cpu_api *(*function)(void);
    void *address;
  } both = {tkc_cpu_api_v1};
  (void)user;
  return strcmp(symbol, "tkc_cpu_api_v1") == 0 ? both.address : NULL;
}

static void fill(tkc_kernel *kernel) {
  static const int64_t extent[1] = {5}, stride[1] = {2};
  float y[10] = {0}, p[1] = {3};
  uint64_t buffer[6];
  tkc_launch launch = room(buffer, sizeof(buffer));
  tkc_arg args[4];
  memset(args, 0, sizeof(args));
  args[0].kind = TKC_TENSOR;
  args[0].u.tensor.data = y;
  args[0].u.tensor.extents = extent;
  args[0].u.tensor.strides = stride;
  args[0].u.tensor.dtype = TKC_F32;
  args[0].u.tensor.rank = 1;
  args[1].kind = TKC_POINTER;
  args[1].dtype = TKC_F32;
  args[1].u.pointer.data = p;
  args[1].u.pointer.span_bytes = sizeof(p);
  args[2].kind = args[3].kind = TKC_SCALAR;
  args[2].dtype = TKC_I1;
  args[2].u.bits = 1;
  args[3].dtype = TKC_F32;
  args[3].u.f32 = 1.5f;
  CHECK(tkc_encode(kernel, args, 4, NULL, &launch, &error) == TKC_OK);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_OK);
  CHECK(y[0] == 4.5f && y[1] == 0 && y[8] == 4.5f && y[9] == 0);
  args[2].u.bits = 0;
  CHECK(tkc_encode(kernel, args, 4, NULL, &launch, &error) == TKC_OK);
  CHECK(tkc_submit(kernel, &launch, NULL, &error) == TKC_E_KERNEL &&
        strstr(error.text, "line 3: b is false"));
}

void call_own_device(void) {
  struct hooks hooks;
  tkc_driver_desc inner = {
      sizeof(tkc_driver_desc), TKC_CPU, resolve_cpu, NULL, NULL, NULL, NULL, NULL, 0};
  tkc_driver_desc desc = hooked(&hooks, inner);
  tkc_driver *driver = NULL;
  tkc_kernel *kernel;
  CHECK(tkc_driver_open(&desc, &driver, &error) == TKC_OK);
  kernel = driver ? prepared(driver, tk, "fill") : NULL;
  CHECK(kernel && loaded == 1);
  if (kernel)
    fill(kernel);
  tkc_kernel_release(kernel);
  tkc_driver_release(driver);
  CHECK(loaded == 0);
}
