//===- Submit.cpp - one driver call ----------------------------------------===//
#include "Error.h"
#include "Kernel.h"

#include <cstring>

namespace tkcrt {

/// The parameters as one buffer, which must have the code's own offsets.
static CUresult launchPlain(const tkc_driver &driver, const tkc_launch &launch, CUstream stream) {
  size_t bytes = launch.param_bytes;
  uintptr_t end = driver.isHip() ? kHipLaunchParamEnd : kLaunchParamEnd;
  void *extra[] = {reinterpret_cast<void *>(kLaunchParamBuffer), launch.params,
                   reinterpret_cast<void *>(kLaunchParamBufferBytes), &bytes,
                   reinterpret_cast<void *>(end)};
  return driver.gpu.launchKernel(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                 launch.block[0], launch.block[1], launch.block[2],
                                 launch.dynamic_smem, stream, nullptr, bytes ? extra : nullptr);
}

/// Fills what the launch asks for besides a grid, up to three attributes.
static unsigned fillAttributes(const tkc_launch &launch, LaunchAttribute *attributes) {
  unsigned count = 0;
  if (launch.cluster[0] > 1 || launch.cluster[1] > 1 || launch.cluster[2] > 1) {
    LaunchAttribute &attribute = attributes[count++] = {};
    attribute.id = kLaunchCluster;
    memcpy(attribute.value.cluster, launch.cluster, sizeof(launch.cluster));
  }
  const std::pair<uint32_t, LaunchAttributeId> flags[] = {
      {TKC_COOPERATIVE, kLaunchCooperative}, {TKC_PDL, kLaunchProgrammaticSerialization}};
  for (const auto &[flag, id] : flags)
    if (launch.flags & flag) {
      LaunchAttribute &attribute = attributes[count++] = {};
      attribute.id = id;
      attribute.value.flag = 1;
    }
  return count;
}

/// A pointer to each parameter, so that the driver puts it where the code has it.
static CUresult launchExtended(const tkc_driver &driver, const VariantInfo &variant,
                               const tkc_launch &launch, CUstream stream,
                               const LaunchAttribute *attributes, unsigned attributeCount) {
  LaunchConfig config{};
  for (int axis = 0; axis < 3; ++axis) {
    config.grid[axis] = launch.grid[axis];
    config.block[axis] = launch.block[axis];
  }
  config.sharedBytes = launch.dynamic_smem;
  config.stream = stream;
  config.attributes = attributes;
  config.attributeCount = attributeCount;
  // A driver reads as many as the code has. One that records does not know how many those are: for
  // it the buffer's begin and end follow, and a null.
  void *params[kMaxParams + 3];
  char *begin = static_cast<char *>(launch.params);
  size_t count = 0;
  for (const ParamSpec &param : variant.params)
    params[count++] = begin + param.at;
  params[count++] = begin;
  params[count++] = begin + launch.param_bytes;
  params[count] = nullptr;
  return driver.gpu.launchKernelEx(&config, launch.function, launch.param_bytes ? params : nullptr,
                                   nullptr);
}

static tkc_status submitGpu(const tkc_kernel &kernel, const tkc_launch &launch, CUstream stream,
                            tkc_error *err) {
  const tkc_driver &driver = *kernel.bundle->driver;
  const VariantInfo &variant = kernel.info->variants[static_cast<size_t>(launch.variant)];
  LaunchAttribute attributes[3];
  unsigned count = fillAttributes(launch, attributes);
  bool isExtended = count || !variant.tensorMaps.empty();
  if (isExtended && !driver.gpu.launchKernelEx)
    return fail(err, TKC_E_UNSUPPORTED, "kernel `%s`: tkc_submit: the launch is of another driver",
                kernel.info->name.c_str());
  CUresult result = isExtended ? launchExtended(driver, variant, launch, stream, attributes, count)
                               : launchPlain(driver, launch, stream);
  if (result == kCudaSuccess)
    return succeed(err);
  char what[192] = "kernel `";
  strncat(what, kernel.info->name.c_str(), 128);
  strncat(what, "`", 2);
  return failDriver(driver.gpu, result, what, isExtended ? "cuLaunchKernelEx" : "cuLaunchKernel",
                    err);
}

static tkc_status submitCpu(const tkc_kernel &kernel, const tkc_launch &launch, tkc_error *err) {
  char text[sizeof(tkc_error::text)] = {};
  int32_t code = kernel.bundle->driver->cpu->launch(
      static_cast<const tkc_cpu_program *>(launch.function), launch.grid, launch.params,
      launch.param_bytes, text, sizeof(text));
  if (code == TKC_CPU_OK)
    return succeed(err);
  return fail(err, cpuStatus(code), "kernel `%s`: %s", kernel.info->name.c_str(), text);
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_submit(const tkc_kernel *kernel, const tkc_launch *launch, void *stream,
                      tkc_error *err) {
  if (!kernel)
    return fail(err, TKC_E_ARG, "tkc_submit: the kernel is NULL");
  if (tkc_status status =
          checkSize(launch, TKC_LAUNCH_SIZE_1_0, sizeof(*launch), "tkc_launch", err))
    return status;
  if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2])
    return succeed(err);
  const KernelInfo &info = *kernel->info;
  if (!launch->function || (launch->param_bytes && !launch->params) || launch->variant < 0 ||
      static_cast<size_t>(launch->variant) >= info.variants.size())
    return fail(err, TKC_E_ARG, "kernel `%s`: tkc_submit: the launch was not encoded",
                info.name.c_str());
  const tkc_driver &driver = *kernel->bundle->driver;
  if (tkc_status status = checkProcess(driver, err))
    return status;
  if (driver.hooks.on_submit) {
    bool hasCost = launch->size >= sizeof(tkc_launch);
    driver.hooks.on_submit(driver.hooks.user,
                           info.variants[static_cast<size_t>(launch->variant)].symbol.c_str(),
                           hasCost ? launch->flops : 0, hasCost ? launch->bytes : 0, stream);
  }
  return driver.isCpu() ? submitCpu(*kernel, *launch, err)
                        : submitGpu(*kernel, *launch, stream, err);
}
