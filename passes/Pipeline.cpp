//===- Pipeline.cpp - the passes from Emitted to Ordered, as a table -------------===//

#include "passes/Pipeline.h"
#include "passes/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tk;

namespace {
struct Step {
  Phase after; // the phase that holds once the pass has run
  std::unique_ptr<Pass> (*make)(const Target &);
};
} // namespace

static std::unique_ptr<Pass> canonicalizer(const Target &) { return createCanonicalizerPass(); }
static std::unique_ptr<Pass> cse(const Target &) { return createCSEPass(); }
template <std::unique_ptr<Pass> (*Create)()> static std::unique_ptr<Pass> plain(const Target &) {
  return Create();
}

static std::unique_ptr<Pass> stripMineTiles(const Target &target) {
  StripMineTilesOptions options;
  options.warpSize = target.warpSize;
  options.registersPerThread = target.registersPerThread;
  options.registersPerBlock = target.registersPerBlock;
  return createStripMineTiles(options);
}

static std::unique_ptr<Pass> planLayouts(const Target &target) {
  PlanLayoutsOptions options;
  options.warpSize = target.warpSize;
  options.maxVectorBytes = target.maxVectorBytes;
  options.maxAtomicBytes = target.maxAtomicBytes;
  options.matrixKinds = target.matrixKinds;
  return createPlanLayouts(options);
}

static std::unique_ptr<Pass> expandAtomics(const Target &target) {
  ExpandAtomicsOptions options;
  options.warpSize = target.warpSize;
  return createExpandAtomics(options);
}

static std::unique_ptr<Pass> allocateSharedMemory(const Target &target) {
  AllocateSharedMemoryOptions options;
  options.limitBytes = target.sharedBytesPerBlock;
  return createAllocateSharedMemory(options);
}

static std::unique_ptr<Pass> pipelineLoops(const Target &target) {
  PipelineLoopsOptions options;
  options.asyncCopies = target.hasAsyncCopy;
  options.limitBytes = target.sharedBytesPerBlock;
  return createPipelineLoops(options);
}

static std::unique_ptr<Pass> hoistLoads(const Target &target) {
  HoistLoadsOptions options;
  options.warpSize = target.warpSize;
  options.registersPerBlock = target.registersPerBlock;
  return createHoistLoads(options);
}

static std::unique_ptr<Pass> relieveRegisters(const Target &target) {
  RelieveRegistersOptions options;
  options.warpSize = target.warpSize;
  options.registersPerThread = target.registersPerThread;
  options.registersPerBlock = target.registersPerBlock;
  options.limitBytes = target.sharedBytesPerBlock;
  return createRelieveRegisters(options);
}

static std::unique_ptr<Pass> expandConversions(const Target &target) {
  ExpandConversionsOptions options;
  options.shuffleCost = target.exchange.shuffle;
  options.selectCost = target.exchange.select;
  options.wavefrontCost = target.exchange.wavefront;
  options.barrierCost = target.exchange.barrier;
  return createExpandConversions(options);
}

/// Upstream canonicalization runs up to LaidOut, CSE up to Expanded (ir/Phases.h has the reasons).
static constexpr Step kPipeline[] = {
    {Phase::Emitted, canonicalizer},
    {Phase::Emitted, cse},
    {Phase::Canonical, plain<createSplitVariants>},
    {Phase::Resident, stripMineTiles},
    {Phase::Resident, plain<createLowerPlaces>},
    {Phase::Resident, plain<createSplitAddresses>},
    {Phase::Resident, plain<createPrepareDots>},
    {Phase::Resident, canonicalizer},
    {Phase::Resident, cse},
    {Phase::Resident, plain<createMergeReductions>},
    {Phase::Planned, planLayouts},
    {Phase::Planned, plain<createPruneVariants>},
    {Phase::LaidOut, plain<createAssignLayouts>},
    {Phase::LaidOut, cse},
    {Phase::LaidOut, hoistLoads},
    {Phase::LaidOut, expandAtomics},
    {Phase::LaidOut, plain<createExpandReductions>},
    {Phase::LaidOut, plain<createExpandDots>},
    {Phase::LaidOut, pipelineLoops},
    {Phase::LaidOut, plain<createPrefetchFragments>},
    {Phase::LaidOut, relieveRegisters},
    {Phase::LaidOut, plain<createExpandCollectives>},
    {Phase::LaidOut, plain<createExpandShapes>},
    {Phase::Expanded, expandConversions},
    {Phase::Expanded, cse},
    {Phase::SmemAllocated, allocateSharedMemory},
    {Phase::Ordered, plain<createInsertBarriers>},
};

void tk::addPipeline(OpPassManager &manager, const Target &target, Phase from) {
  for (const Step &step : kPipeline)
    if (step.after > from || from == Phase::Emitted)
      manager.addPass(step.make(target));
}

void tk::registerTkPasses() { registerBlockPasses(); }
