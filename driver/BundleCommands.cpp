//===- BundleCommands.cpp - bundles: compiling them, and what is done with them ------------===//

#include "driver/BundleCommands.h"
#include "backends/metadata/Metadata.h"
#include "bundle/Embed.h"
#include "bundle/Link.h"
#include "bundle/Report.h"
#include "driver/BundleOutputs.h"
#include "driver/TuningTable.h"
#include "driver/Units.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;

/// An object for this machine, when nobody names another.
static std::optional<DiagRecord> checkHost(const CompileOptions &options) {
  std::string host = options.hostTarget.empty() ? defaultHostTarget() : options.hostTarget;
  if (!llvm::is_contained(options.stages, Stage::Object) || elfMachineOf(host))
    return std::nullopt;
  return commandLineDiag<diag::UnknownHostTarget>(
      "--host-target names " + hostTargetNames() + "; other machines assemble -o k.S", host);
}

/// An image is in the bundle by its digest: units that conflict are the user's, not ours.
static std::optional<DiagRecord> linkOrReport(std::vector<LinkInput> inputs, Bundle &bundle) {
  LinkConflict conflict;
  std::optional<Bundle> linked = linkBundles(std::move(inputs), conflict);
  if (linked) {
    bundle = std::move(*linked);
    return std::nullopt;
  }
  return commandLineDiag<diag::LinkConflict>(
      "bundles of one kernel come from the same source, compiler and options", conflict.first,
      conflict.second, conflict.what);
}

static std::optional<DiagRecord> writeBundleFiles(const CompileOptions &options,
                                                  const OutputPlan &plan, const Bundle &bundle,
                                                  CompileResult result) {
  result.artifacts = bundleArtifacts(bundle, options, plan);
  return writeResult(options, plan, result);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// What the units left, as if one compile had: the files that were read, and the dumps.
static CompileResult joinResults(llvm::ArrayRef<Unit> units, llvm::ArrayRef<UnitOutcome> outcomes) {
  CompileResult joined;
  llvm::StringSet<> known;
  for (auto [unit, outcome] : llvm::zip(units, outcomes)) {
    for (const std::string &dependency : outcome.result.dependencies)
      if (known.insert(dependency).second)
        joined.dependencies.push_back(dependency);
    for (const Artifact &dump : outcome.result.intermediates)
      joined.intermediates.push_back({dump.stage, dump.bytes, unit.slug()});
  }
  return joined;
}

static std::optional<DiagRecord> linkUnits(const CompileOptions &options,
                                           llvm::ArrayRef<Unit> units,
                                           std::vector<UnitOutcome> &outcomes, Bundle &bundle) {
  std::vector<LinkInput> inputs;
  for (auto [unit, outcome] : llvm::zip(units, outcomes)) {
    CompileResult &result = outcome.result;
    if (result.description.empty())
      return commandLineDiag<diag::NotABundle>("begin with an earlier stage", options.input,
                                               "it has no description of its kernels");
    llvm::Expected<Bundle> one =
        bundleOf(result.description, std::move(result.artifacts.front().bytes));
    if (!one)
      return commandLineDiag<diag::NotABundle>("", unit.text(), llvm::toString(one.takeError()));
    inputs.push_back({unit.text(), std::move(*one)});
  }
  return linkOrReport(std::move(inputs), bundle);
}

int tk::runBundle(const CompileOptions &options) {
  bool json = options.jsonDiagnostics;
  Input input;
  OutputPlan plan;
  if (std::optional<DiagRecord> wrong = readInput(options.input, input))
    return printAlone(*wrong, json, 1);
  bool lists = !options.listVariants.empty();
  std::optional<DiagRecord> wrong = lists ? std::nullopt : checkHost(options);
  if (!lists && !wrong)
    wrong = planOutputs(options, plan);
  if (wrong)
    return printAlone(*wrong, json, 2);

  std::vector<Unit> units;
  TuningTable table;
  WorkResult planned = runGuardedWork(options, [&](mlir::MLIRContext &context) {
    return planUnits(options, input, context, units, &table);
  });
  if (planned.status || planned.crash.crashed || lists) {
    int status = reportWork(options, input, planned);
    if (!status)
      printUnits(options, units, llvm::outs());
    return status;
  }
  std::vector<UnitOutcome> outcomes = compileUnits(options, input, units);
  int status = reportWork(options, input, joinMessages(std::move(planned), units, outcomes));
  if (status || options.verifyDiagnostics)
    return status;
  CompileResult result = joinResults(units, outcomes);
  if (!options.tuned.empty())
    result.dependencies.push_back(options.tuned);
  Bundle bundle;
  if (std::optional<DiagRecord> wrong = linkUnits(options, units, outcomes, bundle))
    return printAlone(*wrong, json, 1);
  if (std::optional<DiagRecord> wrong = table.addTo(bundle))
    return printAlone(*wrong, json, 1);
  if (std::optional<DiagRecord> wrong = writeBundleFiles(options, plan, bundle, std::move(result)))
    return printAlone(*wrong, json, statusOf(*wrong));
  return 0;
}

//===----------------------------------------------------------------------===//
// What is done with bundles
//===----------------------------------------------------------------------===//

static std::optional<DiagRecord> readBundleFile(StringRef path, Bundle &bundle) {
  Input file;
  if (std::optional<DiagRecord> wrong = readInput(path, file))
    return wrong;
  llvm::Expected<Bundle> read = readBundle(file.text);
  if (!read)
    return commandLineDiag<diag::NotABundle>("`tkc FILE.tk -o FILE.tkb` writes one", path,
                                             llvm::toString(read.takeError()));
  bundle = std::move(*read);
  return std::nullopt;
}

static int runLink(const CompileOptions &options, llvm::ArrayRef<std::string> files) {
  bool json = options.jsonDiagnostics;
  OutputPlan plan;
  std::optional<DiagRecord> wrong = checkHost(options);
  if (!wrong)
    wrong = planOutputs(options, plan);
  if (wrong)
    return printAlone(*wrong, json, 2);
  std::vector<LinkInput> inputs;
  for (const std::string &path : files) {
    inputs.push_back({path, {}});
    if ((wrong = readBundleFile(path, inputs.back().bundle)))
      return printAlone(*wrong, json, 1);
  }
  Bundle bundle;
  CompileResult result;
  result.dependencies = files.vec();
  if ((wrong = linkOrReport(std::move(inputs), bundle)) ||
      (wrong = writeBundleFiles(options, plan, bundle, std::move(result))))
    return printAlone(*wrong, json, statusOf(*wrong));
  return 0;
}

/// Each image as a file with the JSON that belongs to it.
static std::optional<DiagRecord> extract(const CompileOptions &options, const Bundle &bundle) {
  std::string folder = options.output;
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return commandLineDiag<diag::CannotWrite>("", folder, error.message());
  std::vector<OutputFile> files;
  for (const ExtractedImage &image : extractImages(bundle)) {
    llvm::SmallString<256> path(folder);
    llvm::sys::path::append(path, image.name);
    files.push_back({path.str().str() + ".json", image.description});
    files.push_back({path.str().str(), image.bytes});
  }
  return writeFiles(files, options.input);
}

int tk::runBundleCommand(const CompileOptions &options, const BundleCommand &command) {
  if (command.name == "link")
    return runLink(options, command.files);
  Bundle bundle;
  std::optional<DiagRecord> wrong = readBundleFile(command.files.front(), bundle);
  if (!wrong && command.name == "extract")
    wrong = extract(options, bundle);
  if (wrong)
    return printAlone(*wrong, options.jsonDiagnostics, statusOf(*wrong));
  if (command.name == "size")
    printSizes(bundle, llvm::outs());
  if (command.name == "notices")
    printNotices(bundle, llvm::outs());
  return 0;
}
