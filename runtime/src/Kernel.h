//===- Kernel.h - a kernel on a device, loaded -----------------------------===//
#ifndef TKC_RUNTIME_KERNEL_H
#define TKC_RUNTIME_KERNEL_H

#include "Bundle.h"

namespace tkcrt {

/// A variant that the device runs. The list of them is in the order in which encode tries them.
struct LoadedVariant {
  size_t index; ///< into KernelInfo::variants
  CUfunction function;
};

/// The kernel of that name whose instance has all these constants; exactly one, or an error.
tkc_status findKernel(const Metadata &metadata, const char *name, const tkc_const *consts,
                      uint32_t count, const KernelInfo *&out, tkc_error *err);

} // namespace tkcrt

struct tkc_kernel {
  tkc_bundle *bundle = nullptr;
  const tkcrt::KernelInfo *info = nullptr;
  std::vector<tkcrt::LoadedVariant> loaded;
  int64_t sms = 0; ///< the device's count, or the caller's cap
  tkcrt::CUdevice device = 0;
  bool holdsPrimary = false; ///< has retained the device's primary context
};

#endif
