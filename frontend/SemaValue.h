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
#include <memory>

namespace tk {

struct Builtin;
struct Capture;
struct Module;
struct StructType;
struct TensorParam;

struct Val {
  enum class Kind : uint8_t {
    Poison,
    Never, // on a path that does not come to where the value is read
    Unit,  // of a call that gives nothing
    None, // the name `None`
    Int,
    Float,
    Bool,
    Dtype,
    String,
    Tuple,
    List,
    Struct, // elements are its fields
    Run,    // value and type
    Tensor, // a tensor parameter
    Function,
    Builtin,
    Module,
  };

  Kind kind = Kind::Poison;
  bool boolean = false;
  tk::Dtype dtype = tk::Dtype::I64;
  RunType type;
  Int128 integer = 0;
  std::optional<llvm::APFloat> real;
  std::string text;
  std::vector<Val> elements; // of an aggregate; of a function: its arguments in brackets
  mlir::Value value;
  const TensorParam *tensor = nullptr;
  const ast::Function *function = nullptr;
  std::shared_ptr<const tk::Capture> capture; // of a closure: what its body sees
  const tk::Builtin *builtin = nullptr;
  const tk::Module *module = nullptr;       // itself, or that of a function
  const ast::Struct *structure = nullptr;   // of a struct's name, which is a function
  std::shared_ptr<const StructType> record; // of a structure, and of a method of one
  bool leftBranch = false; // of a view: it is made in a branch that is over
  SourceRange origin; // the expression that made it; empty when nothing in the file did

  static Val poison() { return Val(); }
  static Val never() { return of(Kind::Never); }
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
  bool isNever() const { return kind == Kind::Never; }
  bool isUnit() const { return kind == Kind::Unit; }
  /// Made of `elements` that are values of their own. Branches, loops and assignments take
  /// aggregates apart and build them again with other elements.
  bool isAggregate() const {
    return kind == Kind::Tuple || kind == Kind::List || kind == Kind::Struct;
  }
  /// The same kind of aggregate, made of other elements.
  Val withElements(std::vector<Val> parts) const {
    Val result = *this;
    result.elements = std::move(parts);
    return result;
  }
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
  /// "`s.m`" or "`t.0`", of a member of what is called `name`.
  std::string memberName(llvm::StringRef name, size_t index) const;
  /// Whether a member stays known at compile time: a field of kind `int`, `bool`, `dtype`, `string`.
  bool isFixedMember(size_t index) const;
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

/// A struct with its compile-time parameters: the type of a structure.
struct StructType {
  const ast::Struct *decl = nullptr;
  const Module *module = nullptr; // that declares it
  std::vector<Val> args;

  /// "State[f32]".
  std::string str() const;
};

/// Aggregates of one kind and type with as many members: they merge, and assign, memberwise.
bool sameStructure(const Val &a, const Val &b);

/// `int`, `bool`, `dtype`, `string`: what a compile-time parameter may be.
bool isKindName(llvm::StringRef name);

/// Equality of compile-time values; run-time values are equal when they are the same.
bool sameValue(const Val &a, const Val &b);

} // namespace tk
