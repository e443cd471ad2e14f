//===- MetadataVariant.cpp - reading a variant: target, launch, parameters -===//
#include "Metadata.h"

namespace tkcrt {

/// "sm_90a", "compute_80": major 9 and minor 0, 8 and 0; the letter, or NUL.
static bool parseArch(const std::string &arch, bool isPtx, int &major, int &minor, char &letter) {
  const std::string prefix = isPtx ? "compute_" : "sm_";
  if (arch.compare(0, prefix.size(), prefix) != 0)
    return false;
  std::string digits = arch.substr(prefix.size());
  letter = 0;
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    letter = digits.back();
    digits.pop_back();
  }
  if (digits.size() < 2 || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return false;
  minor = digits.back() - '0';
  digits.pop_back();
  major = std::stoi(digits);
  return true;
}

static bool readTarget(Reader &reader, const Json &json, ImageInfo::Kind image, Target &out) {
  const Json *target = reader.need(json, "target");
  if (!target)
    return false;
  Reader::Scope scope(reader, "target");
  std::string vendor;
  if (!reader.isObject(*target) || !reader.text(*target, "vendor", 1, 32, vendor) ||
      !reader.text(*target, "arch", 1, 64, out.arch) ||
      !reader.text(*target, "match", 1, 16, out.matchName))
    return false;
  if (vendor != "nvidia" && vendor != "amd")
    return reader.corrupt("vendor is \"%s\", needed nvidia or amd", vendor.c_str());
  if (out.matchName != "exact" && out.matchName != "family" && out.matchName != "at_least")
    return reader.corrupt("match is \"%s\", needed exact, family or at_least",
                          out.matchName.c_str());
  out.isNvidia = vendor == "nvidia";
  out.match = out.matchName == "exact"    ? Target::Match::Exact
              : out.matchName == "family" ? Target::Match::Family
                                          : Target::Match::AtLeast;
  if (out.isNvidia != (image != ImageInfo::Kind::Hsaco))
    return reader.corrupt("a %s target with an image of another vendor", vendor.c_str());
  if (!out.isNvidia)
    return true;
  bool isPtx = image == ImageInfo::Kind::Ptx;
  char letter;
  if (!parseArch(out.arch, isPtx, out.major, out.minor, letter))
    return reader.corrupt("arch is \"%s\", needed one like %s", out.arch.c_str(),
                          isPtx ? "compute_90a for PTX" : "sm_90a for a cubin");
  // Code for 90a runs on 9.0 and nothing else; code for 100f on its family and nothing newer.
  if ((letter == 'a' && out.match != Target::Match::Exact) ||
      (letter == 'f' && out.match == Target::Match::AtLeast))
    return reader.corrupt("arch %s can't match %s", out.arch.c_str(), out.matchName.c_str());
  return true;
}

static bool readDims(Reader &reader, const Json &json, const char *field, uint32_t out[3]) {
  Reader::Scope scope(reader, field);
  if (!reader.isArray(json, 3, 3))
    return false;
  int64_t product = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    Reader::Scope at(reader, axis);
    int64_t value;
    if (!reader.integer(json[axis], 1, axis == 2 ? 64 : 1024, value))
      return false;
    product *= value;
    out[axis] = static_cast<uint32_t>(value);
  }
  return product <= 1024 ||
         reader.corrupt("the product is %lld, at most 1024", static_cast<long long>(product));
}

static bool readGrid(Reader &reader, const Json &json, const Resolver &resolve, KernelInfo &kernel,
                     VariantInfo &out) {
  const Json *grid = reader.need(json, "grid");
  if (!grid)
    return false;
  Reader::Scope scope(reader, "grid");
  if (!reader.isArray(*grid, 3, 3))
    return false;
  for (size_t axis = 0; axis < 3; ++axis) {
    Reader::Scope at(reader, axis);
    if (!parseExpr(reader, (*grid)[axis], resolve, kernel.code, out.grid[axis]))
      return false;
    out.gridText[axis] = exprText((*grid)[axis]);
  }
  return true;
}

static bool readWhen(Reader &reader, const Json &json, const Resolver &resolve, KernelInfo &kernel,
                     VariantInfo &out) {
  const Json *when = reader.find(json, "when");
  if (!when)
    return true;
  Reader::Scope scope(reader, "when");
  if (!reader.isArray(*when, 0, 256))
    return false;
  out.when.resize(when->size());
  for (size_t i = 0; i < when->size(); ++i) {
    Reader::Scope at(reader, i);
    if (!parseCondition(reader, (*when)[i], resolve, kernel.code, out.when[i]))
      return false;
  }
  return true;
}

static bool readResources(Reader &reader, const Json &json, VariantInfo &out) {
  const Json *resources = reader.need(json, "resources");
  if (!resources)
    return false;
  Reader::Scope scope(reader, "resources");
  int64_t shared[2];
  if (!reader.isObject(*resources) ||
      !reader.integer(*resources, "shared_static", 0, UINT32_MAX, shared[0]) ||
      !reader.integer(*resources, "shared_dynamic", 0, UINT32_MAX, shared[1]))
    return false;
  out.sharedStatic = static_cast<uint32_t>(shared[0]);
  out.sharedDynamic = static_cast<uint32_t>(shared[1]);
  return true;
}

/// Notes what this release can't launch; prepare refuses it when a device would need it.
static bool readUnsupported(Reader &reader, const Json &json, VariantInfo &out) {
  if (const Json *cluster = reader.find(json, "cluster")) {
    uint32_t dims[3];
    if (!readDims(reader, *cluster, "cluster", dims))
      return false;
    if (dims[0] * dims[1] * dims[2] != 1)
      out.unsupported = "thread block clusters";
  }
  if (reader.find(json, "workspace"))
    out.unsupported = "workspace";
  const Json *maps = reader.find(json, "tensor_maps");
  if (maps && !(maps->is_array() && maps->empty()))
    out.unsupported = "tensor maps";
  const Json *launch = reader.find(json, "launch");
  if (!launch)
    return true;
  Reader::Scope scope(reader, "launch");
  bool isCooperative = false, isCoresident = false;
  if (!reader.isObject(*launch) || !reader.boolean(*launch, "cooperative", isCooperative) ||
      !reader.boolean(*launch, "coresident", isCoresident))
    return false;
  if (isCooperative || isCoresident)
    out.unsupported = isCooperative ? "cooperative launch" : "coresident blocks";
  return true;
}

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
  Resolver resolve = [&](const std::string &name) { return names.resolve(reader, name); };
  if (!parseExpr(reader, value, resolve, kernel.code, out.program))
    return false;
  out.text = exprText(value);
  return true;
}

/// One entry, which begins at `end` or later; moves `end` past it.
static bool readParam(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
                      VariantInfo &variant, int64_t &end) {
  std::string type;
  int64_t at, size;
  if (!reader.isObject(json) || !reader.text(json, "type", 1, 32, type) ||
      !reader.integer(json, "at", end, variant.paramBytes, at) ||
      !reader.integer(json, "size", 1, variant.paramBytes - at, size))
    return false;
  const Json *value = reader.need(json, "value");
  if (!value)
    return false;
  end = at + size;
  ParamSpec param;
  param.at = static_cast<uint32_t>(at);
  param.size = static_cast<uint32_t>(size);
  bool isWorkspace = type == "ptr" && *value == "workspace";
  if (type == "tensor_map" || isWorkspace) {
    variant.unsupported = isWorkspace ? "workspace" : "tensor maps";
    return true;
  }
  int64_t needed = 8;
  Reader::Scope scope(reader, "value");
  if (type == "ptr" ? !readPointerParam(reader, *value, names, kernel, param)
                    : !readValueParam(reader, *value, type, names, kernel, param))
    return false;
  if (type != "ptr")
    needed = param.type->bits / 8;
  if (size != needed || at % needed != 0)
    return reader.corrupt("%s at %lld with size %lld, needed size %lld and a multiple of it",
                          type.c_str(), static_cast<long long>(at), static_cast<long long>(size),
                          static_cast<long long>(needed));
  variant.params.push_back(param);
  return true;
}

static bool readParams(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel,
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
  if (!reader.isArray(*list, 0, 4096))
    return false;
  int64_t end = 0;
  for (size_t i = 0; i < list->size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readParam(reader, (*list)[i], names, kernel, out, end))
      return false;
  }
  return true;
}

static bool isSymbol(const std::string &text) {
  for (char c : text)
    if (!(c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
          (c >= 'A' && c <= 'Z')))
      return false;
  return !(text[0] >= '0' && text[0] <= '9');
}

bool readVariant(Reader &reader, const Json &json, const std::vector<ImageInfo> &images,
                 NameTable &names, KernelInfo &kernel, VariantInfo &out) {
  int64_t image;
  if (!reader.isObject(json) || !reader.text(json, "id", 1, 256, out.id) ||
      !reader.text(json, "symbol", 1, 128, out.symbol) ||
      !reader.integer(json, "image", 0, static_cast<int64_t>(images.size()) - 1, image))
    return false;
  if (!isSymbol(out.symbol))
    return reader.corrupt("symbol \"%s\": needed letters, digits, _ and $", out.symbol.c_str());
  if (reader.find(json, "default_rank") &&
      !reader.integer(json, "default_rank", 0, INT32_MAX, out.rank))
    return false;
  if (reader.find(json, "driver_min") &&
      !reader.integer(json, "driver_min", 0, INT32_MAX, out.driverMin))
    return false;
  out.image = static_cast<size_t>(image);
  const Json *block = reader.need(json, "block");
  Resolver resolve = [&](const std::string &name) { return names.resolve(reader, name); };
  return block && readTarget(reader, json, images[out.image].kind, out.target) &&
         readDims(reader, *block, "block", out.block) &&
         readGrid(reader, json, resolve, kernel, out) &&
         readWhen(reader, json, resolve, kernel, out) && readResources(reader, json, out) &&
         readUnsupported(reader, json, out) && readParams(reader, json, names, kernel, out);
}

} // namespace tkcrt
