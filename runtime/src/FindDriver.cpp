//===- FindDriver.cpp - where a backend's functions are --------------------===//
#include "Driver.h"

#include "Error.h"

#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <link.h>

namespace tkcrt {

namespace {
/// What a backend's library is called.
struct LibraryNames {
  const char *prefix;     ///< of a mapped copy's file name
  const char *sonames[3]; ///< to open, in this order
  const char *missing;    ///< what the process has not, for the error
};

struct Mapped {
  const char *prefix;
  int count = 0;
  char paths[2][160] = {};
};

/// How to look a symbol up: the caller's way, or a dlopen handle.
struct Source {
  void *(*resolve)(void *user, const char *symbol) = nullptr;
  void *user = nullptr;
  void *handle = nullptr;

  void *find(const char *symbol) const {
    return resolve ? resolve(user, symbol) : dlsym(handle, symbol);
  }
};
} // namespace

static const LibraryNames &namesOf(uint32_t backend) {
  static constexpr LibraryNames cuda{"libcuda.so", {"libcuda.so.1"}, "NVIDIA driver"};
  static constexpr LibraryNames hip{
      "libamdhip64.so", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"}, "HIP runtime"};
  static constexpr LibraryNames cpu{"libtkccpu.so", {"libtkccpu.so.1"}, "tkc interpreter"};
  return backend == TKC_HIP ? hip : backend == TKC_CPU ? cpu : cuda;
}

static int countCopies(dl_phdr_info *info, size_t, void *data) {
  Mapped &mapped = *static_cast<Mapped *>(data);
  const char *path = info->dlpi_name ? info->dlpi_name : "";
  const char *slash = strrchr(path, '/');
  if (strncmp(slash ? slash + 1 : path, mapped.prefix, strlen(mapped.prefix)) != 0)
    return 0;
  if (mapped.count < 2)
    strncpy(mapped.paths[mapped.count], path, sizeof(mapped.paths[0]) - 1);
  ++mapped.count;
  return 0;
}

/// The copy that the process uses already, else the system's. The handle is kept for good:
/// unmapping a driver under live contexts is not safe.
static tkc_status openLibrary(uint32_t backend, Source &source, tkc_error *err) {
  const LibraryNames &names = namesOf(backend);
  Mapped mapped{names.prefix};
  dl_iterate_phdr(countCopies, &mapped);
  if (mapped.count > 1)
    return fail(err, TKC_E_DRIVER,
                "%d copies of %s are mapped, among them %s and %s: give a resolver for the one "
                "that is meant",
                mapped.count, names.prefix, mapped.paths[0], mapped.paths[1]);
  // What is mapped first, under whatever of its names, before anything is opened.
  for (int mode : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW})
    for (const char *soname : names.sonames)
      if (soname && !source.handle)
        source.handle = dlopen(soname, mode);
  if (source.handle)
    return TKC_OK;
  const char *reason = dlerror();
  return fail(err, TKC_E_DRIVER, "no %s: %s", names.missing, reason ? reason : "dlopen failed");
}

template <typename Function>
static bool resolve(const Source &source, const char *symbol, Function &out) {
  out = symbol ? reinterpret_cast<Function>(source.find(symbol)) : nullptr;
  return out != nullptr;
}

static tkc_status failSymbol(bool isHip, const char *symbol, tkc_error *err) {
  return fail(err, TKC_E_DRIVER_OLD, "the driver has no %s; needed one for %s or newer", symbol,
              isHip ? "ROCm 6.0" : "CUDA 12.0");
}

static tkc_status resolveGpu(const Source &source, bool isHip, Gpu &gpu, tkc_error *err) {
  // The version first: an old driver is better named than by the symbol it lacks.
  int version = 0;
  if (!isHip && resolve(source, "cuDriverGetVersion", gpu.driverGetVersion) &&
      gpu.driverGetVersion(&version) == kCudaSuccess && version < kMinDriverVersion)
    return fail(err, TKC_E_DRIVER_OLD, "the driver is for CUDA %d.%d, needed 12.0 or newer",
                version / 1000, version % 1000 / 10);
#define TKC_RESOLVE(name, cuda, hip, params)                                                       \
  if (!resolve(source, isHip ? hip : cuda, gpu.name))                                              \
    return failSymbol(isHip, isHip ? hip : cuda, err);
  TKC_GPU_FUNCTIONS(TKC_RESOLVE)
  if (isHip) {
    TKC_HIP_FUNCTIONS(TKC_RESOLVE)
  } else {
    TKC_CUDA_FUNCTIONS(TKC_RESOLVE)
  }
#undef TKC_RESOLVE
#define TKC_RESOLVE(name, cuda, hip, params) resolve(source, isHip ? hip : cuda, gpu.name);
  TKC_OPTIONAL_FUNCTIONS(TKC_RESOLVE)
#undef TKC_RESOLVE
  return TKC_OK;
}

static tkc_status resolveCpu(const Source &source, tkc_driver &driver, tkc_error *err) {
  const tkc_cpu_api *(*table)(void) = nullptr;
  if (!resolve(source, "tkc_cpu_api_v1", table))
    return fail(err, TKC_E_DRIVER_OLD, "the interpreter has no tkc_cpu_api_v1");
  driver.cpu = table();
  if (driver.cpu && driver.cpu->size >= sizeof(tkc_cpu_api) &&
      driver.cpu->version == TKC_CPU_VERSION)
    return TKC_OK;
  return fail(err, TKC_E_DRIVER_OLD,
              "the interpreter has version %u of its interface (%u bytes), needed %u (%zu)",
              driver.cpu ? driver.cpu->version : 0, driver.cpu ? driver.cpu->size : 0,
              TKC_CPU_VERSION, sizeof(tkc_cpu_api));
}

tkc_status findFunctions(const tkc_driver_desc &desc, tkc_driver &driver, tkc_error *err) {
  Source source;
  source.resolve = desc.resolve;
  source.user = desc.user;
  if (!source.resolve)
    if (tkc_status status = openLibrary(driver.backend, source, err))
      return status;
  return driver.isCpu() ? resolveCpu(source, driver, err)
                        : resolveGpu(source, driver.isHip(), driver.gpu, err);
}

} // namespace tkcrt
