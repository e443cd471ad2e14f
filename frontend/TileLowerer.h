//===- TileLowerer.h - what functions, `@` and subscripts do to tiles ----------===//
//
// The part of the walk that knows shapes: parts of tiles (LowerTile), elementwise functions
// (BuiltinsMath), shapes (BuiltinsShape), reductions and scans (BuiltinsReduce), functions in which
// elements meet otherwise (BuiltinsCollective), matrix products (BuiltinsDot), and functions that
// take one of scalars (BuiltinsRegion). It has no state of its own: make one where it is needed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Lowerer.h"

namespace tk {

struct TilePart;

class TileLowerer {
public:
  explicit TileLowerer(Lowerer &walk) : walk(walk), builder(walk.builder) {}

  // --- LowerTile.cpp -----------------------------------------------------------
  Val index(const ast::Subscript *expr, const Val &tile);
  /// `t[...] = value` and `t[...] op= value`, for a variable that holds a tile.
  void assign(const ast::Subscript *target, const ast::Assign *stmt);
  /// `tile` with the part that `target` names replaced, or poison.
  Val replaced(const ast::Subscript *target, const Val &tile, Val value, const ast::Assign *stmt);

  // --- BuiltinsMath.cpp ----------------------------------------------------------
  Val buildUnary(CallArgs &args);
  Val buildBinary(CallArgs &args);
  Val buildMulhi(CallArgs &args);
  Val buildBits(CallArgs &args);
  Val buildClassify(CallArgs &args);
  Val buildDivide(CallArgs &args);
  Val buildMinMax(CallArgs &args);
  Val buildClamp(CallArgs &args);
  Val buildFma(CallArgs &args);

  // --- BuiltinsShape.cpp ---------------------------------------------------------
  Val buildLike(CallArgs &args);
  Val buildEye(CallArgs &args);
  Val buildCat(CallArgs &args);
  Val buildBroadcast(CallArgs &args);
  Val buildBroadcastTo(CallArgs &args);
  Val buildExpandDims(CallArgs &args);
  Val buildPermute(CallArgs &args);
  Val buildReshape(CallArgs &args);
  Val buildSqueeze(CallArgs &args);
  Val buildJoin(CallArgs &args);
  Val buildSplit(CallArgs &args);
  Val buildFlip(CallArgs &args);
  Val buildItem(CallArgs &args);
  /// The last two axes change places.
  Val transpose(const Val &tile, SourceRange range, llvm::StringRef what);

  // --- BuiltinsReduce.cpp ----------------------------------------------------------
  Val buildFold(CallArgs &args);
  Val buildExtreme(CallArgs &args);
  Val buildReduce(CallArgs &args);
  Val buildCumulate(CallArgs &args);

  // --- BuiltinsCollective.cpp ------------------------------------------------------
  Val buildSort(CallArgs &args);
  Val buildHistogram(CallArgs &args);
  Val buildGather(CallArgs &args);

  // --- BuiltinsDot.cpp -------------------------------------------------------------
  Val buildDot(CallArgs &args);
  Val buildDotScaled(CallArgs &args);
  /// `a @ b`.
  Val product(const Val &a, const Val &b, SourceRange range);

  // --- BuiltinsRegion.cpp ----------------------------------------------------------
  Val buildMap(CallArgs &args);
  Val buildAsm(CallArgs &args);
  Val buildExtern(CallArgs &args);

private:
  friend struct TilePart;
  template <const DiagSpec &Spec, class... Args> Report error(SourceRange range, Args &&...args) {
    return walk.error<Spec>(range, std::forward<Args>(args)...);
  }
  mlir::Location loc(SourceRange range) { return walk.loc(range); }

  // --- TileLowerer.cpp: arguments, and shapes that several files change ----------
  /// The argument is a tile; a scalar has no axes.
  bool needTile(const CallArgs &args, size_t i);
  std::optional<bool> flag(const CallArgs &args, size_t i);
  /// One of `words`; the first one when the argument is left out.
  std::optional<size_t> word(const CallArgs &args, size_t i, llvm::ArrayRef<llvm::StringRef> words);
  /// An axis counts from 0, a negative one from the end.
  std::optional<int64_t> axisOf(const Val &axis, SourceRange range, size_t rank,
                                const llvm::Twine &whose);
  /// One axis, or several in a tuple; each once.
  std::optional<llvm::SmallVector<int64_t>> axesOf(const Val &axes, SourceRange range, size_t rank,
                                                   const llvm::Twine &whose);
  std::optional<llvm::SmallVector<int64_t>>
  distinctAxes(llvm::ArrayRef<Val> axes, SourceRange range, size_t rank, const llvm::Twine &whose);
  std::vector<Val> evalRest(const CallArgs &args, bool compileTime = false);
  /// The arguments, or the first `count` of them, are numbers.
  bool needNumbers(const CallArgs &args, size_t count = ~size_t(0));
  /// A type that all values meet in: run-time ones first, numbers adapt.
  std::optional<RunType> commonOf(llvm::ArrayRef<Val> values, SourceRange range,
                                  llvm::StringRef what);
  std::optional<Val> asElement(const Val &value, SourceRange range, llvm::StringRef what);
  /// Run-time values of one shape; their dtypes stay.
  std::optional<std::vector<Val>> sameShape(llvm::ArrayRef<Val> values, SourceRange range,
                                            llvm::StringRef what);
  Val broadcasted(const Val &value, llvm::ArrayRef<int64_t> shape, SourceRange range);
  /// The same elements under another shape; rank 0 is the scalar.
  Val reshaped(const Val &value, llvm::ArrayRef<int64_t> shape, SourceRange range);
  Val expanded(const Val &value, int64_t axis, SourceRange range);
  Val permuted(const Val &tile, llvm::ArrayRef<int64_t> order, SourceRange range);
  Val flipped(const Val &tile, int64_t axis, SourceRange range);
  Val concatenated(llvm::ArrayRef<Val> tiles, int64_t axis, SourceRange range);
  /// The i32 numbers 0, 1, ... along one axis of a tile of `shape`.
  Val iota(llvm::ArrayRef<int64_t> shape, int64_t axis, SourceRange range);
  Val sliced(const Val &tile, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> offsets,
             llvm::ArrayRef<int64_t> strides, SourceRange range);
  std::optional<RunType> catType(llvm::ArrayRef<Val> parts, int64_t axis, SourceRange range);
  std::optional<Shape> reshapeSides(const CallArgs &args, int64_t elements);

  // --- LowerTile.cpp -----------------------------------------------------------
  std::optional<TilePart> partOf(const ast::Subscript *expr, const Val &tile);
  bool addIndex(const ast::Index &index, const Val &tile, TilePart &part);
  bool addScalar(const Val &value, SourceRange range, const Val &tile, TilePart &part);
  bool addSlice(const ast::Index &index, const Val &tile, TilePart &part);
  std::optional<int64_t> bound(const ast::Expr *expr, llvm::StringRef what);
  Val picked(const Val &tile, int64_t axis, mlir::Value index, SourceRange range);
  Val readPart(const TilePart &part, const Val &tile, SourceRange range);
  Val writePart(const TilePart &part, const Val &value, const Val &tile, SourceRange range);

  // --- BuiltinsMath.cpp ----------------------------------------------------------
  bool needFloat(Dtype dtype, const Val &given, SourceRange range, llvm::StringRef what);
  Val minMax(bool wantMax, const Val &lhs, const Val &rhs, SourceRange range, llvm::StringRef what,
             NumAttr nan);
  NumAttr nanRule(const CallArgs &args, size_t i, bool &good);

  // --- BuiltinsReduce.cpp ----------------------------------------------------------
  using Values = llvm::SmallVector<mlir::Value>;
  /// Combines the elements on the left with those on the right; nullopt after an error.
  using Combine =
      llvm::function_ref<std::optional<Values>(mlir::ValueRange left, mlir::ValueRange right)>;
  /// The tiles to reduce, flat when no axis is given.
  struct Axis {
    std::vector<Val> tiles;
    int64_t axis = 0;
    Shape keep; // the shape of the result, or with the axis of side 1
  };
  std::optional<Axis> reductionAxis(llvm::ArrayRef<Val> tiles, const Val &axis, bool keepDims,
                                    SourceRange axisRange, SourceRange range);
  bool combineRegion(mlir::Region &region, llvm::ArrayRef<Val> tiles, SourceRange range,
                     Combine combine);
  std::optional<std::vector<Val>> reduced(const Axis &axis, ReduceOrder order, SourceRange range,
                                          Combine combine);
  std::optional<std::vector<Val>> scanned(const Axis &axis, ReduceOrder order, bool reverse,
                                          SourceRange range, Combine combine);
  std::optional<Values> callCombine(const CallArgs &args, const Val &given, const Val &function,
                                    llvm::ArrayRef<Val> tiles, mlir::ValueRange left,
                                    mlir::ValueRange right);
  ReduceOrder foldOrder(llvm::StringRef name, Dtype dtype);
  mlir::Value fold(llvm::StringRef name, mlir::Value a, mlir::Value b, Dtype dtype,
                   SourceRange range);
  std::optional<Values> keepExtreme(bool wantMax, Dtype dtype, mlir::ValueRange left,
                                    mlir::ValueRange right, SourceRange range);
  std::optional<Val> foldOperand(CallArgs &args);
  bool checkAxisArgument(CallArgs &args);
  bool isRagged(ReadOp read, const Val &value, const Axis &axis);
  void warnUnfilled(const Val &value, const Axis &axis, SourceRange range, llvm::StringRef name);

  // --- BuiltinsDot.cpp -------------------------------------------------------------
  /// Products of fp8 after which partial sums are added in f32, unless the program says it.
  static constexpr int64_t kPromote = 128;
  struct DotOptions {
    DotInput input = DotInput::exact;
    int64_t promote = kPromote;
    std::optional<Dtype> out;
  };
  Val emitDot(const Val &a, const Val &b, const Val &acc, const DotOptions &options,
              SourceRange range, llvm::StringRef what);
  std::optional<Dtype> dotType(const Val &a, const Val &b, std::optional<Dtype> out,
                               SourceRange range, llvm::StringRef what);
  std::optional<Shape> dotShape(const Val &a, const Val &b, SourceRange range,
                                llvm::StringRef what);
  DotInput kernelDotInput();
  std::optional<DotInput> dotInput(const CallArgs &args, size_t i);
  std::optional<int64_t> dotPromote(const CallArgs &args, size_t i);
  std::optional<Val> dotAcc(const Val &acc, const RunType &type, SourceRange range,
                            llvm::StringRef what);
  bool checkScale(const Val &operand, const Val &scale, size_t axis, SourceRange range,
                  llvm::StringRef name);

  // --- BuiltinsRegion.cpp ----------------------------------------------------------
  bool isFunction(const CallArgs &args, size_t i);
  /// Nothing in the region touches memory or makes a tile.
  bool checkScalars(mlir::Region &region, SourceRange range, llvm::StringRef what);
  std::optional<std::vector<Val>> scalarResults(const Val &result, SourceRange range,
                                                llvm::StringRef what);
  bool referenceRegion(mlir::Region &region, const CallArgs &args, size_t i,
                       llvm::ArrayRef<Val> operands, llvm::ArrayRef<Dtype> results);
  std::optional<llvm::SmallVector<Dtype>> dtypesOf(const CallArgs &args, size_t i);
  bool checkConstraints(const CallArgs &args, llvm::ArrayRef<Val> operands,
                        llvm::ArrayRef<Dtype> results, int64_t pack);

  Lowerer &walk;
  mlir::OpBuilder &builder;
};

} // namespace tk
