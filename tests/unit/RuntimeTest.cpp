//===- RuntimeTest.cpp - the loader's good paths, and its arguments --------===//
#include "FakeCudaFixture.h"

#include <fstream>
#include <sstream>

using Catch::Matchers::Contains;

template <typename T> static T read(const std::vector<unsigned char> &bytes, size_t at) {
  T value;
  REQUIRE(at + sizeof(T) <= bytes.size());
  memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The vector add's arguments: n elements at three addresses.
static std::vector<tkc_arg> addArgs(const std::vector<Tensor> &tensors) {
  return {tensors.begin(), tensors.end()};
}

static std::vector<Tensor> addTensors(int64_t n, uintptr_t x = 0x10000, uintptr_t y = 0x20000,
                                      uintptr_t z = 0x30000) {
  return {{at(x), TKC_F32, {n}, {}}, {at(y), TKC_F32, {n}, {}}, {at(z), TKC_F32, {n}, {}}};
}

/// Encodes the vector add with these tensors.
static tkc_status encodeAdd(Loader &loader, const std::vector<Tensor> &tensors) {
  return loader.encode(addArgs(tensors));
}

TEST_CASE("an aligned launch takes the first variant, byte by byte", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  REQUIRE(encodeAdd(loader, addTensors(4100)) == TKC_OK);
  CHECK(loader.launch.variant == 0);
  REQUIRE(loader.submit(at(0x77)) == TKC_OK);
  REQUIRE(loader.cuda.launches.size() == 1);
  const FakeCuda::Launch &launch = loader.cuda.launches[0];
  CHECK(launch.symbol == "vector_add__f32_b1024_v4__6f1c2a90");
  CHECK(launch.stream == at(0x77));
  CHECK(launch.grid[0] == 5);
  CHECK(launch.grid[1] == 1);
  CHECK(launch.grid[2] == 1);
  CHECK(launch.block[0] == 128);
  CHECK(launch.sharedBytes == 0);
  const std::vector<unsigned char> bytes = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0,  0, 0,
                                            0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 16, 0, 0};
  CHECK(launch.params == bytes);
}

TEST_CASE("a misaligned pointer or a huge N takes the next variant", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  REQUIRE(encodeAdd(loader, addTensors(4100, 0x10004)) == TKC_OK);
  CHECK(loader.launch.variant == 1);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.launches[0].params.size() == 32);
  CHECK(read<int64_t>(loader.cuda.launches[0].params, 24) == 4100);

  int64_t huge = int64_t(1) << 33;
  uintptr_t far = uintptr_t(1) << 40;
  REQUIRE(encodeAdd(loader, addTensors(huge, far, 2 * far, 3 * far)) == TKC_OK);
  CHECK(loader.launch.variant == 1);
  CHECK(loader.launch.grid[0] == 1u << 23);
}

TEST_CASE("a launch of nothing succeeds without a driver call", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  REQUIRE(encodeAdd(loader, addTensors(0, 0, 0, 0)) == TKC_OK);
  CHECK(loader.launch.variant == -1);
  REQUIRE(loader.submit() == TKC_OK);

  // Without noop_when an empty grid does the same.
  Json json = vectorAdd();
  json["kernels"][0].erase("noop_when");
  loader.load(json);
  REQUIRE(encodeAdd(loader, addTensors(0, 0, 0, 0)) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.launches.empty());
}

TEST_CASE("a launch can be submitted again, and restores no context", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  REQUIRE(encodeAdd(loader, addTensors(8)) == TKC_OK);
  auto before = loader.cuda.calls;
  for (int i = 0; i < 3; ++i)
    REQUIRE(loader.submit() == TKC_OK);
  // The driver was called three times in all.
  before["cuLaunchKernel"] += 3;
  CHECK(loader.cuda.calls == before);
}

TEST_CASE("count, kind, dtype and rank of arguments are checked", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  auto tensors = addTensors(8);
  auto args = addArgs(tensors);

  args.pop_back();
  CHECK(loader.encode(args) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("2 arguments given, needed 3"));

  args.push_back(scalar(TKC_F32, 0));
  CHECK(loader.encode(args) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("`z` is given a scalar, needed a tensor"));

  args[2] = tkc_arg{};
  CHECK(loader.encode(args) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("nothing") && Contains("not optional"));

  tensors[1].dtype = TKC_F16;
  CHECK(encodeAdd(loader, tensors) == TKC_E_DTYPE);
  CHECK_THAT(loader.text(), Contains("kernel `vector_add`") && Contains("`y` is given f16") &&
                                Contains("needed f32"));

  tensors = addTensors(8);
  tensors[0].extents = {2, 4};
  CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`x` is given rank 2, needed 1"));
}

TEST_CASE("extents, strides and ranges are checked with both numbers", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  auto tensors = addTensors(8);
  tensors[1].extents = {9};
  CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`y`: extent 0 is 9, needed 8, which is `N` of `x`"));

  tensors = addTensors(-1);
  CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("extent 0 is -1"));

  tensors = addTensors(8);
  tensors[2].strides = {2};
  CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`z`: stride 0 is 2, needed 1"));

  // An extent of 1 leaves the stride free.
  tensors = addTensors(1);
  tensors[2].strides = {7};
  CHECK(encodeAdd(loader, tensors) == TKC_OK);

  CHECK(encodeAdd(loader, addTensors(2199023254529)) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`N` is 2199023254529, needed 0 to 2199023254528"));
}

TEST_CASE("alignment, null data and spans are checked", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  CHECK(encodeAdd(loader, addTensors(8, 0x10002)) == TKC_E_ALIGN);
  CHECK_THAT(loader.text(), Contains("`x`: address 0x10002, needed a multiple of 4"));

  CHECK(encodeAdd(loader, addTensors(8, 0)) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("`x`: data is NULL"));

  auto tensors = addTensors(8);
  tensors[0].spanBytes = 31;
  CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("reaches 32 bytes") && Contains("owns 31"));
  tensors[0].spanBytes = 32;
  CHECK(encodeAdd(loader, tensors) == TKC_OK);

  CHECK(encodeAdd(loader, addTensors(int64_t(1) << 39, uintptr_t(1) << 62,
                                     (uintptr_t(1) << 63) - 4096)) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("leave the address space"));
}

TEST_CASE("two elements of 4 bits share a byte", "[runtime]") {
  const std::pair<const char *, uint16_t> dtypes[] = {{"i4", TKC_I4}, {"u4", TKC_U4}, {"f4e2m1", TKC_F4E2M1}};
  for (auto [dtype, code] : dtypes) {
    Loader loader;
    Json json = vectorAdd();
    for (Json &arg : json["kernels"][0]["args"])
      arg["dtype"] = dtype, arg["align"] = 1;
    loader.load(json);
    const int n = 7; // four bytes
    auto tensors = addTensors(n, 0x10000, 0x10004, 0x10009);
    for (auto &tensor : tensors)
      tensor.dtype = code;
    CHECK(encodeAdd(loader, tensors) == TKC_OK);
    tensors[0].spanBytes = 3;
    CHECK(encodeAdd(loader, tensors) == TKC_E_EXTENT);
    CHECK_THAT(loader.text(), Contains("reaches 4 bytes") && Contains("owns 3"));
    tensors[0].spanBytes = 4;
    CHECK(encodeAdd(loader, tensors) == TKC_OK);
    tensors[2].data = reinterpret_cast<void *>(uintptr_t(0x10007)); // the last byte of y, half used
    CHECK(encodeAdd(loader, tensors) == TKC_E_OVERLAP);
  }
}

TEST_CASE("disjoint parameters may not share a byte", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  auto tensors = addTensors(8, 0x10000, 0x20000, 0x2001c);
  CHECK(encodeAdd(loader, tensors) == TKC_E_OVERLAP);
  CHECK_THAT(loader.text(),
             Contains("`z` [0x2001c, 0x2003c)") && Contains("`y` [0x20000, 0x20020)"));
  CHECK(encodeAdd(loader, addTensors(8, 0x10000, 0x20000, 0x20020)) == TKC_OK);
  // x and y may be one: only pairs with z are promised.
  CHECK(encodeAdd(loader, addTensors(8, 0x10000, 0x10000)) == TKC_OK);

  tkc_options options{};
  options.size = sizeof(options);
  options.flags = TKC_NO_OVERLAP_CHECK;
  auto args = addArgs(tensors);
  CHECK(loader.encode(args, &options) == TKC_OK);
}

TEST_CASE("a pinned variant is taken, or says why not", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  tkc_options options{};
  options.size = sizeof(options);
  options.flags = TKC_PIN_VARIANT;
  options.variant = 1;
  auto tensors = addTensors(8);
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_OK);
  CHECK(loader.launch.variant == 1);

  options.variant = 0;
  tensors = addTensors(9);
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_E_NO_VARIANT);
  CHECK_THAT(loader.text(), Contains("pinned") && Contains("divides(4, N)"));

  options.variant = 2;
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_E_NO_VARIANT);
}

TEST_CASE("options that this release lacks are refused, never ignored", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  auto tensors = addTensors(8);
  tkc_options options{};
  options.size = sizeof(options);
  options.vendor_attrs = &options;
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_E_UNSUPPORTED);
  options.vendor_attrs = nullptr;
  options.flags = 1u << 30;
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_E_ARG);
  options.flags = 0;
  options.size = 4;
  CHECK(loader.encode(addArgs(tensors), &options) == TKC_E_ARG);

  // A longer structure of a later release: good while what is not known here is zero.
  struct {
    tkc_options known;
    uint64_t later;
  } longer{};
  longer.known.size = sizeof(longer);
  CHECK(loader.encode(addArgs(tensors), &longer.known) == TKC_OK);
  longer.later = 1;
  CHECK(loader.encode(addArgs(tensors), &longer.known) == TKC_E_UNSUPPORTED);
}

TEST_CASE("the parameter buffer's room and alignment are checked", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  auto tensors = addTensors(8);
  loader.launch.param_capacity = 27;
  CHECK(encodeAdd(loader, tensors) == TKC_E_ARG);
  CHECK(loader.launch.param_bytes == 28);
  CHECK_THAT(loader.text(), Contains("room for 27 bytes, needed 28"));
  loader.launch.param_capacity = 64;
  loader.launch.params = loader.params + 4;
  CHECK(encodeAdd(loader, tensors) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("multiple of 8"));
  loader.launch.params = nullptr;
  CHECK(encodeAdd(loader, tensors) == TKC_E_ARG);
  loader.launch.size = 8;
  CHECK(encodeAdd(loader, tensors) == TKC_E_ARG);
}

TEST_CASE("a launch that fails is not blamed for what earlier work did", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  REQUIRE(encodeAdd(loader, addTensors(8)) == TKC_OK);
  loader.cuda.failures["cuLaunchKernel"] = 700;
  CHECK(loader.submit() == TKC_E_DRIVER);
  CHECK(loader.error.driver_code == 700);
  CHECK(loader.error.earlier_async == 1);
  CHECK_THAT(loader.text(), Contains("kernel `vector_add`") &&
                                Contains("CUDA_ERROR_ILLEGAL_ADDRESS") && Contains("earlier work"));
  loader.cuda.failures["cuLaunchKernel"] = 1;
  CHECK(loader.submit() == TKC_E_DRIVER);
  CHECK(loader.error.earlier_async == 0);
  loader.cuda.failures["cuLaunchKernel"] = 701;
  CHECK(loader.submit() == TKC_E_RESOURCES);
}

TEST_CASE("errors may be NULL, and a structure that is too small is left alone", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  CHECK(tkc_encode(loader.kernel, nullptr, 0, nullptr, &loader.launch, nullptr) == TKC_E_ARG);
  tkc_error small{};
  small.size = 16;
  small.text[0] = 'x';
  CHECK(tkc_encode(loader.kernel, nullptr, 0, nullptr, &loader.launch, &small) == TKC_E_ARG);
  CHECK(small.text[0] == 'x');
  CHECK(tkc_submit(nullptr, &loader.launch, nullptr, nullptr) == TKC_E_ARG);
  CHECK(std::string(tkc_status_name(TKC_E_GRID)) == "TKC_E_GRID");
  CHECK(std::string(tkc_status_name(999)) == "unknown");
  CHECK(tkc_rt_version() == TKC_RT_VERSION);
}

TEST_CASE("tkc_describe gives the JSON back, if there is room", "[runtime]") {
  Loader loader;
  loader.load(vectorAdd());
  size_t bytes = 0;
  CHECK(tkc_describe(loader.kernel, 1, nullptr, &bytes, &loader.error) == TKC_E_ARG);
  std::string text(bytes, 'x');
  REQUIRE(tkc_describe(loader.kernel, 1, &text[0], &bytes, &loader.error) == TKC_OK);
  CHECK(Json::parse(text.c_str()) == vectorAdd()["kernels"][0]["variants"][1]);
  bytes = 0;
  tkc_describe(loader.kernel, -1, nullptr, &bytes, nullptr);
  text.assign(bytes, 'x');
  REQUIRE(tkc_describe(loader.kernel, -1, &text[0], &bytes, &loader.error) == TKC_OK);
  CHECK(Json::parse(text.c_str())["args"] == vectorAdd()["kernels"][0]["args"]);
  CHECK(tkc_describe(loader.kernel, 2, nullptr, &bytes, &loader.error) == TKC_E_ARG);
}

TEST_CASE("the example in docs/metadata.md is the one that is tested", "[runtime]") {
  std::string self = __FILE__;
  std::ifstream page(self.substr(0, self.find("tests/unit/")) + "docs/metadata.md");
  if (!page) {
    WARN("docs/metadata.md is not where the source says; not compared");
    return;
  }
  std::stringstream content;
  content << page.rdbuf();
  std::string text = content.str();
  size_t begin = text.find("```json\n"), end = text.find("```", begin + 8);
  REQUIRE(end != std::string::npos);
  CHECK(Json::parse(text.substr(begin + 8, end - begin - 8)) == vectorAdd());
}
