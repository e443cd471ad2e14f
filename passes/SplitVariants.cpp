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
// Candidates: bases at 16 bytes, and strides, innermost extents (of the last axis, and of one whose elements lie side by
// side) and integer scalars that are multiples of 16 bytes' worth of elements. They are what vector accesses need: an
// aligned first address in each row, and masks that are constant over a vector.
//
// A fact of @variants is a conjunction. A stride, extent or scalar that equals a number becomes that
// number, an optional parameter is there or not: such conditions stay in `specialized`, for the
// code rests on them. Multiples and bounds are facts like the candidates, in the general variant
// too, and are named in `tkg.author_facts`. Nothing can be made of other conditions: they are dropped.
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
  auto known = kernel->getAttrOfType<ArrayAttr>("facts");
  for (Attribute fact : known ? known.getValue() : ArrayRef<Attribute>()) {
    auto term = cast<ArrayAttr>(fact);
    auto candidate = term[0] == divides ? list.powers.find(cast<StringAttr>(term[2]).getValue()) : list.powers.end();
    bool isStronger = candidate != list.powers.end() && cast<IntegerAttr>(term[1]).getInt() % candidate->second != 0;
    if (!isStronger) {
      facts.push_back(fact);
      if (candidate != list.powers.end())
        list.powers.erase(candidate);
    }
  }
  for (auto [name, power] : list.powers)
    facts.push_back(builder.getArrayAttr(
        {divides, builder.getI64IntegerAttr(power), builder.getStringAttr(name)}));
  return builder.getArrayAttr(facts);
}

/// Makes `kernel`, a copy, the one for a fact of @variants.
static void addFact(KernelOp kernel, Attribute fact) {
  Builder builder(kernel);
  Specialization made = specialize(kernel, fact);
  for (auto [name, list] : {std::pair("specialized", &made.specialized), std::pair("facts", &made.facts),
                            std::pair("tkg.author_facts", &made.facts)})
    kernel->setAttr(name, builder.getArrayAttr(*list));
}

namespace {
struct SplitVariants : tk::impl::SplitVariantsBase<SplitVariants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (KernelOp kernel : llvm::to_vector(module.getOps<KernelOp>())) {
      kernel->setAttr("variant_of", kernel.getSymNameAttr());
      auto variants = kernel.getContract().getFields().getAs<ArrayAttr>("variants");
      for (auto [index, entry] : llvm::enumerate(variants ? variants.getValue() : ArrayRef<Attribute>())) {
        auto copy = cast<KernelOp>(OpBuilder(kernel).clone(*kernel));
        copy.setSymName((kernel.getSymName() + "__fact" + Twine(index)).str());
        copy->setAttr("fact", OpBuilder(copy).getI64IntegerAttr(index));
        addFact(copy, cast<DictionaryAttr>(entry).get("expr"));
        split(copy);
      }
      split(kernel);
    }
    setPhase(module, Phase::Canonical);
  }

  /// Puts the general variant behind `kernel`, which becomes the fast one.
  void split(KernelOp kernel) {
    OpBuilder builder(kernel);
    builder.setInsertionPointAfter(kernel);
    auto general = cast<KernelOp>(builder.clone(*kernel));
    general.setSymName((kernel.getSymName() + "__any").str());
    kernel->setAttr("facts", allFacts(kernel));
  }
};
} // namespace
