//===- LowerKernel.cpp - one instance of one kernel --------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Compile-time parameters
//===----------------------------------------------------------------------===//

static std::string kindText(const ast::CParam &param) {
  std::string text;
  for (const ast::Ident &kind : param.kinds)
    text += (text.empty() ? "" : " | ") + kind.text.str();
  return text;
}

/// Whether a value has one of a parameter's kinds.
static bool hasKind(const ast::CParam &param, const Val &value) {
  return llvm::any_of(param.kinds, [&](const ast::Ident &kind) {
    if (kind.text == "int")
      return value.isInt();
    if (kind.text == "bool")
      return value.isBool();
    if (kind.text == "dtype")
      return value.kind == Val::Kind::Dtype;
    if (kind.text == "string")
      return value.kind == Val::Kind::String;
    return value.kind == Val::Kind::Dtype && dtypeName(value.dtype) == kind.text;
  });
}

bool Lowerer::checkKind(const ast::CParam &param, const Val &value, SourceRange at,
                        bool fromCommand) {
  for (const ast::Ident &kind : param.kinds)
    if (!isKindName(kind.text) &&
        !dtypeByName(kind.text)) {
      error<diag::UnknownType>(kind.range, kind.text)
          .help("the kinds are int, bool, dtype, string, and dtypes: `f16 | bf16`");
      return false;
    }
  if (value.isPoison())
    return false;
  if (hasKind(param, value))
    return true;
  std::string kinds = kindText(param);
  if (fromCommand)
    reporter.reportCommand<diag::BadValue>(param.name.text, kinds, value.str());
  else
    error<diag::BadValue>(at, param.name.text, kinds, value.str());
  return false;
}

/// The text of a -D as a value; a word that is nothing else is a string.
static Val parseDefine(StringRef text) {
  if (text == "true" || text == "false")
    return Val::ofBool(text == "true");
  if (std::optional<Dtype> dtype = dtypeByName(text))
    return Val::ofDtype(*dtype);
  int64_t number = 0;
  if (!text.getAsInteger(0, number))
    return Val::ofInt(number);
  return Val::ofString(text);
}

std::optional<Val> Lowerer::compileTimeValue(const ast::CParam &param, const ast::Kernel &item) {
  for (const auto &define : llvm::reverse(options.defines)) {
    if (define.first != param.name.text)
      continue;
    Val value = parseDefine(define.second);
    // `-D NAME=f16` of a string parameter is the text.
    if (llvm::any_of(param.kinds, [](const ast::Ident &kind) { return kind.text == "string"; }))
      value = Val::ofString(define.second);
    return checkKind(param, value, param.name.range, /*fromCommand=*/true) ? value : Val::poison();
  }
  const ast::Expr *expr = param.defaultValue;
  for (const auto &entry : config)
    if (entry.first == param.name.text)
      expr = entry.second;
  if (!expr)
    return std::nullopt;
  Val value = evalCompileTime(expr);
  if (!value.isPoison() && !value.isCompileTime()) {
    error<diag::NotCompileTime>(expr->range, "a compile-time parameter", value.describe());
    return Val::poison();
  }
  return checkKind(param, value, expr->range, false) ? value : Val::poison();
}

bool Lowerer::bindCompileTime(const ast::Kernel &item, bool asked) {
  bool good = true;
  for (const ast::CParam &param : item.cparams) {
    if (Binding *other = frame->scopes.findInBlock(param.name.text)) {
      error<diag::DuplicateName>(param.name.range, param.name.text)
          .note(other->declared, "the first declaration is here");
      good = false;
      continue;
    }
    std::optional<Val> value = compileTimeValue(param, item);
    if (!value && asked) {
      error<diag::MissingValue>(param.name.range, item.name.text, param.name.text)
          .help("give it by `-D " + param.name.text + "=...`, or a default in the file");
      reporter.errorClass = LowerError::CommandLine;
    } else if (!value)
      error<diag::SkippedKernel>(item.name.range, item.name.text, param.name.text)
          .help("ask for it by `-k " + item.name.text + " -D " + param.name.text + "=...`");
    good &= value && !value->isPoison();
    Val bound = value.value_or(Val::poison());
    bound.origin = param.name.range;
    kernel.compileTime[param.name.text] = bound;
    frame->scopes.bind(param.name.text, {bound, false, param.name.range, std::nullopt});
    if (!value)
      return false;
  }
  return good;
}

std::string Lowerer::symbolName() {
  std::string name = kernel.decl->name.text.str();
  bool first = true;
  for (const auto &[key, value] : kernel.compileTime) {
    name += first ? "__" : "_";
    first = false;
    if (value.kind == Val::Kind::Dtype) {
      name += dtypeName(value.dtype);
      continue;
    }
    name += key.str();
    if (value.isBool())
      name += value.boolean ? "1" : "0";
    else if (value.isInt())
      name += (value.integer < 0 ? "m" : "") +
              toString(value.integer < 0 ? -value.integer : value.integer);
    else
      for (char c : value.text)
        name += llvm::isAlnum(c) ? c : '_';
  }
  // The loader takes 128 characters; digests and suffixes come later.
  constexpr size_t kMaxSymbol = 96;
  name.resize(std::min(name.size(), kMaxSymbol));
  std::string unique = name;
  for (unsigned i = 2; !symbols.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::optional<Dtype> Lowerer::resolveDtype(const ast::Ident &name) {
  std::optional<Dtype> dtype = dtypeByName(name.text);
  if (Binding *binding = frame->scopes.find(name.text)) {
    if (binding->val.isPoison())
      return std::nullopt;
    if (binding->val.kind == Val::Kind::Dtype)
      dtype = binding->val.dtype;
  }
  if (!dtype) {
    std::vector<StringRef> names = allDtypeNames().vec();
    frame->scopes.collectNames(names);
    Report report = error<diag::UnknownType>(name.range, name.text);
    if (StringRef near = nearestName(name.text, names); !near.empty())
      report.help("did you mean `" + near + "`?");
    return std::nullopt;
  }
  if (!isBuilt(*dtype)) {
    notBuilt(name.range, "the dtype `" + dtypeName(*dtype) + "`");
    return std::nullopt;
  }
  return dtype;
}

bool Lowerer::setAliasClass(TensorParam &tensor, const ast::KernelParam &param) {
  tensor.aliasClass = tensor.index;
  for (const ast::Attribute &attr : param.attributes) {
    StringRef name = attr.name.text;
    if (name == "zeroed" && param.access == ast::Access::InOut && attr.args.empty())
      continue;
    if (name == "zeroed") {
      error<diag::BadAttribute>(attr.range, name,
                                "goes on an `inout` parameter, without arguments");
      return false;
    }
    if (name != "alias" && name != "overlap") {
      error<diag::UnknownAttribute>(attr.range, name, "parameter")
          .help("parameters take @zeroed, @alias(x), @overlap(x)");
      return false;
    }
    auto *other = attr.args.size() == 1 ? dyn_cast<ast::Name>(attr.args[0]) : nullptr;
    auto it = other ? llvm::find_if(kernel.tensors,
                                    [&](const auto &earlier) {
                                      return earlier->decl->name.text == other->text;
                                    })
                    : kernel.tensors.end();
    if (it == kernel.tensors.end()) {
      error<diag::BadAttribute>(attr.range, name, "names one earlier tensor or pointer parameter");
      return false;
    }
    tensor.aliasClass = (*it)->aliasClass;
  }
  return true;
}

bool Lowerer::declareTensor(const ast::KernelParam &param, unsigned index) {
  auto *type = cast<ast::BracketType>(param.type);
  if (type->name.text == "tile") {
    error<diag::ParameterAccess>(type->range, param.name.text, "is a tile: a kernel takes tensors")
        .help("write the element type: `f32[M, N]`");
    return false;
  }
  std::optional<Dtype> dtype = resolveDtype(type->name);
  if (!dtype)
    return false;
  // The loader's limit (docs/metadata.md).
  constexpr size_t kMaxRank = 8;
  if (type->args.size() > kMaxRank) {
    error<diag::ValueOutside>(type->range, "the rank of a tensor", "0 to 8",
                              std::to_string(type->args.size()));
    return false;
  }
  auto tensor = std::make_unique<TensorParam>();
  tensor->decl = &param;
  tensor->index = index;
  tensor->dtype = *dtype;
  bool good = setAliasClass(*tensor, param);
  kernel.tensors.push_back(std::move(tensor));
  return good;
}

bool Lowerer::declarePointer(const ast::KernelParam &param, unsigned index) {
  auto *type = cast<ast::PointerType>(param.type);
  std::optional<RunType> resolved = resolvePointer(type);
  if (!resolved)
    return false;
  auto pointer = std::make_unique<TensorParam>();
  pointer->decl = &param;
  pointer->index = index;
  pointer->pointer = true;
  pointer->dtype = resolved->dtype;
  pointer->indirections = resolved->indirections;
  bool good = setAliasClass(*pointer, param);
  kernel.tensors.push_back(std::move(pointer));
  return good;
}

bool Lowerer::declareScalar(const ast::KernelParam &param, unsigned index) {
  auto *type = dyn_cast<ast::NamedType>(param.type);
  if (!type) {
    error<diag::ParameterAccess>(param.type->range, param.name.text,
                                 "must be a scalar, a tensor or a pointer");
    return false;
  }
  if (param.access != ast::Access::None) {
    error<diag::ParameterAccess>(param.accessRange, param.name.text,
                                 "is a scalar and takes no `" + ast::spelling(param.access).str() +
                                     "`")
        .help("a tensor is written `" + type->name.text + "[N]`, a pointer `*" + type->name.text +
              "`");
    return false;
  }
  for (const ast::Attribute &attr : param.attributes)
    error<diag::UnknownAttribute>(attr.range, attr.name.text, "scalar parameter");
  return param.attributes.empty() && resolveDtype(type->name);
}

bool Lowerer::declareParams() {
  bool good = true;
  llvm::StringMap<SourceRange> seen;
  for (const ast::CParam &param : kernel.decl->cparams)
    seen[param.name.text] = param.name.range;
  for (const ast::KernelParam &param : kernel.decl->params) {
    auto [it, isNew] = seen.try_emplace(param.name.text, param.name.range);
    if (!isNew) {
      error<diag::DuplicateName>(param.name.range, param.name.text)
          .note(it->second, "the first declaration is here");
      good = false;
    }
    if (isa<ast::NamedType>(param.type))
      kernel.scalars[param.name.text] = &param;
  }
  for (auto [index, param] : llvm::enumerate(kernel.decl->params)) {
    bool memory = !isa<ast::NamedType, ast::TupleType>(param.type);
    if (param.optional || param.access == ast::Access::Scratch) {
      notBuilt(param.range, param.optional ? "optional parameters (`?`)" : "`scratch` parameters");
      good = false;
    } else if (memory && param.access == ast::Access::None) {
      error<diag::ParameterAccess>(param.name.range, param.name.text,
                                   "needs `in`, `out` or `inout`");
      good = false;
    } else if (isa<ast::BracketType>(param.type))
      good &= declareTensor(param, index);
    else if (isa<ast::PointerType>(param.type))
      good &= declarePointer(param, index);
    else
      good &= declareScalar(param, index);
  }
  if (!good)
    return false;
  for (auto &tensor : kernel.tensors)
    if (!tensor->pointer)
      bindExtents(*cast<ast::BracketType>(tensor->decl->type), *tensor);
  return true;
}

/// Gives the kernel's block its arguments and the names their meaning.
void Lowerer::bindParams(Block &entry) {
  size_t nextTensor = 0;
  for (auto [index, param] : llvm::enumerate(kernel.decl->params)) {
    Val val;
    if (isa<ast::NamedType>(param.type)) {
      Dtype dtype = *resolveDtype(cast<ast::NamedType>(param.type)->name);
      Value argument = entry.addArgument(toMlir(&context, dtype), loc(param.name.range));
      val = Val::run(argument, {dtype, false, 0, {}});
    } else {
      TensorParam &tensor = *kernel.tensors[nextTensor++];
      Type element = toMlir(&context, tensor.dtype);
      auto *bracket = dyn_cast<ast::BracketType>(param.type);
      RunType pointer{tensor.dtype, true, unsigned(index), {}, tensor.indirections};
      Type type =
          tensor.pointer
              ? pointerType(pointer, tensor.aliasClass)
              : Type(ViewType::get(&context, element, bracket->args.size(), tensor.aliasClass));
      tensor.value = entry.addArgument(type, loc(param.name.range));
      if (tensor.pointer)
        val = Val::run(tensor.value, pointer);
      else {
        val.kind = Val::Kind::Tensor;
        val.tensor = &tensor;
      }
    }
    val.origin = param.name.range;
    frame->scopes.bind(param.name.text, {val, false, param.name.range, std::nullopt});
  }
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

static NameUse namesOfHead(const ast::Kernel &kernel, bool withTypes) {
  NameUse use;
  for (const ast::Attribute &attr : kernel.attributes) {
    for (const ast::Expr *arg : attr.args)
      collectNames(arg, use);
    for (const ast::NamedArg &arg : attr.namedArgs)
      collectNames(arg.value, use);
  }
  for (const ast::KernelParam &param : kernel.params)
    if (withTypes)
      collectNames(param.type, use);
  for (const ast::CParam &param : kernel.cparams)
    if (param.defaultValue)
      collectNames(param.defaultValue, use);
  return use;
}

void Lowerer::warnAboutParams() {
  NameUse body, attributes = namesOfHead(*kernel.decl, false),
                head = namesOfHead(*kernel.decl, true);
  collectNames(kernel.decl->body, body);
  auto mentioned = [&](StringRef name, const NameUse &head) {
    return body.mentioned.contains(name) || head.mentioned.contains(name);
  };
  for (const ast::CParam &param : kernel.decl->cparams)
    if (!mentioned(param.name.text, head))
      error<diag::UnusedParameter>(param.name.range, param.name.text);
  for (const ast::KernelParam &param : kernel.decl->params) {
    StringRef name = param.name.text;
    bool writes = param.access == ast::Access::Out || param.access == ast::Access::InOut;
    if (writes && !kernel.written.contains(name) && !kernel.untaken.contains(name))
      error<diag::NeverWritten>(param.name.range, kernel.decl->name.text,
                                ast::spelling(param.access), name);
    else if (!mentioned(name, isa<ast::NamedType>(param.type) ? head : attributes))
      error<diag::UnusedParameter>(param.name.range, name);
  }
  for (const auto &[name, host] : kernel.hostNames)
    if (host.uses == 1 && !host.isStride && !mentioned(name, attributes))
      error<diag::UnusedExtent>(host.declared, name).help("write `_` for an extent of any size");
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void Lowerer::lowerKernel(const ast::Kernel &item, bool asked) {
  Frame kernelFrame;
  kernel = KernelState();
  kernel.decl = &item;
  kernelFrame.seesExtents = true;
  frame = &kernelFrame;
  steps = walkDepth = regionDepth = callDepth = 0;
  outOfFuel = false;
  builder.clearInsertionPoint();
  unsigned errorsBefore = reporter.numErrors;
  ContractAttr contract;
  inScratch([&] {
    if (loadConfiguration(item) && bindCompileTime(item, asked) && declareParams())
      contract = buildContract();
  });
  if (!contract || reporter.numErrors != errorsBefore)
    return;

  builder.setInsertionPointToEnd(module->getBody());
  OperationState state(loc(item.name.range), KernelOp::getOperationName());
  Region *body = state.addRegion();
  Block *entry = &body->emplaceBlock();
  bindParams(*entry);
  state.addAttribute("sym_name", builder.getStringAttr(symbolName()));
  state.addAttribute("function_type",
                     TypeAttr::get(builder.getFunctionType(entry->getArgumentTypes(), {})));
  state.addAttribute("contract", contract);
  kernel.op = cast<KernelOp>(builder.create(state));
  builder.setInsertionPointToStart(&kernel.op.getBody().front());
  kernelFrame.scopes.push();
  execStmts(item.body->stmts);
  builder.setInsertionPointToEnd(&kernel.op.getBody().front());
  ReturnOp::create(builder, loc({item.body->range.end - 1, item.body->range.end}));
  if (reporter.numErrors == errorsBefore)
    warnAboutParams();
  frame = nullptr;
}
