//===- GeneratorShape.cpp - tiles of other tiles, reductions, products, reads ------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

static std::string listText(const Shape &shape) {
  std::string text;
  for (int64_t side : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(side);
  return text;
}

/// A scalar index of an axis, inside it.
std::string Writer::index(int64_t extent) {
  if (extent == 1)
    return "0";
  return choices.chance(50) ? std::to_string(choices.below(uint32_t(extent)))
                            : "pid % " + std::to_string(extent);
}

/// A place of an input of that element type with at least as many axes; nothing when there is none.
Expr Writer::readTensor(const Type &type) {
  std::vector<const TensorArg *> inputs;
  for (const TensorArg &arg : program.tensors)
    if (arg.access == TensorArg::Access::In && arg.dtype == type.dtype &&
        arg.extents.size() >= type.shape.size())
      inputs.push_back(&arg);
  if (inputs.empty())
    return {"", 0};
  const TensorArg &arg = *choices.pick(inputs);
  size_t extra = arg.extents.size() - type.shape.size();
  std::string text;
  bool gathers = false;
  for (size_t axis = 0; axis < arg.extents.size(); ++axis) {
    int64_t extent = arg.extents[axis];
    text += axis ? ", " : "";
    if (axis < extra) {
      text += index(extent);
      continue;
    }
    int64_t side = type.shape[axis - extra];
    if (!settings.machineOnly && !gathers && choices.chance(policy == Policy::Masks ? 40 : 10)) {
      gathers = true; // some indices lie outside and read the fill
      text += "(" + expr({DType::i32, {side}}, 1).text + ") % " + std::to_string(extent + 2);
      continue;
    }
    int64_t start = choices.chance(30) ? int64_t(choices.below(uint32_t(extent) + 2)) - 1 : 0;
    text += std::to_string(start) + " +: " + std::to_string(side);
  }
  if (choices.chance(30))
    text += isFloatType(type.dtype) ? ", fill=1.0" : ", fill=1";
  if (!type.shape.empty() && choices.chance(policy == Policy::Masks ? 60 : 15))
    text += ", mask=" + condition(type.shape, 1).text;
  return {arg.name + "[" + text + "]", 8};
}

/// sum, max and min of a tile with one more axis, in a type that gives the wanted one.
Expr Writer::reduction(const Type &type, unsigned depth) {
  Type from = type;
  size_t axis = choices.below(uint32_t(type.shape.size() + 1));
  int64_t side = choices.pick({2, 3, 4, 8, 17, 32});
  if (elementsOf(type.shape) * side > settings.maxTileElements)
    return {"", 0};
  from.shape.insert(from.shape.begin() + long(axis), side);
  unsigned kind = choices.below(settings.machineOnly ? 3 : 5);
  bool sums = kind == 0 && (type.dtype == DType::i32 || type.dtype == DType::i64 ||
                            type.dtype == DType::u32 || type.dtype == DType::u64 ||
                            type.dtype == DType::f32 || type.dtype == DType::f64);
  if (sums && type.dtype == DType::i32 && choices.chance(30))
    from.dtype = choices.pick({DType::i8, DType::i16});
  if (sums && type.dtype == DType::f32 && choices.chance(30))
    from.dtype = choices.pick({DType::f16, DType::bf16});
  Expr value = expr(from, depth - 1);
  std::string tail = "(" + value.text + ", axis=" + std::to_string(axis) + ")";
  if (sums)
    return fit({"sum" + tail, value.bound * double(side)}, type);
  if (kind == 3)
    return {"reduce(" + value.text + ", larger, axis=" + std::to_string(axis) + ")", value.bound};
  return {(kind == 1 ? "max" : "min") + tail, value.bound};
}

Expr Writer::scan(const Type &type, unsigned depth) {
  bool sums = type.dtype == DType::i32 || type.dtype == DType::u32 || type.dtype == DType::f32;
  size_t axis = choices.below(uint32_t(type.shape.size()));
  Expr value = expr(type, depth - 1);
  std::string where = ", axis=" + std::to_string(axis);
  if (sums && choices.chance(60))
    return fit({"cumsum(" + value.text + where + ")", value.bound * double(type.shape[axis])}, type);
  std::string reverse = choices.chance(40) ? ", reverse=true" : "";
  return {"scan(" + value.text + ", larger" + where + reverse + ")", value.bound};
}

/// A matrix product of small numbers: f32 of f16, bf16, f32; i32 of i8.
Expr Writer::product(const Type &type, unsigned depth) {
  if (type.shape.size() != 2 || (type.dtype != DType::f32 && type.dtype != DType::i32))
    return {"", 0};
  DType operand = type.dtype == DType::i32 ? DType::i8
                                           : choices.pick({DType::f16, DType::bf16, DType::f32});
  int64_t k = choices.pick({16, 1, 3, 8, 32, 48});
  Expr a = expr({operand, {type.shape[0], k}}, depth - 1);
  Expr b = expr({operand, {k, type.shape[1]}}, depth - 1);
  if (elementsOf({type.shape[0], k}) > settings.maxTileElements ||
      elementsOf({k, type.shape[1]}) > settings.maxTileElements)
    return {"", 0};
  return fit({"((" + a.text + ") @ (" + b.text + "))", a.bound * b.bound * double(k)}, type);
}

/// A tile made of one or more tiles of other shapes, or an element of one; false when none fits.
bool Writer::shapeExpr(const Type &type, unsigned depth, Expr &result) {
  const Shape &shape = type.shape;
  auto wrap = [&](const std::string &head, Expr value, const std::string &tail) {
    result = {head + value.text + tail, value.bound};
    return !value.text.empty();
  };
  unsigned kind = choices.below(settings.machineOnly ? 3 : 14);
  if (kind <= 1 || policy == Policy::Reductions)
    return wrap("", reduction(type, depth), "");
  if (shape.empty()) {
    Shape from = {choices.pick({2, 4, 7})};
    return kind > 2 && wrap("(", expr({type.dtype, from}, depth - 1), ")[" + index(from[0]) + "]");
  }
  size_t axis = choices.below(uint32_t(shape.size()));
  std::string at = std::to_string(axis);
  Shape other = shape;
  switch (kind) {
  case 2: { // broadcast of an axis of side 1, or of a scalar
    other[axis] = 1;
    if (settings.machineOnly || choices.chance(50))
      return wrap("(", expr({type.dtype, other}, depth - 1),
                  isFloatType(type.dtype) ? " + zeros[" + std::string(dtypeText(type.dtype)) + "](" + listText(shape) + "))"
                                          : " | zeros[" + std::string(dtypeText(type.dtype)) + "](" + listText(shape) + "))");
    return wrap("broadcast_to(", expr({type.dtype, other}, depth - 1), ", " + listText(shape) + ")");
  }
  case 3: { // the same elements in a row
    Shape row = {elementsOf(shape)};
    return shape.size() > 1 && wrap("reshape(", expr({type.dtype, row}, depth - 1), ", " + listText(shape) + ")");
  }
  case 4: {
    std::vector<size_t> order;
    for (size_t i = 0; i < shape.size(); ++i)
      order.insert(order.begin() + choices.below(uint32_t(order.size() + 1)), i);
    std::string text;
    for (size_t i = 0; i < shape.size(); ++i) {
      other[order[i]] = shape[i];
      text += ", " + std::to_string(order[i]);
    }
    return wrap("permute(", expr({type.dtype, other}, depth - 1), text + ")");
  }
  case 5:
    return wrap("flip(", expr(type, depth - 1), ", " + at + ")");
  case 6: { // two parts one after the other
    if (shape[axis] < 2)
      return false;
    Shape first = shape;
    first[axis] = 1 + choices.below(uint32_t(shape[axis] - 1));
    other[axis] -= first[axis];
    Expr a = expr({type.dtype, first}, depth - 1), b = expr({type.dtype, other}, depth - 1);
    result = {"cat(" + a.text + ", " + b.text + ", axis=" + at + ")", std::max(a.bound, b.bound)};
    return true;
  }
  case 7: { // a slice
    int64_t step = choices.pick({1, 2, 3}), low = choices.below(3);
    other[axis] = low + (shape[axis] - 1) * step + 1 + choices.below(3);
    if (elementsOf(other) > settings.maxTileElements)
      return false;
    std::string text;
    for (size_t i = 0; i < shape.size(); ++i)
      text += (i ? ", " : "") + (i != axis ? ":"
                                           : std::to_string(low) + ":" +
                                                 std::to_string(low + (shape[axis] - 1) * step + 1) + ":" +
                                                 std::to_string(step));
    return wrap("(", expr({type.dtype, other}, depth - 1), ")[" + text + "]");
  }
  case 8: // a layer of a tile with one more axis, the index known at run time
    other.insert(other.begin(), choices.pick({2, 3, 5}));
    if (elementsOf(other) > settings.maxTileElements)
      return false;
    {
      std::string rest;
      for (size_t i = 0; i < shape.size(); ++i)
        rest += ", :";
      return wrap("(", expr({type.dtype, other}, depth - 1), ")[" + index(other[0]) + rest + "]");
    }
  case 9:
    return wrap("", scan(type, depth), "");
  case 10:
    return wrap("sort(", expr(type, depth - 1), ", axis=" + at + choices.pick({"", ", descending=true"}) + ").0");
  case 11: {
    Expr from = expr(type, depth - 1);
    std::string where = expr({DType::i32, shape}, 1).text;
    result = {"gather(" + from.text + ", (((" + where + ") & 255) % " + std::to_string(shape[axis]) +
                  "), axis=" + at + ")",
              from.bound};
    return true;
  }
  case 12: {
    if (shape.back() % 2 != 0)
      return false;
    other.back() /= 2;
    Expr a = expr({type.dtype, other}, depth - 1), b = expr({type.dtype, other}, depth - 1);
    result = {"interleave(" + a.text + ", " + b.text + ")", std::max(a.bound, b.bound)};
    return true;
  }
  default:
    return wrap("", product(type, depth), "");
  }
}
