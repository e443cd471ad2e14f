//===- CpuLaunchTest.cpp - kernels on the CPU device ----------------------------===//

#include "tests/unit/CpuDevice.h"
#include <cmath>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace tk::cpu::test;

static const char *const kAdd = R"(
kernel add(in x: f32[N], in y: f32[N], out z: f32[N]) @grid(cdiv(N, 64)) {
    let i = program_id(0) * 64
    z[i +: 64] = x[i +: 64] + y[i +: 64]
})";

static std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i);
  return values;
}

TEST_CASE("a kernel works on the caller's memory", "[cpu]") {
  Loaded add(kAdd);
  std::vector<float> x = counted(1000), y(1000, 0.5f), z(1001, -1.0f);
  CHECK(add.launch(16, Params().vector(x).vector(y).tensor(z.data(), {1000}, {1})) == TKC_CPU_OK);
  for (size_t i = 0; i < 1000; ++i)
    REQUIRE(z[i] == float(i) + 0.5f);
  CHECK(z[1000] == -1.0f);
}

/// What `work` writes to standard output.
static std::string printedBy(llvm::function_ref<void()> work) {
  std::fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  std::FILE *file = std::tmpfile();
  dup2(fileno(file), STDOUT_FILENO);
  work();
  std::fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  std::string text(size_t(std::ftell(file)), ' ');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("a kernel prints to standard output, instance by instance", "[cpu]") {
  Loaded loud(R"(
kernel loud(in x: i32[N], n: i32) @grid(N) {
    let i = program_id(0)
    if x[i] > 0 { print("x and n: ", x[i], n) }
})");
  std::vector<int32_t> x = {7, 0, 9};
  std::string text = printedBy([&] {
    CHECK(loud.launch(3, Params().vector(x).scalar(int32_t(5))) == TKC_CPU_OK);
  });
  CHECK(text == "(0, 0, 0) x and n: 7 5\n(2, 0, 0) x and n: 9 5\n");
}

TEST_CASE("rows are reduced as `tkc run` reduces them", "[cpu]") {
  Loaded softmax(R"(
kernel softmax(in x: f32[M, N], out y: f32[M, N]) @grid(M) {
    let row = program_id(0)
    let v = x[row, 0 +: 32, fill=-inf]
    let e = exp(v - max(v))
    y[row, 0 +: 32] = e / sum(e)
})");
  std::vector<float> x(40 * 30), y(40 * 30);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 7) * 0.25f;
  CHECK(softmax.launch(
            40, Params().tensor(x.data(), {40, 30}, {30, 1}).tensor(y.data(), {40, 30}, {30, 1})) ==
        TKC_CPU_OK);
  for (size_t row = 0; row < 40; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 30; ++i)
      sum += std::exp(double(x[row * 30 + i]));
    for (size_t i = 0; i < 30; ++i)
      REQUIRE(y[row * 30 + i] == Approx(std::exp(double(x[row * 30 + i])) / sum).epsilon(1e-5));
  }
}

TEST_CASE("strides may go any way, and what lies between stays as it is", "[cpu]") {
  Loaded gemm(R"(
kernel gemm(in a: f32[M, K; *, *], in b: f32[K, N; *, *], out c: f32[M, N; *, *])
    @grid(cdiv(M, 16), cdiv(N, 16))
{
    let (m, n) = (program_id(0) * 16, program_id(1) * 16)
    var acc = zeros[f32](16, 16)
    for k in range(0, K, 16) { acc += a[m +: 16, k +: 16] @ b[k +: 16, n +: 16] }
    c[m +: 16, n +: 16] = acc
})");
  const int64_t m = 50, n = 70, k = 33;
  std::vector<float> a(size_t(m * k)), b(size_t(k * n)), c(size_t(m * n * 2), -7.0f);
  auto value = [](int64_t i, int64_t j) { return float((i * 5 + j * 3) % 11 - 5); };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j)
      a[size_t(j * m + i)] = value(i, j); // column-major
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      b[size_t((k - 1 - i) * n + j)] = value(i + 1, j); // from the last row to the first
  Params params;
  params.tensor(a.data(), {m, k}, {1, m}).tensor(&b[size_t((k - 1) * n)], {k, n}, {-n, 1});
  params.tensor(c.data(), {m, n}, {2 * n, 2}); // every second element
  std::string why;
  CHECK(gemm.launch(4, params, &why, 5) == TKC_CPU_OK);
  CHECK(why.empty());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += value(i, l) * value(l + 1, j);
      REQUIRE(c[size_t(i * 2 * n + j * 2)] == sum);
      REQUIRE(c[size_t(i * 2 * n + j * 2 + 1)] == -7.0f);
    }
}

TEST_CASE("atomic operations add up over all instances", "[cpu]") {
  Loaded count(R"(
kernel count(in x: i32[N], inout bins: i32[8]) @grid(cdiv(N, 32)) {
    let i = program_id(0) * 32 + arange(0, 32)
    atomic_add(bins[x[i, fill=0]], 1, mask=i < N)
})");
  std::vector<int32_t> x(1000), bins(8, 100);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = int32_t(i % 5);
  std::string why;
  CHECK(count.launch(32, Params().vector(x).vector(bins), &why) == TKC_CPU_OK);
  CHECK(why == "");
  CHECK(bins == std::vector<int32_t>{300, 300, 300, 300, 300, 100, 100, 100});
}

TEST_CASE("scalars lie in their own types; what is absent is absent", "[cpu]") {
  Loaded affine(R"(
kernel affine(flag: i1, n: i16, s: f64, in bias: f32[N]?, out y: f32[N]) @grid(1) {
    var v = full(s.to(f32), 16) + n.to(f32)
    if flag { v = -v }
    if bias { v += bias[0 +: 16] }
    y[0 +: 16] = v
})");
  std::vector<float> bias = counted(16), y(16);
  std::string why;
  CHECK(affine.launch(1,
                      Params()
                          .scalar(uint8_t(1))
                          .scalar(int16_t(-3))
                          .scalar(0.5)
                          .tensor(nullptr, {0}, {0})
                          .vector(y),
                      &why) == TKC_CPU_OK);
  CHECK(why == "");
  CHECK(y == std::vector<float>(16, 2.5f));
  CHECK(
      affine.launch(
          1, Params().scalar(uint8_t(0)).scalar(int16_t(-3)).scalar(0.5).vector(bias).vector(y)) ==
      TKC_CPU_OK);
  CHECK(y[15] == 12.5f);
  // A tensor without elements that was not left out may lie at 0.
  Loaded add(kAdd);
  CHECK(add.launch(
            1,
            Params().tensor(nullptr, {0}, {1}).tensor(nullptr, {0}, {1}).tensor(nullptr, {0}, {1}),
            &why) == TKC_CPU_OK);
  CHECK(why == "");
}

static const char *const kCopyRaw = R"(
kernel copy(in x: *f32, out y: *f32, n: i64) @grid(cdiv(n, 32)) {
    let i = program_id(0) * 32 + arange(0, 32)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
})";

TEST_CASE("pointers end where the caller says; without a word nothing is checked", "[cpu]") {
  Loaded copy(kCopyRaw);
  std::vector<float> x = counted(100), y(100);
  std::string why;
  CHECK(copy.launch(4, Params().pointer(x.data(), 400).pointer(y.data(), 400).scalar(int64_t(100)),
                    &why) == TKC_CPU_OK);
  CHECK(y == x);
  CHECK(copy.launch(4, Params().pointer(x.data(), 360).pointer(y.data(), 400).scalar(int64_t(100)),
                    &why) == TKC_CPU_E_KERNEL);
  CHECK(why.rfind("k.tk:4:", 0) == 0);
  CHECK(why.find("TK5001: program (2, 0, 0)") != std::string::npos);
  CHECK(why.find("`x`") != std::string::npos);
  std::fill(y.begin(), y.end(), 0.0f);
  CHECK(copy.launch(4, Params().pointer(x.data(), 0).pointer(y.data(), 0).scalar(int64_t(100)),
                    &why) == TKC_CPU_OK);
  CHECK(y == x);
}

TEST_CASE("tables of pointers lead to the caller's memory", "[cpu]") {
  Loaded gather(R"(
kernel gather(in table: **f32, out y: f32[M, 8]) @grid(M) {
    let row = program_id(0)
    y[row, 0 +: 8] = load(load(table + row) + arange(0, 8))
})");
  std::vector<float> first = counted(8), second(8, 3.0f), y(24);
  const float *table[] = {second.data(), first.data(), second.data()};
  std::string why;
  CHECK(gather.launch(3, Params().pointer(table, sizeof table).tensor(y.data(), {3, 8}, {8, 1}),
                      &why) == TKC_CPU_OK);
  CHECK(why == "");
  CHECK(y[0] == 3.0f);
  CHECK(std::vector<float>(y.begin() + 8, y.begin() + 16) == first);
  CHECK(gather.launch(4, Params().pointer(table, sizeof table).tensor(y.data(), {4, 6}, {6, 1}),
                      &why) == TKC_CPU_E_KERNEL);
  CHECK(why.find("`table`") != std::string::npos);
}

TEST_CASE("two names of one memory are one memory", "[cpu]") {
  Loaded shift(R"(
kernel shift(in x: f32[N], @alias(x) out y: f32[N]) @grid(cdiv(N, 16)) {
    let i = program_id(0) * 16
    y[i +: 16] = x[i +: 16] + 1.0
})");
  std::vector<float> x = counted(128);
  std::string why;
  CHECK(shift.launch(8, Params().vector(x).vector(x), &why) == TKC_CPU_OK);
  CHECK(why == "");
  CHECK(x[127] == 128.0f);
  // y begins eight elements after x, so an instance reads what its neighbour writes.
  x = counted(136);
  CHECK(shift.launch(8, Params().tensor(x.data(), {128}, {1}).tensor(&x[8], {128}, {1}), &why) ==
        TKC_CPU_E_KERNEL);
  CHECK(why.rfind("k.tk:4:", 0) == 0);
  // Rows that alternate share no element.
  x = counted(128);
  CHECK(shift.launch(4, Params().tensor(x.data(), {64}, {2}).tensor(&x[1], {64}, {2}), &why) ==
        TKC_CPU_OK);
  CHECK(x[0] == 0.0f);
  CHECK(x[1] == 1.0f);
  CHECK(x[127] == 127.0f);
}

TEST_CASE("a launch that races says so and where", "[cpu]") {
  Loaded race(R"(
kernel race(out y: f32[N]) @grid(8) {
    y[0 +: 16] = full(program_id(0).to(f32), 16)
})");
  std::vector<float> y(16);
  std::string why;
  CHECK(race.launch(8, Params().vector(y), &why) == TKC_CPU_E_KERNEL);
  CHECK(why.rfind("k.tk:3:", 0) == 0);
  CHECK(why.find("program (1, 0, 0)") != std::string::npos);
}

TEST_CASE("a launch that fails has run once, in order, and touched nothing between its elements",
          "[cpu]") {
  Loaded count(R"(
kernel count(in x: *f32, inout y: f32[M, N; *, *], n: i64) @grid(M) {
    let row = program_id(0)
    y[row, 0 +: 8] = y[row, 0 +: 8] + load(x + row)
})");
  std::vector<float> x(40, 1.0f), y(size_t(40 * 8 * 2), -7.0f);
  for (size_t i = 0; i < y.size(); i += 2)
    y[i] = 0.0f;
  // Columns from the last to the first, every second element; the last row's x is not there.
  Params params;
  params.pointer(x.data(), 39 * 4).tensor(&y[14], {40, 8}, {16, -2}).scalar(int64_t(40));
  std::string why;
  CHECK(count.launch(40, params, &why) == TKC_CPU_E_KERNEL);
  CHECK(why.find("program (39, 0, 0)") != std::string::npos);
  for (size_t i = 0; i < y.size(); ++i)
    REQUIRE(y[i] == (i % 2 ? -7.0f : i < 39 * 16 ? 1.0f : 0.0f));
}

TEST_CASE("threads launch one program at the same time, each with its own findings", "[cpu]") {
  Loaded copy(kCopyRaw);
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (size_t round = 0; round < 20; ++round) {
        std::vector<float> x(500, float(t)), y(500);
        const bool isShort = t % 2 == 1;
        std::string why;
        const int32_t status = copy.launch(16,
                                           Params()
                                               .pointer(x.data(), isShort ? 4 * (100 + t) : 2000)
                                               .pointer(y.data(), 2000)
                                               .scalar(int64_t(500)),
                                           &why);
        const std::string extent = "its " + std::to_string(100 + t) + " elements";
        if (status != (isShort ? TKC_CPU_E_KERNEL : TKC_CPU_OK) || (!isShort && y != x) ||
            (isShort && why.find(extent) == std::string::npos))
          wrong[t] = "status " + std::to_string(status) + ": " + why;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &what : wrong)
    CHECK(what == "");
}
