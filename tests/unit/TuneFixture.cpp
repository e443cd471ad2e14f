//===- TuneFixture.cpp - what the tests of tuning share --------------------===//
#include "TuneFixture.h"

#include <cstdlib>
#include <filesystem>

TuneJson scaleJson(int block, const char *access) {
  std::string number = std::to_string(block);
  auto tensor = [](const char *name, const char *how) {
    return TuneJson{{"name", name},
                    {"kind", "tensor"},
                    {"dtype", "f32"},
                    {"access", how},
                    {"extents", TuneJson::array({"N"})},
                    {"strides", TuneJson::array({1})},
                    {"align", 4}};
  };
  TuneJson params = {{"bytes", 24},
                     {"align", 8},
                     {"hidden", 0},
                     {"list",
                      {{{"at", 0}, {"size", 8}, {"type", "ptr"}, {"value", "x.ptr"}},
                       {{"at", 8}, {"size", 8}, {"type", "ptr"}, {"value", "y.ptr"}},
                       {{"at", 16}, {"size", 8}, {"type", "i64"}, {"value", "N"}}}}};
  TuneJson variant = {
      {"id", "sm_90a/B" + number},
      {"target", {{"vendor", "nvidia"}, {"arch", "sm_90a"}, {"match", "exact"}}},
      {"image", 0},
      {"symbol", "scale_B" + number},
      {"config", {{"B", block}, {"warps", 4}}},
      {"config_id", "B" + number + ".w4"},
      {"block", {128, 1, 1}},
      {"grid", {{"cdiv", "N", block}, 1, 1}},
      {"resources", {{"registers", 32}, {"shared_static", 0}, {"shared_dynamic", 0}}},
      {"params", params}};
  TuneJson kernel = {{"kernel", "scale"},
                     {"instance", {{"T", "f32"}}},
                     {"abi_hash", "b3:0000000000000001"},
                     {"args", {tensor("x", "in"), tensor("y", access)}},
                     {"tune",
                      {{"key", TuneJson::array({TuneJson::array({"next_pow2", "N"})})},
                       {"configs", {{{"B", 64}}, {{"B", 128}}, {{"B", 256}}, {{"B", 512}}}}}},
                     {"cost", {{"flops", "N"}, {"bytes", {"mul", 8, "N"}}}},
                     {"variants", TuneJson::array({variant})}};
  // SHA-256 of 64 zero bytes, from sha256sum.
  TuneJson image = {{"kind", "cubin"},
                    {"path", "scale.cubin"},
                    {"size", 64},
                    {"sha256", "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"}};
  return {{"schema", "tkc.kernel/1.0"},
          {"images", TuneJson::array({image})},
          {"kernels", TuneJson::array({kernel})}};
}

ScratchFolder::ScratchFolder() {
  char name[] = "/tmp/tkc-tune-XXXXXX";
  REQUIRE(mkdtemp(name));
  path = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

TunerUnderTest::TunerUnderTest(VirtualGpu &gpu) : gpu(gpu), driver(gpu.descriptor()) {
  error.size = sizeof(error);
  desc.size = sizeof(desc);
  desc.driver = &driver;
  desc.flush_bytes = 4096;
  desc.budget_ms = 1;
  desc.user = this;
  desc.warn = [](void *user, const char *text) {
    static_cast<TunerUnderTest *>(user)->warnings.push_back(text);
  };
  desc.progress = [](void *user, const char *text) {
    static_cast<TunerUnderTest *>(user)->progress.push_back(text);
  };
}

TunerUnderTest::~TunerUnderTest() {
  tkc_tune_close(tuner);
  CHECK(gpu.memory.empty());
  CHECK(gpu.liveContexts == 0);
  CHECK(gpu.liveStreams == 0);
  CHECK(gpu.liveEvents == 0);
  CHECK(gpu.loadedLibraries == 0);
  CHECK(gpu.contexts.empty());
}

tkc_status TunerUnderTest::tryOpen() {
  tkc_tune_close(tuner);
  tuner = nullptr;
  return tkc_tune_open(&desc, &tuner, &error);
}

void TunerUnderTest::open() {
  tkc_status status = tryOpen();
  INFO(error.text);
  REQUIRE(status == TKC_OK);
}

tkc_status TunerUnderTest::add(const TuneJson &json, const char *label, uint32_t flags) {
  if (!tuner)
    open();
  std::string text = json.dump();
  tkc_bundle_desc bundle{};
  bundle.size = sizeof(bundle);
  bundle.data = image.data();
  bundle.bytes = image.size();
  bundle.json = text.data();
  bundle.json_bytes = text.size();
  return tkc_tune_add(tuner, &bundle, "scale", nullptr, 0, label, flags, nullptr, nullptr, &error);
}

tkc_status TunerUnderTest::addWithoutCode(const TuneJson &json) {
  if (!tuner)
    open();
  std::string text = json.dump();
  tkc_bundle_desc bundle{};
  bundle.size = sizeof(bundle);
  bundle.json = text.data();
  bundle.json_bytes = text.size();
  return tkc_tune_add(tuner, &bundle, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, &error);
}

template <typename Call>
tkc_status TunerUnderTest::withProblem(const Words &values, const Words &fills, Call call) {
  if (!tuner)
    open();
  std::vector<tkc_const> given, filled;
  for (const auto &word : values)
    given.push_back({word.first.c_str(), word.second.c_str()});
  for (const auto &word : fills)
    filled.push_back({word.first.c_str(), word.second.c_str()});
  tkc_tune_problem problem{};
  problem.size = sizeof(problem);
  problem.values = given.data();
  problem.num_values = static_cast<uint32_t>(given.size());
  problem.fills = filled.data();
  problem.num_fills = static_cast<uint32_t>(filled.size());
  return call(problem);
}

tkc_status TunerUnderTest::shape(const Words &values, const Words &fills) {
  return withProblem(values, fills, [&](const tkc_tune_problem &problem) {
    return tkc_tune_shape(tuner, &problem, &error);
  });
}

tkc_status TunerUnderTest::bench(const Words &values) {
  return withProblem(values, {}, [&](const tkc_tune_problem &problem) {
    return tkc_tune_bench(tuner, &problem, &error);
  });
}

tkc_status TunerUnderTest::fault(const Words &values, uint32_t candidate, const char *reason) {
  return withProblem(values, {}, [&](const tkc_tune_problem &problem) {
    return tkc_tune_fault(tuner, &problem, candidate, reason, &error);
  });
}

std::vector<uint8_t> TunerUnderTest::missing(const Words &values, size_t candidates) {
  std::vector<uint8_t> result(candidates);
  tkc_status status = withProblem(values, {}, [&](const tkc_tune_problem &problem) {
    return tkc_tune_missing(tuner, &problem, result.data(), static_cast<uint32_t>(candidates),
                            &error);
  });
  INFO(error.text);
  REQUIRE(status == TKC_OK);
  return result;
}

template <typename Call> static TuneJson read(Call call) {
  size_t bytes = 0;
  REQUIRE(call(nullptr, &bytes) == TKC_E_ARG);
  std::string text(bytes, '\0');
  REQUIRE(call(&text[0], &bytes) == TKC_OK);
  return TuneJson::parse(text.c_str());
}

TuneJson TunerUnderTest::report() {
  return read(
      [&](char *json, size_t *bytes) { return tkc_tune_report(tuner, json, bytes, &error); });
}

TuneJson TunerUnderTest::table() {
  return read(
      [&](char *json, size_t *bytes) { return tkc_tune_table(tuner, json, bytes, &error); });
}
