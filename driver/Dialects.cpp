//===- Dialects.cpp - the context of a compile ------------------------------------===//
//
// Dialects are registered, not loaded: MLIR loads one when a file or a pass needs it, and start-up
// pays for none of the others. This file alone sees the LLVM dialects' headers.
//
//===----------------------------------------------------------------------===//

#include "driver/Compile.h"
#include "ir/tk/TkDialect.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

std::unique_ptr<mlir::MLIRContext> tk::createContext() {
  mlir::DialectRegistry registry;
  registry.insert<tk::TkDialect, tkg::TkgDialect, mlir::arith::ArithDialect,
                  mlir::scf::SCFDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}
