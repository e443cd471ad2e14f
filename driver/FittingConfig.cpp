//===- FittingConfig.cpp - the first configuration that the chip can hold -------------------===//

#include "driver/FittingConfig.h"
#include "backends/target/Targets.h"
#include "ir/diagnostics/Diagnostics.h"
#include <set>

using namespace tk;

/// The note on a configuration that did not fit, where its error was.
static DiagRecord passedOver(const CompileOptions &options, const Oversized &oversized,
                             llvm::ArrayRef<DiagRecord> records) {
  DiagRecord why;
  for (const DiagRecord &record : records)
    if (record.severity == mlir::DiagnosticSeverity::Error)
      why = record;
  std::string chip = options.target.empty() ? kDefaultTarget.str() : options.target;
  DiagRecord note = commandLineDiag<diag::ConfigurationPassedOver>(
      "`--config=N` asks for a certain one", oversized.kernel, oversized.configId, chip, why.message);
  note.place = why.place;
  return note;
}

WorkResult tk::compileFitting(const CompileOptions &options, const Input &input,
                              const std::string &outputName, CompileResult &result) {
  auto attempt = [&](const CompileOptions &one, CompileResult &made) {
    return runGuardedWork(one, [&](mlir::MLIRContext &context) {
      made = compile(one, input, outputName, context);
      return made.status;
    });
  };
  auto mayChoose = [&](const CompileResult &made) {
    return made.oversized && made.oversized->isTuned && !options.lower.config;
  };
  WorkResult first = attempt(options, result);
  if (!mayChoose(result))
    return first;
  CompileOptions one = options;
  CompileResult made;
  made.oversized = result.oversized;
  WorkResult last = first;
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<DiagRecord> notes;
  while (mayChoose(made)) {
    if (!seen.emplace(made.oversized->kernel, made.oversized->configId).second)
      return first; // round again: there is no other
    notes.push_back(passedOver(options, *made.oversized, last.records));
    ++one.lower.passedOver[made.oversized->kernel];
    made = CompileResult();
    last = attempt(one, made);
  }
  result = std::move(made);
  last.records.insert(last.records.begin(), notes.begin(), notes.end());
  return last;
}
