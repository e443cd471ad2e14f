//===- Kernel.cpp - preparing a kernel on a device -------------------------===//
// Everything that may be slow happens in prepare: loading, compiling PTX, setting attributes. What
// it leaves behind is immutable, so that encode and submit need no lock.
#include "Kernel.h"

#include "Error.h"

#include <memory>
#include <new>

namespace tkcrt {

static tkc_status checkDescriptor(const tkc_prepare_desc &desc, tkc_error *err) {
  if (tkc_status status = checkSize(&desc, sizeof(desc), "tkc_prepare_desc", err))
    return status;
  if (desc.flags & ~uint32_t(TKC_NO_JIT))
    return fail(err, TKC_E_ARG, "tkc_prepare_desc.flags is %#x, known is TKC_NO_JIT", desc.flags);
  if (desc.max_sms < 0)
    return fail(err, TKC_E_ARG, "tkc_prepare_desc.max_sms is %d, needed 0 or more", desc.max_sms);
  if (desc.numerics_class)
    return fail(err, TKC_E_UNSUPPORTED,
                "tkc_prepare_desc.numerics_class is reserved in this libtkcrt");
  if (desc.config && *desc.config && desc.table)
    return fail(err, TKC_E_ARG, "tkc_prepare_desc: config and table are both given, needed one");
  if (!desc.table != !desc.table_bytes)
    return fail(err, TKC_E_ARG, "tkc_prepare_desc: table is %s and table_bytes %zu",
                desc.table ? "given" : "NULL", desc.table_bytes);
  return TKC_OK;
}

static tkc_status prepare(tkc_kernel &kernel, const tkc_prepare_desc &desc, tkc_error *err) {
  CurrentContext current(kernel.bundle->driver->gpu);
  DeviceFacts device;
  if (tkc_status status = enterDevice(kernel, desc, current, device, err))
    return status;
  kernel.sms = desc.max_sms && desc.max_sms < device.sms ? desc.max_sms : device.sms;
  if (tkc_status status = chooseVariants(kernel, device, desc, err))
    return status;
  return loadVariants(kernel, device, err);
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
  unloadVariants(*kernel);
  tkc_bundle_release(kernel->bundle);
  if (kernel->holdsPrimary && !driver->isForked())
    driver->gpu.primaryCtxRelease(kernel->device);
  tkc_driver_release(driver);
  delete kernel;
}
