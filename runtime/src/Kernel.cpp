//===- Kernel.cpp - preparing a kernel on a device -------------------------===//
// Everything that may be slow happens here: loading, compiling PTX, setting attributes. What
// prepare leaves behind is immutable, so that encode and submit need no lock.
#include "Kernel.h"

#include "Error.h"

#include <memory>
#include <new>

namespace tkcrt {

/// Dynamic shared memory beyond this total needs the function's consent (CUDA programming guide).
constexpr uint64_t kSharedBytesByDefault = 48 * 1024;

namespace {
struct DeviceFacts {
  int major = 0, minor = 0, sms = 0, maxThreads = 0, maxShared = 0;
};

/// Makes a context current for as long as it lives, and then the one before again.
class CurrentContext {
public:
  explicit CurrentContext(const Cuda &cuda) : cuda(cuda) {}
  ~CurrentContext() {
    CUcontext popped;
    if (isPushed)
      cuda.ctxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  CUresult push(CUcontext context) {
    CUresult result = cuda.ctxPushCurrent(context);
    isPushed = result == kCudaSuccess;
    return result;
  }

private:
  const Cuda &cuda;
  bool isPushed = false;
};
} // namespace

/// A driver failure in prepare. What the driver refuses to do during capture is TKC_E_COLD.
static tkc_status failPrepare(const Cuda &cuda, CUresult result, const std::string &kernel,
                              const char *call, tkc_error *err) {
  std::string what = "kernel `" + kernel + "`";
  if (result < kCudaCaptureFirst || result > kCudaCaptureLast)
    return failDriver(cuda, result, what.c_str(), call, err);
  fail(err, TKC_E_COLD,
       "%s: %s refused (%d) while a stream is being captured: prepare before the capture begins",
       what.c_str(), call, result);
  addDriverCode(err, result, false);
  return TKC_E_COLD;
}

static tkc_status checkDescriptor(const tkc_prepare_desc &desc, tkc_error *err) {
  if (tkc_status status = checkSize(&desc, sizeof(desc), "tkc_prepare_desc", err))
    return status;
  if (desc.flags & ~uint32_t(TKC_NO_JIT))
    return fail(err, TKC_E_ARG, "tkc_prepare_desc.flags is %#x, known is TKC_NO_JIT", desc.flags);
  if (desc.max_sms < 0)
    return fail(err, TKC_E_ARG, "tkc_prepare_desc.max_sms is %d, needed 0 or more", desc.max_sms);
  if (desc.config || desc.numerics_class || desc.table || desc.table_bytes)
    return fail(err, TKC_E_UNSUPPORTED,
                "tkc_prepare_desc: config, numerics_class and table are reserved in this libtkcrt");
  return TKC_OK;
}

/// Makes the caller's context current, or the primary one of the device, which the kernel retains.
static tkc_status enterContext(tkc_kernel &kernel, const tkc_prepare_desc &desc,
                               CurrentContext &current, tkc_error *err) {
  const Cuda &cuda = kernel.bundle->driver->cuda;
  const std::string &name = kernel.info->name;
  CUcontext context = static_cast<CUcontext>(desc.context);
  if (!context) {
    int count = 0;
    if (CUresult result = cuda.deviceGetCount(&count))
      return failPrepare(cuda, result, name, "cuDeviceGetCount", err);
    if (desc.device < 0 || desc.device >= count)
      return fail(err, TKC_E_DEVICE, "kernel `%s`: device is %d, this process sees %d",
                  name.c_str(), desc.device, count);
    if (CUresult result = cuda.deviceGet(&kernel.device, desc.device))
      return failPrepare(cuda, result, name, "cuDeviceGet", err);
    if (CUresult result = cuda.primaryCtxRetain(&context, kernel.device))
      return failPrepare(cuda, result, name, "cuDevicePrimaryCtxRetain", err);
    kernel.holdsPrimary = true;
  }
  if (CUresult result = current.push(context))
    return failPrepare(cuda, result, name, "cuCtxPushCurrent", err);
  if (desc.context)
    if (CUresult result = cuda.ctxGetDevice(&kernel.device))
      return failPrepare(cuda, result, name, "cuCtxGetDevice", err);
  return TKC_OK;
}

static tkc_status readFacts(const tkc_kernel &kernel, DeviceFacts &out, tkc_error *err) {
  const Cuda &cuda = kernel.bundle->driver->cuda;
  const struct {
    DeviceAttribute attribute;
    int *value;
  } wanted[] = {{kComputeMajor, &out.major},
                {kComputeMinor, &out.minor},
                {kMultiprocessorCount, &out.sms},
                {kMaxThreadsPerBlock, &out.maxThreads},
                {kMaxSharedPerBlockOptin, &out.maxShared}};
  for (const auto &[attribute, value] : wanted)
    if (CUresult result = cuda.deviceGetAttribute(value, attribute, kernel.device))
      return failPrepare(cuda, result, kernel.info->name, "cuDeviceGetAttribute", err);
  return TKC_OK;
}

/// docs/metadata.md, target.match.
static bool runsOn(const Target &target, bool isPtx, const DeviceFacts &device) {
  if (!target.isNvidia)
    return false;
  bool sameMajor = device.major == target.major;
  switch (target.match) {
  case Target::Match::Exact:
    return sameMajor && device.minor == target.minor;
  case Target::Match::Family:
    return sameMajor && device.minor >= target.minor;
  case Target::Match::AtLeast:
    return (sameMajor && device.minor >= target.minor) || (isPtx && device.major > target.major);
  }
  return false;
}

/// What can stand between a variant and a device, for the error's text when nothing is left.
struct Reasons {
  std::string text;
  bool isDriverOld = false;

  void add(const VariantInfo &variant, const std::string &why) {
    if (text.size() < sizeof(tkc_error::text))
      text += (text.empty() ? "`" : "; `") + variant.id + "` " + why;
  }
};

/// The variants to load, in the order of trying.
static tkc_status chooseVariants(tkc_kernel &kernel, const DeviceFacts &device, uint32_t flags,
                                 tkc_error *err) {
  const KernelInfo &info = *kernel.info;
  const tkc_bundle &bundle = *kernel.bundle;
  Reasons reasons;
  for (size_t index : info.order) {
    const VariantInfo &variant = info.variants[index];
    bool isPtx = bundle.metadata.images[variant.image].kind == ImageInfo::Kind::Ptx;
    if (!runsOn(variant.target, isPtx, device)) {
      reasons.add(variant, "is for " + variant.target.arch + " (" + variant.target.matchName + ")");
    } else if (variant.image != bundle.image) {
      reasons.add(variant, "is in another image");
    } else if (isPtx && (flags & TKC_NO_JIT)) {
      reasons.add(variant, "is PTX, which TKC_NO_JIT refuses");
    } else if (variant.driverMin > bundle.driver->version) {
      reasons.isDriverOld = true;
      reasons.add(variant, "needs driver " + std::to_string(variant.driverMin) + ", found " +
                               std::to_string(bundle.driver->version));
    } else if (!variant.unsupported.empty()) {
      return fail(err, TKC_E_UNSUPPORTED,
                  "kernel `%s`: variant `%s` needs %s, which this libtkcrt does not have yet",
                  info.name.c_str(), variant.id.c_str(), variant.unsupported.c_str());
    } else {
      kernel.loaded.push_back({index, nullptr});
    }
  }
  if (!kernel.loaded.empty())
    return TKC_OK;
  return fail(err, reasons.isDriverOld ? TKC_E_DRIVER_OLD : TKC_E_DEVICE,
              "kernel `%s`: no code for device %d of compute capability %d.%d: %s",
              info.name.c_str(), kernel.device, device.major, device.minor, reasons.text.c_str());
}

/// Loads the bundle's image, once. A CUlibrary serves every context of the process.
static tkc_status loadLibrary(tkc_kernel &kernel, CUlibrary &out, tkc_error *err) {
  tkc_bundle &bundle = *kernel.bundle;
  std::lock_guard<std::mutex> lock(bundle.loading);
  if (!bundle.library) {
    char log[256] = {};
    int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
    bool isPtx = bundle.metadata.images[bundle.image].kind == ImageInfo::Kind::Ptx;
    CUresult result = bundle.driver->cuda.libraryLoadData(
        &bundle.library, bundle.data, isPtx ? options : nullptr, isPtx ? values : nullptr,
        isPtx ? 2 : 0, nullptr, nullptr, 0);
    if (result) {
      bundle.library = nullptr;
      std::string call = "cuLibraryLoadData" + (log[0] ? std::string(" (") + log + ")" : "");
      return failPrepare(bundle.driver->cuda, result, kernel.info->name, call.c_str(), err);
    }
  }
  out = bundle.library;
  return TKC_OK;
}

/// Where the driver can tell: do the JSON's parameters end where the code's do?
static tkc_status checkParams(const Cuda &cuda, const KernelInfo &info, const VariantInfo &variant,
                              CUkernel handle, tkc_error *err) {
  if (!cuda.kernelGetParamInfo)
    return TKC_OK;
  size_t found = 0;
  for (size_t i = 0, offset, bytes; i < TKC_MAX_PARAM_BYTES; ++i) {
    if (cuda.kernelGetParamInfo(handle, i, &offset, &bytes) != kCudaSuccess)
      break; // the driver's way to say that there are no more
    found = offset + bytes > found ? offset + bytes : found;
  }
  size_t needed =
      variant.params.empty() ? 0 : variant.params.back().at + variant.params.back().size;
  if (found == needed)
    return TKC_OK;
  return fail(err, TKC_E_ABI,
              "kernel `%s`: the JSON of variant `%s` has %zu bytes of parameters, its code takes "
              "%zu: they are not of one compile",
              info.name.c_str(), variant.id.c_str(), needed, found);
}

static tkc_status checkResources(const Cuda &cuda, const KernelInfo &info,
                                 const VariantInfo &variant, const DeviceFacts &device,
                                 CUfunction function, tkc_error *err) {
  int allowed = 0;
  if (CUresult result = cuda.funcGetAttribute(&allowed, kFunctionMaxThreadsPerBlock, function))
    return failPrepare(cuda, result, info.name, "cuFuncGetAttribute", err);
  uint32_t threads = variant.block[0] * variant.block[1] * variant.block[2];
  if (static_cast<int64_t>(threads) > allowed)
    return fail(err, TKC_E_RESOURCES,
                "kernel `%s`: variant `%s` has blocks of %u threads, its code allows %d",
                info.name.c_str(), variant.id.c_str(), threads, allowed);
  uint64_t shared = uint64_t(variant.sharedStatic) + variant.sharedDynamic;
  if (shared > static_cast<uint64_t>(device.maxShared))
    return fail(err, TKC_E_RESOURCES,
                "kernel `%s`: variant `%s` needs %llu bytes of shared memory, device allows %d",
                info.name.c_str(), variant.id.c_str(), static_cast<unsigned long long>(shared),
                device.maxShared);
  if (shared > kSharedBytesByDefault && variant.sharedDynamic)
    if (CUresult result = cuda.funcSetAttribute(function, kFunctionMaxDynamicSharedBytes,
                                                static_cast<int>(variant.sharedDynamic)))
      return failPrepare(cuda, result, info.name, "cuFuncSetAttribute", err);
  return TKC_OK;
}

static tkc_status loadVariant(tkc_kernel &kernel, CUlibrary library, const DeviceFacts &device,
                              LoadedVariant &loaded, tkc_error *err) {
  const Cuda &cuda = kernel.bundle->driver->cuda;
  const KernelInfo &info = *kernel.info;
  const VariantInfo &variant = info.variants[loaded.index];
  CUkernel handle = nullptr;
  CUresult result = cuda.libraryGetKernel(&handle, library, variant.symbol.c_str());
  if (result == kCudaNotFound)
    return fail(err, TKC_E_CORRUPT, "kernel `%s`: the image has no symbol %s (variant `%s`)",
                info.name.c_str(), variant.symbol.c_str(), variant.id.c_str());
  if (result)
    return failPrepare(cuda, result, info.name, "cuLibraryGetKernel", err);
  if ((result = cuda.kernelGetFunction(&loaded.function, handle)))
    return failPrepare(cuda, result, info.name, "cuKernelGetFunction", err);
  // With lazy loading the first launch would load, which a capture refuses.
  if (cuda.funcLoad && (result = cuda.funcLoad(loaded.function)))
    return failPrepare(cuda, result, info.name, "cuFuncLoad", err);
  if (tkc_status status = checkParams(cuda, info, variant, handle, err))
    return status;
  return checkResources(cuda, info, variant, device, loaded.function, err);
}

static tkc_status prepare(tkc_kernel &kernel, const tkc_prepare_desc &desc, tkc_error *err) {
  CurrentContext current(kernel.bundle->driver->cuda);
  if (tkc_status status = enterContext(kernel, desc, current, err))
    return status;
  DeviceFacts device;
  if (tkc_status status = readFacts(kernel, device, err))
    return status;
  kernel.sms = desc.max_sms && desc.max_sms < device.sms ? desc.max_sms : device.sms;
  if (tkc_status status = chooseVariants(kernel, device, desc.flags, err))
    return status;
  CUlibrary library = nullptr;
  if (tkc_status status = loadLibrary(kernel, library, err))
    return status;
  for (LoadedVariant &loaded : kernel.loaded)
    if (tkc_status status = loadVariant(kernel, library, device, loaded, err))
      return status;
  return TKC_OK;
}

/// All of tkc_kernel_prepare that may throw bad_alloc.
static tkc_status makeKernel(tkc_bundle *bundle, const char *name, const tkc_const *consts,
                             uint32_t count, uint64_t abiHash, const tkc_prepare_desc &desc,
                             tkc_kernel **out, tkc_error *err) {
  const KernelInfo *info = nullptr;
  if (tkc_status status = findKernel(bundle->metadata, name, consts, count, info, err))
    return status;
  if (abiHash && abiHash != info->abiHash)
    return fail(err, TKC_E_ABI,
                "kernel `%s`: abi_hash is b3:%016llx, the caller was built for b3:%016llx: "
                "regenerate the header",
                info->title().c_str(), static_cast<unsigned long long>(info->abiHash),
                static_cast<unsigned long long>(abiHash));
  struct Release {
    void operator()(tkc_kernel *kernel) const { tkc_kernel_release(kernel); }
  };
  std::unique_ptr<tkc_kernel, Release> kernel(new tkc_kernel);
  kernel->bundle = bundle;
  ++bundle->references;
  kernel->info = info;
  if (tkc_status status = prepare(*kernel, desc, err))
    return status;
  *out = kernel.release();
  return succeed(err);
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_kernel_prepare(tkc_bundle *bundle, const char *name, const tkc_const *consts,
                              uint32_t n, uint64_t abi_hash, const tkc_prepare_desc *desc,
                              tkc_kernel **out, tkc_error *err) {
  if (!bundle || !name || !out || (n && !consts))
    return fail(err, TKC_E_ARG,
                "tkc_kernel_prepare: bundle, name, constants or tkc_kernel ** is NULL");
  *out = nullptr;
  tkc_prepare_desc defaults{};
  if (desc) {
    if (tkc_status status = checkDescriptor(*desc, err))
      return status;
    defaults = *desc;
  }
  if (tkc_status status = checkProcess(*bundle->driver, err))
    return status;
  try {
    return makeKernel(bundle, name, consts, n, abi_hash, defaults, out, err);
  } catch (const std::bad_alloc &) {
    return fail(err, TKC_E_NOMEM, "kernel `%s`: out of memory", name);
  } catch (...) {
    return fail(err, TKC_E_CORRUPT, "kernel `%s`: prepare failed", name);
  }
}

void tkc_kernel_release(tkc_kernel *kernel) {
  if (!kernel)
    return;
  // Unload (if this was the bundle's last kernel) before the context may go.
  tkc_driver *driver = kernel->bundle->driver;
  ++driver->references;
  tkc_bundle_release(kernel->bundle);
  if (kernel->holdsPrimary)
    driver->cuda.primaryCtxRelease(kernel->device);
  tkc_driver_release(driver);
  delete kernel;
}
