//===- TuneLibrary.h - the tuner's C interface, as the driver uses it ----------------------===//
#pragma once

#include "driver/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <string>
#include <tkc/tune.h>

namespace tk {

/// Why the last call failed, for a message.
using TuneError = tkc_error;
TuneError makeTuneError();

/// Prints what the library says of a call that failed; gives the exit status.
int reportTuneFailure(const CompileOptions &options, llvm::StringRef what, const TuneError &error);

/// A shape as the library takes it. Refers to the words.
class TuneProblem {
public:
  TuneProblem(const TuneOptions::Words &shape, const TuneOptions::Words &fills);
  const tkc_tune_problem *get() const { return &problem; }

private:
  std::vector<tkc_const> values, filled;
  tkc_tune_problem problem{};
};

/// Bytes and JSON as the library takes them; `data` may be empty.
tkc_bundle_desc describeBundle(llvm::StringRef data, llvm::StringRef json);

/// The text that a call gives, which is asked for its size first; empty when it fails.
std::string
tuneText(llvm::function_ref<tkc_status(char *text, size_t *bytes, tkc_error *error)> call,
         tkc_error *error);

/// Why no launch can be timed any more; empty as long as the device is there.
std::string whyLost(const llvm::json::Value &report);

/// Ends the process at once: its normal end might wait for a launch that never ends.
[[noreturn]] void endAtOnce(int status);

/// A tuner with its device; messages go to standard error.
class TuneDevice {
public:
  ~TuneDevice() { tkc_tune_close(tuner); }
  TuneDevice() = default;
  TuneDevice(const TuneDevice &) = delete;
  TuneDevice &operator=(const TuneDevice &) = delete;

  tkc_status open(const TuneOptions &options, tkc_error *error);
  operator tkc_tuner *() const { return tuner; }

  /// The report: device, and all that was timed.
  llvm::json::Value report() const;
  std::string table() const;
  /// Ends the line of progress, if one stands there.
  void endProgress();
  /// What the library ignored and why.
  std::vector<std::string> warnings;
  /// Called ahead of each turn of a candidate.
  std::function<void(uint32_t candidate, llvm::StringRef config)> launching;

private:
  void showProgress(const char *text);

  tkc_tuner *tuner = nullptr;
  bool showsProgress = false, isLineOpen = false;
};

} // namespace tk
