//===- LowerToMachine.cpp - the pass from Ordered to Machine ----------------------===//
//
// Requires: phase Ordered.
// Ensures:  phase Machine. Each tk.kernel is an llvm.func of one thread (Machine.h), shared memory
//           is one external array, the module carries `tk.description`.
// Fails:    TK9005 for an operation that has no code on the target.
//
//   tk.kernel @k(%n: i64) attributes {contract = ...} { tk.return }
// becomes
//   llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} { llvm.return }
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "backends/nvptx/Nvptx.h"
#include "backends/target/Targets.h"
#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tk::nvptx {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTOMACHINE
#include "backends/nvptx/MachinePasses.h.inc"
} // namespace tk::nvptx

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// The block's dynamic shared memory: its size is the launch's.
static void declareShared(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedName, Attribute(), /*alignment=*/16,
                         /*addrSpace=*/3);
}

namespace {
struct LowerToMachine : nvptx::impl::LowerToMachineBase<LowerToMachine> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = findTarget(targetName);
    if (!target) {
      emit<diag::InternalError>(module.getLoc(), "the machine passes do not know target `" + targetName + "`");
      return signalPassFailure();
    }
    bool usesShared = false;
    SmallVector<LoweredVariant> variants;
    for (KernelOp kernel : llvm::to_vector(module.getOps<KernelOp>())) {
      Machine machine(kernel, *target);
      if (failed(machine.lower()))
        return signalPassFailure();
      variants.push_back({kernel, SmallVector<DeviceParam>(machine.params())});
      kernel.walk([&](tkg::AllocOp) { usesShared = true; });
    }
    module->setAttr("tk.description", StringAttr::get(&getContext(), describeKernels(variants, *target)));
    for (LoweredVariant &variant : variants)
      variant.kernel.erase();
    if (usesShared)
      declareShared(module);
    setPhase(module, Phase::Machine);
  }
};
} // namespace

void nvptx::addMachinePasses(OpPassManager &manager, const Target &target) {
  LowerToMachineOptions options;
  options.targetName = std::string(target.name);
  manager.addPass(createLowerToMachine(options));
}
