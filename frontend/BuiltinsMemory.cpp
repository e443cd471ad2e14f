//===- BuiltinsMemory.cpp - where a program stands, and tiles from nothing -----===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Where a program stands, new tiles
//===----------------------------------------------------------------------===//

Val Lowerer::buildProgramId(CallArgs &args) {
  std::optional<Int128> axis = needInt(args.values[0], args.rangeOf(0), "a grid axis");
  if (!axis)
    return Val::poison();
  if (*axis < 0 || *axis >= Int128(kernel.gridRank)) {
    error<diag::BadAxis>(args.rangeOf(0), toString(*axis), kernel.gridRank, "the grid")
        .note(kernel.decl ? kernel.decl->name.range : SourceRange(), "of this kernel");
    return Val::poison();
  }
  IntegerAttr number = builder.getI64IntegerAttr(int64_t(*axis));
  Value result =
      args.builtin->name == "program_id"
          ? Value(ProgramIdOp::create(builder, loc(args.range), builder.getI64Type(), number))
          : Value(NumProgramsOp::create(builder, loc(args.range), builder.getI64Type(), number));
  return Val::run(result, {Dtype::I64, false, 0, {}});
}

Val Lowerer::buildArange(CallArgs &args) {
  std::optional<Int128> start = needInt(args.values[0], args.rangeOf(0), "the start of `arange`");
  std::optional<Int128> end = needInt(args.values[1], args.rangeOf(1), "the end of `arange`");
  if (!start || !end)
    return Val::poison();
  if (!fits(*start, Dtype::I32) || !fits(*end, Dtype::I32)) {
    error<diag::NumberRange>(args.range, toString(fits(*start, Dtype::I32) ? *end : *start), "i32");
    return Val::poison();
  }
  std::optional<int64_t> side = checkSide(*end - *start, args.range);
  if (!side)
    return Val::poison();
  RunType type{Dtype::I32, false, 0, {*side}};
  Value result = ArangeOp::create(builder, loc(args.range), mlirType(type),
                                  builder.getI64IntegerAttr(int64_t(*start)));
  return Val::run(result, type);
}

std::optional<Shape> Lowerer::sidesOf(CallArgs &args) {
  Shape shape;
  bool good = true;
  for (const ast::Expr *expr : args.rest) {
    std::optional<Int128> side = evalInt(expr, "the side of a tile");
    std::optional<int64_t> checked = side ? checkSide(*side, expr->range) : std::nullopt;
    good &= checked.has_value();
    shape.push_back(checked.value_or(1));
  }
  return good && checkTile(shape, args.range) ? std::optional<Shape>(shape) : std::nullopt;
}

/// zeros[T](sides), full[T](value, sides); without T the number decides.
Val Lowerer::filledTile(CallArgs &args, const Val &value) {
  std::optional<Dtype> dtype;
  if (args.typeArgs.size() > 1 ||
      (args.typeArgs.size() == 1 && args.typeArgs[0].kind != ast::Index::Kind::Expr)) {
    error<diag::TooManyArguments>(args.range, args.builtin->name, "one dtype in brackets",
                                  std::to_string(args.typeArgs.size()));
    return Val::poison();
  }
  if (!args.typeArgs.empty() && !(dtype = evalDtype(args.typeArgs[0].value)))
    return Val::poison();
  std::optional<Shape> shape = sidesOf(args);
  if (!shape || value.isPoison() || !needNumber(value, args.range, args.builtin->name))
    return Val::poison();
  if (!value.shape().empty()) {
    error<diag::TypeMismatch>(args.range, "the value of `full`", "a scalar", value.describe());
    return Val::poison();
  }
  // An integer that meets nothing is i32 as a tile.
  Dtype meets = value.isInt() ? Dtype::I32 : defaultDtype(value);
  RunType type{dtype.value_or(meets), false, 0, *shape};
  if (!isBuilt(type.dtype))
    return notBuilt(args.range, "tiles of `" + dtypeName(type.dtype) + "`");
  bool zeroTruth = type.dtype == Dtype::I1 && value.isInt() && value.integer == 0;
  Value result = coerce(zeroTruth ? Val::ofBool(false) : value, type, args.range,
                        "`" + args.builtin->name.str() + "`");
  return result ? Val::run(result, type) : Val::poison();
}

Val Lowerer::buildZeros(CallArgs &args) {
  if (args.typeArgs.empty()) {
    error<diag::MissingArgument>(args.range, "zeros", "dtype").help("write `zeros[f32](...)`");
    return Val::poison();
  }
  return filledTile(args, Val::ofInt(0));
}

Val Lowerer::buildFull(CallArgs &args) {
  return filledTile(args, args.values[0]);
}
