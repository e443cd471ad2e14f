/* Kernels are found by name, constants, hash and device, and say what they are. */
#include "caller.h"

#include <string.h>

static tkc_const wanted[2]; /* T is f32, D is 4 */

/* What preparing `name` as the descriptor says ends with; the kernel is released. */
static tkc_status prepared(tkc_bundle *bundle, const char *name, uint32_t constants, uint64_t hash,
                           const tkc_prepare_desc *desc) {
  tkc_kernel *kernel = NULL;
  tkc_status status =
      tkc_kernel_prepare(bundle, name, wanted, constants, hash, desc, &kernel, &error);
  CHECK((status == TKC_OK) == (kernel != NULL));
  tkc_kernel_release(kernel);
  return status;
}

static void find(tkc_bundle *bundle) {
  const uint64_t hash = 0x6f1c2a90d4e58b17u;
  CHECK(prepared(bundle, "scale", 2, hash, NULL) == TKC_OK);
  CHECK(prepared(bundle, "scale", 1, 0, NULL) == TKC_OK);
  CHECK(prepared(bundle, "scale", 0, 0, NULL) == TKC_E_AMBIGUOUS);
  CHECK(prepared(bundle, "scale", 2, hash + 1, NULL) == TKC_E_ABI);
  CHECK(prepared(bundle, "other", 0, 0, NULL) == TKC_E_ARG);
  CHECK(prepared(bundle, "much_shared", 0, 0, NULL) == TKC_E_RESOURCES);
  CHECK(prepared(bundle, "new_driver", 0, 0, NULL) == TKC_E_DRIVER_OLD);
  CHECK(prepared(bundle, "fill", 0, 0, NULL) == TKC_E_DEVICE);
}

static void choose_device(tkc_bundle *bundle) {
  tkc_prepare_desc desc = {sizeof(tkc_prepare_desc), 0, NULL, 0, 0, NULL, NULL, NULL, 0};
  desc.device = 1;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_OK);
  desc.device = 2;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_E_DEVICE);
  desc.device = 0;
  desc.size = 8;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_E_ARG);
  desc.size = sizeof(desc);
  desc.context = &desc;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_OK);
  desc.context = NULL;
  desc.numerics_class = "strict";
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_E_UNSUPPORTED);
  desc.numerics_class = NULL;
  desc.config = "w9";
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_E_NO_VARIANT);
  desc.config = NULL;
  desc.table = "[{\"arch\":\"sm_90a\",\"sms\":20,\"key\":[33],\"config_id\":\"w9\"}]";
  desc.table_bytes = strlen(desc.table);
  seen.warned = 0;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_OK && seen.warned > 0);
  desc.table = "[";
  desc.table_bytes = 1;
  CHECK(prepared(bundle, "scale", 2, 0, &desc) == TKC_E_CORRUPT);
}

/* What the driver refuses while a stream is captured. */
static void load_while_capturing(tkc_bundle *bundle, tkc_double *gpu) {
  tkc_double_fail(gpu, "cuKernelGetFunction", 900);
  CHECK(prepared(bundle, "scale", 2, 0, NULL) == TKC_E_COLD && error.driver_code == 900);
  tkc_double_fail(gpu, "cuKernelGetFunction", 0);
}

static void compile_by_driver(tkc_driver *driver) {
  tkc_prepare_desc desc = {sizeof(tkc_prepare_desc), 0, NULL, 0, 0, NULL, NULL, NULL, 0};
  tkc_bundle_desc file = described(ptx);
  tkc_bundle *bundle = NULL;
  CHECK(tkc_bundle_open(driver, &file, &bundle, &error) == TKC_OK);
  seen.told = seen.warned = 0;
  CHECK(prepared(bundle, "jit", 0, 0, &desc) == TKC_OK && seen.told > 0 && seen.warned == 0);
  desc.flags = TKC_NO_JIT;
  CHECK(prepared(bundle, "jit", 0, 0, &desc) == TKC_E_DEVICE);
  tkc_bundle_release(bundle);
}

static void describe(tkc_bundle *bundle) {
  char json[8192];
  size_t bytes = 0, needed;
  uint32_t blocks = 0, clusters = 0;
  tkc_kernel *kernel = NULL;
  CHECK(tkc_kernel_prepare(bundle, "scale", wanted, 2, 0, NULL, &kernel, &error) == TKC_OK);
  if (!kernel)
    return;
  CHECK(tkc_describe(kernel, 1, json, &bytes, &error) == TKC_E_ARG && bytes > 1 &&
        bytes < sizeof(json));
  needed = bytes;
  CHECK(tkc_describe(kernel, 1, json, &bytes, &error) == TKC_OK && bytes == needed &&
        strlen(json) + 1 == needed);
  CHECK(strstr(json, "\"any/w4\"") && strstr(json, "\"scale_f32_any\""));
  bytes = sizeof(json);
  CHECK(tkc_describe(kernel, -1, json, &bytes, &error) == TKC_OK && strstr(json, "\"args\"") &&
        !strstr(json, "any/w4"));
  bytes = sizeof(json);
  CHECK(tkc_describe(kernel, 3, json, &bytes, &error) == TKC_E_ARG);
  CHECK(tkc_occupancy(kernel, 1, &blocks, &clusters, &error) == TKC_OK && blocks == 3 &&
        clusters > 0);
  CHECK(tkc_occupancy(kernel, 1, NULL, NULL, &error) == TKC_OK);
  CHECK(tkc_occupancy(kernel, 2, &blocks, &clusters, &error) == TKC_E_NO_VARIANT);
  tkc_kernel_release(kernel);
}

void prepare_kernels(tkc_driver *driver, tkc_double *gpu) {
  tkc_bundle_desc file = described(cubin);
  tkc_bundle *bundle = NULL;
  CHECK(tkc_bundle_open(driver, &file, &bundle, &error) == TKC_OK);
  if (!bundle)
    return;
  wanted[0].name = "T";
  wanted[0].value = "f32";
  wanted[1].name = "D";
  wanted[1].value = "4";
  find(bundle);
  choose_device(bundle);
  load_while_capturing(bundle, gpu);
  compile_by_driver(driver);
  describe(bundle);
  tkc_bundle_release(bundle);
}
