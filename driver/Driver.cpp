//===- Driver.cpp - the program `tkc` as a call ---------------------------------------===//
//
// Reads the input, compiles under a guard, prints what was found, writes files when all is good.
// Diagnostics go to standard error, results to standard output.
//
//===----------------------------------------------------------------------===//

#include "driver/Driver.h"
#include "backends/target/Targets.h"
#include "driver/BundleCommands.h"
#include "driver/Compile.h"
#include "driver/Crash.h"
#include "driver/Explain.h"
#include "driver/FittingConfig.h"
#include "driver/FormatCommand.h"
#include "driver/OptionTable.h"
#include "driver/Options.h"
#include "driver/Outputs.h"
#include "driver/Session.h"
#include "driver/TuneCommand.h"

using namespace tk;
using llvm::StringRef;

static int runCompile(const CompileOptions &options) {
  OutputPlan plan;
  Input input;
  if (std::optional<DiagRecord> wrong = readInput(options.input, input))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  if (std::optional<DiagRecord> wrong = planOutputs(options, plan))
    return printAlone(*wrong, options.jsonDiagnostics, 2);
  CompileResult result;
  int status = reportWork(options, input, compileFitting(options, input, plan.imageName, result));
  if (status || options.verifyDiagnostics)
    return status;
  if (std::optional<DiagRecord> wrong = writeResult(options, plan, result))
    return printAlone(*wrong, options.jsonDiagnostics, statusOf(*wrong));
  return 0;
}

static int runRun(const CompileOptions &options, const RunOptions &run) {
  Input input;
  if (std::optional<DiagRecord> wrong = readInput(options.input, input))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  return runSession(options, input, [&](mlir::MLIRContext &context) {
    int status = 0;
    mlir::OwningOpRef<mlir::ModuleOp> module = compileToTk(options, input, context, status);
    if (!module)
      return status;
    setActivity("running the kernel");
    return runCommand(run, *module);
  });
}

int tk::runTkc(llvm::ArrayRef<const char *> args) {
  CommandLine line = parseCommandLine(args);
  switch (line.action) {
  case CommandLine::Action::Compile:
    if (isBundleStage(line.options.stages.front()) || !line.options.listVariants.empty())
      return runBundle(line.options);
    return runCompile(line.options);
  case CommandLine::Action::Bundle:
    return runBundleCommand(line.options, line.bundle);
  case CommandLine::Action::Tune:
    return line.tune.action == TuneOptions::Action::Bench ? runBench(line.options, line.tune)
                                                          : runTune(line.options, line.tune);
  case CommandLine::Action::Run:
    return runRun(line.options, line.run);
  case CommandLine::Action::Format:
    return runFormat(line.options, line.format);
  case CommandLine::Action::Targets:
    printTargets(llvm::outs());
    return 0;
  case CommandLine::Action::Explain:
    return runExplain(line.words.front());
  case CommandLine::Action::Help:
  case CommandLine::Action::HelpHidden:
    llvm::outs() << helpText(line.action == CommandLine::Action::HelpHidden);
    return 0;
  case CommandLine::Action::Wrong:
    break;
  }
  return printAlone(line.errors.front(), line.options.jsonDiagnostics, line.status);
}
