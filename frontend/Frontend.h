//===- Frontend.h - from a syntax tree to a module in phase Emitted ----------===//
//
// One walk types, evaluates what is known at compile time, and emits: each selected kernel becomes
// one `tk.kernel` per call, instantiated with its compile-time parameters. All findings go through
// the context's diagnostic engine; several independent errors are reported in one run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tk {

/// What the command line says about the lowering.
struct LowerOptions {
  std::vector<std::string> kernels;                         // empty: all of the file
  std::vector<std::pair<std::string, std::string>> defines; // -D NAME=VALUE
  bool unknownDefines = false; // a -D that no kernel has is a warning: another file may have it
  std::optional<int> warps, stages, ctas, maxregs;
  bool asserts = false;                 // machine code keeps `assert`
  std::optional<int> config;            // which @tune configuration; else the first admitted
  std::map<std::string, unsigned> passedOver; // by kernel: so many admitted ones are too large for the chip
  std::vector<std::string> assumptions; // --assume: expressions over run-time parameters
  std::vector<std::string> includes;    // -I: where imports are looked for
};

/// Whose fault a failure is; the driver makes exit status 1 or 2 of it.
enum class LowerError { None, Input, CommandLine };

/// A file that a program takes in beside the one it is called by.
struct ImportedFile {
  std::string path, text;
  bool inLibrary = false; // of the standard library that is part of the compiler
};

/// The module, verified and with `tk.phase = "Emitted"`, or failure after at least one error.
/// `error` (may be null) says which kind; a wrong command line wins over errors in the input.
/// `imported` (may be null) gets the files that were imported.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToTk(mlir::MLIRContext &context, const SourceFile &source, const ast::File &file,
          const LowerOptions &options, LowerError *error = nullptr,
          std::vector<ImportedFile> *imported = nullptr);

/// A compile-time parameter of a kernel, as `-D` sees it.
struct CompileTimeParam {
  std::string name;
  std::string kind;                        // "int", "bool", "dtype", "string", or "f16 | bf16"
  std::optional<std::string> defaultValue; // as written
};

/// A kernel of a file, as the command line sees it.
struct KernelInfo {
  std::string name;
  SourceRange range; // of the name
  std::vector<CompileTimeParam> params;
};

/// The kernels of a file in order. Reports nothing and needs no context.
std::vector<KernelInfo> listKernels(const ast::File &file);

} // namespace tk
