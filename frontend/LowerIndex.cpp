//===- LowerIndex.cpp - one index of a place ------------------------------------===//
//
// A scalar drops its axis; `start +: W`, `lo:hi` and `:` make one; a tile of indices gathers. An
// index is a position from the first element on, whatever its sign: what lies outside is no error.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

static bool isIndex(const Val &value) {
  return value.isInt() || (value.isRun() && !value.type.pointer && isInteger(value.type.dtype));
}

Value Lowerer::scalarIndex(const Val &value, SourceRange range, StringRef what) {
  if (value.isPoison())
    return {};
  if (!isIndex(value) || !value.shape().empty()) {
    error<diag::TypeMismatch>(range, what, "an integer scalar", value.describe());
    return {};
  }
  if (value.isInt() && !adaptConst(value, Dtype::I64, range, what))
    return {};
  return materialize(value, Dtype::I64, {}, range);
}

/// A number that is written as an index and is one of no element, at every launch.
void Lowerer::warnOutside(const ast::Expr *expr, Int128 number, std::optional<int64_t> extent,
                          const TensorParam &tensor) {
  auto *unary = dyn_cast<ast::Unary>(expr);
  // What is computed may well lie outside: a convolution that is unrolled pads by that.
  if (!isa<ast::IntLit>(unary ? unary->operand : expr))
    return;
  StringRef name = tensor.decl->name.text;
  if (number < 0)
    error<diag::IndexOutsideAlways>(expr->range, toString(number), name, "")
        .help("indices count from the first element; the last one is at the extent less 1");
  else if (extent && number >= *extent)
    error<diag::IndexOutsideAlways>(expr->range, toString(number), name,
                                    ", whose extent is " + std::to_string(*extent));
}

/// A scalar, or a tile of indices.
std::optional<PlaceIndex> Lowerer::indexByValue(const ast::Index &index, unsigned axis,
                                                const TensorParam &tensor) {
  Val value = eval(index.value);
  if (value.isPoison())
    return std::nullopt;
  if (value.kind == Val::Kind::None) {
    error<diag::NotIndexable>(index.range, "a tensor", " by `None`")
        .help("read the tile first: `x[i +: BLOCK][None, :]`");
    return std::nullopt;
  }
  if (!isIndex(value)) {
    Report report = error<diag::TypeMismatch>(
        index.range, "an index", "an integer scalar or a tile of integers", value.describe());
    if (value.isRun() && value.type.dtype == Dtype::I1)
      report.help("elements are left out by `mask=`");
    return std::nullopt;
  }
  if (!value.shape().empty())
    return PlaceIndex{Value(), value, -1};
  if (value.isInt())
    warnOutside(index.value, value.integer, tensor.staticExtents[axis], tensor);
  return PlaceIndex{scalarIndex(value, index.range, "an index"), Val(), 0};
}

/// A bound of `lo:hi`, which is known at compile time.
std::optional<int64_t> Lowerer::sliceBound(const ast::Expr *expr, const Val &value) {
  std::optional<Int128> number = needInt(value, expr->range, "a bound of a slice");
  if (!number || !adaptConst(value, Dtype::I64, expr->range, "a slice"))
    return std::nullopt;
  return int64_t(*number);
}

/// `lo:hi`, the same as `lo +: hi - lo`, and `:`, the whole axis.
std::optional<PlaceIndex> Lowerer::indexBySlice(const ast::Index &index, unsigned axis,
                                                const TensorParam &tensor) {
  if (index.step) {
    error<diag::SliceStep>(index.step->range, tensor.decl->name.text)
        .help("a tile of indices takes any elements: `x[2 * arange(0, 32)]`");
    return std::nullopt;
  }
  Val start = index.start ? eval(index.start) : Val(), stop = index.stop ? eval(index.stop) : Val();
  for (const auto &[expr, value] : {std::pair(index.start, &start), {index.stop, &stop}}) {
    if (!expr || !value->isRun() || !isIndex(*value))
      continue;
    // Once for both bounds: where one of them is computed, so is the other.
    error<diag::NotCompileTime>(expr->range, "a bound of a slice", value->describe())
        .note(value->origin == expr->range ? SourceRange() : value->origin,
              "the value comes from here")
        .help("`start +: WIDTH` begins anywhere; `view(x[lo:hi])` is a tensor with extents of its "
              "own");
    return std::nullopt;
  }
  std::optional<int64_t> low = index.start ? sliceBound(index.start, start) : 0;
  std::optional<int64_t> high =
      index.stop ? sliceBound(index.stop, stop) : tensor.staticExtents[axis];
  if (!index.stop && !high) {
    Report report = error<diag::NotCompileTime>(index.range, "the extent that `:` takes",
                                                "one known at launch");
    if (tensor.isView())
      report.note(tensor.made, "the view is made here");
    else
      report.note(cast<ast::BracketType>(tensor.decl->type)->args[axis]->range,
                  "the extent is declared here");
    report.help("write `0 +: WIDTH` with a compile-time width");
  }
  if (!low || !high)
    return std::nullopt;
  Int128 side = Int128(*high) - *low;
  if (side < 1 && (*low < 0 || *high < 0)) {
    error<diag::BadTileSide>(index.range, toString(side))
        .help("the bounds of a slice count from the first element, never from the end");
    return std::nullopt;
  }
  std::optional<int64_t> width = checkSide(side, index.range);
  if (!width)
    return std::nullopt;
  return PlaceIndex{constant(Val::ofInt(*low), Dtype::I64, {}, index.range), Val(), *width};
}

std::optional<PlaceIndex> Lowerer::placeIndex(const ast::Index &index, unsigned axis,
                                              const TensorParam &tensor) {
  if (index.kind == ast::Index::Kind::Expr)
    return indexByValue(index, axis, tensor);
  if (index.kind == ast::Index::Kind::Slice)
    return indexBySlice(index, axis, tensor);
  Value start = scalarIndex(eval(index.start), index.start->range, "the start of a slice");
  std::optional<Int128> side = evalInt(index.width, "the width of a slice");
  std::optional<int64_t> width = side ? checkSide(*side, index.width->range) : std::nullopt;
  if (!width)
    return std::nullopt;
  return PlaceIndex{start, Val(), *width};
}
