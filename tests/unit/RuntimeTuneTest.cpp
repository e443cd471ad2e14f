//===- RuntimeTuneTest.cpp - configurations, tables, and why ----------------===//
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

/// vector_add with three configurations; the default one (A) has two variants.
static Json threeConfigs() {
  Json json = vectorAdd();
  Json &variants = json["kernels"][0]["variants"];
  variants[0]["config_id"] = variants[1]["config_id"] = "A";
  for (const char *id : {"B", "C"}) {
    Json more = variants[1];
    more["id"] = std::string("sm_90a/v1/") + id;
    more["config_id"] = id;
    more["default_rank"] = variants.size();
    more["symbol"] = std::string("symbol_") + id;
    variants.push_back(more);
  }
  // B takes even N only: else its launch falls back on the default.
  variants[2]["when"] = Json::array({Json::array({"divides", 2, "N"})});
  json["kernels"][0]["tune"] = {{"key", Json::array({Json::array({"next_pow2", "N"})})}};
  return json;
}

static Json record(const char *arch, int sms, int64_t key, const char *config) {
  return {{"arch", arch}, {"sms", sms}, {"key", Json::array({key})}, {"config_id", config}};
}

static tkc_status encodeN(Loader &loader, int64_t n, const tkc_options *options = nullptr) {
  Tensor x{at(4096), TKC_F32, {n}, {}}, y{at(1 << 20), TKC_F32, {n}, {}};
  Tensor z{at(1 << 21), TKC_F32, {n}, {}};
  return loader.encode({x, y, z}, options);
}

static std::string why(Loader &loader, int64_t n) {
  Tensor x{at(4096), TKC_F32, {n}, {}}, y{at(1 << 20), TKC_F32, {n}, {}};
  Tensor z{at(1 << 21), TKC_F32, {n}, {}};
  const tkc_arg args[] = {x, y, z};
  char text[4096];
  size_t bytes = sizeof(text);
  CHECK(tkc_why(loader.kernel, args, 3, nullptr, text, &bytes, &loader.error) == TKC_OK);
  CHECK(bytes == strlen(text) + 1);
  return text;
}

TEST_CASE("without a table the default configuration is loaded and launched", "[runtime][tune]") {
  Loader loader;
  loader.load(threeConfigs());
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 0);
  REQUIRE(encodeN(loader, 7) == TKC_OK);
  CHECK(loader.launch.variant == 1);
  tkc_options options{};
  options.size = sizeof(options);
  options.flags = TKC_PIN_VARIANT;
  options.variant = 2;
  CHECK(encodeN(loader, 8, &options) == TKC_E_NO_VARIANT);
  CHECK_THAT(loader.text(), Contains("not among the 2 that are loaded"));
}

TEST_CASE("a configuration asked for by id comes first, then the default", "[runtime][tune]") {
  Loader loader;
  REQUIRE(loader.openBundle(threeConfigs().dump()) == TKC_OK);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.config = "B";
  REQUIRE(loader.prepare("vector_add", {}, &desc) == TKC_OK);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
  REQUIRE(encodeN(loader, 7) == TKC_OK);
  CHECK(loader.launch.variant == 1);
  CHECK_THAT(why(loader, 7), Contains("configuration \"B\": asked for at prepare") &&
                                 Contains("`sm_90a/v1/B`: `divides(2, N)` is false") &&
                                 Contains("`sm_90a/v1/b1024.w4`: taken"));
  desc.config = "D";
  CHECK(loader.prepare("vector_add", {}, &desc) == TKC_E_NO_VARIANT);
  CHECK_THAT(loader.text(), Contains("no configuration \"D\"") && Contains("\"A\", \"B\", \"C\""));
  desc.config = "B";
  desc.table = "[]";
  desc.table_bytes = 2;
  CHECK(loader.prepare("vector_add", {}, &desc) == TKC_E_ARG);
}

TEST_CASE("the table's record for the device and the key decides", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  json["kernels"][0]["tune"]["table"] = {
      record("sm_90a", 132, 1024, "C"), record("sm_90a", 114, 8, "C"),
      record("sm_80", 132, 8, "C"),     record("sm_90a", 132, 8, "B"),
      record("sm_90a", 132, 8, "C"),    record("sm_90a", 132, 64, "Z")};
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
  REQUIRE(encodeN(loader, 7) == TKC_OK); // B does not take it
  CHECK(loader.launch.variant == 1);
  REQUIRE(encodeN(loader, 1000) == TKC_OK);
  CHECK(loader.launch.variant == 3);
  REQUIRE(encodeN(loader, 512) == TKC_OK);
  CHECK(loader.launch.variant == 0);
  REQUIRE(encodeN(loader, 64) == TKC_OK); // Z is not in the bundle
  CHECK(loader.launch.variant == 0);
  CHECK_THAT(why(loader, 1000),
             Contains("configuration \"C\": record 0 of the table (132 SMs), measured for "
                      "next_pow2(N) = 1024"));
  CHECK_THAT(why(loader, 512), Contains("the table (2 records for this device) has none for "
                                        "next_pow2(N) = 512") &&
                                   Contains("record 5 names \"Z\", which is not here"));
}

TEST_CASE("on_miss: nearest in SMs and in keys, or an error", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  Json &tune = json["kernels"][0]["tune"];
  tune["table"] = {record("sm_90a", 114, 64, "B"), record("sm_90a", 114, 4096, "C"),
                   record("sm_90a", 66, 512, "B")};
  loader.load(json);
  REQUIRE(encodeN(loader, 4096) == TKC_OK);
  CHECK(loader.launch.variant == 0);

  tune["on_miss"] = "nearest";
  loader.load(json);
  REQUIRE(encodeN(loader, 128) == TKC_OK);
  CHECK(loader.launch.variant == 2);
  REQUIRE(encodeN(loader, 1024) == TKC_OK);
  CHECK(loader.launch.variant == 3);
  CHECK_THAT(why(loader, 1024), Contains("record 1 of the table (114 SMs), the nearest for"));

  tune["on_miss"] = "error";
  loader.load(json);
  CHECK(encodeN(loader, 1024) == TKC_E_NO_VARIANT);
  CHECK_THAT(loader.text(), Contains("no record for next_pow2(N) = 1024 with 132 SMs"));
  tune["table"] = {record("sm_90a", 132, 8, "Z")};
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_NO_VARIANT);
  CHECK_THAT(loader.text(), Contains("names configuration \"Z\""));
  tune["on_miss"] = "maybe";
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("tune") && Contains("needed default, nearest or error"));
}

/// A record that names the memory it was measured with.
static Json record(const char *arch, int sms, int64_t key, const char *config, int memoryGib) {
  Json json = record(arch, sms, key, config);
  json["memory_gib"] = memoryGib;
  return json;
}

TEST_CASE("of devices with one chip and number of SMs the memory tells", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  Json &tune = json["kernels"][0]["tune"];
  tune["table"] = {record("sm_90a", 132, 8, "C"), record("sm_90a", 132, 8, "C", 80),
                   record("sm_90a", 132, 8, "B", 141), record("sm_90a", 132, 16, "C")};
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
  CHECK_THAT(why(loader, 8), Contains("record 2 of the table (132 SMs, 141 GiB)"));
  REQUIRE(encodeN(loader, 16) == TKC_OK); // the record is for any memory
  CHECK(loader.launch.variant == 3);
  loader.cuda.memoryBytes = (size_t(80) << 30) - (size_t(900) << 20); // 79 GiB: the driver's share
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 3);
  loader.cuda.memoryBytes = size_t(24) << 30;
  tune["table"] = {record("sm_90a", 132, 8, "B", 141), record("sm_90a", 132, 8, "C", 80)};
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 0);
  tune["on_miss"] = "nearest";
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 3);
  loader.cuda.missing = {"cuDeviceTotalMem_v2"}; // nothing is known: the first record
  tkc_driver_release(loader.driver);
  loader.driver = nullptr;
  tune.erase("on_miss");
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
}

TEST_CASE("a record for other types of arguments is another kernel's", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  Json half = record("sm_90a", 132, 8, "C"), own = record("sm_90a", 132, 8, "B");
  half["dtypes"] = {"f16", "f16", "f16"};
  own["dtypes"] = {"f32", "f32", "f32"};
  json["kernels"][0]["tune"]["table"] = {half, own};
  loader.load(json);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
}

TEST_CASE("a table given at prepare takes the place of the bundle's", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  json["kernels"][0]["tune"]["table"] = {record("sm_90a", 132, 8, "C")};
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  Json other = record("sm_90a", 132, 8, "C");
  other["kernel"] = "another";
  Json own = record("sm_90a", 132, 8, "B");
  own["kernel"] = "vector_add";
  own["instance"] = {{"T", "f32"}, {"BLOCK", 1024}};
  Json elsewhere = record("sm_90a", 132, 8, "C");
  elsewhere["instance"] = {{"BLOCK", 512}};
  const std::string table = Json::array({other, elsewhere, own}).dump();
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.table = table.data();
  desc.table_bytes = table.size();
  REQUIRE(loader.prepare("vector_add", {}, &desc) == TKC_OK);
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.variant == 2);
}

TEST_CASE("tables that are not well formed are refused with their path",
          "[runtime][tune][hostile]") {
  const std::pair<Json, const char *> cases[] = {
      {{{"arch", "sm_90a"}}, "needed an array"},
      {Json::array({1}), "table[0]: found an integer, needed an object"},
      {Json::array({record("sm_90a", 0, 8, "B")}), "table[0].sms: found 0"},
      {Json::array({{{"arch", "sm_90a"}, {"sms", 1}, {"config_id", "B"}, {"key", {1, 2}}}}),
       "table[0].key: found 2 elements, needed 1 to 1"},
      {Json::array({{{"arch", "sm_90a"}, {"sms", 1}, {"config_id", "B"}, {"key", {1.5}}}}),
       "table[0].key[0]: found a floating-point number"},
      {Json::array({record("sm_90a", 1, 8, "B", -1)}), "table[0].memory_gib: found -1"},
      {Json::array({[] {
         Json json = record("sm_90a", 1, 8, "B");
         json["dtypes"] = "f32";
         return json;
       }()}),
       "table[0]: dtypes is no array"}};
  for (const auto &[table, text] : cases) {
    Loader loader;
    Json json = threeConfigs();
    REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
    const std::string bytes = table.dump();
    tkc_prepare_desc desc{};
    desc.size = sizeof(desc);
    desc.table = bytes.data();
    desc.table_bytes = bytes.size();
    INFO(bytes);
    CHECK(loader.prepare("vector_add", {}, &desc) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains(text));
    json["kernels"][0]["tune"]["table"] = table;
    CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  }
}

TEST_CASE("each target's default configuration must end without guards", "[runtime][tune]") {
  Loader loader;
  Json json = threeConfigs();
  json["kernels"][0]["variants"][1]["when"] = Json::array({Json::array({"gt", "N", 1})});
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("\"sm_90a/v1/b1024.w4\" is tried last and has guards"));
}

TEST_CASE("tkc_why says what it lacks room for, and why nothing runs", "[runtime][tune]") {
  Loader loader;
  loader.load(threeConfigs());
  Tensor x{at(4096), TKC_F32, {0}, {}};
  const tkc_arg args[] = {x, x, x};
  char text[8];
  size_t bytes = sizeof(text);
  CHECK(tkc_why(loader.kernel, args, 3, nullptr, text, &bytes, &loader.error) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("room for 8 bytes"));
  CHECK(std::string(text) == "nothing");
  CHECK(bytes > 8);
  CHECK_THAT(why(loader, 0), Contains("nothing is launched: `N == 0` is true"));
  CHECK(tkc_why(loader.kernel, args, 2, nullptr, text, &bytes, &loader.error) == TKC_E_ARG);
}
