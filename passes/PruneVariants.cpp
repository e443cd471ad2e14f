//===- PruneVariants.cpp - drop unused facts and needless variants ------------===//
//
// Requires: phase Planned; each kernel with `facts` lists in `tkg.used_facts` those that its plan
//           rests on.
// Ensures:  `facts` are the used ones. A variant whose facts are all gone is the only one.
// Fails:    never.
//
//   tk.kernel @k {facts = [A, B], tkg.used_facts = [A]}, tk.kernel @k__any
// becomes
//   tk.kernel @k {facts = [A]}, tk.kernel @k__any
// and with tkg.used_facts = [] only
//   tk.kernel @k
//
//===----------------------------------------------------------------------===//

#include "ir/tk/TkDialect.h"
#include "passes/Passes.h"

namespace tk {
#define GEN_PASS_DEF_PRUNEVARIANTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
struct PruneVariants : tk::impl::PruneVariantsBase<PruneVariants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<Operation *> needless; // erased at the end: they are among the kernels visited
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      auto used = kernel->getAttrOfType<ArrayAttr>("tkg.used_facts");
      if (!used)
        continue;
      kernel->removeAttr("tkg.used_facts");
      if (!kernel->hasAttr("facts"))
        continue;
      if (!used.empty()) {
        kernel->setAttr("facts", used);
        continue;
      }
      kernel->removeAttr("facts");
      std::string general = (kernel.getSymName() + "__any").str();
      if (Operation *other = symbols.lookup(general))
        needless.push_back(other);
    }
    for (Operation *kernel : needless)
      symbols.erase(kernel);
  }
};
} // namespace
