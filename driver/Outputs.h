//===- Outputs.h - which files a compile writes, and writing them ------------------===//
//
// Every file is written in full beside its place and then renamed, the binary last: whoever looks
// sees the old files or the new ones, and after an error nothing new. A file whose bytes are the
// same is left alone, so that build systems don't run what follows. Devices and pipes are written
// directly.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Compile.h"
#include "driver/Options.h"
#include <optional>

namespace tk {

/// Where the stages go.
struct OutputPlan {
  std::string folder; // several stages, or -o DIR/: "DIR/"; else empty
  std::string file;   // a single one; "-" is standard output
  std::string imageName; // what the description calls the binary

  /// The path of `stage`, "-" for standard output.
  std::string pathOf(Stage stage, const CompileOptions &options) const;
};

/// Decides and checks; a wrong command line is returned as a diagnostic.
std::optional<DiagRecord> planOutputs(const CompileOptions &options, OutputPlan &plan);

/// One file to be written.
struct OutputFile {
  std::string path;
  std::string bytes;
  bool mayBeThere = false; // the bundle beside an assembly, which may be made of that very bundle
};

/// Writes all or none; the error names the file. None is one of `inputs`, by whatever name or link.
std::optional<DiagRecord> writeFiles(llvm::ArrayRef<OutputFile> files, llvm::ArrayRef<std::string> inputs = {});

/// The exit status when files are not written: 2 when the command line names wrong ones.
int statusOf(const DiagRecord &wrong);

/// Everything that a good compile writes: stages, JSON, dumps, dependency file.
std::optional<DiagRecord> writeResult(const CompileOptions &options, const OutputPlan &plan,
                                      const CompileResult &result);

} // namespace tk
