//===- PlanLayouts.cpp - a layout for every tile, as attributes ----------------===//
//
// Requires: phase Resident; the kernel's contract says how many warps a block has.
// Ensures:  phase Planned. `tkg.layouts` on each operation with tile results, one a result (an
//           empty string for scalars); `vector` on each access; `tkg.used_facts` on fast variants.
// Fails:    TK4002 when a tile takes more registers than can be compiled.
//
//   %l = tk.arange 0 : tensor<1024xi32>
// becomes
//   %l = tk.arange 0 {tkg.layouts = [#tkg.layout<"register=[[1],[2],[512]], lane=...">]} : ...
//
// Cheap producers (ranges, splats, constants and their broadcasts) are first cloned for each use,
// so that they never force a layout on tiles that have nothing else in common. What is decided,
// and how, is in analysis/LayoutPlan.h.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/Launch.h"
#include "passes/Passes.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tk {
#define GEN_PASS_DEF_PLANLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Index arithmetic deeper than this is no longer cheap to repeat.
static constexpr int kMaxCheapDepth = 6;

static bool isCheap(Operation *op, int depth = 0) {
  if (!op || op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isa<ArangeOp, SplatOp, arith::ConstantOp>(op))
    return true;
  if (depth == kMaxCheapDepth || !isa<ExpandDimsOp, BroadcastOp, arith::ExtSIOp, arith::AddIOp, arith::MulIOp, arith::SubIOp,
                                       arith::CmpIOp, arith::AndIOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isCheap(operand.getDefiningOp(), depth + 1);
  });
}

/// Gives each use of a cheap producer a producer of its own, users of users first.
static void cloneCheapProducers(KernelOp kernel) {
  SmallVector<Operation *> cheap;
  kernel.walk([&](Operation *op) {
    if (isCheap(op))
      cheap.push_back(op);
  });
  for (Operation *op : llvm::reverse(cheap)) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1)) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*op)->getResult(0));
    }
  }
}

static void recordPlan(KernelOp kernel, LayoutPlan &plan) {
  MLIRContext *context = kernel.getContext();
  auto layouts = [&](auto values) {
    SmallVector<Attribute> list;
    for (Value value : values)
      list.push_back(isa<RankedTensorType>(value.getType())
                         ? Attribute(tkg::LayoutAttr::get(context, plan.layoutOf(value)))
                         : StringAttr::get(context, ""));
    return ArrayAttr::get(context, list);
  };
  kernel.walk([&](Operation *op) {
    bool hasTiles = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (hasTiles)
      op->setAttr("tkg.layouts", layouts(op->getResults()));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      op->setAttr("tkg.before_layouts", layouts(loop.getBeforeArguments()));
    if (std::optional<MatrixTiling> tiling = plan.tilingOf(op))
      op->setAttr("tkg.tiling", tilingAttr(context, *tiling));
    if (accessOperands(op))
      op->setAttr("vector", IntegerAttr::get(IntegerType::get(context, 64), plan.vectorOf(op)));
  });
}

/// Facts used by earlier passes, and those that vectors rest on: an access of one element needs none.
static ArrayAttr usedFacts(KernelOp kernel, LayoutPlan &plan, const MachineShape &machine) {
  ScalarAnalysis scalars(kernel);
  ContiguityAnalysis contiguity(scalars);
  kernel.walk([&](Operation *op) {
    std::optional<AccessOperands> access = accessOperands(op);
    if (!access || plan.vectorOf(op) == 1)
      return;
    unsigned last = cast<RankedTensorType>(access->offset.getType()).getRank() - 1;
    contiguity.widestVector(access->base, access->offset, access->mask, last,
                            widestAccess(op, machine.maxVectorBytes, machine.maxAtomicBytes));
  });
  llvm::SmallSetVector<Attribute, 8> used(scalars.usedFacts().begin(), scalars.usedFacts().end());
  if (auto kept = kernel->getAttrOfType<ArrayAttr>("tkg.kept_facts"))
    used.insert(kept.begin(), kept.end());
  kernel->removeAttr("tkg.kept_facts");
  return ArrayAttr::get(kernel.getContext(), used.getArrayRef());
}

/// Says which accesses are narrower than the target allows.
static void remarkNarrowAccesses(KernelOp kernel, const MachineShape &machine) {
  kernel.walk([&](Operation *op) {
    std::optional<AccessOperands> access = accessOperands(op);
    if (!access)
      return;
    int64_t bits = elementBits(access->tile.getType());
    int64_t vector = op->getAttrOfType<IntegerAttr>("vector").getInt();
    int64_t widest = widestAccess(op, machine.maxVectorBytes, machine.maxAtomicBytes) * 8;
    StringRef what = isa<tkg::LoadOp>(op) ? "load" : isa<tkg::StoreOp>(op) ? "store" : "atomic operation";
    if (vector * bits < widest)
      emit<diag::VectorNarrow>(op->getLoc(), what, vector * bits, kernel.getSymName(), widest,
                               "address, mask or layout do not allow more");
  });
}

namespace {
struct PlanLayouts : tk::impl::PlanLayoutsBase<PlanLayouts> {
  using Base::Base;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      cloneCheapProducers(kernel);
      MachineShape machine{warpSize, warpsOf(kernel), maxVectorBytes, maxAtomicBytes, MatrixKinds(matrixKinds)};
      LayoutPlan plan(kernel, machine);
      if (failed(plan.decide()))
        return signalPassFailure();
      recordPlan(kernel, plan);
      remarkNarrowAccesses(kernel, machine);
      if (kernel->hasAttr("facts"))
        kernel->setAttr("tkg.used_facts", usedFacts(kernel, plan, machine));
    }
    setPhase(getOperation(), Phase::Planned);
  }
};
} // namespace
