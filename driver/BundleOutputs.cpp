//===- BundleOutputs.cpp - the files that a bundle becomes --------------------------------===//

#include "driver/BundleOutputs.h"
#include "bundle/Embed.h"
#include "bundle/Header.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;

std::vector<Artifact> tk::bundleArtifacts(const Bundle &bundle, const CompileOptions &options,
                                          const OutputPlan &plan) {
  // All stages of one call have one name: the file's, or that of the input in a folder.
  StringRef named = plan.folder.empty() && plan.file != "-" ? plan.file : options.input;
  std::string stem = identifierOf(named), symbol = options.symbolPrefix + stem;
  std::string host = options.hostTarget.empty() ? defaultHostTarget() : options.hostTarget;
  std::string bytes = writeBundle(bundle);
  std::vector<Artifact> artifacts;
  bool wantsFile = llvm::is_contained(options.stages, Stage::Bundle) ||
                   llvm::is_contained(options.stages, Stage::Assembly);
  if (wantsFile)
    artifacts.push_back({Stage::Bundle, bytes});
  for (Stage stage : options.stages) {
    std::string beside = plan.pathOf(Stage::Bundle, options);
    if (stage == Stage::Object)
      artifacts.push_back({stage, writeElfObject(bytes, symbol, *elfMachineOf(host))});
    else if (stage == Stage::Assembly)
      artifacts.push_back({stage, writeAssembly(llvm::sys::path::filename(beside), symbol)});
    else if (stage == Stage::Header)
      artifacts.push_back({stage, writeHeader(bundle, stem, symbol)});
  }
  return artifacts;
}
