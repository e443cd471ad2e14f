//===- Types.cpp - the table of data types ----------------------------------===//

#include "frontend/Types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tk;

namespace {
enum class Class : uint8_t { Bool, Signed, Unsigned, Float };
struct Row {
  StringRef name;
  unsigned bits;
  Class kind;
  bool built;
};
} // namespace

static const Row table[] = {
    {"i1", 1, Class::Bool, true},           {"i4", 4, Class::Signed, false},
    {"i8", 8, Class::Signed, true},         {"i16", 16, Class::Signed, true},
    {"i32", 32, Class::Signed, true},       {"i64", 64, Class::Signed, true},
    {"u4", 4, Class::Unsigned, false},      {"u8", 8, Class::Unsigned, true},
    {"u16", 16, Class::Unsigned, true},     {"u32", 32, Class::Unsigned, true},
    {"u64", 64, Class::Unsigned, true},     {"f16", 16, Class::Float, true},
    {"bf16", 16, Class::Float, true},       {"f32", 32, Class::Float, true},
    {"f64", 64, Class::Float, true},        {"f8e4m3fn", 8, Class::Float, false},
    {"f8e5m2", 8, Class::Float, false},     {"f8e4m3fnuz", 8, Class::Float, false},
    {"f8e5m2fnuz", 8, Class::Float, false}, {"f4e2m1", 4, Class::Float, false},
    {"e8m0", 8, Class::Float, false},
};

static const Row &row(Dtype dtype) {
  return table[size_t(dtype)];
}

StringRef tk::dtypeName(Dtype dtype) {
  return row(dtype).name;
}

std::optional<Dtype> tk::dtypeByName(StringRef name) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name)
      return Dtype(i);
  return std::nullopt;
}

ArrayRef<StringRef> tk::allDtypeNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> list;
    for (const Row &entry : table)
      list.push_back(entry.name);
    return list;
  }();
  return names;
}

unsigned tk::dtypeBits(Dtype dtype) {
  return row(dtype).bits;
}
unsigned tk::dtypeBytes(Dtype dtype) {
  return (row(dtype).bits + 7) / 8;
}
bool tk::isFloat(Dtype dtype) {
  return row(dtype).kind == Class::Float;
}
bool tk::isInteger(Dtype dtype) {
  return row(dtype).kind == Class::Signed || row(dtype).kind == Class::Unsigned;
}
bool tk::isSignedInteger(Dtype dtype) {
  return row(dtype).kind == Class::Signed;
}
bool tk::isUnsignedLike(Dtype dtype) {
  return row(dtype).kind == Class::Unsigned || row(dtype).kind == Class::Bool;
}
bool tk::isBuilt(Dtype dtype) {
  return row(dtype).built;
}

mlir::Type tk::toMlir(mlir::MLIRContext *context, Dtype dtype) {
  switch (dtype) {
  case Dtype::F16:
    return mlir::Float16Type::get(context);
  case Dtype::BF16:
    return mlir::BFloat16Type::get(context);
  case Dtype::F32:
    return mlir::Float32Type::get(context);
  case Dtype::F64:
    return mlir::Float64Type::get(context);
  default:
    return mlir::IntegerType::get(context, dtypeBits(dtype));
  }
}

const fltSemantics &tk::floatSemantics(Dtype dtype) {
  switch (dtype) {
  case Dtype::F16:
    return APFloat::IEEEhalf();
  case Dtype::BF16:
    return APFloat::BFloat();
  case Dtype::F64:
    return APFloat::IEEEdouble();
  default:
    return APFloat::IEEEsingle();
  }
}

std::string tk::describeShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "a scalar";
  return "[" + join(map_range(shape, [](int64_t side) { return std::to_string(side); }), ", ") +
         "]";
}

RunType RunType::pointee() const {
  if (indirections > 0)
    return {dtype, true, param, shape, indirections - 1};
  return {dtype, false, 0, shape};
}

std::string RunType::str() const {
  std::string element = std::string(pointer ? indirections + 1 : 0, '*') + dtypeName(dtype).str();
  if (shape.empty())
    return element;
  std::string text = "tile[" + element;
  for (int64_t side : shape)
    text += ", " + std::to_string(side);
  return text + "]";
}
