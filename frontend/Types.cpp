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
  bool storage;
};
} // namespace

static const Row table[] = {
    {"i1", 1, Class::Bool, false},        {"i4", 4, Class::Signed, true},
    {"i8", 8, Class::Signed, false},      {"i16", 16, Class::Signed, false},
    {"i32", 32, Class::Signed, false},    {"i64", 64, Class::Signed, false},
    {"u4", 4, Class::Unsigned, true},     {"u8", 8, Class::Unsigned, false},
    {"u16", 16, Class::Unsigned, false},  {"u32", 32, Class::Unsigned, false},
    {"u64", 64, Class::Unsigned, false},  {"f16", 16, Class::Float, false},
    {"bf16", 16, Class::Float, false},    {"f32", 32, Class::Float, false},
    {"f64", 64, Class::Float, false},     {"f8e4m3fn", 8, Class::Float, true},
    {"f8e5m2", 8, Class::Float, true},    {"f8e4m3fnuz", 8, Class::Float, true},
    {"f8e5m2fnuz", 8, Class::Float, true}, {"f4e2m1", 4, Class::Float, true},
    {"e8m0", 8, Class::Float, true},
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
bool tk::isStorage(Dtype dtype) {
  return row(dtype).storage;
}
bool tk::hasInfinity(Dtype dtype) {
  return isFloat(dtype) && (!isStorage(dtype) || dtype == Dtype::F8E5M2);
}
bool tk::hasNan(Dtype dtype) {
  return isFloat(dtype) && dtype != Dtype::F4E2M1;
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
  case Dtype::F8E4M3FN:
    return mlir::Float8E4M3FNType::get(context);
  case Dtype::F8E5M2:
    return mlir::Float8E5M2Type::get(context);
  case Dtype::F8E4M3FNUZ:
    return mlir::Float8E4M3FNUZType::get(context);
  case Dtype::F8E5M2FNUZ:
    return mlir::Float8E5M2FNUZType::get(context);
  case Dtype::F4E2M1:
    return mlir::Float4E2M1FNType::get(context);
  case Dtype::E8M0:
    return mlir::Float8E8M0FNUType::get(context);
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
  case Dtype::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case Dtype::F8E5M2:
    return APFloat::Float8E5M2();
  case Dtype::F8E4M3FNUZ:
    return APFloat::Float8E4M3FNUZ();
  case Dtype::F8E5M2FNUZ:
    return APFloat::Float8E5M2FNUZ();
  case Dtype::F4E2M1:
    return APFloat::Float4E2M1FN();
  case Dtype::E8M0:
    return APFloat::Float8E8M0FNU();
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
