//===- Tools.cpp - versions, libdevice and the assembler's digest -------------------===//

#include "driver/Tools.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tk;
using llvm::StringRef;

// Set by driver/CMakeLists.txt.
#ifndef TKC_VERSION
#define TKC_VERSION "0"
#endif
#ifndef TKC_LLVM_VERSION
#define TKC_LLVM_VERSION "0"
#endif
#ifndef TKC_LIBDEVICE
#define TKC_LIBDEVICE ""
#endif
#ifndef TKC_PTXAS_SHA256
#define TKC_PTXAS_SHA256 ""
#define TKC_PTXAS_SIZE 0
#define TKC_PTXAS_TIME 0
#endif

StringRef tk::tkcVersion() { return TKC_VERSION; }
StringRef tk::llvmVersion() { return TKC_LLVM_VERSION; }

/// None when the file cannot be read.
static std::optional<std::string> digestOfFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return sha256Hex((*buffer)->getBuffer());
}

mlir::FailureOr<Libdevice> tk::findLibdevice(const CompileOptions &options, mlir::Location loc) {
  std::string path = options.libdevice.empty() ? TKC_LIBDEVICE : options.libdevice;
  constexpr StringRef advice = "--libdevice=PATH names libdevice.10.bc of a CUDA toolkit";
  if (path.empty())
    return withHelp(emit<diag::LibdeviceNotFound>(loc, "tkc was configured without one"), advice);
  std::optional<std::string> digest = digestOfFile(path);
  if (!digest)
    return withHelp(emit<diag::LibdeviceNotFound>(loc, "`" + path + "` cannot be read"), advice);
  return Libdevice{path, {"libdevice", "10", *digest, "NVIDIA CUDA Toolkit EULA"}};
}

std::string tk::digestOfAssembler(const nvptx::Assembler &assembler) {
  llvm::sys::fs::file_status status;
  bool pinned = assembler.origin == nvptx::Assembler::Origin::Configured &&
                !StringRef(TKC_PTXAS_SHA256).empty() &&
                !llvm::sys::fs::status(assembler.path, status) &&
                status.getSize() == TKC_PTXAS_SIZE &&
                llvm::sys::toTimeT(status.getLastModificationTime()) == TKC_PTXAS_TIME;
  if (pinned)
    return TKC_PTXAS_SHA256;
  return digestOfFile(assembler.path).value_or("");
}
