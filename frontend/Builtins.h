//===- Builtins.h - the functions of the language ------------------------------===//
#pragma once

#include "frontend/SemaValue.h"

namespace tk {

class Lowerer;
class MemoryLowerer;
class TileLowerer;
struct Builtin;
struct MemoryTarget;

/// The arguments of one call, matched to the parameters.
struct CallArgs {
  const Builtin *builtin = nullptr;
  const ast::Call *call = nullptr;
  const ast::Expr *self = nullptr; // of a method: the first argument
  SourceRange range;
  std::vector<const ast::Expr *> exprs; // one a parameter; null when not given
  std::vector<Val> values;              // the same, None when not given
  std::vector<const ast::Expr *> rest;  // of a parameter written `name*`
  std::shared_ptr<MemoryTarget> target; // of a parameter written `&name`
  llvm::ArrayRef<ast::Index> typeArgs;  // between brackets: zeros[f32](...)

  bool given(size_t i) const { return exprs[i] != nullptr; }
  SourceRange rangeOf(size_t i) const { return exprs[i] ? exprs[i]->range : range; }
  /// An argument is poisoned: say nothing more.
  bool poisoned() const;
};

/// `params` names the parameters: "value axis", "x?" may be left out, "sides*" takes the rest. What
/// follows "sides*", or a "*" alone, is given by name only. A parameter written "&place" is a place
/// or a pointer; one written "~part" gets no value: the function evaluates its expression itself;
/// one written "!axis" must be known at compile time. A function whose first parameter is `x` is a
/// method of tiles too.
struct Builtin {
  using Handler = Val (Lowerer::*)(CallArgs &);
  using MemoryHandler = Val (MemoryLowerer::*)(CallArgs &);
  using TileHandler = Val (TileLowerer::*)(CallArgs &);
  constexpr Builtin(llvm::StringRef name, llvm::StringRef params, Handler handler,
                    bool takesType = false)
      : name(name), params(params), handler(handler), takesType(takesType) {}
  constexpr Builtin(llvm::StringRef name, llvm::StringRef params, MemoryHandler handler)
      : name(name), params(params), memoryHandler(handler) {}
  constexpr Builtin(llvm::StringRef name, llvm::StringRef params, TileHandler handler,
                    bool takesType = false)
      : name(name), params(params), tileHandler(handler), takesType(takesType) {}

  bool isMethod() const { return params == "x" || params.starts_with("x "); }

  llvm::StringRef name;
  llvm::StringRef params;
  Handler handler = nullptr; // or
  MemoryHandler memoryHandler = nullptr;
  TileHandler tileHandler = nullptr;
  bool takesType = false;
};

/// Null when the language has no such function, or it is not built.
const Builtin *findBuiltin(llvm::StringRef name);
llvm::ArrayRef<Builtin> allBuiltins();
/// Functions of the language that are known but not built.
bool isPlannedBuiltin(llvm::StringRef name);
/// log2(e), ln(2), pi and the like, and inf; nullopt for other names.
std::optional<llvm::APFloat> namedConstant(llvm::StringRef name);

} // namespace tk
