//===- MetadataTensorMaps.cpp - reading the TMA descriptors to encode ------===//
// What can be checked without arguments is checked here, by the rules of cuTensorMapEncodeTiled
// (CUDA driver API, "Tensor Map Object Management"); TensorMap.cpp checks the rest at each launch.
#include "Metadata.h"

namespace tkcrt {

namespace {
struct Choice {
  const char *name;
  int value; ///< CUDA's
  int bytes; ///< what the name says
};
} // namespace

static constexpr Choice kInterleaves[] = {{"none", 0, 0}, {"16B", 1, 16}, {"32B", 2, 32}};
static constexpr Choice kSwizzles[] = {
    {"none", 0, 0}, {"32B", 1, 32}, {"64B", 2, 64}, {"128B", 3, 128}};
static constexpr Choice kL2[] = {
    {"none", 0, 0}, {"64B", 1, 64}, {"128B", 2, 128}, {"256B", 3, 256}};
static constexpr Choice kOob[] = {{"zero", 0, 0}, {"nan", 1, 0}};

template <size_t N>
static const Choice *readChoice(Reader &reader, const Json &json, const char *key,
                                const Choice (&choices)[N]) {
  std::string text = choices[0].name, all;
  if (reader.find(json, key) && !reader.text(json, key, 1, 16, text))
    return nullptr;
  for (const Choice &choice : choices) {
    if (text == choice.name)
      return &choice;
    all += (all.empty() ? "" : ", ") + std::string(choice.name);
  }
  reader.corrupt("%s is \"%s\", needed one of %s", key, text.c_str(), all.c_str());
  return nullptr;
}

/// CUtensorMapDataType of an element type; 8-bit floats travel as bytes.
static int dataTypeOf(const DtypeInfo &dtype) {
  switch (dtype.code) {
  case TKC_F16:
    return 6;
  case TKC_F32:
    return 7;
  case TKC_F64:
    return 8;
  case TKC_BF16:
    return 9;
  default:
    break;
  }
  bool isSigned = dtype.cls == DtypeClass::Signed;
  return dtype.bits == 8    ? 0
         : dtype.bits == 16 ? 1
         : dtype.bits == 32 ? 2 + isSigned
                            : 4 + isSigned;
}

static bool readTerms(Reader &reader, const Json &json, const char *key, size_t low, size_t high,
                      const Resolver &resolve, Code &code, std::vector<Term> &out) {
  const Json *list = reader.need(json, key);
  if (!list)
    return false;
  Reader::Scope scope(reader, key);
  if (!reader.isArray(*list, low, high))
    return false;
  out.resize(list->size());
  for (size_t i = 0; i < out.size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readTerm(reader, (*list)[i], resolve, code, out[i]))
      return false;
  }
  return true;
}

static bool readNumbers(Reader &reader, const Json &json, const char *key, size_t count,
                        int64_t high, uint32_t *out) {
  const Json *list = reader.need(json, key);
  if (!list)
    return false;
  Reader::Scope scope(reader, key);
  if (!reader.isArray(*list, count, count))
    return false;
  for (size_t i = 0; i < count; ++i) {
    Reader::Scope at(reader, i);
    int64_t value;
    if (!reader.integer((*list)[i], 1, high, value))
      return false;
    out[i] = static_cast<uint32_t>(value);
  }
  return true;
}

static bool readLayout(Reader &reader, const Json &json, const DtypeInfo &dtype,
                       TensorMapSpec &out) {
  const Choice *interleave = readChoice(reader, json, "interleave", kInterleaves);
  const Choice *swizzle = interleave ? readChoice(reader, json, "swizzle", kSwizzles) : nullptr;
  const Choice *l2 = swizzle ? readChoice(reader, json, "l2", kL2) : nullptr;
  const Choice *oob = l2 ? readChoice(reader, json, "oob", kOob) : nullptr;
  if (!oob)
    return false;
  out.interleave = interleave->value;
  out.swizzle = swizzle->value;
  out.l2 = l2->value;
  out.oob = oob->value;
  out.baseAlign = interleave->bytes == 32 ? 32 : 16;
  if (oob->value && dtype.cls != DtypeClass::Float)
    return reader.corrupt("oob is nan, needed a float dtype, found %s", dtype.name);
  if (interleave->value && out.dims.size() < 3)
    return reader.corrupt("interleave needs 3 dims or more, found %zu", out.dims.size());
  int64_t inner = int64_t(out.box[0]) * (dtype.bits / 8);
  if (!interleave->value && inner % 16)
    return reader.corrupt("a row of the box has %lld bytes, needed a multiple of 16",
                          static_cast<long long>(inner));
  if (!interleave->value && swizzle->bytes && inner > swizzle->bytes)
    return reader.corrupt("a row of the box has %lld bytes, swizzle %s allows %d",
                          static_cast<long long>(inner), swizzle->name, swizzle->bytes);
  return true;
}

static bool readTensorMap(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                          TensorMapSpec &out) {
  std::string arg, dtype;
  if (!reader.isObject(json) || !reader.text(json, "arg", 1, 128, arg) ||
      !reader.text(json, "dtype", 1, 32, dtype))
    return false;
  out.arg = names.findArg(arg);
  if (out.arg < 0 || kernel.args[out.arg].kind == TKC_SCALAR)
    return reader.corrupt("`%s` is no tensor or pointer parameter", arg.c_str());
  const DtypeInfo *type = findDtype(dtype);
  if (!type)
    return reader.corrupt("unknown dtype \"%s\"", dtype.c_str());
  if (type->isPacked())
    return reader.corrupt("dtype is \"%s\", which no tensor map has", dtype.c_str());
  out.dataType = dataTypeOf(*type);
  Resolver resolve = names.resolver(reader, true);
  if (!readTerms(reader, json, "dims", 1, kMaxTensorMapRank, resolve, kernel.code, out.dims))
    return false;
  size_t rank = out.dims.size();
  return readTerms(reader, json, "strides", rank - 1, rank - 1, resolve, kernel.code,
                   out.strides) &&
         readNumbers(reader, json, "box", rank, 256, out.box) &&
         readNumbers(reader, json, "element_strides", rank, 8, out.elementStrides) &&
         readLayout(reader, json, *type, out);
}

bool readTensorMaps(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                    VariantInfo &out) {
  const Json *maps = reader.find(json, "tensor_maps");
  if (!maps)
    return true;
  Reader::Scope scope(reader, "tensor_maps");
  if (!reader.isArray(*maps, 0, kMaxArgs))
    return false;
  out.tensorMaps.resize(maps->size());
  for (size_t i = 0; i < maps->size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readTensorMap(reader, (*maps)[i], names, kernel, out.tensorMaps[i]))
      return false;
  }
  return true;
}

} // namespace tkcrt
