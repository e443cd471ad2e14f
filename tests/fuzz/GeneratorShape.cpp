//===- GeneratorShape.cpp - tiles of other tiles ---------------------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// A part of a larger tile: a slice, or a layer whose index is known at run time.
bool Writer::restride(const Type &type, unsigned depth, unsigned kind, Expr &result) {
  const Shape &shape = type.shape;
  Shape other = shape;
  size_t axis = choices.below(uint32_t(shape.size()));
  std::string at;
  if (kind == 0) {
    int64_t step = choices.pick({1, 2, 3}), low = choices.below(3);
    other[axis] = low + (shape[axis] - 1) * step + 1 + choices.below(3);
    for (size_t i = 0; i < shape.size(); ++i) {
      at += i ? ", " : "";
      at += i != axis ? ":"
                      : std::to_string(low) + ":" + std::to_string(low + (shape[axis] - 1) * step + 1) +
                            (step == 1 ? "" : ":" + std::to_string(step));
    }
  } else {
    other.insert(other.begin(), choices.pick({2, 3, 5}));
    at = index(other[0]);
    for (size_t i = 0; i < shape.size(); ++i)
      at += ", :";
  }
  if (elementsOf(other) > settings.maxTileElements)
    return false;
  Expr from = expr({type.dtype, other}, depth - 1);
  result = {"(" + from.text + ")[" + at + "]", from.bound};
  return true;
}

/// The same elements elsewhere.
bool Writer::rearrange(const Type &type, unsigned depth, unsigned kind, Expr &result) {
  const Shape &shape = type.shape;
  Shape other = shape;
  size_t axis = choices.below(uint32_t(shape.size()));
  std::string at = std::to_string(axis);
  auto wrap = [&](const std::string &head, const Shape &from, const std::string &tail) {
    Expr value = expr({type.dtype, from}, depth - 1);
    result = {head + value.text + tail, value.bound};
    return true;
  };
  switch (kind) {
  case 0: // the same elements in a row
    return shape.size() > 1 && wrap("reshape(", {elementsOf(shape)}, ", " + listText(shape) + ")");
  case 1: {
    std::vector<size_t> order;
    for (size_t i = 0; i < shape.size(); ++i)
      order.insert(order.begin() + choices.below(uint32_t(order.size() + 1)), i);
    std::string text;
    for (size_t i = 0; i < shape.size(); ++i) {
      other[order[i]] = shape[i];
      text += ", " + std::to_string(order[i]);
    }
    return wrap("permute(", other, text + ")");
  }
  case 2:
    return wrap("flip(", shape, ", " + at + ")");
  case 3: { // two parts one after the other
    if (shape[axis] < 2)
      return false;
    Shape first = shape;
    first[axis] = 1 + choices.below(uint32_t(shape[axis] - 1));
    other[axis] -= first[axis];
    Expr a = expr({type.dtype, first}, depth - 1), b = expr({type.dtype, other}, depth - 1);
    result = {"cat(" + a.text + ", " + b.text + ", axis=" + at + ")", std::max(a.bound, b.bound)};
    return true;
  }
  case 4: {
    if (shape.back() % 2 != 0)
      return false;
    other.back() /= 2;
    Expr a = expr({type.dtype, other}, depth - 1), b = expr({type.dtype, other}, depth - 1);
    result = {"interleave(" + a.text + ", " + b.text + ")", std::max(a.bound, b.bound)};
    return true;
  }
  default: {
    Expr from = expr(type, depth - 1);
    std::string where = expr({DType::i32, shape}, 1).text;
    result = {"gather(" + from.text + ", (((" + where + ") & 255) % " + std::to_string(shape[axis]) +
                  "), axis=" + at + ")",
              from.bound};
    return true;
  }
  }
}

/// A tile made of one or more tiles of other shapes, or an element of one; false when none fits.
bool Writer::shapeExpr(const Type &type, unsigned depth, Expr &result) {
  const Shape &shape = type.shape;
  unsigned kind = choices.below(15);
  auto take = [&](Expr value) {
    result = std::move(value);
    return !result.text.empty();
  };
  if (kind <= 1 || policy == Policy::Reductions)
    return take(reduction(type, depth));
  if (shape.empty()) {
    if (kind <= 2)
      return false;
    int64_t side = choices.pick({2, 4, 7});
    Expr from = expr({type.dtype, {side}}, depth - 1);
    return take({"(" + from.text + ")[" + index(side) + "]", from.bound});
  }
  if (kind == 2) { // broadcast of an axis of side 1, or of a scalar
    Shape other = shape;
    other[choices.below(uint32_t(shape.size()))] = 1;
    Expr from = expr({type.dtype, other}, depth - 1);
    if (choices.chance(50))
      return take({"broadcast_to(" + from.text + ", " + listText(shape) + ")", from.bound});
    return take({"(" + from.text + (isFloatType(type.dtype) ? " + " : " | ") + "zeros[" + dtypeText(type.dtype) +
                     "](" + listText(shape) + "))",
                 from.bound});
  }
  if (kind <= 4)
    return restride(type, depth, kind - 3, result);
  if (kind <= 10)
    return rearrange(type, depth, kind - 5, result);
  if (kind == 11)
    return take(scan(type, depth));
  if (kind == 12)
    return take(sorted(type, depth));
  if (kind == 13 && type.dtype == DType::i32)
    return take(choices.chance(50) ? position(type, depth) : histogram(type, depth));
  return take(choices.chance(75) ? product(type, depth) : scaledProduct(type, depth));
}
