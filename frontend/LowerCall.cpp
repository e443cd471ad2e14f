//===- LowerCall.cpp - calls: of what, and the arguments of built-in functions ---===//

#include "frontend/MemoryLowerer.h"
#include "frontend/TileLowerer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

/// What a conversion of Python makes of a text: `float("-inf")`.
static StringRef numberInText(StringRef text) {
  return llvm::StringSwitch<StringRef>(text.trim().ltrim('+'))
      .CasesLower({"inf", "infinity"}, "inf")
      .CasesLower({"-inf", "-infinity"}, "-inf")
      .CaseLower("nan", "nan")
      .Default("");
}

/// `float(i)`, `int32(i)`: refuses a type that is called to convert.
bool Lowerer::refuseConversion(const ast::Name &name, const ast::Call &call) {
  const Foreign *foreign = foreignName(name.text);
  if (frame->scopes.find(name.text) || findDecl(name.text).decl || call.args.size() != 1 ||
      !call.namedArgs.empty())
    return false;
  StringRef dtype = foreign ? foreign->spelling : name.text;
  if (!dtypeByName(dtype))
    return false;
  auto *text = dyn_cast<ast::StringLit>(call.args[0]);
  std::string written = text ? numberInText(text->value).str()
                             : withSuffix(source.getText(call.args[0]->range), ".to(" + dtype + ")");
  Report report = foreign ? error<diag::ForeignSpelling>(name.range, name.text)
                          : error<diag::NotCallable>(name.range, Val::ofDtype(*dtypeByName(dtype)).describe());
  if (written.empty())
    report.help("a number is written without quotes");
  else
    report.help("write `" + written + "`").fix(call.range, written);
  return true;
}

Val Lowerer::evalCall(const ast::Call *call) {
  const ast::Expr *callee = call->callee;
  auto *instance = dyn_cast<ast::Subscript>(callee);
  if (auto *member = dyn_cast<ast::Member>(instance ? instance->base : callee))
    return callMethod(member, call, instance);
  auto *name = dyn_cast<ast::Name>(instance ? instance->base : callee);
  if (name && !instance && refuseConversion(*name, *call))
    return Val::poison();
  if (name)
    calledName = name->range;
  return callEvaluated(name ? evalName(name) : eval(instance ? instance->base : callee), call,
                       instance);
}

/// A call of what `callee` is; `instance` has its arguments in brackets, or is null.
Val Lowerer::callEvaluated(Val callee, const ast::Call *call, const ast::Subscript *instance) {
  if (callee.kind == Val::Kind::Function) {
    std::vector<Argument> args = evalArguments(call, callee.function);
    if (instance)
      callee = instantiate(callee, instance);
    return callee.isPoison() ? callee : callFunction({callee, call->range, std::move(args)});
  }
  if (callee.kind == Val::Kind::Builtin)
    return callBuiltin(callee.builtin, call, instance);
  if (callee.isPoison())
    return callee;
  // `t[0](x)` calls a member.
  if (instance && callee.isAggregate())
    return callEvaluated(evalSubscript(instance), call, nullptr);
  Report report = error<diag::NotCallable>(call->callee->range, callee.describe());
  if (callee.kind == Val::Kind::Dtype)
    report.help("numbers convert by `x.to(" + dtypeName(callee.dtype) + ")`");
  return Val::poison();
}

Val Lowerer::callMethod(const ast::Member *member, const ast::Call *call,
                        const ast::Subscript *instance) {
  StringRef name = member->name.text;
  bool known = name == "to" || name == "stride";
  Val base = known || !hasForeignPrefix(member) ? eval(member->base) : Val();
  if (base.kind == Val::Kind::Struct)
    return callStructMethod(base, member, call, instance);
  const Builtin *method = instance ? nullptr : findBuiltin(name);
  if (method && method->isMethod() && (base.isRun() || base.isConstNumber()))
    return callBuiltin(method, call, nullptr, &base);
  if (!known || instance || base.kind == Val::Kind::Module) {
    Val value = memberOf(base, member);
    return value.isPoison() ? value : callEvaluated(value, call, instance);
  }
  if (base.isPoison())
    return base;
  for (const ast::NamedArg &arg : call->namedArgs) {
    if (name == "to")
      break;
    error<diag::UnknownArgument>(arg.name.range, "." + name.str(), arg.name.text);
    return Val::poison();
  }
  if (call->args.size() != 1) {
    error<diag::TooManyArguments>(call->range, "." + name.str(), "1 argument",
                                  std::to_string(call->args.size()));
    return Val::poison();
  }
  if (name == "to")
    return callTo(base, call);
  std::optional<Int128> axis = evalInt(call->args[0], "the axis of `.stride`");
  if (base.kind != Val::Kind::Tensor) {
    error<diag::UnknownMember>(member->name.range, base.describe(), name);
    return Val::poison();
  }
  size_t rank = base.tensor->staticExtents.size();
  if (!axis)
    return Val::poison();
  Int128 counted = *axis < 0 ? *axis + Int128(rank) : *axis;
  if (counted < 0 || counted >= Int128(rank)) {
    error<diag::BadAxis>(call->args[0]->range, toString(*axis), rank,
                         "`" + base.tensor->decl->name.text.str() + "`");
    return Val::poison();
  }
  return requirePresent(*base.tensor, call->range)
             ? tensorStride(*base.tensor, unsigned(counted), call->range)
             : Val::poison();
}

Val Lowerer::tensorStride(const TensorParam &tensor, unsigned axis, SourceRange range) {
  Value stride = StrideOp::create(builder, loc(range), builder.getI64Type(), tensor.value,
                                  builder.getI64IntegerAttr(axis));
  return Val::run(stride, {Dtype::I64, false, 0, {}});
}

/// Splits "a b? rest* c?" and takes `rest*` out; gives the number of parameters before it.
static size_t splitParams(StringRef text, SmallVectorImpl<StringRef> &params, bool &takesRest) {
  text.split(params, ' ', -1, /*KeepEmpty=*/false);
  auto *rest = llvm::find_if(params, [](StringRef param) { return param.ends_with("*"); });
  if (rest == params.end())
    return params.size();
  size_t place = size_t(rest - params.begin());
  takesRest = *rest != "*";
  params.erase(rest);
  return place;
}

/// `self` is the value before the dot of a method, or null.
Val Lowerer::callBuiltin(const Builtin *builtin, const ast::Call *call,
                         const ast::Subscript *instance, const Val *self) {
  CallArgs args;
  args.builtin = builtin;
  args.call = call;
  args.range = call->range;
  if (self)
    args.self = cast<ast::Member>(call->callee)->base;
  if (instance)
    args.typeArgs = instance->indices;
  if (instance && !builtin->takesType) {
    error<diag::TooManyArguments>(instance->range, builtin->name, "no arguments in brackets",
                                  std::to_string(instance->indices.size()));
    return Val::poison();
  }
  if (!matchArguments(args))
    return Val::poison();
  SmallVector<StringRef> params;
  bool takesRest = false;
  splitParams(builtin->params, params, takesRest);
  MemoryLowerer memory(*this);
  TileLowerer tiles(*this);
  for (auto [i, expr] : llvm::enumerate(args.exprs)) {
    CompileTime asked(*this, params[i].starts_with("!"));
    if (!expr || params[i].starts_with("~"))
      args.values[i] = expr ? Val::unit() : Val::none();
    else if (self && i == 0)
      args.values[i] = *self;
    else if (params[i].starts_with("&"))
      args.values[i] = memory.evalTarget(args, expr) ? Val::unit() : Val::poison();
    else
      args.values[i] = eval(expr);
  }
  if (builtin->handler)
    return (this->*builtin->handler)(args);
  return builtin->memoryHandler ? (memory.*builtin->memoryHandler)(args)
                                : (tiles.*builtin->tileHandler)(args);
}

/// Refuses a named argument that `what` does not have; `params` may be marked as in Builtin.
void Lowerer::refuseArgument(const ast::Ident &name, StringRef what, ArrayRef<StringRef> params) {
  std::vector<StringRef> known;
  for (StringRef param : params)
    known.push_back(param.trim("&~!?*"));
  if (const Foreign *foreign = foreignArgument(name.text)) {
    Report report = error<diag::ForeignSpelling>(name.range, name.text.str() + "=");
    report.help(foreign->advice.empty() ? ("write `" + foreign->spelling + "=`").str()
                                        : foreign->advice.str());
    if (llvm::is_contained(known, foreign->spelling))
      report.fix(name.range, foreign->spelling);
    return;
  }
  Report report = error<diag::UnknownArgument>(name.range, what, name.text);
  StringRef near = nearestName(name.text, known);
  report.suggest(name.range, near);
  if (near.empty() && !known.empty() && known.size() <= 8)
    report.help("it takes " + llvm::join(known, ", "));
}

/// Gives each parameter of a built-in function its expression.
bool Lowerer::matchArguments(CallArgs &args) {
  SmallVector<StringRef> params;
  bool takesRest = false, good = true;
  const size_t positional = splitParams(args.builtin->params, params, takesRest);
  StringRef name = args.builtin->name;
  size_t count = params.size();
  args.exprs.assign(count, nullptr);
  args.values.assign(count, Val::none());
  const size_t first = args.self ? 1 : 0;
  if (args.self)
    args.exprs[0] = args.self;
  for (auto [i, arg] : llvm::enumerate(args.call->args)) {
    if (first + i < positional)
      args.exprs[first + i] = arg;
    else if (takesRest)
      args.rest.push_back(arg);
  }
  if (first + args.call->args.size() > positional && !takesRest) {
    std::string limit = countText(positional - first, positional - first);
    error<diag::TooManyArguments>(args.range, name,
                                  limit + (positional < count ? " without a name" : ""),
                                  std::to_string(args.call->args.size()));
    good = false;
  }
  for (const ast::NamedArg &arg : args.call->namedArgs) {
    size_t slot = 0;
    while (slot < count && params[slot].trim("&~!?") != arg.name.text)
      ++slot;
    if (slot == count || params[slot].starts_with("&") || params[slot].starts_with("~")) {
      refuseArgument(arg.name, name, params);
      good = false;
    } else if (args.exprs[slot]) {
      error<diag::DuplicateArgument>(arg.name.range, name, arg.name.text);
      good = false;
    } else
      args.exprs[slot] = arg.value;
  }
  for (size_t i = 0; good && i < count; ++i) {
    if (args.exprs[i] || params[i].ends_with("?"))
      continue;
    Report report = error<diag::MissingArgument>(args.range, name, params[i].trim("&~!?"));
    if (const ast::Expr *end = args.exprs[0]; name == "arange" && end)
      report.help("write `arange(0, " + source.getText(end->range) + ")`")
          .fix({end->range.begin, end->range.begin}, "0, ");
    good = false;
  }
  return good;
}
