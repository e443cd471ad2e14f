//===- Modules.cpp - finding, reading and parsing imported files -----------------===//

#include "frontend/Modules.h"
#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string tk::libraryPath(StringRef name) {
  return (kLibraryPrefix + name).str();
}

StringRef tk::nameOfImport(const ast::Import &import) {
  return import.path ? path::stem(import.path->value) : import.names.back().text;
}

static SourceRange placeOfName(const ast::Import &import) {
  return import.path ? import.path->range : import.names.back().range;
}

/// The path of `import a.b`: "a/b.tk".
static std::string dottedPath(const ast::Import &import) {
  std::string result;
  for (const ast::Ident &name : import.names)
    result += (result.empty() ? "" : "/") + name.text.str();
  return result + ".tk";
}

/// The same file has the same identity under all its names.
static std::string identityOf(StringRef name) {
  llvm::SmallString<256> real;
  return fs::real_path(name, real) ? name.str() : real.str().str();
}

/// What is read through a pipe or terminal has no folder: its imports are looked for in this one.
static StringRef folderOf(StringRef file) {
  return file.starts_with("<") || file.starts_with("/dev/") ? StringRef() : path::parent_path(file);
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

Program::Program(mlir::MLIRContext &context, const SourceFile &source, const ast::File &file,
                 llvm::ArrayRef<std::string> includes)
    : context(context), includes(includes) {
  auto module = std::make_unique<Module>();
  module->path = source.getPath().str();
  module->source = &source;
  module->file = &file;
  sources.add(source);
  byId[identityOf(module->path)] = module.get();
  modules.push_back(std::move(module));
}

static const LibraryFile *findInLibrary(StringRef name) {
  auto files = libraryFiles();
  const auto *it = llvm::find_if(files, [&](const LibraryFile &file) { return file.name == name; });
  return it == files.end() ? nullptr : it;
}

StringRef tk::libraryModuleOf(StringRef function) {
  std::string head = ("\nfn " + function).str();
  for (const LibraryFile &file : libraryFiles())
    for (StringRef bracket : {"(", "["})
      if (file.name != "prelude.tk" && file.text.contains(head + bracket.str()))
        return path::stem(file.name);
  return "";
}

/// Nothing after an error, which says where the module was looked for.
std::optional<Program::Found> Program::find(const ast::Import &import, const Module &importer) {
  std::string wanted = import.path ? import.path->value.str() : dottedPath(import);
  std::string place; // in the library, "" elsewhere
  if (!import.path && import.names.front().text == "std")
    place = wanted.substr(std::min<size_t>(wanted.size(), 4));
  else if (import.path && importer.inLibrary)
    place = wanted;
  std::vector<std::string> tried;
  auto onDisk = [&](StringRef folder) -> std::optional<Found> {
    llvm::SmallString<256> name(folder);
    path::append(name, wanted);
    tried.push_back(name.str().str());
    if (!fs::exists(name))
      return std::nullopt;
    return Found{identityOf(name), name.str().str(), std::nullopt};
  };
  if (import.path && !importer.inLibrary)
    if (auto found = onDisk(path::is_absolute(wanted) ? "" : folderOf(importer.path)))
      return found;
  if (!path::is_absolute(wanted))
    for (const std::string &folder : includes)
      if (auto found = onDisk(folder))
        return found;
  const LibraryFile *file = place.empty() ? nullptr : findInLibrary(place);
  if (file)
    return Found{libraryPath(place), libraryPath(place), file->text};
  mlir::InFlightDiagnostic diag =
      emit<diag::ModuleNotFound>(locate(placeOfName(import)), import.path ? wanted : dottedPath(import));
  if (!place.empty()) {
    std::vector<StringRef> names;
    for (const LibraryFile &known : libraryFiles())
      names.push_back(known.name);
    tried.push_back("the standard library, which has " + llvm::join(names, ", "));
  }
  if (tried.empty())
    diag.attachNote() << "help: `import \"" << wanted << "\"` takes the file beside this one; this form looks in the folders of -I, of "
                         "which there are none";
  else
    diag.attachNote() << "help: it was looked for in " << llvm::join(tried, ", ")
                      << (includes.empty() ? "; -I names folders" : "");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::optional<std::string> Program::read(const Found &found, mlir::Location at, StringRef name) {
  if (found.library)
    return found.library->str();
  auto refuse = [&](const std::string &why) -> std::optional<std::string> {
    emit<diag::ModuleUnreadable>(at, name, why);
    return std::nullopt;
  };
  fs::file_status status;
  if (std::error_code error = fs::status(found.path, status))
    return refuse(error.message());
  if (status.type() != fs::file_type::regular_file)
    return refuse(fs::is_directory(status) ? "it is a folder" : "it is no file");
  if (status.getSize() > SourceFile::kMaxBytes)
    return refuse("it has " + std::to_string(status.getSize()) + " bytes, more than the " +
                  std::to_string(SourceFile::kMaxBytes) + " that are read");
  auto buffer = llvm::MemoryBuffer::getFile(found.path, /*IsText=*/true,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return refuse(buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

Module *Program::parse(const Found &found, mlir::Location at, StringRef name) {
  std::optional<std::string> text = read(found, at, name);
  if (!text)
    return nullptr;
  const SourceFile *source =
      modules.size() < kMaxModules ? sources.add(found.path, std::move(*text)) : nullptr;
  if (!source) {
    emit<diag::TooManyModules>(at, modules.size() < kMaxModules
                                       ? "4 GiB of source"
                                       : std::to_string(kMaxModules) + " modules");
    return nullptr;
  }
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, *source);
  if (failed(file))
    return nullptr;
  auto module = std::make_unique<Module>();
  module->path = found.path;
  module->inLibrary = found.library.has_value();
  module->source = source;
  module->owned = std::move(*file);
  module->file = module->owned.get();
  modules.push_back(std::move(module));
  byId[found.id] = modules.back().get();
  return modules.back().get();
}

/// "a.tk -> b.tk -> a.tk", with a note at each import on the way.
void Program::reportCycle(const Module &module, const ast::Import &import) {
  auto first = llvm::find_if(open, [&](const auto &entry) { return entry.first == &module; });
  std::string text;
  for (auto it = first; it != open.end(); ++it)
    text += it->first->path + " -> ";
  mlir::InFlightDiagnostic diag =
      emit<diag::ImportCycle>(locate(import.range), text + module.path);
  for (auto it = first; it != open.end(); ++it)
    if (it->second != &import)
      diag.attachNote(locate(it->second->range)) << "`" << it->first->path << "` imports here";
  diag.attachNote() << "help: what both need belongs into a module of its own";
}

Module *Program::loadImport(const ast::Import &import, const Module &importer) {
  std::optional<Found> found = find(import, importer);
  if (!found)
    return nullptr;
  if (Module *known = byId.lookup(found->id)) {
    bool busy = llvm::any_of(open, [&](const auto &entry) { return entry.first == known; });
    if (busy)
      reportCycle(*known, import);
    return busy ? nullptr : known;
  }
  Module *module = parse(*found, locate(placeOfName(import)), nameOfImport(import));
  return module && succeeded(loadImports(*module)) ? module : nullptr;
}

static bool isName(StringRef text) {
  bool letters = !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_') &&
                 llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return letters && !isKeywordText(text);
}

/// Every import is tried, so that one run reports all that are wrong.
llvm::LogicalResult Program::loadImports(Module &module) {
  bool good = true;
  for (const ast::Decl *decl : module.file->decls) {
    auto *import = llvm::dyn_cast<ast::Import>(decl);
    if (!import)
      continue;
    StringRef name = nameOfImport(*import);
    if (!isName(name)) {
      mlir::InFlightDiagnostic diag = emit<diag::ModuleName>(
          locate(placeOfName(*import)), import->path->value,
          isKeywordText(name) ? "`" + name.str() + "` is a keyword"
                              : "`" + name.str() + "` is no name");
      diag.attachNote() << "help: the module is called by the name of its file without `.tk`";
      good = false;
      continue;
    }
    open.emplace_back(&module, import);
    Module *loaded = loadImport(*import, module);
    open.pop_back();
    good &= loaded != nullptr;
    if (!loaded)
      continue;
    auto [it, isNew] = module.imports.try_emplace(name, Module::Import{loaded, placeOfName(*import)});
    if (isNew)
      continue;
    mlir::InFlightDiagnostic diag = emit<diag::DuplicateName>(locate(placeOfName(*import)), name);
    diag.attachNote(locate(it->second.range)) << "the first declaration is here";
    good = false;
  }
  return llvm::success(good);
}

llvm::LogicalResult Program::load() {
  return loadImports(getMain());
}

Module *Program::loadPrelude() {
  constexpr StringRef name = "prelude.tk";
  if (Module *known = byId.lookup(libraryPath(name)))
    return known;
  const LibraryFile *file = findInLibrary(name);
  Module *module = file ? parse({libraryPath(name), libraryPath(name), file->text},
                                mlir::UnknownLoc::get(&context), name)
                        : nullptr;
  return module && succeeded(loadImports(*module)) ? module : nullptr;
}
