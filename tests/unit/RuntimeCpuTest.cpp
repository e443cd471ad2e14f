//===- RuntimeCpuTest.cpp - the interpreter as a device ---------------------===//
#include "FakeCudaFixture.h"

#include <tkc/cpu.h>

using Catch::Matchers::Contains;

namespace {
/// A double of the interpreter: remembers what it was given.
struct FakeCpu {
  std::string image, symbol, finding;
  int loaded = 0;
  int32_t loadCode = 0, launchCode = 0;
  std::vector<uint32_t> grid;
  std::string params;
};
FakeCpu *cpu = nullptr;

int32_t load(const void *image, size_t bytes, const char *symbol, tkc_cpu_program **program,
             char *text, size_t room) {
  cpu->image.assign(static_cast<const char *>(image), bytes);
  cpu->symbol = symbol;
  *program = nullptr;
  if (cpu->loadCode) {
    snprintf(text, room, "%s", "line 3: no kernel of that name");
    return cpu->loadCode;
  }
  ++cpu->loaded;
  *program = reinterpret_cast<tkc_cpu_program *>(cpu);
  return 0;
}

int32_t launch(const tkc_cpu_program *, const uint32_t grid[3], const void *params, size_t bytes,
               char *text, size_t room) {
  cpu->grid.assign(grid, grid + 3);
  cpu->params.assign(static_cast<const char *>(params), bytes);
  if (cpu->launchCode)
    snprintf(text, room, "%s", cpu->finding.c_str());
  return cpu->launchCode;
}

void unload(tkc_cpu_program *program) {
  cpu->loaded -= program != nullptr;
}

tkc_cpu_api table = {sizeof(tkc_cpu_api), TKC_CPU_VERSION, load, launch, unload};

const tkc_cpu_api *api() {
  return &table;
}

void *resolveCpu(void *, const char *symbol) {
  return strcmp(symbol, "tkc_cpu_api_v1") == 0 ? reinterpret_cast<void *>(api) : nullptr;
}
} // namespace

/// x[N] in, p a pointer, n an i32 scalar, for the interpreter and for sm_90a.
static Json cpuKernel() {
  Json pointer = {{"name", "p"}, {"kind", "pointer"}, {"dtype", "i32"}, {"access", "out"}};
  Json json =
      oneKernel(Json::array({tensorArg("x", "f32", {"N"}, {1}), pointer, scalarArg("n", "i32")}));
  Json &variants = json["kernels"][0]["variants"];
  Json variant = variants[0];
  variant["id"] = "interp";
  variant["default_rank"] = 9;
  variant["target"] = {{"vendor", "cpu"}, {"arch", "interp"}, {"match", "exact"}};
  variant["symbol"] = "k";
  variant["image"] = 0;
  variant["block"] = {1, 1, 1};
  variant["grid"] = {Json::array({"cdiv", "N", 4}), "sms", 1};
  Json list = Json::array();
  int at = 0;
  for (const char *value : {"x.ptr", "x.e0", "x.s0", "p.ptr", "p.span"}) {
    bool isAddress = strstr(value, ".ptr");
    list.push_back(
        {{"at", at}, {"size", 8}, {"type", isAddress ? "ptr" : "i64"}, {"value", value}});
    at += 8;
  }
  list.push_back({{"at", at}, {"size", 4}, {"type", "i32"}, {"value", "n"}});
  variant["params"] = {{"bytes", at + 4}, {"align", 8}, {"hidden", 0}, {"list", list}};
  json["images"][0]["kind"] = "tk";
  json["needs"] = {"span.1"};
  variants = Json::array({variant});
  return json;
}

namespace {
struct CpuLoader : Loader {
  FakeCpu fake;
  CpuLoader() {
    cpu = &fake;
    tkc_driver_desc desc{};
    desc.size = sizeof(desc);
    desc.backend = TKC_CPU;
    desc.resolve = resolveCpu;
    REQUIRE(tkc_driver_open(&desc, &driver, &error) == TKC_OK);
  }
  ~CpuLoader() {
    tkc_kernel_release(kernel);
    kernel = nullptr;
    CHECK(fake.loaded == 0);
  }
};
} // namespace

TEST_CASE("a launch on the CPU goes to the interpreter with grid and parameters",
          "[runtime][cpu]") {
  CpuLoader loader;
  loader.load(cpuKernel());
  CHECK(loader.fake.image == std::string(64, '\0'));
  CHECK(loader.fake.symbol == "k");
  CHECK(loader.fake.loaded == 1);
  float data[10];
  int32_t out[4];
  Tensor x{data, TKC_F32, {10}, {}};
  REQUIRE(loader.encode({x, pointer(TKC_I32, out, sizeof(out)), scalar(TKC_I32, uint64_t(-5))}) ==
          TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.fake.grid == std::vector<uint32_t>{3, 1, 1});
  REQUIRE(loader.fake.params.size() == 44);
  int64_t words[5];
  int32_t n;
  memcpy(words, loader.fake.params.data(), 40);
  memcpy(&n, loader.fake.params.data() + 40, 4);
  CHECK(words[0] == static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)));
  CHECK(words[1] == 10);
  CHECK(words[2] == 1);
  CHECK(words[3] == static_cast<int64_t>(reinterpret_cast<uintptr_t>(out)));
  CHECK(words[4] == 16);
  CHECK(n == -5);
  CHECK(loader.cuda.calls.empty());
}

TEST_CASE("sms on the CPU is what the caller says, else 1", "[runtime][cpu]") {
  CpuLoader loader;
  REQUIRE(loader.openBundle(cpuKernel().dump()) == TKC_OK);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.max_sms = 7;
  REQUIRE(loader.prepare("k", {}, &desc) == TKC_OK);
  float data[4];
  int32_t out;
  Tensor x{data, TKC_F32, {4}, {}};
  REQUIRE(loader.encode({x, pointer(TKC_I32, &out, 4), scalar(TKC_I32, 0)}) == TKC_OK);
  CHECK(loader.launch.grid[1] == 7);
  desc.device = 1;
  CHECK(loader.prepare("k", {}, &desc) == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("the CPU is device 0"));
}

TEST_CASE("what the interpreter finds is TKC_E_KERNEL with its text", "[runtime][cpu]") {
  CpuLoader loader;
  loader.load(cpuKernel());
  float data[4];
  int32_t out;
  Tensor x{data, TKC_F32, {4}, {}};
  REQUIRE(loader.encode({x, pointer(TKC_I32, &out, 4), scalar(TKC_I32, 0)}) == TKC_OK);
  loader.fake.launchCode = TKC_CPU_E_KERNEL;
  loader.fake.finding = "k.tk:7:3: store out of bounds: index 4 of 4";
  CHECK(loader.submit() == TKC_E_KERNEL);
  CHECK(loader.text() == "kernel `k`: k.tk:7:3: store out of bounds: index 4 of 4");
  loader.fake.launchCode = 77;
  CHECK(loader.submit() == TKC_E_DRIVER);

  loader.fake.loadCode = TKC_CPU_E_IMAGE;
  CHECK(loader.prepare("k") == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("variant `interp`: the interpreter: line 3: no kernel"));
}

TEST_CASE("the CPU runs its own variants only, and no GPU runs those", "[runtime][cpu]") {
  {
    CpuLoader loader;
    REQUIRE(loader.openBundle(vectorAdd().dump()) == TKC_OK);
    CHECK(loader.prepare("vector_add") == TKC_E_DEVICE);
    CHECK_THAT(loader.text(), Contains("arch interp") && Contains("is for sm_90a"));
  }
  Loader loader;
  REQUIRE(loader.openBundle(cpuKernel().dump()) == TKC_OK);
  CHECK(loader.prepare("k") == TKC_E_DEVICE);
  CHECK_THAT(loader.text(), Contains("`interp` is for interp (exact)"));
}

TEST_CASE("an interpreter of another version is refused", "[runtime][cpu]") {
  tkc_driver_desc desc{};
  desc.size = sizeof(desc);
  desc.backend = TKC_CPU;
  desc.resolve = resolveCpu;
  tkc_driver *driver = nullptr;
  tkc_error error{};
  table.version = 2;
  CHECK(tkc_driver_open(&desc, &driver, &error) == TKC_E_DRIVER_OLD);
  CHECK_THAT(error.text, Contains("version 2") && Contains("needed 1"));
  table.version = TKC_CPU_VERSION;
  desc.resolve = [](void *, const char *) -> void * { return nullptr; };
  CHECK(tkc_driver_open(&desc, &driver, &error) == TKC_E_DRIVER_OLD);
  CHECK_THAT(error.text, Contains("tkc_cpu_api_v1"));
}

TEST_CASE("targets of the CPU are of one kind", "[runtime][cpu][hostile]") {
  CpuLoader loader;
  Json json = cpuKernel();
  Json &target = json["kernels"][0]["variants"][0]["target"];
  target["arch"] = "sm_90a";
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("needed interp and exact for cpu"));
  target["arch"] = "interp";
  json["images"][0]["kind"] = "cubin";
  CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("image of another vendor"));
}
