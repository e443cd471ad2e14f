//===- FakeCudaFixture.cpp - what the loader's tests share -----------------===//
#include "FakeCudaFixture.h"

/// SHA-256 of 64 zero bytes, from sha256sum.
static const char *const kZerosDigest =
    "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b";

static const char *const kVectorAdd = R"json(
{"schema": "tkc.kernel/1.0", "needs": ["expr.1"],
 "producer": {"tkc": "0.1.0", "llvm": "22.1.8"},
 "images": [{"kind": "cubin", "path": "add.cubin", "size": 64,
             "sha256": "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"}],
 "kernels": [
  {"kernel": "vector_add", "instance": {"T": "f32", "BLOCK": 1024},
   "abi_hash": "b3:6f1c2a90d4e58b17",
   "args": [
    {"name": "x", "kind": "tensor", "dtype": "f32", "access": "in",  "extents": ["N"],
     "strides": [1], "align": 4},
    {"name": "y", "kind": "tensor", "dtype": "f32", "access": "in",  "extents": ["N"],
     "strides": [1], "align": 4},
    {"name": "z", "kind": "tensor", "dtype": "f32", "access": "out", "extents": ["N"],
     "strides": [1], "align": 4}],
   "ranges": {"N": [0, 2199023254528]},
   "disjoint": [["z", "x"], ["z", "y"]],
   "require": [],
   "noop_when": ["eq", "N", 0],
   "variants": [
    {"id": "sm_90a/v4/b1024.w4", "default_rank": 0,
     "target": {"vendor": "nvidia", "arch": "sm_90a", "match": "exact"}, "driver_min": 12000,
     "image": 0, "symbol": "vector_add__f32_b1024_v4__6f1c2a90", "config": {"warps": 4,
      "stages": 1},
     "when": [["divides", 16, "x.ptr"], ["divides", 16, "y.ptr"], ["divides", 16, "z.ptr"],
              ["divides", 4, "N"], ["le", "N", 2147483647]],
     "block": [128, 1, 1], "cluster": [1, 1, 1], "grid": [["cdiv", "N", 1024], 1, 1],
     "resources": {"registers": 24, "spill_store_bytes": 0, "spill_load_bytes": 0, "local_bytes": 0,
                   "shared_static": 0, "shared_dynamic": 0},
     "launch": {"cooperative": false, "coresident": false, "pdl": null, "traps": false,
      "prints": false},
     "params": {"bytes": 28, "align": 8, "hidden": 0, "list": [
       {"at": 0, "size": 8, "type": "ptr", "value": "x.ptr"}, {"at": 8, "size": 8, "type": "ptr",
        "value": "y.ptr"},
       {"at": 16, "size": 8, "type": "ptr", "value": "z.ptr"}, {"at": 24, "size": 4,
        "type": "i32", "value": "N"}]}},
    {"id": "sm_90a/v1/b1024.w4", "default_rank": 1,
     "target": {"vendor": "nvidia", "arch": "sm_90a", "match": "exact"}, "driver_min": 12000,
     "image": 0, "symbol": "vector_add__f32_b1024_v1__6f1c2a90", "config": {"warps": 4,
      "stages": 1},
     "when": [],
     "block": [128, 1, 1], "cluster": [1, 1, 1], "grid": [["cdiv", "N", 1024], 1, 1],
     "resources": {"registers": 28, "spill_store_bytes": 0, "spill_load_bytes": 0, "local_bytes": 0,
                   "shared_static": 0, "shared_dynamic": 0},
     "launch": {"cooperative": false, "coresident": false, "pdl": null, "traps": false,
      "prints": false},
     "params": {"bytes": 32, "align": 8, "hidden": 0, "list": [
       {"at": 0, "size": 8, "type": "ptr", "value": "x.ptr"}, {"at": 8, "size": 8, "type": "ptr",
        "value": "y.ptr"},
       {"at": 16, "size": 8, "type": "ptr", "value": "z.ptr"}, {"at": 24, "size": 8,
        "type": "i64", "value": "N"}]}}]}]}
)json";

Json vectorAdd() {
  return Json::parse(kVectorAdd);
}

Json oneKernel(const Json &args) {
  Json variant = {{"id", "only"},
                  {"target", {{"vendor", "nvidia"}, {"arch", "sm_90a"}, {"match", "exact"}}},
                  {"image", 0},
                  {"symbol", "k0"},
                  {"block", {128, 1, 1}},
                  {"grid", {1, 1, 1}},
                  {"resources", {{"shared_static", 0}, {"shared_dynamic", 0}}},
                  {"params", {{"bytes", 0}, {"align", 8}, {"hidden", 0}, {"list", Json::array()}}}};
  Json kernel = {{"kernel", "k"},
                 {"abi_hash", "b3:0000000000000001"},
                 {"args", args},
                 {"variants", Json::array({variant})}};
  Json image = {{"kind", "cubin"}, {"path", "k.cubin"}, {"size", 64}, {"sha256", kZerosDigest}};
  return {{"schema", "tkc.kernel/1.0"},
          {"images", Json::array({image})},
          {"kernels", Json::array({kernel})}};
}

Json mapKernel() {
  Json json = oneKernel(Json::array({tensorArg("a", "f16", {"M", "K"}, {"a.s0", 1})}));
  Json &variant = json["kernels"][0]["variants"][0];
  variant["tensor_maps"] =
      Json::array({{{"arg", "a"},
                    {"dtype", "f16"},
                    {"dims", {"K", "M"}},
                    {"strides", Json::array({Json::array({"mul", 2, "a.s0"})})},
                    {"box", {64, 128}},
                    {"element_strides", {1, 1}},
                    {"interleave", "none"},
                    {"swizzle", "128B"},
                    {"l2", "256B"},
                    {"oob", "zero"}}});
  variant["params"] = {{"bytes", 136},
                       {"align", 128},
                       {"hidden", 0},
                       {"list",
                        {{{"at", 0}, {"size", 128}, {"type", "tensor_map"}, {"value", 0}},
                         {{"at", 128}, {"size", 8}, {"type", "i64"}, {"value", "M"}}}}};
  json["needs"] = {"tensor_map.1"};
  return json;
}

Loader::Loader() {
  error.size = sizeof(error);
  launch.size = sizeof(launch);
  launch.params = params;
  launch.param_capacity = sizeof(params);
}

Loader::~Loader() {
  cuda.failures.clear();
  size_t depth = cuda.contexts.size();
  tkc_kernel_release(kernel);
  tkc_bundle_release(bundle);
  tkc_driver_release(driver);
  CHECK(cuda.retained == 0);
  CHECK(cuda.loadedLibraries == 0);
  CHECK(cuda.contexts.size() == depth);
}

tkc_status Loader::openDriver() {
  tkc_driver_desc desc = cuda.descriptor();
  desc.backend = backend;
  return tkc_driver_open(&desc, &driver, &error);
}

tkc_status Loader::openBundle(const std::string &json) {
  if (!driver)
    REQUIRE(openDriver() == TKC_OK);
  tkc_bundle_release(bundle);
  bundle = nullptr;
  tkc_bundle_desc desc{};
  desc.size = sizeof(desc);
  desc.data = image.data();
  desc.bytes = image.size();
  desc.json = json.data();
  desc.json_bytes = json.size();
  return tkc_bundle_open(driver, &desc, &bundle, &error);
}

tkc_status Loader::openFile(const std::string &data, uint32_t flags, const uint8_t *sha256) {
  if (!driver)
    REQUIRE(openDriver() == TKC_OK);
  tkc_bundle_release(bundle);
  bundle = nullptr;
  tkc_bundle_desc desc{};
  desc.size = sizeof(desc);
  desc.flags = flags;
  desc.data = data.data();
  desc.bytes = data.size();
  desc.sha256 = sha256;
  return tkc_bundle_open(driver, &desc, &bundle, &error);
}

tkc_status Loader::prepare(const char *name, const std::vector<tkc_const> &consts,
                           const tkc_prepare_desc *desc, uint64_t abiHash) {
  tkc_kernel_release(kernel);
  kernel = nullptr;
  return tkc_kernel_prepare(bundle, name, consts.data(), static_cast<uint32_t>(consts.size()),
                            abiHash, desc, &kernel, &error);
}

void Loader::load(const Json &json) {
  tkc_status status = openBundle(json.dump());
  INFO(error.text);
  REQUIRE(status == TKC_OK);
  status = prepare(json["kernels"][0]["kernel"].get<std::string>().c_str());
  INFO(error.text);
  REQUIRE(status == TKC_OK);
}

tkc_status Loader::encode(const std::vector<tkc_arg> &args, const tkc_options *options) {
  return tkc_encode(kernel, args.data(), static_cast<uint32_t>(args.size()), options, &launch,
                    &error);
}

tkc_status Loader::submit(void *stream) {
  return tkc_submit(kernel, &launch, stream, &error);
}
