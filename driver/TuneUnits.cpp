//===- TuneUnits.cpp - the configurations of a file, given to the tuner --------------------===//

#include "driver/TuneUnits.h"
#include "backends/nvptx/Ptxas.h"
#include "backends/target/Targets.h"
#include "driver/Tools.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace tk;
using llvm::StringRef;

static std::string sha256(StringRef bytes) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
  return llvm::toHex(digest, /*LowerCase=*/true);
}

const Target *tk::targetOfDevice(const llvm::json::Value &report, std::string &problem) {
  const llvm::json::Object *device = report.getAsObject()->getObject("device");
  StringRef arch = device->getString("arch").value_or("");
  for (const Target &target : allTargets())
    if (target.vendor == Vendor::Nvidia && target.supported &&
        arch == llvm::formatv("sm_{0}{1}", target.computeMajor, target.computeMinor).str())
      return &target;
  problem = llvm::formatv("device `{0}` is {1}, for which nothing is compiled",
                          device->getString("name").value_or("?"), arch);
  return nullptr;
}

/// What the compiler itself may change without a change of its version: its own program.
static std::string compilerDigest() {
  static const std::string digest = [] {
    int anchor = 0;
    std::string path = llvm::sys::fs::getMainExecutable("tkc", &anchor);
    auto file = llvm::MemoryBuffer::getFile(path, false, false);
    return file ? sha256((*file)->getBuffer()) : tkcVersion().str();
  }();
  return digest;
}

/// Everything that a unit's image depends on, beside stage tk.
static std::string noteKey(const CompileOptions &options, const Unit &unit, StringRef stage,
                           StringRef assembler) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::json::Value(llvm::json::Object{{"stage", sha256(stage)},
                                             {"target", unit.target},
                                             {"compiler", compilerDigest()},
                                             {"O", options.optLevel},
                                             {"g", options.lineInfo},
                                             {"assembler", assembler},
                                             {"libdevice", options.libdevice}});
  return text;
}

/// The first error, as one line.
static std::string reasonOf(const UnitOutcome &outcome) {
  for (const DiagRecord &record : outcome.work.records)
    if (record.severity == mlir::DiagnosticSeverity::Error)
      return llvm::formatv("TK{0}: {1}", record.code, record.message).str();
  return outcome.work.crash.crashed ? "the compiler crashed" : "it does not compile";
}

static bool isGood(const UnitOutcome &outcome) {
  return !outcome.work.status && !outcome.work.crash.crashed && !outcome.result.artifacts.empty() &&
         !outcome.result.description.empty();
}

static std::vector<Unit> withTarget(llvm::ArrayRef<Unit> units, StringRef target) {
  std::vector<Unit> result(units);
  for (Unit &unit : result)
    unit.target = target.str();
  return result;
}

/// Units of one kernel and instance stand together.
static void groupUnits(llvm::ArrayRef<Unit> units, std::vector<TuneGroup> &groups) {
  for (const Unit &unit : units) {
    auto isSame = [&](const TuneGroup &group) {
      const KernelUnit &first = *group.units.front().kernel;
      return first.kernel == unit.kernel->kernel && first.instance == unit.kernel->instance;
    };
    auto found = llvm::find_if(groups, isSame);
    if (found == groups.end())
      found = groups.insert(groups.end(), TuneGroup());
    found->units.push_back(unit);
  }
}

/// Stage tk of each unit; true when some unit has one.
static bool runFrontEnd(const CompileOptions &options, const Input &input, StringRef assembler,
                        TuneGroup &group, std::vector<UnitOutcome> &outcomes) {
  outcomes = compileUnits(options, input, withTarget(group.units, "cpu"));
  bool anyGood = false;
  for (auto [unit, outcome] : llvm::zip(group.units, outcomes)) {
    bool good = isGood(outcome);
    anyGood |= good;
    group.keys.push_back(
        good ? noteKey(options, unit, outcome.result.artifacts.front().bytes, assembler) : "");
    group.described.push_back(good ? outcome.result.description : "");
    group.failures.push_back(good ? "" : reasonOf(outcome));
  }
  return anyGood;
}

int tk::planTuning(const CompileOptions &options, const Input &input,
                   std::vector<TuneGroup> &groups) {
  std::vector<Unit> units;
  std::string assembler;
  WorkResult planned = runGuardedWork(options, [&](mlir::MLIRContext &context) {
    int status = planUnits(options, input, context, units);
    if (!status && !options.onlyImageTargets) {
      mlir::FailureOr<nvptx::Assembler> found =
          nvptx::findPtxas(options.ptxas, options.hermetic, mlir::UnknownLoc::get(&context));
      if (failed(found))
        return 1;
      assembler = digestOfAssembler(*found);
    }
    if (!status && llvm::any_of(units, [](const Unit &unit) { return !unit.kernel; })) {
      emit<diag::TuneFailed>(mlir::UnknownLoc::get(&context), input.path,
                             "tuning begins with a .tk file or a bundle");
      return 2;
    }
    return status;
  });
  if (planned.status || planned.crash.crashed)
    return reportWork(options, input, planned);
  groupUnits(units, groups);
  for (TuneGroup &group : groups) {
    std::vector<UnitOutcome> outcomes;
    if (runFrontEnd(options, input, assembler, group, outcomes))
      continue;
    // Nothing of it compiles: that is no matter of single configurations.
    return reportWork(options, input, joinMessages(std::move(planned), group.units, outcomes));
  }
  return 0;
}

tkc_status tk::addCandidates(tkc_tuner *tuner, TuneGroup &group, bool hasCache, tkc_error *error) {
  for (size_t i = 0; i < group.units.size(); ++i) {
    if (!group.failures[i].empty()) {
      if (tkc_status status = tkc_tune_add_failed(tuner, group.units[i].kernel->configId.c_str(),
                                                  group.failures[i].c_str(), error))
        return status;
      continue;
    }
    std::string noted;
    if (hasCache)
      noted = tuneText(
          [&](char *json, size_t *bytes, tkc_error *err) {
            return tkc_tune_noted(tuner, group.keys[i].c_str(), json, bytes, err);
          },
          error);
    tkc_bundle_desc desc = describeBundle("", noted.empty() ? group.described[i] : noted);
    if (tkc_status status =
            tkc_tune_add(tuner, &desc, nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, error))
      return status;
  }
  return TKC_OK;
}

tkc_status tk::compileMissing(tkc_tuner *tuner, const CompileOptions &options, const Input &input,
                              TuneGroup &group, const TuneOptions &tune, tkc_error *error) {
  std::vector<uint8_t> needed(group.units.size()), missing(group.units.size());
  for (const TuneOptions::Words &shape : tune.shapes) {
    TuneProblem problem(shape, tune.fills);
    if (tkc_status status =
            tkc_tune_missing(tuner, problem.get(), missing.data(), uint32_t(missing.size()), error))
      return status;
    for (size_t i = 0; i < missing.size(); ++i)
      needed[i] |= missing[i];
  }
  std::vector<Unit> units;
  std::vector<uint32_t> candidates;
  for (size_t i = 0; i < needed.size(); ++i)
    if (needed[i]) {
      units.push_back(group.units[i]);
      candidates.push_back(uint32_t(i));
    }
  std::vector<UnitOutcome> outcomes = compileUnits(options, input, units);
  for (auto [candidate, outcome] : llvm::zip(candidates, outcomes)) {
    tkc_status status = TKC_OK;
    if (!isGood(outcome)) {
      status = tkc_tune_fail(tuner, candidate, reasonOf(outcome).c_str(), error);
    } else {
      tkc_bundle_desc desc =
          describeBundle(outcome.result.artifacts.front().bytes, outcome.result.description);
      status = tkc_tune_code(tuner, candidate, &desc, error);
      if (!status && !tune.cache.empty())
        status = tkc_tune_note(tuner, group.keys[candidate].c_str(),
                               outcome.result.description.c_str(), error);
    }
    if (status)
      return status;
  }
  return TKC_OK;
}

int tk::compileOne(const CompileOptions &options, const Input &input, const Unit &unit,
                   std::string &image, std::string &json) {
  std::vector<UnitOutcome> outcomes = compileUnits(options, input, unit);
  int status = reportWork(options, input, joinMessages({}, unit, outcomes));
  if (status)
    return status;
  image = std::move(outcomes.front().result.artifacts.front().bytes);
  json = std::move(outcomes.front().result.description);
  return 0;
}
