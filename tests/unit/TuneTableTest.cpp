//===- TuneTableTest.cpp - tables, shards and who wins ---------------------===//
#include "TuneFixture.h"
#include "runtime/tune/Table.h"

#include <algorithm>

using namespace tkctune;
using Catch::Matchers::Contains;

static Json record(const char *config, double us, const Json &key = Json::array({4096}),
                   const Json &shapes = Json::array({{{"N", "4096"}}})) {
  return {{"kernel", "scale"},
          {"instance", {{"T", "f32"}}},
          {"arch", "sm_90a"},
          {"sms", 132},
          {"memory_gib", 141},
          {"dtypes", {"f32", "f32"}},
          {"key", key},
          {"config", {{"B", 64}}},
          {"config_id", config},
          {"space_hash", "1"},
          {"provenance", {{"us", us}, {"shapes", shapes}}}};
}

static Json parsed(const std::string &text) {
  Json table;
  tkc_error err{};
  err.size = sizeof(err);
  tkc_status status = parseTable(text, table, &err);
  INFO(err.text);
  REQUIRE(status == TKC_OK);
  return table;
}

TEST_CASE("a table is one record a line, in one order, and reads back", "[tune]") {
  Json table = mergeRecords(
      {record("B64.w4", 10, Json::array({8192})), record("B64.w4", 10, Json::array({64}))});
  std::string text = printTable(table);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.find("[64]") < text.find("[8192]"));
  CHECK(parsed(text) == table);
  CHECK(printTable(Json::array()) == "[\n]\n");
  CHECK(parsed("[]").empty());
}

TEST_CASE("malformed tables are refused with the place", "[tune]") {
  Json table;
  tkc_error err{};
  err.size = sizeof(err);
  auto refused = [&](const Json &bad) {
    CHECK(parseTable(bad.dump(), table, &err) == TKC_E_CORRUPT);
    return std::string(err.text);
  };
  CHECK_THAT(refused({{"records", 1}}), Contains("needed an array"));
  Json bad = record("B64.w4", 10);
  bad["key"] = Json::array({"x"});
  CHECK_THAT(refused({record("a", 1), bad}), Contains("table[1]"));
  bad = record("B64.w4", 10);
  bad["provenance"]["us"] = "10";
  refused(Json::array({bad}));
  bad["provenance"] = {{"us", 1}, {"runner_up", 3}};
  refused(Json::array({bad}));
  bad["provenance"] = {{"us", 1}, {"runner_up", {{"config_id", "b"}}}};
  CHECK_THAT(refused(Json::array({bad})), Contains("provenance.runner_up"));
  for (auto [field, value] : {std::pair<const char *, Json>{"kernel", 1},
                              {"memory_gib", "80"},
                              {"instance", "f32"},
                              {"config", 1},
                              {"provenance", 1}}) {
    bad = record("B64.w4", 10);
    bad[field] = value;
    refused(Json::array({bad}));
  }
  for (const char *field : {"arch", "sms", "key", "config_id"}) {
    bad = record("B64.w4", 10);
    bad.erase(field);
    CHECK_THAT(refused(Json::array({bad})), Contains(field));
  }
  CHECK(parseTable("[{]", table, &err) == TKC_E_CORRUPT);
}

TEST_CASE("merging keeps the fastest and the next, in whatever order", "[tune]") {
  std::vector<Json> records = {record("A", 12), record("B", 10), record("C", 11), record("B", 10.5),
                               record("A", 9, Json::array({64}))};
  records[0]["provenance"]["runner_up"] = {{"config_id", "D"}, {"us", 10.2}};
  std::sort(records.begin(), records.end());
  Json first = mergeRecords(records);
  do
    CHECK(mergeRecords(records) == first);
  while (std::next_permutation(records.begin(), records.end()));
  REQUIRE(first.size() == 2);
  CHECK(first[1]["config_id"] == "B");
  CHECK(first[1]["provenance"]["us"] == 10);
  CHECK(first[1]["provenance"]["runner_up"]["config_id"] == "D");
  CHECK(mergeRecords(first) == first);
  // Pair by pair it comes to the same.
  Json stepwise = Json::array();
  for (const Json &entry : records) {
    stepwise.push_back(entry);
    stepwise = mergeRecords(stepwise);
  }
  CHECK(stepwise == first);
}

TEST_CASE("of records that saw different shapes the one that saw more stays", "[tune]") {
  Json two = record("A", 20, Json::array({4096}), {{{"N", "4000"}}, {{"N", "4096"}}});
  CHECK(mergeRecords({record("B", 10), two})[0]["config_id"] == "A");
  CHECK(mergeRecords({two, record("B", 10)})[0]["config_id"] == "A");
}

static TableQuery query(int64_t n, const char *onMiss) {
  TableQuery result;
  result.kernel = "scale";
  result.arch = "sm_90a";
  result.instance = {{"T", "f32"}};
  result.dtypes = {"f32", "f32"};
  result.sms = 132;
  result.memoryGib = 141;
  result.key = {n};
  result.onMiss = onMiss;
  return result;
}

TEST_CASE("a lookup says which record won and why", "[tune]") {
  Json table =
      mergeRecords({record("A", 1, Json::array({64})), record("B", 2, Json::array({4096}))});
  std::string why;
  REQUIRE(findRecord(table, query(4096, "default"), why));
  CHECK((*findRecord(table, query(4096, "default"), why))["config_id"] == "B");
  CHECK_THAT(why, Contains("the record's key is the shape's"));
  CHECK_FALSE(findRecord(table, query(2048, "default"), why));
  CHECK_THAT(why, Contains("none of the 2 records for this device has the key [2048]"));
  CHECK((*findRecord(table, query(2048, "nearest"), why))["config_id"] == "B");
  CHECK((*findRecord(table, query(1, "nearest"), why))["config_id"] == "A");
  TableQuery other = query(64, "default");
  other.sms = 114;
  CHECK_FALSE(findRecord(table, other, why));
  CHECK_THAT(why, Contains("114 SMs"));
  other = query(64, "nearest");
  other.instance = {{"T", "f16"}};
  CHECK_FALSE(findRecord(table, other, why));
}

/// What nobody measured: only what says when a launch takes it.
static Json shortRecord(const char *config) {
  return {{"arch", "sm_90a"}, {"sms", 132}, {"key", {4096}}, {"config_id", config}};
}

TEST_CASE("a record may name what a launch is looked up by alone", "[tune]") {
  std::string why;
  Json table = parsed(Json::array({shortRecord("A")}).dump());
  REQUIRE(findRecord(table, query(4096, "default"), why));
  CHECK(why == "the record's key is the shape's"); // of any memory: of this one
  table[0]["instance"] = Json::object();
  CHECK(findRecord(table, query(4096, "default"), why));
  table[0]["kernel"] = "other";
  CHECK_FALSE(findRecord(table, query(4096, "default"), why));
}

TEST_CASE("a record may be about some values of an instance", "[tune]") {
  std::string why;
  Json some = shortRecord("A");
  some["instance"] = {{"T", "f32"}};
  TableQuery wanted = query(4096, "default");
  wanted.instance = {{"T", "f32"}, {"D", 64}};
  CHECK(findRecord(Json::array({some}), wanted, why));
  some["instance"]["D"] = "64"; // as a caller writes it
  CHECK(findRecord(Json::array({some}), wanted, why));
  some["instance"]["D"] = 128;
  CHECK_FALSE(findRecord(Json::array({some}), wanted, why));
  CHECK(why == "no record is for `scale[D=64, T=f32]` on sm_90a, 132 SMs, 141 GiB");
}

TEST_CASE("merging takes a record that was timed before one that was not", "[tune]") {
  Json timed = shortRecord("B"), next = shortRecord("C");
  timed["provenance"]["us"] = 10;
  next["provenance"]["us"] = 11;
  Json merged = mergeRecords({shortRecord("A"), next, timed});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0]["config_id"] == "B");
  CHECK(merged[0]["provenance"]["runner_up"]["config_id"] == "C");
  CHECK(mergeRecords({shortRecord("A"), shortRecord("A")}) == Json::array({shortRecord("A")}));
}

TEST_CASE("a record of this kernel whose key has another length is refused", "[tune]") {
  tkc_error err{};
  err.size = sizeof(err);
  Json table = {shortRecord("A"), shortRecord("B")};
  CHECK(checkKeys(table, query(64, "default"), &err) == TKC_OK);
  table[1]["key"] = {1, 2, 3};
  CHECK(checkKeys(table, query(64, "default"), &err) == TKC_E_CORRUPT);
  CHECK_THAT(err.text,
             Contains("table[1].key: found 3 values, that of @tune of kernel `scale` has 1"));
  table[1]["kernel"] = "other";
  CHECK(checkKeys(table, query(64, "default"), &err) == TKC_OK);
}

TEST_CASE("on_miss=nearest goes by the nearest device, then by the key", "[tune]") {
  Json near = record("B", 1, Json::array({64})), far = record("A", 1, Json::array({4096}));
  near["sms"] = 114;
  far["sms"] = 66;
  Json small = near;
  small["memory_gib"] = 80;
  small["config_id"] = "S";
  Json table = mergeRecords({near, far, small});
  std::string why;
  REQUIRE(findRecord(table, query(4096, "nearest"), why));
  CHECK((*findRecord(table, query(4096, "nearest"), why))["config_id"] == "B");
  CHECK_THAT(why, Contains("takes the one at [64], measured with 114 SMs, 141 GiB"));
  CHECK_FALSE(findRecord(table, query(64, "default"), why));
  TableQuery other = query(64, "nearest");
  other.memoryGib = 79;
  CHECK((*findRecord(table, other, why))["config_id"] == "S");
  CHECK_THAT(why, Contains("the record's key is the shape's, measured with 114 SMs, 80 GiB"));
}

TEST_CASE("the space's hash sees values, not their order", "[tune]") {
  Json a = {{"key", {"N"}}, {"configs", {{{"B", 64}}, {{"B", 128}}}}};
  Json b = {{"key", {"N"}}, {"configs", {{{"B", 128}}, {{"B", 64}}}}};
  CHECK(spaceHash(a) == spaceHash(b));
  CHECK(spaceHash(a).size() == 16);
  b["configs"][0]["B"] = 256;
  CHECK(spaceHash(a) != spaceHash(b));
}

/// The table of three configurations over these shapes, or of a shard of that.
static TuneJson tuned(const std::vector<std::string> &shapes, uint32_t shard = 0,
                      uint32_t shards = 0) {
  VirtualGpu gpu;
  gpu.noise = 0;
  gpu.duration = [](const VirtualGpu::Launch &launch) {
    // Small blocks win for little work, large ones for much.
    return launch.blocks() * 0.5 + (launch.symbol == "scale_B64"    ? 2
                                    : launch.symbol == "scale_B128" ? 6
                                                                    : 10);
  };
  TunerUnderTest tuner(gpu);
  tuner.desc.shard = shard;
  tuner.desc.shards = shards;
  tuner.desc.margin = 100;
  tuner.desc.producer = "tkc 0.1.0";
  for (int block : {64, 128, 256})
    REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
  for (const std::string &n : shapes) {
    tkc_status status = tuner.shape({{"N", n}});
    INFO(tuner.text());
    REQUIRE(status == TKC_OK);
  }
  return tuner.table();
}

TEST_CASE("a table names configurations by value, for bucketed shapes", "[tune]") {
  TuneJson table = tuned({"128", "4000", "4096"});
  REQUIRE(table.size() == 2);
  CHECK(table[0]["key"] == TuneJson::array({128}));
  CHECK(table[0]["config_id"] == "B64.w4");
  CHECK(table[1]["key"] == TuneJson::array({4096}));
  CHECK(table[1]["config"] == TuneJson({{"B", 256}, {"warps", 4}}));
  CHECK(table[1]["arch"] == "sm_90a");
  CHECK(table[1]["sms"] == 132);
  CHECK(table[1]["memory_gib"] == 141);
  CHECK(table[1]["provenance"]["shapes"].size() == 2);
  CHECK(table[1]["provenance"]["runner_up"]["config_id"] == "B128.w4");
  CHECK(table[1]["provenance"]["compiler"] == "tkc 0.1.0");
}

TEST_CASE("who was given up is still the runner-up", "[tune]") {
  VirtualGpu gpu;
  gpu.microseconds = {{"scale_B64", 10}, {"scale_B128", 30}};
  TunerUnderTest tuner(gpu);
  for (int block : {64, 128})
    REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
  REQUIRE(tuner.shape({{"N", "4096"}}) == TKC_OK);
  TuneJson record = tuner.table().at(0);
  CHECK(record["config_id"] == "B64.w4");
  REQUIRE(record["provenance"].contains("runner_up"));
  CHECK(record["provenance"]["runner_up"]["us"].get<double>() == Approx(30).epsilon(0.03));
}

TEST_CASE("shards, merged, give the whole sweep's table", "[tune]") {
  std::vector<std::string> shapes = {"128", "4096", "65536"};
  TuneJson whole = tuned(shapes);
  Json parts = Json::array();
  size_t most = 0;
  for (uint32_t shard = 1; shard <= 4; ++shard) {
    TuneJson part = tuned(shapes, shard, 4);
    most = std::max(most, part.size());
    for (const TuneJson &entry : part)
      parts.push_back(entry);
  }
  CHECK(most <= 3);
  Json merged = mergeRecords(parts);
  REQUIRE(merged.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(merged[i]["config_id"] == whole[i]["config_id"]);
    CHECK(merged[i]["provenance"]["us"] == whole[i]["provenance"]["us"]);
    CHECK(merged[i]["provenance"]["runner_up"] == whole[i]["provenance"]["runner_up"]);
  }
}

TEST_CASE("the C calls merge and explain tables", "[tune]") {
  std::string a = printTable(Json::array({record("A", 12)})),
              b = printTable(Json::array({record("B", 10)}));
  const char *tables[] = {a.c_str(), b.c_str()};
  tkc_error error{};
  error.size = sizeof(error);
  size_t bytes = 0;
  CHECK(tkc_table_merge(tables, 2, nullptr, &bytes, &error) == TKC_E_ARG);
  std::string text(bytes, '\0');
  REQUIRE(tkc_table_merge(tables, 2, &text[0], &bytes, &error) == TKC_OK);
  Json merged = Json::parse(text.c_str());
  CHECK(merged[0]["config_id"] == "B");

  std::string json = scaleJson(64).dump();
  tkc_bundle_desc description{};
  description.size = sizeof(description);
  description.json = json.data();
  description.json_bytes = json.size();
  tkc_const n = {"N", "3000"};
  tkc_tune_problem problem{};
  problem.size = sizeof(problem);
  problem.values = &n;
  problem.num_values = 1;
  bytes = 4096;
  std::string why(bytes, '\0');
  tkc_status status = tkc_table_why(text.c_str(), &description, nullptr, &problem, "sm_90a", 132,
                                    141, &why[0], &bytes, &error);
  INFO(error.text);
  REQUIRE(status == TKC_OK);
  Json explained = Json::parse(why.c_str());
  CHECK(explained["record"]["config_id"] == "B");
  CHECK(explained["key"] == Json::array({4096}));
  CHECK(explained["same_space"] == false);
}
