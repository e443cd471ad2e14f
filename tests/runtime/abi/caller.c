/* A program of the first release: all functions, structs and numbers of its <tkc/runtime.h>, on the
 * double of the driver and on a device that the program brings along. caller KERNELS.JSON ends with
 * 0 when the library does what it did. */
#define _POSIX_C_SOURCE 200112L
#include "caller.h"

#include <stdlib.h>
#include <string.h>

tkc_error error = {sizeof(tkc_error), 0, 0, 0, ""};
struct seen seen;

static char text_of_kernels[1 << 16];
static size_t bytes_of_kernels;
static int failures;

void check(int is_good, const char *what, const char *file, int line) {
  if (is_good)
    return;
  ++failures;
  fprintf(stderr, "%s:%d: not so: %s; the last call: %s: %s\n", file, line, what,
          tkc_status_name(error.status), error.text);
}

const char cubin[64] = "cubin", ptx[64] = "ptx", tk[64] = "tk";

static void *resolve(void *user, const char *symbol) {
  struct hooks *hooks = user;
  ++seen.resolved;
  return hooks->inner.resolve(hooks->inner.user, symbol);
}

static void *allocate(void *user, size_t bytes, size_t align) {
  void *made = NULL;
  CHECK(((struct hooks *)user)->mark == 42);
  CHECK(bytes > 0 && align > 0 && (align & (align - 1)) == 0);
  if (seen.refuse)
    return NULL;
  ++seen.allocated;
  return posix_memalign(&made, align < sizeof(void *) ? sizeof(void *) : align, bytes) ? NULL
                                                                                       : made;
}

static void release(void *user, void *p) {
  CHECK(((struct hooks *)user)->mark == 42);
  --seen.allocated;
  free(p);
}

static void log_line(void *user, int level, const char *text) {
  CHECK(((struct hooks *)user)->mark == 42);
  CHECK(level == TKC_LOG_INFO || level == TKC_LOG_WARNING);
  CHECK(strchr(text, '\n') == NULL);
  seen.told += level == TKC_LOG_INFO;
  seen.warned += level == TKC_LOG_WARNING;
}

static void on_submit(void *user, const char *symbol, double flops, double bytes, void *stream) {
  CHECK(((struct hooks *)user)->mark == 42);
  seen.symbol = symbol;
  seen.flops = flops;
  seen.bytes = bytes;
  seen.stream = stream;
}

tkc_driver_desc hooked(struct hooks *hooks, tkc_driver_desc inner) {
  tkc_driver_desc desc = {sizeof(tkc_driver_desc), 0, NULL, NULL, NULL, NULL, NULL, NULL, 0};
  hooks->inner = inner;
  hooks->mark = 42;
  desc.backend = inner.backend;
  desc.resolve = resolve;
  desc.alloc = allocate;
  desc.free = release;
  desc.log = log_line;
  desc.on_submit = on_submit;
  desc.user = hooks;
  return desc;
}

tkc_bundle_desc described(const char image[64]) {
  tkc_bundle_desc desc = {sizeof(tkc_bundle_desc), 0, NULL, 0, NULL, 0, NULL};
  desc.data = image;
  desc.bytes = 64;
  desc.json = text_of_kernels;
  desc.json_bytes = bytes_of_kernels;
  return desc;
}

/* What is wrong with a bundle is said by a number of its own. */
static void open_bundles(tkc_driver *driver) {
  tkc_bundle *bundle = NULL;
  tkc_bundle_desc desc = described(cubin);
  uint8_t digest[32] = {0};
  seen.allocated = 0;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_OK && seen.allocated > 0);
  tkc_bundle_release(bundle);
  CHECK(seen.allocated == 0);
  desc.flags = TKC_BORROW;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_OK && seen.allocated == 0);
  tkc_bundle_release(bundle);
  desc.flags = 0;
  seen.refuse = 1;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_E_NOMEM);
  seen.refuse = 0;
  desc.sha256 = digest;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_E_DIGEST);
  desc.sha256 = NULL;
  desc.json_bytes -= 20;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_E_CORRUPT);
  desc.json =
      "{\"schema\":\"tkc.kernel/1.0\",\"needs\":[\"wings.1\"],\"images\":[],\"kernels\":[]}";
  desc.json_bytes = strlen(desc.json);
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_E_NEEDS_FEATURE);
  desc = described(cubin);
  desc.size = 8;
  CHECK(tkc_bundle_open(driver, &desc, &bundle, &error) == TKC_E_ARG);
  CHECK(error.status == TKC_E_ARG && error.driver_code == 0 && error.text[0] != 0);
}

/* A struct of a release to come is longer: good while what this library does not know is 0. */
static void open_of_later_release(const tkc_driver_desc *known) {
  struct {
    tkc_driver_desc desc;
    uint64_t more;
  } later = {*known, 0};
  tkc_driver *driver = NULL;
  later.desc.size = sizeof(later);
  CHECK(tkc_driver_open(&later.desc, &driver, &error) == TKC_OK);
  tkc_driver_release(driver);
  later.more = 1;
  CHECK(tkc_driver_open(&later.desc, &driver, &error) == TKC_E_UNSUPPORTED);
}

static int read_kernels(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  bytes_of_kernels = fread(text_of_kernels, 1, sizeof(text_of_kernels), file);
  fclose(file);
  return bytes_of_kernels > 0;
}

static void names(void) {
  static const char *const all[] = {
      "TKC_OK",          "TKC_E_ARG",           "TKC_E_DTYPE",     "TKC_E_EXTENT",
      "TKC_E_ALIGN",     "TKC_E_OVERLAP",       "TKC_E_REQUIRE",   "TKC_E_GRID",
      "TKC_E_WORKSPACE", "TKC_E_NO_VARIANT",    "TKC_E_COLD",      "TKC_E_DEVICE",
      "TKC_E_DRIVER",    "TKC_E_DRIVER_OLD",    "TKC_E_CORRUPT",   "TKC_E_DIGEST",
      "TKC_E_ABI",       "TKC_E_NEEDS_FEATURE", "TKC_E_RESOURCES", "TKC_E_UNSUPPORTED",
      "TKC_E_NOMEM",     "TKC_E_AMBIGUOUS",     "TKC_E_KERNEL"};
  int32_t i;
  for (i = 0; i <= TKC_E_KERNEL; ++i)
    CHECK(strcmp(tkc_status_name(i), all[i]) == 0);
  CHECK(strcmp(tkc_status_name(-1), "unknown") == 0);
  CHECK(tkc_rt_version() >= TKC_RT_VERSION && tkc_rt_version() >> 16 == TKC_RT_VERSION >> 16);
}

int main(int count, char **words) {
  tkc_double_desc machine = {sizeof(tkc_double_desc), 12040, 2, 9, 0, 20, 100000, 3, NULL};
  struct hooks hooks;
  tkc_double *gpu = tkc_double_create(&machine);
  tkc_driver_desc desc;
  tkc_driver *driver = NULL;
  if (count != 2 || !read_kernels(words[1]) || !gpu) {
    fprintf(stderr, "caller KERNELS.JSON\n");
    return 2;
  }
  desc = hooked(&hooks, tkc_double_driver(gpu, TKC_CUDA));
  names();
  open_of_later_release(&desc);
  CHECK(tkc_driver_open(&desc, &driver, &error) == TKC_OK && seen.resolved > 0);
  if (driver) {
    open_bundles(driver);
    prepare_kernels(driver, gpu);
    call_kernels(driver, gpu);
    call_types(driver, gpu);
  }
  tkc_driver_release(driver);
  tkc_double_destroy(gpu);
  call_own_device();
  CHECK(seen.allocated == 0);
  printf("%s\n", failures ? "another interface" : "the interface of the first release");
  return failures != 0;
}
