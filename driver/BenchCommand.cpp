//===- BenchCommand.cpp - tkc bench --------------------------------------------------------===//

#include "driver/Outputs.h"
#include "driver/TuneCommand.h"
#include "driver/TunePrint.h"
#include "driver/TuneUnits.h"

using namespace tk;
using llvm::StringRef;

namespace {
/// One side of a comparison.
struct Side {
  std::string path, label;
  std::string image, json; // no json: the image is a bundle
};
} // namespace

/// A bundle as it is; a source compiled for the device with the options of the command line.
static int loadSide(CompileOptions options, const llvm::json::Value &facts, Side &side) {
  Input input;
  if (std::optional<DiagRecord> wrong = readInput(side.path, input))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  if (StringRef(input.text).starts_with("\x89TKB")) {
    side.image = std::move(input.text);
    return 0;
  }
  std::string problem;
  if (options.targets.empty()) {
    const Target *target = targetOfDevice(facts, problem);
    if (!target)
      return printAlone(commandLineDiag<diag::TuneFailed>("--target=NAME names what it can run",
                                                          side.path, problem),
                        options.jsonDiagnostics, 1);
    options.targets = {std::string(target->name)};
  }
  options.input = side.path;
  std::vector<Unit> units;
  WorkResult planned = runGuardedWork(options, [&](mlir::MLIRContext &context) {
    return planUnits(options, input, context, units);
  });
  if (planned.status || planned.crash.crashed)
    return reportWork(options, input, planned);
  if (units.size() != 1) {
    std::string all;
    for (const Unit &unit : units)
      all += (all.empty() ? "" : "; ") + unit.text();
    return printAlone(
        commandLineDiag<diag::OptionSyntax>("-k, -D and --config choose one",
                                            "`" + side.path + "` has several: " + all),
        options.jsonDiagnostics, 2);
  }
  return compileOne(options, input, units.front(), side.image, side.json);
}

static tkc_status addSide(tkc_tuner *tuner, const CompileOptions &options, const TuneOptions &tune,
                          const Side &side, tkc_error *error) {
  std::vector<tkc_const> consts;
  if (side.json.empty())
    for (const auto &[name, value] : options.lower.defines)
      consts.push_back({name.c_str(), value.c_str()});
  tkc_bundle_desc desc = describeBundle(side.image, side.json);
  const char *kernel = tune.kernel.empty() ? nullptr : tune.kernel.c_str();
  return tkc_tune_add(tuner, &desc, kernel, consts.data(), uint32_t(consts.size()),
                      side.label.c_str(), TKC_TUNE_AS_SHIPPED, nullptr, nullptr, error);
}

int tk::runBench(const CompileOptions &options, const TuneOptions &tune) {
  TuneDevice device;
  TuneError error = makeTuneError();
  if (device.open(tune, &error))
    return reportTuneFailure(options, options.input, error);
  std::vector<Side> sides = {{options.input, tune.baseline.empty() ? "" : "this", "", ""}};
  if (!tune.baseline.empty())
    sides.push_back({tune.baseline, "baseline", "", ""});
  llvm::json::Value facts = device.report();
  for (Side &side : sides) {
    if (int status = loadSide(options, facts, side))
      return status;
    if (addSide(device, options, tune, side, &error))
      return reportTuneFailure(options, side.path, error);
  }
  int status = 0;
  for (const TuneOptions::Words &shape : tune.shapes) {
    TuneProblem problem(shape, tune.fills);
    bool failed = tkc_tune_bench(device, problem.get(), &error) != TKC_OK;
    device.endProgress();
    if (failed)
      status = reportTuneFailure(options, options.input, error);
  }
  llvm::json::Value report = device.report();
  StringRef title = tune.kernel.empty() ? StringRef(options.input) : StringRef(tune.kernel);
  if (tune.json)
    llvm::outs() << llvm::formatv("{0:2}", report) << '\n';
  else
    printBench(report, title, llvm::outs());
  if (!tune.svg.empty())
    if (std::optional<DiagRecord> wrong =
            writeFiles(OutputFile{tune.svg, benchPlot(report, title)}, options.input))
      status = printAlone(*wrong, options.jsonDiagnostics, 1);
  if (!whyLost(report).empty())
    endAtOnce(status);
  return status;
}
