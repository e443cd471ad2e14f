//===- InterpExpectTest.cpp - expectations over whole arrays ---------------------------------===//

#include "driver/Expect.h"
#include "tests/unit/InterpHarness.h"
#include <cmath>

using namespace tk;
using namespace tk::interp;
using namespace tk::interp::test;

static std::string expectation(const std::string &text, bool *holds = nullptr) {
  Harness harness;
  ExpectNames names;
  ExpectArray x = ExpectArray::filled({2, 3});
  for (int i = 0; i < 6; ++i)
    x.data[size_t(i)] = i;
  names["x"] = x;
  names["x.before"] = ExpectArray::filled({2, 3}, 1);
  names["v"] = {{3}, {1, 0.1, NAN}};
  names["n"] = ExpectArray::number(5);
  names["as[0]"] = {{2}, {1, 2}};
  names["as[1]"] = {{2}, {3, 4}};
  names["as[1].before"] = {{2}, {0, 0}};
  names["h"] = {{3}, {1, -0.0, NAN}, {0x3c00, 0x8000, 0x7e01}, DType::f16};
  names["g"] = {{3}, {1, 0.0, NAN}, {0x3c00, 0x0000, 0x7e00}, DType::f16};
  bool result = checkExpectation(harness.context, text, names);
  if (holds)
    *holds = result;
  return harness.messages.empty() ? "" : harness.messages[0];
}

TEST_CASE("expectations that hold", "[run]") {
  for (const char *text : {"true",
                           "x[1, 2] == n",
                           "equal(x[:, 1], 3 * arange(2) + 1)",
                           "x.T[2, 1] == 5",
                           "equal(x[::, ::-1][0, :], 2 - arange(3))",
                           "equal(x[0, 1 +: 2], arange(1, 3))",
                           "sum(x) == 15",
                           "equal(sum(x, axis=0), 3 + 2 * arange(3))",
                           "max(x, axis=-1)[1] == 5",
                           "mean(x) == 2.5",
                           "allclose(variance(x), 35 / 12)",
                           "allclose(sum(softmax(x, axis=1), 1), 1)",
                           "equal(x @ x.T, x @ x.T)",
                           "(x @ x.T)[0, 0] == 5",
                           "equal(where(x < 2, x, 0)[0, 2], 0)",
                           "0 <= x <= 5",
                           "!(x[0, 0] > 0)",
                           "equal(x[:, None, :] + x[None, 0, :], x[:, None, :] * 1 + "
                           "arange(3))",
                           "v.to(bf16)[1] == 0.10009765625",
                           "equal(v, v)",
                           "7 // 2 == 3 && -7 // 2 == -3 && -7 % 2 == -1",
                           "exp(log(2.0)) > 1.99",
                           "allclose(tanh(0.5), 2 * sigmoid(1.0) - 1)",
                           "maximum(2, 3) == 3",
                           "erf(0) == 0 || false",
                           "if n == 5 { true } else { false }",
                           "equal(x.before, 1)",
                           "abs(-inf) == inf",
                           "1 << 4 == 16 && 6 & 3 == 2",
                           "rsqrt(4) == 0.5",
                           "sum(x, axis=1)[1] == 12",
                           // Products of stacks of matrices.
                           "(reshape(arange(8), 2, 2, 2) @ eye(2))[1, 0, 1] == 5",
                           "(eye(3)[None, :, :] @ x.T[None, :, :]).shape[0] == 1",
                           // Gathers.
                           "equal(x[[1, 0, 1], 2], [5, 2, 5])",
                           "equal(x[[1, 0], [-1, 0]], [5, 0])",
                           "equal(x[:, [2, 0]][1, :], [5, 3])",
                           "equal(x[[[0], [1]], 0 +: 2], [[[0, 1]], [[3, 4]]])",
                           "equal(take(x, [2, 0], axis=1), x[:, [2, 0]])",
                           "equal(take(x, [1]), x[1:, :])",
                           // Lists behind pointers.
                           "equal(as[1], [3, 4]) && as[0][1] == 2 && equal(as[1].before, 0)",
                           // Along axes.
                           "equal(cumsum(x, axis=0)[1, :], [3, 5, 7])",
                           "equal(cumprod([1, 2, 3]), [1, 2, 6])",
                           "equal(sort([3, 1, 2]), [1, 2, 3])",
                           "equal(sort([3, 1, 2], descending=true), [3, 2, 1])",
                           "equal(argsort([3, 1, 1]), [1, 2, 0])",
                           "equal(topk([3, 9, 9, 1], 3), [9, 9, 3])",
                           "equal(topk([3, 9, 9, 1], 3).1, [1, 2, 0])",
                           "equal(topk(x, 1, axis=0).0, x[1:, :])",
                           "equal(sort([2, nan, 1]).1, [2, 0, 1])",
                           "equal(flip(x, axis=0), x[::-1, :])",
                           "argmax([1, 3, 3]) == 1 && argmin([1, nan, 0]) == 1",
                           "equal(argmax(x, axis=1), 2) && prod([2, 3, 4]) == 24",
                           "any([0, 1]) && !all([0, 1]) && all(x >= 0)",
                           "allclose(softmax(x), softmax(x, axis=1))",
                           // Shapes.
                           "equal(reshape(x, 3, -1), [[0, 1], [2, 3], [4, 5]])",
                           "equal(permute(x, 1, 0), x.T)",
                           "equal(cat(x, x, axis=1)[0, :], [0, 1, 2, 0, 1, 2])",
                           "cat(x, x).shape[0] == 4 && sum(zeros(2, 3)) == 0",
                           "sum(ones(2, 3)) == 6 && equal(full(7, 2), [7, 7])",
                           // Numbers.
                           "f16(2049) == 2048 && bf16(257) == 256 && i8(300) == 127",
                           "clamp(5, 0, 3) == 3 && pow(2, 10) == 1024 && round(2.5) == 2",
                           "same(x, x) && !same(h, g) && same(h[:1], g[:1]) && equal(h, g)",
                           "!same(-0.0, 0.0) && same(nan, nan)",
                           "equal(bits(h), [0x3c00, 0x8000, 0x7e01]) && bits(h[1]) == 32768"}) {
    bool holds = false;
    std::string message = expectation(text, &holds);
    INFO(text << " " << message);
    CHECK(holds);
  }
}

TEST_CASE("expectations that fail show the first difference and the largest", "[run]") {
  CHECK(expectation("allclose(x, x.before * 2, rtol=0.5)") ==
        "1: TK5051: the expectation `allclose(x, x.before * 2, rtol=0.5)` does not hold: 3 of 6 "
        "elements differ, the first at [0, 0]: 0 and 2; the largest error is 3 at [1, 2]");
  CHECK(expectation("x < 4") == "1: TK5051: the expectation `x < 4` does not hold: `<` is false for "
                                "2 of 6 elements, the first at [1, 1]: 4 and 4");
  CHECK(expectation("!(x > 3)") == "1: TK5051: the expectation `!(x > 3)` does not hold: it is false "
                                   "first at [1, 1]");
  CHECK(expectation("n == 6") == "1: TK5051: the expectation `n == 6` does not hold: `==` is false "
                                 "for 5 and 6");
  CHECK(expectation("same(h, g)") == "1: TK5051: the expectation `same(h, g)` does not hold: 2 of 3 "
                                     "elements differ, the first at [1]: 0x8000 and 0x0; the largest "
                                     "error is nan at [2]");
  CHECK(expectation("equal(v, v[0])").find("the largest error is nan at [2]") != std::string::npos);
}

TEST_CASE("expectations that cannot be evaluated", "[run]") {
  struct Case {
    const char *text;
    const char *message;
  };
  for (const Case &test : {
           Case{"y == 1", "TK5052: `y`: is not known; there are as[0], as[1], g, h, n, v, x"},
           Case{"x + v[:2] == 0", "the shapes [2, 3] and [2] do not broadcast"},
           Case{"frob(x)", "TK5052: `frob(x)`: is no function of an expectation"},
           Case{"exp(x, x) == 0", "takes 1 arguments, got 2"},
           Case{"allclose(x, x, tol=1)", "takes no argument `tol`"},
           Case{"sum(x, axis=2) == 0", "has axis 2 of an array of shape [2, 3]"},
           Case{"x[0, 3] == 0", "is outside the axis of 3"},
           Case{"x[0, 0, 0] == 0", "has more indices than axes: [2, 3]"},
           Case{"x @ x == 0", "do not multiply"},
           Case{"x[::0] == 0", "has a step of zero"},
           Case{"x.to(f7) == 0", "there is x.to(f16) alone"},
           Case{"x[[0, 2], 0] == 0", "is outside the axis of 2"},
           Case{"x[0.5, 0] == 0", "is not an integer"},
           Case{"topk(x, 4) == 0", "takes more elements than the axis has: 3"},
           Case{"reshape(x, 4, -1) == 0", "the shape [2, 3] does not become [4, 1]"},
           Case{"permute(x, 0, 0) == 0", "names each axis of [2, 3] once"},
           Case{"cat(x, v) == 0", "the shapes [2, 3] and [3] do not join"},
           Case{"bits(x + 1) == 0", "has bits only for an array of the run or a part of one"},
           Case{"[x, v] == 0", "has the shape [3], the element before it another one"},
           Case{"sum(x).1 == 0", "has no parts"},
           Case{"zeros(-1) == 0", "has sides that are negative or too large"},
           Case{"softmax(n) == 0", "needs an axis, got a number"},
           Case{"x.size == 0", "arrays have .T, .shape, .before and .to(dtype)"},
           Case{"x +", "TK10"},
       }) {
    bool holds = true;
    std::string message = expectation(test.text, &holds);
    INFO(test.text << ": " << message);
    CHECK_FALSE(holds);
    CHECK(message.find(test.message) != std::string::npos);
  }
}
