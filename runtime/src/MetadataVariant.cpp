//===- MetadataVariant.cpp - reading a variant: target, launch, parameters -===//
#include "Metadata.h"

namespace tkcrt {

bool readTerm(Reader &reader, const Json &json, const Resolver &resolve, Code &code, Term &out) {
  if (!parseExpr(reader, json, resolve, code, out.program))
    return false;
  out.text = exprText(json);
  return true;
}

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

static bool readVendor(Reader &reader, const Json &json, ImageInfo::Kind image, Target &out) {
  std::string vendor;
  if (!reader.text(json, "vendor", 1, 32, vendor))
    return false;
  if (vendor != "nvidia" && vendor != "amd" && vendor != "cpu")
    return reader.corrupt("vendor is \"%s\", needed nvidia, amd or cpu", vendor.c_str());
  out.vendor = vendor == "nvidia" ? Target::Vendor::Nvidia
               : vendor == "amd"  ? Target::Vendor::Amd
                                  : Target::Vendor::Cpu;
  Target::Vendor needed = image == ImageInfo::Kind::Hsaco ? Target::Vendor::Amd
                          : image == ImageInfo::Kind::Tk  ? Target::Vendor::Cpu
                                                          : Target::Vendor::Nvidia;
  return out.vendor == needed ||
         reader.corrupt("a target of %s with an image of another vendor", vendor.c_str());
}

/// What `arch` and `match` may be together, for each vendor.
static bool readArch(Reader &reader, bool isPtx, Target &out) {
  bool isExact = out.match == Target::Match::Exact;
  if (out.vendor == Target::Vendor::Cpu)
    return (out.arch == "interp" && isExact) ||
           reader.corrupt("arch is \"%s\" and match %s, needed interp and exact for cpu",
                          out.arch.c_str(), out.matchName.c_str());
  if (out.vendor == Target::Vendor::Amd)
    return (out.arch.compare(0, 3, "gfx") == 0 && isExact) ||
           reader.corrupt("arch is \"%s\" and match %s, needed one like gfx942 and exact for amd",
                          out.arch.c_str(), out.matchName.c_str());
  char letter;
  if (!parseArch(out.arch, isPtx, out.major, out.minor, letter))
    return reader.corrupt("arch is \"%s\", needed one like %s", out.arch.c_str(),
                          isPtx ? "compute_90a for PTX" : "sm_90a for a cubin");
  // Code for 90a runs on 9.0 and nothing else; code for 100f on its family and nothing newer.
  if ((letter == 'a' && !isExact) || (letter == 'f' && out.match == Target::Match::AtLeast))
    return reader.corrupt("arch %s can't match %s", out.arch.c_str(), out.matchName.c_str());
  return true;
}

static bool readTarget(Reader &reader, const Json &json, ImageInfo::Kind image, Target &out) {
  const Json *target = reader.need(json, "target");
  if (!target)
    return false;
  Reader::Scope scope(reader, "target");
  if (!reader.isObject(*target) || !readVendor(reader, *target, image, out) ||
      !reader.text(*target, "arch", 1, 64, out.arch) ||
      !reader.text(*target, "match", 1, 16, out.matchName))
    return false;
  if (out.matchName != "exact" && out.matchName != "family" && out.matchName != "at_least")
    return reader.corrupt("match is \"%s\", needed exact, family or at_least",
                          out.matchName.c_str());
  out.match = out.matchName == "exact"    ? Target::Match::Exact
              : out.matchName == "family" ? Target::Match::Family
                                          : Target::Match::AtLeast;
  return readArch(reader, image == ImageInfo::Kind::Ptx, out);
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
    if (!readTerm(reader, (*grid)[axis], resolve, kernel.code, out.grid[axis]))
      return false;
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
      !reader.integer(*resources, "shared_dynamic", 0, UINT32_MAX, shared[1]) ||
      !reader.boolean(*resources, "nonportable_cluster", out.hasBigCluster))
    return false;
  out.sharedStatic = static_cast<uint32_t>(shared[0]);
  out.sharedDynamic = static_cast<uint32_t>(shared[1]);
  return true;
}

static bool readPdl(Reader &reader, const Json &launch, VariantInfo &out) {
  const Json *pdl = reader.find(launch, "pdl");
  if (!pdl)
    return true;
  Reader::Scope scope(reader, "pdl");
  return reader.isObject(*pdl) && reader.boolean(*pdl, "waits", out.pdlWaits);
}

static bool readLaunch(Reader &reader, const Json &json, VariantInfo &out) {
  const Json *cluster = reader.find(json, "cluster");
  if (cluster && !readDims(reader, *cluster, "cluster", out.cluster))
    return false;
  if (out.clusterBlocks() > (out.hasBigCluster ? 16u : 8u))
    return reader.corrupt("a cluster of %u blocks, needed at most %s", out.clusterBlocks(),
                          out.hasBigCluster ? "16" : "8, or resources.nonportable_cluster");
  if (reader.find(json, "workspace"))
    out.unsupported = "workspace that is no argument";
  const Json *launch = reader.find(json, "launch");
  if (!launch)
    return true;
  Reader::Scope scope(reader, "launch");
  return reader.isObject(*launch) && reader.boolean(*launch, "cooperative", out.isCooperative) &&
         reader.boolean(*launch, "coresident", out.isCoresident) && readPdl(reader, *launch, out);
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
  if (reader.find(json, "config_id") && !reader.text(json, "config_id", 0, 256, out.configId))
    return false;
  out.image = static_cast<size_t>(image);
  const Json *block = reader.need(json, "block");
  Resolver resolve = names.resolver(reader, true);
  return block && readTarget(reader, json, images[out.image].kind, out.target) &&
         readDims(reader, *block, "block", out.block) &&
         readGrid(reader, json, resolve, kernel, out) &&
         readWhen(reader, json, resolve, kernel, out) && readResources(reader, json, out) &&
         readLaunch(reader, json, out) && readTensorMaps(reader, json, names, kernel, out) &&
         readParams(reader, json, names, kernel, out);
}

} // namespace tkcrt
