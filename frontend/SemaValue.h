//===- SemaValue.h - what an expression is during elaboration -----------------===//
//
// Either known at compile time (a number, a dtype, a function, ...) or a run-time MLIR value with
// the language's type. A poisoned value stands for an error that has been reported: whatever
// meets it stays silent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/ConstEval.h"
#include "frontend/Types.h"
#include "mlir/IR/Value.h"

namespace tk {

struct Builtin;
struct TensorParam;

struct Val {
  enum class Kind : uint8_t {
    Poison,
    Unit, // of a call that gives nothing
    None, // the name `None`
    Int,
    Float,
    Bool,
    Dtype,
    String,
    Tuple,
    List,
    Run,    // value and type
    Tensor, // a tensor parameter
    Function,
    Builtin,
  };

  Kind kind = Kind::Poison;
  bool boolean = false;
  tk::Dtype dtype = tk::Dtype::I64;
  RunType type;
  Int128 integer = 0;
  std::optional<llvm::APFloat> real;
  std::string text;
  std::vector<Val> elements;
  mlir::Value value;
  const TensorParam *tensor = nullptr;
  const ast::Function *function = nullptr;
  const tk::Builtin *builtin = nullptr;
  SourceRange origin; // the expression that made it; empty when nothing in the file did

  static Val poison() { return Val(); }
  static Val unit() { return of(Kind::Unit); }
  static Val none() { return of(Kind::None); }
  static Val ofInt(Int128 number) {
    Val val = of(Kind::Int);
    val.integer = number;
    return val;
  }
  static Val ofFloat(llvm::APFloat number) {
    Val val = of(Kind::Float);
    val.real = std::move(number);
    return val;
  }
  static Val ofBool(bool truth) {
    Val val = of(Kind::Bool);
    val.boolean = truth;
    return val;
  }
  static Val ofDtype(tk::Dtype dtype) {
    Val val = of(Kind::Dtype);
    val.dtype = dtype;
    return val;
  }
  static Val ofString(llvm::StringRef text) {
    Val val = of(Kind::String);
    val.text = text.str();
    return val;
  }
  static Val tuple(std::vector<Val> elements) {
    Val val = of(Kind::Tuple);
    val.elements = std::move(elements);
    return val;
  }
  static Val run(mlir::Value value, RunType type) {
    Val val = of(Kind::Run);
    val.value = value;
    val.type = std::move(type);
    return val;
  }

  bool isPoison() const { return kind == Kind::Poison; }
  bool isRun() const { return kind == Kind::Run; }
  bool isInt() const { return kind == Kind::Int; }
  bool isBool() const { return kind == Kind::Bool; }
  bool isTuple() const { return kind == Kind::Tuple; }
  /// A compile-time number or truth value.
  bool isConstNumber() const {
    return kind == Kind::Int || kind == Kind::Float || kind == Kind::Bool;
  }
  /// What arithmetic takes.
  bool isNumeric() const { return isConstNumber() || (isRun() && !type.pointer); }
  bool isPointer() const { return isRun() && type.pointer; }
  llvm::ArrayRef<int64_t> shape() const {
    return isRun() ? llvm::ArrayRef<int64_t>(type.shape) : llvm::ArrayRef<int64_t>();
  }
  /// A compile-time value that contains no run-time part.
  bool isCompileTime() const;

  /// "the tile tile[f32, 64]", "the number 5": for messages.
  std::string describe() const;
  /// The value as a reader writes it, for compile-time values.
  std::string str() const;

private:
  static Val of(Kind kind) {
    Val val;
    val.kind = kind;
    return val;
  }
};

/// Equality of compile-time values; run-time values are equal when they are the same.
bool sameValue(const Val &a, const Val &b);

} // namespace tk
