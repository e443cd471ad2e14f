//===- TuneCommand.cpp - tkc tune ----------------------------------------------------------===//

#include "driver/TuneCommand.h"
#include "driver/Outputs.h"
#include "driver/TunePrint.h"
#include "driver/TuneProcesses.h"
#include "driver/TuneUnits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace tk;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::optional<DiagRecord> readTable(StringRef path, std::string &text) {
  Input file;
  if (std::optional<DiagRecord> wrong = readInput(path, file))
    return wrong;
  text = std::move(file.text);
  return std::nullopt;
}

static DiagRecord tableFault(StringRef names, const TuneError &error) {
  return commandLineDiag<diag::BadTuningTable>("`tkc tune FILE.tk --shape ... -o TABLE` writes one",
                                               names, StringRef(error.text));
}

/// Joins the texts; the record says which of `names` is no table.
static std::optional<DiagRecord> mergeTables(llvm::ArrayRef<std::string> texts, StringRef names,
                                             std::string &merged) {
  std::vector<const char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(text.c_str());
  TuneError error = makeTuneError();
  merged = tuneText(
      [&](char *json, size_t *bytes, tkc_error *err) {
        return tkc_table_merge(pointers.data(), uint32_t(pointers.size()), json, bytes, err);
      },
      &error);
  if (!merged.empty())
    return std::nullopt;
  return tableFault(names, error);
}

static int runMerge(const CompileOptions &options, const TuneOptions &tune) {
  std::vector<std::string> texts;
  std::string merged;
  for (const std::string &path : tune.tables) {
    texts.emplace_back();
    std::optional<DiagRecord> wrong = readTable(path, texts.back());
    if (!wrong) // alone first, so that the message names the file
      wrong = mergeTables(texts.back(), path, merged);
    if (wrong)
      return printAlone(*wrong, options.jsonDiagnostics, 1);
  }
  std::optional<DiagRecord> wrong = mergeTables(texts, tune.tables.front(), merged);
  if (!wrong)
    wrong = writeFiles(OutputFile{tune.output, merged});
  return wrong ? printAlone(*wrong, options.jsonDiagnostics, 1) : 0;
}

/// What makes records speak of the same launches.
static std::string identityOf(const Object &record) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (StringRef field : {"kernel", "instance", "arch", "sms", "memory_gib", "dtypes", "key"})
    if (const Value *value = record.get(field))
      os << *value << '\n';
  return text;
}

/// Records of `old` that none of `fresh` replaces.
static std::string keepOthers(const std::string &old, llvm::ArrayRef<std::string> fresh) {
  std::vector<std::string> replaced;
  for (const std::string &text : fresh)
    if (llvm::Expected<Value> table = llvm::json::parse(text))
      for (const Value &record : *table->getAsArray())
        replaced.push_back(identityOf(*record.getAsObject()));
  Array kept;
  llvm::Expected<Value> table = llvm::json::parse(old);
  if (!table) {
    llvm::consumeError(table.takeError());
    return "[]";
  }
  for (const Value &record : *table->getAsArray())
    if (!llvm::is_contained(replaced, identityOf(*record.getAsObject())))
      kept.push_back(record);
  std::string text;
  llvm::raw_string_ostream(text) << Value(std::move(kept));
  return text;
}

/// New records replace those of the same launches; what else the file has stays.
static std::optional<DiagRecord> writeTable(StringRef path, std::vector<std::string> tables) {
  std::string merged;
  if (llvm::sys::fs::exists(path)) {
    std::string old;
    std::optional<DiagRecord> wrong = readTable(path, old);
    if (!wrong)
      wrong = mergeTables(old, path, merged); // checks it
    if (wrong)
      return wrong;
    tables.push_back(keepOthers(old, tables));
  }
  if (std::optional<DiagRecord> wrong = mergeTables(tables, path, merged))
    return wrong;
  return writeFiles(OutputFile{path.str(), merged});
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// What one attempt collects over kernels and instances. All of it is printed at its end, if no
/// other attempt follows.
struct TuneResults {
  std::vector<std::string> tables, warnings;
  std::vector<std::pair<std::string, TuneError>> failures; // of what
  Array reports;
  std::string lost; // why nothing can be timed any more
  std::optional<TunePlace> fault;
  bool isCutShort = false; // something was not timed for that reason

  int fail(StringRef what, const TuneError &error) {
    failures.emplace_back(what.str(), error);
    return 1;
  }
};
} // namespace

static void takeWarnings(TuneDevice &device, TuneResults &results) {
  device.endProgress();
  llvm::append_range(results.warnings, device.warnings);
  device.warnings.clear();
}

/// Calls `body` with the candidates of the last shape of a report, or of all.
static void forCandidates(Value &report, bool onlyLast,
                          llvm::function_ref<void(size_t index, Object &candidate)> body) {
  llvm::MutableArrayRef<Value> shapes(*report.getAsObject()->getArray("shapes"));
  for (Value &shape : onlyLast ? shapes.take_back() : shapes)
    for (auto [index, candidate] : llvm::enumerate(*shape.getAsObject()->getArray("candidates")))
      body(index, *candidate.getAsObject());
}

/// Whether the shape just timed has cost the device, and what was at fault.
static void noteLoss(const TuneDevice &device, const TuneAttempt &attempt, TuneResults &results) {
  Value report = device.report();
  if (!results.lost.empty() || whyLost(report).empty())
    return;
  results.lost = whyLost(report);
  results.fault = attempt.lastPlace();
  if (!results.fault)
    return;
  forCandidates(report, /*onlyLast=*/true, [&](size_t index, Object &candidate) {
    if (index == size_t(results.fault->candidate))
      results.fault->reason = candidate.getString("why").value_or(results.lost).str();
  });
}

/// Times all shapes with the candidates that the tuner has.
static int timeShapes(const TuneOptions &tune, TuneAttempt &attempt, TuneDevice &device,
                      StringRef title, TuneResults &results) {
  int status = 0;
  for (auto [index, shape] : llvm::enumerate(tune.shapes)) {
    device.launching = [&, index = index](uint32_t candidate, StringRef config) {
      attempt.launching({title.str(), int64_t(index), candidate, config.str(), ""});
    };
    TuneProblem problem(shape, tune.fills);
    TuneError error = makeTuneError();
    bool failed = tkc_tune_shape(device, problem.get(), &error) != TKC_OK;
    attempt.pause();
    noteLoss(device, attempt, results);
    if (failed) // the others may go well
      status = results.fail(title, error);
  }
  takeWarnings(device, results);
  results.tables.push_back(device.table());
  Value report = device.report();
  forCandidates(report, /*onlyLast=*/false, [&](size_t, Object &candidate) {
    results.isCutShort |= candidate.getString("state") == StringRef("cut short");
    if (tune.isCacheOwn) // this call itself has timed it
      candidate.erase("cached");
  });
  report.getAsObject()->insert({"kernel", title.str()}); // the title may go before the report
  results.reports.push_back(std::move(report));
  return status;
}

/// What ended earlier attempts is listed, not launched.
static tkc_status markFaults(const TuneOptions &tune, const TuneAttempt &attempt,
                             TuneDevice &device, StringRef title, TuneError *error) {
  for (const TunePlace &fault : attempt.knownFaults()) {
    if (fault.kernel != title)
      continue;
    TuneProblem problem(tune.shapes[size_t(fault.shape)], tune.fills);
    if (tkc_status status = tkc_tune_fault(device, problem.get(), uint32_t(fault.candidate),
                                           fault.reason.c_str(), error))
      return status;
  }
  return TKC_OK;
}

static int tuneGroup(CompileOptions options, const Input &input, const TuneOptions &tune,
                     TuneAttempt &attempt, TuneGroup &group, TuneResults &results) {
  KernelUnit named = *group.units.front().kernel;
  named.configId.clear();
  std::string title = named.text();
  TuneDevice device;
  TuneError error = makeTuneError();
  if (!results.lost.empty()) {
    results.isCutShort = true;
    snprintf(error.text, sizeof error.text, "%s", results.lost.c_str());
    return results.fail(title, error);
  }
  if (device.open(tune, &error) || addCandidates(device, group, !tune.cache.empty(), &error) ||
      markFaults(tune, attempt, device, title, &error) ||
      compileMissing(device, options, input, group, tune, &error)) {
    takeWarnings(device, results);
    return results.fail(title, error);
  }
  return timeShapes(tune, attempt, device, title, results);
}

/// The bundle's own configurations.
static int tuneBundle(const CompileOptions &options, const Input &input, const TuneOptions &tune,
                      TuneAttempt &attempt, TuneResults &results) {
  TuneDevice device;
  TuneError error = makeTuneError();
  std::vector<tkc_const> consts;
  for (const auto &[name, value] : options.lower.defines)
    consts.push_back({name.c_str(), value.c_str()});
  tkc_bundle_desc desc = describeBundle(input.text, "");
  const char *kernel = tune.kernel.empty() ? nullptr : tune.kernel.c_str();
  StringRef title = tune.kernel.empty() ? input.path : tune.kernel;
  if (device.open(tune, &error) ||
      tkc_tune_add(device, &desc, kernel, consts.data(), uint32_t(consts.size()), nullptr, 0,
                   nullptr, nullptr, &error) ||
      markFaults(tune, attempt, device, title, &error))
    return results.fail(input.path, error);
  return timeShapes(tune, attempt, device, title, results);
}

/// The chip to compile for: --target, else the device's.
static int chooseTarget(CompileOptions &options, const TuneOptions &tune) {
  TuneDevice device;
  TuneError error = makeTuneError();
  TuneOptions quiet = tune;
  quiet.cache.clear();
  if (device.open(quiet, &error))
    return reportTuneFailure(options, options.input, error);
  if (!options.targets.empty())
    return 0;
  std::string problem;
  const Target *target = targetOfDevice(device.report(), problem);
  if (!target)
    return printAlone(commandLineDiag<diag::TuneFailed>("--target=NAME names what it can run",
                                                        options.input, problem),
                      options.jsonDiagnostics, 1);
  options.targets = {std::string(target->name)};
  options.target = options.targets.front();
  return 0;
}

/// The groups of a file of which one kernel is meant.
static int planOneKernel(const CompileOptions &options, const Input &input,
                         std::vector<TuneGroup> &groups) {
  if (int status = planTuning(options, input, groups))
    return status;
  StringRef kernel = groups.front().units.front().kernel->kernel;
  for (TuneGroup &group : groups)
    if (group.units.front().kernel->kernel != kernel)
      return printAlone(
          commandLineDiag<diag::OptionSyntax>(
              "-k NAME chooses one", ("`" + input.path + "` has several kernels: `" + kernel +
                                      "`, `" + group.units.front().kernel->kernel + "`")
                                         .str()),
          options.jsonDiagnostics, 2);
  return 0;
}

static int tuneSource(CompileOptions options, const Input &input, const TuneOptions &tune,
                      TuneAttempt &attempt, TuneResults &results) {
  if (int status = chooseTarget(options, tune))
    return status;
  if (!options.hasConfig)
    options.configs = CompileOptions::Configs::All;
  std::vector<TuneGroup> groups;
  if (int status = planOneKernel(options, input, groups))
    return status;
  int status = 0;
  for (TuneGroup &group : groups)
    status = std::max(status, tuneGroup(options, input, tune, attempt, group, results));
  return status;
}

static bool isBundle(const Input &input) {
  return StringRef(input.text).starts_with("\x89TKB");
}

/// Prints what the last attempt has found and writes the table.
static int printResults(const CompileOptions &options, const TuneOptions &tune, int status,
                        TuneResults results) {
  for (const std::string &warning : results.warnings)
    printAlone(commandLineDiag<diag::TuneIgnored>("", warning), options.jsonDiagnostics, 0);
  for (const auto &[what, error] : results.failures)
    reportTuneFailure(options, what, error);
  if (results.reports.empty())
    return status;
  if (!tune.json)
    for (const Value &report : results.reports)
      printTuning(report, *report.getAsObject()->getString("kernel"), llvm::outs());
  else
    llvm::outs() << llvm::formatv("{0:2}", Value(std::move(results.reports))) << '\n';
  if (!tune.output.empty())
    if (std::optional<DiagRecord> wrong = writeTable(tune.output, std::move(results.tables)))
      status = printAlone(*wrong, options.jsonDiagnostics, 1);
  return status;
}

static int runAttempt(const CompileOptions &options, const Input &input, const TuneOptions &tune,
                      TuneAttempt &attempt) {
  TuneResults results;
  int status = isBundle(input) ? tuneBundle(options, input, tune, attempt, results)
                               : tuneSource(options, input, tune, attempt, results);
  bool isLost = !results.lost.empty();
  if (isLost && results.isCutShort && results.fault && !attempt.isKnown(*results.fault)) {
    attempt.askForAnother(*results.fault);
    endAtOnce(status);
  }
  status = printResults(options, tune, status, std::move(results));
  if (isLost)
    endAtOnce(status);
  return status;
}

//===----------------------------------------------------------------------===//
// Explaining a table
//===----------------------------------------------------------------------===//

namespace {
/// Whom a table's records are for.
struct TableDevice {
  std::string arch;
  int64_t sms = 0, memoryGib = 0; // 0: of any memory

  bool fits(const TableDevice &other) const {
    return arch == other.arch && sms == other.sms &&
           (memoryGib == other.memoryGib || !memoryGib || !other.memoryGib);
  }
};
} // namespace

/// The table's only device; with several, this machine, as a target that the table is for.
static std::optional<TableDevice> deviceOfTable(const std::string &text, const TuneOptions &tune) {
  std::vector<TableDevice> devices;
  llvm::Expected<Value> table = llvm::json::parse(text);
  if (!table) {
    llvm::consumeError(table.takeError());
    return std::nullopt;
  }
  for (const Value &value : *table->getAsArray()) {
    const Object &record = *value.getAsObject();
    TableDevice device{record.getString("arch")->str(), *record.getInteger("sms"),
                       record.getInteger("memory_gib").value_or(0)};
    auto known =
        llvm::find_if(devices, [&](const TableDevice &other) { return other.fits(device); });
    if (known == devices.end())
      devices.push_back(device);
    else if (!known->memoryGib)
      *known = device;
  }
  if (devices.size() == 1)
    return devices.front();
  TuneDevice here;
  TuneError error = makeTuneError();
  if (here.open(tune, &error))
    return std::nullopt;
  Value report = here.report();
  const Object &facts = *report.getAsObject()->getObject("device");
  for (TableDevice device : devices)
    if (StringRef(device.arch).starts_with(*facts.getString("arch"))) {
      device.sms = *facts.getInteger("sms"); // which records are nearest is for the lookup to say
      device.memoryGib = *facts.getInteger("memory_gib");
      return device;
    }
  return std::nullopt;
}

static int runWhy(CompileOptions options, const Input &input, const TuneOptions &tune) {
  bool json = options.jsonDiagnostics;
  std::string table, merged;
  std::optional<DiagRecord> wrong = readTable(tune.why, table);
  if (!wrong)
    wrong = mergeTables(table, tune.why, merged);
  if (wrong)
    return printAlone(*wrong, json, 1);
  std::optional<TableDevice> device = deviceOfTable(table, tune);
  if (!device)
    return printAlone(
        commandLineDiag<diag::BadTuningTable>(
            "it is for several devices, and this machine is none that runs their code", tune.why,
            "whose records are meant is not clear"),
        json, 1);
  std::string description;
  tkc_bundle_desc desc = describeBundle(input.text, "");
  if (!isBundle(input)) {
    std::vector<TuneGroup> groups;
    options.targets = {"cpu"};
    options.onlyImageTargets = true;
    if (int status = planOneKernel(options, input, groups))
      return status;
    description = groups.front().described.front();
    desc = describeBundle("", description);
  }
  for (const TuneOptions::Words &shape : tune.shapes) {
    TuneProblem problem(shape, tune.fills);
    TuneError error = makeTuneError();
    const char *kernel = tune.kernel.empty() ? nullptr : tune.kernel.c_str();
    std::string why = tuneText(
        [&](char *text, size_t *bytes, tkc_error *err) {
          return tkc_table_why(table.c_str(), &desc, kernel, problem.get(), device->arch.c_str(),
                               int32_t(device->sms), int32_t(device->memoryGib), text, bytes, err);
        },
        &error);
    if (why.empty() && StringRef(error.text).starts_with("metadata: table[")) // not of FILE
      return printAlone(tableFault(tune.why, error), json, 1);
    if (why.empty())
      return reportTuneFailure(options, input.path, error);
    Value explained = cantFail(llvm::json::parse(why));
    Object words;
    for (const auto &[name, value] : shape)
      words[name] = value;
    if (tune.json)
      llvm::outs() << why;
    else
      printWhy(explained, shapeText(words), llvm::outs());
  }
  return 0;
}

int tk::runTune(const CompileOptions &options, const TuneOptions &tune) {
  if (tune.action == TuneOptions::Action::Merge)
    return runMerge(options, tune);
  Input input;
  if (std::optional<DiagRecord> wrong = readInput(options.input, input))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  if (tune.action == TuneOptions::Action::Why)
    return runWhy(options, input, tune);
  return runAttempts(options, tune, [&](const TuneOptions &asked, TuneAttempt &attempt) {
    return runAttempt(options, input, asked, attempt);
  });
}
