//===- LowerCall.cpp - calls of functions, matching arguments to parameters ---===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tk;

static std::string countText(size_t low, size_t high) {
  if (high == 0)
    return "no arguments";
  std::string plural = high == 1 ? " argument" : " arguments";
  return (low == high ? "" : "at most ") + std::to_string(high) + plural;
}

//===----------------------------------------------------------------------===//
// Functions of the file
//===----------------------------------------------------------------------===//

/// Evaluates the arguments in the caller; poison for one that is missing.
bool Lowerer::bindArguments(const ast::Function *function, const ast::Call *call,
                            std::vector<Val> &values) {
  StringRef name = function->name.text;
  size_t count = function->params.size();
  std::vector<std::optional<Val>> slots(count);
  bool good = true;
  for (auto [i, arg] : llvm::enumerate(call->args)) {
    Val value = eval(arg);
    if (i < count)
      slots[i] = value;
  }
  if (call->args.size() > count) {
    error<diag::TooManyArguments>(call->range, name, countText(count, count),
                                  std::to_string(call->args.size()))
        .note(function->name.range, "it is declared here");
    good = false;
  }
  for (const ast::NamedArg &arg : call->namedArgs) {
    Val value = eval(arg.value);
    const auto *it = llvm::find_if(function->params, [&](const ast::FnParam &param) {
      return param.name.text == arg.name.text;
    });
    if (it == function->params.end()) {
      error<diag::UnknownArgument>(arg.name.range, name, arg.name.text)
          .note(function->name.range, "it is declared here");
      good = false;
      continue;
    }
    std::optional<Val> &slot = slots[it - function->params.begin()];
    if (slot) {
      error<diag::DuplicateArgument>(arg.name.range, name, arg.name.text);
      good = false;
    }
    slot = value;
  }
  for (auto [slot, param] : llvm::zip(slots, function->params)) {
    if (!slot && !param.defaultValue) {
      error<diag::MissingArgument>(call->range, name, param.name.text)
          .note(param.range, "it is declared here");
      good = false;
    }
    // Unit marks an argument that takes its default, in the function's own scope.
    values.push_back(slot.value_or(Val::unit()));
  }
  return good;
}

/// The compile-time parameters in brackets: `f[f32, 64](...)`; others are inferred or default.
bool Lowerer::bindInstance(const ast::Function *function, const ast::Subscript *instance,
                           std::vector<Val> &values) {
  if (!instance)
    return true;
  if (instance->indices.size() > function->cparams.size()) {
    error<diag::TooManyArguments>(instance->range, function->name.text,
                                  countText(0, function->cparams.size()) + " in brackets",
                                  std::to_string(instance->indices.size()));
    return false;
  }
  for (const ast::Index &index : instance->indices) {
    if (index.kind != ast::Index::Kind::Expr) {
      error<diag::NotCompileTime>(index.range, "an argument in brackets", "a slice");
      return false;
    }
    Val value = eval(index.value);
    if (!value.isPoison() && !value.isCompileTime())
      error<diag::NotCompileTime>(index.range, "an argument in brackets", value.describe())
          .note(value.origin == index.range ? SourceRange() : value.origin,
                "the value comes from here");
    if (!value.isCompileTime())
      return false;
    values.push_back(value);
  }
  return true;
}

/// Binds the compile-time parameters that a written type names, by the argument's type.
void Lowerer::inferFrom(const ast::Type *type, const Val &value, const ast::Function *function) {
  auto infer = [&](StringRef name, Val found, SourceRange range) {
    bool isParam = llvm::any_of(function->cparams,
                                [&](const ast::CParam &param) { return param.name.text == name; });
    if (isParam && !frame->scopes.find(name))
      frame->scopes.bind(name, {std::move(found), false, range, std::nullopt});
  };
  if (!value.isRun())
    return;
  if (auto *named = dyn_cast<ast::NamedType>(type))
    infer(named->name.text, Val::ofDtype(value.type.dtype), named->range);
  else if (auto *pointer = dyn_cast<ast::PointerType>(type))
    inferFrom(pointer->pointee, value, function);
  auto *bracket = dyn_cast<ast::BracketType>(type);
  if (!bracket || bracket->name.text != "tile" ||
      bracket->args.size() != value.type.shape.size() + 1)
    return;
  for (auto [i, arg] : llvm::enumerate(bracket->args))
    if (auto *name = dyn_cast<ast::Name>(arg))
      infer(name->text,
            i == 0 ? Val::ofDtype(value.type.dtype) : Val::ofInt(value.type.shape[i - 1]),
            name->range);
}

bool Lowerer::bindParameter(const ast::Function *function, const ast::FnParam &param, Val value,
                            SourceRange range) {
  StringRef name = param.name.text;
  if (value.kind == Val::Kind::Unit) {
    value = eval(param.defaultValue);
    range = param.defaultValue->range;
  }
  if (value.isPoison())
    return false;
  if (param.isConst && !value.isCompileTime()) {
    error<diag::NotCompileTime>(range, "the argument `" + name.str() + "`", value.describe())
        .note(param.range, "it is declared `const` here")
        .help("make it a compile-time parameter of the kernel: `kernel k[" + name.upper() +
              ": int = 128](...)`");
    return false;
  }
  bool kindName = param.type && isa<ast::NamedType>(param.type) &&
                  llvm::is_contained({"int", "bool", "dtype", "string"},
                                     cast<ast::NamedType>(param.type)->name.text);
  if (kindName) {
    ast::CParam kind;
    kind.name = param.name;
    kind.kinds = cast<ast::NamedType>(param.type)->name;
    if (!checkKind(kind, value, range, false))
      return false;
  } else if (param.type) {
    value = convertToType(value, param.type, range, "`" + name.str() + "`");
    if (value.isPoison())
      return false;
  }
  if (frame->scopes.findInBlock(name)) {
    error<diag::DuplicateName>(param.name.range, name);
    return false;
  }
  frame->scopes.bind(name, {std::move(value), false, param.name.range, std::nullopt});
  return true;
}

/// In the new frame: compile-time parameters, then the others.
bool Lowerer::bindFrame(const ast::Function *function, const ast::Call *call,
                        ArrayRef<Val> instance, ArrayRef<Val> values) {
  for (auto [param, value] : llvm::zip(function->cparams, instance))
    frame->scopes.bind(param.name.text, {value, false, param.name.range, std::nullopt});
  for (auto [param, value] : llvm::zip(function->params, values))
    if (param.type)
      inferFrom(param.type, value, function);
  for (const ast::CParam &param : function->cparams) {
    Binding *binding = frame->scopes.find(param.name.text);
    if (!binding && param.defaultValue) {
      frame->scopes.bind(param.name.text,
                         {eval(param.defaultValue), false, param.name.range, std::nullopt});
      binding = frame->scopes.find(param.name.text);
    }
    if (!binding) {
      error<diag::MissingArgument>(call->range, function->name.text, param.name.text)
          .note(param.range, "it is declared here")
          .help("write it in brackets: `" + function->name.text + "[...](...)`");
      return false;
    }
    if (!checkKind(param, binding->val, call->range, false))
      return false;
  }
  frame->scopes.push();
  bool good = true;
  for (auto [i, param] : llvm::enumerate(function->params)) {
    SourceRange range = call->range;
    if (i < call->args.size())
      range = call->args[i]->range;
    for (const ast::NamedArg &arg : call->namedArgs)
      if (arg.name.text == param.name.text)
        range = arg.value->range;
    good &= bindParameter(function, param, values[i], range);
  }
  return good;
}

Val Lowerer::callFunction(const ast::Function *function, const ast::Call *call,
                          const ast::Subscript *instance) {
  StringRef name = function->name.text;
  std::vector<Val> brackets, values;
  bool good = bindInstance(function, instance, brackets);
  good &= bindArguments(function, call, values);
  if (!good)
    return Val::poison();
  if (callDepth >= kMaxCallDepth) {
    error<diag::TooDeep>(call->range, "calls of functions", kMaxCallDepth)
        .help("a recursion ends by a compile-time condition");
    return Val::poison();
  }
  Location site = loc(call->range);
  Frame callee, *caller = frame;
  std::optional<Location> outerCall = callLoc;
  callee.function = function;
  frame = &callee;
  callLoc = site;
  ++callDepth;
  reporter.calls.emplace_back(call->range, name.str());
  Val result = Val::poison();
  if (bindFrame(function, call, brackets, values)) {
    if (execBlock(function->body, nullptr) == Flow::Next)
      callee.returned = Val::unit();
    result = callee.returned;
    SourceRange place = callee.returnRange.size() ? callee.returnRange : function->name.range;
    if (function->result && !outOfFuel)
      result = convertToType(result, function->result, place, "the result of `" + name.str() + "`");
  }
  reporter.calls.pop_back();
  --callDepth;
  callLoc = outerCall;
  frame = caller;
  return result;
}

//===----------------------------------------------------------------------===//
// Types that are written
//===----------------------------------------------------------------------===//

std::optional<RunType> Lowerer::resolveType(const ast::Type *type) {
  if (auto *named = dyn_cast<ast::NamedType>(type)) {
    std::optional<Dtype> dtype = resolveDtype(named->name);
    return dtype ? std::optional<RunType>(RunType{*dtype, false, 0, {}}) : std::nullopt;
  }
  auto *bracket = dyn_cast<ast::BracketType>(type);
  if (!bracket || bracket->name.text != "tile" || bracket->args.empty()) {
    notBuilt(type->range, "this type here; scalars, `tile[T, M, N]`, `*T` and tuples are");
    return std::nullopt;
  }
  std::optional<Dtype> dtype = evalDtype(bracket->args[0]);
  RunType result{dtype.value_or(Dtype::F32), false, 0, {}};
  for (const ast::Expr *arg : bracket->args.drop_front()) {
    std::optional<Int128> side = evalInt(arg, "the side of a tile");
    std::optional<int64_t> checked = side ? checkSide(*side, arg->range) : std::nullopt;
    if (!checked)
      return std::nullopt;
    result.shape.push_back(*checked);
  }
  if (!dtype || !checkTile(result.shape, type->range))
    return std::nullopt;
  return result;
}

/// `value` as a parameter, result or `let` of a written type takes it.
Val Lowerer::convertToType(const Val &value, const ast::Type *type, SourceRange range,
                           StringRef what) {
  if (value.isPoison())
    return value;
  Val result;
  if (auto *tuple = dyn_cast<ast::TupleType>(type)) {
    if (!value.isTuple() || value.elements.size() != tuple->elements.size()) {
      error<diag::TypeMismatch>(range, what, "a tuple of " + std::to_string(tuple->elements.size()),
                                value.describe())
          .note(type->range, "the type is written here");
      return Val::poison();
    }
    std::vector<Val> elements;
    for (auto [element, written] : llvm::zip(value.elements, tuple->elements))
      elements.push_back(convertToType(element, written, range, what));
    result = Val::tuple(std::move(elements));
  } else if (auto *pointer = dyn_cast<ast::PointerType>(type)) {
    auto *pointee = dyn_cast<ast::NamedType>(pointer->pointee);
    std::optional<Dtype> dtype = pointee ? resolveDtype(pointee->name) : std::optional<Dtype>();
    if (!pointee)
      return notBuilt(type->range, "pointers to pointers");
    if (!dtype)
      return Val::poison();
    if (!value.isPointer() || !value.type.isScalar() || value.type.dtype != *dtype) {
      error<diag::TypeMismatch>(range, what, "of type *" + dtypeName(*dtype).str(),
                                value.describe());
      return Val::poison();
    }
    result = value;
  } else {
    std::optional<RunType> wanted = resolveType(type);
    if (!wanted)
      return Val::poison();
    if (value.isRun() && value.type.shape.size() != wanted->shape.size()) {
      error<diag::TypeMismatch>(range, what, "of type " + wanted->str(), value.describe())
          .note(type->range, "the type is written here")
          .help("a parameter without a type takes scalars and tiles");
      return Val::poison();
    }
    Value converted = coerce(value, *wanted, range, what);
    if (!converted)
      return Val::poison();
    result = Val::run(converted, *wanted);
  }
  result.origin = value.origin;
  return result;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Val Lowerer::evalCall(const ast::Call *call) {
  const ast::Expr *callee = call->callee;
  if (auto *member = dyn_cast<ast::Member>(callee)) {
    Val done = callMethod(member, call);
    return done;
  }
  auto *instance = dyn_cast<ast::Subscript>(callee);
  auto *name = dyn_cast<ast::Name>(instance ? instance->base : callee);
  Val function = name ? evalName(name) : eval(instance ? instance->base : callee);
  if (function.kind == Val::Kind::Function)
    return callFunction(function.function, call, instance);
  if (function.kind == Val::Kind::Builtin)
    return callBuiltin(function.builtin, call, instance);
  if (function.isPoison())
    return function;
  Report report = error<diag::NotCallable>(callee->range, function.describe());
  if (function.kind == Val::Kind::Dtype)
    report.help("numbers convert by `x.to(" + dtypeName(function.dtype) + ")`");
  return Val::poison();
}

Val Lowerer::callMethod(const ast::Member *member, const ast::Call *call) {
  StringRef name = member->name.text;
  if (name != "to" && name != "stride") {
    Val value = evalMember(member);
    if (!value.isPoison())
      error<diag::NotCallable>(member->range, value.describe());
    return Val::poison();
  }
  Val base = eval(member->base);
  if (base.isPoison())
    return base;
  for (const ast::NamedArg &arg : call->namedArgs) {
    if (name == "to" && (arg.name.text == "round" || arg.name.text == "overflow"))
      return notBuilt(arg.range, "`" + arg.name.text + "=` of `.to`");
    error<diag::UnknownArgument>(arg.name.range, "." + name.str(), arg.name.text);
    return Val::poison();
  }
  if (call->args.size() != 1) {
    error<diag::TooManyArguments>(call->range, "." + name.str(), "1 argument",
                                  std::to_string(call->args.size()));
    return Val::poison();
  }
  if (name == "to") {
    std::optional<Dtype> dtype = evalDtype(call->args[0]);
    return dtype ? castTo(base, *dtype, call->range) : Val::poison();
  }
  std::optional<Int128> axis = evalInt(call->args[0], "the axis of `.stride`");
  if (base.kind != Val::Kind::Tensor) {
    error<diag::UnknownMember>(member->name.range, base.describe(), name);
    return Val::poison();
  }
  size_t rank = base.tensor->staticExtents.size();
  if (!axis)
    return Val::poison();
  if (*axis < 0 || *axis >= Int128(rank)) {
    error<diag::BadAxis>(call->args[0]->range, toString(*axis), rank,
                         "`" + base.tensor->decl->name.text.str() + "`");
    return Val::poison();
  }
  Value stride = StrideOp::create(builder, loc(call->range), builder.getI64Type(),
                                  base.tensor->value, builder.getI64IntegerAttr(int64_t(*axis)));
  return Val::run(stride, {Dtype::I64, false, 0, {}});
}

Val Lowerer::callBuiltin(const Builtin *builtin, const ast::Call *call,
                         const ast::Subscript *instance) {
  CallArgs args;
  args.builtin = builtin;
  args.call = call;
  args.range = call->range;
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
  builtin->params.split(params, ' ', -1, /*KeepEmpty=*/false);
  for (auto [i, expr] : llvm::enumerate(args.exprs)) {
    bool lazy = i < params.size() && params[i].starts_with("&");
    args.values[i] = !expr ? Val::none() : lazy ? Val::unit() : eval(expr);
  }
  return (this->*builtin->handler)(args);
}

/// Gives each parameter of a built-in function its expression.
bool Lowerer::matchArguments(CallArgs &args) {
  SmallVector<StringRef> params;
  args.builtin->params.split(params, ' ', -1, /*KeepEmpty=*/false);
  StringRef name = args.builtin->name;
  bool takesRest = !params.empty() && params.back().ends_with("*");
  if (takesRest)
    params.pop_back();
  size_t count = params.size();
  args.exprs.assign(count, nullptr);
  args.values.assign(count, Val::none());
  bool good = true;
  for (auto [i, arg] : llvm::enumerate(args.call->args)) {
    if (i < count)
      args.exprs[i] = arg;
    else if (takesRest)
      args.rest.push_back(arg);
  }
  if (args.call->args.size() > count && !takesRest) {
    error<diag::TooManyArguments>(args.range, name, countText(count, count),
                                  std::to_string(args.call->args.size()));
    good = false;
  }
  for (const ast::NamedArg &arg : args.call->namedArgs) {
    size_t slot = 0;
    while (slot < count && params[slot].trim("&?") != arg.name.text)
      ++slot;
    if (slot == count || params[slot].starts_with("&")) {
      StringRef advice = foreignArgument(arg.name.text);
      Report report = advice.empty()
                          ? error<diag::UnknownArgument>(arg.name.range, name, arg.name.text)
                          : error<diag::ForeignSpelling>(arg.name.range, arg.name.text.str() + "=");
      if (!advice.empty())
        report.help(advice);
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
    error<diag::MissingArgument>(args.range, name, params[i].trim("&?"));
    good = false;
  }
  return good;
}
