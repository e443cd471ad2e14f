//===- Table.cpp - what was found to be fast, for version control ----------===//
#include "Table.h"

#include "Error.h"
#include "Sha256.h"
#include "TableLookup.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tkctune {

using tkcrt::fail;
using tkcrt::Reader;

constexpr size_t kMaxRecords = 65536; // as the loader's

static bool checkTime(Reader &reader, const Json &object) {
  const Json *microseconds = reader.find(object, "us");
  return !microseconds || microseconds->is_number() || reader.corrupt("us is no number");
}

static bool checkProvenance(Reader &reader, const Json &found) {
  Reader::Scope scope(reader, "provenance");
  if (!reader.isObject(found) || !checkTime(reader, found))
    return false;
  const Json *next = reader.find(found, "runner_up");
  Reader::Scope at(reader, "runner_up");
  return !next || (reader.isObject(*next) && reader.need(*next, "us") && checkTime(reader, *next));
}

/// Needs what the loader and `tkc --tuned` need; of all else, the form.
static bool checkRecord(Reader &reader, const Json &record) {
  std::string text;
  int64_t number = 0;
  if (!reader.isObject(record) || !reader.text(record, "arch", 1, 64, text) ||
      !reader.text(record, "config_id", 0, 256, text) ||
      !reader.integer(record, "sms", 1, INT32_MAX, number))
    return false;
  if ((reader.find(record, "kernel") && !reader.text(record, "kernel", 1, 128, text)) ||
      (reader.find(record, "memory_gib") &&
       !reader.integer(record, "memory_gib", 0, INT32_MAX, number)))
    return false;
  for (const char *field : {"instance", "config"})
    if (const Json *value = reader.find(record, field); value && !reader.isObject(*value))
      return false;
  const Json *key = reader.need(record, "key"), *found = reader.find(record, "provenance");
  if (!key || !reader.isArray(*key, 0, 64) || (found && !checkProvenance(reader, *found)))
    return false;
  for (const Json &value : *key)
    if (!reader.integer(value, INT64_MIN, INT64_MAX, number))
      return false;
  return true;
}

tkc_status parseTable(const std::string &text, Json &table, tkc_error *err) {
  if (tkc_status status = tkcrt::parseJson(text.data(), text.size(), table, err))
    return status;
  Reader reader(err);
  Reader::Scope scope(reader, "table");
  if (!reader.isArray(table, 0, kMaxRecords))
    return reader.status();
  for (size_t i = 0; i < table.size(); ++i) {
    Reader::Scope at(reader, i);
    if (!checkRecord(reader, table[i]))
      return reader.status();
  }
  return TKC_OK;
}

/// The member; null counts as missing.
static Json valueOr(const Json &record, const char *field, Json missing) {
  auto it = record.find(field);
  return it == record.end() || it->is_null() ? missing : *it;
}

/// 0: of any memory.
static int64_t memoryOf(const Json &record) {
  return valueOr(record, "memory_gib", 0).get<int64_t>();
}

static Json provenanceOf(const Json &record) {
  return valueOr(record, "provenance", Json::object());
}

/// What makes two records speak of the same launches.
static Json identityOf(const Json &record) {
  return Json::array({valueOr(record, "kernel", {}), valueOr(record, "instance", Json::object()),
                      record["arch"], record["sms"], memoryOf(record),
                      valueOr(record, "dtypes", {}), record["key"]});
}

/// Who names no time, as a record that was written by hand, is behind all who do.
static double timeOf(const Json &entry) {
  Json microseconds = valueOr(entry, "us", {});
  return microseconds.is_null() ? std::numeric_limits<double>::infinity()
                                : microseconds.get<double>();
}

/// Who could be next to `best`, of a record and its runner-up.
static void addContenders(const Json &record, const Json &best, std::vector<Json> &out) {
  Json found = provenanceOf(record);
  Json own = {{"config_id", record["config_id"]}, {"us", valueOr(found, "us", {})}};
  for (const Json &entry : {own, valueOr(found, "runner_up", Json::object())})
    if (!std::isinf(timeOf(entry)) && entry.value("config_id", Json()) != best["config_id"])
      out.push_back(entry);
}

/// The faster of two records for the same launches and shapes; the next fastest is its runner-up.
static Json faster(const Json &a, const Json &b) {
  bool takesA = std::make_pair(timeOf(provenanceOf(a)), a.dump()) <=
                std::make_pair(timeOf(provenanceOf(b)), b.dump());
  Json best = takesA ? a : b, found = provenanceOf(best);
  std::vector<Json> rest;
  addContenders(a, best, rest);
  addContenders(b, best, rest);
  auto least = std::min_element(rest.begin(), rest.end(), [](const Json &x, const Json &y) {
    return std::make_pair(timeOf(x), x.dump()) < std::make_pair(timeOf(y), y.dump());
  });
  found.erase("runner_up");
  if (least != rest.end())
    found["runner_up"] = *least;
  if (!found.empty())
    best["provenance"] = found;
  return best;
}

/// Records of different shapes can't be compared by time: the one that saw more shapes stays.
static Json better(const Json &a, const Json &b) {
  Json shapesA = valueOr(provenanceOf(a), "shapes", Json::array());
  Json shapesB = valueOr(provenanceOf(b), "shapes", Json::array());
  if (shapesA == shapesB)
    return faster(a, b);
  auto rank = [](const Json &record, const Json &shapes) {
    return std::make_pair(shapes.size(), record.dump());
  };
  return rank(a, shapesA) > rank(b, shapesB) ? a : b;
}

Json mergeRecords(const Json &records) {
  std::map<Json, std::vector<Json>> groups;
  for (const Json &record : records)
    groups[identityOf(record)].push_back(record);
  Json result = Json::array();
  for (auto &group : groups) {
    // In one order, so that the outcome does not depend on who comes first.
    std::sort(group.second.begin(), group.second.end());
    Json best = group.second.front();
    for (size_t i = 1; i < group.second.size(); ++i)
      best = better(best, group.second[i]);
    result.push_back(best);
  }
  return result;
}

std::string printTable(const Json &table) {
  std::string text = "[";
  const char *before = "\n";
  for (const Json &record : table) {
    text += before + record.dump(-1, ' ', false, Json::error_handler_t::replace);
    before = ",\n";
  }
  return text + "\n]\n";
}

/// As -D has a compile-time value.
static std::string wordOf(const Json &value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// Whether a record is this kernel's; it may name some values of the instance, or none.
static bool isAbout(const Json &record, const TableQuery &query) {
  if (valueOr(record, "kernel", query.kernel) != query.kernel ||
      valueOr(record, "dtypes", query.dtypes) != query.dtypes)
    return false;
  const Json instance = valueOr(record, "instance", Json::object());
  for (const auto &[name, value] : instance.items())
    if (!query.instance.contains(name) || wordOf(query.instance[name]) != wordOf(value))
      return false;
  return true;
}

tkc_status checkKeys(const Json &table, const TableQuery &query, tkc_error *err) {
  Reader reader(err);
  Reader::Scope scope(reader, "table");
  for (size_t i = 0; i < table.size(); ++i) {
    size_t length = table[i]["key"].size();
    if (length == query.key.size() || !isAbout(table[i], query))
      continue;
    Reader::Scope at(reader, i);
    Reader::Scope member(reader, "key");
    reader.corrupt("found %zu values, that of @tune of kernel `%s` has %zu", length,
                   query.kernel.c_str(), query.key.size());
    return reader.status();
  }
  return TKC_OK;
}

/// The records that a launch on this device looks in, by key; the first of equal ones counts.
static std::map<Json, const Json *> candidatesFor(const Json &table, const TableQuery &query) {
  std::map<Json, const Json *> found;
  std::vector<const Json *> records;
  std::vector<tkcrt::TableDevice> devices;
  for (const Json &record : table)
    if (record["arch"] == query.arch && isAbout(record, query)) {
      records.push_back(&record);
      devices.push_back({record["sms"].get<int64_t>(), memoryOf(record)});
    }
  for (size_t i :
       tkcrt::recordsFor(devices, {query.sms, query.memoryGib}, query.onMiss == "nearest"))
    found.emplace((*records[i])["key"], records[i]);
  return found;
}

static std::string deviceText(int64_t sms, int64_t memoryGib) {
  return std::to_string(sms) + " SMs" +
         (memoryGib ? ", " + std::to_string(memoryGib) + " GiB" : "");
}

/// "add[BLOCK=64, T=f32]"
static std::string kernelText(const TableQuery &query) {
  std::string values;
  for (const auto &[name, value] : query.instance.items())
    values += (values.empty() ? "" : ", ") + name + "=" + wordOf(value);
  return query.kernel + (values.empty() ? "" : "[" + values + "]");
}

const Json *findRecord(const Json &table, const TableQuery &query, std::string &reason) {
  const std::map<Json, const Json *> candidates = candidatesFor(table, query);
  std::string here = deviceText(query.sms, query.memoryGib);
  if (candidates.empty()) {
    reason = "no record is for `" + kernelText(query) + "` on " + query.arch + ", " + here;
    return nullptr;
  }
  const Json *nearest = nullptr;
  double least = 0;
  auto exact = candidates.find(Json(query.key));
  if (exact != candidates.end())
    nearest = exact->second;
  for (const auto &entry : candidates) {
    std::vector<int64_t> key = entry.first.get<std::vector<int64_t>>();
    double away = tkcrt::keyDistance(key.data(), query.key.data(), key.size());
    if (exact == candidates.end() && (!nearest || away < least)) {
      nearest = entry.second;
      least = away;
    }
  }
  int64_t memoryGib = memoryOf(*nearest);
  std::string measured = deviceText((*nearest)["sms"].get<int64_t>(),
                                    memoryGib ? memoryGib : query.memoryGib); // of any: of this
  std::string device = measured == here ? "" : ", measured with " + measured;
  if ((*nearest)["key"] == query.key) {
    reason = "the record's key is the shape's" + device;
    return nearest;
  }
  reason = "none of the " + std::to_string(candidates.size()) +
           " records for this device has the key " + Json(query.key).dump();
  if (query.onMiss != "nearest")
    return nullptr;
  reason += "; on_miss=nearest takes the one at " + (*nearest)["key"].dump() + device;
  return nearest;
}

std::string spaceHash(const Json &tune) {
  std::vector<std::string> configs;
  for (const Json &config : tune.value("configs", Json::array()))
    configs.push_back(config.dump());
  std::sort(configs.begin(), configs.end()); // their order says nothing
  std::string text = Json({tune.value("key", Json::array()), configs}).dump();
  return tkcrt::toHex(tkcrt::sha256(text.data(), text.size())).substr(0, 16);
}

} // namespace tkctune
