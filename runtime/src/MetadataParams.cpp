//===- MetadataParams.cpp - reading the device's parameter buffer ----------===//
#include "Metadata.h"

namespace tkcrt {

static bool readPointerParam(Reader &reader, const Json &value, const NameTable &names,
                             const KernelInfo &kernel, ParamSpec &out) {
  std::string name;
  if (!reader.text(value, 1, 160, name))
    return false;
  out.kind = ParamSpec::Kind::Pointer;
  size_t stem =
      name.size() > 4 && name.compare(name.size() - 4, 4, ".ptr") == 0 ? name.size() - 4 : 0;
  out.arg = names.findArg(name.substr(0, stem));
  if (stem == 0 || out.arg < 0 || kernel.args[out.arg].kind == TKC_SCALAR)
    return reader.corrupt("\"%s\" is not ARG.ptr of a tensor or pointer parameter", name.c_str());
  return true;
}

static bool readValueParam(Reader &reader, const Json &value, const std::string &type,
                           NameTable &names, KernelInfo &kernel, ParamSpec &out) {
  out.type = findDtype(type);
  if (!out.type || !out.type->isScalar)
    return reader.corrupt("unknown type \"%s\"", type.c_str());
  if (const std::string *name = value.get_ptr<const std::string *>()) {
    out.arg = names.findArg(*name);
    if (out.arg >= 0 && kernel.args[out.arg].kind == TKC_SCALAR &&
        kernel.args[out.arg].dtype == out.type) {
      out.kind = ParamSpec::Kind::ScalarBits;
      return true;
    }
  }
  if (out.type->cls == DtypeClass::Float)
    return reader.corrupt("the value of %s must be the name of a %s scalar", type.c_str(),
                          type.c_str());
  out.kind = ParamSpec::Kind::Integer;
  return readTerm(reader, value, names.resolver(reader, true), kernel.code, out.value);
}

static bool readMapParam(Reader &reader, const Json &value, const VariantInfo &variant,
                         ParamSpec &out) {
  int64_t map;
  if (variant.tensorMaps.empty())
    return reader.corrupt("the variant has no tensor_maps");
  if (!reader.integer(value, 0, static_cast<int64_t>(variant.tensorMaps.size()) - 1, map))
    return false;
  out.kind = ParamSpec::Kind::TensorMap;
  out.arg = static_cast<int>(map);
  return true;
}

/// The value of a parameter of `type`, and the bytes that one takes.
static bool readParamValue(Reader &reader, const Json &value, const std::string &type,
                           NameTable &names, KernelInfo &kernel, const VariantInfo &variant,
                           ParamSpec &out, int64_t &bytes) {
  Reader::Scope scope(reader, "value");
  if (type == "tensor_map") {
    bytes = 128;
    return readMapParam(reader, value, variant, out);
  }
  if (type == "ptr") {
    bytes = 8;
    return readPointerParam(reader, value, names, kernel, out);
  }
  if (!readValueParam(reader, value, type, names, kernel, out))
    return false;
  bytes = findDtype(type)->bits / 8;
  return true;
}

/// One entry, which begins at `end` or later; moves `end` past it.
static bool readParam(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                      VariantInfo &variant, int64_t &end) {
  std::string type;
  int64_t at, size, needed;
  if (!reader.isObject(json) || !reader.text(json, "type", 1, 32, type) ||
      !reader.integer(json, "at", end, variant.paramBytes, at) ||
      !reader.integer(json, "size", 1, variant.paramBytes - at, size))
    return false;
  const Json *value = reader.need(json, "value");
  if (!value)
    return false;
  end = at + size;
  if (type == "ptr" && *value == "workspace") {
    variant.unsupported = "workspace that is no argument";
    return true;
  }
  ParamSpec param;
  param.at = static_cast<uint32_t>(at);
  param.size = static_cast<uint32_t>(size);
  if (!readParamValue(reader, *value, type, names, kernel, variant, param, needed))
    return false;
  if (size != needed || at % needed != 0)
    return reader.corrupt("%s at %lld with size %lld, needed size %lld and a multiple of it",
                          type.c_str(), static_cast<long long>(at), static_cast<long long>(size),
                          static_cast<long long>(needed));
  if (param.kind == ParamSpec::Kind::TensorMap && variant.paramAlign < 128)
    return reader.corrupt("align is %u, needed 128 for a tensor map", variant.paramAlign);
  variant.params.push_back(param);
  return true;
}

bool readParams(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                VariantInfo &out) {
  const Json *params = reader.need(json, "params");
  if (!params)
    return false;
  Reader::Scope scope(reader, "params");
  int64_t bytes, align, hidden;
  if (!reader.isObject(*params) ||
      !reader.integer(*params, "bytes", 0, TKC_MAX_PARAM_BYTES, bytes) ||
      !reader.integer(*params, "align", 1, 128, align) ||
      !reader.integer(*params, "hidden", 0, 0, hidden))
    return false;
  if (align & (align - 1))
    return reader.corrupt("align is %lld, needed a power of two", static_cast<long long>(align));
  out.paramBytes = static_cast<uint32_t>(bytes);
  out.paramAlign = static_cast<uint32_t>(align);
  const Json *list = reader.need(*params, "list");
  if (!list)
    return false;
  Reader::Scope inner(reader, "list");
  if (!reader.isArray(*list, 0, kMaxParams))
    return false;
  int64_t end = 0;
  for (size_t i = 0; i < list->size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readParam(reader, (*list)[i], names, kernel, out, end))
      return false;
  }
  return true;
}

} // namespace tkcrt
