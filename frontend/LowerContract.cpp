//===- LowerContract.cpp - extents, and the expressions the host evaluates ---===//
//
// An expression over extents, strides and scalar parameters becomes an integer, a name, or an
// array [operator, operands...], as docs/metadata.md has it; what is known at compile time folds.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static std::optional<Int128> intOf(Attribute attr) {
  auto number = dyn_cast<IntegerAttr>(attr);
  return number ? std::optional<Int128>(number.getInt()) : std::nullopt;
}

Attribute Lowerer::hostInt(Int128 value, SourceRange range) {
  if (fits(value, Dtype::I64))
    return builder.getI64IntegerAttr(int64_t(value));
  error<diag::NumberRange>(range, toString(value), "i64");
  return {};
}

/// The value of an operator on numbers; nullopt where the host would report an error.
static std::optional<Int128> foldOperator(StringRef op, ArrayRef<Int128> v) {
  using ast::BinaryOp;
  auto binary = [&](BinaryOp op) -> std::optional<Int128> {
    ConstResult<Int128> result = evalInt(op, v[0], v[1]);
    return result.error == ConstError::None ? std::optional<Int128>(result.value) : std::nullopt;
  };
  if (op == "add" || op == "sub" || op == "mul")
    return binary(op == "add" ? BinaryOp::Add : op == "sub" ? BinaryOp::Sub : BinaryOp::Mul);
  if (op == "div" || op == "mod")
    return binary(op == "div" ? BinaryOp::IntDiv : BinaryOp::Rem);
  if (op == "cdiv" || op == "round_up")
    return v[1] <= 0 ? std::nullopt
                     : std::optional<Int128>(ceilDiv(v[0], v[1]) * (op == "cdiv" ? 1 : v[1]));
  if (op == "min" || op == "max")
    return op == "min" ? std::min(v[0], v[1]) : std::max(v[0], v[1]);
  if (op == "and" || op == "or")
    return op == "and" ? v[0] && v[1] : v[0] || v[1];
  if (op == "divides")
    return v[0] <= 0 ? std::nullopt : std::optional<Int128>(v[1] % v[0] == 0);
  if (op == "not")
    return !v[0];
  if (op == "select")
    return v[0] ? v[1] : v[2];
  if (op == "next_pow2") {
    Int128 power = 1;
    while (power < v[0])
      power *= 2;
    return power;
  }
  return llvm::StringSwitch<std::optional<Int128>>(op)
      .Case("eq", v[0] == v[1])
      .Case("ne", v[0] != v[1])
      .Case("lt", v[0] < v[1])
      .Case("le", v[0] <= v[1])
      .Case("gt", v[0] > v[1])
      .Case("ge", v[0] >= v[1])
      .Default(std::nullopt);
}

/// A division that is an error whenever it is evaluated.
bool Lowerer::checkDivisor(StringRef op, ArrayRef<Attribute> operands, SourceRange range) {
  bool positive = op == "cdiv" || op == "round_up";
  if (!positive && op != "div" && op != "mod")
    return true;
  std::optional<Int128> divisor = operands[1] ? intOf(operands[1]) : std::nullopt;
  if (!divisor || (positive ? *divisor > 0 : *divisor != 0))
    return true;
  error<diag::NotForHost>(range, "`" + source.getText(range).str() + "`, which divides by " +
                                     toString(*divisor));
  return false;
}

Attribute Lowerer::foldHost(StringRef op, ArrayRef<Attribute> operands, SourceRange range) {
  if (!checkDivisor(op, operands, range))
    return {};
  SmallVector<Int128> numbers;
  for (Attribute operand : operands) {
    if (!operand)
      return {};
    if (std::optional<Int128> number = intOf(operand))
      numbers.push_back(*number);
  }
  if (numbers.size() == operands.size()) {
    if (std::optional<Int128> result = foldOperator(op, numbers))
      return hostInt(*result, range);
    error<diag::NotForHost>(range, "`" + source.getText(range).str() + "`: it has no value");
    return {};
  }
  // What a constant decides; the other operands are not evaluated then.
  std::optional<Int128> first = intOf(operands[0]);
  if (op == "select" && first)
    return operands[*first ? 1 : 2];
  if ((op == "and" || op == "or") && first)
    return (*first != 0) == (op == "and") ? operands[1] : operands[0];
  // `N % 16 == 0` is how one says it, `divides` what alignment analysis looks for.
  auto list = op == "eq" ? dyn_cast<ArrayAttr>(operands[0]) : ArrayAttr();
  if (list && list.size() == 3 && list[0] == builder.getStringAttr("mod") &&
      intOf(operands[1]) == Int128(0) && intOf(list[2]).value_or(0) > 0)
    return builder.getArrayAttr({builder.getStringAttr("divides"), list[2], list[1]});
  SmallVector<Attribute> elements = {builder.getStringAttr(op)};
  elements.append(operands.begin(), operands.end());
  return builder.getArrayAttr(elements);
}

Attribute Lowerer::hostName(const ast::Name *name) {
  StringRef text = name->text;
  if (auto it = kernel.hostNames.find(text); it != kernel.hostNames.end())
    return it->second.expr;
  if (auto it = kernel.scalars.find(text); it != kernel.scalars.end()) {
    std::optional<Dtype> dtype = resolveDtype(cast<ast::NamedType>(it->second->type)->name);
    if (!dtype)
      return {};
    if (isFloat(*dtype)) {
      error<diag::NotForHost>(name->range, "the float `" + text.str() + "`")
          .note(it->second->name.range, "it is declared here");
      return {};
    }
    return builder.getStringAttr(text);
  }
  if (isParameter(text))
    return hostPresence(name);
  if (text == "occupancy" && !frame->scopes.find(text) && !findDecl(text).decl)
    return builder.getStringAttr("occ.blocks_per_sm");
  Val value;
  if (Binding *binding = frame->scopes.find(text))
    value = binding->val;
  else if (findDecl(text).decl)
    value = globalName(text, name->range);
  else if (inExtents) {
    error<diag::UnboundExtent>(name->range, text)
        .help("a name is bound where it stands alone: `x: f32[" + text + "]`");
    return {};
  } else
    value = globalName(text, name->range);
  if (value.isInt())
    return hostInt(value.integer, name->range);
  if (value.isBool())
    return builder.getI64IntegerAttr(value.boolean);
  if (!value.isPoison())
    error<diag::NotForHost>(name->range, value.describe());
  return {};
}

/// The name of an optional parameter is a condition, as it is in the kernel.
Attribute Lowerer::hostPresence(const ast::Name *name) {
  auto tensor = llvm::find_if(
      kernel.tensors, [&](const auto &item) { return item->decl->name.text == name->text; });
  if ((*tensor)->optional)
    return builder.getArrayAttr({builder.getStringAttr("ne"),
                                 builder.getStringAttr(name->text + ".ptr"),
                                 builder.getI64IntegerAttr(0)});
  error<diag::NotForHost>(name->range, "the parameter `" + name->text.str() + "`")
      .note((*tensor)->decl->range, "it is declared here")
      .help("the host knows extents, strides and integer scalars");
  return {};
}

Attribute Lowerer::hostBinary(const ast::Binary *expr) {
  StringRef op = llvm::StringSwitch<StringRef>(spelling(expr->op))
                     .Case("+", "add")
                     .Case("-", "sub")
                     .Case("*", "mul")
                     .Case("//", "div")
                     .Case("%", "mod")
                     .Default("");
  if (op.empty() && isHostFree(expr))
    return hostConstant(expr);
  if (op.empty()) {
    Report report = error<diag::NotForHost>(expr->opRange, "`" + spelling(expr->op).str() + "`");
    if (expr->op == ast::BinaryOp::Div)
      report.help("integers are divided by `//` or `cdiv`");
    return {};
  }
  Attribute lhs = hostExpr(expr->lhs), rhs = hostExpr(expr->rhs);
  return foldHost(op, {lhs, rhs}, expr->range);
}

Attribute Lowerer::hostCompare(const ast::CompareChain *expr) {
  SmallVector<Attribute> operands;
  for (const ast::Expr *operand : expr->operands)
    operands.push_back(hostExpr(operand));
  Attribute all;
  for (size_t i = 0; i < expr->ops.size(); ++i) {
    StringRef op = llvm::StringSwitch<StringRef>(spelling(expr->ops[i]))
                       .Case("<", "lt")
                       .Case("<=", "le")
                       .Case(">", "gt")
                       .Case(">=", "ge")
                       .Case("==", "eq")
                       .Default("ne");
    Attribute one = foldHost(op, {operands[i], operands[i + 1]}, expr->range);
    all = i == 0 ? one : foldHost("and", {all, one}, expr->range);
  }
  return all;
}

Attribute Lowerer::hostCall(const ast::Call *call) {
  if (auto *member = dyn_cast<ast::Member>(call->callee)) {
    auto *base = dyn_cast<ast::Name>(member->base);
    auto *axis = call->args.size() == 1 ? dyn_cast<ast::IntLit>(call->args[0]) : nullptr;
    for (auto &tensor : kernel.tensors) {
      if (!base || !axis || tensor->pointer || member->name.text != "stride" ||
          tensor->decl->name.text != base->text)
        continue;
      unsigned rank = cast<ast::BracketType>(tensor->decl->type)->args.size();
      if (axis->getValue().ult(rank))
        return builder.getStringAttr(base->text + ".s" + axis->digits);
      error<diag::BadAxis>(axis->range, axis->digits, rank, "`" + base->text.str() + "`");
      return {};
    }
  }
  auto *name = dyn_cast<ast::Name>(call->callee);
  if (name && name->text == "num_programs")
    return hostPrograms(call);
  if (isHostFree(call))
    return hostConstant(call);
  StringRef op = llvm::StringSwitch<StringRef>(name ? name->text : "")
                     .Cases({"minimum", "min"}, "min")
                     .Cases({"maximum", "max"}, "max")
                     .Cases({"cdiv", "round_up", "next_pow2"}, name ? name->text : "")
                     .Default("");
  size_t arity = op == "next_pow2" ? 1 : 2;
  if (op.empty() || call->args.size() != arity || !call->namedArgs.empty()) {
    error<diag::NotForHost>(call->range, "`" + source.getText(call->range).str() + "`")
        .help("host expressions have cdiv(a, b), round_up(a, b), minimum(a, b), maximum(a, b), "
              "next_pow2(a) and x.stride(0)");
    return {};
  }
  SmallVector<Attribute> operands;
  for (const ast::Expr *arg : call->args)
    operands.push_back(hostExpr(arg));
  return foldHost(op, operands, call->range);
}

/// `num_programs(0)` among the extents of workspace: what `@grid` says of that axis.
Attribute Lowerer::hostPrograms(const ast::Call *call) {
  const auto *grid = llvm::find_if(kernel.decl->attributes, [](const ast::Attribute &attr) {
    return attr.name.text == "grid";
  });
  if (!inWorkspace || grid == kernel.decl->attributes.end() || call->args.size() != 1 ||
      !call->namedArgs.empty()) {
    error<diag::NotForHost>(call->range, "`" + source.getText(call->range).str() + "`")
        .help("`num_programs(0)` stands among the extents of a `scratch` parameter");
    return {};
  }
  std::optional<Int128> axis = evalInt(call->args[0], "a grid axis");
  if (!axis)
    return {};
  if (*axis < 0 || *axis >= Int128(grid->args.size())) {
    error<diag::BadAxis>(call->args[0]->range, toString(*axis), grid->args.size(), "the grid")
        .note(grid->range, "it is written here");
    return {};
  }
  llvm::SaveAndRestore outside(inWorkspace, false), extents(inExtents, false);
  return hostExpr(grid->args[size_t(*axis)]);
}

Attribute Lowerer::hostOther(const ast::Expr *expr) {
  if (auto *logical = dyn_cast<ast::Logical>(expr)) {
    Attribute all;
    for (const ast::Expr *operand : logical->operands) {
      Attribute one = hostExpr(operand);
      StringRef op = logical->op == ast::LogicalOp::And ? "and" : "or";
      all = operand == logical->operands.front() ? one : foldHost(op, {all, one}, expr->range);
    }
    return all;
  }
  if (auto *choice = dyn_cast<ast::IfExpr>(expr)) {
    Attribute result = hostExpr(choice->elseValue);
    for (const ast::IfExprArm &arm : llvm::reverse(choice->arms))
      result =
          foldHost("select", {hostExpr(arm.condition), hostExpr(arm.value), result}, expr->range);
    return result;
  }
  auto *member = dyn_cast<ast::Member>(expr);
  auto *base = member ? dyn_cast<ast::Name>(member->base) : nullptr;
  if (base && base->text == "device" && member->name.text == "sms")
    return builder.getStringAttr("sms");
  if (isHostFree(expr))
    return hostConstant(expr);
  error<diag::NotForHost>(expr->range, "`" + source.getText(expr->range).str() + "`");
  return {};
}

Attribute Lowerer::hostExpr(const ast::Expr *expr) {
  // The verifier of #tk.contract and the loader stop at 32 levels.
  constexpr unsigned kMaxHostHeight = 28;
  if (expr->height > kMaxHostHeight) {
    error<diag::TooDeep>(expr->range, "expressions for the host", kMaxHostHeight);
    return {};
  }
  if (auto *name = dyn_cast<ast::Name>(expr))
    return hostName(name);
  if (auto *literal = dyn_cast<ast::IntLit>(expr)) {
    std::optional<Int128> value = toInt128(literal->getValue());
    if (value)
      return hostInt(*value, expr->range);
    error<diag::NumberRange>(expr->range, literal->spelling, "i64");
    return {};
  }
  if (auto *literal = dyn_cast<ast::BoolLit>(expr))
    return builder.getI64IntegerAttr(literal->value);
  if (auto *binary = dyn_cast<ast::Binary>(expr))
    return hostBinary(binary);
  if (auto *chain = dyn_cast<ast::CompareChain>(expr))
    return hostCompare(chain);
  if (auto *call = dyn_cast<ast::Call>(expr))
    return hostCall(call);
  if (auto *unary = dyn_cast<ast::Unary>(expr)) {
    Attribute operand = hostExpr(unary->operand);
    if (unary->op == ast::UnaryOp::Neg)
      return foldHost("sub", {builder.getI64IntegerAttr(0), operand}, expr->range);
    if (unary->op == ast::UnaryOp::Not)
      return foldHost("not", {operand}, expr->range);
  }
  return hostOther(expr);
}

//===----------------------------------------------------------------------===//
// Extents and strides
//===----------------------------------------------------------------------===//

/// Gives the bare names of a tensor's extents and strides their meaning, by first use.
void Lowerer::bindExtents(const ast::BracketType &type, TensorParam &tensor) {
  auto bind = [&](const ast::Expr *expr, unsigned axis, bool isStride) {
    auto *name = expr ? dyn_cast<ast::Name>(expr) : nullptr;
    if (name && isParameter(name->text))
      error<diag::ExtentNamesParameter>(name->range, name->text)
          .help("take another name: `" + tensor.decl->name.text + ": f32[N]`");
    if (!name || name->text == "_" || frame->scopes.find(name->text) || isParameter(name->text) ||
        kernel.scalars.contains(name->text) ||
        isa_and_nonnull<ast::Const>(findDecl(name->text).decl))
      return;
    HostName &host = kernel.hostNames[name->text];
    if (host.uses++ == 0) {
      host.expr = builder.getStringAttr(name->text);
      host.tensor = &tensor;
      host.axis = axis;
      host.isStride = isStride;
      host.declared = name->range;
    }
  };
  for (auto [axis, expr] : llvm::enumerate(type.args))
    bind(expr, axis, false);
  for (auto [axis, stride] : llvm::enumerate(type.strides))
    bind(stride.value, axis, true);
}

DictionaryAttr Lowerer::tensorEntry(TensorParam &tensor) {
  auto *type = cast<ast::BracketType>(tensor.decl->type);
  StringRef name = tensor.decl->name.text;
  bool scratch = tensor.decl->access == ast::Access::Scratch;
  llvm::SaveAndRestore workspace(inWorkspace, scratch);
  SmallVector<Attribute> extents, strides;
  tensor.staticExtents.clear();
  for (const ast::Expr *expr : type->args) {
    auto *bare = dyn_cast<ast::Name>(expr);
    bool any = bare && bare->text == "_" && !scratch;
    NameUse use;
    if (!bare || scratch)
      collectNames(expr, use);
    for (const auto &entry : use.mentioned)
      if (auto it = kernel.hostNames.find(entry.first()); it != kernel.hostNames.end())
        ++it->second.uses;
    inExtents = true;
    Attribute extent = any ? builder.getStringAttr("_") : hostExpr(expr);
    inExtents = false;
    if (!extent)
      return {};
    auto number = dyn_cast<IntegerAttr>(extent);
    if (number && number.getInt() < 0) {
      error<diag::ValueOutside>(expr->range, "an extent of `" + name.str() + "`", "0 or more",
                                std::to_string(number.getInt()));
      return {};
    }
    tensor.staticExtents.push_back(number ? std::optional<int64_t>(number.getInt()) : std::nullopt);
    extents.push_back(extent);
  }
  size_t rank = extents.size();
  if (!type->strides.empty() && type->strides.size() != rank) {
    error<diag::ValueOutside>(type->range, "the number of strides of `" + name.str() + "`",
                              "its rank " + std::to_string(rank),
                              std::to_string(type->strides.size()));
    return {};
  }
  if (scratch) // dense, the last axis innermost
    for (size_t axis = 0; axis < rank; ++axis) {
      Attribute stride = builder.getI64IntegerAttr(1);
      for (size_t inner = rank; inner-- > axis + 1;)
        stride = inner + 1 == rank ? extents[inner]
                                   : foldHost("mul", {extents[inner], stride}, type->range);
      strides.push_back(stride);
    }
  for (size_t axis = strides.size(); axis < rank; ++axis) {
    Attribute own = builder.getStringAttr(name + ".s" + Twine(axis));
    const ast::Stride *stride = type->strides.empty() ? nullptr : &type->strides[axis];
    if (stride && !stride->isAny())
      strides.push_back(hostExpr(stride->value));
    else
      strides.push_back(!stride && axis + 1 == rank ? builder.getI64IntegerAttr(1) : own);
    if (!strides.back())
      return {};
  }
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("extents", builder.getArrayAttr(extents)),
       builder.getNamedAttr("strides", builder.getArrayAttr(strides))});
}

/// Extents are emitted once, at the entry, in the order of their first use.
Value Lowerer::hostValue(HostName &name) {
  if (name.value)
    return name.value;
  OpBuilder::InsertionGuard guard(builder);
  if (kernel.lastExtent)
    builder.setInsertionPointAfter(kernel.lastExtent);
  else
    builder.setInsertionPointToStart(&kernel.op.getBody().front());
  Location place = source.getLocation(context, name.declared);
  if (name.isStride)
    name.value = StrideOp::create(builder, place, builder.getI64Type(), name.tensor->value,
                                  builder.getI64IntegerAttr(name.axis));
  else
    name.value = ExtentOp::create(builder, place, builder.getI64Type(), name.tensor->value,
                                  builder.getI64IntegerAttr(name.axis));
  kernel.lastExtent = name.value.getDefiningOp();
  return name.value;
}
