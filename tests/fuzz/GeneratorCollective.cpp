//===- GeneratorCollective.cpp - reductions, scans, sorts, histograms -------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// Types whose sums and products have the type itself.
static bool sumsInItself(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u32 || dtype == DType::u64 ||
         dtype == DType::f32 || dtype == DType::f64;
}

/// Of a tile with one more axis, in a type that gives the wanted one.
Expr Writer::reduction(const Type &type, unsigned depth) {
  Type from = type;
  size_t axis = choices.below(uint32_t(type.shape.size() + 1));
  bool keeps = !type.shape.empty() && choices.chance(20);
  if (keeps) { // an axis of side 1 is one that was reduced
    axis = choices.below(uint32_t(type.shape.size()));
    keeps = type.shape[axis] == 1;
  }
  int64_t side = choices.pick({2, 3, 4, 8, 17, 32});
  if (elementsOf(type.shape) * side > settings.maxTileElements)
    return {"", 0};
  if (keeps)
    from.shape[axis] = side;
  else
    from.shape.insert(from.shape.begin() + long(axis), side);
  unsigned kind = choices.below(5);
  bool sums = kind == 0 && sumsInItself(type.dtype);
  if (sums && type.dtype == DType::i32 && choices.chance(30))
    from.dtype = choices.pick({DType::i8, DType::i16});
  if (sums && type.dtype == DType::f32 && choices.chance(30))
    from.dtype = choices.pick({DType::f16, DType::bf16});
  Expr value = expr(from, depth - 1);
  std::string tail = ", axis=" + std::to_string(axis) + (keeps ? ", keep_dims=true)" : ")");
  if (sums)
    return fit({"sum(" + value.text + tail, value.bound * double(side)}, type);
  if (kind >= 3)
    return otherReduction(type, value, tail);
  return {(kind == 1 ? "max(" : "min(") + value.text + tail, value.bound};
}

Expr Writer::otherReduction(const Type &type, const Expr &value, const std::string &tail) {
  switch (choices.below(5)) {
  case 0:
    if (isIntType(type.dtype) && sumsInItself(type.dtype))
      return {"prod(" + value.text + tail, 0};
    break;
  case 1:
    if (isIntType(type.dtype))
      return {choices.pick<std::string>({"xor_sum(", "or_sum("}) + value.text + tail, 0};
    break;
  case 2:
    return {"reduce((" + value.text + ", full_like(" + value.text + ", 1)), " + helper("best") + tail + ".0", value.bound};
  case 3:
    return {choices.pick<std::string>({"max(", "min("}) + value.text +
                (tail.back() == ')' ? tail.substr(0, tail.size() - 1) : tail) + ", return_indices=true).0",
            value.bound};
  default:
    break;
  }
  return {"reduce(" + value.text + ", " + helper("larger") + tail, value.bound};
}

/// i32: where the largest or smallest element stands.
Expr Writer::position(const Type &type, unsigned depth) {
  Type from{anyDtype(), type.shape};
  size_t axis = choices.below(uint32_t(type.shape.size() + 1));
  int64_t side = choices.pick({2, 5, 16});
  from.shape.insert(from.shape.begin() + long(axis), side);
  if (elementsOf(from.shape) > settings.maxTileElements)
    return {"", 0};
  return {choices.pick<std::string>({"argmax(", "argmin("}) + expr(from, depth - 1).text + ", axis=" +
              std::to_string(axis) + ")",
          0};
}

Expr Writer::scan(const Type &type, unsigned depth) {
  size_t axis = choices.below(uint32_t(type.shape.size()));
  Expr value = expr(type, depth - 1);
  std::string where = ", axis=" + std::to_string(axis) + (choices.chance(40) ? ", reverse=true)" : ")");
  switch (choices.below(4)) {
  case 0:
    if (sumsInItself(type.dtype))
      return fit({"cumsum(" + value.text + where, value.bound * double(type.shape[axis])}, type);
    break;
  case 1:
    if (isIntType(type.dtype) && sumsInItself(type.dtype))
      return {"cumprod(" + value.text + where, 0};
    break;
  case 2:
    return {choices.pick<std::string>({"cummax(", "cummin("}) + value.text + where, value.bound};
  default:
    break;
  }
  return {"(scan(" + value.text + ", " + helper("larger") + where + ")", value.bound};
}

/// Sorted elements, the first of them, or where they stood.
Expr Writer::sorted(const Type &type, unsigned depth) {
  size_t axis = choices.below(uint32_t(type.shape.size()));
  std::string at = ", axis=" + std::to_string(axis);
  if (type.dtype == DType::i32 && choices.chance(30))
    return {"sort(" + expr({anyDtype(), type.shape}, depth - 1).text + at + ").1", 0};
  std::string order = choices.pick<std::string>({"", ", descending=true", ", descending=false"});
  Type from = type;
  if (choices.chance(50)) {
    Expr value = expr(type, depth - 1);
    return {"sort(" + value.text + at + order + ").0", value.bound};
  }
  from.shape[axis] += choices.below(5);
  if (elementsOf(from.shape) > settings.maxTileElements)
    return {"", 0};
  Expr value = expr(from, depth - 1);
  return {"topk(" + value.text + ", " + std::to_string(type.shape[axis]) + at + order + ").0", value.bound};
}

Expr Writer::histogram(const Type &type, unsigned depth) {
  if (type.shape.size() != 1)
    return {"", 0};
  Type from{anyInt(), anyShape(1)};
  std::string values = expr(from, depth - 1).text;
  std::string mask = choices.chance(30) ? ", mask=" + condition(from.shape, 1).text : "";
  return {"histogram(" + values + ", " + listText(type.shape) + mask + ")", 0};
}
