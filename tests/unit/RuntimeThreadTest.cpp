//===- RuntimeThreadTest.cpp - many threads on one bundle -------------------===//
// Run under ThreadSanitizer with `cmake -S runtime -B build/tsan -DTKC_SANITIZE=thread`.
#include "FakeCudaFixture.h"

#include <atomic>
#include <thread>

TEST_CASE("threads prepare, encode and submit at the same time", "[runtime][threads]") {
  constexpr int threadCount = 8, streamCount = 4, launchesEach = 500;
  Loader loader;
  loader.load(vectorAdd());
  std::atomic<int> failures{0};
  auto work = [&](int number) {
    tkc_kernel *own = nullptr;
    tkc_error error{};
    error.size = sizeof(error);
    if (tkc_kernel_prepare(loader.bundle, "vector_add", nullptr, 0, 0, nullptr, &own, &error)) {
      ++failures;
      return;
    }
    alignas(128) unsigned char params[128];
    tkc_launch launch{};
    launch.size = sizeof(launch);
    launch.params = params;
    launch.param_capacity = sizeof(params);
    for (int i = 0; i < launchesEach; ++i) {
      int64_t n = 1 + number * launchesEach + i;
      Tensor x{at(1 << 20), TKC_F32, {n}, {}}, y{at(1 << 24), TKC_F32, {n}, {}};
      Tensor z{at(1 << 28), TKC_F32, {n}, {}};
      const tkc_arg args[] = {x, y, z};
      // The shared kernel and the thread's own by turns.
      const tkc_kernel *kernel = i % 2 ? loader.kernel : own;
      char text[512];
      size_t room = sizeof(text);
      failures += tkc_encode(kernel, args, 3, nullptr, &launch, &error) != TKC_OK ||
                  launch.grid[0] != static_cast<uint32_t>((n + 1023) / 1024) ||
                  tkc_submit(kernel, &launch, at(0x100 + 16 * (number % streamCount)), &error) ||
                  tkc_why(kernel, args, 3, nullptr, text, &room, &error);
    }
    tkc_kernel_release(own);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(loader.cuda.launches.size() == threadCount * launchesEach);
  CHECK(loader.cuda.calls["cuLibraryLoadData"] == 1);
  CHECK(loader.cuda.retained == 1);
}
