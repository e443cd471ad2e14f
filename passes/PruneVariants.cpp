//===- PruneVariants.cpp - drop unused facts and needless variants ------------===//
//
// Requires: phase Planned; each kernel with `facts` lists in `tkg.used_facts` those that its plan
//           rests on.
// Ensures:  `facts` are the used ones. Variants that are never reached are gone: what they need, one before them does
//           with. So is what a fact of @variants made when nothing rests on the fact.
// Fails:    never; remark TK4112 names a fact that nothing rests on.
//
//   tk.kernel @k {facts = [A, B], tkg.used_facts = [A]}, tk.kernel @k__any
// becomes
//   tk.kernel @k {facts = [A]}, tk.kernel @k__any
// and with tkg.used_facts = [] only
//   tk.kernel @k
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/TkDialect.h"
#include "passes/Passes.h"

namespace tk {
#define GEN_PASS_DEF_PRUNEVARIANTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

static ArrayRef<Attribute> listOf(KernelOp kernel, StringRef name) {
  auto list = kernel->getAttrOfType<ArrayAttr>(name);
  return list ? list.getValue() : ArrayRef<Attribute>();
}

/// Whether nothing in the code of a variant for a fact of @variants rests on that fact.
static bool isIdle(KernelOp kernel) {
  auto isUsed = [&](Attribute fact) {
    auto term = cast<ArrayAttr>(fact); // of its name there may be a larger multiple
    bool isMultiple = cast<StringAttr>(term[0]).getValue() == "divides";
    return llvm::any_of(listOf(kernel, "facts"), [&](Attribute used) {
      auto other = cast<ArrayAttr>(used);
      return used == fact || (isMultiple && other[0] == term[0] && other[2] == term[2]);
    });
  };
  return kernel->hasAttr("tkg.author_facts") && listOf(kernel, "specialized").empty() &&
         llvm::none_of(listOf(kernel, "tkg.author_facts"), isUsed);
}

static void remarkIdle(KernelOp kernel) {
  int64_t index = kernel->getAttrOfType<IntegerAttr>("fact").getInt();
  auto facts = kernel.getContract().getFields().getAs<ArrayAttr>("variants");
  emit<diag::IdleFact>(kernel.getLoc(), kernel->getAttrOfType<StringAttr>("variant_of").getValue(),
                       cast<DictionaryAttr>(facts[index]).getAs<StringAttr>("text").getValue());
}

static void keepUsedFacts(KernelOp kernel) {
  auto used = kernel->getAttrOfType<ArrayAttr>("tkg.used_facts");
  kernel->removeAttr("tkg.used_facts");
  if (used && kernel->hasAttr("facts"))
    kernel->setAttr("facts", used);
}

/// Whether `earlier` is tried first and takes whatever `later` does.
static bool takesAllOf(KernelOp earlier, KernelOp later) {
  auto group = [](KernelOp kernel) { return kernel->getAttrOfType<StringAttr>("variant_of"); };
  auto needs = [&](Attribute condition) {
    return llvm::is_contained(listOf(later, "specialized"), condition) ||
           llvm::is_contained(listOf(later, "facts"), condition);
  };
  return group(earlier) && group(earlier) == group(later) && llvm::all_of(listOf(earlier, "specialized"), needs) &&
         llvm::all_of(listOf(earlier, "facts"), needs);
}

namespace {
struct PruneVariants : tk::impl::PruneVariantsBase<PruneVariants> {
  void runOnOperation() override {
    SmallVector<KernelOp> kept;
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      keepUsedFacts(kernel);
      bool idle = isIdle(kernel);
      if (idle && !kernel.getSymName().ends_with("__any"))
        remarkIdle(kernel);
      if (idle || llvm::any_of(kept, [&](KernelOp other) { return takesAllOf(other, kernel); }))
        kernel.erase();
      else
        kept.push_back(kernel);
    }
    for (KernelOp kernel : kept) {
      for (StringRef list : {"facts", "specialized"})
        if (listOf(kernel, list).empty())
          kernel->removeAttr(list);
      kernel->removeAttr("tkg.author_facts");
    }
  }
};
} // namespace
