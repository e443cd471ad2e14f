//===- Metadata.cpp - reading the JSON: top level, images, kernels ---------===//
#include "Metadata.h"

#include "Error.h"

#include <algorithm>
#include <set>

namespace tkcrt {

/// Features that this release knows, as `needs` names them.
static constexpr const char *kFeatures[] = {"expr.1",       "optional.1", "scratch.1",
                                            "tensor_map.1", "cluster.1",  "cooperative.1",
                                            "pdl.1",        "span.1",     "tune.1"};

static bool isKnownFeature(const std::string &feature) {
  for (const char *known : kFeatures)
    if (feature == known)
      return true;
  return false;
}

static std::string listFeatures() {
  std::string text;
  for (const char *known : kFeatures)
    text += (text.empty() ? "" : ", ") + std::string(known);
  return text;
}

std::string KernelInfo::title() const {
  std::string text = name;
  const char *before = "[";
  for (const auto &[key, value] : instance) {
    text += before + key + "=" + value;
    before = ", ";
  }
  return instance.empty() ? text : text + "]";
}

int NameTable::add(Reader &reader, const std::string &name, int arg, int axis) {
  if (slots.count(name)) {
    reader.corrupt("the name `%s` is used twice", name.c_str());
    return -1;
  }
  if (kernel.slots.size() >= static_cast<size_t>(kMaxSlots)) {
    reader.corrupt("more than %d names, pointers and strides", kMaxSlots);
    return -1;
  }
  int slot = static_cast<int>(kernel.slots.size());
  kernel.slots.push_back({name, arg, axis});
  slots[name] = slot;
  return slot;
}

int NameTable::find(const std::string &name) const {
  auto it = slots.find(name);
  return it == slots.end() ? -1 : it->second;
}

int NameTable::findArg(const std::string &name) const {
  for (size_t i = 0; i < kernel.args.size(); ++i)
    if (kernel.args[i].name == name)
      return static_cast<int>(i);
  return -1;
}

int NameTable::resolve(Reader &reader, const std::string &name, bool isOfVariant) {
  int arg = findArg(name);
  int slot = find(name);
  if (slot >= kBlocksPerSmSlot && slot < kFirstOwnSlot && !isOfVariant) {
    reader.corrupt("`%s` differs between variants; only their fields may use it", name.c_str());
    return -1;
  }
  if (slot >= 0) {
    if (arg >= 0)
      kernel.args[arg].isInExpr = true;
    return slot;
  }
  if (arg >= 0)
    reader.corrupt("`%.80s` is a %s %s and has no value in expressions", name.c_str(),
                   kernel.args[arg].dtype->name,
                   kernel.args[arg].kind == TKC_SCALAR ? "scalar" : "parameter");
  else if (name.compare(0, 4, "dev.") == 0 || name.compare(0, 4, "occ.") == 0)
    reader.refuse(TKC_E_UNSUPPORTED, "this libtkcrt has no `" + name.substr(0, 80) + "`");
  else
    reader.corrupt("nothing binds the name `%.80s`", name.c_str());
  return -1;
}

static bool readSchema(Reader &reader, const Json &json) {
  std::string schema;
  if (!reader.isObject(json) || !reader.text(json, "schema", 1, 64, schema))
    return false;
  static const std::string prefix = "tkc.kernel/1.";
  if (schema.compare(0, prefix.size(), prefix) != 0 || schema.size() == prefix.size() ||
      schema.find_first_not_of("0123456789", prefix.size()) != std::string::npos)
    return reader.refuse(TKC_E_UNSUPPORTED,
                         "schema is \"" + schema + "\", this libtkcrt reads tkc.kernel/1.x");
  const Json *needs = reader.find(json, "needs");
  if (!needs)
    return true;
  Reader::Scope scope(reader, "needs");
  if (!reader.isArray(*needs, 0, 64))
    return false;
  for (const Json &entry : *needs) {
    std::string feature;
    if (!reader.text(entry, 1, 64, feature))
      return false;
    if (!isKnownFeature(feature))
      return reader.refuse(TKC_E_NEEDS_FEATURE, "needs " + feature + ", this libtkcrt knows " +
                                                    listFeatures() + "; use a newer one");
  }
  return true;
}

static bool readInstance(Reader &reader, const Json &json, KernelInfo &kernel) {
  const Json *instance = reader.find(json, "instance");
  if (!instance)
    return true;
  Reader::Scope scope(reader, "instance");
  if (!reader.isObject(*instance))
    return false;
  for (const auto &[key, value] : instance->items()) {
    Reader::Scope at(reader, key.c_str());
    if (!isIdentifier(key))
      return reader.corrupt("is no identifier");
    std::string text;
    int64_t integer;
    if (value.is_boolean())
      text = value.get<bool>() ? "true" : "false";
    else if (value.is_string() && reader.text(value, 0, 256, text))
      ;
    else if (!value.is_string() && reader.integer(value, INT64_MIN, INT64_MAX, integer))
      text = std::to_string(integer);
    else
      return false;
    kernel.instance[key] = text;
  }
  return true;
}

/// "b3:" and 1 to 16 hexadecimal digits; not 0, which callers use for "not checked".
static bool readAbiHash(Reader &reader, const Json &json, KernelInfo &kernel) {
  std::string text;
  if (!reader.text(json, "abi_hash", 1, 64, text))
    return false;
  bool isGood = text.size() >= 4 && text.size() <= 19 && text.compare(0, 3, "b3:") == 0 &&
                text.find_first_not_of("0123456789abcdef", 3) == std::string::npos;
  for (size_t i = 3; isGood && i < text.size(); ++i)
    kernel.abiHash = kernel.abiHash << 4 |
                     static_cast<uint64_t>(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
  if (!isGood || kernel.abiHash == 0)
    return reader.corrupt("abi_hash is \"%s\", needed \"b3:\" and 16 hexadecimal digits, not 0",
                          text.c_str());
  return true;
}

static bool readRanges(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  const Json *ranges = reader.find(json, "ranges");
  if (!ranges)
    return true;
  Reader::Scope scope(reader, "ranges");
  if (!reader.isObject(*ranges))
    return false;
  for (const auto &[key, value] : ranges->items()) {
    Reader::Scope at(reader, key.c_str());
    RangeSpec range;
    range.slot = names.resolve(reader, key);
    if (range.slot < 0 || !reader.isArray(value, 2, 2) ||
        !reader.integer(value[0], INT64_MIN, INT64_MAX, range.low) ||
        !reader.integer(value[1], range.low, INT64_MAX, range.high))
      return false;
    kernel.ranges.push_back(range);
  }
  return true;
}

static bool readDisjoint(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  const Json *pairs = reader.find(json, "disjoint");
  if (!pairs)
    return true;
  Reader::Scope scope(reader, "disjoint");
  if (!reader.isArray(*pairs, 0, kMaxArgs * kMaxArgs))
    return false;
  for (size_t i = 0; i < pairs->size(); ++i) {
    Reader::Scope at(reader, i);
    int arg[2];
    if (!reader.isArray((*pairs)[i], 2, 2))
      return false;
    for (int side = 0; side < 2; ++side) {
      std::string name;
      if (!reader.text((*pairs)[i][side], 1, 128, name))
        return false;
      arg[side] = names.findArg(name);
      if (arg[side] < 0 || kernel.args[arg[side]].kind == TKC_SCALAR)
        return reader.corrupt("`%s` is no tensor or pointer parameter", name.c_str());
    }
    if (arg[0] == arg[1])
      return reader.corrupt("a parameter is paired with itself");
    kernel.disjoint.push_back({arg[0], arg[1]});
  }
  return true;
}

static bool readConditions(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  Resolver resolve = names.resolver(reader);
  if (const Json *noop = reader.find(json, "noop_when")) {
    Reader::Scope scope(reader, "noop_when");
    kernel.hasNoop = true;
    if (!parseCondition(reader, *noop, resolve, kernel.code, kernel.noop))
      return false;
  }
  const Json *list = reader.find(json, "require");
  if (!list)
    return true;
  Reader::Scope scope(reader, "require");
  if (!reader.isArray(*list, 0, 256))
    return false;
  kernel.require.resize(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    Reader::Scope at(reader, i);
    const Json &entry = (*list)[i];
    if (!reader.isObject(entry) || !reader.text(entry, "text", 1, 1024, kernel.require[i].text))
      return false;
    const Json *expr = reader.need(entry, "expr");
    Reader::Scope inner(reader, "expr");
    if (!expr || !parseCondition(reader, *expr, resolve, kernel.code, kernel.require[i].condition))
      return false;
  }
  return true;
}

/// The default configuration of a target is that of the variant which is tried first. The last
/// variant of it has no guards, so that selection can't run out.
static bool markDefaults(Reader &reader, KernelInfo &kernel) {
  std::map<std::string, std::string> defaults; // of a target
  std::map<std::string, size_t> last;
  for (size_t index : kernel.order) {
    VariantInfo &variant = kernel.variants[index];
    const std::string &config =
        defaults.emplace(variant.target.arch, variant.configId).first->second;
    variant.isDefault = config == variant.configId;
    if (variant.isDefault)
      last[variant.target.arch] = index;
  }
  for (const auto &[arch, index] : last)
    if (!kernel.variants[index].when.empty())
      return reader.corrupt("\"%s\" is tried last and has guards; the last must have none",
                            kernel.variants[index].id.c_str());
  return true;
}

/// Fills `order`, and checks what must hold between variants.
static bool orderVariants(Reader &reader, KernelInfo &kernel) {
  std::set<std::string> ids;
  for (size_t i = 0; i < kernel.variants.size(); ++i) {
    kernel.order.push_back(i);
    if (!ids.insert(kernel.variants[i].id).second)
      return reader.corrupt("the id \"%s\" occurs twice", kernel.variants[i].id.c_str());
  }
  std::sort(kernel.order.begin(), kernel.order.end(), [&](size_t a, size_t b) {
    return std::make_pair(kernel.variants[a].rank, a) < std::make_pair(kernel.variants[b].rank, b);
  });
  return markDefaults(reader, kernel);
}

static bool readVariants(Reader &reader, const Json &json, const Metadata &metadata,
                         NameTable &names, KernelInfo &kernel) {
  const Json *variants = reader.need(json, "variants");
  if (!variants)
    return false;
  Reader::Scope scope(reader, "variants");
  if (!reader.isArray(*variants, 1, 256))
    return false;
  kernel.variants.resize(variants->size());
  for (size_t i = 0; i < variants->size(); ++i) {
    Reader::Scope at(reader, i);
    size_t begin = kernel.code.instrs.size();
    if (!readVariant(reader, (*variants)[i], metadata.images, names, kernel, kernel.variants[i]))
      return false;
    for (; begin < kernel.code.instrs.size(); ++begin) {
      const Instr &instr = kernel.code.instrs[begin];
      if (instr.op == Op::Slot && instr.value > kSmsSlot && instr.value < kFirstOwnSlot)
        kernel.variants[i].usesOccupancy = true;
    }
    kernel.variants[i].json = (*variants)[i].dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return orderVariants(reader, kernel);
}

static bool readCost(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  const Json *cost = reader.find(json, "cost");
  if (!cost)
    return true;
  Reader::Scope scope(reader, "cost");
  if (!reader.isObject(*cost))
    return false;
  kernel.hasCost = true;
  Resolver resolve = names.resolver(reader);
  const std::pair<const char *, Term *> fields[] = {{"flops", &kernel.flops},
                                                    {"bytes", &kernel.bytes}};
  for (const auto &[key, term] : fields) {
    const Json *value = reader.find(*cost, key);
    Reader::Scope at(reader, key);
    if (!readTerm(reader, value ? *value : Json(0), resolve, kernel.code, *term))
      return false;
  }
  return true;
}

static bool addSharedNames(Reader &reader, NameTable &names) {
  return names.add(reader, "sms", -1, -1) == kSmsSlot &&
         names.add(reader, "occ.blocks_per_sm", -1, -1) == kBlocksPerSmSlot &&
         names.add(reader, "dev.clusters", -1, -1) == kClustersSlot;
}

static bool readKernel(Reader &reader, const Json &json, const Metadata &metadata,
                       KernelInfo &kernel) {
  if (!reader.isObject(json) || !reader.text(json, "kernel", 1, 128, kernel.name))
    return false;
  if (!isIdentifier(kernel.name))
    return reader.corrupt("kernel \"%s\" is no identifier", kernel.name.c_str());
  NameTable names(kernel);
  if (!addSharedNames(reader, names) || !readInstance(reader, json, kernel) ||
      !readAbiHash(reader, json, kernel) || !readArgs(reader, json, names, kernel) ||
      !readRanges(reader, json, names, kernel) || !readDisjoint(reader, json, names, kernel) ||
      !readConditions(reader, json, names, kernel) || !readTune(reader, json, names, kernel) ||
      !readCost(reader, json, names, kernel) ||
      !readVariants(reader, json, metadata, names, kernel))
    return false;
  Json rest = json;
  rest.erase("variants");
  kernel.json = rest.dump(-1, ' ', false, Json::error_handler_t::replace);
  return true;
}

static bool readKernels(Reader &reader, const Json &json, Metadata &out) {
  const Json *kernels = reader.need(json, "kernels");
  if (!kernels)
    return false;
  Reader::Scope scope(reader, "kernels");
  if (!reader.isArray(*kernels, 1, 4096))
    return false;
  out.kernels.resize(kernels->size());
  std::set<std::string> titles;
  for (size_t i = 0; i < out.kernels.size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readKernel(reader, (*kernels)[i], out, out.kernels[i]))
      return false;
    std::string title = out.kernels[i].title();
    if (!titles.insert(title).second)
      return reader.corrupt("%s occurs twice", title.substr(0, 300).c_str());
  }
  return true;
}

tkc_status parseMetadata(const char *text, size_t bytes, const ImageSpace &space, Metadata &out,
                         tkc_error *err) {
  if (bytes > kMaxJsonBytes)
    return fail(err, TKC_E_CORRUPT, "metadata: %zu bytes, at most %zu are read", bytes,
                kMaxJsonBytes);
  Json json;
  if (tkc_status status = parseJson(text, bytes, json, err))
    return status;
  Reader reader(err);
  bool isGood = readSchema(reader, json) && readImages(reader, json, space, out.images) &&
                readKernels(reader, json, out);
  return isGood ? TKC_OK : reader.status();
}

} // namespace tkcrt
