//===- RuntimeArgsTest.cpp - names, strides, overlap, scalars, parameters --===//
#include "FakeCudaFixture.h"

#include <cmath>

using Catch::Matchers::Contains;

/// Gives the only variant these parameters, packed at multiples of 8: {type, value}.
static void setParams(Json &json, const std::vector<std::pair<const char *, Json>> &list) {
  static const std::map<std::string, int> sizes = {
      {"ptr", 8}, {"i1", 1},  {"i8", 1},  {"i16", 2}, {"i32", 4},  {"i64", 8}, {"u8", 1},
      {"u16", 2}, {"u32", 4}, {"u64", 8}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};
  Json params = Json::array();
  for (const auto &[type, value] : list)
    params.push_back(
        {{"at", 8 * params.size()}, {"size", sizes.at(type)}, {"type", type}, {"value", value}});
  json["kernels"][0]["variants"][0]["params"] = {
      {"bytes", 8 * params.size()}, {"align", 8}, {"hidden", 0}, {"list", params}};
}

/// The 8 bytes of parameter `index`, as setParams lays them out.
static int64_t paramAt(const Loader &loader, size_t index) {
  int64_t value;
  memcpy(&value, loader.params + 8 * index, 8);
  return value;
}

TEST_CASE("an expression may use a name that a later parameter binds", "[runtime]") {
  Loader loader;
  Json json = oneKernel({tensorArg("q", "f16", {"B", {"mul", "HK", "G"}, 64}, {"q.s0", 64, 1}),
                         tensorArg("k", "f16", {"B", "HK", "_"}, {"k.s0", "k.s1", 1}),
                         scalarArg("G", "i32")});
  setParams(json, {{"i32", "HK"}, {"i64", "k.s0"}, {"ptr", "q.ptr"}});
  loader.load(json);
  Tensor q{at(64), TKC_F16, {2, 12, 64}, {}}, k{at(64), TKC_F16, {2, 3, 99}, {1000, 100, 1}};
  REQUIRE(loader.encode({q, k, scalar(TKC_I32, 4)}) == TKC_OK);
  CHECK(paramAt(loader, 0) == 3);
  CHECK(paramAt(loader, 1) == 1000);
  CHECK(paramAt(loader, 2) == 64);
  CHECK(loader.encode({q, k, scalar(TKC_I32, 5)}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`q`: extent 1 is 12, needed 15, which is `HK * G`"));
  q.extents[2] = 32;
  CHECK(loader.encode({q, k, scalar(TKC_I32, 4)}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`q`: extent 2 is 32, needed 64"));
}

TEST_CASE("an extent of `_` is given by its place", "[runtime]") {
  Loader loader;
  Json json = oneKernel(
      {tensorArg("x", "f32", {"_"}, {1}), tensorArg("y", "f32", {"N", "_"}, {"y.s0", 1})});
  setParams(json, {{"i64", "x.e0"}, {"i64", "y.e1"}, {"i64", "y.e0"}});
  loader.load(json);
  Tensor x{at(64), TKC_F32, {7}, {}}, y{at(1 << 16), TKC_F32, {3, 5}, {}};
  REQUIRE(loader.encode({x, y}) == TKC_OK);
  CHECK(paramAt(loader, 0) == 7);
  CHECK(paramAt(loader, 1) == 5);
  CHECK(paramAt(loader, 2) == 3);
}

TEST_CASE("a stride name is bound by the first axis longer than one", "[runtime]") {
  Loader loader;
  Json json = oneKernel(
      {tensorArg("a", "f32", {"M", "N"}, {"LD", 1}), tensorArg("b", "f32", {"P", "N"}, {"LD", 1})});
  setParams(json, {{"i64", "LD"}});
  loader.load(json);
  Tensor a{at(64), TKC_F32, {1, 8}, {12345, 1}}, b{at(64), TKC_F32, {4, 8}, {16, 1}};
  REQUIRE(loader.encode({a, b}) == TKC_OK);
  CHECK(paramAt(loader, 0) == 16);
  b.extents[0] = 1;
  REQUIRE(loader.encode({a, b}) == TKC_OK);
  CHECK(paramAt(loader, 0) == 12345);
  a.extents[0] = b.extents[0] = 2;
  CHECK(loader.encode({a, b}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`b`: stride 0 is 16, needed 12345, which is `LD` of `a`"));
}

TEST_CASE("a stride of zero is for `in` only, negative strides are counted", "[runtime]") {
  Loader loader;
  Json json = oneKernel(
      {tensorArg("x", "f32", {"N"}, {"x.s0"}), tensorArg("y", "f32", {"N"}, {"y.s0"}, "out")});
  json["kernels"][0]["disjoint"] = Json::array({Json::array({"y", "x"})});
  loader.load(json);
  Tensor x{at(0x1000), TKC_F32, {8}, {0}}, y{at(0x2000), TKC_F32, {8}, {1}};
  CHECK(loader.encode({x, y}) == TKC_OK);
  y.strides = {0};
  CHECK(loader.encode({x, y}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("`y`: stride 0 is 0"));
  // y covers [0x1f00 - 28, 0x1f04), which touches what x covers just below.
  y = {at(0x1f00), TKC_F32, {8}, {-1}};
  x = {at(0x1f00 - 28 - 32), TKC_F32, {8}, {1}};
  CHECK(loader.encode({x, y}) == TKC_OK);
  x.data = at(0x1f00 - 28 - 28);
  CHECK(loader.encode({x, y}) == TKC_E_OVERLAP);
  y = {at(16), TKC_F32, {8}, {-1}};
  CHECK(loader.encode({x, y}) == TKC_E_EXTENT); // begins below address 0
}

TEST_CASE("slices of one buffer pass when no byte is shared", "[runtime]") {
  Loader loader;
  Json json = oneKernel({tensorArg("q", "f16", {"S", "H", 64}, {"q.s0", "q.s1", 1}, "inout"),
                         tensorArg("k", "f16", {"S", "H", 64}, {"k.s0", "k.s1", 1})});
  json["kernels"][0]["disjoint"] = Json::array({Json::array({"q", "k"})});
  loader.load(json);
  // A row holds 8 heads of q and 8 of k, 64 elements each: 1024 elements, 2048 bytes.
  Tensor q{at(0x10000), TKC_F16, {100, 8, 64}, {1024, 64, 1}};
  Tensor k{at(0x10000 + 1024), TKC_F16, {100, 8, 64}, {1024, 64, 1}};
  CHECK(loader.encode({q, k}) == TKC_OK);
  k.data = at(0x10000 + 1022);
  CHECK(loader.encode({q, k}) == TKC_E_OVERLAP);
  k.data = at(0x10000 + 1026); // its last element falls into q's next row
  CHECK(loader.encode({q, k}) == TKC_E_OVERLAP);
  // Heads that alternate: q has the even, k the odd ones.
  q.strides = k.strides = {1024, 128, 1};
  k.data = at(0x10000 + 128);
  CHECK(loader.encode({q, k}) == TKC_OK);
}

TEST_CASE("overlap verdicts agree with comparing every byte", "[runtime]") {
  Loader loader;
  Json json = oneKernel({tensorArg("a", "i16", {"A", "B"}, {"a.s0", "a.s1"}, "inout"),
                         tensorArg("b", "i16", {"C", "D"}, {"b.s0", "b.s1"})});
  json["kernels"][0]["disjoint"] = Json::array({Json::array({"a", "b"})});
  loader.load(json);
  uint32_t seed = 1;
  auto draw = [&](int low, int high) {
    seed = seed * 1664525 + 1013904223;
    return low + static_cast<int>((seed >> 8) % static_cast<uint32_t>(high - low + 1));
  };
  auto bytesOf = [](const Tensor &t) {
    std::set<int64_t> bytes;
    for (int64_t i = 0; i < t.extents[0]; ++i)
      for (int64_t j = 0; j < t.extents[1]; ++j)
        for (int64_t k = 0; k < 2; ++k)
          bytes.insert(reinterpret_cast<intptr_t>(t.data) +
                       2 * (i * t.strides[0] + j * t.strides[1]) + k);
    return bytes;
  };
  int passed = 0;
  for (int round = 0; round < 3000; ++round) {
    auto tensor = [&] {
      auto stride = [&] {
        int s = draw(-9, 9);
        return s ? s : 1;
      };
      return Tensor{
          at(1000 + draw(0, 60)), TKC_I16, {draw(0, 4), draw(0, 4)}, {stride(), stride()}};
    };
    Tensor a = tensor(), b = tensor();
    tkc_status status = loader.encode({a, b});
    REQUIRE((status == TKC_OK || status == TKC_E_OVERLAP));
    if (status != TKC_OK)
      continue;
    ++passed;
    for (int64_t byte : bytesOf(a))
      REQUIRE(bytesOf(b).count(byte) == 0);
  }
  CHECK(passed > 500);
}

TEST_CASE("raw pointers: null, alignment, and spans for disjoint ones", "[runtime]") {
  Loader loader;
  Json pointerArg = {{"name", "p"}, {"kind", "pointer"}, {"dtype", "f32"}, {"access", "in"}};
  Json out = pointerArg;
  out["name"] = "o";
  out["access"] = "out";
  Json json = oneKernel({pointerArg, out, scalarArg("n", "i64")});
  json["kernels"][0]["disjoint"] = Json::array({Json::array({"o", "p"})});
  json["kernels"][0]["variants"][0]["grid"] = {{"cdiv", "n", 4}, 1, 1};
  loader.load(json);
  tkc_arg p = pointer(TKC_F32, at(0x1000), 64), o = pointer(TKC_F32, at(0x2000), 64);
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}) == TKC_OK);
  o.u.pointer.span_bytes = 0;
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}) == TKC_E_OVERLAP);
  CHECK_THAT(loader.text(), Contains("`o`: span_bytes is 0"));
  tkc_options options{};
  options.size = sizeof(options);
  options.flags = TKC_NO_OVERLAP_CHECK;
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}, &options) == TKC_OK);
  o = pointer(TKC_F32, at(0x103c), 64);
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}) == TKC_E_OVERLAP);
  o.u.pointer.data = at(0x2002);
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}) == TKC_E_ALIGN);
  o.u.pointer.data = nullptr;
  CHECK(loader.encode({p, o, scalar(TKC_I64, 16)}) == TKC_E_ARG);
  CHECK_THAT(loader.text(), Contains("`o` is NULL"));
  CHECK(loader.encode({p, o, scalar(TKC_I64, 0)}) == TKC_OK); // nothing is launched
  CHECK(loader.encode({p, o, scalar(TKC_I32, 0)}) == TKC_E_DTYPE);
}

TEST_CASE("scalars of every type reach the buffer, and must fit", "[runtime]") {
  struct Row {
    const char *type;
    uint32_t dtype;
    uint64_t bits, stored, tooLarge; ///< tooLarge 0: every value of the 64 bits is good
  };
  const uint64_t ones = ~uint64_t(0);
  const Row rows[] = {
      {"i1", TKC_I1, 1, 1, 2},
      {"i8", TKC_I8, uint64_t(-3), 0xfd, 128},
      {"i16", TKC_I16, uint64_t(-300), 0xfed4, 32768},
      {"i32", TKC_I32, uint64_t(-5), 0xfffffffb, 0xffffffff},
      {"i64", TKC_I64, uint64_t(-7), uint64_t(-7), 0},
      {"u8", TKC_U8, 255, 0xff, 256},
      {"u16", TKC_U16, 65535, 0xffff, 65536},
      {"u32", TKC_U32, 0xffffffff, 0xffffffff, uint64_t(1) << 32},
      {"u64", TKC_U64, ones, ones, 0},
      {"f16", TKC_F16, 0x3c00, 0x3c00, 65536},
      {"bf16", TKC_BF16, 0x3f80, 0x3f80, 65536},
      {"f32", TKC_F32, 0xffffffff3fc00000, 0x3fc00000, 0}, // only u.f32's half counts
      {"f64", TKC_F64, 0xc004000000000000, 0xc004000000000000, 0}};
  Loader loader;
  Json args = Json::array();
  std::vector<std::pair<const char *, Json>> params;
  std::vector<tkc_arg> values;
  for (const Row &row : rows) {
    std::string name = std::string("v") + row.type;
    args.push_back(scalarArg(name.c_str(), row.type));
    params.push_back({row.type, name});
    values.push_back(scalar(row.dtype, row.bits));
  }
  Json json = oneKernel(args);
  setParams(json, params);
  loader.load(json);
  REQUIRE(loader.encode(values) == TKC_OK);
  for (size_t i = 0; i < values.size(); ++i) {
    INFO(rows[i].type);
    CHECK(static_cast<uint64_t>(paramAt(loader, i)) == rows[i].stored);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    auto wrong = values;
    wrong[i].u.bits = rows[i].tooLarge;
    INFO(rows[i].type);
    CHECK(loader.encode(wrong) == (rows[i].tooLarge ? TKC_E_ARG : TKC_OK));
  }
}

TEST_CASE("an absent scalar takes its default, rounded to its type", "[runtime]") {
  struct Case {
    const char *dtype;
    Json value;
    uint64_t bits;
  };
  const Case cases[] = {{"i32", -2, 0xfffffffe},
                        {"i1", true, 1},
                        {"u64", 18446744073709551615u, ~uint64_t(0)},
                        {"f32", 0.1, 0x3dcccccd},
                        {"f64", "-inf", 0xfff0000000000000},
                        {"f16", 1, 0x3c00},
                        {"f16", 65519.99, 0x7bff},
                        {"f16", 65520, 0x7c00},
                        {"f16", 5.960464477539063e-08, 1},
                        {"f16", 2.9e-08, 0},
                        {"f16", 6.097555160522461e-05, 0x3ff},
                        {"f16", 2049, 0x6800},
                        {"f16", 2051, 0x6802},
                        {"bf16", -1.00390625, 0xbf80},
                        {"bf16", 1.01171875, 0x3f82},
                        {"f16", "nan", 0x7e00}};
  for (const Case &c : cases) {
    Loader loader;
    Json arg = scalarArg("s", c.dtype);
    arg["default"] = c.value;
    Json json = oneKernel(Json::array({arg}));
    setParams(json, {{c.dtype, "s"}});
    loader.load(json);
    INFO(c.dtype << " " << c.value);
    REQUIRE(loader.encode({tkc_arg{}}) == TKC_OK);
    CHECK(static_cast<uint64_t>(paramAt(loader, 0)) == c.bits);
  }
}

TEST_CASE("integer parameters are evaluated and must fit", "[runtime]") {
  Loader loader;
  Json json = oneKernel(Json::array({scalarArg("n", "i64"), scalarArg("u", "u64")}));
  setParams(json, {{"i32", "n"}, {"u8", {"min", {"max", "n", 0}, 255}}, {"i1", {"gt", "n", 5}}});
  loader.load(json);
  REQUIRE(loader.encode({scalar(TKC_I64, 300), scalar(TKC_U64, 0)}) == TKC_OK);
  CHECK(paramAt(loader, 0) == 300);
  CHECK(paramAt(loader, 1) == 255);
  CHECK(paramAt(loader, 2) == 1);
  CHECK(loader.encode({scalar(TKC_I64, uint64_t(1) << 31), scalar(TKC_U64, 0)}) == TKC_E_EXTENT);
  CHECK_THAT(loader.text(), Contains("takes `n` as i32, found 2147483648"));
  // A u64 beyond i64 is fine until an expression needs it.
  CHECK(loader.encode({scalar(TKC_I64, 1), scalar(TKC_U64, ~uint64_t(0))}) == TKC_OK);
  setParams(json, {{"u64", {"add", "u", 1}}});
  loader.load(json);
  CHECK(loader.encode({scalar(TKC_I64, 1), scalar(TKC_U64, ~uint64_t(0))}) == TKC_E_ARG);
}

TEST_CASE("preconditions fail with the author's text and both numbers", "[runtime]") {
  Loader loader;
  Json json = oneKernel(Json::array({scalarArg("N", "i64")}));
  json["kernels"][0]["require"] = {
      {{"expr", {"ge", 1024, "N"}}, {"text", "BLOCK >= N"}},
      {{"expr", {"divides", 16, "N"}}, {"text", "N % 16 == 0"}},
      {{"expr", {"or", {"lt", "N", 64}, {"gt", "N", 128}}}, {"text", "N is small or large"}}};
  loader.load(json);
  CHECK(loader.encode({scalar(TKC_I64, 1024)}) == TKC_OK);
  CHECK(loader.encode({scalar(TKC_I64, 2000)}) == TKC_E_REQUIRE);
  CHECK_THAT(loader.text(), Contains("kernel `k` requires BLOCK >= N, found 1024 and 2000"));
  CHECK(loader.encode({scalar(TKC_I64, 24)}) == TKC_E_REQUIRE);
  CHECK_THAT(loader.text(), Contains("N % 16 == 0, found 16 and 24"));
  CHECK(loader.encode({scalar(TKC_I64, 96)}) == TKC_E_REQUIRE);
  CHECK_THAT(loader.text(), Contains("N is small or large") && Contains("false"));
}

TEST_CASE("grids have limits per axis, and `sms` the caller's caps", "[runtime]") {
  Loader loader;
  Json json = oneKernel(Json::array({scalarArg("n", "i64")}));
  json["kernels"][0]["variants"][0]["grid"] = {"n", {"sub", "n", 1}, {"min", "sms", "n"}};
  loader.load(json);
  REQUIRE(loader.encode({scalar(TKC_I64, 65536)}) == TKC_OK);
  CHECK(loader.launch.grid[1] == 65535);
  CHECK(loader.launch.grid[2] == 132);
  CHECK(loader.encode({scalar(TKC_I64, 65537)}) == TKC_E_GRID);
  CHECK_THAT(loader.text(), Contains("grid y is 65536 (`n - 1`), at most 65535"));
  CHECK(loader.encode({scalar(TKC_I64, uint64_t(1) << 31)}) == TKC_E_GRID);
  CHECK_THAT(loader.text(), Contains("grid x is 2147483648"));
  CHECK(loader.encode({scalar(TKC_I64, 0)}) == TKC_E_GRID);
  CHECK_THAT(loader.text(), Contains("grid y is -1"));
  CHECK(loader.encode({scalar(TKC_I64, uint64_t(1) << 63)}) == TKC_E_GRID);

  tkc_options options{};
  options.size = sizeof(options);
  options.sms = 16;
  REQUIRE(loader.encode({scalar(TKC_I64, 200)}, &options) == TKC_OK);
  CHECK(loader.launch.grid[2] == 16);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.max_sms = 12;
  REQUIRE(loader.prepare("k", {}, &desc) == TKC_OK);
  REQUIRE(loader.encode({scalar(TKC_I64, 200)}, &options) == TKC_OK);
  CHECK(loader.launch.grid[2] == 12);
}
