//===- Main.cpp - the loader on a device, a line for each check -------------===//
//   loader_suite [--files=DIR] [--seconds=60] [--only=TEXT] [--cpu | --double=libtkcrt_double.so.1]
//   loader_suite --launch-costs     no check: what a launch costs on the host, as JSON
//   loader_suite --list             the names of the checks
// DIR is what loader_files.py made, by default `loader` beside the program. Status 1 when a check
// fails.
#include "Suite.h"
#include "examples/apps/memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <tkc/double.h>

using namespace suite;

static const char *valueOf(const char *word, const char *option) {
  size_t length = strlen(option);
  return strncmp(word, option, length) == 0 ? word + length : nullptr;
}

/// The recording driver is opened by its path: the machine with the GPU has none.
static void openDouble(Suite &suite, const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library)
    fail("%s", dlerror());
  auto create = reinterpret_cast<decltype(&tkc_double_create)>(dlsym(library, "tkc_double_create"));
  auto driver = reinterpret_cast<decltype(&tkc_double_driver)>(dlsym(library, "tkc_double_driver"));
  if (!create || !driver)
    fail("%s is no libtkcrt_double", path);
  suite.device = OnDouble;
  suite.desc = driver(create(nullptr), TKC_CUDA);
}

static bool readOptions(int count, char **words, Suite &suite) {
  for (int i = 1; i < count; ++i) {
    if (const char *value = valueOf(words[i], "--files="))
      suite.folder = value;
    else if (const char *value = valueOf(words[i], "--seconds="))
      suite.seconds = atoi(value);
    else if (const char *value = valueOf(words[i], "--only="))
      suite.only = value;
    else if (const char *value = valueOf(words[i], "--double="))
      openDouble(suite, value);
    else if (strcmp(words[i], "--launch-costs") == 0)
      suite.costsOnly = true;
    else if (strcmp(words[i], "--list") == 0)
      suite.listOnly = true;
    else if (strcmp(words[i], "--cpu") == 0)
      suite.device = OnCpu;
    else
      return false;
  }
  return suite.seconds > 0;
}

static void openDevice(Suite &suite) {
  if (suite.device != OnDouble) {
    suite.desc.size = sizeof(suite.desc);
    suite.desc.backend = suite.device == OnCpu ? TKC_CPU : TKC_CUDA;
  }
  if (memory_open(suite.device == OnCuda ? "cuda" : "cpu"))
    fail("no device");
  if (suite.device != OnCuda && suite.costsOnly)
    fail("launches are timed on a GPU only");
  if (suite.device != OnCuda)
    return;
  cuda.open();
  char name[128] = {};
  int version = 0, major = 0, minor = 0;
  SUITE_CALL(cuDeviceGetName, name, sizeof(name), 0);
  SUITE_CALL(cuDriverGetVersion, &version);
  SUITE_CALL(cuDeviceGetAttribute, &major, 75, 0); // COMPUTE_CAPABILITY_MAJOR
  SUITE_CALL(cuDeviceGetAttribute, &minor, 76, 0);
  if (!suite.costsOnly)
    printf("%s, compute capability %d.%d, driver of CUDA %d.%d\n", name, major, minor,
           version / 1000, version % 1000 / 10);
  if (major != 9)
    fail("the suite's kernels are for compute capability 9.0");
}

int main(int count, char **words) {
  Suite suite;
  const char *slash = strrchr(words[0], '/');
  suite.folder =
      (slash ? std::string(words[0], static_cast<size_t>(slash - words[0])) : std::string(".")) +
      "/loader";
  try {
    if (!readOptions(count, words, suite)) {
      fprintf(stderr, "usage: loader_suite [--files=DIR] [--seconds=N] [--only=TEXT] "
                      "[--cpu | --double=PATH] [--launch-costs] "
                      "[--list]\n");
      return 2;
    }
    if (!suite.listOnly)
      openDevice(suite);
    if (suite.costsOnly)
      return printLaunchCosts(suite), 0;
  } catch (const Failure &failure) {
    fprintf(stderr, "loader_suite: %s\n", failure.text.c_str());
    return 2;
  }
  addOverhead(suite);
  addRefusals(suite);
  addFeatures(suite);
  addGraphs(suite);
  addCaptures(suite);
  addDevices(suite);
  addThreads(suite);
  addHandWritten(suite);
  addBroken(suite);
  if (suite.listOnly)
    return 0;
  printf("%d passed, %d failed, %d skipped\n", suite.passed, suite.failed, suite.skipped);
  return suite.failed ? 1 : 0;
}
