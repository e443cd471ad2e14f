//===- GeneratorProduct.cpp - products, storage types, bitcasts -------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// The largest integer of which all smaller ones survive that preparation of f32 operands.
static double inputLimit(const std::string &input) {
  return input.find("bf16") != std::string::npos ? 256 : input.empty() || input.find("exact") != std::string::npos ? 0x1p24 : 2048;
}

/// A product of small numbers; the operands have a type that gives the wanted one.
Expr Writer::product(const Type &type, unsigned depth) {
  if (type.shape.size() < 2)
    return {"", 0};
  std::vector<DType> operands;
  if (type.dtype == DType::f32)
    operands = {DType::f32, DType::f16, DType::bf16, DType::f32, DType::f8e4m3fn, DType::f8e5m2};
  else if (type.dtype == DType::i32)
    operands = {DType::i8, DType::u8};
  else if (type.dtype == DType::f64 || type.dtype == DType::f16)
    operands = {type.dtype};
  else
    return {"", 0};
  size_t rank = type.shape.size();
  Shape left = type.shape, right = type.shape;
  int64_t k = choices.pick({16, 1, 3, 8, 32, 48});
  if (rank > 2 && policy != Policy::Products)
    k = std::min<int64_t>(k, 8);
  left[rank - 1] = right[rank - 2] = k;
  if (std::max(elementsOf(left), elementsOf(right)) > settings.maxTileElements)
    return {"", 0};
  DType dtype = choices.pick(operands), other = type.dtype == DType::i32 ? choices.pick(operands) : dtype;
  bool isFp8 = isStorageType(dtype);
  auto operand = [&](DType dtype, const Shape &shape) -> Expr {
    Expr value = expr({isFp8 ? DType::f32 : dtype, shape}, depth - 1);
    if (!isFp8)
      return value;
    return {"clamp(" + value.text + ", -8.0, 8.0).to(" + dtypeText(dtype) + ")", 8};
  };
  Expr a = operand(dtype, left), b = operand(other, right);
  double bound = a.bound * b.bound * double(k);
  if (type.dtype != DType::f16 && rank > 2 && choices.chance(50))
    return fit({helper("batched") + "(" + a.text + ", " + b.text + ")", bound}, type);
  if (type.dtype != DType::f16 && choices.chance(50))
    return fit({"((" + a.text + ") @ (" + b.text + "))", bound}, type);
  Expr acc = expr(type, depth - 1);
  std::string options;
  if (dtype == DType::f32)
    options = choices.pick<std::string>({", input=\"exact\"", ", input=\"tf32\"", ", input=\"tf32x3\"", ", input=\"bf16x3\"", ", input=\"bf16x6\""});
  if (settings.exact && std::max(a.bound, b.bound) > inputLimit(options))
    options.clear();
  if (isFp8)
    options = choices.pick<std::string>({"", ", promote=\"never\"", ", promote=128"});
  if (type.dtype == DType::f16)
    options = ", out=f16";
  return fit({"dot(" + a.text + ", " + b.text + ", " + acc.text + options + ")", bound + acc.bound}, type);
}

/// With one scale, a power of two, a block of 32 along K.
Expr Writer::scaledProduct(const Type &type, unsigned depth) {
  if (type.dtype != DType::f32 || type.shape.size() != 2)
    return {"", 0};
  int64_t k = choices.pick({32, 64});
  int64_t m = type.shape[0], n = type.shape[1];
  if (std::max(m, n) * k > settings.maxTileElements)
    return {"", 0};
  auto operand = [&](int64_t rows, int64_t columns) {
    DType dtype = choices.pick({DType::f8e4m3fn, DType::f8e5m2, DType::f4e2m1, DType::f16, DType::bf16});
    Expr value = expr({DType::f32, {rows, columns}}, depth - 1);
    return "clamp(" + value.text + ", -4.0, 4.0).to(" + dtypeText(dtype) + ")";
  };
  auto scale = [&](int64_t rows, int64_t columns) -> std::string {
    if (choices.chance(25))
      return "None";
    return "full[f32](" + choices.pick<std::string>({"2.0", "1.0", "4.0"}) + ", " + listText({rows, columns}) + ").to(e8m0)";
  };
  std::string a = operand(m, k), aScale = scale(m, k / 32), b = operand(k, n), bScale = scale(k / 32, n);
  Expr acc = expr(type, depth - 1);
  return fit({"dot_scaled(" + a + ", " + aScale + ", " + b + ", " + bScale + ", " + acc.text + ")",
              acc.bound + 256.0 * double(k)},
             type);
}

/// A value of a type without arithmetic: read, or one of this type there and back.
Expr Writer::storage(const Type &type, unsigned depth) {
  bool isFloat = isFloatType(type.dtype);
  std::vector<Source> fitting;
  for (const Source &source : sources)
    if (!function && isStorageType(source.dtype) && interp::isFloat(source.dtype) == isFloat &&
        source.extents.size() >= type.shape.size() && !(settings.exact && source.dtype == DType::e8m0))
      fitting.push_back(source);
  std::string back = ".to(" + dtypeText(type.dtype) + ")";
  if (!fitting.empty() && choices.chance(70)) {
    const Source source = choices.pick(fitting);
    return {readPlace(source, {source.dtype, type.shape}).text + back, 8};
  }
  Expr value = expr(type, depth - 1);
  if (!isFloat)
    return {"(" + value.text + ").to(" + choices.pick<std::string>({"i4", "u4"}) + choices.pick<std::string>({"", ", overflow=\"saturate\""}) +
                ")" + back,
            0};
  std::string to = choices.pick<std::string>({"f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f4e2m1"});
  std::string how = settings.exact || to != "f8e4m3fn" ? "" : choices.pick<std::string>({"", ", overflow=\"nan\""});
  Expr narrow{"(" + value.text + ").to(" + to + how + ")" + back, value.bound * 2};
  return fit(narrow, type);
}

/// The bits of another type: of the same width, or of elements split or joined along the last axis.
Expr Writer::bits(const Type &type, unsigned depth) {
  if (isFloatType(type.dtype) && settings.exact)
    return {"", 0}; // any number could come of it
  static const std::vector<DType> same[] = {
      {DType::i8, DType::u8}, {DType::i16, DType::u16, DType::f16, DType::bf16},
      {DType::i32, DType::u32, DType::f32}, {DType::i64, DType::u64, DType::f64}};
  size_t width = 0;
  while (std::find(same[width].begin(), same[width].end(), type.dtype) == same[width].end())
    ++width;
  std::string head = "bitcast[" + dtypeText(type.dtype) + "](";
  if (!type.shape.empty() && choices.chance(40)) {
    size_t other = choices.below(4);
    Type from{choices.pick(same[other]), type.shape};
    int64_t &side = from.shape.back();
    if (other > width && side % (1 << (other - width)) == 0)
      side >>= other - width;
    else if (other < width)
      side <<= width - other;
    else
      return {"", 0};
    if (elementsOf(from.shape) > settings.maxTileElements)
      return {"", 0};
    return {head + expr(from, depth - 1).text + ", axis=-1)", 0};
  }
  Type from{choices.pick(same[width]), type.shape};
  return {head + expr(from, depth - 1).text + ")", 0};
}
