//===- Nvptx.h - from phase Ordered to a cubin, for NVIDIA ------------------===//
//
// The stages in order: machine passes (LLVM dialect, phase Machine), translation to LLVM IR,
// libdevice and LLVM's passes, PTX, ptxas. Each is a call of its own, so that a driver can stop after any and
// start at any. All errors go through the MLIRContext's diagnostics.
//
// A module in phase Machine carries the kernels' description (docs/metadata.md without resources
// and images) as the string attribute `tk.description`; LLVM IR carries it as the named metadata
// `tk.description`, PTX as comment lines that begin with `// tk.description: `.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <string>

namespace tk::nvptx {

/// Adds the passes that take a module from Ordered to Machine.
void addMachinePasses(mlir::OpPassManager &manager, const Target &target);

/// Adds the passes that turn places into line tables of functions in the LLVM dialect (-g).
void addLineTables(mlir::OpPassManager &manager);

/// Registers LLVM's NVPTX target once; cheap when repeated.
void initializeLlvm();

/// Machine to LLVM IR, neither verified nor optimized. What has no LLVM operation becomes assembly in `module` itself: a copy
/// would take as long as the translation.
mlir::FailureOr<std::unique_ptr<llvm::Module>> translateToLlvm(mlir::ModuleOp module,
                                                               llvm::LLVMContext &context,
                                                               const Target &target);

/// Instructions as users in program order, however the module came to be: passes then do the same.
void orderUses(llvm::Module &module);

/// Fails with TK9006 when LLVM's rules for its IR do not hold; at the place of the function, or of the module ("").
mlir::LogicalResult verify(const llvm::Module &module, llvm::function_ref<mlir::Location(llvm::StringRef)> locationOf);

/// Links what is called from libdevice (read only when something is), then runs LLVM's passes (LlvmPasses.h) at
/// `optLevel` (0 to 3). `libdevicePath` may be empty when nothing is called.
mlir::LogicalResult optimize(llvm::Module &module, const Target &target,
                             const std::string &libdevicePath, int optLevel, mlir::Location loc);

/// True when `module` calls a function of libdevice.
bool needsLibdevice(const llvm::Module &module);

/// PTX text of an optimized module. `ptxVersion` overrides the target's when positive.
mlir::FailureOr<std::string> emitPtx(llvm::Module &module, const Target &target, int ptxVersion,
                                     mlir::Location loc);

/// Of threads that compile: passes and LLVM recurse.
inline constexpr unsigned kStackBytes = 16u << 20;

/// Both of these, of a verified module. Kernels go through LLVM by themselves, on so many threads; the text does not depend on how many.
mlir::FailureOr<std::string> compileToPtx(llvm::Module &module, const Target &target, const std::string &libdevicePath,
                                          int optLevel, unsigned threads, mlir::Location loc);

} // namespace tk::nvptx
