//===- RuntimeExprTest.cpp - the JSON's expressions, through the interface --===//
#include "FakeCudaFixture.h"

using Catch::Matchers::Contains;

static constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;

/// A kernel whose only parameter is `expr` over the i64 scalars a and b.
static Json exprKernel(const Json &expr) {
  Json json = oneKernel(Json::array({scalarArg("a", "i64"), scalarArg("b", "i64")}));
  json["kernels"][0]["variants"][0]["params"] = {
      {"bytes", 8},
      {"align", 8},
      {"hidden", 0},
      {"list", Json::array({{{"at", 0}, {"size", 8}, {"type", "i64"}, {"value", expr}}})}};
  return json;
}

static tkc_status evaluate(Loader &loader, int64_t a, int64_t b, int64_t &out) {
  tkc_status status = loader.encode(
      {scalar(TKC_I64, static_cast<uint64_t>(a)), scalar(TKC_I64, static_cast<uint64_t>(b))});
  memcpy(&out, loader.params, sizeof(out));
  return status;
}

TEST_CASE("operators compute what docs/metadata.md says", "[runtime]") {
  struct Case {
    Json expr;
    int64_t a, b, result;
  };
  const Case cases[] = {
      {7, 0, 0, 7},
      {kMin, 0, 0, kMin},
      {"b", 1, 2, 2},
      {{"add", "a"}, 5, 0, 5},
      {{"add", "a", "b", 10}, 5, -7, 8},
      {{"mul", 2, "a", "b"}, -3, 4, -24},
      {{"sub", "a", "b"}, 1, 4, -3},
      {{"div", "a", "b"}, -7, 2, -3},
      {{"mod", "a", "b"}, -7, 2, -1},
      {{"mod", "a", "b"}, kMin, -1, 0},
      {{"cdiv", "a", "b"}, 7, 2, 4},
      {{"cdiv", "a", "b"}, 8, 2, 4},
      {{"cdiv", "a", "b"}, -7, 2, -3},
      {{"cdiv", "a", "b"}, kMax, 1, kMax},
      {{"round_up", "a", "b"}, 13, 8, 16},
      {{"min", "a", "b", 3}, 5, 4, 3},
      {{"max", "a", "b", 3}, 5, 9, 9},
      {{"eq", "a", "b"}, 2, 2, 1},
      {{"ne", "a", "b"}, 2, 2, 0},
      {{"lt", "a", "b"}, -1, 0, 1},
      {{"le", "a", "b"}, 0, 0, 1},
      {{"gt", "a", "b"}, 0, 0, 0},
      {{"ge", "a", "b"}, kMin, kMax, 0},
      {{"divides", "a", "b"}, 16, 48, 1},
      {{"divides", "a", "b"}, 16, 40, 0},
      {{"divides", "a", "b"}, 16, -32, 1},
      {{"not", "a"}, 3, 0, 0},
      {{"next_pow2", "a"}, 5, 0, 8},
      {{"next_pow2", "a"}, 8, 0, 8},
      {{"next_pow2", "a"}, -5, 0, 1},
      {{"next_pow2", "a"}, int64_t(1) << 62, 0, int64_t(1) << 62},
      {{"and", "a", "b"}, 2, 4, 1},
      {{"and", "a", "b"}, 2, 0, 0},
      {{"and", "a"}, 7, 0, 1},
      {{"or", "a", "b"}, 0, 0, 0},
      {{"or", "a", "b"}, 0, 9, 1},
      {{"or", "a", "b"}, 9, 0, 1},
      {{"select", "a", 10, 20}, 5, 0, 10},
      {{"select", "a", 10, 20}, 0, 0, 20},
      // What need not be evaluated is not: b is 0 here.
      {{"and", {"ne", "b", 0}, {"eq", {"mod", "a", "b"}, 0}}, 8, 0, 0},
      {{"or", {"eq", "b", 0}, {"div", "a", "b"}, {"div", "a", "b"}}, 8, 0, 1},
      {{"select", "b", {"div", "a", "b"}, -1}, 8, 0, -1},
      {{"add", 1, {"select", {"and", "a", "b"}, {"or", 0, "a"}, 5}, 100}, 1, 1, 102},
      {"sms", 0, 0, 132}};
  for (const Case &c : cases) {
    Loader loader;
    loader.load(exprKernel(c.expr));
    int64_t result;
    INFO(c.expr << " with a = " << c.a << ", b = " << c.b << ": " << loader.text());
    REQUIRE(evaluate(loader, c.a, c.b, result) == TKC_OK);
    CHECK(result == c.result);
  }
}

TEST_CASE("overflow and bad divisors are errors that name the expression", "[runtime]") {
  struct Case {
    Json expr;
    int64_t a, b;
    const char *text;
  };
  const Case cases[] = {{{"add", "a", "b"}, kMax, 1, "`a + b` overflows"},
                        {{"sub", "a", "b"}, kMin, 1, "`a - b` overflows"},
                        {{"mul", "a", "b"}, kMax, 2, "`a * b` overflows"},
                        {{"mul", {"add", "a", 1}, "b"}, kMax, 2, "`(a + 1) * b` overflows"},
                        {{"div", "a", "b"}, kMin, -1, "`a // b` overflows"},
                        {{"div", "a", "b"}, 1, 0, "`a // b` divides by zero"},
                        {{"mod", "a", "b"}, 1, 0, "divides by zero"},
                        {{"cdiv", "a", "b"}, 1, 0, "`cdiv(a, b)` has a divisor"},
                        {{"round_up", "a", "b"}, kMax, 2, "overflows"},
                        {{"divides", "a", "b"}, 0, 4, "has a divisor"},
                        {{"next_pow2", "a"}, (int64_t(1) << 62) + 1, 0, "overflows"}};
  for (const Case &c : cases) {
    Loader loader;
    loader.load(exprKernel(c.expr));
    int64_t result;
    INFO(c.expr);
    CHECK(evaluate(loader, c.a, c.b, result) == TKC_E_EXTENT);
    CHECK_THAT(loader.text(), Contains("kernel `k`") && Contains(c.text));
  }
}

TEST_CASE("expressions that are not well formed are refused with their path", "[runtime]") {
  const std::pair<Json, const char *> cases[] = {
      {"c", "nothing binds the name `c`"},
      {"a.ptr", "nothing binds"},
      {"dev.warps", "no `dev.warps`"},
      {1.5, "found a floating-point number"},
      {18446744073709551615u, "below 2^63"},
      {true, "found a boolean"},
      {Json::array(), "found an array"},
      {Json::object(), "found an object"},
      {Json::array({"add"}), "`add` has 0 operands, needed at least 1"},
      {Json::array({"sub", 1}), "`sub` has 1 operands, needed 2"},
      {Json::array({"pow", 1, 2}), "unknown operator \"pow\""},
      {Json::array({1, 2}), "needed an integer, a name or [operator"}};
  for (const auto &[expr, text] : cases) {
    Loader loader;
    INFO(expr);
    CHECK(loader.openBundle(exprKernel(expr).dump()) != TKC_OK);
    CHECK_THAT(loader.text(),
               Contains("kernels[0].variants[0].params.list[0].value") && Contains(text));
  }
}

TEST_CASE("depth and length of expressions are bounded", "[runtime]") {
  auto nested = [](int depth) {
    Json expr = "a";
    for (int i = 0; i < depth; ++i)
      expr = {"add", 1, expr};
    return expr;
  };
  Loader loader;
  int64_t result;
  loader.load(exprKernel(nested(32)));
  REQUIRE(evaluate(loader, 10, 0, result) == TKC_OK);
  CHECK(result == 42);
  CHECK(loader.openBundle(exprKernel(nested(33)).dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("deeper than 32"));

  Json wide = Json::array({"add"});
  for (int i = 0; i < 1023; ++i)
    wide.push_back("a");
  loader.load(exprKernel(wide));
  REQUIRE(evaluate(loader, 2, 0, result) == TKC_OK);
  CHECK(result == 2046);
  wide.push_back("a");
  CHECK(loader.openBundle(exprKernel(wide).dump()) == TKC_E_CORRUPT);
  CHECK_THAT(loader.text(), Contains("more than 1024 terms"));
}
