//===- Describe.cpp - what a caller can ask of a kernel --------------------===//
#include "Error.h"
#include "Kernel.h"

#include <cstring>

using namespace tkcrt;

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

tkc_status tkc_occupancy(const tkc_kernel *kernel, int32_t variant, uint32_t *blocks_per_sm,
                         uint32_t *clusters, tkc_error *err) {
  if (!kernel)
    return fail(err, TKC_E_ARG, "tkc_occupancy: the kernel is NULL");
  const char *name = kernel->info->name.c_str();
  for (const LoadedVariant &loaded : kernel->loaded) {
    if (static_cast<int64_t>(loaded.index) != variant)
      continue;
    if (!loaded.blocksPerSm)
      return fail(err, TKC_E_UNSUPPORTED, "kernel `%s`: this driver does not tell the occupancy",
                  name);
    if (blocks_per_sm)
      *blocks_per_sm = static_cast<uint32_t>(loaded.blocksPerSm);
    if (clusters)
      *clusters = static_cast<uint32_t>(loaded.clusters);
    return succeed(err);
  }
  return fail(err, TKC_E_NO_VARIANT,
              "kernel `%s`: variant %d is not among the %zu that are loaded for this device", name,
              variant, kernel->loaded.size());
}
