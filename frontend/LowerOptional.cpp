//===- LowerOptional.cpp - parameters that may be absent ------------------------------===//
//
// A parameter that may be absent is used only where a condition says that it is there. What is
// known of that belongs to the place in the code, not to a name: it holds in functions called there.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

/// Says, unless a condition around has made sure, that a parameter may be absent.
bool Lowerer::requirePresent(const TensorParam &tensor, SourceRange range) {
  if (!tensor.optional || kernel.present.contains(tensor.index))
    return true;
  StringRef name = tensor.decl->name.text;
  error<diag::MaybeAbsent>(range, name)
      .note(tensor.decl->range, "it is declared here")
      .help("use it where a condition says that it is there: `if " + name + " { ... }`");
  return false;
}

/// `if bias { ... }`: the condition as a value; none when `value` is no optional parameter.
std::optional<Val> Lowerer::presence(const Val &value, SourceRange range) {
  const TensorParam *tensor = value.kind == Val::Kind::Tensor ? value.tensor : nullptr;
  if (const TensorParam *param = value.isPointer() ? paramOf(value) : nullptr)
    if (value.value == param->value)
      tensor = param;
  if (!tensor || !tensor->optional)
    return std::nullopt;
  if (kernel.present.contains(tensor->index))
    return Val::ofBool(true);
  Value result = PresentOp::create(builder, loc(range), builder.getI1Type(), tensor->value);
  return Val::run(result, {Dtype::I1, false, 0, {}});
}

/// The optional parameters that are there when `condition` is `truth`.
void Lowerer::collectPresent(const ast::Expr *condition, bool truth,
                             SmallVectorImpl<unsigned> &found) {
  if (auto *name = dyn_cast<ast::Name>(condition)) {
    Binding *binding = truth ? frame->scopes.find(name->text) : nullptr;
    if (!binding)
      return;
    const Val &value = binding->val;
    if (value.kind == Val::Kind::Tensor && value.tensor->optional)
      found.push_back(value.tensor->index);
    else if (const TensorParam *param = value.isPointer() ? paramOf(value) : nullptr)
      found.push_back(param->index);
  } else if (auto *unary = dyn_cast<ast::Unary>(condition)) {
    if (unary->op == ast::UnaryOp::Not)
      collectPresent(unary->operand, !truth, found);
  } else if (auto *logical = dyn_cast<ast::Logical>(condition)) {
    if (truth == (logical->op == ast::LogicalOp::And))
      for (const ast::Expr *operand : logical->operands)
        collectPresent(operand, truth, found);
  }
}

Lowerer::Narrowed::Narrowed(Lowerer &lowerer, ArrayRef<ast::Expr *> conditions, bool truth)
    : lowerer(lowerer), before(lowerer.kernel.present) {
  SmallVector<unsigned> found;
  for (const ast::Expr *condition : conditions)
    lowerer.collectPresent(condition, truth, found);
  lowerer.kernel.present.insert(found.begin(), found.end());
}
