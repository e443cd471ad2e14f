//===- RuntimeLaunchTest.cpp - clusters, cooperation, PDL, hooks, devices, HIP ===//
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

static Json &variantOf(Json &json, size_t index) {
  return json["kernels"][0]["variants"][index];
}

/// One kernel without arguments: grid (n, 1, 1), block 128.
static Json plainKernel() {
  Json json = oneKernel(Json::array({scalarArg("n", "i64")}));
  variantOf(json, 0)["grid"] = {"n", 1, 1};
  return json;
}

static tkc_status encodeN(Loader &loader, int64_t n, uint32_t flags = 0, int32_t sms = 0) {
  tkc_options options{};
  options.size = sizeof(options);
  options.flags = flags;
  options.sms = sms;
  return loader.encode({scalar(TKC_I64, static_cast<uint64_t>(n))}, &options);
}

TEST_CASE("a plain launch is a plain call", "[runtime][launch]") {
  Loader loader;
  loader.load(plainKernel());
  REQUIRE(encodeN(loader, 3) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK_FALSE(loader.cuda.launches.at(0).isExtended);
}

TEST_CASE("clusters: attribute, whole clusters, consent for large ones", "[runtime][launch]") {
  Loader loader;
  Json json = plainKernel();
  variantOf(json, 0)["cluster"] = {4, 1, 1};
  loader.load(json);
  CHECK(loader.cuda.bigClusters.empty());
  CHECK(encodeN(loader, 6) == TKC_E_GRID);
  CHECK_THAT(loader.text(), Contains("grid x is 6") && Contains("a multiple of the cluster's 4"));
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  CHECK(loader.launch.cluster[0] == 4);
  REQUIRE(loader.submit(at(0x77)) == TKC_OK);
  const FakeCuda::Launch &launch = loader.cuda.launches.at(0);
  CHECK(launch.isExtended);
  CHECK(launch.cluster[0] == 4);
  CHECK(launch.cluster[1] == 1);
  CHECK(launch.grid[0] == 8);
  CHECK(launch.block[0] == 128);
  CHECK(launch.stream == at(0x77));
  CHECK_FALSE(launch.isCooperative);

  variantOf(json, 0)["cluster"] = {16, 1, 1};
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("a cluster of 16 blocks, needed at most 8"));
  variantOf(json, 0)["resources"]["nonportable_cluster"] = true;
  loader.load(json);
  CHECK(loader.cuda.bigClusters == std::set<std::string>{"k0"});
}

TEST_CASE("blocks that wait for each other must all fit", "[runtime][launch]") {
  for (const char *field : {"cooperative", "coresident"}) {
    Loader loader;
    Json json = plainKernel();
    variantOf(json, 0)["launch"] = {{field, true}};
    loader.load(json);
    INFO(field);
    CHECK(encodeN(loader, 265) == TKC_E_RESOURCES);
    CHECK_THAT(loader.text(), Contains("all 265 x 1 x 1 blocks") && Contains("264 do"));
    REQUIRE(encodeN(loader, 264) == TKC_OK);
    REQUIRE(loader.submit() == TKC_OK);
    CHECK(loader.cuda.launches.at(0).isCooperative == (field == std::string("cooperative")));
    CHECK(encodeN(loader, 21, 0, 10) == TKC_E_RESOURCES); // a share of ten multiprocessors
    CHECK(encodeN(loader, 20, 0, 10) == TKC_OK);
  }
  Loader loader;
  Json json = plainKernel();
  variantOf(json, 0)["launch"] = {{"coresident", true}};
  variantOf(json, 0)["cluster"] = {2, 1, 1};
  loader.load(json);
  CHECK(encodeN(loader, 122) == TKC_E_RESOURCES); // 60 clusters
  CHECK(encodeN(loader, 120) == TKC_OK);
  variantOf(json, 0)["grid"] = {2147483646, 65535, 65535};
  loader.load(json);
  CHECK(encodeN(loader, 1) == TKC_E_RESOURCES);
}

TEST_CASE("TKC_COOPERATIVE asks for it where the code does not", "[runtime][launch]") {
  Loader loader;
  loader.load(plainKernel());
  CHECK(encodeN(loader, 265, TKC_COOPERATIVE) == TKC_E_RESOURCES);
  REQUIRE(encodeN(loader, 264, TKC_COOPERATIVE) == TKC_OK);
  CHECK(loader.launch.flags == TKC_COOPERATIVE);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.launches.at(0).isCooperative);
  CHECK_FALSE(loader.cuda.launches.at(0).isProgrammatic);
}

TEST_CASE("PDL only for code that waits", "[runtime][launch]") {
  Loader loader;
  Json json = plainKernel();
  loader.load(json);
  CHECK(encodeN(loader, 1, TKC_PDL) == TKC_E_UNSUPPORTED);
  CHECK_THAT(loader.text(), Contains("`only` does not wait"));
  variantOf(json, 0)["launch"] = {{"pdl", {{"waits", false}, {"triggers", true}}}};
  loader.load(json);
  CHECK(encodeN(loader, 1, TKC_PDL) == TKC_E_UNSUPPORTED);
  variantOf(json, 0)["launch"]["pdl"]["waits"] = true;
  loader.load(json);
  REQUIRE(encodeN(loader, 1, TKC_PDL) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.launches.at(0).isProgrammatic);
  REQUIRE(encodeN(loader, 1) == TKC_OK); // not unless it is asked for
  REQUIRE(loader.submit() == TKC_OK);
  CHECK_FALSE(loader.cuda.launches.at(1).isExtended);
}

TEST_CASE("flags need a driver that has them", "[runtime][launch]") {
  Loader loader;
  loader.cuda.missing = {"cuLaunchKernelEx"};
  loader.load(plainKernel());
  CHECK(encodeN(loader, 1, TKC_COOPERATIVE) == TKC_E_UNSUPPORTED);
  CHECK_THAT(loader.text(), Contains("TKC_COOPERATIVE") && Contains("cuLaunchKernelEx"));
}

TEST_CASE("grids may use the occupancy", "[runtime][launch]") {
  Loader loader;
  Json json = plainKernel();
  variantOf(json, 0)["grid"] = {Json::array({"mul", "sms", "occ.blocks_per_sm"}), "dev.clusters",
                                1};
  loader.load(json);
  REQUIRE(encodeN(loader, 1) == TKC_OK);
  CHECK(loader.launch.grid[0] == 264);
  CHECK(loader.launch.grid[1] == 264);
  uint32_t blocks = 0, clusters = 0;
  REQUIRE(tkc_occupancy(loader.kernel, 0, &blocks, &clusters, &loader.error) == TKC_OK);
  CHECK(blocks == 2);
  CHECK(clusters == 264);
  CHECK(tkc_occupancy(loader.kernel, 1, &blocks, &clusters, &loader.error) == TKC_E_NO_VARIANT);

  variantOf(json, 0)["cluster"] = {1, 2, 1};
  loader.load(json);
  REQUIRE(encodeN(loader, 1) == TKC_OK);
  CHECK(loader.launch.grid[1] == 60);
  json["kernels"][0]["require"] = {
      {{"text", "it"}, {"expr", Json::array({"gt", "dev.clusters", 1})}}};
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("`dev.clusters` differs between variants"));
}

TEST_CASE("on_submit hears of each launch and what it costs", "[runtime][launch]") {
  static std::vector<std::string> heard;
  heard.clear();
  Loader loader;
  Json json = plainKernel();
  json["kernels"][0]["cost"] = {{"flops", Json::array({"mul", 2, "n"})}, {"bytes", 12}};
  tkc_driver_desc desc = loader.cuda.descriptor();
  desc.on_submit = [](void *, const char *symbol, double flops, double bytes, void *stream) {
    heard.push_back(std::string(symbol) + " " + std::to_string(int(flops)) + " " +
                    std::to_string(int(bytes)) + (stream ? " s" : ""));
  };
  REQUIRE(tkc_driver_open(&desc, &loader.driver, &loader.error) == TKC_OK);
  loader.load(json);
  REQUIRE(encodeN(loader, 7) == TKC_OK);
  REQUIRE(loader.submit(at(1)) == TKC_OK);
  REQUIRE(encodeN(loader, 0) == TKC_OK); // nothing to launch, nothing to hear
  REQUIRE(loader.submit() == TKC_OK);
  REQUIRE(encodeN(loader, 7) == TKC_OK);
  loader.launch.size = TKC_LAUNCH_SIZE_1_0; // a caller built for release 1.0
  REQUIRE(encodeN(loader, 8) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.launch.flops == 14);
  CHECK(heard == std::vector<std::string>{"k0 14 12 s", "k0 0 0"});
  loader.launch.size = TKC_LAUNCH_SIZE_1_0 - 1;
  CHECK(encodeN(loader, 8) == TKC_E_ARG);
}

TEST_CASE("log hears what prepare did", "[runtime][launch]") {
  static std::vector<std::string> heard;
  heard.clear();
  Loader loader;
  Json json = vectorAdd();
  json["kernels"][0]["tune"] = {
      {"table", {{{"arch", "sm_90a"}, {"sms", 132}, {"key", Json::array()}, {"config_id", "X"}}}}};
  tkc_driver_desc desc = loader.cuda.descriptor();
  desc.log = [](void *, int level, const char *text) {
    heard.push_back(std::to_string(level) + " " + text);
  };
  REQUIRE(tkc_driver_open(&desc, &loader.driver, &loader.error) == TKC_OK);
  loader.load(json);
  REQUIRE(heard.size() == 2);
  CHECK_THAT(heard[0], Contains("2 kernel `vector_add`: record 0 of the table names"));
  CHECK_THAT(heard[1], Contains("1 kernel `vector_add`: 2 of 2 variants for device 0"));
}

TEST_CASE("one bundle serves several devices and contexts", "[runtime][launch]") {
  Loader loader;
  REQUIRE(loader.openBundle(plainKernel().dump()) == TKC_OK);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  tkc_kernel *kernels[3] = {};
  for (int i = 0; i < 3; ++i) {
    desc.device = i == 1;
    desc.context = i == 2 ? at(0x55) : nullptr;
    REQUIRE(tkc_kernel_prepare(loader.bundle, "k", nullptr, 0, 0, &desc, &kernels[i],
                               &loader.error) == TKC_OK);
  }
  CHECK(loader.cuda.retained == 2);
  CHECK(loader.cuda.loadedLibraries == 1);
  for (tkc_kernel *kernel : kernels) {
    const tkc_arg arg = scalar(TKC_I64, 4);
    REQUIRE(tkc_encode(kernel, &arg, 1, nullptr, &loader.launch, &loader.error) == TKC_OK);
    REQUIRE(tkc_submit(kernel, &loader.launch, nullptr, &loader.error) == TKC_OK);
  }
  CHECK(loader.cuda.launches.size() == 3);
  for (tkc_kernel *kernel : kernels)
    tkc_kernel_release(kernel);
}

TEST_CASE("HIP: its own names, numbers and modules", "[runtime][launch][hip]") {
  Json json = plainKernel();
  json["images"][0]["kind"] = "hsaco";
  variantOf(json, 0)["target"] = {{"vendor", "amd"}, {"arch", "gfx942"}, {"match", "exact"}};
  variantOf(json,
            0)["params"] = {{"bytes", 8},
                            {"align", 8},
                            {"hidden", 0},
                            {"list", {{{"at", 0}, {"size", 8}, {"type", "i64"}, {"value", "n"}}}}};
  Loader loader;
  loader.backend = TKC_HIP;
  loader.cuda.major = 9, loader.cuda.minor = 4;
  loader.load(json);
  CHECK(loader.cuda.calls.count("cuLibraryLoadData") == 0);
  CHECK(loader.cuda.calls["hipModuleLoadData"] == 1);
  REQUIRE(encodeN(loader, 5) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.calls["hipModuleLaunchKernel"] == 1);
  CHECK(loader.cuda.launches.at(0).grid[0] == 5);
  CHECK(loader.cuda.launches.at(0).params.at(0) == 5);
  CHECK(encodeN(loader, 2147483647) == TKC_E_GRID); // times 128 threads
  CHECK_THAT(loader.text(), Contains("HIP needs less than 2^32"));
  CHECK(encodeN(loader, 5, TKC_COOPERATIVE) == TKC_E_UNSUPPORTED);

  loader.cuda.archName = "gfx90a:sramecc+";
  CHECK(loader.prepare("k") == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("arch gfx90a") && Contains("is for gfx942"));
  loader.cuda.archName = "gfx942";
  for (const char *call : {"hipModuleLoadData", "hipGetDevicePropertiesR0600"}) {
    loader.cuda.failures[call] = 999;
    CHECK(loader.prepare("k") == TKC_E_DRIVER);
    loader.cuda.failures.clear();
  }
  CHECK(loader.prepare("k") == TKC_OK);
}

TEST_CASE("code of one vendor does not run on another", "[runtime][launch][hip]") {
  Loader loader;
  loader.backend = TKC_HIP;
  REQUIRE(loader.openBundle(plainKernel().dump()) == TKC_OK);
  CHECK(loader.prepare("k") == TKC_E_DEVICE);
  loader.cuda.missing = {"hipModuleLoadData"};
  tkc_driver_release(loader.driver);
  tkc_driver_desc desc = loader.cuda.descriptor();
  desc.backend = TKC_HIP;
  tkc_driver *driver = nullptr;
  CHECK(tkc_driver_open(&desc, &driver, &loader.error) == TKC_E_DRIVER_OLD);
  CHECK_THAT(loader.text(), Contains("no hipModuleLoadData; needed one for ROCm 6.0"));
  loader.driver = nullptr;
}
