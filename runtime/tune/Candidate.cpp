//===- Candidate.cpp - one configuration of a kernel -----------------------===//
#include "Candidate.h"

#include "Error.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tkctune {

using tkcrt::fail;

const Json *member(const Json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

/// Where a bundle's JSON is: docs/design/bundles.md. The loader checks the rest.
static tkc_status jsonOfBundle(const tkc_bundle_desc &desc, std::string &out, tkc_error *err) {
  constexpr size_t kHeaderBytes = 128;
  static const unsigned char magic[8] = {0x89, 0x54, 0x4b, 0x42, 0x0d, 0x0a, 0x1a, 0x0a};
  const unsigned char *bytes = static_cast<const unsigned char *>(desc.data);
  if (desc.bytes < kHeaderBytes || memcmp(bytes, magic, sizeof(magic)) != 0)
    return fail(err, TKC_E_CORRUPT, "this is no bundle (.tkb), and no JSON is given beside it");
  uint64_t begin = 0, length = 0;
  memcpy(&begin, bytes + 16, 8);
  memcpy(&length, bytes + 24, 8);
  if (begin > desc.bytes || length > desc.bytes - begin)
    return fail(err, TKC_E_CORRUPT, "the bundle's JSON does not lie in the bundle");
  out.assign(reinterpret_cast<const char *>(bytes) + begin, length);
  return TKC_OK;
}

tkc_status readSource(const tkc_bundle_desc &desc, Source &out, tkc_error *err) {
  std::string text;
  if (desc.json) {
    size_t length = desc.json_bytes;
    while (length && !desc.json[length - 1])
      --length;
    text.assign(desc.json, length);
    out.json = text;
  } else if (tkc_status status = jsonOfBundle(desc, text, err)) {
    return status;
  }
  if (desc.data)
    out.data.assign(static_cast<const char *>(desc.data), desc.bytes);
  if (tkc_status status = tkcrt::parseJson(text.data(), text.size(), out.document, err))
    return status;
  const Json *kernels = member(out.document, "kernels");
  if (!kernels || !kernels->is_array() || kernels->empty())
    return fail(err, TKC_E_CORRUPT, "the JSON has no kernels");
  return TKC_OK;
}

/// A constant as text, as a caller names it.
static std::string constantText(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

static bool matches(const Json &kernel, const std::string &name, const tkc_const *consts,
                    size_t count) {
  const Json *own = member(kernel, "kernel");
  if (!own || (!name.empty() && *own != name))
    return false;
  const Json *instance = member(kernel, "instance");
  for (size_t i = 0; i < count; ++i) {
    const Json *value = instance ? member(*instance, consts[i].name) : nullptr;
    if (!value || constantText(*value) != consts[i].value)
      return false;
  }
  return true;
}

static std::string titleOf(const Json &kernel) {
  const Json *name = member(kernel, "kernel");
  const Json *instance = member(kernel, "instance");
  std::string text = name ? constantText(*name) : "?", inside;
  for (auto it = instance ? instance->begin() : Json::const_iterator();
       instance && it != instance->end(); ++it)
    inside += (inside.empty() ? "" : ", ") + it.key() + "=" + constantText(it.value());
  return inside.empty() ? text : text + "[" + inside + "]";
}

tkc_status findKernelJson(const Json &document, const std::string &name, const tkc_const *consts,
                          size_t count, const Json *&out, tkc_error *err) {
  std::string all;
  size_t found = 0;
  for (const Json &kernel : document.at("kernels")) {
    all += (all.empty() ? "" : "; ") + titleOf(kernel);
    if (!matches(kernel, name, consts, count))
      continue;
    ++found;
    out = &kernel;
  }
  if (found == 1)
    return TKC_OK;
  return fail(err, found ? TKC_E_AMBIGUOUS : TKC_E_ARG,
              "%zu kernels match%s%s, needed one; there is: %s", found,
              name.empty() ? " (no name is given)" : " ", name.c_str(), all.c_str());
}

bool Candidate::hasVariant(int32_t index) const {
  return std::find(variants.begin(), variants.end(), static_cast<size_t>(index)) != variants.end();
}

Json Candidate::digests() const {
  std::set<std::string> all;
  const Json &images = source->document.at("images");
  for (size_t index : variants) {
    const Json *image = member(kernel->at("variants")[index], "image");
    size_t at = image && image->is_number_unsigned() ? image->get<size_t>() : images.size();
    if (at < images.size())
      if (const Json *digest = member(images[at], "sha256"))
        all.insert(constantText(*digest));
  }
  return all;
}

Json Candidate::instance() const {
  const Json *value = member(*kernel, "instance");
  return value ? *value : Json::object();
}

std::string Candidate::arch() const {
  if (variants.empty())
    return "";
  const Json *target = member(kernel->at("variants")[variants.front()], "target");
  const Json *arch = target ? member(*target, "arch") : nullptr;
  return arch ? constantText(*arch) : "";
}

static std::string idOf(const Json &variant) {
  const Json *id = member(variant, "config_id");
  return id && id->is_string() ? id->get<std::string>() : std::string();
}

static void nameInstance(Candidate &candidate) {
  Json instance = candidate.instance();
  for (auto it = instance.begin(); it != instance.end(); ++it) {
    candidate.constTexts.push_back(it.key());
    candidate.constTexts.push_back(constantText(it.value()));
  }
  for (size_t i = 0; i < candidate.constTexts.size(); i += 2)
    candidate.consts.push_back(
        {candidate.constTexts[i].c_str(), candidate.constTexts[i + 1].c_str()});
}

std::vector<Candidate> candidatesOf(std::shared_ptr<Source> source, const Json &kernel,
                                    bool asShipped) {
  std::vector<std::string> ids; // in the order of the variants
  const Json *variants = member(kernel, "variants");
  for (const Json &variant : variants ? *variants : Json::array())
    if (std::find(ids.begin(), ids.end(), idOf(variant)) == ids.end())
      ids.push_back(idOf(variant));
  if (asShipped && !ids.empty())
    ids.resize(1);
  std::vector<Candidate> result;
  for (const std::string &id : ids) {
    result.emplace_back();
    Candidate &candidate = result.back();
    candidate.source = source;
    candidate.kernel = &kernel;
    candidate.configId = id;
    candidate.isPinned = ids.size() > 1;
    for (size_t i = 0; i < variants->size(); ++i)
      if (asShipped || idOf((*variants)[i]) == id)
        candidate.variants.push_back(i);
    if (!candidate.variants.empty())
      if (const Json *config = member((*variants)[candidate.variants.front()], "config"))
        candidate.config = *config;
  }
  for (Candidate &candidate : result) // after the vector has stopped moving them
    nameInstance(candidate);
  return result;
}

/// An integer field, 0 when it is missing or null.
static int64_t numberOf(const Json *object, const char *key) {
  const Json *value = object ? member(*object, key) : nullptr;
  return value && value->is_number_integer() ? value->get<int64_t>() : 0;
}

static double valueOf(const Json *expr, const Plan &plan) {
  int64_t value = 0;
  return expr && plan.names.evaluate(*expr, "", value, nullptr) == TKC_OK
             ? static_cast<double>(value)
             : 0;
}

Footprint footprintOf(const Candidate &candidate, const Plan &plan) {
  Footprint result;
  for (size_t index : candidate.variants) {
    const Json &variant = candidate.kernel->at("variants")[index];
    const Json *resources = member(variant, "resources");
    result.registers = std::max(result.registers, numberOf(resources, "registers"));
    result.localBytes = std::max(result.localBytes, numberOf(resources, "local_bytes"));
    result.sharedBytes = std::max(result.sharedBytes, numberOf(resources, "shared_static") +
                                                          numberOf(resources, "shared_dynamic"));
    double threads = 1, blocks = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      threads *= valueOf(&variant.at("block").at(axis), plan);
      blocks *= valueOf(&variant.at("grid").at(axis), plan);
    }
    result.threads = std::max(result.threads, static_cast<int64_t>(threads));
    result.blocks = std::max(result.blocks, blocks);
  }
  if (const Json *cost = member(*candidate.kernel, "cost")) {
    result.flops = valueOf(member(*cost, "flops"), plan);
    result.bytes = valueOf(member(*cost, "bytes"), plan);
  }
  result.usesMatrixUnits =
      std::any_of(plan.args.begin(), plan.args.end(), [](const PlannedArg &arg) {
        return arg.kind == TKC_TENSOR && arg.type->bits <= 16;
      });
  return result;
}

/// Whether every value of `config` is that of `entry` (a record of `tune.configs`).
static bool isEntry(const Json &entry, const Json &config) {
  for (auto it = entry.begin(); it != entry.end(); ++it) {
    const Json *value = member(config, it.key().c_str());
    if (!value || *value != it.value())
      return false;
  }
  return true;
}

std::string whyPruned(const Candidate &candidate, const Plan &plan) {
  const Json *tune = member(*candidate.kernel, "tune");
  const Json *configs = tune ? member(*tune, "configs") : nullptr;
  const Json *prune = tune ? member(*tune, "prune") : nullptr;
  if (!configs || !prune)
    return "";
  for (size_t i = 0; i < configs->size() && i < prune->size(); ++i)
    if (isEntry((*configs)[i], candidate.config) && valueOf(&(*prune)[i], plan) != 0)
      return "the kernel's `prune` leaves it out: " + tkcrt::exprText((*prune)[i]);
  return "";
}

} // namespace tkctune
