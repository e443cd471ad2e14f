//===- GeneratorExpr.cpp - expressions of a wanted type -----------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

static std::string sidesText(const Shape &shape) { return shape.empty() ? "" : ", " + listText(shape); }

/// A number with the wanted type, never one that is only known at compile time.
Expr Writer::literal(const Type &type) {
  std::string dtype = dtypeText(type.dtype);
  std::string scalar = function ? "1.to(i64)" : "pid";
  if (type.dtype == DType::i1)
    return {"(" + (type.shape.empty() ? scalar : "full[i64](1" + sidesText(type.shape) + ")") + " < " +
                std::to_string(choices.below(3)) + ")",
            1};
  int number = int(choices.below(8));
  if (number > 4 && !interp::isUnsigned(type.dtype))
    number = 4 - number;
  std::string text = std::to_string(number) + (isFloatType(type.dtype) ? ".0" : "");
  if (type.shape.empty())
    return {"(" + text + ").to(" + dtype + ")", 7};
  if (type.shape.size() == 1 && type.dtype == DType::i32 && choices.chance(40))
    return {"arange(" + std::to_string(number) + ", " + std::to_string(number + type.shape[0]) + ")", 0};
  return {"full[" + dtype + "](" + text + sidesText(type.shape) + ")", 7};
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
  if (!keepsExact(type.dtype) || value.bound <= exactLimit(type.dtype))
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
  if (choices.chance(20)) {
    Expr value = call(type, depth);
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
  auto part = [&] { return condition(shape, depth - 1).text; };
  unsigned kind = choices.below(11);
  if (kind == 6)
    return {"(" + part() + choices.pick<std::string>({" & ", " | ", " ^ "}) + part() + ")", 1};
  if (kind == 7)
    return {"(!" + part() + ")", 1};
  if (kind == 8 && shape.empty())
    return {"(" + part() + choices.pick<std::string>({" && ", " || "}) + part() + ")", 1};
  if (kind == 9) {
    Shape from = shape;
    size_t axis = choices.below(uint32_t(shape.size() + 1));
    from.insert(from.begin() + long(axis), choices.pick({2, 4, 7}));
    if (elementsOf(from) <= settings.maxTileElements)
      return {choices.pick<std::string>({"any(", "all("}) + condition(from, depth - 1).text + ", axis=" +
                  std::to_string(axis) + ")",
              1};
  }
  if (kind == 10 && !shape.empty()) {
    Expr read = readTensor({DType::i1, shape});
    if (!read.text.empty())
      return read;
  }
  return comparison(shape, depth);
}

Expr Writer::comparison(const Shape &shape, unsigned depth) {
  Type type{anyDtype(), shape};
  auto part = [&] { return expr(type, depth - 1).text; };
  if (isFloatType(type.dtype) && choices.chance(15))
    return {choices.pick<std::string>({"isnan(", "isinf(", "isfinite("}) + part() + ")", 1};
  const char *op = choices.pick({" < ", " <= ", " == ", " != ", " > ", " >= "});
  std::string text = "(" + part() + op + part();
  if (choices.chance(10))
    text += " <= " + part();
  return {text + ")", 1};
}

Expr Writer::integer(const Type &type, unsigned depth) {
  auto part = [&] { return expr(type, depth - 1).text; };
  switch (choices.below(10)) {
  case 0:
  case 1:
    return {"(" + part() + choices.pick<std::string>({" + ", " - ", " * "}) + part() + ")", 0};
  case 2:
    return {"(" + part() + choices.pick<std::string>({" & ", " | ", " ^ "}) + part() + ")", 0};
  case 3:
    return {"(" + part() + choices.pick<std::string>({" // ", " % "}) + part() + ")", 0};
  case 4:
    return {"(" + part() + choices.pick<std::string>({" << ", " >> "}) + part() + ")", 0};
  case 5:
    return {choices.pick<std::string>({"minimum(", "maximum("}) + part() + ", " + part() + ")", 0};
  case 6:
    return {choices.pick<std::string>({"(~", "(-"}) + part() + ")", 0};
  case 7:
    return {"abs(" + part() + ")", 0};
  case 8:
    return integerFunction(type, depth);
  default:
    return {helper("larger") + "(" + part() + ", " + part() + ")", 0};
  }
}

Expr Writer::integerFunction(const Type &type, unsigned depth) {
  auto part = [&] { return expr(type, depth - 1).text; };
  switch (choices.below(5)) {
  case 0:
    return {choices.pick<std::string>({"popcount(", "clz(", "ctz(", "brev("}) + part() + ")", 0};
  case 1:
    return {choices.pick<std::string>({"mulhi(", "umulhi("}) + part() + ", " + part() + ")", 0};
  case 2:
    return {"cdiv(" + part() + ", " + part() + ")", 0};
  case 3: // what is promised holds: of any number of times 4, and of equal elements
    if (type.shape.size() > 1) {
      Shape multiples(type.shape.size(), 4);
      return {"multiple_of((" + part() + ") * 4, [" + listText(multiples) + "])", 0};
    }
    return {"multiple_of((" + part() + ") * 4, 4)", 0};
  default:
    if (type.shape.size() == 1 && type.dtype == DType::i32)
      return {"max_contiguous(arange(4, " + std::to_string(type.shape[0] + 4) + "), " +
                  std::to_string(type.shape[0]) + ")",
              0};
    if (type.shape.size() == 1)
      return {"max_constancy(full[" + dtypeText(type.dtype) + "](5, " + listText(type.shape) + "), " +
                  listText(type.shape) + ")",
              0};
    return {"floordiv(" + part() + ", " + part() + ")", 0};
  }
}

Expr Writer::real(const Type &type, unsigned depth) {
  Expr a = expr(type, depth - 1);
  switch (choices.below(settings.exact ? 6 : 9)) {
  case 0: {
    Expr b = expr(type, depth - 1);
    return fit({"(" + a.text + choices.pick<std::string>({" + ", " - "}) + b.text + ")", a.bound + b.bound}, type);
  }
  case 1: {
    Expr b = expr(type, depth - 1);
    return fit({"(" + a.text + " * " + b.text + ")", a.bound * b.bound}, type);
  }
  case 2: {
    Expr b = expr(type, depth - 1);
    std::string name = choices.pick<std::string>({"minimum(", "maximum(", "larger("});
    if (name == "larger(")
      helper("larger");
    bool isNumber = name != "larger(" && choices.chance(20);
    return {name + a.text + ", " + b.text + (isNumber ? ", nan=\"number\")" : ")"), std::max(a.bound, b.bound)};
  }
  case 3:
    return {choices.pick<std::string>({"abs(", "(-", "floor(", "ceil(", "trunc(", "round("}) + a.text + ")", a.bound};
  case 4: {
    Expr b = expr(type, depth - 1), c = expr(type, depth - 1);
    return fit({"fma(" + a.text + ", " + b.text + ", " + c.text + ")", a.bound * b.bound + c.bound}, type);
  }
  case 5: // what a product of large numbers becomes small by
    return {"clamp(" + a.text + ", -8.0, 8.0)", std::min(a.bound, 8.0)};
  default:
    return rounded(type, depth);
  }
}

/// Functions whose results are rounded.
Expr Writer::rounded(const Type &type, unsigned depth) {
  auto part = [&] { return expr(type, depth - 1).text; };
  static const std::vector<std::string> built = {"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos",
                                                 "tanh", "sigmoid"};
  static const std::vector<std::string> all = {
      "exp10", "expm1", "log10", "log1p", "cbrt", "tan",  "sinh",  "cosh",    "asin",   "acos",   "atan",
      "asinh", "acosh", "atanh", "erf",   "erfc", "erfinv", "lgamma", "sqrt_rn"};
  switch (choices.below(4)) {
  case 0:
    return {"(" + part() + " / " + part() + ")", 0};
  case 1:
    return {choices.pick(built) + "(" + part() + ")", 0};
  case 2:
    return {choices.pick(all) + "(" + part() + ")", 0};
  default:
    return {choices.pick<std::string>({"pow(", "atan2(", "hypot(", "fmod(", "copysign(", "fdiv("}) + part() + ", " +
                part() + ")",
            0};
  }
}

/// What every type has: choices, conversions, branches.
Expr Writer::general(const Type &type, unsigned depth) {
  switch (choices.below(6)) {
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
  case 3:
    return elementwise(type, depth);
  case 4:
    return storage(type, depth);
  default:
    return bits(type, depth);
  }
}

/// A function of scalars for each element.
Expr Writer::elementwise(const Type &type, unsigned depth) {
  if (type.shape.empty())
    return {"", 0};
  if (choices.chance(25))
    return foreign(type, depth);
  Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
  std::string name = choices.chance(50) ? "mix" : "halve";
  return {"map_elementwise(" + helper(name == "mix" ? "mix" : "halve") + ", " + a.text + ", " + b.text + ")",
          std::max(a.bound, b.bound)};
}

/// Assembly and functions of a library, with what they compute.
Expr Writer::foreign(const Type &type, unsigned depth) {
  Expr a = expr(type, depth - 1), b = expr(type, depth - 1);
  double bound = std::max(a.bound, b.bound);
  if (type.dtype == DType::f32 && choices.chance(50))
    return {"extern_elementwise(\"__nv_fmaxf\", " + a.text + ", " + b.text + ", reference=" + helper("larger") + ")",
            bound};
  if (type.dtype == DType::f32)
    return {"inline_asm_elementwise(\"max.f32 $0, $1, $2;\", \"=f,f,f\", (" + a.text + ", " + b.text +
                "), f32, pure=true, reference=" + helper("larger") + ")",
            bound};
  if (type.dtype == DType::i32)
    return {"inline_asm_elementwise(\"add.s32 $0, $1, $2;\", \"=r,r,r\", (" + a.text + ", " + b.text +
                "), i32, pure=true, reference=fn(a, b) { return a + b })",
            0};
  return {"", 0};
}

Expr Writer::convert(const Type &type, unsigned depth) {
  Type from{anyDtype(), type.shape};
  if (from.dtype == type.dtype)
    return {"", 0};
  Expr value = expr(from, depth - 1);
  std::string to = ".to(" + dtypeText(type.dtype);
  bool fromFloat = isFloatType(from.dtype), toFloat = isFloatType(type.dtype);
  if (inFull(30) && (fromFloat || toFloat))
    to += choices.pick<std::string>({", round=\"rtz\"", ", round=\"rne\"", ", round=\"down\"", ", round=\"up\""});
  if (inFull(20) && fromFloat == toFloat)
    to += ", overflow=\"saturate\"";
  to += ")";
  if (!keepsExact(type.dtype))
    return {"(" + value.text + ")" + to, 0};
  if (!fromFloat)
    return {"(" + value.text + " & 15)" + to, 15};
  double limit = std::min(exactLimit(type.dtype), exactLimit(from.dtype));
  if (value.bound <= limit)
    return {"(" + value.text + ")" + to, value.bound};
  return {"clamp(" + value.text + ", -64.0, 64.0)" + to, 64};
}
