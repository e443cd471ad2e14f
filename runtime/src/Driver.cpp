//===- Driver.cpp - finding and opening libcuda ----------------------------===//
#include "Driver.h"

#include "Error.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <new>
#include <unistd.h>

namespace tkcrt {

/// Errors that stick to a context once a kernel or the hardware has failed; any later call may
/// return one. Numbers from the CUDA 13.0 driver API.
static bool isLeftBehind(CUresult result) {
  switch (result) {
  case 214: // ECC_UNCORRECTABLE
  case 220: // NVLINK_UNCORRECTABLE
  case 226: // CONTAINED
  case 700: // ILLEGAL_ADDRESS
  case 702: // LAUNCH_TIMEOUT
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 716: // MISALIGNED_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
  case 718: // INVALID_PC
  case 719: // LAUNCH_FAILED
  case 721: // TENSOR_MEMORY_LEAK
    return true;
  default:
    return false;
  }
}

tkc_status failDriver(const Cuda &cuda, CUresult result, const char *what, const char *call,
                      tkc_error *err) {
  const char *name = nullptr, *text = nullptr;
  if (cuda.getErrorName)
    cuda.getErrorName(result, &name);
  if (cuda.getErrorString)
    cuda.getErrorString(result, &text);
  bool isEarlier = isLeftBehind(result);
  tkc_status status = result == kCudaLaunchOutOfResources ? TKC_E_RESOURCES : TKC_E_DRIVER;
  fail(err, status, "%s: %s: %s (%d%s%s)%s", what, call, name ? name : "unknown error", result,
       text ? ", " : "", text ? text : "",
       isEarlier ? "; earlier work on the device failed, not this call" : "");
  addDriverCode(err, result, isEarlier);
  return status;
}

tkc_status checkProcess(const tkc_driver &driver, tkc_error *err) {
  if (getpid() == driver.pid)
    return TKC_OK;
  return fail(err, TKC_E_DRIVER,
              "the driver was opened by process %d before a fork, this is %d: open it again "
              "after exec; CUDA does not survive a fork",
              static_cast<int>(driver.pid), static_cast<int>(getpid()));
}

namespace {
struct Mapped {
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

static int countLibcuda(dl_phdr_info *info, size_t, void *data) {
  Mapped &mapped = *static_cast<Mapped *>(data);
  const char *path = info->dlpi_name ? info->dlpi_name : "";
  const char *slash = strrchr(path, '/');
  if (strncmp(slash ? slash + 1 : path, "libcuda.so", 10) != 0)
    return 0;
  if (mapped.count < 2)
    strncpy(mapped.paths[mapped.count], path, sizeof(mapped.paths[0]) - 1);
  ++mapped.count;
  return 0;
}

/// The copy that the process uses already, else the system's. The handle is kept for good:
/// unmapping libcuda under live contexts is not safe.
static tkc_status openLibcuda(Source &source, tkc_error *err) {
  Mapped mapped;
  dl_iterate_phdr(countLibcuda, &mapped);
  if (mapped.count > 1)
    return fail(err, TKC_E_DRIVER,
                "%d copies of libcuda are mapped, among them %s and %s: give a resolver for the "
                "one that is meant",
                mapped.count, mapped.paths[0], mapped.paths[1]);
  source.handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!source.handle)
    source.handle = dlopen("libcuda.so.1", RTLD_NOW);
  if (source.handle)
    return TKC_OK;
  const char *reason = dlerror();
  return fail(err, TKC_E_DRIVER, "no NVIDIA driver: %s", reason ? reason : "dlopen failed");
}

template <typename Function>
static bool resolve(const Source &source, const char *symbol, Function &out) {
  out = reinterpret_cast<Function>(source.find(symbol));
  return out != nullptr;
}

static tkc_status resolveAll(const Source &source, Cuda &cuda, tkc_error *err) {
  // The version first: an old driver is better named than by the symbol it lacks.
  int version = 0;
  if (resolve(source, "cuDriverGetVersion", cuda.driverGetVersion) &&
      cuda.driverGetVersion(&version) == kCudaSuccess && version < kMinDriverVersion)
    return fail(err, TKC_E_DRIVER_OLD, "the driver is for CUDA %d.%d, needed 12.0 or newer",
                version / 1000, version % 1000 / 10);
#define TKC_RESOLVE(name, symbol, params)                                                          \
  if (!resolve(source, symbol, cuda.name))                                                         \
    return fail(err, TKC_E_DRIVER_OLD, "the driver has no %s; needed one for CUDA 12.0 or newer",  \
                symbol);
  TKC_CUDA_FUNCTIONS(TKC_RESOLVE)
#undef TKC_RESOLVE
#define TKC_RESOLVE(name, symbol, params) resolve(source, symbol, cuda.name);
  TKC_CUDA_OPTIONAL_FUNCTIONS(TKC_RESOLVE)
#undef TKC_RESOLVE
  return TKC_OK;
}

static tkc_status checkDescriptor(const tkc_driver_desc &desc, tkc_error *err) {
  if (tkc_status status = checkSize(&desc, sizeof(desc), "tkc_driver_desc", err))
    return status;
  if (desc.backend > TKC_CPU)
    return fail(err, TKC_E_ARG, "tkc_driver_desc.backend is %u, needed TKC_CUDA", desc.backend);
  if (desc.backend > TKC_CUDA)
    return fail(err, TKC_E_UNSUPPORTED, "this libtkcrt has no backend %s yet",
                desc.backend == TKC_HIP ? "TKC_HIP" : "TKC_CPU");
  if (desc.alloc || desc.free || desc.log || desc.on_submit)
    return fail(err, TKC_E_UNSUPPORTED,
                "tkc_driver_desc: alloc, free, log and on_submit are reserved and must be NULL");
  if (desc.flags)
    return fail(err, TKC_E_ARG, "tkc_driver_desc.flags is %#x, needed 0", desc.flags);
  return TKC_OK;
}

static tkc_status openDriver(const tkc_driver_desc *desc, tkc_driver &driver, tkc_error *err) {
  Source source;
  if (desc) {
    source.resolve = desc->resolve;
    source.user = desc->user;
  }
  if (!source.resolve)
    if (tkc_status status = openLibcuda(source, err))
      return status;
  if (tkc_status status = resolveAll(source, driver.cuda, err))
    return status;
  if (CUresult result = driver.cuda.init(0))
    return failDriver(driver.cuda, result, "driver", "cuInit", err);
  if (CUresult result = driver.cuda.driverGetVersion(&driver.version))
    return failDriver(driver.cuda, result, "driver", "cuDriverGetVersion", err);
  driver.pid = getpid();
  return TKC_OK;
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_driver_open(const tkc_driver_desc *desc, tkc_driver **out, tkc_error *err) {
  if (!out)
    return fail(err, TKC_E_ARG, "tkc_driver_open: the tkc_driver ** is NULL");
  *out = nullptr;
  if (desc)
    if (tkc_status status = checkDescriptor(*desc, err))
      return status;
  std::unique_ptr<tkc_driver> driver(new (std::nothrow) tkc_driver);
  if (!driver)
    return fail(err, TKC_E_NOMEM, "tkc_driver_open: out of memory");
  if (tkc_status status = openDriver(desc, *driver, err))
    return status;
  *out = driver.release();
  return succeed(err);
}

void tkc_driver_release(tkc_driver *driver) {
  if (driver && --driver->references == 0)
    delete driver;
}
