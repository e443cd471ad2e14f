//===- Kernel.h - a kernel on a device, loaded -----------------------------===//
#ifndef TKC_RUNTIME_KERNEL_H
#define TKC_RUNTIME_KERNEL_H

#include "Bundle.h"

namespace tkcrt {

/// A variant that the device runs. The list of them is in the order in which encode tries them.
struct LoadedVariant {
  size_t index = 0;                  ///< into KernelInfo::variants
  int config = -1;                   ///< into tkc_kernel::configs
  CUfunction function = nullptr;     ///< TKC_CPU: the tkc_cpu_program
  int blocksPerSm = 0, clusters = 0; ///< what runs at the same time; 0: the driver can't tell
};

/// The tuning records of this device, ready to be looked up at each launch.
struct TuneTable {
  struct Row {
    size_t record;      ///< its number in the table it came from
    int config;         ///< into tkc_kernel::configs
    std::string device; ///< that it was measured on, for tkc_why: `132 SMs, 141 GiB`
  };
  size_t width = 0;          ///< keys of a row
  std::vector<int64_t> keys; ///< of all rows, one after the other; rows ascend
  std::vector<Row> rows;
  const int64_t *keyOf(size_t row) const { return keys.data() + row * width; }
};

/// The kernel of that name whose instance has all these constants; exactly one, or an error.
tkc_status findKernel(const Metadata &metadata, const char *name, const tkc_const *consts,
                      uint32_t count, const KernelInfo *&out, tkc_error *err);

struct DeviceFacts {
  std::string arch; ///< HIP: gfx942; CPU: interp
  int major = 0, minor = 0, sms = 0, maxThreads = 0, maxShared = 0;
  int cooperative = 0, clusters = 0; ///< can it?
  int64_t memoryGib = 0;             ///< rounded, as tuning tables have it; 0: not known

  /// For messages: `compute capability 9.0`.
  std::string text() const;
};

/// Makes a context current for as long as it lives, and then the one before again.
class CurrentContext {
public:
  explicit CurrentContext(const Gpu &gpu) : gpu(gpu) {}
  ~CurrentContext() {
    CUcontext popped;
    if (isPushed)
      gpu.ctxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  CUresult push(CUcontext context) {
    CUresult result = gpu.ctxPushCurrent(context);
    isPushed = result == kCudaSuccess;
    return result;
  }

private:
  const Gpu &gpu;
  bool isPushed = false;
};

/// Makes the caller's context current, or the primary one of the device, which the kernel retains;
/// then reads what the device is like. Nothing to enter on TKC_CPU.
tkc_status enterDevice(tkc_kernel &kernel, const tkc_prepare_desc &desc, CurrentContext &current,
                       DeviceFacts &out, tkc_error *err);

/// Fills kernel.loaded with the variants to load: those of the default configurations, of the one
/// that is asked for, and of those that the table names for this device.
tkc_status chooseVariants(tkc_kernel &kernel, const DeviceFacts &device,
                          const tkc_prepare_desc &desc, tkc_error *err);

/// Loads images and finds functions for kernel.loaded, and checks and sets their attributes.
tkc_status loadVariants(tkc_kernel &kernel, const DeviceFacts &device, tkc_error *err);

/// Gives back what loadVariants left in the kernel.
void unloadVariants(tkc_kernel &kernel);

/// What the interpreter's code means to a caller.
tkc_status cpuStatus(int32_t code);

/// A driver failure in prepare. What the driver refuses to do during capture is TKC_E_COLD.
tkc_status failPrepare(const tkc_kernel &kernel, CUresult result, const char *call, tkc_error *err);

} // namespace tkcrt

struct tkc_kernel {
  tkc_bundle *bundle = nullptr;
  const tkcrt::KernelInfo *info = nullptr;
  std::vector<tkcrt::LoadedVariant> loaded;
  std::vector<std::pair<size_t, tkcrt::CUlibrary>> modules; ///< HIP: by image, this context's
  std::vector<std::string> configs; ///< ids of the configurations that may be launched
  int config = -1;                  ///< the one asked for; -1: the table, then the default
  tkcrt::TuneTable table;           ///< for this device
  bool hasTable = false;            ///< there is one, if only for other devices
  std::string reasons;              ///< why other variants are not loaded, for tkc_why
  int64_t sms = 0;                  ///< the device's count, or the caller's cap
  tkcrt::CUdevice device = 0;
  bool holdsPrimary = false; ///< has retained the device's primary context

  const tkcrt::VariantInfo &variantOf(const tkcrt::LoadedVariant &loaded) const {
    return info->variants[loaded.index];
  }
};

#endif
