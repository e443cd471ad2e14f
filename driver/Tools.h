//===- Tools.h - versions, libdevice and the assembler's digest ---------------------===//
#pragma once

#include "backends/metadata/Metadata.h"
#include "driver/Options.h"

namespace tk {

llvm::StringRef tkcVersion();
llvm::StringRef llvmVersion();

struct Libdevice {
  std::string path;
  LinkedLibrary linked;
};

/// --libdevice, else the configured one. Reports when there is none.
mlir::FailureOr<Libdevice> findLibdevice(const CompileOptions &options, mlir::Location loc);

/// SHA-256 of the assembler's file. That of the configured one was taken when tkc was configured
/// and holds while size and time of the file are the same: hashing 38 MB takes longer than a
/// compile.
std::string digestOfAssembler(const nvptx::Assembler &assembler);

} // namespace tk
