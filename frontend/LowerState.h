//===- LowerState.h - what the walk knows: parameters, places, frames, the kernel ---===//
#pragma once

#include "frontend/Builtins.h"
#include "frontend/Frontend.h"
#include "frontend/LowerExit.h"
#include "frontend/LowerReport.h"
#include "frontend/Modules.h"
#include "frontend/SemaScope.h"
#include "ir/tk/TkDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

namespace tk {

/// Elements of the largest tile: 2^20.
constexpr int64_t kMaxTileElements = int64_t(1) << 20;
/// Calls of functions inside each other.
constexpr unsigned kMaxCallDepth = 64;
/// Nested run-time `if`, `for` and `while` after inlining.
constexpr unsigned kMaxRegionDepth = 200;
/// Expressions and statements inside each other after inlining.
constexpr unsigned kMaxWalkDepth = 4096;
/// Numbers in one tuple or list, members of members included.
constexpr size_t kMaxElements = 256;
/// Trips of one static_range.
constexpr int64_t kMaxStaticTrips = 4096;
/// Expressions and statements elaborated for one kernel.
constexpr unsigned kMaxSteps = 500'000;

/// What a launch takes beside the grid.
constexpr llvm::StringLiteral kLaunchOptions[] = {"warps", "stages", "ctas", "maxregs"};

/// A kernel's tensor or pointer parameter, or a view made of one: then declaration, index and alias
/// class are those of the parameter.
struct TensorParam {
  const ast::KernelParam *decl = nullptr;
  unsigned index = 0;
  bool pointer = false;
  Dtype dtype = Dtype::F32;
  int64_t aliasClass = 0;
  llvm::SmallVector<std::optional<int64_t>> staticExtents; // of a tensor
  unsigned indirections = 0;                               // of a pointer, as in RunType
  mlir::Value value;                                       // the kernel's argument, or the view
  bool optional = false;                                   // it may be absent
  SourceRange made;                                        // of a view: the call; else empty
  unsigned depth = 0;                                      // of a view: the regions around it

  bool isView() const { return made.size() != 0; }
};

/// One index of a place: a scalar, whose axis is dropped, a slice, or a tile of indices.
struct PlaceIndex {
  mlir::Value start; // an i64, but for a tile
  Val tile;          // of integers
  int64_t width = 0; // as in tk.read: 0, the width, or -1
};

/// `x[...]` with its indices evaluated.
struct Place {
  const TensorParam *tensor = nullptr;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> widths;
  Shape shape;
  Val mask, fill; // None when not given
  SourceRange range;
};

/// What follows the current block: where nothing does, nobody asks how it is left.
enum class Tail { Code, LoopEnd, FunctionEnd };

/// A place as addresses.
struct Located {
  Val pointer;
  mlir::Value exists; // where the address is to be used; null after an error
};

/// What a load or store says beside the place.
struct AccessHints {
  CacheHintAttr cache;
  EvictHintAttr evict;
  bool isVolatile = false;
};

/// One function being elaborated, or the kernel.
struct Frame {
  const ast::Function *function = nullptr; // null: the kernel
  const Module *module = nullptr;          // whose declarations it sees
  bool seesExtents = false;                // the kernel, and closures that are written in it
  Scopes scopes;
  Val returned = Val::never(); // where code is left by `return`: its value; never where it goes on
  SourceRange returnRange;     // the last `return`
  unsigned loops = 0;          // around the current statement
  Tail tail = Tail::FunctionEnd;
  size_t paramDepth = 0;       // of the scopes, where the parameters are
  bool hidesExit = false;      // an error has hidden a way out
};

/// An argument of a call, evaluated by the caller.
struct Argument {
  Val value;
  SourceRange range;
  ast::Ident name; // empty: positional
};

/// A call of a function of the file or of a closure.
struct FunctionCall {
  Val callee; // of kind Function
  SourceRange range;
  std::vector<Argument> args;
};

/// What the contract knows of a name in the host's expressions.
struct HostName {
  mlir::Attribute expr;                // a name or a number
  const TensorParam *tensor = nullptr; // that binds it
  unsigned axis = 0;                   // of that tensor
  bool isStride = false;
  unsigned uses = 0;
  SourceRange declared;
  mlir::Value value; // once emitted
};

/// The kernel being instantiated.
struct KernelState {
  const ast::Kernel *decl = nullptr;
  KernelOp op;
  bool isDeterministic = false;
  std::vector<std::unique_ptr<TensorParam>> tensors;
  std::vector<std::unique_ptr<TensorParam>> views;
  llvm::SmallSet<unsigned, 4> present; // numbers of the optional parameters known to be there
  llvm::MapVector<llvm::StringRef, HostName> hostNames; // extents and strides
  llvm::MapVector<llvm::StringRef, Val> compileTime;    // compile-time parameters
  llvm::StringMap<const ast::KernelParam *> scalars;
  llvm::StringSet<> read, written, untaken; // parameters; names in branches not taken
  mlir::Operation *lastExtent = nullptr;    // extents are emitted in order at the entry
  llvm::SmallVector<mlir::Attribute> gridAxes; // host expressions, one an axis
};

} // namespace tk
