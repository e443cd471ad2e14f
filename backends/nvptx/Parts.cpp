//===- Parts.cpp - the kernels of a module side by side, each by itself --------------===//
//
// From LLVM IR on a kernel has nothing to do with the others of its module but shared names, and LLVM takes most of
// a compile. So a large module is cut into modules of one kernel, in contexts of their own, that threads take through
// LLVM; the texts are put together in the order of the kernels. Whether a module is cut follows from what is in
// it, never from the number of threads: the text is the same.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Nvptx.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/thread.h"
#include <atomic>

using namespace tk;
using llvm::StringRef;

/// Where all of a module have fewer, threads cost more than they bring.
static constexpr unsigned kLeastInstructions = 1500;

/// Nothing but the shared memory of a launch, which each text may declare: what is defined would be in several.
static bool isOnlyDeclared(const llvm::Module &module) {
  auto isNamed = [](const llvm::GlobalVariable &global) { return global.isDeclaration() && global.hasName(); };
  return llvm::all_of(module.globals(), isNamed) && module.alias_empty() && module.ifunc_empty() &&
         module.getModuleInlineAsm().empty() &&
         module.debug_compile_units_begin() == module.debug_compile_units_end(); // files are numbered for all
}

/// The kernels by name; none where the module stays whole: what is called would be in several texts, too. Of libdevice
/// most is inlined.
static std::vector<std::string> partsOf(const llvm::Module &module) {
  std::vector<std::string> kernels;
  unsigned instructions = 0;
  if (!isOnlyDeclared(module))
    return {};
  for (const llvm::Function &function : module) {
    bool isLibrary = function.isDeclaration() && function.getName().starts_with("__nv_");
    if (function.isIntrinsic() || isLibrary)
      continue;
    if (function.isDeclaration() || !function.use_empty() || !function.hasName() ||
        function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      return {};
    kernels.push_back(function.getName().str());
    instructions += function.getInstructionCount();
  }
  return kernels.size() > 1 && instructions >= kLeastInstructions ? kernels
                                                                  : std::vector<std::string>();
}

/// The module with one of its kernels.
static llvm::Expected<std::unique_ptr<llvm::Module>> readPart(StringRef bitcode, StringRef kernel, llvm::LLVMContext &context) {
  auto part = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "kernels"), context);
  if (!part)
    return part.takeError();
  for (llvm::Function &function : llvm::make_early_inc_range(**part))
    if (!function.isDeclaration() && function.getName() != kernel)
      function.eraseFromParent();
  if (llvm::Error error = (*part)->materializeAll())
    return std::move(error);
  return std::move(*part);
}

namespace {
/// What goes through LLVM.
struct Job {
  llvm::Module &module;
  const Target &target;
  const std::string &libdevice;
  int optLevel;
  mlir::Location loc;

  mlir::FailureOr<std::string> ofModule(llvm::Module &part) const {
    nvptx::orderUses(part);
    if (failed(nvptx::optimize(part, target, libdevice, optLevel, loc)))
      return mlir::failure();
    return nvptx::emitPtx(part, target, /*ptxVersion=*/0, loc);
  }
  mlir::FailureOr<std::string> ofKernel(StringRef bitcode, StringRef kernel) const;
};
} // namespace

mlir::FailureOr<std::string> Job::ofKernel(StringRef bitcode, StringRef kernel) const {
  llvm::LLVMContext context, &outer = module.getContext();
  context.setDiagnosticHandlerCallBack(outer.getDiagnosticHandlerCallBack(), outer.getDiagnosticContext());
  auto part = readPart(bitcode, kernel, context);
  if (!part) {
    emit<diag::InternalError>(loc, llvm::toString(part.takeError()));
    return mlir::failure();
  }
  return ofModule(**part);
}

/// The text of the whole module: one header, each declaration once, and labels that count the functions. Up to a
/// text's first empty line behind the header there are declarations; the rest is the function's.
static std::string join(llvm::ArrayRef<mlir::FailureOr<std::string>> texts) {
  std::string all;
  llvm::StringSet<> declared;
  for (auto [index, text] : llvm::enumerate(texts)) {
    auto [header, rest] = StringRef(*text).rtrim('\n').split("\n.address_size 64\n");
    rest = rest.ltrim('\n');
    if (index == 0)
      (all += header) += "\n.address_size 64\n\n";
    auto [declarations, function] = rest.split("\n\n");
    for (StringRef line : llvm::split(declarations, '\n'))
      if (!line.starts_with(".") || declared.insert(line).second)
        (all += line) += '\n';
    if (index == 0)
      all += '\n';
    std::string label = "$L__BB" + std::to_string(index) + "_";
    for (size_t at; index > 0 && (at = function.find("$L__BB0_")) != StringRef::npos; function = function.drop_front(at + 8))
      (all += function.take_front(at)) += label;
    (all += function) += '\n';
  }
  return all;
}

/// Nothing of libdevice is left that is not inlined: it would be in several texts.
static bool isOfOneKernel(StringRef text) {
  StringRef declarations = text.split("\n.address_size 64\n").second.ltrim('\n').split("\n\n").first;
  auto isFine = [](StringRef line) { return !line.starts_with(".") || line.starts_with(".extern .shared "); };
  return llvm::all_of(llvm::split(declarations, '\n'), isFine) && !text.contains("\n.func ");
}

/// All kernels; what crashes on a thread stays without a text.
static std::vector<mlir::FailureOr<std::string>> compileAll(const Job &job, StringRef bitcode, llvm::ArrayRef<std::string> kernels,
                                                            unsigned threads, std::vector<char> &crashed) {
  std::vector<mlir::FailureOr<std::string>> texts(kernels.size(), mlir::failure());
  crashed.assign(kernels.size(), false);
  mlir::ParallelDiagnosticHandler inOrder(job.loc.getContext());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < kernels.size();) {
      inOrder.setOrderIDForThread(i);
      llvm::CrashRecoveryContext guard;
      crashed[i] = !guard.RunSafely([&] { texts[i] = job.ofKernel(bitcode, kernels[i]); });
      inOrder.eraseOrderIDForThread();
    }
  };
  std::vector<llvm::thread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
    others.emplace_back(std::optional(nvptx::kStackBytes), work);
  work();
  for (llvm::thread &other : others)
    other.join();
  return texts;
}

mlir::FailureOr<std::string> nvptx::compileToPtx(llvm::Module &module, const Target &target, const std::string &libdevicePath,
                                                 int optLevel, unsigned threads, mlir::Location loc) {
  Job job{module, target, libdevicePath, optLevel, loc};
  std::vector<std::string> kernels = partsOf(module);
  if (kernels.empty())
    return job.ofModule(module);
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  // For the version of debug information, of which there is none, each part would be verified once more.
  llvm::NamedMDNode *flags = module.getModuleFlagsMetadata();
  if (flags && flags->getNumOperands() == 1 && module.getModuleFlag("Debug Info Version"))
    flags->eraseFromParent();
  llvm::WriteBitcodeToFile(module, stream);
  std::vector<char> crashed; // bytes: threads write side by side
  std::vector<mlir::FailureOr<std::string>> texts = compileAll(job, bitcode, kernels, threads, crashed);
  for (size_t i = 0; i < kernels.size(); ++i)
    if (crashed[i]) // once more where the caller sees it, and what LLVM says of it
      texts[i] = job.ofKernel(bitcode, kernels[i]);
  if (llvm::any_of(texts, [](const mlir::FailureOr<std::string> &text) { return failed(text); }))
    return mlir::failure();
  bool areApart = llvm::all_of(texts, [](const mlir::FailureOr<std::string> &text) { return isOfOneKernel(*text); });
  return areApart ? join(texts) : job.ofModule(module);
}
