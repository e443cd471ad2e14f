//===- LowerFunction.cpp - functions and closures: what a call of one does --------===//
//
// A function is elaborated anew at each call, in a Frame of its own. The caller evaluates the
// arguments; defaults and written types belong to the function. A closure is a function together
// with copies of the names that its body mentions.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

std::string Lowerer::countText(size_t low, size_t high) {
  if (high == 0)
    return "no arguments";
  std::string plural = high == 1 ? " argument" : " arguments";
  return (low == high ? "" : "at most ") + std::to_string(high) + plural;
}

//===----------------------------------------------------------------------===//
// Matching arguments to parameters
//===----------------------------------------------------------------------===//

/// Whether the argument of a parameter must be known at compile time.
static bool isCompileTimeParam(const ast::FnParam &param) {
  auto *named = dyn_cast_or_null<ast::NamedType>(param.type);
  return param.isConst || (named && isKindName(named->name.text));
}

/// `first` is the parameter that the first argument is for.
std::vector<Argument> Lowerer::evalArguments(const ast::Call *call, const ast::Function *function,
                                             size_t first) {
  std::vector<Argument> args;
  for (auto [i, arg] : llvm::enumerate(call->args)) {
    size_t slot = i + first;
    bool known = slot < function->params.size() && isCompileTimeParam(function->params[slot]);
    CompileTime asked(*this, known);
    args.push_back({eval(arg), arg->range, {}});
  }
  for (const ast::NamedArg &arg : call->namedArgs) {
    CompileTime asked(*this, llvm::any_of(function->params, [&](const ast::FnParam &param) {
                        return param.name.text == arg.name.text && isCompileTimeParam(param);
                      }));
    args.push_back({eval(arg.value), arg.value->range, arg.name});
  }
  return args;
}

/// Gives each parameter its argument; null for one that takes its default.
bool Lowerer::matchParameters(const FunctionCall &call, std::vector<const Argument *> &slots) {
  const ast::Function *function = call.callee.function;
  StringRef name = function->name.text;
  size_t count = function->params.size(), position = 0;
  bool good = true;
  slots.assign(count, nullptr);
  for (const Argument &arg : call.args) {
    size_t slot = position;
    if (!arg.name)
      ++position;
    else
      slot = size_t(llvm::find_if(function->params,
                                  [&](const ast::FnParam &param) {
                                    return param.name.text == arg.name.text;
                                  }) -
                    function->params.begin());
    if (slot < count && !slots[slot]) {
      slots[slot] = &arg;
      continue;
    }
    if (slot < count)
      error<diag::DuplicateArgument>(arg.name.range, name, arg.name.text);
    else if (arg.name)
      error<diag::UnknownArgument>(arg.name.range, name, arg.name.text)
          .note(function->name.range, "it is declared here");
    good &= !arg.name; // too many positional ones are counted below
  }
  if (position > count)
    error<diag::TooManyArguments>(call.range, name, countText(count, count),
                                  std::to_string(position))
        .note(function->name.range, "it is declared here");
  for (auto [slot, param] : llvm::zip(slots, function->params)) {
    if (slot || param.defaultValue || !good)
      continue;
    error<diag::MissingArgument>(call.range, name, param.name.text)
        .note(param.range, "it is declared here");
    return false;
  }
  return good && position <= count;
}

/// `f[f32, 64]`: the function with compile-time arguments; others are inferred or default.
Val Lowerer::instantiate(const Val &callee, const ast::Subscript *instance) {
  const ast::Function *function = callee.function;
  if (!callee.elements.empty() || instance->indices.size() > function->cparams.size()) {
    size_t count = callee.elements.empty() ? function->cparams.size() : 0;
    error<diag::TooManyArguments>(instance->range, function->name.text,
                                  countText(0, count) + " in brackets",
                                  std::to_string(instance->indices.size()));
    return Val::poison();
  }
  Val result = callee;
  for (const ast::Index &index : instance->indices) {
    if (index.kind != ast::Index::Kind::Expr) {
      error<diag::NotCompileTime>(index.range, "an argument in brackets", "a slice");
      return Val::poison();
    }
    Val value = evalCompileTime(index.value);
    if (!value.isPoison() && !value.isCompileTime())
      error<diag::NotCompileTime>(index.range, "an argument in brackets", value.describe())
          .note(value.origin == index.range ? SourceRange() : value.origin,
                "the value comes from here");
    if (!value.isCompileTime())
      return Val::poison();
    result.elements.push_back(value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Binding parameters
//===----------------------------------------------------------------------===//

/// `float32` and the like.
static bool isForeignType(StringRef name) {
  const Foreign *foreign = foreignName(name);
  return foreign && dtypeByName(foreign->spelling);
}

/// Whether nothing gives a name in a parameter's type a meaning: then the argument does. What looks
/// like a misspelt type (`f23`) stays an error.
bool Lowerer::isFreeName(StringRef name) {
  bool likeDtype = llvm::isLower(name.front()) && llvm::any_of(name, llvm::isDigit);
  return name != "_" && !likeDtype && !name.contains('.') && !frame->scopes.find(name) &&
         !findDecl(name).decl && !dtypeByName(name) && !isKindName(name) &&
         !isForeignType(name) &&
         nearestName(name, allDtypeNames()).empty();
}

void Lowerer::infer(const ast::Ident &name, Val found, const ast::Function *function) {
  bool isParam = llvm::any_of(function->cparams, [&](const ast::CParam &param) {
    return param.name.text == name.text;
  });
  if (isParam ? frame->scopes.find(name.text) != nullptr : !isFreeName(name.text))
    return;
  if (isParam && found.isRun()) {
    error<diag::NotCompileTime>(name.range, "`" + name.text.str() + "`", "an extent of the launch")
        .help("an extent that is no compile-time parameter needs no declaration");
    found = Val::poison();
  }
  frame->scopes.bind(name.text, {std::move(found), false, name.range, std::nullopt});
}

/// The names among the extents and strides of `x: T[M, N; s, 1]`.
void Lowerer::inferTensor(const ast::BracketType *type, const Val &value,
                          const ast::Function *function) {
  const TensorParam &tensor = *value.tensor;
  infer(type->name, Val::ofDtype(tensor.dtype), function);
  if (type->args.size() != tensor.staticExtents.size() || !requirePresent(tensor, value.origin))
    return;
  for (auto [axis, expr] : llvm::enumerate(type->args))
    if (auto *name = dyn_cast<ast::Name>(expr))
      if (!frame->scopes.find(name->text) && name->text != "_")
        infer({name->text, name->range}, tensorExtent(tensor, axis, name->range), function);
  for (auto [axis, stride] : llvm::enumerate(type->strides))
    if (auto *name = dyn_cast_or_null<ast::Name>(stride.value))
      if (!frame->scopes.find(name->text) && axis < type->args.size())
        infer({name->text, name->range}, tensorStride(tensor, axis, name->range), function);
}

/// Binds what a written type names and nothing else gives a meaning, by the argument.
void Lowerer::inferFrom(const ast::Type *type, const Val &value, const ast::Function *function) {
  auto *bracket = dyn_cast<ast::BracketType>(type);
  if (auto *tuple = dyn_cast<ast::TupleType>(type)) {
    for (auto [element, part] : llvm::zip(tuple->elements, value.elements))
      inferFrom(element, part, function);
    return;
  }
  if (value.kind == Val::Kind::Tensor && bracket && bracket->name.text != "tile")
    return inferTensor(bracket, value, function);
  if (value.kind == Val::Kind::Struct && bracket)
    for (auto [arg, found] : llvm::zip(bracket->args, value.record->args))
      if (auto *name = dyn_cast<ast::Name>(arg))
        infer({name->text, name->range}, found, function);
  if (!value.isRun() && !value.isConstNumber())
    return;
  Val dtype = Val::ofDtype(defaultDtype(value));
  if (auto *named = dyn_cast<ast::NamedType>(type))
    infer(named->name, dtype, function);
  else if (auto *pointer = dyn_cast<ast::PointerType>(type))
    inferFrom(pointer->pointee, value, function);
  if (!bracket || bracket->name.text != "tile" ||
      bracket->args.size() != value.shape().size() + 1)
    return;
  for (auto [i, arg] : llvm::enumerate(bracket->args))
    if (auto *name = dyn_cast<ast::Name>(arg))
      infer({name->text, name->range}, i == 0 ? dtype : Val::ofInt(value.type.shape[i - 1]),
            function);
}

/// The value that a parameter of written type takes, or poison after an error.
Val Lowerer::fitParameter(const FunctionCall &call, const ast::FnParam &param, Val value,
                          SourceRange range) {
  StringRef name = param.name.text;
  std::string what = ("`" + name + "`").str();
  if (const ast::Struct *decl = call.callee.structure)
    what = "the field " + what + " of `" + decl->name.text.str() + "`";
  if (param.isConst && !value.isCompileTime()) {
    error<diag::NotCompileTime>(range, "the argument `" + name.str() + "`", value.describe())
        .note(param.range, "it is declared `const` here")
        .help("make it a compile-time parameter of the kernel: `kernel k[" + name.upper() +
              ": int = 128](...)`");
    return Val::poison();
  }
  return param.type ? convertToType(value, param.type, range, what) : value;
}

/// Binds the compile-time parameters of a function: given, inferred from the arguments, default.
bool Lowerer::bindInstance(const FunctionCall &call, ArrayRef<const Argument *> slots) {
  const ast::Function *function = call.callee.function;
  if (const StructType *type = call.callee.record.get())
    for (auto [param, value] : llvm::zip(type->decl->cparams, type->args))
      frame->scopes.bind(param.name.text, {value, false, param.name.range, std::nullopt});
  for (auto [param, value] : llvm::zip(function->cparams, call.callee.elements))
    frame->scopes.bind(param.name.text, {value, false, param.name.range, std::nullopt});
  unsigned errorsBefore = reporter.numErrors;
  // A number takes the type of what it meets, if something does.
  for (bool numbers : {false, true})
    for (auto [param, slot] : llvm::zip(function->params, slots))
      if (param.type && slot && slot->value.isConstNumber() == numbers) {
        Val value = slot->value;
        value.origin = slot->range; // what does not fit is said at the call
        inferFrom(param.type, value, function);
      }
  if (reporter.numErrors != errorsBefore)
    return false;
  for (const ast::CParam &param : function->cparams) {
    Binding *binding = frame->scopes.find(param.name.text);
    if (!binding && param.defaultValue) {
      frame->scopes.bind(param.name.text,
                         {evalCompileTime(param.defaultValue), false, param.name.range, std::nullopt});
      binding = frame->scopes.find(param.name.text);
    }
    if (!binding) {
      error<diag::MissingArgument>(call.range, function->name.text, param.name.text)
          .note(param.range, "it is declared here")
          .help("write it in brackets: `" + function->name.text + "[...](...)`");
      return false;
    }
    if (!checkKind(param, binding->val, call.range, false))
      return false;
  }
  return true;
}

/// In the new frame: compile-time parameters, then the others in a block of their own.
bool Lowerer::bindFrame(const FunctionCall &call, ArrayRef<const Argument *> slots) {
  if (!bindInstance(call, slots))
    return false;
  frame->scopes.push();
  bool good = true;
  for (auto [param, slot] : llvm::zip(call.callee.function->params, slots)) {
    Val value = slot ? slot->value : eval(param.defaultValue);
    SourceRange range = slot ? slot->range : param.defaultValue->range;
    if (!value.isPoison())
      value = fitParameter(call, param, std::move(value), range);
    good &= !value.isPoison();
    if (Binding *other = frame->scopes.findInBlock(param.name.text)) {
      error<diag::DuplicateName>(param.name.range, param.name.text)
          .note(other->declared, "the first declaration is here");
      good = false;
    }
    frame->scopes.bind(param.name.text, {std::move(value), false, param.name.range, std::nullopt});
  }
  return good;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Elaborates the body in the frame that is current, whose parameters are bound.
Val Lowerer::runBody(const FunctionCall &call) {
  const ast::Function *function = call.callee.function;
  if (call.callee.structure)
    return makeStruct(call);
  frame->paramDepth = frame->scopes.depth();
  return resultOf(execBlock(function->body));
}

/// What the function of the frame gives, whose body is left by `exit`.
Val Lowerer::resultOf(const Exit &exit) {
  const ast::Function *function = frame->function;
  StringRef name = function->name.text;
  const Val &returned = frame->returned;
  if (outOfFuel || frame->hidesExit || returned.isPoison())
    return Val::poison();
  if (exit.always(Flow::Return))
    return returned;
  if (exit.may(Flow::Return) && !returned.isUnit()) {
    error<diag::MissingReturn>(frame->returnRange, name)
        .note(function->name.range, "it is declared here");
    return Val::poison();
  }
  if (function->result)
    return convertToType(Val::unit(), function->result, function->name.range,
                         "the result of `" + name.str() + "`");
  return Val::unit();
}

Val Lowerer::callFunction(const FunctionCall &call) {
  const ast::Function *function = call.callee.function;
  std::vector<const Argument *> slots;
  if (!matchParameters(call, slots))
    return Val::poison();
  if (callDepth >= kMaxCallDepth) {
    error<diag::TooDeep>(call.range, "calls of functions", kMaxCallDepth)
        .help("a recursion ends by a compile-time condition");
    return Val::poison();
  }
  Location site = loc(call.range);
  Frame callee, *caller = std::exchange(frame, &callee);
  std::optional<Location> outerCall = std::exchange(callLoc, site);
  callee.function = function;
  callee.module = call.callee.module;
  if (const Capture *capture = call.callee.capture.get()) {
    callee.scopes = capture->scopes;
    callee.scopes.push();
    callee.seesExtents = capture->seesExtents;
  }
  ++callDepth;
  reporter.calls.emplace_back(call.range, function->name.text.str());
  Val result = bindFrame(call, slots) ? runBody(call) : Val::poison();
  reporter.calls.pop_back();
  --callDepth;
  callLoc = outerCall;
  frame = caller;
  return result;
}

/// A built-in function takes expressions: names that stand for the values, which no program can
/// spell.
Val Lowerer::callBuiltinValue(const Builtin *builtin, ArrayRef<Val> arguments, SourceRange range) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < arguments.size(); ++i)
    texts.push_back("argument " + std::to_string(i));
  std::vector<ast::Name> names(arguments.size());
  std::vector<ast::Expr *> exprs;
  frame->scopes.push();
  for (size_t i = 0; i < arguments.size(); ++i) {
    names[i].range = range;
    names[i].text = texts[i];
    exprs.push_back(&names[i]);
    frame->scopes.bind(texts[i], {arguments[i], false, range, std::nullopt});
  }
  ast::Name callee;
  callee.range = range;
  callee.text = builtin->name;
  ast::Call call;
  call.range = range;
  call.callee = &callee;
  call.args = exprs;
  size_t depth = frame->scopes.depth() - 1;
  Val result = callBuiltin(builtin, &call, nullptr);
  frame->scopes.truncate(depth);
  return result;
}

Val Lowerer::callValue(const Val &function, std::vector<Val> arguments, SourceRange range) {
  if (function.kind == Val::Kind::Builtin)
    return callBuiltinValue(function.builtin, arguments, range);
  if (function.kind == Val::Kind::Function) {
    FunctionCall call{function, range, {}};
    for (Val &argument : arguments)
      call.args.push_back({std::move(argument), range, {}});
    return callFunction(call);
  }
  if (!function.isPoison())
    error<diag::NotCallable>(range, function.describe());
  return Val::poison();
}

//===----------------------------------------------------------------------===//
// Closures
//===----------------------------------------------------------------------===//

/// `fn(a, b) { ... }`: the names that its body mentions are copied here and now.
Val Lowerer::evalClosure(const ast::FnExpr *expr) {
  std::unique_ptr<ast::Function> &function = closures[expr];
  if (!function) {
    function = std::make_unique<ast::Function>();
    function->range = expr->range;
    function->name = {"fn(...)", {expr->range.begin, expr->range.begin + 2}};
    function->params = expr->params;
    function->body = expr->body;
  }
  NameUse use;
  collectNames(expr, use);
  auto capture = std::make_shared<Capture>();
  capture->scopes = frame->scopes.capture(use);
  capture->seesExtents = frame->seesExtents;
  Val val;
  val.kind = Val::Kind::Function;
  val.function = function.get();
  val.module = frame->module;
  val.capture = std::move(capture);
  return val;
}
