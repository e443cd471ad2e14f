//===- RuntimeWorkspaceTest.cpp - scratch and optional arguments ------------===//
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

static Json scratchArg(const char *name, const char *dtype, const Json &extents,
                       const Json &strides) {
  return tensorArg(name, dtype, extents, strides, "scratch");
}

/// x[N], two scratch arguments of N/4 rounded up x 3 bytes and of `sms` f32, and their addresses.
static Json scratchKernel() {
  Json json = oneKernel(
      Json::array({tensorArg("x", "f32", {"N"}, {1}),
                   scratchArg("rows", "i8", {Json::array({"cdiv", "N", 4}), 3}, {"rows.s0", 1}),
                   scratchArg("per_sm", "f32", {"sms"}, {1})}));
  json["needs"] = {"expr.1", "scratch.1"};
  Json list = Json::array();
  int at = 0;
  for (const char *value : {"rows.ptr", "per_sm.ptr"}) {
    list.push_back({{"at", at}, {"size", 8}, {"type", "ptr"}, {"value", value}});
    at += 8;
  }
  for (const char *value : {"rows.e0", "rows.s0"}) {
    list.push_back({{"at", at}, {"size", 8}, {"type", "i64"}, {"value", value}});
    at += 8;
  }
  json["kernels"][0]["variants"][0]["params"] = {
      {"bytes", at}, {"align", 8}, {"hidden", 0}, {"list", list}};
  return json;
}

static int64_t param(const Loader &loader, size_t index) {
  int64_t value;
  memcpy(&value, loader.params + 8 * index, 8);
  return value;
}

TEST_CASE("absent scratch comes from the workspace, in order, at multiples of 256",
          "[runtime][workspace]") {
  Loader loader;
  loader.load(scratchKernel());
  Tensor x{at(4096), TKC_F32, {401}, {}};
  const std::vector<tkc_arg> args = {x, tkc_arg{}, tkc_arg{}};
  uint64_t bytes = 0;
  uint32_t align = 0, mustBeZero = 9;
  REQUIRE(tkc_workspace_query(loader.kernel, args.data(), 3, nullptr, &bytes, &align, &mustBeZero,
                              &loader.error) == TKC_OK);
  CHECK(bytes == 512 + 132 * 4); // 101 * 3 = 303, rounded up
  CHECK(align == 256);
  CHECK(mustBeZero == 0);

  tkc_options options{};
  options.size = sizeof(options);
  CHECK(loader.encode(args) == TKC_E_WORKSPACE);
  CHECK_THAT(loader.text(), Contains("has 0 bytes, needed 1040"));
  options.workspace = at(0x10000);
  options.workspace_bytes = 1039;
  CHECK(loader.encode(args, &options) == TKC_E_WORKSPACE);
  CHECK_THAT(loader.text(), Contains("has 1039 bytes, needed 1040"));
  options.workspace_bytes = 1040;
  options.workspace = at(0x10080);
  CHECK(loader.encode(args, &options) == TKC_E_ALIGN);
  CHECK_THAT(loader.text(), Contains("options.workspace is at 0x10080, needed a multiple of 256"));
  options.workspace = at(0x10000);
  REQUIRE(loader.encode(args, &options) == TKC_OK);
  CHECK(param(loader, 0) == 0x10000);
  CHECK(param(loader, 1) == 0x10200);
  CHECK(param(loader, 2) == 101);
  CHECK(param(loader, 3) == 3);

  options.sms = 10; // fewer multiprocessors, less workspace
  REQUIRE(tkc_workspace_query(loader.kernel, args.data(), 3, &options, &bytes, nullptr, nullptr,
                              &loader.error) == TKC_OK);
  CHECK(bytes == 512 + 40);
}

TEST_CASE("scratch that the caller gives is checked as any argument", "[runtime][workspace]") {
  Loader loader;
  loader.load(scratchKernel());
  Tensor x{at(4096), TKC_F32, {8}, {}}, rows{at(0x5000), TKC_I8, {2, 3}, {}};
  Tensor perSm{at(0x6000), TKC_F32, {131}, {}};
  REQUIRE(loader.encode({x, rows, perSm}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`per_sm`: extent 0 is 131, needed 132"));
  perSm.extents = {132};
  REQUIRE(loader.encode({x, rows, perSm}) == TKC_OK);
  CHECK(param(loader, 0) == 0x5000);
  CHECK(param(loader, 1) == 0x6000);
}

TEST_CASE("zeroed scratch is reported, and only where it is absent", "[runtime][workspace]") {
  Loader loader;
  Json json = scratchKernel();
  json["kernels"][0]["args"][2]["zeroed"] = true;
  loader.load(json);
  Tensor x{at(4096), TKC_F32, {8}, {}}, perSm{at(0x6000), TKC_F32, {132}, {}};
  tkc_arg args[] = {x, tkc_arg{}, tkc_arg{}};
  uint64_t bytes = 0;
  uint32_t mustBeZero = 9;
  REQUIRE(tkc_workspace_query(loader.kernel, args, 3, nullptr, &bytes, nullptr, &mustBeZero,
                              &loader.error) == TKC_OK);
  CHECK(mustBeZero == 1);
  args[2] = perSm;
  REQUIRE(tkc_workspace_query(loader.kernel, args, 3, nullptr, &bytes, nullptr, &mustBeZero,
                              &loader.error) == TKC_OK);
  CHECK(mustBeZero == 0);
  CHECK(bytes == 6);
}

TEST_CASE("a query needs no data, a bound holds for smaller launches", "[runtime][workspace]") {
  Loader loader;
  loader.load(scratchKernel());
  Tensor x{nullptr, TKC_F32, {1000}, {}};
  const tkc_arg args[] = {x, tkc_arg{}, tkc_arg{}};
  uint64_t bound = 0, bytes = 0;
  REQUIRE(tkc_workspace_bound(loader.kernel, args, 3, nullptr, &bound, &loader.error) == TKC_OK);
  for (int64_t n = 0; n <= 1000; n += 37) {
    x.extents = {n};
    const tkc_arg smaller[] = {x, tkc_arg{}, tkc_arg{}};
    REQUIRE(tkc_workspace_query(loader.kernel, smaller, 3, nullptr, &bytes, nullptr, nullptr,
                                &loader.error) == TKC_OK);
    CHECK(bytes <= bound);
  }
  CHECK(tkc_workspace_query(loader.kernel, args, 3, nullptr, nullptr, nullptr, nullptr,
                            &loader.error) == TKC_E_ARG);
}

TEST_CASE("sizes that could shrink as a launch grows have no bound", "[runtime][workspace]") {
  for (const Json &extent : {Json::array({"sub", 1000, "N"}), Json::array({"mod", "N", 7}),
                             Json::array({"div", 1000, "N"}), Json("n")}) {
    Loader loader;
    Json json = oneKernel(Json::array({tensorArg("x", "f32", {"N"}, {1}), scalarArg("n", "i32"),
                                       scratchArg("w", "f32", Json::array({extent}), {1})}));
    loader.load(json);
    Tensor x{at(4096), TKC_F32, {10}, {}};
    const tkc_arg args[] = {x, scalar(TKC_I32, 5), tkc_arg{}};
    uint64_t bytes = 0;
    INFO(extent);
    CHECK(tkc_workspace_query(loader.kernel, args, 3, nullptr, &bytes, nullptr, nullptr,
                              &loader.error) == TKC_OK);
    CHECK(tkc_workspace_bound(loader.kernel, args, 3, nullptr, &bytes, &loader.error) ==
          TKC_E_UNSUPPORTED);
    CHECK_THAT(loader.text(), Contains("scratch `w`"));
    if (extent == "n") { // a scalar that can't be negative is a size
      json["kernels"][0]["ranges"] = {{"n", {0, 100}}};
      loader.load(json);
      CHECK(tkc_workspace_bound(loader.kernel, args, 3, nullptr, &bytes, &loader.error) == TKC_OK);
    }
  }
}

TEST_CASE("scratch of a size that can't be is refused", "[runtime][workspace][hostile]") {
  struct Case {
    Json extents;
    tkc_status open, query;
    const char *text;
  };
  const Json huge = Json::array({"mul", INT64_MAX, 1});
  const Case cases[] = {{{"_"}, TKC_E_CORRUPT, TKC_OK, "nothing binds the name `_`"},
                        {{"M"}, TKC_E_CORRUPT, TKC_OK, "nothing binds the name `M`"},
                        {{Json::array({"sub", 0, "N"})}, TKC_OK, TKC_E_EXTENT, "extent 0 is -8"},
                        {{huge}, TKC_OK, TKC_E_EXTENT, "leaves the address space"},
                        {{huge, 2}, TKC_OK, TKC_E_EXTENT, "the number of elements overflows"},
                        {{Json::array({"div", 1, 0})}, TKC_OK, TKC_E_EXTENT, "divides by zero"}};
  for (const Case &c : cases) {
    Loader loader;
    Json strides = c.extents.size() == 1 ? Json::array({1}) : Json::array({"w.s0", 1});
    Json json = oneKernel(Json::array(
        {tensorArg("x", "f32", {"N"}, {1}), scratchArg("w", "f32", c.extents, strides)}));
    INFO(c.text);
    CHECK(loader.openBundle(json.dump()) == c.open);
    if (c.open == TKC_OK) {
      REQUIRE(loader.prepare("k") == TKC_OK);
      Tensor x{at(4096), TKC_F32, {8}, {}};
      const tkc_arg args[] = {x, tkc_arg{}};
      uint64_t bytes;
      CHECK(tkc_workspace_query(loader.kernel, args, 2, nullptr, &bytes, nullptr, nullptr,
                                &loader.error) == c.query);
    }
    CHECK_THAT(loader.text(), Contains(c.text));
  }
}

TEST_CASE("an optional argument that is left out has address 0 and binds no names",
          "[runtime][workspace]") {
  Json bias = tensorArg("bias", "f32", {"B"}, {1});
  Json other = tensorArg("other", "f32", {"B"}, {1});
  Json table = {{"name", "table"}, {"kind", "pointer"}, {"dtype", "i32"}, {"access", "in"}};
  bias["optional"] = other["optional"] = table["optional"] = true;
  Json json = oneKernel(Json::array({bias, other, tensorArg("x", "f32", {"N"}, {1}), table}));
  Json list = Json::array();
  int at8 = 0;
  for (const char *value : {"bias.ptr", "other.ptr", "table.ptr"}) {
    list.push_back({{"at", at8}, {"size", 8}, {"type", "ptr"}, {"value", value}});
    at8 += 8;
  }
  list.push_back({{"at", at8}, {"size", 8}, {"type", "i64"}, {"value", "B"}});
  list.push_back({{"at", at8 + 8}, {"size", 8}, {"type", "i64"}, {"value", "table.span"}});
  json["kernels"][0]["variants"][0]["params"] = {
      {"bytes", at8 + 16}, {"align", 8}, {"hidden", 0}, {"list", list}};
  json["kernels"][0]["disjoint"] = Json::array({Json::array({"bias", "table"})});
  Loader loader;
  loader.load(json);
  Tensor x{at(4096), TKC_F32, {8}, {}}, b{at(0x8000), TKC_F32, {5}, {}};
  Tensor c{at(0x9000), TKC_F32, {6}, {}};
  REQUIRE(loader.encode({tkc_arg{}, tkc_arg{}, x, tkc_arg{}}) == TKC_OK);
  for (size_t i = 0; i < 5; ++i)
    CHECK(param(loader, i) == 0);
  REQUIRE(loader.encode({tkc_arg{}, c, x, pointer(TKC_I32, at(0xa000), 64)}) == TKC_OK);
  CHECK(param(loader, 0) == 0);
  CHECK(param(loader, 1) == 0x9000);
  CHECK(param(loader, 3) == 6); // what is there binds the name
  CHECK(param(loader, 4) == 64);
  CHECK(loader.encode({b, c, x, tkc_arg{}}) == TKC_E_EXTENT);
  CHECK(loader.encode({b, tkc_arg{}, tkc_arg{}, tkc_arg{}}) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("`x` is given nothing") && Contains("not optional"));
}
