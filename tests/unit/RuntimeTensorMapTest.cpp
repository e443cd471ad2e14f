//===- RuntimeTensorMapTest.cpp - descriptors of bulk copies ----------------===//
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

TEST_CASE("a tensor map is encoded into the parameters", "[runtime][tensor_map]") {
  Loader loader;
  loader.load(mapKernel());
  Tensor a{at(0x10010), TKC_F16, {100, 72}, {80, 1}};
  REQUIRE(loader.encode({a}) == TKC_OK);
  REQUIRE(loader.cuda.tensorMaps.size() == 1);
  const FakeCuda::TensorMap &map = loader.cuda.tensorMaps[0];
  CHECK(map.dataType == 6); // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  CHECK(map.address == at(0x10010));
  CHECK(map.dims == std::vector<uint64_t>{72, 100});
  CHECK(map.strides == std::vector<uint64_t>{160});
  CHECK(map.box == std::vector<unsigned>{64, 128});
  CHECK(map.elementStrides == std::vector<unsigned>{1, 1});
  CHECK(map.interleave == 0);
  CHECK(map.swizzle == 3);
  CHECK(map.l2 == 3);
  CHECK(map.oob == 0);
  CHECK(loader.params[0] == 0x40);
  CHECK(loader.params[127] == 0x40);
  CHECK(loader.params[128] == 100);
  REQUIRE(loader.submit() == TKC_OK);
  CHECK(loader.cuda.launches.at(0).params.size() == 136);
}

TEST_CASE("a tensor map lies where the code has it", "[runtime][tensor_map]") {
  Loader loader;
  loader.cuda.knowsParams = true;
  loader.cuda.params = {{48, 128}, {176, 8}}; // ptxas 13.0 for sm_90: .param .align 64
  loader.load(mapKernel());
  REQUIRE(loader.encode({Tensor{at(0x10010), TKC_F16, {100, 72}, {80, 1}}}) == TKC_OK);
  REQUIRE(loader.submit() == TKC_OK);
  const FakeCuda::Launch &launch = loader.cuda.launches.at(0);
  CHECK(launch.isExtended);
  CHECK(launch.params == std::vector<unsigned char>(loader.params, loader.params + 136));
  CHECK(launch.offsets == std::vector<size_t>{0, 128});
  CHECK(launch.cluster[0] == 1);
}

TEST_CASE("what the driver would refuse of a map is said by its rule", "[runtime][tensor_map]") {
  struct Case {
    Tensor a;
    tkc_status status;
    const char *text;
  };
  const Case cases[] = {
      {{at(0x10008), TKC_F16, {4, 8}, {8, 1}},
       TKC_E_ALIGN,
       "the address is 65544, needed a multiple of 16"},
      {{at(0x10000), TKC_F16, {4, 7}, {7, 1}},
       TKC_E_EXTENT,
       "stride `2 * a.s0` is 14, needed a multiple of 16 below 2^40"},
      {{at(0x10000), TKC_F16, {2, 8}, {int64_t(1) << 39, 1}}, TKC_E_EXTENT, "below 2^40"},
      {{at(0x10000), TKC_F16, {2, 8}, {-8, 1}}, TKC_E_EXTENT, "stride `2 * a.s0` is -16"},
      {{at(0x10000), TKC_F16, {4, 0}, {8, 1}}, TKC_E_EXTENT, "dim `K` is 0, needed 1 to 2^32"},
  };
  for (const Case &c : cases) {
    Loader loader;
    loader.load(mapKernel());
    INFO(c.text);
    CHECK(loader.encode({c.a}) == c.status);
    CHECK_THAT(loader.text(), Contains("the tensor map of `a`") && Contains(c.text));
    CHECK(loader.cuda.tensorMaps.empty());
  }
  Loader loader;
  loader.load(mapKernel());
  loader.cuda.failures["cuTensorMapEncodeTiled"] = 1;
  CHECK(loader.encode({Tensor{at(0x10000), TKC_F16, {4, 8}, {8, 1}}}) == TKC_E_DRIVER);
  CHECK_THAT(loader.text(), Contains("cuTensorMapEncodeTiled"));
}

TEST_CASE("maps that can't be are refused at open", "[runtime][tensor_map][hostile]") {
  struct Case {
    const char *path;
    Json value;
    const char *text;
  };
  const Case cases[] = {
      {"tensor_maps/0/arg", "b", "`b` is no tensor"},
      {"tensor_maps/0/dtype", "f4", "unknown dtype"},
      {"tensor_maps/0/dims", Json::array(), "found 0 elements"},
      {"tensor_maps/0/dims", {1, 1, 1, 1, 1, 1}, "found 6 elements, needed 1 to 5"},
      {"tensor_maps/0/strides", Json::array(), "found 0 elements, needed 1 to 1"},
      {"tensor_maps/0/box", {64, 257}, "found 257, needed 1 to 256"},
      {"tensor_maps/0/box", {0, 1}, "found 0, needed 1"},
      {"tensor_maps/0/box", {128, 128}, "a row of the box has 256 bytes, swizzle 128B allows 128"},
      {"tensor_maps/0/box", {4, 128}, "a row of the box has 8 bytes, needed a multiple of 16"},
      {"tensor_maps/0/element_strides", {1, 9}, "found 9, needed 1 to 8"},
      {"tensor_maps/0/swizzle", "256B", "swizzle is \"256B\", needed one of none, 32B, 64B, 128B"},
      {"tensor_maps/0/interleave", "16B", "interleave needs 3 dims or more"},
      {"params/list/0/value", 1, "found 1, needed 0 to 0"},
      {"params/list/0/size", 64, "needed size 128"},
      {"params/align", 64, "align is 64, needed 128 for a tensor map"},
  };
  for (const Case &c : cases) {
    Loader loader;
    Json json = mapKernel();
    json[Json::json_pointer(std::string("/kernels/0/variants/0/") + c.path)] = c.value;
    INFO(c.path);
    CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains(c.text));
  }
}

TEST_CASE("a driver without tensor maps is named", "[runtime][tensor_map]") {
  Loader loader;
  loader.cuda.missing = {"cuTensorMapEncodeTiled"};
  REQUIRE(loader.openBundle(mapKernel().dump()) == TKC_OK);
  CHECK(loader.prepare("k") == TKC_E_UNSUPPORTED);
  CHECK_THAT(loader.text(), Contains("a driver with tensor maps"));
}
