//===- PassRunner.cpp - pass pipelines with everything one may want to see -------===//

#include "driver/PassRunner.h"
#include "ir/Phases.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Instrumentation
//===----------------------------------------------------------------------===//

namespace {
/// Opens the protected copy of a pass: a manager can be copied as a whole, but not cut short.
struct PassCopier : mlir::Pass {
  using mlir::Pass::clone;
};

/// --verify-phases: the rules of the module's phase hold after every pass.
class PhaseChecker : public mlir::PassInstrumentation {
public:
  explicit PhaseChecker(bool &violated) : violated(violated) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    auto module = mlir::dyn_cast<mlir::ModuleOp>(op);
    if (!module || violated)
      return;
    std::optional<Phase> phase = phaseOf(module);
    StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
    if (phase && mlir::failed(verifyPhase(module, *phase, name)))
      violated = true;
  }

private:
  bool &violated;
};
} // namespace

/// True when `name` is a whole word of the pass's pipeline text: its own name or a nested one's.
static bool covers(const mlir::Pass &pass, StringRef name) {
  if (pass.getArgument() == name)
    return true;
  if (!pass.getArgument().empty())
    return false;
  std::string text; // an adaptor, which prints what it nests
  llvm::raw_string_ostream os(text);
  const_cast<mlir::Pass &>(pass).printAsTextualPipeline(os);
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words, "(){},");
  return llvm::is_contained(words, name);
}

bool tk::hasPass(const mlir::OpPassManager &manager, StringRef name) {
  return llvm::any_of(manager.getPasses(), [&](const mlir::Pass &p) { return covers(p, name); });
}

mlir::OpPrintingFlags tk::printingFlags(const CompileOptions &options) {
  mlir::OpPrintingFlags flags;
  if (options.lineInfo)
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  return flags;
}

static auto printFilter(const std::vector<std::string> &names) {
  return [&names](mlir::Pass *pass, mlir::Operation *) {
    return llvm::is_contained(names, "all") || llvm::is_contained(names, pass->getArgument());
  };
}

PassOutcome tk::runPasses(mlir::OpPassManager &passes, mlir::ModuleOp module,
                          const CompileOptions &options, mlir::TimingScope &timing) {
  mlir::PassManager manager(module.getContext(), mlir::ModuleOp::getOperationName());
  PassOutcome outcome = PassOutcome::Done;
  for (const mlir::Pass &pass : passes.getPasses()) {
    manager.addPass((pass.*&PassCopier::clone)());
    if (!options.stopAfter.empty() && covers(pass, options.stopAfter)) {
      outcome = PassOutcome::Stopped;
      break;
    }
  }
  bool violated = false;
  if (options.verifyPhases)
    manager.addInstrumentation(std::make_unique<PhaseChecker>(violated));
  if (!options.printBefore.empty() || !options.printAfter.empty())
    manager.enableIRPrinting(printFilter(options.printBefore), printFilter(options.printAfter),
                             /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
                             /*printAfterOnlyOnFailure=*/false, llvm::errs(),
                             printingFlags(options));
  if (options.timePasses)
    manager.enableTiming(timing);
  // Verifying after every pass costs as much as the passes; one verification at the end does.
  manager.enableVerifier(options.verifyPhases);
  UncodedDiagnostics coded(*module.getContext(), diag::InternalError);
  bool good = mlir::succeeded(manager.run(module)) && !violated;
  if (!good || (!options.verifyPhases && mlir::failed(mlir::verify(module))))
    return PassOutcome::Failed;
  return outcome;
}
