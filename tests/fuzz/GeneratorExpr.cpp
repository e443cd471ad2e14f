//===- GeneratorExpr.cpp - expressions of a wanted type -----------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

static std::string sidesText(const Shape &shape) {
  std::string text;
  for (int64_t side : shape)
    text += ", " + std::to_string(side);
  return text;
}

/// A number with the wanted type, never one that is only known at compile time.
Expr Writer::literal(const Type &type) {
  std::string dtype = dtypeText(type.dtype);
  if (type.dtype == DType::i1)
    return {"(" + std::string(type.shape.empty() ? "pid" : "full[i64](1" + sidesText(type.shape) + ")") +
                " < " + std::to_string(choices.below(3)) + ")",
            1};
  int number = int(choices.below(8));
  if (number > 4 && !interp::isUnsigned(type.dtype))
    number = 4 - number;
  std::string text = std::to_string(number) + (isFloatType(type.dtype) ? ".0" : "");
  if (type.shape.empty())
    return {"(" + text + ").to(" + dtype + ")", 4};
  if (type.shape.size() == 1 && type.dtype == DType::i32 && choices.chance(40))
    return {"arange(" + std::to_string(number) + ", " + std::to_string(number + type.shape[0]) + ")", 0};
  return {"full[" + dtype + "](" + text + sidesText(type.shape) + ")", 4};
}

Expr Writer::leaf(const Type &type) {
  if (choices.chance(60))
    if (const Var *var = findVar(type, false))
      return {var->name, var->bound};
  if (choices.chance(60)) {
    Expr read = readTensor(type);
    if (!read.text.empty())
      return read;
  }
  return literal(type);
}

/// Exact floats stay within what the type holds; everything else fits anyway.
Expr Writer::fit(Expr value, const Type &type) {
  if (!settings.exact || !isFloatType(type.dtype) || value.bound <= exactLimit(type.dtype))
    return value;
  return {"", 0};
}

Expr Writer::expr(const Type &type, unsigned depth) {
  --budget;
  if (depth == 0 || budget <= 0)
    return leaf(type);
  if (type.dtype == DType::i1)
    return condition(type.shape, depth);
  if (!choices.chance(75))
    return leaf(type);
  if (Expr shaped; choices.chance(policy == Policy::Shapes ? 60 : 30) && shapeExpr(type, depth, shaped))
    return shaped;
  if (choices.chance(25)) {
    Expr value = general(type, depth);
    if (!value.text.empty())
      return value;
  }
  Expr value = isFloatType(type.dtype) ? real(type, depth) : integer(type, depth);
  return value.text.empty() ? leaf(type) : value;
}

/// i1 of a shape; a scalar when it has none.
Expr Writer::condition(const Shape &shape, unsigned depth) {
  if (depth == 0)
    return literal({DType::i1, shape});
  unsigned kind = choices.below(8);
  if (kind == 6)
    return {"(" + condition(shape, depth - 1).text + choices.pick({" & ", " | ", " ^ "}) +
                condition(shape, depth - 1).text + ")",
            1};
  if (kind == 7)
    return {"(!" + condition(shape, depth - 1).text + ")", 1};
  Type type{anyDtype(), shape};
  const char *op = choices.pick({" < ", " <= ", " == ", " != ", " > ", " >= "});
  return {"(" + expr(type, depth - 1).text + op + expr(type, depth - 1).text + ")", 1};
}

Expr Writer::integer(const Type &type, unsigned depth) {
  auto part = [&] { return expr(type, depth - 1).text; };
  switch (choices.below(10)) {
  case 0:
  case 1:
    return {"(" + part() + choices.pick({" + ", " - ", " * "}) + part() + ")", 0};
  case 2:
    return {"(" + part() + choices.pick({" & ", " | ", " ^ "}) + part() + ")", 0};
  case 3:
    return {"(" + part() + choices.pick({" // ", " % "}) + part() + ")", 0};
  case 4:
    return {"(" + part() + choices.pick({" << ", " >> "}) + part() + ")", 0};
  case 5:
    return {std::string(choices.pick({"minimum(", "maximum("})) + part() + ", " + part() + ")", 0};
  case 6:
    return {std::string(choices.pick({"(~", "(-"})) + part() + ")", 0};
  case 7:
    return {"abs(" + part() + ")", 0};
  case 8:
    return settings.machineOnly
               ? Expr{"larger(" + part() + ", " + part() + ")", 0}
               : Expr{std::string(choices.pick({"popcount(", "clz(", "ctz(", "brev("})) + part() + ")", 0};
  default:
    return {"larger(" + part() + ", " + part() + ")", 0};
  }
}

Expr Writer::real(const Type &type, unsigned depth) {
  Expr a = expr(type, depth - 1);
  switch (choices.below(settings.exact ? 6 : 9)) {
  case 0: {
    Expr b = expr(type, depth - 1);
    return fit({"(" + a.text + choices.pick({" + ", " - "}) + b.text + ")", a.bound + b.bound}, type);
  }
  case 1: {
    Expr b = expr(type, depth - 1);
    return fit({"(" + a.text + " * " + b.text + ")", a.bound * b.bound}, type);
  }
  case 2: {
    Expr b = expr(type, depth - 1);
    return {std::string(choices.pick({"minimum(", "maximum(", "larger("})) + a.text + ", " + b.text + ")",
            std::max(a.bound, b.bound)};
  }
  case 3:
    return {std::string(choices.pick({"abs(", "(-", "floor(", "ceil("})) + a.text + ")", a.bound};
  case 4: {
    Expr b = expr(type, depth - 1), c = expr(type, depth - 1);
    return fit({"fma(" + a.text + ", " + b.text + ", " + c.text + ")", a.bound * b.bound + c.bound}, type);
  }
  case 5: // what a product of large numbers becomes small by
    return {"clamp(" + a.text + ", -8.0, 8.0)", std::min(a.bound, 8.0)};
  case 6:
    return {"(" + a.text + " / " + expr(type, depth - 1).text + ")", 0};
  case 7:
    return {std::string(choices.pick({"exp(", "log(", "sqrt(", "sin(", "tanh(", "sigmoid("})) + a.text + ")", 0};
  default:
    return {"exp2(-abs(" + a.text + "))", 0};
  }
}

/// What every type has: choices, conversions, branches.
Expr Writer::general(const Type &type, unsigned depth) {
  switch (choices.below(settings.machineOnly ? 3 : 4)) {
  case 0: {
    std::string flag = condition(type.shape, depth - 1).text;
    Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
    return {"where(" + flag + ", " + a.text + ", " + b.text + ")", std::max(a.bound, b.bound)};
  }
  case 1:
    return convert(type, depth);
  case 2: {
    std::string flag = condition({}, depth - 1).text;
    Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
    return {"(if " + flag + " { " + a.text + " } else { " + b.text + " })", std::max(a.bound, b.bound)};
  }
  default: {
    if (type.shape.empty())
      return {"", 0};
    Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
    return fit({"map_elementwise(mix, " + a.text + ", " + b.text + ")", a.bound + b.bound}, type);
  }
  }
}

Expr Writer::convert(const Type &type, unsigned depth) {
  Type from{anyDtype(), type.shape};
  if (from.dtype == type.dtype)
    return {"", 0};
  Expr value = expr(from, depth - 1);
  std::string to = ".to(" + std::string(dtypeText(type.dtype)) + ")";
  if (!isFloatType(type.dtype) || !settings.exact)
    return {"(" + value.text + ")" + to, 0};
  if (!isFloatType(from.dtype))
    return {"(" + value.text + " & 15)" + to, 15};
  double limit = std::min(exactLimit(type.dtype), exactLimit(from.dtype));
  if (value.bound <= limit)
    return {"(" + value.text + ")" + to, value.bound};
  return {"clamp(" + value.text + ", -64.0, 64.0)" + to, 64};
}
