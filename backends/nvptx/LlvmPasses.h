//===- LlvmPasses.h - which of LLVM's passes run over a kernel ---------------------===//
#pragma once

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class OptimizationLevel;
class PassBuilder;
} // namespace llvm

namespace tk::nvptx {

/// What runs before LLVM's code generator, at levels above 0.
llvm::ModulePassManager optimizationPasses(llvm::PassBuilder &builder, llvm::OptimizationLevel level);

/// What runs after these, or after LLVM's own at level 0: without it the code generator or ptxas makes wrong code.
void addRequiredPasses(llvm::ModulePassManager &passes);

/// While it lives, the code generator leaves out the passes over `module` that cost more than they bring.
class CodegenGate : public llvm::OptPassGate {
public:
  explicit CodegenGate(llvm::Module &module);
  ~CodegenGate() override;
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef unit) const override;

private:
  llvm::LLVMContext &context;
  llvm::OptPassGate &outer;
  llvm::StringSet<> large; // functions, as passes name them
};

} // namespace tk::nvptx
