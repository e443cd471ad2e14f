//===- Load.cpp - loading images, finding and setting up functions ---------===//
#include "Error.h"
#include "Kernel.h"

#include <cstdio>

namespace tkcrt {

/// Dynamic shared memory beyond this total needs the function's consent (CUDA programming guide).
constexpr uint64_t kSharedBytesByDefault = 48 * 1024;
/// Clusters of more blocks need the function's consent (the same, "Thread Block Clusters").
constexpr uint32_t kPortableClusterBlocks = 8;

/// A CUlibrary serves every context of the process: it is loaded once for a bundle.
static tkc_status loadCudaLibrary(tkc_kernel &kernel, size_t image, CUlibrary &out,
                                  tkc_error *err) {
  tkc_bundle &bundle = *kernel.bundle;
  std::lock_guard<std::mutex> lock(bundle.loading);
  CUlibrary &library = bundle.libraries[image];
  if (!library) {
    ImageBytes bytes;
    if (tkc_status status = readImageBytes(bundle, image, bytes, err))
      return status;
    char log[256] = {};
    int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
    bool isPtx = bundle.metadata.images[image].kind == ImageInfo::Kind::Ptx;
    if (isPtx)
      logLine(*bundle.driver, TKC_LOG_INFO, "kernel `%s`: the driver compiles PTX",
              kernel.info->name.c_str());
    // Without the option that it is preserved the driver copies the image.
    CUresult result = bundle.driver->gpu.libraryLoadData(
        &library, bytes.data, isPtx ? options : nullptr, isPtx ? values : nullptr, isPtx ? 2 : 0,
        nullptr, nullptr, 0);
    if (result) {
      library = nullptr;
      std::string call = "cuLibraryLoadData" + (log[0] ? std::string(" (") + log + ")" : "");
      return failPrepare(kernel, result, call.c_str(), err);
    }
  }
  out = library;
  return TKC_OK;
}

/// A module of HIP belongs to the context, and so to the kernel.
static tkc_status loadHipModule(tkc_kernel &kernel, size_t image, CUlibrary &out, tkc_error *err) {
  for (const auto &[loaded, module] : kernel.modules)
    if (loaded == image) {
      out = module;
      return TKC_OK;
    }
  ImageBytes bytes;
  if (tkc_status status = readImageBytes(*kernel.bundle, image, bytes, err))
    return status;
  if (CUresult result = kernel.bundle->driver->gpu.moduleLoadData(&out, bytes.data))
    return failPrepare(kernel, result, "hipModuleLoadData", err);
  kernel.modules.push_back({image, out});
  return TKC_OK;
}

/// Where the driver can tell: are the JSON's parameters the code's, in number, size and place? The
/// place of tensor maps is the code's affair: what is aligned to more than 16 bytes is so in the
/// constant bank, where the parameters of sm_90 begin at 0x210, and not in the buffer.
static tkc_status checkParams(const Gpu &gpu, const KernelInfo &info, const VariantInfo &variant,
                              CUkernel handle, tkc_error *err) {
  if (!gpu.kernelGetParamInfo)
    return TKC_OK;
  auto refuse = [&](size_t index, const char *inJson, const char *inCode) {
    return fail(err, TKC_E_ABI,
                "kernel `%s`: variant `%s`: parameter %zu is %s in the JSON, %s in the code: they "
                "are not of one compile",
                info.name.c_str(), variant.id.c_str(), index, inJson, inCode);
  };
  auto describe = [](char(&text)[64], size_t bytes, size_t at) -> const char * {
    snprintf(text, sizeof(text), "%zu bytes at %zu", bytes, at);
    return text;
  };
  char inJson[64], inCode[64];
  size_t at = 0, bytes = 0, index = 0;
  for (const ParamSpec &param : variant.params) {
    describe(inJson, param.size, param.at);
    if (gpu.kernelGetParamInfo(handle, index, &at, &bytes) != kCudaSuccess)
      return refuse(index, inJson, "not there"); // the driver's way to say that there are no more
    if (bytes != param.size || (variant.tensorMaps.empty() && at != param.at))
      return refuse(index, inJson, describe(inCode, bytes, at));
    ++index;
  }
  if (gpu.kernelGetParamInfo(handle, index, &at, &bytes) == kCudaSuccess)
    return refuse(index, "not there", describe(inCode, bytes, at));
  return TKC_OK;
}

static tkc_status checkResources(const tkc_kernel &kernel, const VariantInfo &variant,
                                 const DeviceFacts &device, CUfunction function, tkc_error *err) {
  const char *name = kernel.info->name.c_str();
  int allowed = 0;
  if (CUresult result = kernel.bundle->driver->gpu.funcGetAttribute(
          &allowed, kFunctionMaxThreadsPerBlock, function))
    return failPrepare(kernel, result, "cuFuncGetAttribute", err);
  if (static_cast<int64_t>(variant.threads()) > allowed)
    return fail(err, TKC_E_RESOURCES,
                "kernel `%s`: variant `%s` has blocks of %u threads, its code allows %d", name,
                variant.id.c_str(), variant.threads(), allowed);
  uint64_t shared = uint64_t(variant.sharedStatic) + variant.sharedDynamic;
  if (shared > static_cast<uint64_t>(device.maxShared))
    return fail(err, TKC_E_RESOURCES,
                "kernel `%s`: variant `%s` needs %llu bytes of shared memory, device allows %d",
                name, variant.id.c_str(), static_cast<unsigned long long>(shared),
                device.maxShared);
  return TKC_OK;
}

/// HIP has no such limits to raise.
static tkc_status setAttributes(const tkc_kernel &kernel, const VariantInfo &variant,
                                CUfunction function, tkc_error *err) {
  const Gpu &gpu = kernel.bundle->driver->gpu;
  if (!gpu.funcSetAttribute)
    return TKC_OK;
  uint64_t shared = uint64_t(variant.sharedStatic) + variant.sharedDynamic;
  CUresult result = kCudaSuccess;
  if (shared > kSharedBytesByDefault && variant.sharedDynamic)
    result = gpu.funcSetAttribute(function, kFunctionMaxDynamicSharedBytes,
                                  static_cast<int>(variant.sharedDynamic));
  if (!result && variant.clusterBlocks() > kPortableClusterBlocks)
    result = gpu.funcSetAttribute(function, kFunctionBigClusterAllowed, 1);
  return result ? failPrepare(kernel, result, "cuFuncSetAttribute", err) : TKC_OK;
}

/// How much of it runs at the same time, for `coresident`, `occ.blocks_per_sm` and tkc_occupancy.
static tkc_status readOccupancy(const tkc_kernel &kernel, const VariantInfo &variant,
                                LoadedVariant &loaded, tkc_error *err) {
  const Gpu &gpu = kernel.bundle->driver->gpu;
  if (gpu.occupancyBlocks)
    if (CUresult result =
            gpu.occupancyBlocks(&loaded.blocksPerSm, loaded.function,
                                static_cast<int>(variant.threads()), variant.sharedDynamic))
      return failPrepare(kernel, result, "cuOccupancyMaxActiveBlocksPerMultiprocessor", err);
  if (variant.clusterBlocks() == 1) {
    loaded.clusters = static_cast<int>(kernel.sms * loaded.blocksPerSm);
    return TKC_OK;
  }
  LaunchAttribute attribute{};
  attribute.id = kLaunchCluster;
  LaunchConfig config{};
  for (int axis = 0; axis < 3; ++axis) {
    config.grid[axis] = attribute.value.cluster[axis] = variant.cluster[axis];
    config.block[axis] = variant.block[axis];
  }
  config.sharedBytes = variant.sharedDynamic;
  config.attributes = &attribute;
  config.attributeCount = 1;
  if (gpu.occupancyClusters)
    if (CUresult result = gpu.occupancyClusters(&loaded.clusters, loaded.function, &config))
      return failPrepare(kernel, result, "cuOccupancyMaxActiveClusters", err);
  return TKC_OK;
}

static tkc_status failSymbol(const tkc_kernel &kernel, const VariantInfo &variant, tkc_error *err) {
  return fail(err, TKC_E_CORRUPT, "kernel `%s`: the image has no symbol %s (variant `%s`)",
              kernel.info->name.c_str(), variant.symbol.c_str(), variant.id.c_str());
}

static tkc_status findHipFunction(tkc_kernel &kernel, const VariantInfo &variant, CUfunction &out,
                                  tkc_error *err) {
  CUlibrary module = nullptr;
  if (tkc_status status = loadHipModule(kernel, variant.image, module, err))
    return status;
  CUresult result =
      kernel.bundle->driver->gpu.moduleGetFunction(&out, module, variant.symbol.c_str());
  if (result == kCudaNotFound)
    return failSymbol(kernel, variant, err);
  return result ? failPrepare(kernel, result, "hipModuleGetFunction", err) : TKC_OK;
}

static tkc_status findCudaFunction(tkc_kernel &kernel, const VariantInfo &variant, CUfunction &out,
                                   tkc_error *err) {
  const Gpu &gpu = kernel.bundle->driver->gpu;
  CUlibrary library = nullptr;
  CUkernel handle = nullptr;
  if (tkc_status status = loadCudaLibrary(kernel, variant.image, library, err))
    return status;
  CUresult result = gpu.libraryGetKernel(&handle, library, variant.symbol.c_str());
  if (result == kCudaNotFound)
    return failSymbol(kernel, variant, err);
  if (result)
    return failPrepare(kernel, result, "cuLibraryGetKernel", err);
  if ((result = gpu.kernelGetFunction(&out, handle)))
    return failPrepare(kernel, result, "cuKernelGetFunction", err);
  // With lazy loading the first launch would load, which a capture refuses.
  if (gpu.funcLoad && (result = gpu.funcLoad(out)))
    return failPrepare(kernel, result, "cuFuncLoad", err);
  return checkParams(gpu, *kernel.info, variant, handle, err);
}

static tkc_status loadGpuVariant(tkc_kernel &kernel, const DeviceFacts &device,
                                 LoadedVariant &loaded, tkc_error *err) {
  const VariantInfo &variant = kernel.variantOf(loaded);
  bool isHip = kernel.bundle->driver->isHip();
  tkc_status status = isHip ? findHipFunction(kernel, variant, loaded.function, err)
                            : findCudaFunction(kernel, variant, loaded.function, err);
  if (!status)
    status = checkResources(kernel, variant, device, loaded.function, err);
  if (!status)
    status = setAttributes(kernel, variant, loaded.function, err);
  return status ? status : readOccupancy(kernel, variant, loaded, err);
}

tkc_status cpuStatus(int32_t code) {
  switch (code) {
  case TKC_CPU_OK:
    return TKC_OK;
  case TKC_CPU_E_IMAGE:
    return TKC_E_CORRUPT;
  case TKC_CPU_E_PARAMS:
    return TKC_E_ABI;
  case TKC_CPU_E_KERNEL:
    return TKC_E_KERNEL;
  case TKC_CPU_E_NOMEM:
    return TKC_E_NOMEM;
  case TKC_CPU_E_UNSUPPORTED:
    return TKC_E_UNSUPPORTED;
  default:
    return TKC_E_DRIVER;
  }
}

static tkc_status loadCpuVariant(tkc_kernel &kernel, LoadedVariant &loaded, tkc_error *err) {
  const VariantInfo &variant = kernel.variantOf(loaded);
  const tkc_bundle &bundle = *kernel.bundle;
  ImageBytes bytes;
  if (tkc_status status = readImageBytes(bundle, variant.image, bytes, err))
    return status;
  char text[sizeof(tkc_error::text)] = {};
  tkc_cpu_program *program = nullptr;
  int32_t code = bundle.driver->cpu->load(bytes.data, bundle.metadata.images[variant.image].bytes,
                                          variant.symbol.c_str(), &program, text, sizeof(text));
  loaded.function = program;
  loaded.blocksPerSm = loaded.clusters = 1;
  if (code == TKC_CPU_OK)
    return TKC_OK;
  return fail(err, cpuStatus(code), "kernel `%s`: variant `%s`: the interpreter: %s",
              kernel.info->name.c_str(), variant.id.c_str(), text);
}

tkc_status loadVariants(tkc_kernel &kernel, const DeviceFacts &device, tkc_error *err) {
  for (LoadedVariant &loaded : kernel.loaded) {
    tkc_status status = kernel.bundle->driver->isCpu()
                            ? loadCpuVariant(kernel, loaded, err)
                            : loadGpuVariant(kernel, device, loaded, err);
    if (status)
      return status;
  }
  return TKC_OK;
}

void unloadVariants(tkc_kernel &kernel) {
  const tkc_driver &driver = *kernel.bundle->driver;
  if (driver.isCpu())
    for (const LoadedVariant &loaded : kernel.loaded)
      driver.cpu->unload(static_cast<tkc_cpu_program *>(loaded.function));
  if (driver.isForked())
    return;
  for (const auto &module : kernel.modules)
    driver.gpu.moduleUnload(module.second);
}

} // namespace tkcrt
