//===- Phases.cpp - the rules of each phase, as code -------------------------===//
//
// A phase is a set of rules; each rule looks at one operation and says what is wrong with it. The
// table at the end lists, for each phase, the first and the last phase at which a rule holds.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tk;

static constexpr StringLiteral kNames[] = {
    "Emitted",  "Canonical", "Resident",      "Planned", "LaidOut", "Scheduled", "Expanded",
    "Grouped", "SmemAllocated", "Ordered", "Machine", "Llvm",    "Assembled"};

llvm::StringRef tk::phaseName(Phase phase) { return kNames[size_t(phase)]; }

std::optional<Phase> tk::parsePhase(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kNames))
    if (known == name)
      return Phase(i);
  return std::nullopt;
}

std::optional<Phase> tk::phaseOf(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>("tk.phase");
  return name ? parsePhase(name.getValue()) : std::nullopt;
}

void tk::setPhase(ModuleOp module, Phase phase) {
  module->setAttr("tk.phase", StringAttr::get(module.getContext(), phaseName(phase)));
}

/// The operations of `arith` that `tk` uses; everything partial is an operation of its own.
static bool isAllowedArith(Operation *op) {
  return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::CmpIOp, arith::CmpFOp, arith::AddFOp,
             arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::SelectOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::ExtFOp>(op);
}

static bool isAllowedScf(Operation *op) {
  return isa<scf::IfOp, scf::WhileOp, scf::ForOp, scf::YieldOp, scf::ConditionOp>(op);
}

static StringRef dialectOf(Operation *op) { return op->getName().getDialectNamespace(); }

/// One instruction that NVVM lacks.
static bool isMachineOp(Operation *op) {
  return op->getName().getStringRef().starts_with("tkg.ptx.");
}

/// What is wrong with `op`, or nothing.
using Rule = std::string (*)(Operation *op);

static std::string onlyBlockLevelOps(Operation *op) {
  if (isa<ModuleOp, tk::KernelOp>(op) || isAllowedArith(op) || isAllowedScf(op))
    return "";
  if (dialectOf(op) == "tk" || (dialectOf(op) == "tkg" && !isMachineOp(op)))
    return "";
  return llvm::formatv("operation `{0}` is not of the block level", op->getName()).str();
}

static std::string noGpuOps(Operation *op) {
  if (dialectOf(op) == "tkg")
    return llvm::formatv("operation `{0}` came too early", op->getName()).str();
  return "";
}

static std::string countedLoops(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return "";
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  bool counted = lower == 0 && step == 1 && loop.getInductionVar().getType().isInteger(64);
  return counted ? "" : "a loop does not count from 0 by 1 in i64";
}

static std::string noBuffersThroughControlFlow(Operation *op) {
  if (!isAllowedScf(op) && !isa<arith::SelectOp>(op))
    return "";
  for (Type type : op->getResultTypes())
    if (isa<tkg::BufType>(type))
      return "a shared buffer is the result of control flow";
  return "";
}

static std::string splatConstants(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && !dense.isSplat() ? "a constant tile is not a splat" : "";
}

static std::string noLayouts(Operation *op) {
  for (Type type : op->getResultTypes())
    if (tkg::layoutOf(type))
      return "a tile has a layout already";
  return "";
}

static std::string allLayouts(Operation *op) {
  for (Type type : op->getResultTypes())
    if (isa<RankedTensorType>(type) && !tkg::layoutOf(type))
      return "a tile has no layout";
  return "";
}

static std::string noPlaces(Operation *op) {
  if (isa<ReadOp, WriteOp, LocateOp, MakeViewOp, SubviewOp>(op))
    return llvm::formatv("place access `{0}` is left", op->getName()).str();
  return "";
}

static std::string reductionsExpanded(Operation *op) {
  if (isa<ReduceOp, ScanOp, SortOp, HistogramOp, GatherOp, DotOp, DotScaledOp, PickOp, PutOp>(op))
    return llvm::formatv("operation `{0}` is left", op->getName()).str();
  auto convert = dyn_cast<tkg::ConvertOp>(op);
  return convert && convert.getHow() == "shared" ? "a conversion through shared memory is left" : "";
}

static std::string buffersPlaced(Operation *op) {
  auto alloc = dyn_cast<tkg::AllocOp>(op);
  return alloc && !alloc.getOffset() ? "a shared buffer has no offset" : "";
}

static std::string onlyMachineOps(Operation *op) {
  if (isa<ModuleOp>(op) || isMachineOp(op) || dialectOf(op) == "llvm" || dialectOf(op) == "nvvm")
    return "";
  return llvm::formatv("operation `{0}` is not of the machine level", op->getName()).str();
}

struct PhaseRule {
  Phase first, last;
  Rule rule;
};

static constexpr PhaseRule kRules[] = {
    {Phase::Emitted, Phase::Ordered, onlyBlockLevelOps},
    {Phase::Emitted, Phase::Emitted, noGpuOps},
    {Phase::Emitted, Phase::Ordered, countedLoops},
    {Phase::Emitted, Phase::Ordered, noBuffersThroughControlFlow},
    {Phase::Emitted, Phase::Ordered, splatConstants},
    {Phase::Emitted, Phase::Planned, noLayouts},
    {Phase::Resident, Phase::Ordered, noPlaces},
    {Phase::LaidOut, Phase::Ordered, allLayouts},
    {Phase::Expanded, Phase::Ordered, reductionsExpanded},
    {Phase::SmemAllocated, Phase::Ordered, buffersPlaced},
    {Phase::Machine, Phase::Machine, onlyMachineOps},
};

LogicalResult tk::verifyPhase(ModuleOp module, Phase phase, StringRef after) {
  WalkResult result = module.walk([&](Operation *op) {
    for (const PhaseRule &entry : kRules) {
      if (phase < entry.first || phase > entry.last)
        continue;
      std::string fault = entry.rule(op);
      if (!fault.empty()) {
        emit<diag::PhaseViolated>(op->getLoc(), phaseName(phase), after, fault);
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
