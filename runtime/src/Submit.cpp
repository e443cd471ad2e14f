//===- Submit.cpp - one driver call ----------------------------------------===//
#include "Error.h"
#include "Kernel.h"

#include <cstring>

using namespace tkcrt;

tkc_status tkc_submit(const tkc_kernel *kernel, const tkc_launch *launch, void *stream,
                      tkc_error *err) {
  if (!kernel)
    return fail(err, TKC_E_ARG, "tkc_submit: the kernel is NULL");
  if (tkc_status status = checkSize(launch, sizeof(*launch), "tkc_launch", err))
    return status;
  if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2])
    return succeed(err);
  if (!launch->function || (launch->param_bytes && !launch->params))
    return fail(err, TKC_E_ARG, "kernel `%s`: tkc_submit: the launch was not encoded",
                kernel->info->name.c_str());
  size_t bytes = launch->param_bytes;
  void *extra[] = {reinterpret_cast<void *>(kLaunchParamBuffer), launch->params,
                   reinterpret_cast<void *>(kLaunchParamBufferBytes), &bytes,
                   reinterpret_cast<void *>(kLaunchParamEnd)};
  const Cuda &cuda = kernel->bundle->driver->cuda;
  CUresult result = cuda.launchKernel(
      static_cast<CUfunction>(launch->function), launch->grid[0], launch->grid[1], launch->grid[2],
      launch->block[0], launch->block[1], launch->block[2], launch->dynamic_smem,
      static_cast<CUstream>(stream), nullptr, bytes ? extra : nullptr);
  if (result == kCudaSuccess)
    return succeed(err);
  char what[192] = "kernel `";
  strncat(what, kernel->info->name.c_str(), 128);
  strncat(what, "`", 2);
  return failDriver(cuda, result, what, "cuLaunchKernel", err);
}

tkc_status tkc_describe(const tkc_kernel *kernel, int32_t variant, char *json, size_t *bytes,
                        tkc_error *err) {
  if (!kernel || !bytes)
    return fail(err, TKC_E_ARG, "tkc_describe: the kernel or bytes is NULL");
  const KernelInfo &info = *kernel->info;
  if (variant < -1 || variant >= static_cast<int64_t>(info.variants.size()))
    return fail(err, TKC_E_ARG, "kernel `%s`: variant is %d, needed -1 to %zu", info.name.c_str(),
                variant, info.variants.size() - 1);
  const std::string &text = variant < 0 ? info.json : info.variants[variant].json;
  size_t room = json ? *bytes : 0;
  *bytes = text.size() + 1;
  if (room < text.size() + 1)
    return fail(err, TKC_E_ARG, "kernel `%s`: tkc_describe: room for %zu bytes, needed %zu",
                info.name.c_str(), room, text.size() + 1);
  memcpy(json, text.c_str(), text.size() + 1);
  return succeed(err);
}
