//===- Folders.cpp - the same output wherever the sources lie ---------------------------===//

#include "driver/Folders.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;

void tk::dropFolders(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  llvm::SmallSetVector<llvm::DIFile *, 4> files;
  for (llvm::DICompileUnit *unit : finder.compile_units())
    files.insert(unit->getFile());
  for (llvm::DISubprogram *function : finder.subprograms())
    files.insert(function->getFile());
  for (llvm::DIScope *scope : finder.scopes())
    files.insert(scope->getFile());
  for (llvm::DIFile *file : files)
    if (file) {
      StringRef name = llvm::sys::path::filename(file->getFilename());
      file->replaceOperandWith(0, llvm::MDString::get(context, name));
      file->replaceOperandWith(1, llvm::MDString::get(context, ""));
    }
}

void tk::dropFolders(mlir::ModuleOp module) {
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([](mlir::FileLineColRange place) -> std::optional<mlir::Attribute> {
    StringRef name = llvm::sys::path::filename(place.getFilename());
    return mlir::FileLineColRange::get(mlir::StringAttr::get(place.getContext(), name),
                                       place.getStartLine(), place.getStartColumn(),
                                       place.getEndLine(), place.getEndColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
}
