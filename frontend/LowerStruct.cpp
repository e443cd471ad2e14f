//===- LowerStruct.cpp - structures: construction, members, methods ----------------===//
//
// The name of a struct is a function without a body: its parameters are the fields, and what a call
// of it has bound becomes the structure. So fields are matched, converted and inferred from like
// parameters are.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Declaration
//===----------------------------------------------------------------------===//

/// Every name in a struct means one thing, and a method takes the structure first.
void Lowerer::checkStruct(const ast::Struct *decl) {
  llvm::StringMap<SourceRange> seen;
  auto declare = [&](const ast::Ident &name) {
    auto [it, isNew] = seen.try_emplace(name.text, name.range);
    if (!isNew)
      error<diag::DuplicateName>(name.range, name.text)
          .note(it->second, "the first declaration is here");
  };
  for (const ast::CParam &param : decl->cparams)
    declare(param.name);
  for (const ast::StructField &field : decl->fields)
    declare(field.name);
  for (const ast::Function *method : decl->methods) {
    declare(method->name);
    if (method->params.empty() || method->params.front().name.text != "self")
      error<diag::MethodWithoutSelf>(method->name.range, method->name.text, decl->name.text)
          .help("write `fn " + method->name.text + "(self, ...)`, or a function outside");
  }
}

Val Lowerer::structName(const ast::Struct *decl, const Module *module) {
  Constructor &made = constructors[decl];
  if (!made.function) {
    for (const ast::StructField &field : decl->fields) {
      made.params.emplace_back();
      made.params.back().range = field.range;
      made.params.back().name = field.name;
      made.params.back().type = field.type;
    }
    made.function = std::make_unique<ast::Function>();
    made.function->range = decl->range;
    made.function->name = decl->name;
    made.function->cparams = decl->cparams;
    made.function->params = made.params;
  }
  Val val;
  val.kind = Val::Kind::Function;
  val.function = made.function.get();
  val.structure = decl;
  val.module = module;
  return val;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// In the frame of a call of the struct's name, with the fields bound.
Val Lowerer::makeStruct(const FunctionCall &call) {
  auto type = std::make_shared<StructType>();
  type->decl = call.callee.structure;
  type->module = call.callee.module;
  for (const ast::CParam &param : type->decl->cparams)
    type->args.push_back(frame->scopes.find(param.name.text)->val);
  Val result;
  result.kind = Val::Kind::Struct;
  for (const ast::StructField &field : type->decl->fields)
    result.elements.push_back(frame->scopes.find(field.name.text)->val);
  result.record = std::move(type);
  return checkElements(result, call.range) ? result : Val::poison();
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// The number of a field; an error says which members there are.
std::optional<size_t> Lowerer::fieldIndex(const Val &value, const ast::Ident &name) {
  const ast::Struct *decl = value.record->decl;
  std::vector<StringRef> fields;
  for (auto [i, field] : llvm::enumerate(decl->fields)) {
    if (field.name.text == name.text)
      return i;
    fields.push_back(field.name.text);
  }
  Report report = error<diag::UnknownMember>(name.range, value.describe(), name.text);
  report.note(decl->name.range, "`" + decl->name.text + "` is declared here");
  if (findMethod(*decl, name.text))
    report.help("it is called: `." + name.text + "(...)`");
  else if (StringRef near = nearestName(name.text, fields); !near.empty())
    report.suggest(name.range, near);
  else
    report.help("its fields are " + llvm::join(fields, ", "));
  return std::nullopt;
}

const ast::Function *Lowerer::findMethod(const ast::Struct &decl, StringRef name) {
  for (const ast::Function *method : decl.methods)
    if (method->name.text == name)
      return method;
  return nullptr;
}

/// `s.update(x)`: the method sees the compile-time parameters of the struct.
Val Lowerer::callStructMethod(const Val &self, const ast::Member *member, const ast::Call *call,
                              const ast::Subscript *instance) {
  const ast::Function *method = findMethod(*self.record->decl, member->name.text);
  if (!method) {
    std::optional<size_t> field = fieldIndex(self, member->name);
    if (field && self.elements[*field].kind == Val::Kind::Function)
      return callEvaluated(self.elements[*field], call, instance);
    if (field)
      error<diag::NotCallable>(member->range, self.elements[*field].describe());
    return Val::poison();
  }
  Val callee;
  callee.kind = Val::Kind::Function;
  callee.function = method;
  callee.record = self.record;
  callee.module = self.record->module;
  FunctionCall made{callee, call->range, evalArguments(call, method, /*first=*/1)};
  if (instance)
    made.callee = instantiate(callee, instance);
  if (made.callee.isPoison())
    return made.callee;
  made.args.insert(made.args.begin(), {self, member->base->range, {}});
  return callFunction(made);
}

//===----------------------------------------------------------------------===//
// As types
//===----------------------------------------------------------------------===//

/// The struct that a name in a type stands for, or null.
const ast::Struct *Lowerer::findStruct(const ast::Ident &name) {
  if (Binding *binding = frame->scopes.find(name.text))
    return binding->val.kind == Val::Kind::Function ? binding->val.structure : nullptr;
  auto [prefix, member] = name.text.rsplit('.');
  if (member.empty())
    return dyn_cast_or_null<ast::Struct>(findDecl(name.text).decl);
  const Module *module = findModule(prefix);
  return module ? dyn_cast_or_null<ast::Struct>(module->decls.lookup(member)) : nullptr;
}

/// `State` takes any instance of it, `State[f32]` this one.
Val Lowerer::convertToStruct(const Val &value, const ast::Struct *decl, const ast::Type *type,
                             SourceRange range, StringRef what) {
  std::string text = source.getText(type->range).str();
  bool same = value.kind == Val::Kind::Struct && value.record->decl == decl;
  auto *bracket = dyn_cast<ast::BracketType>(type);
  if (same && bracket && bracket->args.size() > decl->cparams.size()) {
    error<diag::TooManyArguments>(type->range, decl->name.text,
                                  countText(0, decl->cparams.size()) + " in brackets",
                                  std::to_string(bracket->args.size()));
    return Val::poison();
  }
  for (size_t i = 0; same && bracket && i < bracket->args.size(); ++i) {
    Val wanted = evalCompileTime(bracket->args[i]);
    if (wanted.isPoison())
      return wanted;
    same = sameValue(wanted, value.record->args[i]);
  }
  if (same)
    return value;
  error<diag::TypeMismatch>(range, what, "of type " + text, value.describe())
      .note(type->range, "the type is written here");
  return Val::poison();
}
