//===- Threads.cpp - many threads, many loads: no error, no leak ------------===//
#include "Jobs.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace suite {

constexpr int kThreads = 8, kStreams = 4;
constexpr size_t kLargest = 65536;
constexpr double kMiB = 1 << 20;
// What a driver and a C library keep for themselves; a leak of a byte a launch is more.
constexpr double kMostDeviceMiB = 4, kMostHostMiB = 16;

namespace {
struct Memory {
  double deviceMiB, hostMiB;
};

/// What the threads share.
struct Stage {
  const Suite &suite;
  const tkc::bundle &bundle;
  tkc::kernel add, scale, rowSums;
  std::vector<std::unique_ptr<Stream>> streams{};
  void *context = nullptr;
  std::atomic<uint64_t> launches{0}, verified{0};
  std::mutex mutex{};
  std::string problem{};
};
} // namespace

static Memory memoryInUse(const Suite &suite) {
  size_t free = 0, total = 0;
  if (suite.device == OnCuda)
    SUITE_CALL(cuMemGetInfo_v2, &free, &total);
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2)
    fail("/proc/self/statm can't be read");
  fclose(file);
  return {static_cast<double>(total - free) / kMiB,
          static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMiB};
}

/// Throws when there is more than before; the growth, for the result.
static std::string growth(const Memory &before, const Memory &after) {
  double device = after.deviceMiB - before.deviceMiB, host = after.hostMiB - before.hostMiB;
  std::string line = text("device memory %+.1f MiB, host memory %+.1f MiB", device, host);
  if (device > kMostDeviceMiB || host > kMostHostMiB)
    fail("%s, at most %.0f and %.0f are no leak", line.c_str(), kMostDeviceMiB, kMostHostMiB);
  return line;
}

/// Numbers that differ between threads and repeat between runs.
static uint32_t nextRandom(uint32_t &state) {
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

static void work(Stage &stage, int thread, std::chrono::steady_clock::time_point end) {
  if (stage.context)
    SUITE_CALL(cuCtxSetCurrent, stage.context);
  bool computes = stage.suite.device & OnResults;
  Stream &stream = *stage.streams[static_cast<size_t>(thread % kStreams)];
  tkc::kernel total = need(tkc::kernel::prepare(stage.bundle, "total")); // all threads at once
  std::unique_ptr<Job> jobs[] = {std::make_unique<AddJob>(stage.add, kLargest),
                                 std::make_unique<ScaleJob>(stage.scale, kLargest),
                                 std::make_unique<RowSumsJob>(stage.rowSums, 512),
                                 std::make_unique<TotalJob>(total, kLargest)};
  const size_t largest[] = {kLargest, kLargest, 512, kLargest};
  uint32_t state = static_cast<uint32_t>(thread + 1) * 7919;
  for (uint64_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
    size_t which = nextRandom(state) % 4;
    jobs[which]->fill(1 + nextRandom(state) % largest[which], static_cast<int>(round));
    for (int i = 0; i < 256; ++i) { // the same result each time; the others go on meanwhile
      need(jobs[which]->launch(stream));
      ++stage.launches;
      if (stage.suite.device == OnCpu)
        break; // at once, and slow
    }
    stream.wait();
    if (computes)
      jobs[which]->verify();
    ++stage.verified;
  }
}

static void workAll(Stage &stage, double seconds) {
  auto end = std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(seconds));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&stage, thread, end] {
      try {
        work(stage, thread, end);
      } catch (const Failure &failure) {
        std::lock_guard<std::mutex> lock(stage.mutex);
        stage.problem += text("; thread %d: %s", thread, failure.text.c_str());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  if (!stage.problem.empty())
    fail("%llu launches%s", static_cast<unsigned long long>(stage.launches.load()),
         stage.problem.c_str());
}

static std::string threads(const Suite &suite) {
  Opened opened(suite);
  Stage stage{
      suite,
      opened.bundle,
      opened.prepare("add"),
      opened.prepare("scale"),
      opened.prepare("row_sums"),
  };
  if (suite.device == OnCuda)
    SUITE_CALL(cuCtxGetCurrent, &stage.context);
  for (int i = 0; i < kStreams; ++i)
    stage.streams.push_back(std::make_unique<Stream>(suite));
  workAll(stage, suite.seconds / 10.0); // what is allocated once is there
  Memory before = memoryInUse(suite);
  stage.launches = stage.verified = 0;
  workAll(stage, suite.seconds);
  std::string line = growth(before, memoryInUse(suite));
  return text("%llu launches, %llu results compared, ",
              static_cast<unsigned long long>(stage.launches.load()),
              static_cast<unsigned long long>(stage.verified.load())) +
         line;
}

static std::string openings(const Suite &suite) {
  constexpr int kTimes = 200;
  Memory before{};
  for (int i = -20; i < kTimes; ++i) {
    if (i == 0)
      before = memoryInUse(suite);
    Opened opened(suite);
    tkc::kernel add = opened.prepare("add");
    tkc::kernel product = opened.prepare("matmul");
    AddJob job(add, 64);
    job.fill(64, i);
    need(job.launch(nullptr));
    if (suite.device == OnCuda) // nothing in flight may lose its kernel
      SUITE_CALL(cuCtxSynchronize);
  }
  return text("%d times, ", kTimes) + growth(before, memoryInUse(suite));
}

void addThreads(Suite &suite) {
  suite.check("opening, preparing and releasing leak nothing", OnAll,
              [&] { return openings(suite); });
  suite.check("8 threads on 4 streams", OnAll & ~OnDouble, [&] { return threads(suite); });
}

} // namespace suite
