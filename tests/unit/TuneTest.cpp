//===- TuneTest.cpp - the tuner on a device whose clock is computed --------===//
#include "TuneFixture.h"

#include <algorithm>
#include <cstring>

using Catch::Matchers::Contains;

static const TunerUnderTest::Words kN4096 = {{"N", "4096"}};

static const TuneJson &candidate(const TuneJson &report, size_t index) {
  return report.at("shapes").at(0).at("candidates").at(index);
}

TEST_CASE("the fastest configuration wins, with its margin", "[tune]") {
  VirtualGpu gpu;
  gpu.microseconds = {{"scale_B64", 12}, {"scale_B128", 10}, {"scale_B256", 10.8}};
  TunerUnderTest tuner(gpu);
  for (int block : {64, 128, 256})
    REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
  tkc_status status = tuner.shape(kN4096);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  TuneJson report = tuner.report();
  const TuneJson &shape = report["shapes"][0];
  CHECK(shape["winner"] == 1);
  CHECK(shape["runner_up"] == 2);
  CHECK(shape["margin"].get<double>() == Approx(0.08).margin(0.02));
  CHECK(shape["key"] == TuneJson::array({4096}));
  CHECK(candidate(report, 1)["us"].get<double>() == Approx(10).epsilon(0.02));
  CHECK(candidate(report, 1)["p20"] <= candidate(report, 1)["us"]);
  CHECK(candidate(report, 1)["us"] <= candidate(report, 1)["p80"]);
  CHECK(candidate(report, 0)["state"] == "given up");
  CHECK_THAT(tuner.progress.back(), Contains("shape 1: 2 of 3 running, best B128.w4 "));
  CHECK(report["device"]["name"] == "Virtual H200");
}

TEST_CASE("the L2 cache is flushed before every launch, outside of what is timed", "[tune]") {
  VirtualGpu gpu;
  gpu.noise = 0;
  gpu.microseconds = {{"scale_B64", 10}};
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  CHECK(candidate(tuner.report(), 0)["us"].get<double>() == Approx(10).epsilon(0.001));
  CHECK(gpu.calls["cuMemsetD8Async"] >= static_cast<int>(gpu.launches.size()));
}

/// What ends the process does not give back: the tuner has to leave it where it is.
static void endProcess(TunerUnderTest &tuner) {
  tkc_tune_close(tuner.tuner);
  tuner.tuner = nullptr;
  CHECK(tuner.gpu.blockedCalls == 0);
  tuner.gpu.endProcess();
}

TEST_CASE("a fault or a hang costs one process: the next one times the others", "[tune]") {
  ScratchFolder folder;
  VirtualGpu gpu;
  std::string why = "CUDA_ERROR_ILLEGAL_ADDRESS";
  SECTION("the first of four faults") {
    gpu.faulty = {"scale_B64"};
  }
  SECTION("its launch never ends") {
    gpu.endless = "scale_B64";
    why = "it had not ended after 0.02 s";
  }
  for (bool isSecond : {false, true}) {
    INFO(isSecond);
    TunerUnderTest tuner(gpu);
    tuner.desc.cache = folder.path.c_str();
    tuner.desc.timeout_ms = 20;
    tuner.desc.margin = 10;
    for (int block : {64, 128, 256, 512})
      REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
    CHECK(tuner.shape({{"N", "1048576"}}) == (isSecond ? TKC_OK : TKC_E_NO_VARIANT));
    TuneJson report = tuner.report();
    CHECK(candidate(report, 0)["state"] == "failed");
    CHECK_THAT(candidate(report, 0)["why"].get<std::string>(), Contains(why));
    CHECK(candidate(report, 0).contains("cached") == isSecond);
    for (size_t other : {1, 2, 3})
      CHECK(candidate(report, other)["state"] == (isSecond ? "timed" : "cut short"));
    CHECK(report["device"].contains("lost") == !isSecond);
    if (isSecond)
      continue;
    std::string lost = report["device"]["lost"];
    CHECK_THAT(lost, Contains("the device was lost to B64.w4: ") && Contains(why));
    CHECK(candidate(report, 1)["why"] == lost);
    size_t launches = gpu.launches.size(); // another shape is listed, and not launched
    CHECK(tuner.shape({{"N", "64"}}) == TKC_E_NO_VARIANT);
    CHECK(tuner.report()["shapes"][1]["candidates"][1]["why"] == lost);
    CHECK(gpu.launches.size() == launches);
    CHECK(tuner.table().empty());
    endProcess(tuner);
  }
}

TEST_CASE("a fault is the process's: a new context gives it too, a new process does not", "[tune]") {
  VirtualGpu gpu;
  gpu.faulty = {"scale_B64"};
  for (int process = 0; process < 2; ++process) {
    TunerUnderTest tuner(gpu);
    REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
    CHECK(tuner.shape(kN4096) == TKC_E_NO_VARIANT);
    CHECK(tuner.tryOpen() == TKC_E_DRIVER);
    CHECK_THAT(tuner.text(), Contains("cuCtxCreate: CUDA_ERROR_ILLEGAL_ADDRESS"));
    endProcess(tuner);
  }
}

TEST_CASE("what had all its turns before a fault counts, and is kept", "[tune]") {
  ScratchFolder folder;
  VirtualGpu gpu;
  size_t turns = 0;
  gpu.effect = [&](const VirtualGpu::Launch &) {
    if (turns == 2 * 5) // the last turn of the second
      gpu.faulty = {"scale_B128"};
  };
  TunerUnderTest tuner(gpu);
  tuner.desc.cache = folder.path.c_str();
  tuner.desc.margin = 10;
  tuner.desc.user = &turns;
  tuner.desc.progress = tuner.desc.warn = nullptr;
  tuner.desc.launching = [](void *user, uint32_t, const char *) { ++*static_cast<size_t *>(user); };
  for (int block : {64, 128})
    REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  CHECK(candidate(tuner.report(), 0)["state"] == "timed");
  CHECK(candidate(tuner.report(), 1)["state"] == "failed");
  CHECK(tuner.table().size() == 1);
  CHECK(tuner.missing(kN4096, 2) == std::vector<uint8_t>{0, 0});
  endProcess(tuner);
}

TEST_CASE("a fault that ended another process is listed, kept, and not launched", "[tune]") {
  ScratchFolder folder;
  VirtualGpu gpu;
  for (bool isSecond : {false, true}) {
    INFO(isSecond);
    TunerUnderTest tuner(gpu);
    tuner.desc.cache = folder.path.c_str();
    for (int block : {64, 128})
      REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
    if (!isSecond)
      REQUIRE(tuner.fault(kN4096, 0, "signal 11") == TKC_OK);
    REQUIRE(tuner.shape(kN4096) == TKC_OK);
    CHECK(candidate(tuner.report(), 0)["state"] == "failed");
    CHECK(candidate(tuner.report(), 0)["why"] == "signal 11");
    for (const VirtualGpu::Launch &launch : gpu.launches)
      CHECK(launch.symbol != "scale_B64");
    REQUIRE(tuner.shape({{"N", "8192"}}) == TKC_OK); // another shape may be sound
    CHECK(tuner.report()["shapes"][1]["candidates"][0]["state"] != "failed");
    gpu.launches.clear();
    CHECK(tuner.fault(kN4096, 9, "x") == TKC_E_ARG);
    CHECK(tuner.fault(kN4096, 0, nullptr) == TKC_E_ARG);
  }
}

TEST_CASE("an older caller's shorter descriptor is taken, a newer one's zeros too", "[tune]") {
  VirtualGpu gpu;
  struct Newer {
    tkc_tune_desc known;
    uint64_t unknown;
  } newer{};
  TunerUnderTest tuner(gpu);
  memset(&tuner.desc.timeout_ms, 0xff, sizeof(tuner.desc) - TKC_TUNE_DESC_SIZE_1_0); // no part of it
  tuner.desc.size = TKC_TUNE_DESC_SIZE_1_0;
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  CHECK(tuner.shape(kN4096) == TKC_OK);
  tuner.desc.size = TKC_TUNE_DESC_SIZE_1_0 - 1;
  CHECK(tuner.tryOpen() == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("tkc_tune_desc: size is"));
  newer.known.size = sizeof(newer);
  newer.known.driver = &tuner.driver;
  REQUIRE(tkc_tune_open(&newer.known, &tuner.tuner, &tuner.error) == TKC_OK);
  tkc_tune_close(tuner.tuner);
  newer.unknown = 1;
  CHECK(tkc_tune_open(&newer.known, &tuner.tuner, &tuner.error) == TKC_E_UNSUPPORTED);
}

TEST_CASE("a configuration that does not fit or that `prune` names is never launched", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  TuneJson large = scaleJson(64), pruned = scaleJson(128), slow = scaleJson(512);
  large["kernels"][0]["variants"][0]["resources"]["registers"] = 1000;
  TuneJson prune = {0, {"gt", "N", 100}, 0, 0};
  for (TuneJson *json : {&large, &pruned, &slow})
    (*json)["kernels"][0]["tune"]["prune"] = prune;
  REQUIRE(tuner.add(large) == TKC_OK);
  REQUIRE(tuner.add(pruned) == TKC_OK);
  REQUIRE(tuner.add(slow) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  TuneJson report = tuner.report();
  CHECK(candidate(report, 0)["state"] == "left out");
  CHECK_THAT(candidate(report, 0)["why"].get<std::string>(), Contains("registers"));
  CHECK(candidate(report, 1)["state"] == "left out");
  CHECK_THAT(candidate(report, 1)["why"].get<std::string>(), Contains("N > 100"));
  CHECK(report["shapes"][0]["winner"] == 2);
  for (const VirtualGpu::Launch &launch : gpu.launches)
    CHECK(launch.symbol == "scale_B512");
}

TEST_CASE("the model leaves out what can't be fast", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  TuneJson one = scaleJson(64);
  one["kernels"][0]["variants"][0]["grid"][0] = 1; // the whole work in one block
  REQUIRE(tuner.add(one) == TKC_OK);
  REQUIRE(tuner.add(scaleJson(128)) == TKC_OK);
  REQUIRE(tuner.shape({{"N", "16777216"}}) == TKC_OK);
  CHECK(candidate(tuner.report(), 0)["state"] == "left out");
  CHECK_THAT(candidate(tuner.report(), 0)["why"].get<std::string>(), Contains("needs at least"));
}

TEST_CASE("failed compiles are listed", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  tuner.open();
  REQUIRE(tkc_tune_add_failed(tuner.tuner, "B4096.w4", "TK4001: too large", &tuner.error) ==
          TKC_OK);
  CHECK(tuner.shape(kN4096) == TKC_E_NO_VARIANT);
  CHECK_THAT(tuner.text(), Contains("TK4001"));
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  CHECK(candidate(tuner.report(), 0)["state"] == "failed");
  CHECK(candidate(tuner.report(), 0)["config_id"] == "B4096.w4");
  CHECK(tuner.report()["shapes"][0]["winner"] == 1);
}

TEST_CASE("what is wrong with a shape is said with the cure", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  CHECK(tuner.shape({}) == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("needs a value for `N`: add N=NUMBER to the shape"));
  CHECK(tuner.shape({{"N", "8"}, {"M", "8"}}) == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("the shape has `M`, which kernel `scale` does not know"));
  CHECK(tuner.shape({{"N", "-8"}}) == TKC_E_EXTENT);
  CHECK(tuner.shape({{"N", "100000000000000"}}) == TKC_E_EXTENT);
  CHECK(tuner.shape(kN4096, {{"q", "rand"}}) == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("no tensor or pointer `q`"));
  CHECK(tuner.shape(kN4096, {{"x", "noise"}}) == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("randint(LOW,HIGH)"));
  CHECK(tuner.shape({{"N", "40000000000"}}) == TKC_E_NOMEM);
  CHECK_THAT(tuner.text(), Contains("tune a smaller shape"));
}

TEST_CASE("parameters are filled as asked: floats at random, integers with 0", "[tune]") {
  VirtualGpu gpu;
  std::vector<float> seen;
  gpu.effect = [&](const VirtualGpu::Launch &launch) {
    if (seen.empty())
      seen.assign(launch.pointer<float>(0), launch.pointer<float>(0) + 4096);
  };
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  SECTION("random") {
    REQUIRE(tuner.shape(kN4096) == TKC_OK);
    CHECK(*std::min_element(seen.begin(), seen.end()) < -0.9f);
    CHECK(*std::max_element(seen.begin(), seen.end()) > 0.9f);
    CHECK(*std::max_element(seen.begin(), seen.end()) < 1.0f);
  }
  SECTION("arange") {
    REQUIRE(tuner.shape(kN4096, {{"x", "arange"}}) == TKC_OK);
    CHECK(seen[0] == 0);
    CHECK(seen[4095] == 4095);
  }
  SECTION("a permutation") {
    REQUIRE(tuner.shape(kN4096, {{"x", "perm"}}) == TKC_OK);
    std::vector<float> sorted = seen;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted[4095] == 4095);
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    CHECK(sorted != seen);
  }
  SECTION("integers of a range") {
    REQUIRE(tuner.shape(kN4096, {{"x", "randint(3,5)"}}) == TKC_OK);
    CHECK(*std::min_element(seen.begin(), seen.end()) == 3);
    CHECK(*std::max_element(seen.begin(), seen.end()) == 4);
  }
}

TEST_CASE("every launch of an inout kernel begins with the same values", "[tune]") {
  VirtualGpu gpu;
  std::vector<float> before;
  gpu.effect = [&](const VirtualGpu::Launch &launch) {
    float *y = launch.pointer<float>(8);
    before.push_back(y[7]);
    for (int i = 0; i < 4096; ++i)
      y[i] += 1;
  };
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64, "inout")) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  REQUIRE(before.size() > 10);
  CHECK(std::count(before.begin(), before.end(), before[0]) == static_cast<long>(before.size()));
}

TEST_CASE("a zeroed parameter is zero before every launch", "[tune]") {
  VirtualGpu gpu;
  float most = 0;
  gpu.effect = [&](const VirtualGpu::Launch &launch) {
    most = std::max(most, launch.pointer<float>(8)[7]);
    launch.pointer<float>(8)[7] += 1;
  };
  TunerUnderTest tuner(gpu);
  TuneJson json = scaleJson(64, "inout");
  json["kernels"][0]["args"][1]["zeroed"] = true;
  REQUIRE(tuner.add(json) == TKC_OK);
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  CHECK(most == 0);
}

namespace {
/// A caller with a context, a stream of values, and buffers that live in it.
struct Live {
  explicit Live(TunerUnderTest &tuner) : x(4096, 1.0f), y(4096, 5.0f) {
    tuner.desc.context = &context;
    add(x);
    add(y);
  }
  void add(std::vector<float> &data) {
    tkc_arg arg{};
    arg.kind = TKC_TENSOR;
    arg.u.tensor.data = data.data();
    arg.u.tensor.extents = &n;
    arg.u.tensor.dtype = TKC_F32;
    arg.u.tensor.rank = 1;
    args.push_back(arg);
  }
  int64_t n = 4096;
  // The double reads a flag behind a context's address.
  bool context = false;
  alignas(256) std::vector<float> x, y;
  std::vector<tkc_arg> args;
};
} // namespace

// An in-place kernel is not scaled once for each trial (triton-lang/triton#6547).
TEST_CASE("tuning on live data writes nothing, or what one launch writes", "[tune]") {
  VirtualGpu gpu;
  gpu.effect = [&](const VirtualGpu::Launch &launch) {
    float *y = launch.pointer<float>(8);
    for (int i = 0; i < 4096; ++i)
      y[i] = 2 * y[i] + launch.pointer<float>(0)[i];
  };
  TunerUnderTest tuner(gpu);
  Live live(tuner);
  for (int block : {64, 128})
    REQUIRE(tuner.add(scaleJson(block, "inout")) == TKC_OK);
  REQUIRE(tkc_tune_args(tuner.tuner, live.args.data(), 2, 0, &tuner.error) == TKC_OK);
  CHECK(live.y == std::vector<float>(4096, 5.0f));
  CHECK(gpu.launches.size() > 10);

  tkc_status status =
      tkc_tune_args(tuner.tuner, live.args.data(), 2, TKC_TUNE_LAUNCH, &tuner.error);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  CHECK(live.y == std::vector<float>(4096, 11.0f));
  CHECK(live.x == std::vector<float>(4096, 1.0f));
}

// Sums hold nothing of the trials, whichever configurations there are (triton-lang/triton#3004): added to what the
// caller had, or to the zeros that a launch begins with.
TEST_CASE("sums on live data hold one launch's, none of the trials'", "[tune]") {
  for (bool isZeroed : {false, true}) {
    VirtualGpu gpu;
    gpu.effect = [&](const VirtualGpu::Launch &launch) {
      for (int i = 0; i < 4096; ++i)
        launch.pointer<float>(8)[i % 16] += launch.pointer<float>(0)[i];
    };
    TunerUnderTest tuner(gpu);
    Live live(tuner);
    float before = isZeroed ? 0.0f : 5.0f;
    std::fill(live.y.begin(), live.y.end(), before);
    for (int block : {64, 32}) {
      TuneJson json = scaleJson(block, "inout");
      json["kernels"][0]["args"][1]["zeroed"] = isZeroed;
      REQUIRE(tuner.add(json) == TKC_OK);
    }
    tkc_status status = tkc_tune_args(tuner.tuner, live.args.data(), 2, TKC_TUNE_LAUNCH, &tuner.error);
    INFO(tuner.text());
    REQUIRE(status == TKC_OK);
    CHECK(gpu.launches.size() > 10);
    CHECK(live.y[3] == before + 256);
    CHECK(live.y[16] == before);
  }
}

TEST_CASE("live data needs its context", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  tkc_arg none{};
  CHECK(tkc_tune_args(tuner.tuner, &none, 1, 0, &tuner.error) == TKC_E_ARG);
  CHECK_THAT(tuner.text(), Contains("tkc_tune_desc.context"));
}

TEST_CASE("candidates are of one kernel", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
  CHECK(tuner.add(scaleJson(128, "inout")) == TKC_E_ABI);
  TuneJson json = scaleJson(64);
  json["kernels"].push_back(json["kernels"][0]);
  json["kernels"][1]["instance"]["T"] = "f16";
  CHECK(tuner.add(json) == TKC_E_AMBIGUOUS);
  CHECK_THAT(tuner.text(), Contains("scale[T=f16]"));
}

TEST_CASE("a benchmark gives each launch's time, the copy's rate and both sides", "[tune]") {
  VirtualGpu gpu;
  gpu.microseconds = {{"scale_B64", 10}, {"scale_B128", 30}};
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(scaleJson(64), "new", TKC_TUNE_AS_SHIPPED) == TKC_OK);
  REQUIRE(tuner.add(scaleJson(128), "baseline", TKC_TUNE_AS_SHIPPED) == TKC_OK);
  tkc_status status = tuner.bench(kN4096);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  TuneJson report = tuner.report();
  CHECK(candidate(report, 0)["label"] == "new");
  CHECK(candidate(report, 1)["state"] == "timed"); // three times as slow, and not given up
  CHECK(candidate(report, 1)["times"].size() == candidate(report, 1)["samples"]);
  CHECK(report["shapes"][0]["bytes"] == 32768);
  CHECK(report["device"]["copy_bytes_per_second"].get<double>() > 1e12);
  CHECK(tuner.table().empty());
  // A B A B: the symbol changes more than once.
  size_t changes = 0;
  for (size_t i = 1; i < gpu.launches.size(); ++i)
    changes += gpu.launches[i].symbol != gpu.launches[i - 1].symbol;
  CHECK(changes > 5);
}

TEST_CASE("a machine without the device or with an old driver says so", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  tuner.desc.device = 7;
  CHECK(tuner.tryOpen() == TKC_E_DEVICE);
  CHECK_THAT(tuner.text(), Contains("there is no device 7: this machine has 2"));
  tuner.desc.device = 0;
  gpu.driverVersion = 11080;
  CHECK(tuner.tryOpen() == TKC_E_DRIVER_OLD);
  gpu.driverVersion = 13000;
  tuner.desc.shard = 3;
  tuner.desc.shards = 2;
  CHECK(tuner.tryOpen() == TKC_E_ARG);
}

/// One bundle of two configurations, the first of which is the default.
static TuneJson twoConfigurations() {
  TuneJson json = scaleJson(64), second = scaleJson(128);
  TuneJson &variants = json["kernels"][0]["variants"];
  variants.push_back(second["kernels"][0]["variants"][0]);
  variants[1]["default_rank"] = 1;
  return json;
}

TEST_CASE("each configuration of one bundle is a candidate", "[tune]") {
  VirtualGpu gpu;
  gpu.microseconds = {{"scale_B64", 12}, {"scale_B128", 10}};
  TunerUnderTest tuner(gpu);
  REQUIRE(tuner.add(twoConfigurations()) == TKC_OK);
  tkc_status status = tuner.shape(kN4096);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  TuneJson report = tuner.report();
  REQUIRE(report["shapes"][0]["candidates"].size() == 2);
  CHECK(report["shapes"][0]["winner"] == 1);
  CHECK(candidate(report, 1)["config_id"] == "B128.w4");
  CHECK(candidate(report, 1)["variant"] == "sm_90a/B128");
}

TEST_CASE("a configuration that does not take the shape is not timed under its name", "[tune]") {
  VirtualGpu gpu;
  TunerUnderTest tuner(gpu);
  TuneJson json = twoConfigurations();
  json["kernels"][0]["variants"][1]["when"] =
      TuneJson::array({TuneJson::array({"divides", 1000, "N"})});
  TuneJson third = scaleJson(256);
  json["kernels"][0]["variants"].push_back(third["kernels"][0]["variants"][0]);
  json["kernels"][0]["variants"][2]["default_rank"] = 2; // what is tried last has no guards
  REQUIRE(tuner.add(json) == TKC_OK);
  tkc_status status = tuner.shape(kN4096);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  CHECK(candidate(tuner.report(), 1)["state"] == "failed");
  CHECK_THAT(candidate(tuner.report(), 1)["why"].get<std::string>(), Contains("falls back"));
  CHECK(tuner.report()["shapes"][0]["winner"] == 2);
}
