//===- LowerAttributes.cpp - @grid and the rest become #tk.contract -----------===//

#include "frontend/Lowerer.h"
#include "frontend/Parser.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

static constexpr StringLiteral kLaunchOptions[] = {"warps", "stages", "ctas", "maxregs"};

static const ast::Attribute *findAttribute(const ast::Kernel &kernel, StringRef name) {
  for (const ast::Attribute &attr : kernel.attributes)
    if (attr.name.text == name)
      return &attr;
  return nullptr;
}

static const ast::Expr *findNamed(const ast::Attribute &attr, StringRef name) {
  for (const ast::NamedArg &arg : attr.namedArgs)
    if (arg.name.text == name)
      return arg.value;
  return nullptr;
}

Attribute Lowerer::valueAttr(const Val &value) {
  switch (value.kind) {
  case Val::Kind::Int:
    return hostInt(value.integer, value.origin);
  case Val::Kind::Bool:
    return builder.getBoolAttr(value.boolean);
  case Val::Kind::Dtype:
    return builder.getStringAttr(dtypeName(value.dtype));
  case Val::Kind::String:
    return builder.getStringAttr(value.text);
  case Val::Kind::Float:
    return builder.getF64FloatAttr(roundTo(*value.real, Dtype::F64).convertToDouble());
  case Val::Kind::List: {
    SmallVector<Attribute> elements;
    for (const Val &element : value.elements)
      if (Attribute attr = valueAttr(element))
        elements.push_back(attr);
    return builder.getArrayAttr(elements);
  }
  default:
    if (!value.isPoison())
      error<diag::NotCompileTime>(value.origin, "the value of an attribute", value.describe());
    return {};
  }
}

//===----------------------------------------------------------------------===//
// @tune
//===----------------------------------------------------------------------===//

std::vector<Lowerer::Config> Lowerer::configurations(const ast::Kernel &item) {
  const ast::Attribute *tune = findAttribute(item, "tune");
  auto *list = tune ? dyn_cast_or_null<ast::List>(findNamed(*tune, "configs")) : nullptr;
  std::vector<Config> result;
  // Far more than anybody measures; a product of lists grows fast.
  constexpr size_t kMaxConfigs = 4096;
  for (const ast::Expr *element : list ? list->elements : ArrayRef<ast::Expr *>()) {
    auto *record = dyn_cast<ast::Record>(element);
    if (!record) {
      error<diag::BadAttribute>(element->range, "tune", "has records as `configs`: {BM: 64}");
      return {};
    }
    std::vector<Config> product = {{}};
    for (const ast::RecordField &field : record->fields) {
      std::vector<Config> next;
      auto *choices = dyn_cast<ast::List>(field.value);
      ArrayRef<ast::Expr *> values = choices ? choices->elements : ArrayRef(field.value);
      for (const Config &sofar : product)
        for (const ast::Expr *value : values) {
          next.push_back(sofar);
          next.back().emplace_back(field.name.text, value);
          if (result.size() + next.size() > kMaxConfigs) {
            error<diag::BadAttribute>(element->range, "tune",
                                      "has more than " + std::to_string(kMaxConfigs) +
                                          " configurations");
            return {};
          }
        }
      product = std::move(next);
    }
    llvm::append_range(result, product);
  }
  return result;
}

/// Sets `config` to the configuration asked for; a kernel without @tune has none.
bool Lowerer::loadConfiguration(const ast::Kernel &item) {
  config.clear();
  if (!findAttribute(item, "tune"))
    return true;
  unsigned errorsBefore = reporter.numErrors;
  std::vector<Config> all = configurations(item);
  if (reporter.numErrors != errorsBefore)
    return false;
  if (size_t(options.config) < all.size() && options.config >= 0) {
    config = all[options.config];
    return true;
  }
  if (all.empty() && options.config == 0)
    return true;
  reporter.reportCommand<diag::NoConfiguration>(item.name.text, all.size(), options.config)
      .help("they are numbered from 0");
  return false;
}

void Lowerer::readTune(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList tune;
  for (const ast::NamedArg &arg : attr.namedArgs) {
    StringRef name = arg.name.text;
    if (name == "prune" || name == "bucket")
      notBuilt(arg.range, "`" + name + "=` of @tune");
    else if (name == "on_miss")
      tune.set(name, valueAttr(eval(arg.value)));
    else if (name != "key" && name != "configs")
      error<diag::UnknownArgument>(arg.range, "@tune", name)
          .help("@tune takes key, configs, on_miss");
  }
  SmallVector<Attribute> keys, configs;
  if (auto *list = dyn_cast_or_null<ast::List>(findNamed(attr, "key")))
    for (const ast::Expr *expr : list->elements)
      if (Attribute key = hostExpr(expr))
        keys.push_back(key);
  for (const Config &entry : configurations(*kernel.decl)) {
    NamedAttrList values;
    for (auto [name, expr] : entry) {
      bool known = kernel.compileTime.contains(name) || llvm::is_contained(kLaunchOptions, name);
      if (!known)
        error<diag::BadAttribute>(expr->range, "tune",
                                  "sets `" + name.str() + "`, which is no compile-time parameter");
      else if (Attribute value = valueAttr(eval(expr)))
        values.set(name, value);
    }
    configs.push_back(values.getDictionary(&context));
  }
  tune.set("key", builder.getArrayAttr(keys));
  tune.set("configs", builder.getArrayAttr(configs));
  fields.set("tune", tune.getDictionary(&context));
}

void Lowerer::readInstances(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList instances;
  for (const ast::NamedArg &arg : attr.namedArgs) {
    if (arg.name.text == "except") {
      notBuilt(arg.range, "`except=` of @instances");
      continue;
    }
    if (!kernel.compileTime.contains(arg.name.text)) {
      error<diag::BadAttribute>(arg.range, "instances",
                                "names `" + arg.name.text.str() +
                                    "`, which is no compile-time parameter");
      continue;
    }
    Val values = eval(arg.value);
    if (values.kind == Val::Kind::List)
      instances.set(arg.name.text, valueAttr(values));
    else if (!values.isPoison())
      error<diag::BadAttribute>(arg.range, "instances", "takes lists: T=[f16, bf16]");
  }
  fields.set("instances", instances.getDictionary(&context));
}

//===----------------------------------------------------------------------===//
// The other attributes
//===----------------------------------------------------------------------===//

void Lowerer::readGrid(const ast::Attribute &attr, NamedAttrList &fields) {
  if (attr.args.empty() || attr.args.size() > 3 || !attr.namedArgs.empty()) {
    error<diag::BadAttribute>(attr.range, "grid",
                              "has 1 to 3 axes, got " + std::to_string(attr.args.size()));
    return;
  }
  SmallVector<Attribute> axes;
  for (const ast::Expr *expr : attr.args)
    if (Attribute axis = hostExpr(expr))
      axes.push_back(axis);
  kernel.gridRank = attr.args.size();
  axes.resize(3, builder.getI64IntegerAttr(1));
  fields.set("grid", builder.getArrayAttr(axes));
}

ArrayAttr Lowerer::readRequire(const ast::Attribute &attr, ArrayRef<ast::Expr *> exprs) {
  SmallVector<Attribute> entries;
  for (const ast::Expr *expr : exprs) {
    Attribute condition = hostExpr(expr);
    if (!condition)
      continue;
    std::string text = source.getText(expr->range).str();
    if (auto number = dyn_cast<IntegerAttr>(condition)) {
      // A fact of @variants that is known chooses nothing.
      if (number.getInt() == 0 && attr.name.text == "require")
        error<diag::RequireFalse>(expr->range, text, kernel.decl->name.text);
      continue;
    }
    entries.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("expr", condition),
                                   builder.getNamedAttr("text", builder.getStringAttr(text))}));
  }
  return builder.getArrayAttr(entries);
}

/// What a launch option may be; the limits are CUDA's and HIP's common ones.
static bool validOption(StringRef name, Int128 value) {
  bool power = value > 0 && (value & (value - 1)) == 0;
  if (name == "warps")
    return power && value <= 32;
  if (name == "ctas")
    return power && value <= 16;
  return value >= 1 && value <= (name == "stages" ? 16 : 255);
}

static StringRef optionText(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("warps", "a power of two from 1 to 32")
      .Case("ctas", "a power of two from 1 to 16")
      .Case("stages", "from 1 to 16")
      .Default("from 1 to 255");
}

/// Command line over configuration over @options over the default.
void Lowerer::readOptions(const ast::Attribute *attr, NamedAttrList &fields) {
  NamedAttrList result;
  result.set("warps", builder.getI64IntegerAttr(4));
  auto setFrom = [&](StringRef name, const ast::Expr *expr) {
    std::optional<Int128> value = evalInt(expr, ("the option `" + name + "`").str());
    if (value && !validOption(name, *value))
      error<diag::ValueOutside>(expr->range, "`" + name.str() + "`", optionText(name),
                                toString(*value));
    else if (value)
      result.set(name, builder.getI64IntegerAttr(int64_t(*value)));
  };
  for (const ast::NamedArg &arg : attr ? attr->namedArgs : ArrayRef<ast::NamedArg>()) {
    if (llvm::is_contained(kLaunchOptions, arg.name.text))
      setFrom(arg.name.text, arg.value);
    else
      error<diag::UnknownArgument>(arg.range, "@options", arg.name.text)
          .help("@options takes warps, stages, ctas, maxregs");
  }
  if (attr && !attr->args.empty())
    error<diag::BadAttribute>(attr->range, "options", "takes named arguments: warps=8");
  for (auto [name, expr] : config)
    if (llvm::is_contained(kLaunchOptions, name))
      setFrom(name, expr);
  const std::optional<int> given[] = {options.warps, options.stages, options.ctas, options.maxregs};
  for (auto [name, value] : llvm::zip(kLaunchOptions, given)) {
    if (value && !validOption(name, *value))
      reporter.reportCommand<diag::ValueOutside>("--" + name.str(), optionText(name),
                                                 std::to_string(*value));
    else if (value)
      result.set(name, builder.getI64IntegerAttr(*value));
  }
  fields.set("options", result.getDictionary(&context));
}

void Lowerer::readNumerics(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList numerics;
  for (const ast::NamedArg &arg : attr.namedArgs) {
    Val value = eval(arg.value);
    if (arg.name.text != "contract" && arg.name.text != "strict")
      error<diag::UnknownArgument>(arg.range, "@numerics", arg.name.text)
          .help("@numerics takes contract and strict, `true` or `false`");
    else if (value.isBool())
      numerics.set(arg.name.text, builder.getBoolAttr(value.boolean));
    else if (!value.isPoison())
      error<diag::BadAttribute>(arg.range, "numerics", "takes `true` or `false`");
  }
  fields.set("numerics", numerics.getDictionary(&context));
}

/// Whether the kernel has every name of an assumption.
bool Lowerer::knowsNames(const ast::Expr *expr) {
  NameUse use;
  collectNames(expr, use);
  return llvm::all_of(use.mentioned, [&](const auto &entry) {
    StringRef name = entry.first();
    return kernel.hostNames.contains(name) || kernel.scalars.contains(name) ||
           frame->scopes.find(name) || decls.contains(name) || findBuiltin(name) ||
           llvm::any_of(kernel.tensors,
                        [&](const auto &tensor) { return tensor->decl->name.text == name; });
  });
}

/// --assume: preconditions from the command line, for the kernels that have the names.
void Lowerer::readAssumptions(NamedAttrList &fields) {
  SmallVector<Attribute> require(cast<ArrayAttr>(fields.get("require")).getValue());
  for (auto [i, text] : llvm::enumerate(options.assumptions)) {
    SourceFile assumption("<--assume>", text);
    FailureOr<ParsedExpr> parsed = parseExpression(context, assumption);
    if (failed(parsed)) {
      ++reporter.numErrors;
      reporter.errorClass = LowerError::CommandLine;
      continue;
    }
    if (!oneKernel && !knowsNames(parsed->expr))
      continue;
    usedAssumptions.insert(i);
    Reporter::InSource place(reporter, assumption);
    unsigned errorsBefore = reporter.numErrors;
    Attribute condition = hostExpr(parsed->expr);
    if (reporter.numErrors != errorsBefore)
      reporter.errorClass = LowerError::CommandLine;
    if (condition && !isa<IntegerAttr>(condition))
      require.push_back(
          builder.getDictionaryAttr({builder.getNamedAttr("expr", condition),
                                     builder.getNamedAttr("text", builder.getStringAttr(text))}));
  }
  fields.set("require", builder.getArrayAttr(require));
}

void Lowerer::readAttributes(NamedAttrList &fields) {
  llvm::StringMap<SourceRange> seen;
  SmallVector<Attribute> require;
  for (const ast::Attribute &attr : kernel.decl->attributes) {
    StringRef name = attr.name.text;
    auto [it, isNew] = seen.try_emplace(name, attr.range);
    if (!isNew && name != "require") {
      error<diag::BadAttribute>(attr.range, name, "is given twice")
          .note(it->second, "the first one is here");
      continue;
    }
    if (name == "grid")
      readGrid(attr, fields);
    else if (name == "require")
      llvm::append_range(require, readRequire(attr, attr.args));
    else if (name == "numerics")
      readNumerics(attr, fields);
    else if (name == "tune")
      readTune(attr, fields);
    else if (name == "instances")
      readInstances(attr, fields);
    else if (name == "deterministic")
      fields.set(name, builder.getBoolAttr(true));
    else if (name == "variants") {
      auto *list = attr.args.size() == 1 ? dyn_cast<ast::List>(attr.args[0]) : nullptr;
      if (list)
        fields.set(name, readRequire(attr, list->elements));
      else
        error<diag::BadAttribute>(attr.range, name, "takes one list of facts");
    } else if (name == "cooperative")
      notBuilt(attr.range, "`@cooperative`");
    else if (name != "options")
      error<diag::UnknownAttribute>(attr.range, name, "kernel")
          .help("kernels take @grid, @require, @options, @numerics, @tune, @instances, @variants, "
                "@deterministic");
  }
  fields.set("require", builder.getArrayAttr(require));
  readOptions(findAttribute(*kernel.decl, "options"), fields);
  readAssumptions(fields);
  if (!seen.contains("grid"))
    error<diag::MissingGrid>(kernel.decl->name.range, kernel.decl->name.text)
        .help("say how many program instances run: `@grid(cdiv(N, BLOCK))`");
}

//===----------------------------------------------------------------------===//
// The contract
//===----------------------------------------------------------------------===//

DictionaryAttr Lowerer::scalarEntry(const ast::KernelParam &param) {
  std::optional<Dtype> dtype = resolveDtype(cast<ast::NamedType>(param.type)->name);
  if (!dtype)
    return {};
  NamedAttrList entry;
  entry.set("name", builder.getStringAttr(param.name.text));
  entry.set("kind", builder.getStringAttr("scalar"));
  entry.set("dtype", builder.getStringAttr(dtypeName(*dtype)));
  if (param.defaultValue) {
    Val value = eval(param.defaultValue);
    if (value.isPoison())
      return {};
    SourceRange range = param.defaultValue->range;
    if (!value.isConstNumber()) {
      error<diag::NotCompileTime>(range, "the default of `" + param.name.text.str() + "`",
                                  value.describe());
      return {};
    }
    if (!adaptConst(value, *dtype, range, "="))
      return {};
    entry.set("default", numberAttr(value, *dtype));
  }
  return entry.getDictionary(&context);
}

ArrayAttr Lowerer::argEntries() {
  SmallVector<Attribute> entries;
  size_t nextTensor = 0;
  for (const ast::KernelParam &param : kernel.decl->params) {
    if (isa<ast::NamedType>(param.type)) {
      if (DictionaryAttr entry = scalarEntry(param))
        entries.push_back(entry);
      continue;
    }
    TensorParam &tensor = *kernel.tensors[nextTensor++];
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(param.name.text));
    entry.set("kind", builder.getStringAttr(tensor.pointer ? "pointer" : "tensor"));
    entry.set("dtype", builder.getStringAttr(dtypeName(tensor.dtype)));
    entry.set("access", builder.getStringAttr(ast::spelling(param.access)));
    bool table = tensor.indirections != 0; // of addresses
    entry.set("align", builder.getI64IntegerAttr(table ? 8 : dtypeBytes(tensor.dtype)));
    if (table)
      entry.set("indirections", builder.getI64IntegerAttr(tensor.indirections));
    for (const ast::Attribute &attr : param.attributes)
      if (attr.name.text == "zeroed")
        entry.set("zeroed", builder.getBoolAttr(true));
    if (param.defaultValue)
      error<diag::ParameterAccess>(param.defaultValue->range, param.name.text,
                                   "is memory and has no default");
    DictionaryAttr sides;
    if (!tensor.pointer && (sides = tensorEntry(tensor)))
      for (NamedAttribute side : sides)
        entry.set(side.getName(), side.getValue());
    entries.push_back(entry.getDictionary(&context));
  }
  return builder.getArrayAttr(entries);
}

/// Each written parameter with each other one, unless they share an alias class.
ArrayAttr Lowerer::disjointPairs() {
  auto writes = [](const TensorParam &tensor) { return tensor.decl->access != ast::Access::In; };
  SmallVector<Attribute> pairs;
  for (const auto &tensor : kernel.tensors)
    for (const auto &other : kernel.tensors) {
      if (!writes(*tensor) || tensor == other || tensor->aliasClass == other->aliasClass)
        continue;
      if (writes(*other) && other->index > tensor->index)
        continue; // the pair comes with the later one
      pairs.push_back(builder.getStrArrayAttr({tensor->decl->name.text, other->decl->name.text}));
    }
  return builder.getArrayAttr(pairs);
}

ContractAttr Lowerer::buildContract() {
  unsigned errorsBefore = reporter.numErrors;
  NamedAttrList fields, instance;
  fields.set("kernel", builder.getStringAttr(kernel.decl->name.text));
  for (const auto &[name, value] : kernel.compileTime)
    if (Attribute attr = valueAttr(value))
      instance.set(name, attr);
  fields.set("instance", instance.getDictionary(&context));
  fields.set("args", argEntries());
  fields.set("disjoint", disjointPairs());
  readAttributes(fields);
  if (reporter.numErrors != errorsBefore)
    return {};
  return ContractAttr::getChecked(
      [&] { return emit<diag::InternalError>(loc(kernel.decl->range), "bad contract"); }, &context,
      fields.getDictionary(&context));
}
