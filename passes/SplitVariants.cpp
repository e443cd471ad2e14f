//===- SplitVariants.cpp - a fast and a general variant of each kernel --------===//
//
// Requires: phase Emitted.
// Ensures:  phase Canonical. Each kernel K is there as K, with candidate `facts` about its
//           parameters, and as K__any without. Before them stand K__fact0, K__fact0__any, ...: what
//           the facts of @variants make of it. Later passes use facts; PruneVariants drops the rest.
// Fails:    never.
//
//   tk.kernel @k(%x: !tk.view<f32, 1, 0>) ...
// becomes
//   tk.kernel @k(...) attributes {facts = [["divides", 16, "x.ptr"], ["divides", 4, "N"]], ...}
//   tk.kernel @k__any(...) attributes {variant_of = "k"}
//
// Candidates: bases at 16 bytes, and strides, innermost extents (of the last axis, and of one whose
// elements lie side by side) and integer scalars that are multiples of 16 bytes' worth of elements.
// They are what vector accesses need: an aligned first address in each row, and masks that are
// constant over a vector.
//
// A fact of @variants is a conjunction. A stride, extent or scalar that equals a number becomes that
// number, an optional parameter is there or not: such conditions stay in `specialized`, for the
// code rests on them. Multiples and bounds are facts like the candidates, and the general variant
// has them too. Nothing can be made of other conditions: they are dropped (Specialize.h).
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "passes/Passes.h"
#include "passes/Specialize.h"
#include "passes/analysis/Scalars.h"
#include "llvm/ADT/MapVector.h"

namespace tk {
#define GEN_PASS_DEF_SPLITVARIANTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Bytes of the widest access of one thread on any target we know.
static constexpr int64_t kWidestAccessBytes = 16;
/// Elements of which an integer scalar is assumed to be a multiple: enough for a vector of bytes.
static constexpr int64_t kScalarMultiple = 16;

namespace {
/// Collects one power of two for each name, the largest that is asked for.
struct FactList {
  llvm::MapVector<StringRef, int64_t> powers;

  void require(Attribute expression, int64_t power) {
    auto name = dyn_cast_or_null<StringAttr>(expression);
    if (!name || power <= 1 || name.getValue() == "_")
      return;
    int64_t &known = powers[name.getValue()];
    known = std::max(known, power);
  }
};
} // namespace

static void addArgumentFacts(KernelOp kernel, unsigned index, FactList &facts) {
  MLIRContext *context = kernel.getContext();
  Type type = kernel.getArgumentTypes()[index];
  DictionaryAttr entry = kernel.getArgContract(index);
  StringAttr pointer = StringAttr::get(context, pointerName(kernel, index));
  if (isa<PtrType>(type))
    return facts.require(pointer, kWidestAccessBytes);
  bool isHuge = entry.getAs<StringAttr>("dtype").getValue() == "u64"; // no value for a guard past 2^63
  if ((type.isInteger(32) || type.isInteger(64)) && !isHuge)
    return facts.require(entry.get("name"), kScalarMultiple);
  auto view = dyn_cast<ViewType>(type);
  if (!view)
    return;
  facts.require(pointer, kWidestAccessBytes);
  int64_t elements = kWidestAccessBytes * 8 / elementBits(view.getElement());
  auto extents = entry.getAs<ArrayAttr>("extents"), strides = entry.getAs<ArrayAttr>("strides");
  for (auto [axis, extent, stride] : llvm::enumerate(extents, strides)) {
    auto number = dyn_cast<IntegerAttr>(stride);
    bool isInner = int64_t(axis) + 1 == view.getRank() || (number && number.getInt() == 1);
    if (isInner)
      facts.require(extent, elements);
  }
  for (Attribute stride : strides)
    facts.require(stride, elements);
}

/// The kernel's facts and the candidates; of two multiples of one name the larger power of two is left.
static ArrayAttr allFacts(KernelOp kernel) {
  Builder builder(kernel.getContext());
  StringAttr divides = builder.getStringAttr("divides");
  FactList list;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    addArgumentFacts(kernel, i, list);
  SmallVector<Attribute> facts;
  for (Attribute fact : kernel->getAttrOfType<ArrayAttr>("facts")) {
    auto term = cast<ArrayAttr>(fact);
    auto candidate = list.powers.end();
    if (term[0] == divides)
      candidate = list.powers.find(cast<StringAttr>(term[2]).getValue());
    if (candidate == list.powers.end()) {
      facts.push_back(fact);
    } else if (cast<IntegerAttr>(term[1]).getInt() % candidate->second == 0) {
      facts.push_back(fact);
      list.powers.erase(candidate);
    }
  }
  for (auto [name, power] : list.powers)
    facts.push_back(builder.getArrayAttr(
        {divides, builder.getI64IntegerAttr(power), builder.getStringAttr(name)}));
  return builder.getArrayAttr(facts);
}

/// Puts the general variant behind `kernel`, which becomes the fast one.
static void split(KernelOp kernel) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  auto general = cast<KernelOp>(builder.clone(*kernel));
  general.setSymName((kernel.getSymName() + "__any").str());
  general->setAttr("general", builder.getUnitAttr());
  if (!general->hasAttr("fact"))
    general->removeAttr("facts");
  kernel->setAttr("facts", allFacts(kernel));
}

/// Puts the variants for a fact of @variants before `kernel`.
static void addFact(KernelOp kernel, DictionaryAttr fact) {
  OpBuilder builder(kernel);
  auto index = fact.getAs<IntegerAttr>("index");
  auto copy = cast<KernelOp>(builder.clone(*kernel));
  copy.setSymName((kernel.getSymName() + "__fact" + Twine(index.getInt())).str());
  copy->setAttr("fact", index);
  Specialization made = specialize(copy, fact.get("expr"));
  copy->setAttr("specialized", builder.getArrayAttr(made.conditions));
  copy->setAttr("facts", builder.getArrayAttr(made.facts));
  split(copy);
}

namespace {
struct SplitVariants : tk::impl::SplitVariantsBase<SplitVariants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (KernelOp kernel : llvm::to_vector(module.getOps<KernelOp>())) {
      kernel->setAttr("variant_of", kernel.getSymNameAttr());
      kernel->setAttr("facts", ArrayAttr::get(&getContext(), {}));
      if (auto facts = kernel.getContract().getFields().getAs<ArrayAttr>("variants"))
        for (auto fact : facts.getAsRange<DictionaryAttr>())
          addFact(kernel, fact);
      split(kernel);
    }
    setPhase(module, Phase::Canonical);
  }
};
} // namespace
