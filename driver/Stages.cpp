//===- Stages.cpp - the stages a kernel passes, by name and by file name --------===//

#include "driver/Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace tk;

namespace {
struct StageInfo {
  llvm::StringLiteral name, extension;
};
} // namespace

/// In the order of Stage.
static constexpr StageInfo kStages[] = {
    {"ast", ".ast.tk"},    {"tk", ".tk.mlir"}, {"tkg", ".tkg.mlir"}, {"llvm-dialect", ".llvm.mlir"},
    {"llvm", ".ll"},       {"ptx", ".ptx"},    {"cubin", ".cubin"},  {"sass", ".sass"},
    {"json", ".json"},     {"bundle", ".tkb"},     {"object", ".o"},     {"assembly", ".S"},
    {"header", ".h"},
};

/// What design.md promises for later.
static constexpr llvm::StringLiteral kLaterStages[] = {"amdgcn", "hsaco", "fatbin"};
static constexpr llvm::StringLiteral kLaterExtensions[] = {".hsaco", ".fatbin"};

llvm::StringRef tk::stageName(Stage stage) { return kStages[size_t(stage)].name; }
llvm::StringRef tk::stageExtension(Stage stage) { return kStages[size_t(stage)].extension; }

StageLookup tk::findStage(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kStages); ++i)
    if (kStages[i].name == name)
      return {Stage(i), false};
  return {std::nullopt, llvm::is_contained(kLaterStages, name)};
}

StageLookup tk::findStageOfOutput(llvm::StringRef fileName) {
  for (size_t i = 0; i < std::size(kStages); ++i)
    if (fileName.ends_with(kStages[i].extension))
      return {Stage(i), false};
  if (fileName.ends_with(".mlir"))
    return {Stage::Tk, false};
  bool later = llvm::any_of(kLaterExtensions, [&](auto ext) { return fileName.ends_with(ext); });
  return {std::nullopt, later};
}

std::string tk::stageNames() {
  return llvm::join(llvm::map_range(kStages, [](const StageInfo &s) { return s.name.str(); }), " ");
}

llvm::StringRef tk::stemOf(llvm::StringRef path) {
  if (path == "-")
    return "stdin";
  llvm::StringRef name = llvm::sys::path::filename(path);
  for (const StageInfo &stage : kStages)
    if (name.size() > stage.extension.size() && name.consume_back(stage.extension))
      return name;
  llvm::StringRef stem = llvm::sys::path::stem(name);
  return stem.empty() ? name : stem;
}

std::optional<Stage> tk::stageOfInputName(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (name.ends_with(".tk"))
    return Stage::Ast;
  if (name.ends_with(".mlir"))
    return Stage::Tk;
  if (name.ends_with(".ll"))
    return Stage::Llvm;
  if (name.ends_with(".ptx"))
    return Stage::Ptx;
  return std::nullopt;
}

/// Drops blanks and the comment lines of any of the languages.
static llvm::StringRef skipComments(llvm::StringRef text) {
  while (true) {
    text = text.ltrim();
    bool comment = text.starts_with("//") || text.starts_with("; ") || text.starts_with("# ");
    if (!comment)
      return text;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

std::optional<Stage> tk::stageOfInputText(llvm::StringRef text) {
  llvm::StringRef start = skipComments(text);
  for (llvm::StringRef word : {"kernel ", "fn ", "struct ", "const ", "import "})
    if (start.starts_with(word))
      return Stage::Ast;
  for (llvm::StringRef word : {"module", "builtin.module", "#", "tk.kernel"})
    if (start.starts_with(word))
      return Stage::Tk;
  for (llvm::StringRef word : {"source_filename", "target ", "define ", "declare "})
    if (start.starts_with(word))
      return Stage::Llvm;
  if (start.starts_with(".version"))
    return Stage::Ptx;
  return std::nullopt;
}
