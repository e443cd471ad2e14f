//===- LowerTune.cpp - @tune and @instances: which instances there are ----------------===//
//
// A configuration gives compile-time parameters and launch options their values. Which one a
// compile takes is said by --config; else it is the first one that the kernel admits: no
// precondition is false for it, and `prune` is not true.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// What the records of `configs` say, lists multiplied out.
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

/// What some configuration sets: compile-time parameters and launch options.
std::vector<StringRef> Lowerer::tunedNames(const ast::Kernel &item) {
  const ast::Attribute *tune = findAttribute(item, "tune");
  auto *list = tune ? dyn_cast_or_null<ast::List>(findNamed(*tune, "configs")) : nullptr;
  std::vector<StringRef> names;
  for (const ast::Expr *element : list ? list->elements : ArrayRef<ast::Expr *>())
    if (auto *record = dyn_cast<ast::Record>(element))
      for (const ast::RecordField &field : record->fields)
        if (!llvm::is_contained(names, field.name.text))
          names.push_back(field.name.text);
  return names;
}

/// `BM128_BN64.w8s3`: the tuned parameters in the order of their declaration, then the launch options
/// that somebody set. It says nothing that passes decide, so that it outlives a release; a kernel
/// that nobody configured has the empty text.
std::string Lowerer::configurationId(const NamedAttrList &fields, ArrayRef<StringRef> tuned) const {
  bool given = options.warps || options.stages || options.ctas || options.maxregs;
  if (!findAttribute(*kernel.decl, "tune") && !given)
    return "";
  std::string id;
  for (const auto &[name, value] : kernel.compileTime)
    if (llvm::is_contained(tuned, name))
      id += (id.empty() ? "" : "_") + name.str() + wordOf(value);
  id += id.empty() ? "" : ".";
  auto chosen = cast<DictionaryAttr>(fields.get("options"));
  for (StringRef name : kLaunchOptions)
    if (auto value = chosen.getAs<IntegerAttr>(name))
      id += name.take_front().str() + std::to_string(value.getInt()); // w, s, c, m
  return id;
}

/// Calls `body` with the compile-time parameters and launch options as a configuration sets them.
void Lowerer::withConfiguration(const ast::Kernel &item, const Config &entry,
                                llvm::function_ref<void()> body) {
  llvm::SaveAndRestore chosen(config, entry);
  size_t depth = frame->scopes.depth();
  frame->scopes.push();
  for (auto [name, expr] : entry)
    if (llvm::is_contained(kLaunchOptions, name))
      frame->scopes.bind(name, {evalCompileTime(expr), false, expr->range, std::nullopt});
  for (const ast::CParam &param : item.cparams) {
    Val value = compileTimeValue(param, item).value_or(Val::poison());
    frame->scopes.bind(param.name.text, {value, false, param.name.range, std::nullopt});
  }
  body();
  frame->scopes.truncate(depth);
}

/// Whether nothing that is known at compile time speaks against a configuration.
bool Lowerer::admits(const ast::Kernel &item, const Config &entry) {
  std::vector<std::pair<const ast::Expr *, bool>> conditions; // and what they should be
  NameUse use;
  auto add = [&](const ast::Expr *expr, bool wanted) {
    conditions.emplace_back(expr, wanted);
    collectNames(expr, use);
  };
  for (const ast::Attribute &attr : item.attributes) {
    for (const ast::Expr *expr : attr.name.text == "require" ? attr.args : ArrayRef<ast::Expr *>())
      add(expr, true);
    const ast::Expr *prune = attr.name.text == "tune" ? findNamed(attr, "prune") : nullptr;
    if (prune)
      add(prune, false);
  }
  bool good = true;
  withConfiguration(item, entry, [&] {
    // What only a launch knows makes a condition unknown, and says nothing.
    for (const auto &name : use.mentioned) {
      StringRef text = name.first();
      bool known = frame->scopes.find(text) || findDecl(text).decl || findModule(text) ||
                   dtypeByName(text) || (findBuiltin(text) && text != "num_programs");
      if (!known)
        frame->scopes.bind(text, {Val::poison(), false, name.second, std::nullopt});
    }
    for (auto [expr, wanted] : conditions) {
      Val value = evalCompileTime(expr);
      good &= !value.isBool() || value.boolean == wanted;
    }
  });
  return good;
}

/// Sets `config` to the configuration asked for; a kernel without @tune has none to ask for.
bool Lowerer::loadConfiguration(const ast::Kernel &item) {
  config.clear();
  if (!findAttribute(item, "tune") && !options.config)
    return true;
  unsigned errorsBefore = reporter.numErrors;
  std::vector<Config> all = configurations(item);
  if (reporter.numErrors != errorsBefore)
    return false;
  if (!options.config) {
    auto given = options.passedOver.find(item.name.text.str());
    unsigned passedOver = given == options.passedOver.end() ? 0 : given->second;
    auto chosen = llvm::find_if(all, [&](const Config &entry) { return admits(item, entry) && passedOver-- == 0; });
    if (!all.empty()) // when none will do, what speaks against the first one is reported
      config = chosen == all.end() ? all.front() : *chosen;
    return reporter.numErrors == errorsBefore;
  }
  if (*options.config >= 0 && size_t(*options.config) < all.size()) {
    config = all[*options.config];
    return true;
  }
  reporter.reportCommand<diag::NoConfiguration>(item.name.text, all.size(), *options.config)
      .help(all.empty() ? "without `@tune` there is nothing to choose: leave `--config` out"
                        : "they are numbered from 0");
  return false;
}

//===----------------------------------------------------------------------===//
// The attributes
//===----------------------------------------------------------------------===//

/// `prune` for each configuration: 1 where it is not worth a try, 0, or an expression of the launch.
ArrayAttr Lowerer::readPrune(const ast::Expr *expr, ArrayRef<Config> entries) {
  SmallVector<Attribute> result;
  for (const Config &entry : entries)
    withConfiguration(*kernel.decl, entry, [&] {
      if (Attribute condition = hostExpr(expr))
        result.push_back(condition);
    });
  return builder.getArrayAttr(result);
}

void Lowerer::readOnMiss(const ast::NamedArg &arg, NamedAttrList &tune) {
  Val value = evalCompileTime(arg.value);
  if (value.isPoison())
    return;
  auto text = dyn_cast_or_null<StringAttr>(valueAttr(value));
  if (!text || !llvm::is_contained({"default", "nearest", "error"}, text.getValue()))
    error<diag::BadAttribute>(arg.range, "tune", R"(takes on_miss="default", "nearest" or "error")");
  else
    tune.set("on_miss", text);
}

void Lowerer::readTune(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList tune;
  if (!attr.args.empty())
    error<diag::BadAttribute>(attr.range, "tune", "takes named arguments: key=[M], configs=[{BM: 64}]");
  for (const ast::NamedArg &arg : attr.namedArgs) {
    StringRef name = arg.name.text;
    bool list = isa<ast::List>(arg.value);
    if (name == "on_miss")
      readOnMiss(arg, tune);
    else if ((name == "key" || name == "configs") && !list)
      error<diag::BadAttribute>(arg.range, "tune", "takes a list as `" + name.str() + "`");
    else if (name != "key" && name != "configs" && name != "prune")
      error<diag::UnknownArgument>(arg.range, "@tune", name)
          .help(name == "bucket" ? "round in the key itself: key=[next_pow2(M), cdiv(N, 64)]"
                                 : "@tune takes key, configs, prune, on_miss");
  }
  SmallVector<Attribute> keys, configs;
  if (auto *list = dyn_cast_or_null<ast::List>(findNamed(attr, "key")))
    for (const ast::Expr *expr : list->elements)
      if (Attribute key = hostExpr(expr))
        keys.push_back(key);
  std::vector<Config> entries = configurations(*kernel.decl);
  for (const Config &entry : entries) {
    NamedAttrList values;
    for (auto [name, expr] : entry) {
      bool known = kernel.compileTime.contains(name) || llvm::is_contained(kLaunchOptions, name);
      if (!known)
        error<diag::BadAttribute>(expr->range, "tune",
                                  "sets `" + name.str() + "`, which is no compile-time parameter");
      else if (Attribute value = valueAttr(evalCompileTime(expr)))
        values.set(name, value);
    }
    configs.push_back(values.getDictionary(&context));
  }
  tune.set("key", builder.getArrayAttr(keys));
  tune.set("configs", builder.getArrayAttr(configs));
  if (const ast::Expr *prune = findNamed(attr, "prune"))
    tune.set("prune", readPrune(prune, entries));
  fields.set("tune", tune.getDictionary(&context));
}

/// The compile-time parameter of that name, or null.
const ast::CParam *Lowerer::findParam(StringRef name) const {
  for (const ast::CParam &param : kernel.decl->cparams)
    if (param.name.text == name)
      return &param;
  return nullptr;
}

/// `@cost(flops=2 * M * N * K, bytes=...)`: what one launch does, for tools that time it.
void Lowerer::readCost(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList cost;
  if (!attr.args.empty() || attr.namedArgs.empty())
    error<diag::BadAttribute>(attr.range, "cost", "takes named arguments: flops=2 * N, bytes=8 * N");
  for (const ast::NamedArg &arg : attr.namedArgs) {
    StringRef name = arg.name.text;
    if (name != "flops" && name != "bytes")
      error<diag::UnknownArgument>(arg.range, "@cost", name).help("@cost takes flops and bytes");
    else if (Attribute value = hostExpr(arg.value))
      cost.set(name, value);
  }
  fields.set("cost", cost.getDictionary(&context));
}

/// `except=[{T: bf16, D: 256}]`: instances that are left out.
ArrayAttr Lowerer::readRecords(const ast::Attribute &attr, const ast::NamedArg &arg) {
  SmallVector<Attribute> result;
  auto *list = dyn_cast<ast::List>(arg.value);
  for (const ast::Expr *element : list ? list->elements : ArrayRef<ast::Expr *>()) {
    auto *record = dyn_cast<ast::Record>(element);
    NamedAttrList values;
    for (const ast::RecordField &field : record ? record->fields : ArrayRef<ast::RecordField>()) {
      if (!findParam(field.name.text))
        error<diag::BadAttribute>(field.name.range, attr.name.text,
                                  "names `" + field.name.text.str() +
                                      "`, which is no compile-time parameter");
      else if (Attribute value = valueAttr(evalCompileTime(field.value)))
        values.set(field.name.text, value);
    }
    if (!record)
      list = nullptr;
    result.push_back(values.getDictionary(&context));
  }
  if (!list)
    error<diag::BadAttribute>(arg.range, attr.name.text,
                              "takes records as `" + arg.name.text.str() + "`: [{T: bf16}]");
  return builder.getArrayAttr(result);
}

void Lowerer::readInstances(const ast::Attribute &attr, NamedAttrList &fields) {
  NamedAttrList instances;
  for (const ast::NamedArg &arg : attr.namedArgs) {
    if (arg.name.text == "except") {
      fields.set("except", readRecords(attr, arg));
      continue;
    }
    const ast::CParam *param = findParam(arg.name.text);
    if (!param) {
      error<diag::BadAttribute>(arg.range, "instances",
                                "names `" + arg.name.text.str() +
                                    "`, which is no compile-time parameter");
      continue;
    }
    Val values = evalCompileTime(arg.value);
    if (values.kind == Val::Kind::List) {
      for (const Val &value : values.elements)
        checkKind(*param, value, value.origin.size() ? value.origin : arg.range, false);
      instances.set(arg.name.text, valueAttr(values));
    } else if (!values.isPoison())
      error<diag::BadAttribute>(arg.range, "instances", "takes lists: T=[f16, bf16]");
  }
  fields.set("instances", instances.getDictionary(&context));
}
