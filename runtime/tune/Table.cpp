//===- Table.cpp - what was found to be fast, for version control ----------===//
#include "Table.h"

#include "Error.h"
#include "Sha256.h"
#include "TableLookup.h"

#include <algorithm>

namespace tkctune {

using tkcrt::fail;
using tkcrt::Reader;

constexpr size_t kMaxRecords = 65536; // as the loader's

static bool checkRecord(Reader &reader, const Json &record) {
  std::string text;
  int64_t number = 0;
  if (!reader.isObject(record) || !reader.text(record, "kernel", 1, 128, text) ||
      !reader.text(record, "arch", 1, 64, text) ||
      !reader.text(record, "config_id", 0, 256, text) ||
      !reader.integer(record, "sms", 1, INT32_MAX, number) ||
      !reader.integer(record, "memory_gib", 0, INT32_MAX, number))
    return false;
  const Json *key = reader.need(record, "key");
  const Json *config = reader.need(record, "config");
  const Json *found = reader.need(record, "provenance");
  if (!key || !config || !found || !reader.isArray(*key, 0, 64) || !reader.isObject(*config) ||
      !reader.isObject(*found))
    return false;
  for (const Json &value : *key)
    if (!reader.integer(value, INT64_MIN, INT64_MAX, number))
      return false;
  const Json *microseconds = reader.need(*found, "us");
  if (!microseconds || (!microseconds->is_number() && !reader.corrupt("us is no number")))
    return false;
  return !found->contains("runner_up") ||
         (reader.isObject((*found)["runner_up"]) && (*found)["runner_up"].contains("us")) ||
         reader.corrupt("runner_up has no us");
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

/// What makes two records speak of the same launches.
static Json identityOf(const Json &record) {
  return {
      record["kernel"],     record.value("instance", Json::object()), record["arch"], record["sms"],
      record["memory_gib"], record.value("dtypes", Json()),           record["key"]};
}

static double timeOf(const Json &entry) {
  return entry["us"].get<double>();
}

static Json contender(const Json &record) {
  return {{"config_id", record["config_id"]}, {"us", record["provenance"]["us"]}};
}

/// The faster of two records for the same launches and shapes; the next fastest is its runner-up.
static Json faster(const Json &a, const Json &b) {
  bool takesA = std::make_pair(timeOf(a["provenance"]), a.dump()) <=
                std::make_pair(timeOf(b["provenance"]), b.dump());
  Json best = takesA ? a : b;
  const Json &other = takesA ? b : a;
  std::vector<Json> rest;
  if (other["config_id"] != best["config_id"])
    rest.push_back(contender(other));
  for (const Json *from : {&a, &b})
    if (from->at("provenance").contains("runner_up")) {
      const Json &next = from->at("provenance")["runner_up"];
      if (next.value("config_id", Json()) != best["config_id"])
        rest.push_back(next);
    }
  auto least = std::min_element(rest.begin(), rest.end(), [](const Json &x, const Json &y) {
    return std::make_pair(timeOf(x), x.dump()) < std::make_pair(timeOf(y), y.dump());
  });
  best["provenance"].erase("runner_up");
  if (least != rest.end())
    best["provenance"]["runner_up"] = *least;
  return best;
}

/// Records of different shapes can't be compared by time: the one that saw more shapes stays.
static Json better(const Json &a, const Json &b) {
  Json shapesA = a["provenance"].value("shapes", Json::array());
  Json shapesB = b["provenance"].value("shapes", Json::array());
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

/// Whether a record is this kernel's and of the device's arch.
static bool isAbout(const Json &record, const TableQuery &query) {
  return record["kernel"] == query.kernel && record["arch"] == query.arch &&
         record.value("instance", Json::object()) == query.instance &&
         record.value("dtypes", query.dtypes) == query.dtypes &&
         record["key"].size() == query.key.size();
}

/// The records that a launch on this device looks in, by key; the first of equal ones counts.
static std::map<Json, const Json *> candidatesFor(const Json &table, const TableQuery &query) {
  std::map<Json, const Json *> found;
  std::vector<const Json *> records;
  std::vector<tkcrt::TableDevice> devices;
  for (const Json &record : table)
    if (isAbout(record, query)) {
      records.push_back(&record);
      devices.push_back({record["sms"].get<int64_t>(), record["memory_gib"].get<int64_t>()});
    }
  for (size_t i :
       tkcrt::recordsFor(devices, {query.sms, query.memoryGib}, query.onMiss == "nearest"))
    found.emplace((*records[i])["key"], records[i]);
  return found;
}

static std::string deviceText(const Json &sms, const Json &memoryGib) {
  return sms.dump() + " SMs, " + memoryGib.dump() + " GiB";
}

const Json *findRecord(const Json &table, const TableQuery &query, std::string &reason) {
  const std::map<Json, const Json *> candidates = candidatesFor(table, query);
  std::string here = deviceText(query.sms, query.memoryGib);
  if (candidates.empty()) {
    reason = "no record is for this kernel, instance and device (" + query.arch + ", " + here + ")";
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
  std::string measured = deviceText((*nearest)["sms"], (*nearest)["memory_gib"]);
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
