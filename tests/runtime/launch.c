/* A C program from opening to launching, on the recording driver. Ends with 0 when all is as it
 * should be. The kernel is that of docs/metadata.md's example: z = x + y. */
#include <stdio.h>
#include <string.h>
#include <tkc/double.h>
#include <tkc/runtime.h>

#define VARIANT(id, rank, when, type, size)                                                        \
  "{\"id\":\"" id "\",\"default_rank\":" rank ","                                                  \
  "\"target\":{\"vendor\":\"nvidia\",\"arch\":\"sm_90a\",\"match\":\"exact\"},\"image\":0,"        \
  "\"symbol\":\"add_" id "\",\"when\":[" when "],\"block\":[128,1,1],"                             \
  "\"grid\":[[\"cdiv\",\"N\",1024],1,1],"                                                          \
  "\"resources\":{\"shared_static\":0,\"shared_dynamic\":0},"                                      \
  "\"params\":{\"bytes\":32,\"align\":8,\"hidden\":0,\"list\":["                                   \
  "{\"at\":0,\"size\":8,\"type\":\"ptr\",\"value\":\"x.ptr\"},"                                    \
  "{\"at\":8,\"size\":8,\"type\":\"ptr\",\"value\":\"y.ptr\"},"                                    \
  "{\"at\":16,\"size\":8,\"type\":\"ptr\",\"value\":\"z.ptr\"},"                                   \
  "{\"at\":24,\"size\":" size ",\"type\":\"" type "\",\"value\":\"N\"}]}}"

#define ARG(name, access)                                                                          \
  "{\"name\":\"" name "\",\"kind\":\"tensor\",\"dtype\":\"f32\",\"access\":\"" access              \
  "\",\"extents\":[\"N\"],\"strides\":[1]}"

static const char json[] =
    "{\"schema\":\"tkc.kernel/1.0\",\"images\":[{\"kind\":\"cubin\",\"size\":64,\"sha256\":"
    "\"f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b\"}],"
    "\"kernels\":[{\"kernel\":\"add\",\"abi_hash\":\"b3:6f1c2a90d4e58b17\",\"args\":[" ARG(
        "x",
        "in") "," ARG("y",
                      "in") "," ARG("z",
                                    "out") "],"
                                           "\"disjoint\":[[\"z\",\"x\"],[\"z\",\"y\"]],"
                                           "\"variants\":[" VARIANT(
                                               "v4", "0",
                                               "[\"divides\",4,\"N\"],[\"le\",\"N\",2147483647]",
                                               "i32",
                                               "4") "," VARIANT("v1", "1", "", "i64", "8") "]}]}";

static tkc_error error = {sizeof(tkc_error), 0, 0, 0, ""};

static int fail(const char *what) {
  fprintf(stderr, "%s: %s: %s\n", what, tkc_status_name(error.status), error.text);
  return 1;
}

static tkc_arg vector(void *data, const int64_t *n) {
  tkc_arg arg;
  memset(&arg, 0, sizeof(arg));
  arg.kind = TKC_TENSOR;
  arg.u.tensor.data = data;
  arg.u.tensor.extents = n;
  arg.u.tensor.dtype = TKC_F32;
  arg.u.tensor.rank = 1;
  return arg;
}

/* Launches on n elements; the driver must get `symbol` and a grid of `blocks`. */
static int launch(const tkc_kernel *kernel, tkc_double *gpu, int64_t n, const char *symbol,
                  uint32_t blocks) {
  static char device[3][1 << 16];
  static union {
    uint64_t align[16];
    unsigned char bytes[128];
  } params;
  tkc_arg args[3];
  tkc_launch made;
  tkc_double_launch got;
  int i;
  for (i = 0; i < 3; ++i)
    args[i] = vector(device[i], &n);
  memset(&made, 0, sizeof(made));
  made.size = sizeof(made);
  made.params = params.bytes;
  made.param_capacity = sizeof(params.bytes);
  if (tkc_encode(kernel, args, 3, NULL, &made, &error))
    return fail("tkc_encode");
  if (tkc_submit(kernel, &made, NULL, &error))
    return fail("tkc_submit");
  got.size = sizeof(got);
  if (tkc_double_launch_at(gpu, tkc_double_launches(gpu) - 1, &got))
    return fail("tkc_double_launch_at");
  if (strcmp(got.symbol, symbol) != 0 || got.grid[0] != blocks || got.param_bytes != 32) {
    fprintf(stderr, "launched %s on %u blocks, needed %s on %u\n", got.symbol, got.grid[0], symbol,
            blocks);
    return 1;
  }
  args[2] = args[0]; /* z and x must not share memory */
  if (tkc_encode(kernel, args, 3, NULL, &made, &error) != TKC_E_OVERLAP)
    return fail("overlap");
  return 0;
}

int main(void) {
  static const char image[64];
  tkc_double *gpu = tkc_double_create(NULL);
  tkc_driver *driver = NULL;
  tkc_bundle *bundle = NULL;
  tkc_kernel *kernel = NULL;
  tkc_driver_desc driver_desc = tkc_double_driver(gpu, TKC_CUDA);
  tkc_bundle_desc bundle_desc;
  int failed;
  if (tkc_driver_open(&driver_desc, &driver, &error))
    return fail("tkc_driver_open");
  memset(&bundle_desc, 0, sizeof(bundle_desc));
  bundle_desc.size = sizeof(bundle_desc);
  bundle_desc.data = image;
  bundle_desc.bytes = sizeof(image);
  bundle_desc.json = json;
  bundle_desc.json_bytes = sizeof(json);
  if (tkc_bundle_open(driver, &bundle_desc, &bundle, &error))
    return fail("tkc_bundle_open");
  if (tkc_kernel_prepare(bundle, "add", NULL, 0, 0, NULL, &kernel, &error))
    return fail("tkc_kernel_prepare");
  failed = launch(kernel, gpu, 4096, "add_v4", 4) || launch(kernel, gpu, 1025, "add_v1", 2);
  tkc_kernel_release(kernel);
  tkc_bundle_release(bundle);
  tkc_driver_release(driver);
  tkc_double_destroy(gpu);
  return failed;
}
