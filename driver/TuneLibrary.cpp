//===- TuneLibrary.cpp - the tuner's C interface, as the driver uses it --------------------===//

#include "driver/TuneLibrary.h"
#include "driver/Session.h"
#include "driver/Tools.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

using namespace tk;
using llvm::StringRef;

TuneError tk::makeTuneError() {
  TuneError error{};
  error.size = sizeof(error);
  return error;
}

int tk::reportTuneFailure(const CompileOptions &options, StringRef what, const tkc_error &error) {
  StringRef help = error.status == TKC_E_DRIVER && !error.driver_code
                       ? "timing needs an NVIDIA GPU with its driver on this machine"
                       : "";
  return printAlone(commandLineDiag<diag::TuneFailed>(help, what, StringRef(error.text)),
                    options.jsonDiagnostics, 1);
}

std::string tk::whyLost(const llvm::json::Value &report) {
  return report.getAsObject()->getObject("device")->getString("lost").value_or("").str();
}

void tk::endAtOnce(int status) {
  llvm::outs().flush();
  llvm::errs().flush();
  _exit(status);
}

static std::vector<tkc_const> constsOf(const TuneOptions::Words &words) {
  std::vector<tkc_const> result;
  for (const auto &[name, value] : words)
    result.push_back({name.c_str(), value.c_str()});
  return result;
}

TuneProblem::TuneProblem(const TuneOptions::Words &shape, const TuneOptions::Words &fills)
    : values(constsOf(shape)), filled(constsOf(fills)) {
  problem.size = sizeof(problem);
  problem.values = values.data();
  problem.num_values = uint32_t(values.size());
  problem.fills = filled.data();
  problem.num_fills = uint32_t(filled.size());
}

tkc_bundle_desc tk::describeBundle(StringRef data, StringRef json) {
  tkc_bundle_desc desc{};
  desc.size = sizeof(desc);
  desc.data = data.empty() ? nullptr : data.data();
  desc.bytes = data.size();
  desc.json = json.empty() ? nullptr : json.data();
  desc.json_bytes = json.size();
  return desc;
}

std::string
tk::tuneText(llvm::function_ref<tkc_status(char *text, size_t *bytes, tkc_error *error)> call,
             tkc_error *error) {
  size_t bytes = 0;
  (void)call(nullptr, &bytes, error);
  std::string text(bytes, '\0');
  if (!bytes || call(text.data(), &bytes, error) != TKC_OK)
    return "";
  text.resize(bytes - 1); // the NUL
  return text;
}

tkc_status TuneDevice::open(const TuneOptions &options, tkc_error *error) {
  showsProgress = llvm::sys::Process::FileDescriptorIsDisplayed(STDERR_FILENO);
  std::string producer = "tkc " + tkcVersion().str();
  tkc_tune_desc desc{};
  desc.size = sizeof(desc);
  desc.search = options.halving ? TKC_TUNE_HALVING : TKC_TUNE_EXHAUSTIVE;
  desc.device = options.device;
  desc.rounds = options.rounds;
  desc.timeout_ms = options.timeoutSeconds * 1e3;
  desc.shard = options.shard;
  desc.shards = options.shards;
  desc.cache = options.cache.empty() ? nullptr : options.cache.c_str();
  desc.producer = producer.c_str();
  desc.user = this;
  desc.progress = [](void *user, const char *text) {
    static_cast<TuneDevice *>(user)->showProgress(text);
  };
  desc.warn = [](void *user, const char *text) {
    static_cast<TuneDevice *>(user)->warnings.push_back(text);
  };
  desc.launching = [](void *user, uint32_t candidate, const char *config) {
    if (auto &launching = static_cast<TuneDevice *>(user)->launching)
      launching(candidate, config);
  };
  return tkc_tune_open(&desc, &tuner, error);
}

/// One line that is written over and over.
void TuneDevice::showProgress(const char *text) {
  if (!showsProgress)
    return;
  llvm::errs() << "\r\033[K" << text;
  llvm::errs().flush();
  isLineOpen = true;
}

void TuneDevice::endProgress() {
  if (isLineOpen)
    llvm::errs() << "\r\033[K";
  isLineOpen = false;
}

llvm::json::Value TuneDevice::report() const {
  TuneError error = makeTuneError();
  std::string text =
      tuneText([&](char *json, size_t *bytes,
                   tkc_error *err) { return tkc_tune_report(tuner, json, bytes, err); },
               &error);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value)
    return std::move(*value);
  llvm::consumeError(value.takeError());
  return nullptr;
}

std::string TuneDevice::table() const {
  TuneError error = makeTuneError();
  return tuneText([&](char *json, size_t *bytes,
                      tkc_error *err) { return tkc_tune_table(tuner, json, bytes, err); },
                  &error);
}
