//===- TensorMap.cpp - encoding descriptors of bulk copies -----------------===//
// cuTensorMapEncodeTiled is host work alone, 0.07 us, so that it is done at every encode and
// nothing is cached. What it would refuse is checked before, since it does not say which rule was
// broken.
#include "Encode.h"
#include "Error.h"

#include <cstring>

namespace tkcrt {

constexpr int64_t kMaxDim = int64_t(1) << 32, kMaxStride = int64_t(1) << 40;

static tkc_status failMap(const EncodeState &state, const VariantInfo &variant,
                          const TensorMapSpec &map, tkc_status status, const char *what,
                          const Term *term, int64_t found, const char *needed) {
  return fail(state.err, status,
              "kernel `%s`: variant `%s`: the tensor map of `%s`: %s%s%s%s is %lld, needed %s",
              state.name(), variant.id.c_str(),
              state.info.args[static_cast<size_t>(map.arg)].name.c_str(), what, term ? " `" : "",
              term ? term->text.c_str() : "", term ? "`" : "", static_cast<long long>(found),
              needed);
}

/// Evaluates dims and strides, by the rules of cuTensorMapEncodeTiled.
static tkc_status readShape(const EncodeState &state, const VariantInfo &variant,
                            const TensorMapSpec &map, uint64_t *dims, uint64_t *strides) {
  int64_t value = 0;
  for (size_t i = 0; i < map.dims.size(); ++i) {
    if (tkc_status status = evaluate(state, map.dims[i], value))
      return status;
    if (value < 1 || value > kMaxDim)
      return failMap(state, variant, map, TKC_E_EXTENT, "dim", &map.dims[i], value, "1 to 2^32");
    dims[i] = static_cast<uint64_t>(value);
  }
  for (size_t i = 0; i < map.strides.size(); ++i) {
    if (tkc_status status = evaluate(state, map.strides[i], value))
      return status;
    if (value < 0 || value >= kMaxStride || value % map.baseAlign)
      return failMap(state, variant, map, TKC_E_EXTENT, "stride", &map.strides[i], value,
                     map.baseAlign == 32 ? "a multiple of 32 below 2^40"
                                         : "a multiple of 16 below 2^40");
    strides[i] = static_cast<uint64_t>(value);
  }
  return TKC_OK;
}

tkc_status writeTensorMap(const EncodeState &state, const VariantInfo &variant,
                          const TensorMapSpec &map, void *out) {
  uint64_t dims[kMaxTensorMapRank], strides[kMaxTensorMapRank];
  if (tkc_status status = readShape(state, variant, map, dims, strides))
    return status;
  int64_t address = state.address(static_cast<size_t>(map.arg));
  if (!address || address % map.baseAlign)
    return failMap(state, variant, map, TKC_E_ALIGN, "the address", nullptr, address,
                   map.baseAlign == 32 ? "a multiple of 32" : "a multiple of 16");
  if (tkc_status status = checkProcess(*state.kernel.bundle->driver, state.err))
    return status;
  TensorMap encoded{}; // the caller's buffer need not be aligned as the driver wants
  const Gpu &gpu = state.kernel.bundle->driver->gpu;
  CUresult result =
      gpu.tensorMapEncodeTiled(&encoded, map.dataType, static_cast<unsigned>(map.dims.size()),
                               reinterpret_cast<void *>(address), dims, strides, map.box,
                               map.elementStrides, map.interleave, map.swizzle, map.l2, map.oob);
  if (result)
    return failDriver(gpu, result, state.name(), "cuTensorMapEncodeTiled", state.err);
  memcpy(out, &encoded, sizeof(encoded));
  return TKC_OK;
}

} // namespace tkcrt
