//===- LowerTile.cpp - parts of tiles: `t[:, None]`, `t[1:3, i]`, and assigning to them -----===//
//
// Indices known at compile time are one static slice. A scalar index known at run time is picked
// first, at a cost that a remark names. Axes that scalar indices leave and those that `None` adds
// are a change of shape at the end.
//
//===----------------------------------------------------------------------===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

/// What the indices of a tile mean, one entry an axis of the tile.
struct tk::TilePart {
  struct Axis {
    int64_t offset = 0, stride = 1, size = 1;
    bool flip = false; // the elements run from the last one to the first
    bool drop = false; // a scalar index
    Value picked;      // the scalar index, when it is known at run time
  };
  SmallVector<Axis> axes;
  /// The result: axes of the tile, or new ones (nullopt).
  SmallVector<std::optional<size_t>> result;

  Shape shape() const {
    Shape sides;
    for (std::optional<size_t> axis : result)
      sides.push_back(axis ? axes[*axis].size : 1);
    return sides;
  }
  /// Only new axes, the tile's own all whole.
  bool onlyAdds(const Val &tile) const {
    for (auto [axis, side] : llvm::zip(axes, tile.type.shape))
      if (axis.drop || axis.flip || axis.size != side)
        return false;
    return true;
  }
};

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// A scalar index: it drops its axis.
bool TileLowerer::addScalar(const Val &value, SourceRange range, const Val &tile, TilePart &part) {
  size_t number = part.axes.size();
  int64_t side = tile.type.shape[number];
  TilePart::Axis axis;
  axis.drop = true;
  if (value.isInt()) {
    Int128 index = value.integer < 0 ? value.integer + side : value.integer;
    if (index < 0 || index >= side) {
      error<diag::ValueOutside>(
          range, "the index of axis " + std::to_string(number) + " of " + tile.type.str(),
          std::to_string(-side) + " to " + std::to_string(side - 1), toString(value.integer))
          .note(tile.origin, "the tile comes from here");
      return false;
    }
    axis.offset = int64_t(index);
  } else {
    bool integer = value.isRun() && !value.type.pointer && isInteger(value.type.dtype);
    if (!integer || !value.type.isScalar()) {
      Report report = error<diag::TypeMismatch>(range, "an index of a tile", "an integer scalar",
                                                value.describe());
      if (integer)
        report.help("a tile of indices is for `gather(x, index, axis)`");
      return false;
    }
    axis.picked = walk.materialize(value, Dtype::I64, {}, range);
    error<diag::RunTimePick>(range, number, side);
  }
  part.axes.push_back(axis);
  return true;
}

/// A bound that stands in a slice of a tile.
std::optional<int64_t> TileLowerer::bound(const ast::Expr *expr, StringRef what) {
  Val value = walk.eval(expr);
  if (value.isRun()) {
    error<diag::NotCompileTime>(expr->range, what, value.describe())
        .note(value.origin == expr->range ? SourceRange() : value.origin,
              "the value comes from here")
        .help("a scalar index may be known at run time; so may the start of a place, `x[i +: W]`");
    return std::nullopt;
  }
  std::optional<Int128> number = walk.needInt(value, expr->range, what);
  if (!number)
    return std::nullopt;
  // Numbers beyond any side are out of range, whatever they are.
  constexpr int64_t kFar = 4 * kMaxTileElements;
  return int64_t(std::clamp<Int128>(*number, -kFar, kFar));
}

/// `lo:hi:step` as in Python, but the bounds lie within the side; `lo +: width`.
bool TileLowerer::addSlice(const ast::Index &index, const Val &tile, TilePart &part) {
  size_t number = part.axes.size();
  int64_t side = tile.type.shape[number];
  bool block = index.kind == ast::Index::Kind::Block;
  auto step = index.step ? bound(index.step, "the step of a slice") : 1;
  if (step && *step == 0) {
    error<diag::ZeroStep>(index.step->range, "a slice");
    return false;
  }
  bool back = step && *step < 0;
  auto start = index.start ? bound(index.start, "the start of a slice") : back ? side - 1 : 0;
  const ast::Expr *last = block ? index.width : index.stop;
  auto stop = last ? bound(last, block ? "the width of a slice" : "the end of a slice") : side;
  if (!step || !start || !stop)
    return false;
  int64_t from = index.start && *start < 0 ? *start + side : *start;
  int64_t to = block ? from + *stop : last && *stop < 0 ? *stop + side : *stop;
  if (back && !last)
    to = -1;
  bool inside = from >= 0 && from <= side && to >= (back && !last ? -1 : 0) && to <= side &&
                !(back && from == side);
  if (!inside) {
    error<diag::ValueOutside>(
        index.range, "a slice of axis " + std::to_string(number) + " of " + tile.type.str(),
        "within 0 to " + std::to_string(side), std::to_string(from) + ":" + std::to_string(to))
        .note(tile.origin, "the tile comes from here");
    return false;
  }
  int64_t distance = back ? from - to : to - from, stride = std::abs(*step);
  auto size = walk.checkSide(distance <= 0 ? 0 : (distance - 1) / stride + 1, index.range);
  if (!size)
    return false;
  TilePart::Axis axis;
  axis.offset = back ? from - (*size - 1) * stride : from;
  axis.stride = *size == 1 ? 1 : stride;
  axis.size = *size;
  axis.flip = back && *size > 1;
  part.result.push_back(number);
  part.axes.push_back(axis);
  return true;
}

bool TileLowerer::addIndex(const ast::Index &index, const Val &tile, TilePart &part) {
  if (index.kind == ast::Index::Kind::Named) {
    walk.eval(index.value);
    error<diag::UnknownArgument>(index.name.range, "a tile", index.name.text)
        .help("`fill=` and `mask=` are for places of tensors");
    return false;
  }
  Val value;
  if (index.kind == ast::Index::Kind::Expr) {
    value = walk.eval(index.value);
    if (value.isPoison())
      return false;
    if (value.kind == Val::Kind::None) {
      part.result.push_back(std::nullopt);
      return true;
    }
  }
  if (part.axes.size() >= tile.type.shape.size()) {
    part.axes.emplace_back(); // too many: the caller counts them
    return true;
  }
  if (index.kind == ast::Index::Kind::Expr)
    return addScalar(value, index.range, tile, part);
  return addSlice(index, tile, part);
}

std::optional<TilePart> TileLowerer::partOf(const ast::Subscript *expr, const Val &tile) {
  TilePart part;
  size_t rank = tile.type.shape.size();
  for (const ast::Index &index : expr->indices)
    if (!addIndex(index, tile, part))
      return std::nullopt;
  if (part.axes.size() != rank) {
    error<diag::IndexCount>(expr->range, tile.type.str(), rank, part.axes.size())
        .note(tile.origin, "the tile comes from here");
    return std::nullopt;
  }
  return walk.checkTile(part.shape(), expr->range) ? std::optional<TilePart>(part) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading and replacing a part
//===----------------------------------------------------------------------===//

Val TileLowerer::picked(const Val &tile, int64_t axis, Value index, SourceRange range) {
  RunType type = tile.type;
  type.shape.erase(type.shape.begin() + axis);
  return Val::run(PickOp::create(builder, loc(range), walk.mlirType(type), tile.value, index,
                                 builder.getI64IntegerAttr(axis)),
                  type);
}

namespace {
/// The static slice of what is left after the picks.
struct StaticSlice {
  Shape sizes;
  SmallVector<int64_t> offsets, strides, flips;

  explicit StaticSlice(const TilePart &part) {
    for (const TilePart::Axis &axis : part.axes) {
      if (axis.picked)
        continue;
      if (axis.flip)
        flips.push_back(int64_t(sizes.size()));
      sizes.push_back(axis.size);
      offsets.push_back(axis.offset);
      strides.push_back(axis.stride);
    }
  }
};
} // namespace

Val TileLowerer::readPart(const TilePart &part, const Val &tile, SourceRange range) {
  Val result = tile;
  if (part.onlyAdds(tile)) {
    for (auto [i, axis] : llvm::enumerate(part.result))
      if (!axis)
        result = expanded(result, int64_t(i), range);
    return result;
  }
  for (size_t axis = part.axes.size(); axis-- > 0;)
    if (part.axes[axis].picked)
      result = picked(result, int64_t(axis), part.axes[axis].picked, range);
  StaticSlice slice(part);
  if (!slice.sizes.empty())
    result = sliced(result, slice.sizes, slice.offsets, slice.strides, range);
  for (int64_t axis : slice.flips)
    result = flipped(result, axis, range);
  return reshaped(result, part.shape(), range);
}

/// `tile` with the part replaced by `value`, which has the part's type.
Val TileLowerer::writePart(const TilePart &part, const Val &value, const Val &tile,
                           SourceRange range) {
  // The layers that the picks leave, the innermost last.
  std::vector<Val> layers = {tile};
  SmallVector<size_t> picks;
  for (size_t axis = part.axes.size(); axis-- > 0;)
    if (part.axes[axis].picked) {
      picks.push_back(axis);
      layers.push_back(picked(layers.back(), int64_t(axis), part.axes[axis].picked, range));
    }
  StaticSlice slice(part);
  Val inner = reshaped(value, slice.sizes, range);
  for (int64_t axis : slice.flips)
    inner = flipped(inner, axis, range);
  if (inner.type.shape != layers.back().type.shape)
    inner.value = InsertOp::create(
        builder, loc(range), walk.mlirType(layers.back().type), inner.value, layers.back().value,
        builder.getDenseI64ArrayAttr(slice.offsets), builder.getDenseI64ArrayAttr(slice.strides));
  while (!picks.empty()) {
    size_t axis = picks.pop_back_val();
    layers.pop_back();
    inner.value = PutOp::create(builder, loc(range), walk.mlirType(layers.back().type), inner.value,
                                layers.back().value, part.axes[axis].picked,
                                builder.getI64IntegerAttr(int64_t(axis)));
  }
  return Val::run(inner.value, tile.type);
}

//===----------------------------------------------------------------------===//
// Subscripts and assignments
//===----------------------------------------------------------------------===//

Val TileLowerer::index(const ast::Subscript *expr, const Val &tile) {
  std::optional<TilePart> part = partOf(expr, tile);
  return part ? readPart(*part, tile, expr->range) : Val::poison();
}

Val TileLowerer::replaced(const ast::Subscript *target, const Val &tile, Val value,
                          const ast::Assign *stmt) {
  std::optional<TilePart> part = partOf(target, tile);
  if (!part || value.isPoison())
    return Val::poison();
  RunType type = tile.type;
  type.shape = part->shape();
  if (stmt->op) {
    Val before = readPart(*part, tile, target->range);
    before.origin = target->range;
    value = walk.arithmetic(*stmt->op, before, value, stmt->range, stmt->opRange);
  }
  std::string what =
      "assigning to a part of `" + walk.source.getText(target->base->range).str() + "`";
  Value fitted = walk.coerce(value, type, stmt->value->range, what);
  return fitted ? writePart(*part, Val::run(fitted, type), tile, stmt->range) : Val::poison();
}

void TileLowerer::assign(const ast::Subscript *target, const ast::Assign *stmt) {
  auto *name = cast<ast::Name>(target->base);
  Val value = walk.eval(stmt->value);
  Binding *binding = walk.frame->scopes.find(name->text);
  if (!binding) {
    error<diag::NotAssignable>(target->range, "a part of `" + name->text.str() + "`");
    return;
  }
  if (!binding->isVar)
    return walk.refuseAssignment(name, *binding);
  Val tile = binding->val;
  Val result = replaced(target, tile, std::move(value), stmt);
  binding = walk.frame->scopes.find(name->text); // evaluation may have moved it
  binding->val = std::move(result);
  binding->val.origin = stmt->range;
}
