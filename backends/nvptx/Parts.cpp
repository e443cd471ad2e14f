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
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/thread.h"
#include <atomic>

using namespace tk;
using llvm::StringRef;

/// A cut costs about as much as LLVM takes for a hundred instructions.
static constexpr unsigned kLeastInstructions = 1500;

/// As large as the main thread's: LLVM recurses.
static constexpr unsigned kStackBytes = 16u << 20;

/// The kernels by name; none where the module stays whole. Functions that are called would be in several texts, and
/// line tables number the files of a module.
static std::vector<std::string> partsOf(const llvm::Module &module) {
  std::vector<std::string> kernels;
  unsigned instructions = 0;
  if (nvptx::needsLibdevice(module) || module.debug_compile_units_begin() != module.debug_compile_units_end())
    return {};
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      return {};
    kernels.push_back(function.getName().str());
    instructions += function.getInstructionCount();
  }
  return kernels.size() > 1 && instructions >= kLeastInstructions ? kernels : std::vector<std::string>();
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

/// The text of the whole module: one header, each declaration once, and labels that count the functions.
static std::string join(llvm::ArrayRef<mlir::FailureOr<std::string>> texts) {
  std::string all;
  llvm::StringSet<> declared;
  for (auto [index, text] : llvm::enumerate(texts)) {
    StringRef rest = StringRef(*text).rtrim('\n');
    if (index > 0)
      rest = rest.split("\n.address_size ").second.split('\n').second.ltrim('\n');
    std::string label = "$L__BB" + std::to_string(index) + "_";
    bool isHead = index > 0; // up to the empty line behind the declarations
    while (!rest.empty()) {
      auto [line, next] = rest.split('\n');
      rest = next;
      bool isAgain = line.starts_with(".") && line.ends_with(";") && !declared.insert(line).second;
      bool endsHead = isHead && line.empty();
      isHead &= !endsHead;
      if (isAgain || endsHead)
        continue;
      for (size_t at; index > 0 && (at = line.find("$L__BB0_")) != StringRef::npos; line = line.drop_front(at + 8))
        (all += line.take_front(at)) += label;
      (all += line) += '\n';
    }
  }
  return all;
}

mlir::FailureOr<std::string> nvptx::compileToPtx(llvm::Module &module, const Target &target, const std::string &libdevicePath,
                                                 int optLevel, unsigned threads, mlir::Location loc) {
  Job job{module, target, libdevicePath, optLevel, loc};
  std::vector<std::string> kernels = partsOf(module);
  if (kernels.empty())
    return job.ofModule(module);
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  std::vector<mlir::FailureOr<std::string>> texts(kernels.size(), mlir::failure());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < kernels.size();)
      texts[i] = job.ofKernel(bitcode, kernels[i]);
  };
  std::vector<llvm::thread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
    others.emplace_back(std::optional(kStackBytes), work);
  work();
  for (llvm::thread &other : others)
    other.join();
  if (llvm::any_of(texts, [](const mlir::FailureOr<std::string> &text) { return failed(text); }))
    return mlir::failure();
  return join(texts);
}
