//===- LowerParams.cpp - the parameters of a kernel -----------------------------------===//
//
// They are declared first, so that the contract can be read, and bound when the kernel has a block.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

std::optional<Dtype> Lowerer::resolveDtype(const ast::Ident &name) {
  std::optional<Dtype> dtype = dtypeByName(name.text);
  if (Binding *binding = frame->scopes.find(name.text)) {
    if (binding->val.isPoison())
      return std::nullopt;
    if (binding->val.kind == Val::Kind::Dtype)
      dtype = binding->val.dtype;
  }
  if (!dtype) {
    // `tl.float32` is written like `float32`.
    auto [prefix, last] = name.text.rsplit('.');
    bool foreign = !last.empty() && isForeignPrefix(prefix.split('.').first);
    if (const Foreign *known = foreignName(foreign ? last : name.text)) {
      refuseForeign(*known, name.range);
      return std::nullopt;
    }
    std::vector<StringRef> names = allDtypeNames().vec();
    frame->scopes.collectNames(names);
    error<diag::UnknownType>(name.range, name.text)
        .suggest(name.range, nearestName(foreign ? last : name.text, names));
    return std::nullopt;
  }
  return dtype;
}

bool Lowerer::setAliasClass(TensorParam &tensor, const ast::KernelParam &param) {
  tensor.aliasClass = tensor.index;
  for (const ast::Attribute &attr : param.attributes) {
    StringRef name = attr.name.text;
    bool readsWhatIsThere =
        param.access == ast::Access::InOut || param.access == ast::Access::Scratch;
    if (name == "zeroed" && readsWhatIsThere && attr.args.empty() && attr.namedArgs.empty())
      continue;
    if (name == "zeroed") {
      error<diag::BadAttribute>(attr.range, name,
                                "goes on an `inout` or `scratch` parameter, without arguments");
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
  tensor->optional = param.optional;
  bool good = setAliasClass(*tensor, param);
  kernel.tensors.push_back(std::move(tensor));
  return good;
}

bool Lowerer::declarePointer(const ast::KernelParam &param, unsigned index) {
  auto *type = cast<ast::PointerType>(param.type);
  std::optional<RunType> resolved = resolvePointer(type);
  if (!resolved)
    return false;
  if (dtypeBits(resolved->dtype) < 8 && resolved->dtype != Dtype::I1) {
    error<diag::PackedPointer>(type->range, dtypeName(resolved->dtype))
        .help("take a tensor: `" + param.name.text + ": " + dtypeName(resolved->dtype) + "[N]`");
    return false;
  }
  auto pointer = std::make_unique<TensorParam>();
  pointer->decl = &param;
  pointer->index = index;
  pointer->pointer = true;
  pointer->dtype = resolved->dtype;
  pointer->indirections = resolved->indirections;
  pointer->optional = param.optional;
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
  std::optional<Dtype> dtype = resolveDtype(type->name);
  if (!dtype || !param.attributes.empty())
    return false;
  // What a parameter buffer holds; the narrow types are for memory.
  bool narrow = dtypeBits(*dtype) < 8 ? *dtype != Dtype::I1 : isFloat(*dtype) && dtypeBits(*dtype) < 16;
  if (narrow)
    error<diag::ParameterAccess>(type->range, param.name.text,
                                 "is a scalar of type " + dtypeName(*dtype).str() +
                                     ", which only tensors have")
        .help("scalars are i1, i8 to i64, u8 to u64, f16, bf16, f32 and f64");
  return !narrow;
}

/// `?` and `scratch` stand only where they mean something.
bool Lowerer::checkWords(const ast::KernelParam &param) {
  bool scratch = param.access == ast::Access::Scratch;
  auto *bracket = dyn_cast<ast::BracketType>(param.type);
  bool memory = bracket || isa<ast::PointerType>(param.type);
  StringRef wrong, advice;
  if (memory && param.access == ast::Access::None)
    wrong = "needs `in`, `out` or `inout`";
  else if (param.optional && !memory) {
    wrong = "is a scalar and cannot be optional";
    advice = "give it a default: `eps: f32 = 0.0`";
  } else if (param.optional && scratch)
    wrong = "is workspace, which is always there";
  else if (scratch && !bracket) {
    wrong = "is workspace and needs extents, which say how much there must be";
    advice = "write a tensor: `scratch part: f32[num_programs(0), 64]`";
  } else if (scratch && !bracket->strides.empty())
    wrong = "is workspace, which lies dense: its strides follow";
  if (wrong.empty())
    return true;
  Report report = error<diag::ParameterAccess>(param.name.range, param.name.text, wrong);
  if (!advice.empty())
    report.help(advice);
  return false;
}

/// Whether a name is that of a tensor or pointer parameter.
bool Lowerer::isParameter(StringRef name) {
  return llvm::any_of(kernel.tensors,
                      [&](const auto &tensor) { return tensor->decl->name.text == name; });
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
    if (!checkWords(param))
      good = false;
    else if (isa<ast::BracketType>(param.type))
      good &= declareTensor(param, index);
    else if (isa<ast::PointerType>(param.type))
      good &= declarePointer(param, index);
    else
      good &= declareScalar(param, index);
  }
  if (!good)
    return false;
  // What a launch may lack binds a name only when nothing else does; workspace binds none.
  unsigned errorsBefore = reporter.numErrors;
  for (bool optional : {false, true})
    for (auto &tensor : kernel.tensors)
      if (!tensor->pointer && tensor->optional == optional &&
          tensor->decl->access != ast::Access::Scratch)
        bindExtents(*cast<ast::BracketType>(tensor->decl->type), *tensor);
  return reporter.numErrors == errorsBefore;
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
