//===- Units.cpp - what a bundle is compiled from --------------------------------------===//

#include "driver/Units.h"
#include "backends/metadata/Metadata.h"
#include "backends/nvptx/Nvptx.h"
#include "backends/target/Targets.h"
#include "driver/Crash.h"
#include "driver/FittingConfig.h"
#include "driver/Threads.h"
#include "driver/TuningTable.h"
#include "frontend/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Jobserver.h"
#include "llvm/Support/thread.h"
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace tk;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// One unit
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kCpu = "cpu", kPtxPrefix = "compute_";

bool tk::isImageTarget(StringRef target) {
  return target == kCpu || target.starts_with(kPtxPrefix);
}

const Target *tk::fallbackChip(StringRef target) {
  if (!target.consume_front(kPtxPrefix))
    return nullptr;
  const Target *chip = findTarget("sm_" + target.str());
  return chip && chip->supported && chip->match == Match::AtLeast ? chip : nullptr;
}

std::string tk::fallbackNames() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (target.supported && target.match == Match::AtLeast)
      names.push_back(kPtxPrefix.str() + std::string(target.name.substr(3)));
  return llvm::join(names, ", ");
}

std::string Unit::text() const {
  std::string what = kernel ? kernel->text() : "the whole file";
  if (target == kCpu)
    return what + " for the interpreter";
  return target.empty() ? what : what + " for " + target;
}

std::string Unit::slug() const {
  std::string name = kernel ? kernel->kernel : "all";
  for (const auto &[param, value] : kernel ? kernel->instance : KernelUnit().instance)
    name += "_" + param + value;
  if (kernel && !kernel->configId.empty())
    name += "." + kernel->configId;
  if (!target.empty())
    name += "." + target;
  for (char &c : name)
    c = llvm::isAlnum(c) || c == '.' || c == '_' ? c : '-';
  return name;
}

Stage Unit::stage() const {
  return target == kCpu ? Stage::Tk : isImageTarget(target) ? Stage::Ptx : Stage::Cubin;
}

CompileOptions Unit::optionsFor(const CompileOptions &all) const {
  CompileOptions one = all;
  one.stages = {stage()};
  one.described = true;
  one.jobs = 1; // units are what threads share
  one.metadata.clear();
  one.target = target == kCpu ? "" : target;
  if (const Target *chip = fallbackChip(target))
    one.target = chip->name;
  if (kernel)
    one.lower = kernel->lowerOptions(all.lower);
  if (!all.hasConfig && all.configs == CompileOptions::Configs::One)
    one.lower.config.reset(); // the first that fits this target
  return one;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

/// What --tuned names; without it the table stays empty.
static int readTuned(const CompileOptions &options, mlir::MLIRContext &context, TuningTable &table) {
  if (options.tuned.empty())
    return 0;
  std::optional<TuningTable> read = TuningTable::read(options.tuned, context);
  if (read)
    table = std::move(*read);
  return read ? 0 : 1;
}

/// Says which records of the table are about nothing that the source has.
static mlir::LogicalResult checkTuned(const CompileOptions &options, const SourceFile &source,
                                      const ast::File &file, mlir::MLIRContext &context,
                                      const TuningTable &table) {
  TableSubject subject{source.getPath(), {}, {}, options.lower.defines.empty()};
  for (const ast::Decl *decl : file.decls)
    if (auto *kernel = llvm::dyn_cast<ast::Kernel>(decl))
      subject.kernels.push_back(kernel->name.text);
  UnitQuery query;
  query.allConfigs = true;
  query.maxUnits = 65536;
  LowerOptions lower = options.lower;
  lower.config.reset();
  {
    // A configuration that is no good is said when it is compiled.
    mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
    mlir::FailureOr<std::vector<KernelUnit>> units =
        listUnits(context, source, file, lower, query);
    if (failed(units))
      return mlir::success();
    subject.units = std::move(*units);
  }
  return table.check(subject, context);
}

/// Kernels of a source with values and configurations; one nameless entry for a stage file.
static int planKernels(const CompileOptions &options, const Input &input,
                       mlir::MLIRContext &context,
                       std::vector<std::optional<KernelUnit>> &kernels, TuningTable &table) {
  std::optional<Stage> kind = stageOfInputName(input.path);
  if (!kind)
    kind = stageOfInputText(input.text);
  if (kind != Stage::Ast) { // `compile` says what is wrong with it
    kernels.push_back(std::nullopt);
    return readTuned(options, context, table);
  }
  SourceFile source(input.path, input.text);
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, source);
  if (failed(file))
    return 1;
  LowerError error = LowerError::None;
  UnitQuery query;
  query.allConfigs = options.configs != CompileOptions::Configs::One;
  query.maxUnits = options.maxVariants;
  mlir::FailureOr<std::vector<KernelUnit>> units =
      listUnits(context, source, **file, options.lower, query, &error);
  if (failed(units))
    return error == LowerError::CommandLine ? 2 : 1;
  if (int status = readTuned(options, context, table))
    return status;
  if (!options.tuned.empty() && failed(checkTuned(options, source, **file, context, table)))
    return 1;
  for (KernelUnit &unit : *units)
    if (options.configs != CompileOptions::Configs::Tuned || unit.isDefault || table.names(unit))
      kernels.push_back(std::move(unit));
  return 0;
}

int tk::planUnits(const CompileOptions &options, const Input &input, mlir::MLIRContext &context,
                  std::vector<Unit> &units, TuningTable *table) {
  setActivity("listing the units");
  std::vector<std::optional<KernelUnit>> kernels;
  TuningTable tuned;
  if (int status = planKernels(options, input, context, kernels, tuned))
    return status;
  if (table)
    *table = std::move(tuned);
  std::vector<std::string> targets = options.targets;
  if (llvm::all_of(targets, isImageTarget) && !options.onlyImageTargets)
    targets.insert(targets.begin(), kernels.front() ? kDefaultTarget.str() : "");
  for (const std::optional<KernelUnit> &kernel : kernels)
    for (const std::string &target : targets)
      if (target != kCpu || !kernel || kernel->isDefault)
        units.push_back({kernel, target});
  if (units.size() > options.maxVariants) {
    auto loc = mlir::UnknownLoc::get(&context);
    withHelp(emit<diag::TooManyUnits>(loc, units.size(), options.maxVariants),
             llvm::formatv("{0} of instance and configuration, {1} targets; --max-variants=N "
                           "admits more",
                           kernels.size(), targets.size())
                 .str());
    return 1;
  }
  bool isDefault = options.targets.size() != targets.size() && kernels.front();
  if (isDefault)
    emit<diag::DefaultTarget>(mlir::UnknownLoc::get(&context), kDefaultTarget);
  return 0;
}

/// The words that compile the unit alone.
static std::vector<std::string> wordsOf(const Unit &unit) {
  std::vector<std::string> words;
  if (unit.kernel) {
    words = {"-k", unit.kernel->kernel};
    for (const auto &[name, value] : unit.kernel->defines)
      words.insert(words.end(), {"-D", name + "=" + value});
    if (unit.kernel->config)
      words.push_back("--config=" + std::to_string(*unit.kernel->config));
  }
  if (!unit.target.empty())
    words.push_back("--target=" + unit.target);
  return words;
}

static llvm::json::Object unitAsJson(const Unit &unit) {
  llvm::json::Object entry, instance;
  if (unit.kernel) {
    for (const auto &[name, value] : unit.kernel->instance)
      instance[name] = value;
    entry["kernel"] = unit.kernel->kernel;
    entry["instance"] = std::move(instance);
    entry["config_id"] = unit.kernel->configId;
    entry["default"] = unit.kernel->isDefault;
  }
  entry["target"] = unit.target;
  entry["kind"] = stageName(unit.stage());
  entry["options"] = llvm::json::Array(wordsOf(unit));
  return entry;
}

void tk::printUnits(const CompileOptions &options, llvm::ArrayRef<Unit> units,
                    llvm::raw_ostream &os) {
  if (options.listVariants == "json") {
    llvm::json::Array list;
    for (const Unit &unit : units)
      list.push_back(unitAsJson(unit));
    os << printJson(std::move(list), /*compact=*/false) << '\n';
    return;
  }
  for (const Unit &unit : units)
    os << unit.text() << (unit.kernel && !unit.kernel->isDefault ? "" : ", default") << '\n';
  os << units.size() << (units.size() == 1 ? " unit\n" : " units\n");
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// What is printed while compiling would be mixed up.
static bool oneAfterTheOther(const CompileOptions &options) {
  return options.verbose || options.timePasses || !options.printBefore.empty() ||
         !options.printAfter.empty();
}

static unsigned numThreads(const CompileOptions &options, size_t units) {
  size_t threads = threadsOrAll(unsigned(options.jobs));
  return oneAfterTheOther(options) ? 1 : unsigned(std::min(threads, units));
}

static void compileUnit(const CompileOptions &options, const Input &input, const Unit &unit,
                        UnitOutcome &outcome) {
  CompileOptions one = unit.optionsFor(options);
  setActivity("starting"); // this thread may have done other work
  if (options.verbose)
    llvm::errs() << "tkc: unit " << unit.text() << '\n';
  outcome.work = compileFitting(one, input, "image", outcome.result);
}

/// The job server; null without one. LLVM's client prints a
/// warning where there is none to reach, as in each recipe that make does not hand its pipe to.
static llvm::JobserverClient *findJobserver() {
  StringRef path = jobserverAddress();
  auto [read, write] = path.split(',');
  // Nothing but a pipe: make closes its own to recipes that it does not count, and leaves the numbers.
  auto isPipe = [](StringRef text, int mode) {
    int fd = -1;
    struct stat info;
    return !text.getAsInteger(10, fd) && fd >= 0 && fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) &&
           (fcntl(fd, F_GETFL) & O_ACCMODE) == mode;
  };
  struct stat info;
  bool isThere = path.consume_front("fifo:")
                     ? stat(path.str().c_str(), &info) == 0 && S_ISFIFO(info.st_mode)
                     : isPipe(read, O_RDONLY) && isPipe(write, O_WRONLY);
  return isThere ? llvm::JobserverClient::getInstance() : nullptr;
}

/// A thread may work while it holds one of make's job slots. The main thread has the one with which
/// tkc was started.
static llvm::JobSlot waitForSlot(llvm::JobserverClient &server,
                                 llvm::function_ref<bool()> isNeeded) {
  llvm::JobSlot slot;
  while (isNeeded() && !(slot = server.tryAcquire()).isValid())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return slot;
}

std::vector<UnitOutcome> tk::compileUnits(const CompileOptions &options, const Input &input,
                                          llvm::ArrayRef<Unit> units) {
  std::vector<UnitOutcome> outcomes(units.size());
  std::atomic<size_t> next = 0;
  llvm::JobserverClient *server = findJobserver();
  llvm::JobSlot own;
  if (server)
    own = server->tryAcquire(); // the first is the implicit one
  auto work = [&](bool needsSlot) {
    auto isLeft = [&] { return next < units.size(); };
    while (isLeft()) {
      llvm::JobSlot slot;
      if (needsSlot && !(slot = waitForSlot(*server, isLeft)).isValid())
        return;
      if (size_t i = next++; i < units.size())
        compileUnit(options, input, units[i], outcomes[i]);
      if (needsSlot)
        server->release(std::move(slot));
    }
  };
  std::vector<llvm::thread> threads;
  for (unsigned i = 1; i < numThreads(options, units.size()); ++i)
    threads.emplace_back(std::optional(nvptx::kStackBytes), work, server != nullptr);
  work(/*needsSlot=*/false);
  for (llvm::thread &thread : threads)
    thread.join();
  if (server)
    server->release(std::move(own));
  return outcomes;
}

WorkResult tk::joinMessages(WorkResult planned, llvm::ArrayRef<Unit> units,
                            llvm::ArrayRef<UnitOutcome> outcomes) {
  std::vector<DiagRecord> known = planned.records; // without the notes on units
  for (auto [unit, outcome] : llvm::zip(units, outcomes)) {
    planned.status = std::max(planned.status, outcome.work.status);
    if (outcome.work.crash.crashed && !planned.crash.crashed) {
      planned.crash = outcome.work.crash;
      planned.crash.activity += " of " + unit.text();
    }
    for (const DiagRecord &record : outcome.work.records) {
      if (llvm::is_contained(known, record))
        continue;
      known.push_back(record);
      planned.records.push_back(record);
      if (record.severity == mlir::DiagnosticSeverity::Error && units.size() > 1)
        planned.records.back().notes.push_back({{}, "in the unit " + unit.text()});
    }
  }
  return planned;
}
