//===- Find.cpp - a kernel by name and constants ---------------------------===//
#include "Error.h"
#include "Kernel.h"

namespace tkcrt {

static bool hasConstants(const KernelInfo &kernel, const tkc_const *consts, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto it = kernel.instance.find(consts[i].name);
    if (it == kernel.instance.end() || it->second != consts[i].value)
      return false;
  }
  return true;
}

/// `add[BLOCK=64]; add[BLOCK=128]`, cut where the error's text would end anyway.
static std::string listTitles(const std::vector<const KernelInfo *> &kernels) {
  std::string text;
  for (const KernelInfo *kernel : kernels) {
    if (text.size() > sizeof(tkc_error::text))
      break;
    text += (text.empty() ? "" : "; ") + kernel->title();
  }
  return text;
}

tkc_status findKernel(const Metadata &metadata, const char *name, const tkc_const *consts,
                      uint32_t count, const KernelInfo *&out, tkc_error *err) {
  KernelInfo asked;
  asked.name = name;
  for (uint32_t i = 0; i < count; ++i) {
    if (!consts[i].name || !consts[i].value)
      return fail(err, TKC_E_ARG, "kernel `%s`: constant %u has a NULL name or value", name, i);
    asked.instance[consts[i].name] = consts[i].value;
  }
  std::vector<const KernelInfo *> all, named, matching;
  for (const KernelInfo &kernel : metadata.kernels) {
    all.push_back(&kernel);
    if (kernel.name != name)
      continue;
    named.push_back(&kernel);
    if (hasConstants(kernel, consts, count))
      matching.push_back(&kernel);
  }
  if (matching.size() == 1) {
    out = matching[0];
    return TKC_OK;
  }
  if (matching.size() > 1)
    return fail(err, TKC_E_AMBIGUOUS, "%zu kernels match %s, needed one: %s", matching.size(),
                asked.title().c_str(), listTitles(matching).c_str());
  return fail(err, TKC_E_ARG, "no kernel matches %s; there is: %s", asked.title().c_str(),
              listTitles(named.empty() ? all : named).c_str());
}

} // namespace tkcrt
