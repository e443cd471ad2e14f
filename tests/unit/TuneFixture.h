//===- TuneFixture.h - what the tests of tuning share ----------------------===//
#ifndef TKC_TESTS_TUNE_FIXTURE_H
#define TKC_TESTS_TUNE_FIXTURE_H

#include "VirtualGpu.h"

#include <tkc/tune.h>

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using TuneJson = nlohmann::json;

/// A kernel `scale` with `in x: f32[N]` and `y: f32[N]` of this access, one configuration
/// {B: block, warps: 4} with the symbol "scale_B<block>", and a grid of cdiv(N, block).
TuneJson scaleJson(int block, const char *access = "out");

/// A folder of its own under /tmp, removed with its files at the end.
struct ScratchFolder {
  ScratchFolder();
  ~ScratchFolder();
  std::string path;
};

/// A tuner on the virtual device. What it warns of and its progress are kept.
struct TunerUnderTest {
  explicit TunerUnderTest(VirtualGpu &gpu);
  ~TunerUnderTest();

  void open(); ///< must succeed
  tkc_status tryOpen();
  tkc_status add(const TuneJson &json, const char *label = nullptr, uint32_t flags = 0);
  tkc_status addWithoutCode(const TuneJson &json);
  using Words = std::vector<std::pair<std::string, std::string>>;
  tkc_status shape(const Words &values, const Words &fills = {});
  tkc_status bench(const Words &values);
  tkc_status fault(const Words &values, uint32_t candidate, const char *reason);
  std::vector<uint8_t> missing(const Words &values, size_t candidates);
  TuneJson report();
  TuneJson table();
  std::string text() const { return error.text; }

  VirtualGpu &gpu;
  tkc_driver_desc driver;
  tkc_tune_desc desc{};
  tkc_tuner *tuner = nullptr;
  tkc_error error{};
  std::string image = std::string(64, '\0');
  std::vector<std::string> warnings, progress;

private:
  template <typename Call>
  tkc_status withProblem(const Words &values, const Words &fills, Call call);
};

#endif
