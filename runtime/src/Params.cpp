//===- Params.cpp - the device's parameter buffer --------------------------===//
#include "Encode.h"
#include "Error.h"

#include <cstring>

namespace tkcrt {

static tkc_status integerParam(const EncodeState &state, const VariantInfo &variant,
                               const ParamSpec &param, uint64_t &out) {
  int64_t value = 0;
  if (tkc_status status = evaluate(state, param.value, value))
    return status;
  if (!fitsInteger(*param.type, value))
    return fail(state.err, TKC_E_EXTENT, "kernel `%s`: variant `%s` takes `%s` as %s, found %lld",
                state.name(), variant.id.c_str(), param.value.text.c_str(), param.type->name,
                static_cast<long long>(value));
  out = static_cast<uint64_t>(value);
  return TKC_OK;
}

tkc_status writeParams(const EncodeState &state, const VariantInfo &variant, void *out) {
  char *bytes = static_cast<char *>(out);
  if (variant.paramBytes)
    memset(bytes, 0, variant.paramBytes);
  for (const ParamSpec &param : variant.params) {
    uint64_t bits = 0;
    switch (param.kind) {
    case ParamSpec::Kind::Pointer:
      bits = static_cast<uint64_t>(state.address(static_cast<size_t>(param.arg)));
      break;
    case ParamSpec::Kind::ScalarBits:
      bits = scalarBits(state, static_cast<size_t>(param.arg));
      break;
    case ParamSpec::Kind::Integer:
      if (tkc_status status = integerParam(state, variant, param, bits))
        return status;
      break;
    case ParamSpec::Kind::TensorMap:
      if (tkc_status status = writeTensorMap(
              state, variant, variant.tensorMaps[static_cast<size_t>(param.arg)], bytes + param.at))
        return status;
      continue;
    }
    memcpy(bytes + param.at, &bits, param.size);
  }
  return TKC_OK;
}

} // namespace tkcrt
