//===- tk-opt.cpp - reads a module, runs passes, prints it -------------------===//
//
// For tests: `mlir-opt` with the dialects and passes of tkc and no others, so that it starts fast
// and a test cannot lean on what the compiler does not have. Passes run in the order of their flags;
// `--tk-verify-phase` is one of them and checks the rules of the phase that the module says it is in.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Nvptx.h"
#include "ir/Phases.h"
#include "ir/tk/TkDialect.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"

namespace tk::nvptx {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "backends/nvptx/MachinePasses.h.inc"
} // namespace tk::nvptx

namespace {
struct VerifyPhase : mlir::PassWrapper<VerifyPhase, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPhase)

  llvm::StringRef getArgument() const override { return "tk-verify-phase"; }
  llvm::StringRef getDescription() const override {
    return "check the rules of the module's phase (attribute tk.phase)";
  }

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    std::optional<tk::Phase> phase = tk::phaseOf(module);
    if (!phase) {
      module.emitError("the module's `tk.phase` is missing or no phase");
      return signalPassFailure();
    }
    if (mlir::failed(tk::verifyPhase(module, *phase, "tk-opt")))
      signalPassFailure();
  }
};
} // namespace

int main(int argc, char **argv) {
  tk::registerTkPasses();
  tk::nvptx::registerMachinePasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassRegistration<VerifyPhase>();
  mlir::DialectRegistry registry;
  registry.insert<tk::TkDialect, tkg::TkgDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                  mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tk-opt: passes of tkc\n", registry));
}
