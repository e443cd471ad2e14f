//===- RuntimePrepareTest.cpp - opening a driver, finding and loading kernels ===//
#include "FakeCudaFixture.h"
#include "runtime/src/Sha256.h"

#include <functional>

using Catch::Matchers::Contains;

static Json &variantOf(Json &json, size_t index) {
  return json["kernels"][0]["variants"][index];
}

TEST_CASE("a driver that is old, broken or of another backend is refused", "[runtime]") {
  Loader loader;
  loader.cuda.driverVersion = 11080;
  CHECK(loader.openDriver() == TKC_E_DRIVER_OLD);
  CHECK_THAT(loader.text(), Contains("CUDA 11.8, needed 12.0"));
  loader.cuda.driverVersion = 12040;
  loader.cuda.missing = {"cuLibraryLoadData"};
  CHECK(loader.openDriver() == TKC_E_DRIVER_OLD);
  CHECK_THAT(loader.text(), Contains("has no cuLibraryLoadData"));
  loader.cuda.missing = {"cuFuncLoad"}; // optional
  loader.cuda.failures["cuInit"] = 999;
  CHECK(loader.openDriver() == TKC_E_DRIVER);
  CHECK(loader.error.driver_code == 999);
  CHECK(loader.driver == nullptr);

  tkc_driver_desc desc = loader.cuda.descriptor();
  desc.backend = 9;
  CHECK(tkc_driver_open(&desc, &loader.driver, &loader.error) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("backend is 9, needed TKC_CUDA, TKC_HIP or TKC_CPU"));
  desc = loader.cuda.descriptor();
  desc.alloc = [](void *, size_t, size_t) -> void * { return nullptr; };
  CHECK(tkc_driver_open(&desc, &loader.driver, &loader.error) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("free is NULL"));
}

TEST_CASE("the image must be the one that the JSON describes", "[runtime]") {
  Loader loader;
  std::string json = vectorAdd().dump();
  loader.image[5] = 1;
  CHECK(loader.openBundle(json) == TKC_E_DIGEST);
  CHECK_THAT(loader.text(), Contains("f5a5fd42d16a2030"));
  loader.image.pop_back();
  CHECK(loader.openBundle(json) == TKC_E_DIGEST);
  CHECK_THAT(loader.text(), Contains("63 bytes") && Contains("64"));
}

TEST_CASE("an ELF file that is cut off does not reach the driver", "[runtime]") {
  struct Word {
    size_t at;
    char value;
  };
  // 256 bytes: the header, a section's header at 64, a segment's at 128.
  std::string whole = std::string("\x7f"
                                  "ELF\2\1") +
                      std::string(250, '\0');
  for (Word word :
       {Word{32, '\x80'}, Word{40, 64}, Word{54, 56}, Word{56, 1}, Word{58, 64}, Word{60, 1},
        Word{64 + 24, '\xc0'}, Word{64 + 32, 64}, Word{128 + 8, '\xc0'}, Word{128 + 32, 32}})
    whole[word.at] = word.value;
  auto prepare = [&](const std::string &image) {
    Loader loader;
    loader.image = image;
    Json json = vectorAdd();
    json["images"][0]["size"] = image.size();
    json["images"][0]["sha256"] = tkcrt::toHex(tkcrt::sha256(image.data(), image.size()));
    REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
    tkc_status status = loader.prepare("vector_add");
    CHECK((status == TKC_OK || std::string(loader.text()).find("cut off") != std::string::npos));
    return status;
  };
  CHECK(prepare(whole) == TKC_OK);
  CHECK(prepare("\x7f"
                "ELF") == TKC_E_CORRUPT);
  for (size_t bytes = 5; bytes < whole.size(); ++bytes)
    CHECK(prepare(whole.substr(0, bytes)) == TKC_E_CORRUPT);
  // Tables and what they name may end where the file does, and not a byte behind.
  for (Word word :
       {Word{40, '\xc1'}, Word{32, '\xc9'}, Word{58, 63}, Word{54, 55}, Word{60, 4}, Word{56, 3},
        Word{64 + 24, '\xc1'}, Word{64 + 33, 1}, Word{128 + 8, '\xe1'}, Word{128 + 39, '\x80'}}) {
    std::string damaged = whole;
    damaged[word.at] = word.value;
    CHECK(prepare(damaged) == TKC_E_CORRUPT);
  }
  std::string empty = whole; // without bytes in the file it may be anywhere
  empty[64 + 4] = 8, empty[64 + 31] = 1;
  CHECK(prepare(empty) == TKC_OK);
}

TEST_CASE("SHA-256 is right around its block boundaries", "[runtime]") {
  // From sha256sum, of that many letters a.
  const std::pair<size_t, const char *> known[] = {
      {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"}};
  for (const auto &[bytes, digest] : known) {
    Loader loader;
    Json json = vectorAdd();
    json["images"][0]["size"] = bytes;
    json["images"][0]["sha256"] = digest;
    loader.image.assign(bytes, 'a');
    CHECK(loader.openBundle(json.dump()) == TKC_OK);
  }
}

TEST_CASE("a caller can pin the JSON by its digest", "[runtime]") {
  Loader loader;
  REQUIRE(loader.openDriver() == TKC_OK);
  std::string json = vectorAdd().dump();
  uint8_t digest[32] = {};
  tkc_bundle_desc desc{};
  desc.size = sizeof(desc);
  desc.data = loader.image.data();
  desc.bytes = 64;
  desc.json = json.data();
  desc.json_bytes = json.size();
  desc.sha256 = digest;
  CHECK(tkc_bundle_open(loader.driver, &desc, &loader.bundle, &loader.error) == TKC_E_DIGEST);
  desc.json = nullptr;
  CHECK(tkc_bundle_open(loader.driver, &desc, &loader.bundle, &loader.error) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("json is NULL and json_bytes"));
  desc.flags = 8;
  CHECK(tkc_bundle_open(loader.driver, &desc, &loader.bundle, &loader.error) == TKC_E_ARG);
}

TEST_CASE("features, schemas and dtypes of later releases are named", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  json["needs"] = {"expr.1", "tensor_map.2"};
  CHECK(loader.openBundle(json.dump()) == TKC_E_NEEDS_FEATURE);
  CHECK_THAT(loader.text(), Contains("needs tensor_map.2, this libtkcrt knows expr.1, optional.1"));
  json = vectorAdd();
  json["schema"] = "tkc.kernel/2.0";
  CHECK(loader.openBundle(json.dump()) == TKC_E_UNSUPPORTED);
  json["schema"] = "tkc.kernel/1.7";
  json["something_new"] = {1, 2};
  CHECK(loader.openBundle(json.dump()) == TKC_OK);
  json["kernels"][0]["args"][0]["dtype"] = "f4e9m0";
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
}

TEST_CASE("a kernel is found by name and constants, or the candidates are listed", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  Json other = json["kernels"][0];
  other["instance"] = {{"T", "f32"}, {"BLOCK", 256}, {"FAST", true}};
  json["kernels"].push_back(other);
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add", {{"BLOCK", "256"}}) == TKC_OK);
  CHECK(loader.prepare("vector_add", {{"FAST", "true"}}) == TKC_OK);
  CHECK(loader.prepare("vector_add", {{"T", "f32"}}) == TKC_E_AMBIGUOUS);
  CHECK_THAT(loader.text(), Contains("2 kernels match vector_add[T=f32]") &&
                                Contains("vector_add[BLOCK=1024, T=f32]") &&
                                Contains("vector_add[BLOCK=256, FAST=true, T=f32]"));
  CHECK(loader.prepare("vector_add", {{"BLOCK", "512"}}) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("vector_add[BLOCK=512]") && Contains("BLOCK=1024"));
  CHECK(loader.prepare("vector_sub") == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("vector_sub") && Contains("there is: vector_add"));
}

TEST_CASE("abi_hash is compared when the caller gives one", "[runtime]") {
  Loader loader;
  REQUIRE(loader.openBundle(vectorAdd().dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add", {}, nullptr, 0x6f1c2a90d4e58b17) == TKC_OK);
  CHECK(loader.prepare("vector_add", {}, nullptr, 0x6f1c2a90d4e58b18) == TKC_E_ABI);
  CHECK_THAT(loader.text(), Contains("b3:6f1c2a90d4e58b17") && Contains("b3:6f1c2a90d4e58b18"));
}

// Reported elsewhere: what was built on one GPU for another was loaded as if it fitted
// (pytorch/pytorch#185328).
TEST_CASE("target.match decides by compute capability", "[runtime]") {
  struct Case {
    const char *kind, *arch, *match;
    int major, minor;
    bool runs;
  };
  const Case cases[] = {
      {"cubin", "sm_90a", "exact", 9, 0, true},      {"cubin", "sm_90a", "exact", 8, 0, false},
      {"cubin", "sm_90a", "exact", 10, 0, false},    {"cubin", "sm_100f", "family", 10, 3, true},
      {"cubin", "sm_100f", "family", 12, 0, false},  {"cubin", "sm_103f", "family", 10, 0, false},
      {"cubin", "sm_80", "at_least", 8, 9, true},    {"cubin", "sm_80", "at_least", 9, 0, false},
      {"ptx", "compute_80", "at_least", 9, 0, true}, {"ptx", "compute_90", "at_least", 8, 9, false},
      {"ptx", "compute_90a", "exact", 9, 0, true},   {"ptx", "compute_90a", "exact", 10, 0, false},
  };
  for (const Case &c : cases) {
    Loader loader;
    loader.cuda.major = c.major;
    loader.cuda.minor = c.minor;
    Json json = vectorAdd();
    json["images"][0]["kind"] = c.kind;
    for (size_t i = 0; i < 2; ++i)
      variantOf(json, i)["target"] = {{"vendor", "nvidia"}, {"arch", c.arch}, {"match", c.match}};
    INFO(c.arch << " " << c.match << " on " << c.major << "." << c.minor);
    REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
    CHECK(loader.prepare("vector_add") == (c.runs ? TKC_OK : TKC_E_DEVICE));
    if (!c.runs)
      CHECK_THAT(loader.text(), Contains(c.arch) && Contains("capability"));
  }
}

TEST_CASE("an arch can't match what it does not run on", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  variantOf(json, 0)["target"]["match"] = "at_least";
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("kernels[0].variants[0].target") && Contains("sm_90a"));
}

TEST_CASE("driver_min, PTX refusal and missing images pass a variant over", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  variantOf(json, 0)["driver_min"] = 13010;
  loader.load(json);
  size_t n = 8;
  Tensor x{at(4096), TKC_F32, {int64_t(n)}, {}}, y{at(8192), TKC_F32, {int64_t(n)}, {}},
      z{at(12288), TKC_F32, {int64_t(n)}, {}};
  REQUIRE(loader.encode({x, y, z}) == TKC_OK);
  CHECK(loader.launch.variant == 1);

  variantOf(json, 1)["driver_min"] = 13020;
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_DRIVER_OLD);
  CHECK_THAT(loader.text(), Contains("needs driver 13010, found 13000"));

  json = vectorAdd();
  json["images"].push_back(json["images"][0]);
  json["images"][1]["kind"] = "ptx";
  json["images"][1]["size"] = 65;
  for (size_t i = 0; i < 2; ++i)
    variantOf(json, i)["image"] = 1, variantOf(json, i)["target"]["arch"] = "compute_90a";
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("is in another image"));

  json["images"].erase(0);
  json["images"][0]["size"] = 64;
  for (size_t i = 0; i < 2; ++i)
    variantOf(json, i)["image"] = 0;
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.flags = TKC_NO_JIT;
  CHECK(loader.prepare("vector_add", {}, &desc) == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("TKC_NO_JIT"));
}

TEST_CASE("PTX reaches the driver with its NUL, and its log the caller", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  json["images"][0] = {
      {"kind", "ptx"},
      {"path", "add.ptx"},
      {"size", 3},
      {"sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}};
  loader.image = "abc";
  for (size_t i = 0; i < 2; ++i)
    variantOf(json, i)["target"]["arch"] = "compute_90a";
  loader.cuda.failures["cuLibraryLoadData"] = 218;
  loader.cuda.jitLog = "line 1: nonsense";
  loader.cuda.readBytes = 4;
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_DRIVER);
  CHECK_THAT(loader.text(), Contains("line 1: nonsense") && Contains("218"));
  CHECK(loader.cuda.loadedBytes == std::string("abc\0", 4));
}

TEST_CASE("what is not here is refused when a device would need it", "[runtime]") {
  struct Case {
    const char *field;
    Json value;
    std::function<void(FakeCuda &)> take;
    const char *text;
  };
  const Case cases[] = {
      {"workspace", {{"bytes", 16}}, [](FakeCuda &) {}, "workspace that is no argument"},
      {"cluster", {2, 1, 1}, [](FakeCuda &cuda) { cuda.canCluster = false; }, "clusters"},
      {"cluster",
       {2, 1, 1},
       [](FakeCuda &cuda) { cuda.missing = {"cuLaunchKernelEx"}; },
       "clusters"},
      {"launch",
       {{"cooperative", true}},
       [](FakeCuda &cuda) { cuda.canCooperate = false; },
       "cooperative launch"},
      {"launch",
       {{"coresident", true}},
       [](FakeCuda &cuda) { cuda.missing = {"cuOccupancyMaxActiveBlocksPerMultiprocessor"}; },
       "tells the occupancy"},
      {"grid", Json::array({"occ.blocks_per_sm", 1, 1}),
       [](FakeCuda &cuda) { cuda.missing = {"cuOccupancyMaxActiveBlocksPerMultiprocessor"}; },
       "tells the occupancy"},
  };
  for (const Case &c : cases) {
    Loader loader;
    c.take(loader.cuda);
    Json json = vectorAdd();
    variantOf(json, 0)[c.field] = c.value;
    INFO(c.field << " " << c.text);
    REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
    CHECK(loader.prepare("vector_add") == TKC_E_UNSUPPORTED);
    CHECK_THAT(loader.text(), Contains("sm_90a/v4/b1024.w4") && Contains(c.text));
  }
}

TEST_CASE("shared memory above 48 KiB is asked for, above the device's refused", "[runtime]") {
  Loader loader;
  Json json = vectorAdd();
  variantOf(json, 0)["resources"]["shared_dynamic"] = 49152;
  variantOf(json, 1)["resources"]["shared_dynamic"] = 100000;
  loader.load(json);
  CHECK(loader.cuda.dynamicShared ==
        std::map<std::string, int>{{"vector_add__f32_b1024_v1__6f1c2a90", 100000}});

  variantOf(json, 0)["resources"]["shared_static"] = 1;
  loader.load(json);
  CHECK(loader.cuda.dynamicShared.size() == 2);

  variantOf(json, 0)["resources"]["shared_dynamic"] = 232448;
  REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_RESOURCES);
  CHECK_THAT(loader.text(), Contains("232449") && Contains("232448"));

  loader.cuda.maxThreadsPerFunction = 64;
  REQUIRE(loader.openBundle(vectorAdd().dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_RESOURCES);
  CHECK_THAT(loader.text(), Contains("128 threads") && Contains("64"));
}

TEST_CASE("the code's parameters are compared where the driver can tell", "[runtime]") {
  Loader loader;
  loader.cuda.knowsParams = true;
  Json json = oneKernel(Json::array({tensorArg("x", "f32", {"N"}, {1})}));
  variantOf(json, 0)["params"] = {{"bytes", 16},
                                  {"align", 8},
                                  {"hidden", 0},
                                  {"list",
                                   {{{"at", 0}, {"size", 8}, {"type", "ptr"}, {"value", "x.ptr"}},
                                    {{"at", 8}, {"size", 4}, {"type", "i32"}, {"value", "N"}}}}};
  loader.cuda.params = {{0, 8}, {8, 4}};
  loader.load(json);
  struct Case {
    std::vector<std::pair<size_t, size_t>> params;
    const char *text;
  };
  const Case cases[] = {
      {{{0, 8}, {8, 8}}, "parameter 1 is 4 bytes at 8 in the JSON, 8 bytes at 8 in the code"},
      {{{0, 8}, {12, 4}}, "parameter 1 is 4 bytes at 8 in the JSON, 4 bytes at 12 in the code"},
      {{{0, 8}}, "parameter 1 is 4 bytes at 8 in the JSON, not there in the code"},
      {{{0, 8}, {8, 4}, {12, 4}},
       "parameter 2 is not there in the JSON, 4 bytes at 12 in the code"},
      {{{0, 4}, {4, 8}}, "parameter 0 is 8 bytes at 0 in the JSON, 4 bytes at 0 in the code"},
  };
  for (const Case &c : cases) {
    INFO(c.text);
    loader.cuda.params = c.params;
    CHECK(loader.prepare("k") == TKC_E_ABI);
    CHECK_THAT(loader.text(), Contains(c.text) && Contains("not of one compile"));
  }
}

TEST_CASE("contexts: the primary is retained, the caller's is used, none is left", "[runtime]") {
  Loader loader;
  REQUIRE(loader.openBundle(vectorAdd().dump()) == TKC_OK);
  loader.cuda.contexts = {at(0x99)};
  REQUIRE(loader.prepare("vector_add") == TKC_OK);
  CHECK(loader.cuda.retained == 1);
  CHECK(loader.cuda.contexts == std::vector<void *>{at(0x99)});

  int retains = loader.cuda.calls["cuDevicePrimaryCtxRetain"];
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.context = at(0x55);
  REQUIRE(loader.prepare("vector_add", {}, &desc) == TKC_OK);
  CHECK(loader.cuda.calls["cuDevicePrimaryCtxRetain"] == retains);
  CHECK(loader.cuda.contexts == std::vector<void *>{at(0x99)});
  CHECK(loader.cuda.loadedLibraries == 1); // one load for both

  desc.context = nullptr;
  desc.device = 2;
  CHECK(loader.prepare("vector_add", {}, &desc) == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("device is 2, this process sees 2"));
}

TEST_CASE("every driver call of prepare may fail, and nothing is left behind", "[runtime]") {
  const char *calls[] = {"cuDeviceGetCount",    "cuDeviceGet",          "cuDevicePrimaryCtxRetain",
                         "cuCtxPushCurrent_v2", "cuDeviceGetAttribute", "cuLibraryLoadData",
                         "cuLibraryGetKernel",  "cuKernelGetFunction",  "cuFuncLoad",
                         "cuFuncGetAttribute",  "cuFuncSetAttribute"};
  Json json = vectorAdd();
  variantOf(json, 0)["resources"]["shared_dynamic"] = 65536;
  for (const char *call : calls) {
    Loader loader;
    INFO(call);
    REQUIRE(loader.openBundle(json.dump()) == TKC_OK);
    loader.cuda.failures[call] = 999;
    CHECK(loader.prepare("vector_add") == TKC_E_DRIVER);
    CHECK(loader.error.driver_code == 999);
    CHECK_THAT(loader.text(), Contains("kernel `vector_add`"));
    CHECK(loader.kernel == nullptr);
    CHECK(loader.cuda.retained == 0);
    CHECK(loader.cuda.contexts.empty());
    loader.cuda.failures[call] = 900; // refused while capturing
    CHECK(loader.prepare("vector_add") == TKC_E_COLD);
    loader.cuda.failures.clear();
    CHECK(loader.prepare("vector_add") == TKC_OK);
  }
}

TEST_CASE("a symbol that the image lacks is named", "[runtime]") {
  Loader loader;
  loader.cuda.symbols = {"vector_add__f32_b1024_v4__6f1c2a90"};
  REQUIRE(loader.openBundle(vectorAdd().dump()) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("vector_add__f32_b1024_v1__6f1c2a90"));
}

TEST_CASE("a bundle may be released before its kernel", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  tkc_bundle_release(loader.bundle);
  tkc_driver_release(loader.driver);
  loader.bundle = nullptr;
  loader.driver = nullptr;
  Tensor x{at(4096), TKC_F32, {8}, {}}, y{at(8192), TKC_F32, {8}, {}};
  Tensor z{at(12288), TKC_F32, {8}, {}};
  REQUIRE(loader.encode({x, y, z}) == TKC_OK);
  CHECK(loader.submit() == TKC_OK);
}
