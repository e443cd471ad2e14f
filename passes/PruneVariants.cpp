//===- PruneVariants.cpp - drop unused facts and needless variants ------------===//
//
// Requires: phase Planned; each kernel with `facts` lists in `tkg.used_facts` those that its plan
//           rests on.
// Ensures:  `facts` are the used ones. Variants that are never reached are gone: what they need, one
//           before them does with. So are those for a fact of @variants whose code is that of the
//           kernel's own variants.
// Fails:    never; remark TK4112 names a fact that has no variant left.
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
#include "mlir/IR/OperationSupport.h"
#include "passes/Passes.h"
#include "passes/analysis/Scalars.h"
#include "llvm/ADT/MapVector.h"

namespace tk {
#define GEN_PASS_DEF_PRUNEVARIANTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// The variants of one kernel, in the order in which a launch tries them.
using Group = SmallVector<KernelOp>;

static ArrayRef<Attribute> listOf(KernelOp kernel, StringRef name) {
  auto list = kernel->getAttrOfType<ArrayAttr>(name);
  return list ? list.getValue() : ArrayRef<Attribute>();
}

static void keepUsedFacts(KernelOp kernel) {
  auto used = kernel->getAttrOfType<ArrayAttr>("tkg.used_facts");
  kernel->removeAttr("tkg.used_facts");
  if (used && kernel->hasAttr("facts"))
    kernel->setAttr("facts", used);
}

/// Whether `wanted` holds wherever `known` does: the same condition, a multiple, a narrower bound.
static bool implies(Attribute known, Attribute wanted) {
  std::optional<HostComparison> has = comparisonOf(known), needs = comparisonOf(wanted);
  if (known == wanted || !has || !needs || has->op != needs->op || has->name != needs->name)
    return known == wanted;
  if (has->op == "divides")
    return has->number % needs->number == 0;
  return has->op == "le" ? has->number <= needs->number : has->op == "ge" && has->number >= needs->number;
}

/// Whether `a` takes all arguments that `b` does.
static bool takesAllOf(KernelOp a, KernelOp b) {
  return llvm::all_of(ArrayRef<StringRef>{"specialized", "facts"}, [&](StringRef list) {
    return llvm::all_of(listOf(a, list), [&](Attribute wanted) {
      return llvm::any_of(listOf(b, list), [&](Attribute known) { return implies(known, wanted); });
    });
  });
}

/// Whether one of the kernel's own variants has the code of `variant`, which is for a fact, and takes its arguments.
static bool hasOwnTwin(const Group &group, KernelOp variant) {
  return llvm::any_of(group, [&](KernelOp other) {
    return !other->hasAttr("fact") && takesAllOf(other, variant) && other.getContract() == variant.getContract() &&
           OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &variant.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  });
}

/// Drops the variants for a fact of @variants when the kernel's own have the code of both, and says so. Where one of
/// the two differs both stay, since they are tried in that order.
static void dropIdleFacts(Group &group) {
  llvm::MapVector<Attribute, SmallVector<KernelOp>> facts;
  for (KernelOp variant : group)
    if (Attribute fact = variant->getAttr("fact"))
      facts[fact].push_back(variant);
  for (auto &[fact, variants] : facts) {
    if (!llvm::all_of(variants, [&](KernelOp variant) { return hasOwnTwin(group, variant); }))
      continue;
    for (auto entry : variants.front().getContract().getFields().getAs<ArrayAttr>("variants").getAsRange<DictionaryAttr>())
      if (entry.get("index") == fact)
        emit<diag::IdleFact>(variants.front().getLoc(), variants.front()->getAttrOfType<StringAttr>("variant_of").getValue(),
                             entry.getAs<StringAttr>("text").getValue());
    for (KernelOp variant : variants) {
      llvm::erase(group, variant);
      variant.erase();
    }
  }
}

static void dropUnreached(Group &group) {
  Group kept;
  for (KernelOp variant : group) {
    if (llvm::any_of(kept, [&](KernelOp earlier) { return takesAllOf(earlier, variant); }))
      variant.erase();
    else
      kept.push_back(variant);
  }
  group = kept;
}

namespace {
struct PruneVariants : tk::impl::PruneVariantsBase<PruneVariants> {
  void runOnOperation() override {
    llvm::MapVector<Attribute, Group> groups;
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      keepUsedFacts(kernel);
      Attribute name = kernel->getAttr("variant_of");
      groups[name ? name : kernel.getSymNameAttr()].push_back(kernel);
    }
    for (auto &[name, group] : groups) {
      dropIdleFacts(group);
      dropUnreached(group);
      for (KernelOp kernel : group)
        for (StringRef list : {"facts", "specialized"})
          if (listOf(kernel, list).empty())
            kernel->removeAttr(list);
    }
  }
};
} // namespace
