//===- Device.cpp - contexts, and what a device is like --------------------===//
#include "Error.h"
#include "Kernel.h"
#include "TableLookup.h"

#include <cstring>

namespace tkcrt {

std::string DeviceFacts::text() const {
  if (!arch.empty())
    return "arch " + arch;
  return "compute capability " + std::to_string(major) + "." + std::to_string(minor);
}

tkc_status failPrepare(const tkc_kernel &kernel, CUresult result, const char *call,
                       tkc_error *err) {
  std::string what = "kernel `" + kernel.info->name + "`";
  if (result < kCudaCaptureFirst || result > kCudaCaptureLast)
    return failDriver(kernel.bundle->driver->gpu, result, what.c_str(), call, err);
  fail(err, TKC_E_COLD,
       "%s: %s refused (%d) while a stream is being captured: prepare before the capture begins",
       what.c_str(), call, result);
  addDriverCode(err, result, false);
  return TKC_E_COLD;
}

static tkc_status enterContext(tkc_kernel &kernel, const tkc_prepare_desc &desc,
                               CurrentContext &current, tkc_error *err) {
  const Gpu &gpu = kernel.bundle->driver->gpu;
  CUcontext context = desc.context;
  if (!context) {
    int count = 0;
    if (CUresult result = gpu.deviceGetCount(&count))
      return failPrepare(kernel, result, "cuDeviceGetCount", err);
    if (desc.device < 0 || desc.device >= count)
      return fail(err, TKC_E_DEVICE, "kernel `%s`: device is %d, this process sees %d",
                  kernel.info->name.c_str(), desc.device, count);
    if (CUresult result = gpu.deviceGet(&kernel.device, desc.device))
      return failPrepare(kernel, result, "cuDeviceGet", err);
    if (CUresult result = gpu.primaryCtxRetain(&context, kernel.device))
      return failPrepare(kernel, result, "cuDevicePrimaryCtxRetain", err);
    kernel.holdsPrimary = true;
  }
  if (CUresult result = current.push(context))
    return failPrepare(kernel, result, "cuCtxPushCurrent", err);
  if (desc.context)
    if (CUresult result = gpu.ctxGetDevice(&kernel.device))
      return failPrepare(kernel, result, "cuCtxGetDevice", err);
  return TKC_OK;
}

/// The chip of an AMD device, without the features after the colon.
static tkc_status readArch(const tkc_kernel &kernel, std::string &out, tkc_error *err) {
  alignas(16) char properties[kHipPropertiesRoom] = {};
  CUresult result = kernel.bundle->driver->gpu.getDeviceProperties(properties, kernel.device);
  if (result)
    return failPrepare(kernel, result, "hipGetDeviceProperties", err);
  const char *name = properties + kHipArchNameAt;
  out.assign(name, strnlen(name, kHipArchNameBytes));
  out.resize(out.find(':') == std::string::npos ? out.size() : out.find(':'));
  return TKC_OK;
}

static tkc_status readFacts(const tkc_kernel &kernel, DeviceFacts &out, tkc_error *err) {
  const tkc_driver &driver = *kernel.bundle->driver;
  const struct {
    DeviceAttribute attribute;
    int *value;
    bool isOptional; // a driver that does not know it says that the device can't
  } wanted[] = {
      {kComputeMajor, &out.major, false},          {kComputeMinor, &out.minor, false},
      {kMultiprocessorCount, &out.sms, false},     {kMaxThreadsPerBlock, &out.maxThreads, false},
      {kMaxSharedPerBlock, &out.maxShared, false}, {kCooperativeLaunch, &out.cooperative, true},
      {kClusterLaunch, &out.clusters, true}};
  for (const auto &[attribute, value, isOptional] : wanted) {
    int number = driver.isHip() ? attribute.hip : attribute.cuda;
    CUresult result =
        number < 0 ? kCudaSuccess : driver.gpu.deviceGetAttribute(value, number, kernel.device);
    if (result && !isOptional)
      return failPrepare(kernel, result, "cuDeviceGetAttribute", err);
    if (result)
      *value = 0;
  }
  size_t memoryBytes = 0;
  if (driver.gpu.deviceTotalMem && driver.gpu.deviceTotalMem(&memoryBytes, kernel.device) == 0)
    out.memoryGib = gibOf(memoryBytes);
  return driver.isHip() ? readArch(kernel, out.arch, err) : TKC_OK;
}

tkc_status enterDevice(tkc_kernel &kernel, const tkc_prepare_desc &desc, CurrentContext &current,
                       DeviceFacts &out, tkc_error *err) {
  if (!kernel.bundle->driver->isCpu()) {
    if (tkc_status status = enterContext(kernel, desc, current, err))
      return status;
    return readFacts(kernel, out, err);
  }
  if (desc.context || desc.device)
    return fail(err, TKC_E_DEVICE, "kernel `%s`: the CPU is device 0 and has no context",
                kernel.info->name.c_str());
  out.arch = "interp";
  out.sms = desc.max_sms ? desc.max_sms : 1;
  return TKC_OK;
}

} // namespace tkcrt
