//===- MachinePasses.td - the passes from Ordered to Machine ------------------===//
#ifndef TK_MACHINE_PASSES_TD
#define TK_MACHINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToMachine : Pass<"tk-lower-to-machine", "::mlir::ModuleOp"> {
  let summary = "block level to one thread's code in the LLVM dialect, for NVIDIA";
  let description = [{
    Requires: phase `Ordered`. Ensures: phase `Machine`: each kernel is an `llvm.func` with the
    parameters it uses, and the module carries the kernels' description in `tk.description`.
    Fails with TK9005 for an operation without code on the target.
  }];
  let options = [Option<"targetName", "target", "std::string", "\"sm_90a\"", "chip to make code for">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // TK_MACHINE_PASSES_TD
