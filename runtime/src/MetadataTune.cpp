//===- MetadataTune.cpp - reading keys and tables of tuning ----------------===//
#include "Error.h"
#include "Metadata.h"

#include <map>

namespace tkcrt {

constexpr size_t kMaxRecords = 65536;

static bool readRecord(Reader &reader, const Json &json, const KernelInfo &kernel,
                       TuneRecord &out) {
  const Json *key = nullptr, *dtypes = reader.find(json, "dtypes");
  if (!reader.isObject(json) || !reader.text(json, "arch", 1, 64, out.arch) ||
      !reader.text(json, "config_id", 0, 256, out.configId) ||
      !reader.integer(json, "sms", 1, INT32_MAX, out.sms) || !(key = reader.need(json, "key")))
    return false;
  if (reader.find(json, "memory_gib") &&
      !reader.integer(json, "memory_gib", 0, INT32_MAX, out.memoryGib))
    return false;
  if (dtypes && !dtypes->is_array())
    return reader.corrupt("dtypes is no array");
  Reader::Scope scope(reader, "key");
  if (!reader.isArray(*key, kernel.tune.key.size(), kernel.tune.key.size()))
    return false;
  out.key.resize(key->size());
  for (size_t i = 0; i < key->size(); ++i) {
    Reader::Scope at(reader, i);
    if (!reader.integer((*key)[i], INT64_MIN, INT64_MAX, out.key[i]))
      return false;
  }
  return true;
}

/// The types of all arguments, as records have them.
static Json dtypesOf(const KernelInfo &kernel) {
  Json names = Json::array();
  for (const ArgInfo &arg : kernel.args)
    names.push_back(arg.dtype->name);
  return names;
}

/// Of a table for many kernels: is the record another one's, by `kernel`, by the arguments' types or
/// by a value of `instance`?
static bool isOfAnother(Reader &reader, const Json &json, const KernelInfo &kernel) {
  const Json *name = reader.find(json, "kernel");
  if (name && *name != kernel.name)
    return true;
  const Json *dtypes = reader.find(json, "dtypes");
  if (dtypes && dtypes->is_array() && *dtypes != dtypesOf(kernel))
    return true;
  const Json *instance = reader.find(json, "instance");
  if (!instance || !instance->is_object())
    return false;
  for (const auto &[key, value] : instance->items()) {
    auto it = kernel.instance.find(key);
    std::string text = value.is_string()
                           ? value.get<std::string>()
                           : value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (it == kernel.instance.end() || it->second != text)
      return true;
  }
  return false;
}

static bool readRecords(Reader &reader, const Json &json, const KernelInfo &kernel,
                        std::vector<TuneRecord> &out) {
  if (!reader.isArray(json, 0, kMaxRecords))
    return false;
  for (size_t i = 0; i < json.size(); ++i) {
    Reader::Scope at(reader, i);
    if (isOfAnother(reader, json[i], kernel))
      continue;
    out.emplace_back();
    if (!readRecord(reader, json[i], kernel, out.back()))
      return false;
  }
  return true;
}

static bool readOnMiss(Reader &reader, const Json &json, TuneInfo &out) {
  static const std::map<std::string, TuneInfo::OnMiss> values = {
      {"default", TuneInfo::OnMiss::Default},
      {"nearest", TuneInfo::OnMiss::Nearest},
      {"error", TuneInfo::OnMiss::Error}};
  std::string text = "default";
  if (reader.find(json, "on_miss") && !reader.text(json, "on_miss", 1, 32, text))
    return false;
  auto it = values.find(text);
  if (it == values.end())
    return reader.corrupt("on_miss is \"%s\", needed default, nearest or error", text.c_str());
  out.onMiss = it->second;
  return true;
}

bool readTune(Reader &reader, const Json &json, NameTable &names, KernelInfo &kernel) {
  const Json *tune = reader.find(json, "tune");
  if (!tune)
    return true;
  Reader::Scope scope(reader, "tune");
  if (!reader.isObject(*tune) || !readOnMiss(reader, *tune, kernel.tune))
    return false;
  if (const Json *key = reader.find(*tune, "key")) {
    Reader::Scope at(reader, "key");
    if (!reader.isArray(*key, 0, kMaxTuneKeys))
      return false;
    Resolver resolve = names.resolver(reader);
    kernel.tune.key.resize(key->size());
    for (size_t i = 0; i < key->size(); ++i) {
      Reader::Scope entry(reader, i);
      if (!readTerm(reader, (*key)[i], resolve, kernel.code, kernel.tune.key[i]))
        return false;
    }
  }
  const Json *table = reader.find(*tune, "table");
  Reader::Scope at(reader, "table");
  return !table || readRecords(reader, *table, kernel, kernel.tune.table);
}

tkc_status parseTable(const char *text, size_t bytes, const KernelInfo &kernel,
                      std::vector<TuneRecord> &out, tkc_error *err) {
  Json json;
  if (tkc_status status = parseJson(text, bytes, json, err))
    return status;
  Reader reader(err);
  Reader::Scope scope(reader, "table");
  return readRecords(reader, json, kernel, out) ? TKC_OK : reader.status();
}

} // namespace tkcrt
