//===- Codegen.cpp - libdevice, LLVM's optimizer, PTX -------------------------------===//

#include "backends/metadata/Metadata.h"
#include "backends/nvptx/LlvmPasses.h"
#include "backends/nvptx/Nvptx.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace tk;

static std::unique_ptr<llvm::TargetMachine> machineFor(const Target &target, int ptxVersion) {
  nvptx::initializeLlvm();
  std::string error;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!known)
    return nullptr;
  std::string features = "+ptx" + std::to_string(ptxVersion > 0 ? ptxVersion : target.ptxVersion);
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      known->createTargetMachine(triple, std::string(target.chip), features, options, std::nullopt,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

bool nvptx::needsLibdevice(const llvm::Module &module) {
  return llvm::any_of(module.functions(), [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
}

static std::string textOf(const llvm::Type *type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

/// What the library lacks of the functions that are declared, or "".
static std::string missingFrom(const llvm::Module &library, const llvm::Module &module) {
  for (const llvm::Function &wanted : module.functions()) {
    if (!wanted.isDeclaration() || !wanted.getName().starts_with("__nv_"))
      continue;
    const llvm::Function *function = library.getFunction(wanted.getName());
    if (!function)
      return llvm::formatv("it has no function `{0}`", wanted.getName());
    if (function->getFunctionType() != wanted.getFunctionType())
      return llvm::formatv("its `{0}` is `{1}`, the kernel calls `{2}`", wanted.getName(),
                           textOf(function->getFunctionType()), textOf(wanted.getFunctionType()));
  }
  return "";
}

/// Links the functions that are called; what they call stays internal.
static mlir::LogicalResult linkLibdevice(llvm::Module &module, const std::string &path,
                                         mlir::Location loc) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emit<diag::LibdeviceUnreadable>(loc, path, buffer.getError().message());
  auto library = llvm::getLazyBitcodeModule((*buffer)->getMemBufferRef(), module.getContext());
  if (!library) {
    return emit<diag::LibdeviceUnreadable>(loc, path, llvm::toString(library.takeError()));
  }
  if (std::string missing = missingFrom(**library, module); !missing.empty())
    return emit<diag::LibdeviceUnreadable>(loc, path, missing);
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto keepInternal = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, keepInternal))
    return emit<diag::LibdeviceUnreadable>(loc, path, "linking failed");
  return mlir::success();
}

/// libdevice asks __nvvm_reflect whether denormals are flushed; they are kept.
static void setReflection(llvm::Module &module) {
  module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
}

mlir::LogicalResult nvptx::optimize(llvm::Module &module, const Target &target,
                                    const std::string &libdevicePath, int optLevel,
                                    mlir::Location loc) {
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(target, 0);
  if (!machine)
    return emit<diag::InternalError>(loc, "LLVM has no NVPTX target");
  module.setDataLayout(machine->createDataLayout());
  if (needsLibdevice(module)) {
    if (failed(linkLibdevice(module, libdevicePath, loc)))
      return mlir::failure();
    setReflection(module);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                            llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::ModulePassManager passes = optLevel == 0 ? builder.buildO0DefaultPipeline(levels[0])
                                                 : optimizationPasses(builder, levels[optLevel]);
  addRequiredPasses(passes);
  passes.run(module, modules);
  return mlir::success();
}

/// Drops the labels that debug information brings and line tables have no use for: in PTX a label begins
/// a block, and other blocks make other machine code.
static std::string withoutDebugLabels(llvm::StringRef ptx) {
  static const llvm::Regex label("^\\$L__(tmp|func_begin|func_end)[0-9]+:$");
  std::string result;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    if (!label.match(line))
      (result += line) += '\n';
    ptx = rest;
  }
  return result;
}

mlir::FailureOr<std::string> nvptx::emitPtx(llvm::Module &module, const Target &target,
                                            int ptxVersion, mlir::Location loc) {
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(target, ptxVersion);
  if (!machine) {
    emit<diag::InternalError>(loc, "LLVM has no NVPTX target");
    return mlir::failure();
  }
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true)) {
    emit<diag::InternalError>(loc, "LLVM cannot write PTX");
    return mlir::failure();
  }
  std::optional<std::string> description = descriptionOf(module);
  CodegenGate gate(module);
  passes.run(module);
  std::string ptx = description ? descriptionAsPtxComment(*description) : "";
  bool hasLines = module.debug_compile_units_begin() != module.debug_compile_units_end();
  ptx += hasLines ? withoutDebugLabels(text) : text.str().str();
  return ptx;
}
