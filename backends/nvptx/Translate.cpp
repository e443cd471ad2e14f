//===- Translate.cpp - phase Machine to LLVM IR -----------------------------------===//
//
// First the machine operations that NVVM lacks become inline assembly, one instruction each; this
// is the only place that writes any. Then MLIR's own translation does the rest.
//
//===----------------------------------------------------------------------===//

#include "backends/metadata/Metadata.h"
#include "backends/nvptx/Nvptx.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Machine operations to inline assembly
//===----------------------------------------------------------------------===//

/// The letter of a register operand and the suffix of an access.
static std::pair<char, StringRef> wordNames(Type word, bool byte) {
  switch (word.getIntOrFloatBitWidth()) {
  case 16: return {'h', byte ? "u8" : "b16"};
  case 32: return {'r', "b32"};
  default: return {'l', "b64"};
  }
}

static StringRef vectorName(size_t count) { return count == 4 ? ".v4" : count == 2 ? ".v2" : ""; }

/// "{$a, $b}" or "$a".
static std::string operandList(unsigned first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += llvm::formatv("{0}${1}", i ? ", " : "", first + i).str();
  return count > 1 ? "{" + text + "}" : text;
}

static LLVM::InlineAsmOp makeAsm(OpBuilder &builder, Location loc, Type result, ValueRange operands,
                                 StringRef text, StringRef constraints, bool sideEffects) {
  return LLVM::InlineAsmOp::create(builder, loc, result, operands, text, constraints, sideEffects,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr());
}

/// Outputs begin as the fills (tied inputs), so an instruction that is not executed leaves them.
static void expandLoad(tkg::PtxLoadOp op) {
  OpBuilder builder(op);
  size_t count = op.getResults().size();
  Type word = op.getResult(0).getType();
  auto [letter, suffix] = wordNames(word, op.getByte());
  std::string constraints, text;
  for (size_t i = 0; i < count; ++i)
    constraints += std::string("=") + letter + ",";
  constraints += "l,b";
  for (size_t i = 0; i < count; ++i)
    constraints += "," + std::to_string(i);
  text = llvm::formatv("@${0} ld.global{1}{2}.{3} {4}, [${5}];", count + 1,
                       op.getReadonly() ? ".nc" : "", vectorName(count), suffix,
                       operandList(0, count), count)
             .str();
  SmallVector<Value> operands{op.getPointer(), op.getPredicate()};
  llvm::append_range(operands, op.getFills());
  Type result = word;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(op.getContext(), SmallVector<Type>(count, word));
  auto made = makeAsm(builder, op.getLoc(), result, operands, text, constraints, !op.getReadonly());
  for (size_t i = 0; i < count; ++i) {
    Value value = made.getResult(0);
    if (count > 1)
      value = LLVM::ExtractValueOp::create(builder, op.getLoc(), value, ArrayRef<int64_t>{int64_t(i)});
    op.getResult(i).replaceAllUsesWith(value);
  }
  op.erase();
}

static void expandStore(tkg::PtxStoreOp op) {
  OpBuilder builder(op);
  size_t count = op.getWords().size();
  auto [letter, suffix] = wordNames(op.getWords()[0].getType(), op.getByte());
  std::string constraints = "l,b";
  for (size_t i = 0; i < count; ++i)
    constraints += std::string(",") + letter;
  std::string text = llvm::formatv("@$1 st.global{0}.{1} [$0], {2};", vectorName(count), suffix,
                                   operandList(2, count))
                         .str();
  SmallVector<Value> operands{op.getPointer(), op.getPredicate()};
  llvm::append_range(operands, op.getWords());
  makeAsm(builder, op.getLoc(), Type(), operands, text, constraints + ",~{memory}", true);
  op.erase();
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

void nvptx::initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

FailureOr<std::unique_ptr<llvm::Module>>
nvptx::translateToLlvm(ModuleOp module, llvm::LLVMContext &context, const Target &target) {
  // The module stays as it is; the copy gets the assembly.
  OwningOpRef<ModuleOp> copy = module.clone();
  copy->walk([](tkg::PtxLoadOp op) { expandLoad(op); });
  copy->walk([](tkg::PtxStoreOp op) { expandStore(op); });
  std::optional<std::string> description = descriptionOf(module);
  for (NamedAttribute attribute : llvm::to_vector((*copy)->getAttrs()))
    if (attribute.getName().getValue().starts_with("tk."))
      (*copy)->removeAttr(attribute.getName());
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(*copy, context, "tkc");
  if (!result) {
    emit<diag::TranslationFailed>(module.getLoc(), "MLIR's translation gave up");
    return failure();
  }
  result->setSourceFileName("tkc");
  result->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  if (description)
    setDescription(*result, *description);
  return result;
}
