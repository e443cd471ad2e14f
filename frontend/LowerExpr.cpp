//===- LowerExpr.cpp - names, literals, unary operators, comparisons, members --===//

#include "frontend/TileLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

Val Lowerer::eval(const ast::Expr *expr) {
  if (!spend(expr->range))
    return Val::poison();
  ++walkDepth;
  Val value = evalKind(expr);
  --walkDepth;
  // A name keeps the place where its value was made.
  if (!isa<ast::Name>(expr) || value.origin.size() == 0)
    value.origin = expr->range;
  return value;
}

Val Lowerer::evalKind(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::ExprKind::Name:
    return evalName(cast<ast::Name>(expr));
  case ast::ExprKind::IntLit: {
    auto *literal = cast<ast::IntLit>(expr);
    if (std::optional<Int128> value = toInt128(literal->getValue()))
      return Val::ofInt(*value);
    error<diag::NumberRange>(expr->range, literal->spelling, "127 bits");
    return Val::poison();
  }
  case ast::ExprKind::FloatLit:
    return Val::ofFloat(floatFromText(cast<ast::FloatLit>(expr)->digits));
  case ast::ExprKind::BoolLit:
    return Val::ofBool(cast<ast::BoolLit>(expr)->value);
  case ast::ExprKind::StringLit:
    return Val::ofString(cast<ast::StringLit>(expr)->value);
  case ast::ExprKind::Unary:
    return evalUnary(cast<ast::Unary>(expr));
  case ast::ExprKind::Binary: {
    auto *binary = cast<ast::Binary>(expr);
    Val lhs = eval(binary->lhs), rhs = eval(binary->rhs);
    llvm::SaveAndRestore known(sides, {binary->lhs->range, binary->rhs->range});
    return arithmetic(binary->op, lhs, rhs, expr->range, binary->opRange);
  }
  case ast::ExprKind::CompareChain:
    return evalCompare(cast<ast::CompareChain>(expr));
  case ast::ExprKind::Logical:
    return evalLogical(cast<ast::Logical>(expr));
  case ast::ExprKind::IfExpr:
    return evalIfExpr(cast<ast::IfExpr>(expr), 0);
  case ast::ExprKind::FnExpr:
    return evalClosure(cast<ast::FnExpr>(expr));
  case ast::ExprKind::Call:
    return evalCall(cast<ast::Call>(expr));
  case ast::ExprKind::Subscript:
    return evalSubscript(cast<ast::Subscript>(expr));
  case ast::ExprKind::Member:
    return evalMember(cast<ast::Member>(expr));
  case ast::ExprKind::TupleIndex:
    return evalTupleIndex(cast<ast::TupleIndex>(expr));
  case ast::ExprKind::Tuple:
    return evalElements(cast<ast::Tuple>(expr)->elements, Val::Kind::Tuple, expr->range);
  case ast::ExprKind::List:
    return evalElements(cast<ast::List>(expr)->elements, Val::Kind::List, expr->range);
  case ast::ExprKind::Record:
    return notBuilt(expr->range, "records outside of @tune");
  }
  return Val::poison();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Val Lowerer::unknownName(StringRef name, SourceRange range) {
  if (const Foreign *foreign = foreignName(name)) {
    refuseForeign(*foreign, range);
    return Val::poison();
  }
  if (isPlannedBuiltin(name))
    return notBuilt(range, "`" + name + "`");
  Report report = error<diag::UnknownName>(range, name);
  bool isCalled = calledName == range;
  if (StringRef file = isCalled ? libraryModuleOf(name) : ""; !file.empty()) {
    report.help("`import std." + file + "`, then `" + file + "." + name + "`");
    if (frame->module->imports.contains(file))
      report.fix(range, file + "." + name);
    return Val::poison();
  }
  std::vector<StringRef> functions, scoped, values = allDtypeNames().vec();
  frame->scopes.collectNames(scoped);
  for (StringRef known : scoped)
    (frame->scopes.find(known)->val.kind == Val::Kind::Function ? functions : values)
        .push_back(known);
  for (const auto &entry : kernel.hostNames)
    values.push_back(entry.first);
  for (const auto &entry : frame->module->imports)
    values.push_back(entry.first());
  for (const Module *module : {frame->module, preludeModule()})
    if (module)
      for (const auto &entry : module->decls)
        if (!isa<ast::Kernel>(entry.second))
          (isa<ast::Const>(entry.second) ? values : functions).push_back(entry.first());
  for (const Builtin &builtin : allBuiltins())
    functions.push_back(builtin.name);
  // Where a function may stand for a value, or the other way round, is advice and no edit.
  StringRef near = nearestName(name, isCalled ? functions : values);
  constexpr size_t kMinSure = 3; // letters
  bool isSure = !near.empty() && name.size() >= kMinSure;
  if (near.empty())
    near = nearestName(name, isCalled ? values : functions);
  if (isSure)
    report.suggest(range, near);
  else if (!near.empty())
    report.help("did you mean `" + near + "`?");
  return Val::poison();
}

Val Lowerer::constantDecl(const ast::Const *decl, const Module *module) {
  ConstState &state = constants[decl];
  if (state.busy) {
    error<diag::RecursiveConst>(decl->name.range, decl->name.text);
    return Val::poison();
  }
  if (state.value)
    return *state.value;
  state.busy = true;
  // A constant sees constants and nothing of the kernel that mentions it.
  Frame clean;
  clean.module = module;
  Frame *before = std::exchange(frame, &clean);
  KernelState outer = std::exchange(kernel, KernelState());
  Val value;
  {
    CompileTime asked(*this);
    inScratch([&] { value = eval(decl->value); });
  }
  kernel = std::move(outer);
  frame = before;
  if (!value.isPoison() && !value.isCompileTime()) {
    error<diag::NotCompileTime>(decl->value->range, "the constant `" + decl->name.text.str() + "`",
                                value.describe());
    value = Val::poison();
  }
  ConstState &finished = constants[decl]; // the map may have grown
  finished.busy = false;
  finished.value = value;
  return value;
}

/// What a declaration stands for as a value.
Val Lowerer::declValue(const Declared &declared, SourceRange range) {
  if (auto *constant = dyn_cast<ast::Const>(declared.decl))
    return constantDecl(constant, declared.module);
  if (auto *structure = dyn_cast<ast::Struct>(declared.decl))
    return structName(structure, declared.module);
  Val val;
  if (auto *function = dyn_cast<ast::Function>(declared.decl)) {
    val.kind = Val::Kind::Function;
    val.function = function;
    val.module = declared.module;
    return val;
  }
  error<diag::NotCallable>(range, "the kernel `" + cast<ast::Kernel>(declared.decl)->name.text.str() +
                                      "`")
      .help("what two kernels share is a function: `fn`");
  return val;
}

/// In this order: the file's declarations, its imports, the language, the prelude.
Val Lowerer::globalName(StringRef name, SourceRange range) {
  if (Declared declared = findDecl(name); declared.decl)
    return declValue(declared, range);
  if (const Module *module = findModule(name)) {
    Val val;
    val.kind = Val::Kind::Module;
    val.module = module;
    val.text = name.str();
    return val;
  }
  if (std::optional<Dtype> dtype = dtypeByName(name))
    return Val::ofDtype(*dtype);
  if (std::optional<APFloat> number = namedConstant(name))
    return Val::ofFloat(*number);
  if (name == "None")
    return Val::none();
  if (const Builtin *builtin = findBuiltin(name)) {
    Val val;
    val.kind = Val::Kind::Builtin;
    val.builtin = builtin;
    return val;
  }
  if (const Module *prelude = preludeModule())
    if (const ast::Decl *decl = prelude->decls.lookup(name))
      return declValue({decl, prelude}, range);
  return unknownName(name, range);
}

Val Lowerer::evalName(const ast::Name *expr) {
  if (Binding *binding = frame->scopes.find(expr->text))
    return checkView(binding->val, expr->range, expr->text) ? binding->val : Val::poison();
  if (auto it = kernel.hostNames.find(expr->text);
      frame->seesExtents && it != kernel.hostNames.end() && kernel.op) {
    if (!requirePresent(*it->second.tensor, expr->range))
      return Val::poison();
    Val val = Val::run(hostValue(it->second), {Dtype::I64, false, 0, {}});
    val.origin = it->second.declared;
    return val;
  }
  // The host's expressions are read before the kernel has arguments.
  if (frame->seesExtents && !kernel.op &&
      (kernel.hostNames.contains(expr->text) || kernel.scalars.contains(expr->text))) {
    error<diag::NotCompileTime>(expr->range, "`" + expr->text.str() + "`", "a value of the launch");
    return Val::poison();
  }
  return globalName(expr->text, expr->range);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Val Lowerer::evalUnary(const ast::Unary *expr) {
  Val value = eval(expr->operand);
  StringRef op = spelling(expr->op);
  if (expr->op == ast::UnaryOp::Not)
    if (std::optional<Val> present = presence(value, expr->range))
      value = *present;
  if (!needArithmetic(value, expr->range, op))
    return Val::poison();
  bool truth = value.isBool() || (value.isRun() && value.type.dtype == Dtype::I1);
  bool real = value.kind == Val::Kind::Float || (value.isRun() && isFloat(value.type.dtype));
  bool negate = expr->op == ast::UnaryOp::Neg;
  if (negate ? truth : expr->op == ast::UnaryOp::Not ? !truth : real) {
    Report report = error<diag::OperatorType>(expr->range, op, value.describe());
    if (expr->op == ast::UnaryOp::Not)
      report.help(real ? "compare it with a number: `!= 0`" : "the bits are inverted by `~`");
    if (expr->op == ast::UnaryOp::Not && !real)
      report.fix(expr->opRange, "~");
    return Val::poison();
  }
  if (value.isBool())
    return Val::ofBool(!value.boolean);
  if (value.isInt() && negate)
    return arithmetic(ast::BinaryOp::Sub, Val::ofInt(0), value, expr->range, expr->opRange);
  if (value.isInt())
    return Val::ofInt(~value.integer);
  if (!value.isRun()) {
    APFloat number = *value.real;
    number.changeSign();
    return Val::ofFloat(number);
  }
  Dtype dtype = value.type.dtype;
  Location at = loc(expr->range);
  Value result;
  if (negate && real)
    result = arith::NegFOp::create(builder, at, value.value);
  else if (negate)
    result = arith::SubIOp::create(
        builder, at, constant(Val::ofInt(0), dtype, value.type.shape, expr->range), value.value);
  else
    result = arith::XOrIOp::create(
        builder, at, value.value,
        constant(truth ? Val::ofBool(true) : Val::ofInt(-1), dtype, value.type.shape, expr->range));
  return Val::run(result, value.type);
}

/// `a < b < c` is `(a < b) & (b < c)` with b evaluated once.
Val Lowerer::evalCompare(const ast::CompareChain *expr) {
  std::vector<Val> operands;
  for (const ast::Expr *operand : expr->operands)
    operands.push_back(eval(operand));
  warnBitsCompared(*expr, operands);
  Val result;
  for (size_t i = 0; i < expr->ops.size(); ++i) {
    SourceRange range = join(expr->operands[i]->range, expr->operands[i + 1]->range);
    llvm::SaveAndRestore known(sides, {expr->operands[i]->range, expr->operands[i + 1]->range});
    Val one = compare(expr->ops[i], operands[i], operands[i + 1], range);
    one.origin = range;
    result = i == 0
                 ? one
                 : arithmetic(ast::BinaryOp::BitAnd, result, one, expr->range, expr->opRanges[i]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

Val Lowerer::dtypeMember(Dtype dtype, const ast::Member *expr) {
  StringRef name = expr->name.text;
  if (name == "bits")
    return Val::ofInt(dtypeBits(dtype));
  if (name != "max" && name != "min") {
    error<diag::UnknownMember>(expr->name.range, "the dtype " + dtypeName(dtype).str(), name)
        .help("dtypes have `max`, `min` and `bits`");
    return Val::poison();
  }
  bool max = name == "max";
  if (dtype == Dtype::I1)
    return Val::ofBool(max);
  if (!isFloat(dtype))
    return Val::ofInt(max ? maxOf(dtype) : minOf(dtype));
  return Val::ofFloat(max ? largestOf(dtype) : lowestOf(dtype));
}

/// An extent of a tensor: a number when it is static.
Val Lowerer::tensorExtent(const TensorParam &tensor, unsigned axis, SourceRange range) {
  if (std::optional<int64_t> extent = tensor.staticExtents[axis])
    return Val::ofInt(*extent);
  Value value = ExtentOp::create(builder, loc(range), builder.getI64Type(), tensor.value,
                                 builder.getI64IntegerAttr(axis));
  return Val::run(value, {Dtype::I64, false, 0, {}});
}

Val Lowerer::tensorShape(const TensorParam &tensor, SourceRange range) {
  std::vector<Val> extents;
  for (unsigned axis = 0; axis < tensor.staticExtents.size(); ++axis)
    extents.push_back(tensorExtent(tensor, axis, range));
  return Val::tuple(std::move(extents));
}

/// `tl.load`, `tl.math.exp`, `threadIdx.x`: functions have no prefix here.
bool Lowerer::hasForeignPrefix(const ast::Member *expr) {
  while (auto *outer = dyn_cast<ast::Member>(expr->base))
    expr = outer;
  auto *module = dyn_cast<ast::Name>(expr->base);
  return module && isForeignPrefix(module->text) && !frame->scopes.find(module->text) &&
         !findDecl(module->text).decl && !findModule(module->text);
}

/// Refuses what stands at `range` in the spelling of another language.
void Lowerer::refuseForeign(const Foreign &foreign, SourceRange range) {
  Report report = error<diag::ForeignSpelling>(range, source.getText(range));
  report.help(adviceOf(foreign));
  if (!foreign.spelling.empty())
    report.fix(range, foreign.spelling);
}

void Lowerer::refuseForeignMember(const ast::Member *expr) {
  StringRef name = expr->name.text, path = source.getText(expr->range);
  const Foreign *foreign = foreignName(path);
  if (foreign || (foreign = foreignName(name)))
    return refuseForeign(*foreign, expr->range);
  const Module *prelude = preludeModule();
  bool known = findBuiltin(name) || dtypeByName(name) || namedConstant(name) ||
               (prelude && prelude->decls.contains(name));
  std::vector<StringRef> names;
  if (prelude)
    collectDeclared(*prelude, names);
  for (const Builtin &builtin : allBuiltins())
    names.push_back(builtin.name);
  StringRef near = known ? name : nearestName(name, names);
  Report report = error<diag::ForeignSpelling>(expr->range, path);
  if (known)
    report.help("write `" + name + "`").fix(expr->range, name);
  else if (!near.empty())
    report.help("functions have no module prefix; did you mean `" + near + "`?")
        .fix(expr->range, near);
  else
    report.help("functions have no module prefix, and none is called `" + name + "`");
}

Val Lowerer::evalMember(const ast::Member *expr) {
  return memberOf(hasForeignPrefix(expr) ? Val() : eval(expr->base), expr);
}

/// The member of `base`, which is the value of the expression's base.
Val Lowerer::memberOf(const Val &base, const ast::Member *expr) {
  StringRef name = expr->name.text;
  if (hasForeignPrefix(expr)) {
    refuseForeignMember(expr);
    return Val::poison();
  }
  if (base.isPoison())
    return base;
  if (base.kind == Val::Kind::Dtype)
    return dtypeMember(base.dtype, expr);
  if (base.kind == Val::Kind::Module)
    return moduleMember(base, expr);
  if (base.kind == Val::Kind::Struct) {
    std::optional<size_t> field = fieldIndex(base, expr->name);
    return field ? base.elements[*field] : Val::poison();
  }
  bool tile = base.isRun();
  if (name == "shape" && base.kind == Val::Kind::Tensor)
    return requirePresent(*base.tensor, expr->range) ? tensorShape(*base.tensor, expr->range)
                                                     : Val::poison();
  if (name == "shape" && tile) {
    std::vector<Val> sides;
    for (int64_t side : base.type.shape)
      sides.push_back(Val::ofInt(side));
    return Val::tuple(std::move(sides));
  }
  if (name == "dtype" && (tile || base.kind == Val::Kind::Tensor))
    return Val::ofDtype(tile ? base.type.dtype : base.tensor->dtype);
  if (name == "T" && tile)
    return TileLowerer(*this).transpose(base, expr->range, ".T");
  const Foreign *foreign =
      tile || base.kind == Val::Kind::Tensor ? foreignMember(name) : nullptr;
  if (foreign) {
    refuseForeign(*foreign, expr->name.range);
    return Val::poison();
  }
  Report report = error<diag::UnknownMember>(expr->name.range, base.describe(), name);
  if (name == "to" || name == "stride")
    report.help("it is called: `." + name + (name == "to" ? "(f32)`" : "(0)`"));
  return Val::poison();
}

Val Lowerer::evalTupleIndex(const ast::TupleIndex *expr) {
  Val base = eval(expr->base);
  if (base.isPoison())
    return base;
  if (base.isTuple() && expr->index < base.elements.size())
    return base.elements[expr->index];
  error<diag::UnknownMember>(expr->indexRange, base.describe(), std::to_string(expr->index));
  return Val::poison();
}

//===----------------------------------------------------------------------===//
// Compile-time needs
//===----------------------------------------------------------------------===//

/// The run-time parameter of this name of the function being elaborated, or null.
const ast::FnParam *Lowerer::parameterOf(StringRef name) {
  const Binding *binding = frame->function ? frame->scopes.find(name) : nullptr;
  if (!binding)
    return nullptr;
  for (const ast::FnParam &param : frame->function->params)
    if (param.name.range == binding->declared && !param.isConst)
      return &param;
  return nullptr;
}

std::optional<Int128> Lowerer::needInt(const Val &value, SourceRange range, StringRef what) {
  if (value.isInt())
    return value.integer;
  if (value.isPoison())
    return std::nullopt;
  if (value.isCompileTime()) {
    error<diag::TypeMismatch>(range, what, "an integer", value.describe());
    return std::nullopt;
  }
  Report report = error<diag::NotCompileTime>(range, what, value.describe());
  report.note(value.origin == range ? SourceRange() : value.origin, "the value comes from here");
  if (const ast::FnParam *param = parameterOf(source.getText(range))) {
    report.help("make it a parameter that is known at compile time: `const`")
        .fix({param->range.begin, param->range.begin}, "const ");
    if (param->type)
      report.fix(param->type->range, "int");
  } else
    report.help("make it a compile-time parameter: `kernel k[BLOCK: int = 128](...)`");
  return std::nullopt;
}

std::optional<Int128> Lowerer::evalInt(const ast::Expr *expr, StringRef what) {
  return needInt(evalCompileTime(expr), expr->range, what);
}

std::optional<Dtype> Lowerer::evalDtype(const ast::Expr *expr) {
  Val value = evalCompileTime(expr);
  if (value.kind == Val::Kind::Dtype)
    return value.dtype;
  if (!value.isPoison())
    error<diag::TypeMismatch>(expr->range, "this", "a dtype", value.describe());
  return std::nullopt;
}

std::optional<int64_t> Lowerer::checkSide(Int128 side, SourceRange range) {
  if (side < 1) {
    error<diag::BadTileSide>(range, toString(side));
    return std::nullopt;
  }
  if (side > kMaxTileElements) {
    error<diag::TileTooLarge>(range, "[" + toString(side) + "]", toString(side), kMaxTileElements);
    return std::nullopt;
  }
  return int64_t(side);
}

bool Lowerer::checkTile(ArrayRef<int64_t> shape, SourceRange range) {
  // As many axes as a tensor may have.
  constexpr size_t kMaxRank = 8;
  if (shape.size() > kMaxRank) {
    error<diag::ValueOutside>(range, "the rank of a tile", "at most 8",
                              std::to_string(shape.size()));
    return false;
  }
  Int128 elements = 1;
  for (int64_t side : shape)
    elements = std::min<Int128>(elements * side, Int128(1) << 100); // a side is at most 2^20
  if (elements <= kMaxTileElements)
    return true;
  error<diag::TileTooLarge>(range, describeShape(shape), toString(elements), kMaxTileElements);
  return false;
}
