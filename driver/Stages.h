//===- Stages.h - the stages a kernel passes, by name and by file name ----------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tk {

/// In the order in which a kernel passes them; from Sass on they are made from the binary, from Bundle
/// on from those of several units.
enum class Stage {
  Ast, Tk, Tkg, LlvmDialect, Llvm, Ptx, Cubin, Sass, Json, Bundle, Object, Assembly, Header
};

/// As --emit has it.
llvm::StringRef stageName(Stage stage);

/// For a file of this stage, with the dot: ".tkg.mlir".
llvm::StringRef stageExtension(Stage stage);

inline bool isText(Stage stage) {
  return stage != Stage::Cubin && stage != Stage::Bundle && stage != Stage::Object;
}

/// What holds any number of units.
inline bool isBundleStage(Stage stage) { return stage >= Stage::Bundle; }

/// What a name stands for: a stage, or one that later work brings.
struct StageLookup {
  std::optional<Stage> stage;
  bool notBuiltYet = false;
};

StageLookup findStage(llvm::StringRef name);

/// By the extension of an output file.
StageLookup findStageOfOutput(llvm::StringRef fileName);

/// The names --emit takes, separated by blanks.
std::string stageNames();

/// `path` without folders and without a known extension: "k" of "a/k.tkg.mlir".
llvm::StringRef stemOf(llvm::StringRef path);

/// The stage whose file the extension of an input names; a plain .mlir is Tk until its phase is
/// known. None for an unknown extension.
std::optional<Stage> stageOfInputName(llvm::StringRef path);

/// The same by looking at the text.
std::optional<Stage> stageOfInputText(llvm::StringRef text);

} // namespace tk
