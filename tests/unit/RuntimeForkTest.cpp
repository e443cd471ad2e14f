//===- RuntimeForkTest.cpp - a child of the process that opened the driver --===//
#include "FakeCudaFixture.h"

#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// One kernel with a tensor map, whose encoding is a driver call too; HIP has none.
static Json kernelFor(uint32_t backend) {
  if (backend != TKC_HIP)
    return mapKernel();
  Json json = oneKernel(Json::array({tensorArg("a", "f16", {"M", "K"}, {"a.s0", 1})}));
  json["images"][0]["kind"] = "hsaco";
  json["kernels"][0]["variants"][0]["target"] = {
      {"vendor", "amd"}, {"arch", "gfx942"}, {"match", "exact"}};
  return json;
}

/// What is wrong in the child, or an empty text.
static std::string useInChild(Loader &loader, const Tensor &a) {
  auto before = loader.cuda.calls;
  auto isRefused = [&](tkc_status status) {
    return status == TKC_E_DRIVER && loader.text().find("before a fork") != std::string::npos;
  };
  tkc_kernel *other = nullptr;
  if (!isRefused(
          tkc_kernel_prepare(loader.bundle, "k", nullptr, 0, 0, nullptr, &other, &loader.error)))
    return "prepare";
  if (!isRefused(loader.submit()))
    return "submit";
  tkc_status encoded = loader.encode({a});
  if (loader.backend == TKC_CUDA ? !isRefused(encoded) : encoded != TKC_OK)
    return "encode";
  tkc_kernel_release(loader.kernel);
  tkc_bundle_release(loader.bundle);
  tkc_driver_release(loader.driver);
  return loader.cuda.calls == before ? "" : "a call reached the driver";
}

/// The ways to make a child with memory of its own. Handlers of pthread_atfork run in the first.
static const struct {
  const char *name;
  pid_t (*make)();
} waysToFork[] = {
    {"fork", [] { return fork(); }},
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
    {"_Fork", [] { return _Fork(); }},
#endif
    {"clone", [] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }},
};

TEST_CASE("after a fork no call of the loader reaches the driver", "[runtime][fork]") {
  uint32_t backend = GENERATE(uint32_t(TKC_CUDA), uint32_t(TKC_HIP));
  for (const auto &way : waysToFork) {
    INFO(way.name);
    Loader loader;
    loader.backend = backend;
    loader.load(kernelFor(backend));
    Tensor a{at(0x10010), TKC_F16, {100, 72}, {80, 1}};
    REQUIRE(loader.encode({a}) == TKC_OK);
    pid_t child = way.make();
    if (child == 0) { // Catch2 and the fixture's destructor are the parent's
      std::string wrong = useInChild(loader, a);
      fprintf(stderr, "%s", wrong.c_str());
      _exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(loader.submit() == TKC_OK); // the parent goes on
  }
}
