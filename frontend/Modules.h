//===- Modules.h - the files that a program is made of -------------------------===//
//
// A program is its main file, the modules it imports, theirs, and the prelude, which is in sight
// everywhere. Each file is read and parsed once. `import "x.tk"` looks beside the importing file,
// `import a.b` for a/b.tk; then in each folder of -I, and `std` in the library that is part of the
// compiler.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Frontend.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <vector>

namespace tk {

/// A file of the standard library, as it is built into the compiler: "order.tk" and its text.
struct LibraryFile {
  llvm::StringRef name;
  llvm::StringRef text;
};

/// Sorted by name. Messages call them "std:order.tk".
inline constexpr llvm::StringLiteral kLibraryPrefix = "std:";
llvm::ArrayRef<LibraryFile> libraryFiles();
std::string libraryPath(llvm::StringRef name);
/// "nn", for a function that std/nn.tk declares and no program sees unasked; "" when there is none.
llvm::StringRef libraryModuleOf(llvm::StringRef function);

/// One parsed file, and what its names stand for.
struct Module {
  struct Import {
    const Module *module = nullptr;
    SourceRange range; // of the name in `import`
  };

  std::string path; // as messages show it
  bool inLibrary = false;
  const SourceFile *source = nullptr;
  const ast::File *file = nullptr;
  llvm::StringMap<Import> imports;
  llvm::StringMap<const ast::Decl *> decls; // filled by the analysis
  std::unique_ptr<ast::File> owned;
};

/// The name that an import binds: "nn" of `import std.nn` and of `import "x/nn.tk"`.
llvm::StringRef nameOfImport(const ast::Import &import);

class Program {
public:
  /// More than anybody writes, and what 32-bit places hold.
  static constexpr size_t kMaxModules = 1024;

  Program(mlir::MLIRContext &context, const SourceFile &source, const ast::File &file,
          llvm::ArrayRef<std::string> includes);

  /// Reads what the main file imports, directly and not; failure after an error.
  llvm::LogicalResult load();
  /// Null after an error, which only a broken library has.
  Module *loadPrelude();

  Module &getMain() { return *modules.front(); }
  llvm::ArrayRef<std::unique_ptr<Module>> getModules() const { return modules; }
  SourceMap &getSources() { return sources; }

private:
  struct Found {
    std::string id, path; // the id is the same for the same file
    std::optional<llvm::StringRef> library;
  };
  llvm::LogicalResult loadImports(Module &module);
  Module *loadImport(const ast::Import &import, const Module &importer);
  std::optional<Found> find(const ast::Import &import, const Module &importer);
  std::optional<std::string> read(const Found &found, mlir::Location at, llvm::StringRef name);
  Module *parse(const Found &found, mlir::Location at, llvm::StringRef name);
  void reportCycle(const Module &module, const ast::Import &import);
  mlir::Location locate(SourceRange range) { return sources.getLocation(context, range); }

  mlir::MLIRContext &context;
  std::vector<std::string> includes;
  SourceMap sources;
  std::vector<std::unique_ptr<Module>> modules; // the main file first
  llvm::StringMap<Module *> byId;
  /// The imports that are being followed, outermost first: who imports, and where.
  std::vector<std::pair<const Module *, const ast::Import *>> open;
};

} // namespace tk
