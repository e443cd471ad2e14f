//===- LowerAttributes.cpp - @grid and the rest become #tk.contract -----------===//

#include "frontend/Lowerer.h"
#include "frontend/Parser.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

const ast::Attribute *Lowerer::findAttribute(const ast::Kernel &kernel, StringRef name) {
  for (const ast::Attribute &attr : kernel.attributes)
    if (attr.name.text == name)
      return &attr;
  return nullptr;
}

const ast::Expr *Lowerer::findNamed(const ast::Attribute &attr, StringRef name) {
  for (const ast::NamedArg &arg : attr.namedArgs)
    if (arg.name.text == name)
      return arg.value;
  return nullptr;
}

Attribute Lowerer::valueAttr(const Val &value) {
  switch (value.kind) {
  case Val::Kind::Int:
    // Beyond 64 bits as text, which is how a caller names instances.
    if (!fits(value.integer, Dtype::I64))
      return builder.getStringAttr(toString(value.integer));
    return builder.getI64IntegerAttr(int64_t(value.integer));
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

/// A condition of the host with its text; nothing for one that is known, whose value `known` gets.
DictionaryAttr Lowerer::readCondition(const ast::Expr *expr, std::optional<bool> &known) {
  Attribute condition = hostExpr(expr);
  if (auto number = dyn_cast_or_null<IntegerAttr>(condition))
    known = number.getInt() != 0;
  if (!condition || known)
    return {};
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("expr", condition),
       builder.getNamedAttr("text", builder.getStringAttr(source.getText(expr->range)))});
}

ArrayAttr Lowerer::readRequire(const ast::Attribute &attr) {
  SmallVector<Attribute> entries;
  for (const ast::Expr *expr : attr.args) {
    std::optional<bool> known;
    if (DictionaryAttr entry = readCondition(expr, known))
      entries.push_back(entry);
    if (known == false)
      error<diag::RequireFalse>(expr->range, source.getText(expr->range).str(), kernel.decl->name.text);
  }
  return builder.getArrayAttr(entries);
}

/// Of @variants: each adds two variants, and a description has at most 256 of all configurations.
static constexpr size_t kMostFacts = 16;

/// The facts by their number in the source. One that is known chooses nothing.
ArrayAttr Lowerer::readFacts(const ast::Attribute &attr) {
  auto *list = attr.args.size() == 1 ? dyn_cast<ast::List>(attr.args[0]) : nullptr;
  if (!list || list->elements.size() > kMostFacts) {
    error<diag::BadAttribute>(attr.range, attr.name.text, "takes one list of up to 16 facts");
    return builder.getArrayAttr({});
  }
  SmallVector<Attribute> entries;
  for (auto [index, expr] : llvm::enumerate(list->elements)) {
    std::optional<bool> known;
    NamedAttrList entry(readCondition(expr, known));
    if (entry.empty())
      continue;
    entry.set("index", builder.getI64IntegerAttr(int64_t(index)));
    entries.push_back(entry.getDictionary(builder.getContext()));
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

/// "warps" of Triton's "num_warps"; "" when it is none.
static StringRef tritonOption(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("num_warps", "warps")
      .Case("num_stages", "stages")
      .Case("num_ctas", "ctas")
      .Case("maxnreg", "maxregs")
      .Default("");
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
    else if (StringRef known = tritonOption(arg.name.text); !known.empty())
      error<diag::ForeignSpelling>(arg.name.range, arg.name.text.str() + "=")
          .help("write `" + known + "=`")
          .fix(arg.name.range, known);
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
  if (options.asserts)
    result.set("asserts", builder.getBoolAttr(true));
  fields.set("options", result.getDictionary(&context));
}

void Lowerer::readNumerics(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList numerics;
  for (const ast::NamedArg &arg : attr.namedArgs) {
    Val value = eval(arg.value);
    if (arg.name.text == "f32_dot") {
      if (value.kind == Val::Kind::String && symbolizeDotInput(value.text))
        numerics.set("f32_dot", builder.getStringAttr(value.text));
      else if (!value.isPoison())
        error<diag::BadAttribute>(arg.range, "numerics",
                                  "takes f32_dot=\"exact\", \"tf32\", \"tf32x3\", \"bf16x3\" or "
                                  "\"bf16x6\"");
    } else if (arg.name.text != "contract" && arg.name.text != "strict")
      error<diag::UnknownArgument>(arg.range, "@numerics", arg.name.text)
          .help("@numerics takes contract and strict, `true` or `false`, and f32_dot");
    else if (value.isBool())
      numerics.set(arg.name.text, builder.getBoolAttr(value.boolean));
    else if (!value.isPoison())
      error<diag::BadAttribute>(arg.range, "numerics", "takes `true` or `false`");
  }
  fields.set("numerics", numerics.getDictionary(&context));
}

/// Which products and sums the target would contract depends on the code around them: none.
void Lowerer::keepRoundings(const ast::Attribute &deterministic, NamedAttrList &fields) {
  kernel.isDeterministic = true;
  auto given = cast_or_null<DictionaryAttr>(fields.get("numerics"));
  NamedAttrList numerics(given);
  if (auto contract = dyn_cast_or_null<BoolAttr>(numerics.get("contract")); contract && contract.getValue())
    error<diag::BadAttribute>(deterministic.range, "deterministic",
                              "excludes @numerics(contract=true): what contracts depends on the code around it");
  numerics.set("contract", builder.getBoolAttr(false));
  fields.set("numerics", numerics.getDictionary(&context));
}

/// Whether the kernel has every name of an assumption.
bool Lowerer::knowsNames(const ast::Expr *expr) {
  NameUse use;
  collectNames(expr, use);
  return llvm::all_of(use.mentioned, [&](const auto &entry) {
    StringRef name = entry.first();
    return kernel.hostNames.contains(name) || kernel.scalars.contains(name) ||
           frame->scopes.find(name) || findDecl(name).decl || findBuiltin(name) ||
           llvm::any_of(kernel.tensors,
                        [&](const auto &tensor) { return tensor->decl->name.text == name; });
  });
}

/// --assume: preconditions from the command line, for the kernels that have the names.
void Lowerer::readAssumptions(NamedAttrList &fields) {
  SmallVector<Attribute> require(cast<ArrayAttr>(fields.get("require")).getValue());
  for (auto [i, text] : llvm::enumerate(options.assumptions)) {
    const SourceFile *assumption = source.add("<--assume>", text);
    FailureOr<ParsedExpr> parsed = failure();
    if (assumption)
      parsed = parseExpression(context, *assumption);
    if (failed(parsed)) {
      ++reporter.numErrors;
      reporter.errorClass = LowerError::CommandLine;
      continue;
    }
    if (!oneKernel && !knowsNames(parsed->expr))
      continue;
    usedAssumptions.insert(i);
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
      readGrid(attr, fields, require);
    else if (name == "require")
      llvm::append_range(require, readRequire(attr));
    else if (name == "numerics")
      readNumerics(attr, fields);
    else if (name == "tune")
      readTune(attr, fields);
    else if (name == "cost")
      readCost(attr, fields);
    else if (name == "instances")
      readInstances(attr, fields);
    else if (name == "variants")
      fields.set(name, readFacts(attr));
    else if (name == "cooperative" || name == "deterministic") {
      fields.set(name, builder.getBoolAttr(true));
      if (!attr.args.empty() || !attr.namedArgs.empty())
        error<diag::BadAttribute>(attr.range, name, "takes no arguments");
    } else if (name != "options")
      error<diag::UnknownAttribute>(attr.range, name, "kernel")
          .help("kernels take @grid, @require, @options, @numerics, @tune, @cost, @instances, "
                "@variants, @deterministic, @cooperative");
  }
  if (const ast::Attribute *attr = findAttribute(*kernel.decl, "deterministic"))
    keepRoundings(*attr, fields);
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
    Val value = evalCompileTime(param.defaultValue);
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
    if (param.optional)
      entry.set("optional", builder.getBoolAttr(true));
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
  NamedAttrList fields, instance, configured;
  std::vector<StringRef> tuned = tunedNames(*kernel.decl);
  fields.set("kernel", builder.getStringAttr(kernel.decl->name.text));
  for (const auto &[name, value] : kernel.compileTime)
    if (Attribute attr = valueAttr(value))
      (llvm::is_contained(tuned, name) ? configured : instance).set(name, attr);
  fields.set("instance", instance.getDictionary(&context));
  if (!configured.empty())
    fields.set("config", configured.getDictionary(&context));
  fields.set("args", argEntries());
  fields.set("disjoint", disjointPairs());
  readAttributes(fields);
  if (std::string id = configurationId(fields, tuned); !id.empty())
    fields.set("config_id", builder.getStringAttr(id));
  if (reporter.numErrors != errorsBefore)
    return {};
  return ContractAttr::getChecked(
      [&] { return emit<diag::InternalError>(loc(kernel.decl->range), "bad contract"); }, &context,
      fields.getDictionary(&context));
}
