//===- LowerModule.cpp - names of the file, its modules, the prelude ----------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

/// The declaration that a name means in the file being elaborated.
Lowerer::Declared Lowerer::findDecl(StringRef name) {
  const Module *module = frame->module;
  return {module->decls.lookup(name), module};
}

/// The module that a name means there, or null.
const Module *Lowerer::findModule(StringRef name) {
  auto it = frame->module->imports.find(name);
  return it == frame->module->imports.end() ? nullptr : it->second.module;
}

/// The prelude is parsed when a name is found nowhere else.
const Module *Lowerer::preludeModule() {
  if (prelude)
    return *prelude;
  size_t known = program.getModules().size();
  Module *loaded = program.loadPrelude();
  prelude = loaded;
  if (!loaded) {
    ++reporter.numErrors;
    return nullptr;
  }
  for (const auto &module : program.getModules().drop_front(known))
    declareAll(*module);
  return loaded;
}

void Lowerer::collectDeclared(const Module &module, std::vector<StringRef> &names) {
  for (const auto &entry : module.decls)
    if (!isa<ast::Kernel>(entry.second))
      names.push_back(entry.first());
}

/// `nn.softmax`: a module has its own declarations, not those it imports.
Val Lowerer::moduleMember(const Val &base, const ast::Member *member) {
  StringRef name = member->name.text;
  if (const ast::Decl *decl = base.module->decls.lookup(name))
    return declValue({decl, base.module}, member->range);
  std::vector<StringRef> names;
  collectDeclared(*base.module, names);
  llvm::sort(names);
  Report report =
      error<diag::UnknownMember>(member->name.range, "the module `" + base.text + "`", name);
  const Module *prelude = preludeModule();
  if (prelude && prelude->decls.contains(name))
    report.help("`" + name + "` is in the prelude, in sight without a prefix").fix(member->range, name);
  else if (findBuiltin(name))
    report.help("`" + name + "` is of the language, in sight without a prefix").fix(member->range, name);
  else if (StringRef near = nearestName(name, names); !near.empty())
    report.suggest(member->name.range, near);
  else
    report.help("`" + base.module->path + "` declares " + llvm::join(names, ", "));
  return Val::poison();
}
