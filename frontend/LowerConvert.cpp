//===- LowerConvert.cpp - constants, broadcasts and conversions ---------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

Type Lowerer::mlirType(Dtype dtype, ArrayRef<int64_t> shape) {
  Type element = toMlir(&context, dtype);
  return shape.empty() ? element : RankedTensorType::get(shape, element);
}

/// The numbers at the end have the parameter's alias class. Tables of addresses, which are never
/// written, have classes of their own beyond those of the parameters.
Type Lowerer::pointerType(const RunType &type, int64_t aliasClass) {
  Type pointer = PtrType::get(&context, toMlir(&context, type.dtype), aliasClass);
  for (unsigned level = 0; level < type.indirections; ++level) {
    aliasClass += int64_t(kernel.decl->params.size());
    pointer = PtrType::get(&context, pointer, aliasClass);
  }
  return pointer;
}

Type Lowerer::mlirType(const RunType &type) {
  if (!type.pointer)
    return mlirType(type.dtype, type.shape);
  int64_t aliasClass = 0;
  for (const auto &tensor : kernel.tensors)
    if (tensor->index == type.param)
      aliasClass = tensor->aliasClass;
  Type pointer = pointerType(type, aliasClass);
  return type.shape.empty() ? pointer : RankedTensorType::get(type.shape, pointer);
}

TypedAttr Lowerer::numberAttr(const Val &number, Dtype dtype, const CastRule &rule) {
  Type element = toMlir(&context, dtype);
  if (isFloat(dtype)) {
    APFloat wide = number.isInt() ? floatFromInt(number.integer) : *number.real;
    return FloatAttr::get(element, roundTo(wide, dtype, rule));
  }
  uint64_t bits = number.isBool() ? number.boolean : uint64_t(number.integer);
  return IntegerAttr::get(element, APInt(dtypeBits(dtype), bits, /*isSigned=*/false,
                                         /*implicitTrunc=*/true));
}

Value Lowerer::constant(const Val &number, Dtype dtype, ArrayRef<int64_t> shape,
                        SourceRange range, const CastRule &rule) {
  TypedAttr value = numberAttr(number, dtype, rule);
  if (!shape.empty())
    value = DenseElementsAttr::get(cast<ShapedType>(mlirType(dtype, shape)), Attribute(value));
  return arith::ConstantOp::create(builder, loc(range), value);
}

Value Lowerer::broadcastTo(Value value, ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                           SourceRange range) {
  if (from == to)
    return value;
  Type type = RankedTensorType::get(to, elementTypeOf(value.getType()));
  if (from.empty())
    return SplatOp::create(builder, loc(range), type, value);
  return BroadcastOp::create(builder, loc(range), type, value);
}

Value Lowerer::materialize(const Val &value, Dtype dtype, ArrayRef<int64_t> shape,
                           SourceRange range) {
  if (!value.isRun())
    return constant(value, dtype, shape, range);
  if (dtype == Dtype::I64 || dtype == Dtype::U64)
    warnNarrowProduct(value, range, "is widened to " + dtypeName(dtype).str());
  Value converted = convert(value.value, value.type.dtype, dtype, value.type.shape, range);
  return broadcastTo(converted, value.type.shape, shape, range);
}

Value Lowerer::coerce(const Val &value, const RunType &type, SourceRange range, StringRef what) {
  if (value.isPoison())
    return {};
  if (!value.isNumeric() || type.pointer) {
    if (value.isRun() && value.type == type)
      return value.value;
    error<diag::TypeMismatch>(range, what, type.str(), value.describe());
    return {};
  }
  if (value.isRun()) {
    // The common type says what may meet at all; it must not be wider than the target.
    // "the result of ..." is written somewhere else than at `range`.
    SourceRange written = what.starts_with("the ") ? SourceRange() : range;
    llvm::SaveAndRestore known(sides, {written, SourceRange()});
    std::optional<Dtype> common = commonRun(value.type.dtype, type.dtype, range, what);
    if (!common)
      return {};
    if (*common != type.dtype) {
      Report report =
          error<diag::Narrowing>(range, what, dtypeName(value.type.dtype), dtypeName(type.dtype));
      report.help("say so: `.to(" + dtypeName(type.dtype) + ")`");
      report.fixSuffix(written, ".to(" + dtypeName(type.dtype) + ")");
      return {};
    }
  } else if (!adaptConst(value, type.dtype, range, what))
    return {};
  ArrayRef<int64_t> from = value.shape();
  bool fits = from.empty() || from.size() == type.shape.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[i] == type.shape[i] || from[i] == 1;
  if (!fits) {
    error<diag::ShapeMismatch>(range, what, describeShape(type.shape), describeShape(from))
        .note(value.origin, describeShape(from) + " comes from here");
    return {};
  }
  return materialize(value, type.dtype, type.shape, range);
}

std::optional<Val> Lowerer::asRun(const Val &value, SourceRange range) {
  if (value.isRun())
    return value;
  Dtype dtype = defaultDtype(value);
  if (!value.isConstNumber() || !adaptConst(value, dtype, range, "a number"))
    return std::nullopt;
  return Val::run(constant(value, dtype, {}, range), {dtype, false, 0, {}});
}
