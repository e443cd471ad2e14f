//===- Link.cpp - many bundles become one ----------------------------------------------===//
//
// Kernels and variants are collected by what names them, compared where they meet, and sorted by
// what they are: nothing remembers which input came first.
//
//===----------------------------------------------------------------------===//

#include "bundle/Link.h"
#include "backends/metadata/Metadata.h"
#include "backends/target/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace {

struct LinkedVariant {
  Object variant;
  std::string imageSha, input;
};

struct LinkedKernel {
  Object kernel; // without variants, and without `tune.table`
  std::string input;
  std::vector<LinkedVariant> variants;
  std::map<std::string, Value> table; // by what a record is for
};

class Linker {
public:
  bool add(LinkInput &input);
  Bundle finish();
  LinkConflict conflict;

private:
  bool addKernel(const std::string &input, Object kernel, const std::vector<std::string> &shas);
  bool addVariant(LinkedKernel &kernel, LinkedVariant variant);
  void addProducer(const Object &producer);
  Object finishKernel(LinkedKernel &kernel, std::map<std::string, int64_t> &imageIndex,
                      std::vector<std::string> &imageOrder);
  Object finishProducer() const;
  bool differ(const std::string &first, const std::string &second, std::string what) {
    conflict = {first, second, std::move(what)};
    return false;
  }

  std::map<std::pair<std::string, std::string>, LinkedKernel>
      kernels;                                                 // by name and order of instance
  std::map<std::string, std::pair<Value, std::string>> images; // by digest: entry, bytes
  std::set<std::string> needs;
  std::map<std::string, std::map<std::string, Value>> producer; // field: values by their text
};

} // namespace

static std::string textOf(const Value &value) {
  return printJson(value, /*compact=*/true);
}

/// A text whose order is that of the values: numbers by size.
static std::string sortKey(const Object &instance) {
  std::map<std::string, std::string> fields;
  for (const auto &entry : instance) {
    auto integer = entry.second.getAsInteger();
    // Shifted to be positive, with all digits.
    std::string number = integer ? llvm::utostr(uint64_t(*integer) ^ (uint64_t(1) << 63)) : "";
    fields[entry.first.str()] =
        integer ? std::string(20 - number.size(), '0') + number : textOf(entry.second);
  }
  std::string key;
  for (const auto &[name, value] : fields)
    key += name + "=" + value + ";";
  return key;
}

/// The first field, by name, in which two objects differ; empty when they are equal.
static std::string differingField(const Object &a, const Object &b) {
  std::set<std::string> names;
  for (const Object *object : {&a, &b})
    for (const auto &entry : *object)
      names.insert(entry.first.str());
  for (const std::string &name : names) {
    const Value *x = a.get(name), *y = b.get(name);
    if (!x || !y || *x != *y)
      return name;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

bool Linker::addVariant(LinkedKernel &kernel, LinkedVariant variant) {
  std::string name = kernel.kernel.getString("kernel")->str();
  StringRef id = *variant.variant.getString("id");
  for (const LinkedVariant &other : kernel.variants) {
    if (*other.variant.getString("id") != id)
      continue;
    Object mine = variant.variant, known = other.variant;
    mine.erase("default_rank"); // numbered anew
    known.erase("default_rank");
    std::string field = differingField(mine, known);
    if (field.empty() && variant.imageSha != other.imageSha)
      field = "image";
    if (field.empty())
      return true;
    return differ(other.input, variant.input,
                  llvm::formatv("variant `{0}` of kernel `{1}` is in both, and `{2}` differs", id,
                                name, field));
  }
  kernel.variants.push_back(std::move(variant));
  if (kernel.variants.size() <= bundle_format::kMaxVariants)
    return true;
  return differ(
      kernel.input, kernel.variants.back().input,
      llvm::formatv("kernel `{0}` gets more than {1} variants: each target, configuration and fact of @variants makes some",
                    name, bundle_format::kMaxVariants));
}

bool Linker::addKernel(const std::string &input, Object kernel,
                       const std::vector<std::string> &shas) {
  Array variants = std::move(*kernel.getArray("variants"));
  kernel.erase("variants");
  Array table;
  if (Object *tune = kernel.getObject("tune"))
    if (Array *records = tune->getArray("table")) {
      table = std::move(*records);
      tune->erase("table");
    }
  std::string name = kernel.getString("kernel")->str();
  auto [it, isNew] = kernels.try_emplace({name, sortKey(*kernel.getObject("instance"))});
  LinkedKernel &linked = it->second;
  if (isNew) {
    linked.kernel = std::move(kernel);
    linked.input = input;
  } else if (std::string field = differingField(linked.kernel, kernel); !field.empty())
    return differ(linked.input, input, llvm::formatv("`{0}` of kernel `{1}` differs", field, name));
  for (Value &record : table) {
    Object key = record.getAsObject() ? *record.getAsObject() : Object();
    key.erase("config_id");
    auto [known, isNew] = linked.table.try_emplace(textOf(std::move(key)), record);
    if (!isNew && known->second != record)
      return differ(linked.input, input, "`tune.table` of kernel `" + name + "` differs");
  }
  for (Value &value : variants) {
    Object variant = std::move(*value.getAsObject());
    std::string sha = shas[size_t(*variant.getInteger("image"))];
    variant.erase("image");
    if (!addVariant(linked, {std::move(variant), sha, input}))
      return false;
  }
  return true;
}

void Linker::addProducer(const Object &made) {
  for (const auto &entry : made) {
    std::map<std::string, Value> &known = producer[entry.first.str()];
    if (const Array *list = entry.second.getAsArray())
      for (const Value &value : *list)
        known.try_emplace(textOf(value), value);
    else if (std::optional<StringRef> text = entry.second.getAsString())
      for (StringRef part : llvm::split(*text, ", ")) // a text of ours that was joined before
        known.try_emplace(textOf(part), part);
    else
      known.try_emplace(textOf(entry.second), entry.second);
  }
}

bool Linker::add(LinkInput &input) {
  Bundle &bundle = input.bundle;
  std::vector<std::string> shas;
  for (auto [i, bytes] : llvm::enumerate(bundle.images)) {
    shas.push_back(sha256Hex(bytes));
    images.try_emplace(shas.back(), Value(Object(bundle.imageEntry(i))), std::move(bytes));
  }
  if (const Array *features = bundle.document.getArray("needs"))
    for (const Value &feature : *features)
      needs.insert(feature.getAsString().value_or("").str());
  if (const Object *made = bundle.document.getObject("producer"))
    addProducer(*made);
  for (Value &value : bundle.kernels())
    if (!addKernel(input.name, std::move(*value.getAsObject()), shas))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Putting in order
//===----------------------------------------------------------------------===//

/// Machine code before what a driver compiles, `cpu` last. Of chips of one family that run each
/// other's code the newest comes first: what is tried first is what fits best.
static int targetRank(const Object &target) {
  StringRef arch = *target.getString("arch"), vendor = *target.getString("vendor");
  constexpr int kPtx = 1 << 12, kUnknown = 1 << 10, kCpu = 1 << 14;
  if (vendor == "cpu")
    return kCpu;
  bool ptx = arch.consume_front("compute_");
  std::string name = ptx ? "sm_" + arch.str() : arch.str();
  int rank = kUnknown;
  for (auto [i, known] : llvm::enumerate(allTargets()))
    if (known.name == name)
      rank = int(allTargets().size() - i);
  return rank + (ptx ? kPtx : 0);
}

/// The first of `tune.configs` that says nothing else than `config`; beyond the last for none.
static size_t configRank(const Object &kernel, const Object &config) {
  const Object *tune = kernel.getObject("tune");
  const Array *configs = tune ? tune->getArray("configs") : nullptr;
  size_t rank = 0;
  for (const Value &value : configs ? *configs : Array()) {
    const Object *wanted = value.getAsObject();
    bool same = wanted && llvm::all_of(*wanted, [&](const auto &entry) {
                  const Value *mine = config.get(entry.first);
                  return mine && *mine == entry.second;
                });
    if (same)
      break;
    ++rank;
  }
  return rank;
}

/// "the default first, guarded before unguarded"
static auto orderOf(const Object &kernel, const Object &variant) {
  const Object &target = *variant.getObject("target");
  return std::tuple(targetRank(target), target.getString("arch")->str(),
                    configRank(kernel, *variant.getObject("config")),
                    variant.getString("config_id").value_or("").str(),
                    variant.getArray("when")->empty(),
                    variant.getInteger("default_rank").value_or(0), variant.getString("id")->str());
}

Object Linker::finishKernel(LinkedKernel &linked, std::map<std::string, int64_t> &imageIndex,
                            std::vector<std::string> &imageOrder) {
  llvm::sort(linked.variants, [&](const LinkedVariant &a, const LinkedVariant &b) {
    return orderOf(linked.kernel, a.variant) < orderOf(linked.kernel, b.variant);
  });
  Array variants;
  for (LinkedVariant &linkedVariant : linked.variants) {
    Object &variant = linkedVariant.variant;
    auto [it, isNew] = imageIndex.try_emplace(linkedVariant.imageSha, int64_t(imageOrder.size()));
    if (isNew)
      imageOrder.push_back(linkedVariant.imageSha);
    variant["image"] = it->second;
    variant["default_rank"] = int64_t(variants.size());
    variants.push_back(std::move(variant));
  }
  linked.kernel["variants"] = std::move(variants);
  if (!linked.table.empty()) {
    Array table;
    for (auto &[text, record] : linked.table)
      table.push_back(std::move(record));
    (*linked.kernel.getObject("tune"))["table"] = std::move(table);
  }
  return std::move(linked.kernel);
}

/// One value where all agree; several compilers joined in a text, several assemblers in a list.
Object Linker::finishProducer() const {
  Object result;
  for (const auto &[field, values] : producer) {
    Array list;
    std::string joined;
    for (const auto &[text, value] : values) {
      list.push_back(value);
      joined += (joined.empty() ? "" : ", ") + value.getAsString().value_or("").str();
    }
    bool text = field == "tkc" || field == "llvm";
    if (text)
      result[field] = joined;
    else if (field == "assembler" && list.size() == 1)
      result[field] = list.front();
    else
      result[field] = std::move(list);
  }
  for (StringRef field : {"inputs", "linked"})
    if (!result.get(field))
      result[field] = Array();
  return result;
}

Bundle Linker::finish() {
  Bundle bundle;
  Array list, features, entries;
  std::map<std::string, int64_t> imageIndex;
  std::vector<std::string> imageOrder;
  for (auto &[name, kernel] : kernels)
    list.push_back(finishKernel(kernel, imageIndex, imageOrder));
  for (const std::string &sha : imageOrder) {
    auto &[entry, bytes] = images.at(sha);
    entries.push_back(std::move(entry));
    bundle.images.push_back(std::move(bytes));
  }
  for (const std::string &feature : needs)
    features.push_back(feature);
  bundle.document["schema"] = "tkc.kernel/1.0";
  bundle.document["needs"] = std::move(features);
  bundle.document["producer"] = finishProducer();
  bundle.document["images"] = std::move(entries);
  bundle.document["kernels"] = std::move(list);
  return bundle;
}

std::optional<Bundle> tk::linkBundles(std::vector<LinkInput> inputs, LinkConflict &conflict) {
  Linker linker;
  for (LinkInput &input : inputs)
    if (!linker.add(input)) {
      conflict = std::move(linker.conflict);
      return std::nullopt;
    }
  return linker.finish();
}
