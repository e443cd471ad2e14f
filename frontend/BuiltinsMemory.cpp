//===- BuiltinsMemory.cpp - tiles from nothing -----------------------------------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

Val Lowerer::buildArange(CallArgs &args) {
  std::optional<Int128> start = needInt(args.values[0], args.rangeOf(0), "the start of `arange`");
  std::optional<Int128> end = needInt(args.values[1], args.rangeOf(1), "the end of `arange`");
  if (!start || !end)
    return Val::poison();
  Int128 last = *end - 1;
  if (!fits(*start, Dtype::I32) || !fits(last, Dtype::I32)) {
    error<diag::NumberRange>(args.range, toString(fits(*start, Dtype::I32) ? last : *start), "i32");
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

/// The sides after the other arguments, one by one or as one tuple.
std::optional<Shape> Lowerer::sidesOf(CallArgs &args) {
  Shape shape;
  bool good = true;
  auto add = [&](const Val &value, SourceRange range) {
    if (args.builtin->name == "full" && value.kind == Val::Kind::Float) {
      Report report =
          error<diag::TypeMismatch>(range, "the side of a tile", "an integer", value.describe());
      report.help("the value comes first: `full(0.0, M, N)`");
      if (args.rest.size() == 1 && args.rest[0]->range == range)
        report.fix(args.rangeOf(0), source.getText(range))
            .fix(range, source.getText(args.rangeOf(0)).trim("[]"));
      good = false;
      return shape.push_back(1);
    }
    std::optional<Int128> side = needInt(value, range, "the side of a tile");
    std::optional<int64_t> checked = side ? checkSide(*side, range) : std::nullopt;
    good &= checked.has_value();
    shape.push_back(checked.value_or(1));
  };
  for (const ast::Expr *expr : args.rest) {
    Val value = evalCompileTime(expr);
    if (!value.isTuple())
      add(value, expr->range);
    for (const Val &side : value.isTuple() ? value.elements : std::vector<Val>())
      add(side, expr->range);
  }
  return good && checkTile(shape, args.range) ? std::optional<Shape>(shape) : std::nullopt;
}

/// The dtype in brackets, or `otherwise`, and the sides.
std::optional<RunType> Lowerer::tileType(CallArgs &args, Dtype otherwise) {
  if (args.typeArgs.size() > 1 ||
      (args.typeArgs.size() == 1 && args.typeArgs[0].kind != ast::Index::Kind::Expr)) {
    error<diag::TooManyArguments>(args.range, args.builtin->name, "one dtype in brackets",
                                  std::to_string(args.typeArgs.size()));
    return std::nullopt;
  }
  std::optional<Dtype> dtype = otherwise;
  if (!args.typeArgs.empty() && !(dtype = evalDtype(args.typeArgs[0].value)))
    return std::nullopt;
  std::optional<Shape> shape = sidesOf(args);
  if (!shape)
    return std::nullopt;
  return RunType{*dtype, false, 0, *shape};
}

/// zeros[T](sides), full[T](value, sides); without T the number decides.
Val Lowerer::filledTile(CallArgs &args, const Val &value) {
  // An integer that meets nothing is i32 as a tile.
  std::optional<RunType> type = tileType(args, value.isInt() ? Dtype::I32 : defaultDtype(value));
  if (!type || value.isPoison() || !needNumber(value, args.range, args.builtin->name))
    return Val::poison();
  if (!value.shape().empty()) {
    error<diag::TypeMismatch>(args.range, "the value of `full`", "a scalar", value.describe());
    return Val::poison();
  }
  bool zeroTruth = type->dtype == Dtype::I1 && value.isInt() && value.integer == 0;
  Value result = coerce(zeroTruth ? Val::ofBool(false) : value, *type, args.range,
                        "`" + args.builtin->name.str() + "`");
  return result ? Val::run(result, *type) : Val::poison();
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
