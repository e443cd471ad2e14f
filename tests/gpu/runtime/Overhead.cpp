//===- Overhead.cpp - what the loader adds to the driver's own call ---------===//
// Ways of launching the same kernel with the same parameters take turns, A B C A B C, in batches
// with an idle device ahead of each. A figure is the median of the batches.
#include "Allocations.h"
#include "Jobs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>

namespace suite {

constexpr int kBatch = 200, kBatches = 101; // 20,200 launches a way
constexpr double kMostNs = 3000;

namespace {
struct Way {
  std::string name;
  std::function<void()> launch;
  std::vector<double> ns;
  uint64_t allocations = 0;

  double median() {
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
  }
};
} // namespace

static void measure(std::vector<Way> &ways) {
  for (int batch = -1; batch < kBatches; ++batch) // one to warm up
    for (Way &way : ways) {
      SUITE_CALL(cuCtxSynchronize);
      uint64_t before = allocations();
      auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kBatch; ++i)
        way.launch();
      auto end = std::chrono::steady_clock::now();
      if (batch < 0)
        continue;
      way.allocations += allocations() - before;
      way.ns.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / kBatch);
    }
  SUITE_CALL(cuCtxSynchronize);
}

/// The caller that the loader is compared with: the driver's function, the encoded parameters.
static void launchByHand(const tkc_launch &l, void *stream) {
  size_t bytes = l.param_bytes;
  void *extra[] = {reinterpret_cast<void *>(1), l.params, reinterpret_cast<void *>(2), &bytes,
                   nullptr};
  SUITE_CALL(cuLaunchKernel, l.function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
             l.block[2], l.dynamic_smem, stream, nullptr, extra);
}

static tkc_arg cTensor(float *data, const int64_t *extents) {
  tkc_arg arg{};
  arg.kind = TKC_TENSOR;
  arg.u.tensor.data = data;
  arg.u.tensor.extents = extents;
  arg.u.tensor.dtype = TKC_F32;
  arg.u.tensor.rank = 1;
  return arg;
}

/// The same parameters one by one, as most callers give them: those of `add` are four words.
static void launchWithPointers(const tkc_launch &l, void *stream) {
  char *at = static_cast<char *>(l.params);
  void *params[] = {at, at + 8, at + 16, at + 24};
  SUITE_CALL(cuLaunchKernel, l.function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
             l.block[2], l.dynamic_smem, stream, params, nullptr);
}

/// The driver's call first, then the loader's ways.
static std::vector<Way> launchCosts(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  AddJob job(add, 1024);
  job.fill(1024, 1);
  Stream stream(suite);
  tkc::encoded<> once, again;
  need(job.encode(once));
  if (once.get()->param_bytes > 32)
    fail("`add` takes %u bytes of parameters, expected four words", once.get()->param_bytes);
  int64_t extents[1] = {1024};
  tkc_arg args[] = {cTensor(job.x.data(), extents), cTensor(job.y.data(), extents),
                    cTensor(job.z.data(), extents)};
  auto cSubmit = [&] {
    tkc_error error{sizeof(tkc_error), 0, 0, 0, ""};
    if (tkc_submit(add.get(), once.get(), stream.get(), &error))
      fail("%s", error.text);
  };
  auto cEncode = [&] {
    tkc_error error{sizeof(tkc_error), 0, 0, 0, ""};
    if (tkc_encode(add.get(), args, 3, nullptr, once.get(), &error))
      fail("%s", error.text);
  };
  std::vector<Way> ways = {
      {"cuLaunchKernel, buffer", [&] { launchByHand(*once.get(), stream.get()); }, {}},
      {"C++ submit", [&] { need(add.submit(once, stream)); }, {}},
      {"C++ encode and submit", [&] { need(job.launch(stream)); }, {}},
      {"C submit", cSubmit, {}},
      {"C encode and submit", [&] { cEncode(), cSubmit(); }, {}},
      {"cuLaunchKernel, pointers", [&] { launchWithPointers(*once.get(), stream.get()); }, {}},
      {"C++ encode", [&] { need(job.encode(again)); }, {}}};
  measure(ways);
  job.verify();
  return ways;
}

static std::string overhead(const Suite &suite) {
  std::vector<Way> ways = launchCosts(suite);
  double driverNs = ways[0].median();
  std::string line = text("%s %.0f ns", ways[0].name.c_str(), driverNs), problems;
  for (size_t i = 1; i < ways.size(); ++i) {
    Way &way = ways[i];
    double more = way.median() - driverNs;
    line += text(", %s %.0f ns", way.name.c_str(), way.median());
    if (more > kMostNs)
      problems += text("; %s takes %.0f ns more than the driver's call", way.name.c_str(), more);
    // The driver may take memory now and then, in whichever call.
    if (way.allocations > ways[0].allocations + kBatches)
      problems += text("; %s allocates %llu times in %d launches, the driver's call %llu times",
                       way.name.c_str(), static_cast<unsigned long long>(way.allocations),
                       kBatch * kBatches, static_cast<unsigned long long>(ways[0].allocations));
  }
  if (!problems.empty())
    fail("%s%s", line.c_str(), problems.c_str());
  return line +
         text("; allocations in %d launches: the driver's call %llu, C++ encode and submit %llu",
              kBatch * kBatches, static_cast<unsigned long long>(ways[0].allocations),
              static_cast<unsigned long long>(ways[2].allocations));
}

void printLaunchCosts(const Suite &suite) {
  const char *separator = "{";
  for (Way &way : launchCosts(suite)) {
    printf("%s\"%s\": %.3f", separator, way.name.c_str(), way.median() / 1000);
    separator = ", ";
  }
  printf("}\n");
}

/// No driver is called to encode: whatever is allocated is the loader's.
static std::string encodeAllocations(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel add = opened.prepare("add");
  tkc::kernel total = opened.prepare("total");
  AddJob first(add, 1000);
  TotalJob second(total, 1000);
  first.fill(1000, 1);
  second.fill(1000, 1);
  tkc::encoded<> launch;
  uint64_t before = allocations();
  for (int i = 0; i < 1000; ++i) {
    need(first.encode(launch));
    need(second.encode(launch));
  }
  uint64_t after = allocations();
  ::operator delete(::operator new(1)); // counts, or nothing would
  if (after == allocations())
    fail("allocations are not counted in this program");
  if (after != before)
    fail("%llu allocations in 2000 encodes", static_cast<unsigned long long>(after - before));
  return "2000 encodes";
}

void addOverhead(Suite &suite) {
  suite.check("encoding allocates nothing", OnAll, [&] { return encodeAllocations(suite); });
  suite.check("launch overhead", OnCuda, [&] { return overhead(suite); });
}

} // namespace suite
