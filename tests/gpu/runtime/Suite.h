//===- Suite.h - checks of the loader, each a line of the result ------------===//
#ifndef TKC_TESTS_GPU_RUNTIME_SUITE_H
#define TKC_TESTS_GPU_RUNTIME_SUITE_H

#include "Cuda.h"

#include <functional>
#include <string>
#include <tkc/runtime.hpp>
#include <utility>
#include <vector>

namespace suite {

/// A check that does not hold, with what was found.
struct Failure {
  std::string text;
};

std::string text(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Throws the status as a Failure unless it is good.
void need(const tkc::status &status);
template <class T> T need(tkc::result<T> result) {
  if (!result)
    need(result.error());
  return std::move(*result);
}

/// Throws unless it is this refusal and its text has the word. What was said, for the result.
std::string refusal(const tkc::status &status, tkc_status wanted, const char *word);

/// What is below the loader. Checks name those on which they tell something.
enum On : unsigned {
  OnCuda = 1,
  OnCpu = 2,    ///< the interpreter computes, on host memory
  OnDouble = 4, ///< the driver that records: nothing is computed
  OnResults = OnCuda | OnCpu,
  OnDriver = OnCuda | OnDouble,
  OnAll = 7
};

/// A file's bytes; throws when it can't be read.
std::string readFile(const std::string &path);

class Suite {
public:
  On device = OnCuda;
  std::string folder, only;
  int seconds = 60;
  bool costsOnly = false, listOnly = false;
  tkc_driver_desc desc{}; ///< how to open a driver
  int passed = 0, failed = 0, skipped = 0;

  /// Runs it where it tells something; what it returns are figures for its line.
  void check(const char *name, unsigned where, const std::function<std::string()> &body);

  /// The bundle NAME.tkb, or else the pair NAME.image and NAME.json.
  tkc::result<tkc::bundle> open(const tkc::driver &driver, const std::string &name) const;
  std::string path(const std::string &name) const { return folder + "/" + name; }
};

/// What a check begins with: a driver of the suite's, or of another description, and a bundle.
struct Opened {
  explicit Opened(const Suite &suite, const std::string &file = "kernels.tkb")
      : Opened(suite, file, suite.desc) {}
  Opened(const Suite &suite, const std::string &file, const tkc_driver_desc &desc)
      : driver(need(tkc::driver::open(desc))), bundle(need(suite.open(driver, file))) {}
  tkc::kernel prepare(const char *name) const { return need(tkc::kernel::prepare(bundle, name)); }

  tkc::driver driver;
  tkc::bundle bundle;
};

/// A stream of the current context; without a device it is none.
class Stream {
public:
  explicit Stream(const Suite &suite);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  operator tkc::stream() const { return handle; }
  void *get() const { return handle; }
  void wait() const;

private:
  void *handle = nullptr;
};

void addOverhead(Suite &suite);
/// The costs of a launch in microseconds, as JSON.
void printLaunchCosts(const Suite &suite);
void addThreads(Suite &suite);
void addGraphs(Suite &suite);
void addCaptures(Suite &suite);
void addRefusals(Suite &suite);
void addFeatures(Suite &suite);
void addDevices(Suite &suite);
/// Code that no compiler wrote: a fault in it would spoil what comes after.
void addHandWritten(Suite &suite);
/// Last: it leaves the context broken.
void addBroken(Suite &suite);

} // namespace suite

#endif
