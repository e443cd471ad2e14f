//===- LowerFile.cpp - declarations, the selection of kernels, the module ---===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ProgramStack.h"

using namespace mlir;
using namespace tk;

/// The walk recurses over expressions that the parser bounds, calls that we bound, and both: the
/// bounds of Lowerer.h fit this stack in every build.
constexpr unsigned kStackBytes = 256u << 20;

bool CallArgs::poisoned() const {
  return llvm::any_of(llvm::zip(exprs, values),
                      [](auto pair) { return std::get<0>(pair) && std::get<1>(pair).isPoison(); });
}

Lowerer::Lowerer(MLIRContext &context, Program &program, const LowerOptions &options)
    : context(context), program(program), source(program.getSources()), options(options),
      reporter(context, source), builder(&context) {
  context.loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
}

Location Lowerer::loc(SourceRange range) {
  Location place = source.getLocation(context, range);
  return callLoc ? Location(CallSiteLoc::get(place, *callLoc)) : place;
}

Val Lowerer::notBuilt(SourceRange range, const Twine &what) {
  error<diag::NotBuiltYet>(range, what.str());
  return Val::poison();
}

/// Instrumented code is some fifty times slower, and a fuzzer must tell much work from a hang.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static constexpr unsigned kSteps = kMaxSteps / 50;
#else
static constexpr unsigned kSteps = kMaxSteps;
#endif

/// Counts a step of the walk; false, after an error, when the kernel has used up its steps.
bool Lowerer::spend(SourceRange range) {
  if (outOfFuel)
    return false;
  if (++steps <= kSteps && walkDepth <= kMaxWalkDepth)
    return true;
  outOfFuel = true;
  if (steps > kSteps)
    error<diag::OutOfFuel>(range, kSteps)
        .help("a run-time `for x in range(...)` does not unroll");
  else
    error<diag::TooDeep>(range, "expressions and calls", kMaxWalkDepth);
  return false;
}

static const ast::Ident &nameOf(const ast::Decl *decl) {
  static const ast::Ident none;
  if (auto *kernel = dyn_cast<ast::Kernel>(decl))
    return kernel->name;
  if (auto *function = dyn_cast<ast::Function>(decl))
    return function->name;
  if (auto *record = dyn_cast<ast::Struct>(decl))
    return record->name;
  if (auto *constant = dyn_cast<ast::Const>(decl))
    return constant->name;
  return none;
}

/// Symbols are made of kernel names and `__`, beside `tkc_` names of our own: `k__f32`, `k__any`.
void Lowerer::checkKernelName(const ast::Ident &name) {
  if (name.text.contains("__"))
    error<diag::ReservedName>(name.range, name.text, "__").help("write the name with single underscores");
  else if (name.text.starts_with("tkc_"))
    error<diag::ReservedName>(name.range, name.text, "tkc_").help("choose another prefix");
}

void Lowerer::declareAll(Module &module) {
  for (const ast::Decl *decl : module.file->decls) {
    if (isa<ast::Import>(decl))
      continue;
    const ast::Ident &name = nameOf(decl);
    auto [it, isNew] = module.decls.try_emplace(name.text, decl);
    auto import = module.imports.find(name.text);
    if (!isNew)
      error<diag::DuplicateName>(name.range, name.text)
          .note(nameOf(it->second).range, "the first declaration is here");
    else if (import != module.imports.end())
      error<diag::DuplicateName>(name.range, name.text)
          .note(import->second.range, "the module of this name is imported here");
    else if (auto *structure = dyn_cast<ast::Struct>(decl))
      checkStruct(structure);
    if (isa<ast::Kernel>(decl) && &module == &program.getMain())
      checkKernelName(name);
  }
}

SmallVector<const ast::Kernel *> Lowerer::selectKernels() {
  SmallVector<const ast::Kernel *> all, selected;
  std::vector<StringRef> names;
  const Module &main = program.getMain();
  for (const ast::Decl *decl : main.file->decls)
    if (auto *item = dyn_cast<ast::Kernel>(decl);
        item && main.decls.lookup(item->name.text) == item) {
      all.push_back(item);
      names.push_back(item->name.text);
    }
  if (all.empty())
    error<diag::NoKernel>(SourceRange{0, 0});
  if (all.empty() || options.kernels.empty())
    return all;
  for (const std::string &wanted : options.kernels) {
    const auto *it =
        llvm::find_if(all, [&](const ast::Kernel *item) { return item->name.text == wanted; });
    if (it != all.end()) {
      if (!llvm::is_contained(selected, *it))
        selected.push_back(*it);
      continue;
    }
    Report report = reporter.reportCommand<diag::UnknownKernel>(wanted);
    if (StringRef near = nearestName(wanted, names); !near.empty())
      report.help("did you mean `" + near + "`?");
    else
      report.help("the file has " + llvm::join(names, ", "));
  }
  return selected;
}

void Lowerer::checkDefines(ArrayRef<const ast::Kernel *> kernels) {
  for (const auto &define : options.defines) {
    bool known = llvm::any_of(kernels, [&](const ast::Kernel *item) {
      return llvm::any_of(
          item->cparams, [&](const ast::CParam &param) { return param.name.text == define.first; });
    });
    if (known)
      continue;
    std::vector<StringRef> names;
    for (const ast::Kernel *item : kernels)
      for (const ast::CParam &param : item->cparams)
        if (!llvm::is_contained(names, param.name.text))
          names.push_back(param.name.text);
    Report report = options.unknownDefines
                        ? reporter.reportCommand<diag::UnusedDefine>(define.first)
                        : reporter.reportCommand<diag::UnknownDefine>(define.first);
    if (StringRef near = nearestName(define.first, names); !near.empty())
      report.help("did you mean `" + near + "`?");
    else
      report.help(names.empty() ? "there are none" : "there are " + llvm::join(names, ", "));
  }
}

SmallVector<const ast::Kernel *> Lowerer::startFile() {
  for (size_t i = 0, count = program.getModules().size(); i < count; ++i)
    declareAll(*program.getModules()[i]);
  SmallVector<const ast::Kernel *> kernels = selectKernels();
  checkDefines(kernels);
  // One kernel alone is asked for even when nobody names it.
  oneKernel = kernels.size() == 1;
  return kernels;
}

FailureOr<OwningOpRef<ModuleOp>> Lowerer::run() {
  module = ModuleOp::create(source.getLocation(context, {0, 0}));
  module->getOperation()->setAttr("tk.phase", builder.getStringAttr("Emitted"));
  SmallVector<const ast::Kernel *> kernels = startFile();
  bool asked = !options.kernels.empty() || oneKernel;
  for (const ast::Kernel *item : kernels)
    lowerKernel(*item, asked);
  if (!kernels.empty() && reporter.numErrors == 0 && module->getBody()->empty())
    lowerKernel(*kernels.front(), /*asked=*/true);
  for (auto [i, text] : llvm::enumerate(options.assumptions))
    if (reporter.numErrors == 0 && !usedAssumptions.count(i))
      reporter.reportCommand<diag::UnusedAssumption>(text);
  if (reporter.numErrors != 0)
    return failure();
  // Everything the input can do wrong has been reported: what the verifier finds is our fault.
  if (failed(verify(*module))) {
    emit<diag::InternalError>(source.getLocation(context, {0, 0}), "the front end made invalid IR");
    return failure();
  }
  return std::move(module);
}

void tk::withElaborationStack(llvm::function_ref<void()> body) {
  llvm::runOnNewStack(kStackBytes, body);
}

FailureOr<OwningOpRef<ModuleOp>> tk::lowerToTk(MLIRContext &context, const SourceFile &source,
                                               const ast::File &file, const LowerOptions &options,
                                               LowerError *errorClass,
                                               std::vector<ImportedFile> *imported) {
  FailureOr<OwningOpRef<ModuleOp>> result = failure();
  withElaborationStack([&] {
    Program program(context, source, file, options.includes);
    if (errorClass)
      *errorClass = LowerError::Input;
    if (failed(program.load()))
      return;
    Lowerer lowerer(context, program, options);
    result = lowerer.run();
    if (errorClass)
      *errorClass = lowerer.getErrorClass();
    if (imported)
      for (const auto &module : program.getModules().drop_front())
        imported->push_back({module->path, module->source->getText().str(), module->inLibrary});
  });
  return result;
}

std::vector<KernelInfo> tk::listKernels(const ast::File &file) {
  std::vector<KernelInfo> kernels;
  for (const ast::Decl *decl : file.decls) {
    auto *item = dyn_cast<ast::Kernel>(decl);
    if (!item)
      continue;
    KernelInfo info{item->name.text.str(), item->name.range, {}};
    for (const ast::CParam &param : item->cparams) {
      CompileTimeParam entry{param.name.text.str(), "", std::nullopt};
      for (const ast::Ident &kind : param.kinds)
        entry.kind += (entry.kind.empty() ? "" : " | ") + kind.text.str();
      if (param.defaultValue)
        entry.defaultValue = file.getSource().getText(param.defaultValue->range).str();
      info.params.push_back(std::move(entry));
    }
    kernels.push_back(std::move(info));
  }
  return kernels;
}
