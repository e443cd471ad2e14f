//===- RuntimeHostileTest.cpp - metadata that means harm -------------------===//
// Each case must end in an error or in a kernel that works; run under ASan and UBSan it shows that
// nothing worse happens.
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

/// Opens, and when that goes well prepares and encodes too. Returns what open said.
static tkc_status tryAll(Loader &loader, const std::string &json) {
  tkc_status status = loader.openBundle(json);
  if (status != TKC_OK || loader.prepare("vector_add") != TKC_OK)
    return status;
  Tensor x{at(4096), TKC_F32, {100}, {}}, y{at(8192), TKC_F32, {100}, {}};
  Tensor z{at(12288), TKC_F32, {100}, {}};
  if (loader.encode({x, y, z}) == TKC_OK)
    CHECK(loader.submit() == TKC_OK);
  return status;
}

TEST_CASE("metadata cut off at any byte is refused", "[runtime][hostile]") {
  Loader loader;
  std::string json = vectorAdd().dump();
  for (size_t bytes = 0; bytes < json.size(); ++bytes) {
    tkc_status status = loader.openBundle(json.substr(0, bytes));
    if (status != TKC_E_CORRUPT)
      FAIL("cut at " << bytes << ": " << tkc_status_name(status));
  }
  CHECK(loader.openBundle(json) == TKC_OK);
}

TEST_CASE("flipped bytes end in an error or in a good launch", "[runtime][hostile]") {
  Loader loader;
  const std::string json = vectorAdd().dump();
  uint64_t seed = 12345;
  auto draw = [&](size_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(seed >> 33) % below;
  };
  int refused = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string damaged = json;
    for (size_t flips = 1 + draw(3); flips > 0; --flips)
      damaged[draw(damaged.size())] = static_cast<char>(draw(256));
    refused += tryAll(loader, damaged) != TKC_OK;
  }
  CHECK(refused > 5000);
}

TEST_CASE("every value of a good file may be replaced by any other", "[runtime][hostile]") {
  Loader loader;
  const Json good = vectorAdd();
  const Json flat = good.flatten();
  const Json values[] = {nullptr,
                         true,
                         -1,
                         0,
                         INT64_MIN,
                         UINT64_MAX,
                         1e308,
                         "",
                         std::string(100000, 'a'),
                         std::string("a\0b", 3),
                         Json::array(),
                         Json::object(),
                         Json::array({"add", "N", 1}),
                         Json::array({"x.ptr", Json::array({1})})};
  for (const auto &[path, unused] : flat.items()) {
    // The value itself, and every object or array that it is in.
    for (Json::json_pointer at(path); !at.empty(); at.pop_back()) {
      for (const Json &value : values) {
        Json damaged = good;
        damaged[at] = value;
        tryAll(loader, damaged.dump());
      }
      Json damaged = good;
      Json &parent = damaged[at.parent_pointer()];
      if (parent.is_object())
        parent.erase(at.back());
      else
        parent.erase(static_cast<size_t>(std::stoul(at.back())));
      tryAll(loader, damaged.dump());
    }
  }
  SUCCEED();
}

TEST_CASE("deep nesting is refused before it costs anything", "[runtime][hostile]") {
  Loader loader;
  for (const char *open : {"[", "{\"a\":", "{\"schema\":[", "[[],"}) {
    std::string json;
    for (int i = 0; i < 1000000; ++i)
      json += open;
    CHECK(loader.openBundle(json) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains("deeper than 64"));
  }
}

TEST_CASE("duplicate keys, huge numbers, bad UTF-8, trailing text are refused",
          "[runtime][hostile]") {
  Loader loader;
  std::string json = vectorAdd().dump();
  CHECK(loader.openBundle("{\"schema\":\"tkc.kernel/1.0\"," + json.substr(1)) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("\"schema\" occurs twice"));
  CHECK(loader.openBundle(json + "x") == TKC_E_CORRUPT);
  CHECK(loader.openBundle(json + std::string(1, '\0')) == TKC_OK); // a C string's end
  CHECK(loader.openBundle(json + std::string(2, '\0')) == TKC_E_CORRUPT);
  CHECK(loader.openBundle(json + std::string(1, '\0') + "x") == TKC_E_CORRUPT);
  CHECK(loader.openBundle("{\"a\":\"\xff\xfe\"," + json.substr(1)) == TKC_E_CORRUPT);
  for (const char *number : {"1e400", "-1e400", "99999999999999999999999999", "1e5", "0x10"}) {
    std::string damaged = json;
    size_t block = damaged.find("\"block\":[128");
    REQUIRE(block != std::string::npos);
    damaged.replace(block + 9, 3, number);
    CHECK(loader.openBundle(damaged) == TKC_E_CORRUPT);
  }
  std::string digits(1000000, '9');
  CHECK(loader.openBundle("{\"a\":" + digits + "}") == TKC_E_CORRUPT);
}

TEST_CASE("bounds of the launch and of parameters are checked at open", "[runtime][hostile]") {
  struct Case {
    const char *path;
    Json value;
    const char *text;
  };
  const std::string v = "/kernels/0/variants/0/";
  const Case cases[] = {
      {"block", {1024, 2, 1}, "product is 2048"},
      {"block", {0, 1, 1}, "found 0, needed 1"},
      {"block", {1, 1, 65}, "needed 1 to 64"},
      {"image", 1, "found 1, needed 0 to 0"},
      {"params/bytes", 20, "needed"},
      {"params/bytes", 40000, "found 40000"},
      {"params/hidden", 8, "found 8, needed 0 to 0"},
      {"params/align", 3, "power of two"},
      {"params/list/1/at", 4, "found 4, needed 8"},
      {"params/list/0/size", 4, "size 4, needed size 8"},
      {"params/list/3/at", 25, "found 4, needed 1 to 3"},
      {"params/list/1/type", "i32", "needed size 4"},
      {"params/list/3/type", "f32", "must be the name of a f32 scalar"},
      {"params/list/0/value", "w.ptr", "is not ARG.ptr"},
      {"params/list/0/value", "N", "is not ARG.ptr"},
      {"symbol", "a b", "symbol"},
      {"target/arch", "gfx942", "arch is \"gfx942\""},
      {"target/vendor", "amd", "image of another vendor"},
      {"resources/shared_dynamic", -1, "found -1"},
  };
  for (const Case &c : cases) {
    Loader loader;
    Json json = vectorAdd();
    json[Json::json_pointer(v + c.path)] = c.value;
    INFO(c.path);
    CHECK(loader.openBundle(json.dump()) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains("kernels[0].variants[0]") && Contains(c.text));
  }
}

TEST_CASE("a kernel that contradicts itself is refused at open", "[runtime][hostile]") {
  struct Case {
    const char *path;
    Json value;
    const char *text;
  };
  const Case cases[] = {
      {"args/1/name", "x", "two parameters are called `x`"},
      {"args/1/name", "sms", "no name for a parameter"},
      {"args/0/strides", {1, 1}, "1 extents, needed as many strides"},
      {"args/0/align", 3, "power of two"},
      {"args/0/access", "rw", "needed in, out or inout"},
      {"args/0/dtype", "f31", "unknown dtype"},
      {"args/0/extents", {"M"}, ""}, // N is still bound by y; M by x
      {"ranges", {{"Q", {0, 1}}}, "nothing binds the name `Q`"},
      {"ranges", {{"N", {2, 1}}}, "found 1, needed 2"},
      {"disjoint", Json::array({Json::array({"x", "x"})}), "paired with itself"},
      {"disjoint", Json::array({Json::array({"x", "q"})}), "`q` is no tensor"},
      {"abi_hash", "b3:0", "abi_hash"},
      {"abi_hash", "md5:12", "abi_hash"},
      {"variants/1/when", Json::array({Json::array({"eq", "N", 1})}), "the last must have none"},
      {"variants/1/id", "sm_90a/v4/b1024.w4", "occurs twice"},
      {"require", {{{"expr", 1}}}, "no field \"text\""},
  };
  for (const Case &c : cases) {
    Loader loader;
    Json json = vectorAdd();
    json[Json::json_pointer(std::string("/kernels/0/") + c.path)] = c.value;
    INFO(c.path);
    CHECK(loader.openBundle(json.dump()) == (*c.text ? TKC_E_CORRUPT : TKC_OK));
    CHECK_THAT(loader.text(), Contains(c.text));
  }
}
