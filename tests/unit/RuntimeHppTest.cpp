//===- RuntimeHppTest.cpp - <tkc/runtime.hpp>, over the recording driver ----===//
#include "FakeCudaFixture.h"
#include "tests/runtime/scale.h"

#include <tkc/double.h>
#include <tkc/runtime.hpp>

using Catch::Matchers::Contains;

namespace {
/// A half type of a user's own.
struct Half {
  uint16_t bits;
};

/// What DLPack's header declares, with the fields that are read.
struct DlType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DlTensor {
  void *data;
  int ndim;
  DlType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
} // namespace

template <> struct tkc::dtype_of<Half> : tkc::dtype_is<TKC_F16> {};

/// x[N] f16 in, optional bias[N] f32, y[N] f16 out, factor f32, scratch w[N] f32.
static Json scaleKernel() {
  Json bias = tensorArg("bias", "f32", {"N"}, {1});
  bias["optional"] = true;
  Json json = oneKernel(Json::array(
      {tensorArg("x", "f16", {"N"}, {1}), bias, tensorArg("y", "f16", {"N"}, {1}, "out"),
       scalarArg("factor", "f32"), tensorArg("w", "f32", {"N"}, {1}, "scratch")}));
  Json &kernel = json["kernels"][0];
  kernel["kernel"] = "scale";
  kernel["abi_hash"] = "b3:6f1c2a90d4e58b17";
  kernel["instance"] = {{"T", "f16"}};
  Json list = Json::array();
  int at = 0;
  for (const char *value : {"x.ptr", "bias.ptr", "y.ptr", "w.ptr"}) {
    list.push_back({{"at", at}, {"size", 8}, {"type", "ptr"}, {"value", value}});
    at += 8;
  }
  list.push_back({{"at", at}, {"size", 8}, {"type", "i64"}, {"value", "N"}});
  list.push_back({{"at", at + 8}, {"size", 4}, {"type", "f32"}, {"value", "factor"}});
  kernel["variants"][0]["params"] = {
      {"bytes", at + 12}, {"align", 8}, {"hidden", 0}, {"list", list}};
  return json;
}

namespace {
/// Driver, bundle and generated kernel, all of them C++.
struct Setup {
  tkc_double *gpu = tkc_double_create(nullptr);
  std::string image = std::string(64, '\0'), json = scaleKernel().dump();
  tkc::result<tkc::driver> driver = tkc::driver::open(tkc_double_driver(gpu, TKC_CUDA));
  tkc::result<tkc::bundle> bundle = tkc::bundle::open(*driver, {image.data(), image.size()},
                                                      {false, {json.data(), json.size()}, nullptr});

  ~Setup() {
    bundle = tkc::status(); // before the double goes
    driver = tkc::status();
    tkc_double_destroy(gpu);
  }
  std::vector<uint64_t> words() const {
    tkc_double_launch launch{};
    launch.size = sizeof(launch);
    REQUIRE(tkc_double_launch_at(gpu, 0, &launch) == TKC_OK);
    std::vector<uint64_t> result((launch.param_bytes + 7) / 8);
    memcpy(result.data(), launch.params, launch.param_bytes);
    return result;
  }
};
} // namespace

TEST_CASE("a generated kernel launches with typed arguments", "[runtime][hpp]") {
  Setup setup;
  REQUIRE(setup.bundle.ok());
  auto scale = scale::scale_f16::prepare(*setup.bundle);
  INFO(scale.text());
  REQUIRE(scale.ok());
  Half *x = reinterpret_cast<Half *>(0x1000), *y = reinterpret_cast<Half *>(0x2000);
  float *bias = reinterpret_cast<float *>(0x3000);
  int64_t n = 100;
  auto size = scale->workspace(tkc::tensor(x, {n}), std::nullopt, tkc::tensor(y, {n}), 2);
  REQUIRE(size.ok());
  CHECK(size->bytes == 400);
  CHECK(size->align == 256);
  CHECK_FALSE(size->must_be_zero);

  tkc::status status = (*scale)(nullptr, tkc::tensor(x, {n}), std::nullopt, tkc::tensor(y, {n}), 2);
  CHECK_FALSE(status);
  CHECK(status.code() == TKC_E_WORKSPACE);
  CHECK(status.name() == std::string("TKC_E_WORKSPACE"));

  tkc::options options;
  options.workspace = at(0x10000);
  options.workspace_bytes = size->bytes;
  const Half *constX = x;
  status = (*scale)(at(0x77), tkc::tensor(constX, {n}), tkc::tensor(bias, {n}), tkc::tensor(y, {n}),
                    2, options);
  INFO(status.text());
  REQUIRE(status);
  std::vector<uint64_t> words = setup.words();
  float factor;
  memcpy(&factor, &words[5], 4);
  CHECK(words[0] == 0x1000);
  CHECK(words[1] == 0x3000);
  CHECK(words[2] == 0x2000);
  CHECK(words[3] == 0x10000);
  CHECK(words[4] == 100);
  CHECK(factor == 2);
}

TEST_CASE("what goes wrong comes back as a status", "[runtime][hpp]") {
  Setup setup;
  auto missing = tkc::kernel::prepare(*setup.bundle, "scale", {{"T", "bf16"}});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code() == TKC_E_ARG);
  CHECK_THAT(missing.text(), Contains("no kernel matches scale[T=bf16]"));
  auto other = tkc::kernel::prepare(*setup.bundle, "scale", nullptr, 0, 1, {});
  CHECK(other.error().code() == TKC_E_ABI);
  auto second = tkc::bundle::open(*setup.driver, {"no bundle", 9});
  CHECK(second.error().code() == TKC_E_CORRUPT);

  auto kernel = tkc::kernel::prepare(*setup.bundle, "scale");
  REQUIRE(kernel.ok());
  tkc_double_fail(setup.gpu, "cuLaunchKernel", 700);
  float *p = reinterpret_cast<float *>(0x1000);
  tkc::tensor<float, 1> wrong(p, {8});
  tkc::status status = kernel->launch(nullptr, {}, tkc::read(wrong), tkc::absent(),
                                      tkc::write(wrong), tkc::value(1.0f), tkc::absent());
  CHECK(status.code() == TKC_E_DTYPE);
  tkc::options options;
  options.workspace = at(0x10000);
  options.workspace_bytes = 4096;
  Half *x = reinterpret_cast<Half *>(0x1000), *y = reinterpret_cast<Half *>(0x2000);
  status = kernel->launch(nullptr, options, tkc::read(tkc::tensor(x, {8})), tkc::absent(),
                          tkc::write(tkc::tensor(y, {8})), tkc::value(1.0f), tkc::absent());
  CHECK(status.driver_code() == 700);
  CHECK(status.is_earlier());
}

TEST_CASE("a launch is encoded once and submitted often", "[runtime][hpp]") {
  Setup setup;
  auto kernel = tkc::kernel::prepare(*setup.bundle, "scale");
  REQUIRE(kernel.ok());
  tkc::options options;
  options.workspace = at(0x10000);
  options.workspace_bytes = 4096;
  Half *x = reinterpret_cast<Half *>(0x1000), *y = reinterpret_cast<Half *>(0x2000);
  tkc::encoded<64> launch;
  auto first = tkc::read(tkc::tensor(x, {8}));
  REQUIRE(kernel->encode(launch, options, first, tkc::absent(), tkc::write(tkc::tensor(y, {8})),
                         tkc::value(1.0f), tkc::absent()));
  for (int i = 0; i < 3; ++i)
    REQUIRE(kernel->submit(launch, nullptr));
  CHECK(tkc_double_launches(setup.gpu) == 3);
  CHECK(tkc_double_calls(setup.gpu, "cuLaunchKernel") == 3);
  char text[256];
  REQUIRE(kernel->why(text, sizeof(text), options, first, tkc::absent(),
                      tkc::write(tkc::tensor(y, {8})), tkc::value(1.0f), tkc::absent()));
  CHECK(text == std::string("variant `only`: taken\n"));
}

TEST_CASE("strides, ranks and pointers reach the C interface", "[runtime][hpp]") {
  float *p = reinterpret_cast<float *>(0x1000);
  tkc::tensor<float, 2> dense(p, {3, 4}), strided(p, {3, 4}, {1, 3});
  dense.span_bytes = 48;
  tkc_arg arg = tkc::read(dense).arg();
  CHECK(arg.kind == TKC_TENSOR);
  CHECK(arg.u.tensor.strides == nullptr);
  CHECK(arg.u.tensor.span_bytes == 48);
  CHECK(arg.u.tensor.rank == 2);
  CHECK(arg.u.tensor.dtype == TKC_F32);
  auto view = tkc::write(strided);
  arg = view.arg();
  CHECK(arg.u.tensor.strides[1] == 3);
  tkc::tensor<const float, 2> constant = strided;
  CHECK(constant.strides[1] == 3);
  tkc::tensor<float, 0> single(p);
  arg = tkc::read(single).arg();
  CHECK(arg.u.tensor.rank == 0);
  tkc::in_pointer<TKC_F32> raw = tkc::pointer<const float>{p, 12};
  arg = raw.arg();
  CHECK(arg.kind == TKC_POINTER);
  CHECK(arg.u.pointer.span_bytes == 12);
  CHECK(tkc::scalar<TKC_I32>(-1).arg().u.bits == UINT64_MAX);
  CHECK(tkc::scalar<TKC_F16>(tkc::half_bits{0x3c00}).arg().u.bits == 0x3c00);
  CHECK(tkc::dtype_of<long>::value == TKC_I64);
  CHECK(tkc::dtype_of<unsigned char>::value == TKC_U8);
}

TEST_CASE("DLPack tensors are taken by their fields", "[runtime][hpp]") {
  int64_t shape[] = {3, 4}, strides[] = {8, 2};
  DlTensor from{at(0x1000), 2, {2, 32, 1}, shape, strides, 16};
  auto x = tkc::from_dlpack<float, 2>(from);
  REQUIRE(x.ok());
  CHECK(x->data == reinterpret_cast<float *>(0x1010));
  CHECK(x->extents[1] == 4);
  CHECK(x->strides[0] == 8);
  CHECK_FALSE(x->is_dense);
  from.strides = nullptr;
  CHECK(tkc::from_dlpack<float, 2>(from)->is_dense);
  CHECK(tkc::from_dlpack<Half, 2>(from).error().code() == TKC_E_DTYPE);
  CHECK(tkc::from_dlpack<float, 1>(from).error().code() == TKC_E_EXTENT);
  from.dtype.lanes = 4;
  CHECK(tkc::from_dlpack<float, 2>(from).error().code() == TKC_E_DTYPE);
}

TEST_CASE("the double is one at a time, and says what it is like", "[runtime][hpp]") {
  tkc_double_desc desc{};
  desc.size = sizeof(desc);
  desc.sms = 8;
  desc.major = 8;
  desc.minor = 6;
  tkc_double *gpu = tkc_double_create(&desc);
  REQUIRE(gpu);
  CHECK(tkc_double_create(nullptr) == nullptr);
  {
    auto driver = tkc::driver::open(tkc_double_driver(gpu, TKC_CUDA));
    REQUIRE(driver.ok());
    const std::string json = vectorAdd().dump(), image(64, '\0');
    auto bundle = tkc::bundle::open(*driver, {image.data(), image.size()},
                                    {false, {json.data(), json.size()}, nullptr});
    REQUIRE(bundle.ok());
    auto kernel = tkc::kernel::prepare(*bundle, "vector_add");
    CHECK_THAT(kernel.text(), Contains("compute capability 8.6"));
  }
  tkc_double_launch launch{};
  CHECK(tkc_double_launch_at(gpu, 0, &launch) == TKC_E_ARG);
  tkc_double_forget(gpu);
  CHECK(tkc_double_calls(gpu, "cuInit") == 0);
  desc.size = 4;
  tkc_double_destroy(gpu);
  CHECK(tkc_double_create(&desc) == nullptr);
}
