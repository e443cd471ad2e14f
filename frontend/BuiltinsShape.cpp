//===- BuiltinsShape.cpp - functions that make tiles of another shape -------===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// New tiles
//===----------------------------------------------------------------------===//

/// zeros_like(x), full_like(x, value): of the dtype and shape of x, which may be a scalar.
Val TileLowerer::buildLike(CallArgs &args) {
  const Val &like = args.values[0];
  if (args.poisoned() || !walk.needNumber(like, args.rangeOf(0), args.builtin->name))
    return Val::poison();
  RunType type = like.isRun() ? like.type : RunType{Lowerer::defaultDtype(like), false, 0, {}};
  if (args.builtin->name == "full_like") {
    Value filled = walk.coerce(args.values[1], type, args.rangeOf(1), "`full_like`");
    return filled ? Val::run(filled, type) : Val::poison();
  }
  Val zero = type.dtype == Dtype::I1 ? Val::ofBool(false) : Val::ofInt(0);
  return Val::run(walk.constant(zero, type.dtype, type.shape, args.range), type);
}

/// eye[T](n), eye[T](m, n): 1 where the row is the column.
Val TileLowerer::buildEye(CallArgs &args) {
  if (args.typeArgs.empty()) {
    error<diag::MissingArgument>(args.range, "eye", "dtype").help("write `eye[f32](...)`");
    return Val::poison();
  }
  std::optional<RunType> type = walk.tileType(args, Dtype::F32);
  if (!type)
    return Val::poison();
  if (type->shape.size() == 1)
    type->shape.push_back(type->shape[0]);
  if (type->shape.size() != 2) {
    error<diag::ValueOutside>(args.range, "the number of sides of `eye`", "1 or 2",
                              std::to_string(type->shape.size()));
    return Val::poison();
  }
  if (!walk.checkTile(type->shape, args.range))
    return Val::poison();
  Val diagonal = walk.compare(ast::CompareOp::Eq, iota(type->shape, 0, args.range),
                              iota(type->shape, 1, args.range), args.range);
  return type->dtype == Dtype::I1 ? diagonal : walk.castTo(diagonal, type->dtype, args.range);
}

/// Tiles that differ at most along the axis, of one type each can become.
std::optional<RunType> TileLowerer::catType(ArrayRef<Val> parts, int64_t axis, SourceRange range) {
  RunType common = parts[0].type;
  for (const Val &part : parts.drop_front()) {
    Shape sides = part.type.shape;
    if (sides.size() == common.shape.size())
      sides[size_t(axis)] = common.shape[size_t(axis)];
    if (sides != common.shape) {
      error<diag::ShapeMismatch>(range, "cat", describeShape(common.shape),
                                 describeShape(part.type.shape))
          .note(parts[0].origin, describeShape(common.shape) + " comes from here")
          .note(part.origin, describeShape(part.type.shape) + " comes from here")
          .help("only the sides along axis " + std::to_string(axis) + " may differ");
      return std::nullopt;
    }
    RunType given = part.type;
    given.shape = common.shape;
    if (given == common)
      continue;
    if (given.pointer || common.pointer) {
      error<diag::TypeMismatch>(range, "each part of `cat`", common.str(), part.describe());
      return std::nullopt;
    }
    std::optional<Dtype> dtype = walk.commonRun(common.dtype, given.dtype, range, "cat");
    if (!dtype)
      return std::nullopt;
    common.dtype = *dtype;
  }
  return common;
}

/// cat(a, b, ..., axis=0)
Val TileLowerer::buildCat(CallArgs &args) {
  std::vector<Val> parts = evalRest(args);
  if (args.poisoned() || llvm::any_of(parts, [](const Val &part) { return part.isPoison(); }))
    return Val::poison();
  auto wrong =
      llvm::find_if(parts, [](const Val &part) { return !part.isRun() || part.type.isScalar(); });
  if (parts.empty() || wrong != parts.end()) {
    error<diag::TypeMismatch>(args.range, "what `cat` takes", "tiles",
                              parts.empty() ? "nothing" : wrong->describe())
        .help("two scalars make a tile by `join(a, b)`");
    return Val::poison();
  }
  Val axisValue = args.given(0) ? args.values[0] : Val::ofInt(0);
  auto axis = axisOf(axisValue, args.rangeOf(0), parts[0].type.shape.size(), parts[0].type.str());
  std::optional<RunType> type = axis ? catType(parts, *axis, args.range) : std::nullopt;
  if (!type)
    return Val::poison();
  for (Val &part : parts)
    if (part.type.dtype != type->dtype)
      part = walk.castTo(part, type->dtype, args.range);
  return concatenated(parts, *axis, args.range);
}

//===----------------------------------------------------------------------===//
// Broadcasts and new axes
//===----------------------------------------------------------------------===//

Val TileLowerer::buildBroadcast(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  auto values = sameShape(args.values, args.range, "broadcast");
  return values ? Val::tuple(std::move(*values)) : Val::poison();
}

Val TileLowerer::buildBroadcastTo(CallArgs &args) {
  std::optional<Shape> shape = walk.sidesOf(args);
  if (args.poisoned() || !shape)
    return Val::poison();
  std::optional<Val> value = asElement(args.values[0], args.rangeOf(0), "broadcast_to");
  if (!value)
    return Val::poison();
  ArrayRef<int64_t> from = value->type.shape;
  bool fits = from.empty() || from.size() == shape->size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[i] == (*shape)[i] || from[i] == 1;
  if (fits)
    return broadcasted(*value, *shape, args.range);
  Report report = error<diag::ShapeMismatch>(args.range, "broadcast_to", describeShape(from),
                                             describeShape(*shape));
  report.note(args.values[0].origin, describeShape(from) + " comes from here");
  if (from.size() != shape->size())
    report.help("a new axis comes by `[:, None]` or `[None, :]`");
  return Val::poison();
}

/// expand_dims(x, axis), unsqueeze: the axes are those of the result.
Val TileLowerer::buildExpandDims(CallArgs &args) {
  if (args.poisoned())
    return Val::poison();
  std::optional<Val> value = asElement(args.values[0], args.rangeOf(0), args.builtin->name);
  if (!value)
    return Val::poison();
  const Val &axes = args.values[1];
  size_t added = axes.isTuple() || axes.kind == Val::Kind::List ? axes.elements.size() : 1;
  size_t rank = value->type.shape.size() + added;
  auto places = axesOf(axes, args.rangeOf(1), rank, "the result");
  if (!places)
    return Val::poison();
  llvm::sort(*places);
  RunType type = value->type;
  for (int64_t axis : *places)
    type.shape.insert(type.shape.begin() + axis, 1);
  if (!walk.checkTile(type.shape, args.range))
    return Val::poison();
  if (value->type.isScalar())
    return broadcasted(*value, type.shape, args.range);
  for (int64_t axis : *places)
    value = expanded(*value, axis, args.range);
  return *value;
}

Val TileLowerer::buildSqueeze(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  const Val &tile = args.values[0];
  size_t rank = tile.type.shape.size();
  SmallVector<int64_t> axes;
  if (args.given(1)) {
    auto given = axesOf(args.values[1], args.rangeOf(1), rank, tile.type.str());
    if (!given)
      return Val::poison();
    axes = *given;
  }
  Shape shape;
  for (auto [i, side] : llvm::enumerate(tile.type.shape)) {
    bool drop = args.given(1) ? llvm::is_contained(axes, int64_t(i)) : side == 1;
    if (!drop)
      shape.push_back(side);
    else if (side != 1) {
      error<diag::NotSideOne>(args.rangeOf(1), i, tile.type.str(), side)
          .note(tile.origin, "the tile comes from here");
      return Val::poison();
    }
  }
  return reshaped(tile, shape, args.range);
}

//===----------------------------------------------------------------------===//
// Order of axes and elements
//===----------------------------------------------------------------------===//

Val TileLowerer::transpose(const Val &tile, SourceRange range, StringRef what) {
  int64_t rank = int64_t(tile.type.shape.size());
  if (rank < 2) {
    error<diag::ValueOutside>(range, "the rank of what `" + what.str() + "` takes", "2 or more",
                              std::to_string(rank) + ": " + tile.describe())
        .note(tile.origin, "it comes from here");
    return Val::poison();
  }
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[size_t(rank) - 1], order[size_t(rank) - 2]);
  return permuted(tile, order, range);
}

/// permute(x, order...), trans(x), trans(x, order...)
Val TileLowerer::buildPermute(CallArgs &args) {
  std::vector<Val> axes = evalRest(args, /*compileTime=*/true);
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  const Val &tile = args.values[0];
  if (axes.empty() && args.builtin->name == "trans")
    return transpose(tile, args.range, "trans");
  size_t rank = tile.type.shape.size();
  auto order = distinctAxes(axes, args.range, rank, tile.type.str());
  if (!order)
    return Val::poison();
  if (order->size() != rank) {
    error<diag::IndexCount>(args.range, tile.type.str(), rank, order->size())
        .note(tile.origin, "the tile comes from here");
    return Val::poison();
  }
  return permuted(tile, *order, args.range);
}

/// The sides of a reshape, one of which may be -1: what is left.
std::optional<Shape> TileLowerer::reshapeSides(const CallArgs &args, int64_t elements) {
  Shape shape;
  std::optional<size_t> open;
  int64_t known = 1;
  for (const Val &value : evalRest(args, /*compileTime=*/true)) {
    std::optional<Int128> side = walk.needInt(value, args.range, "the side of a tile");
    if (side && *side == -1 && !open) {
      open = shape.size();
      shape.push_back(1);
      continue;
    }
    std::optional<int64_t> checked = side ? walk.checkSide(*side, args.range) : std::nullopt;
    if (!checked)
      return std::nullopt;
    shape.push_back(*checked);
    known = std::min(known * *checked, 2 * kMaxTileElements); // no product of sides wraps
  }
  if (open && elements % known == 0)
    shape[*open] = elements / known;
  return shape;
}

Val TileLowerer::buildReshape(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  const Val &tile = args.values[0];
  int64_t elements = 1, wanted = 1;
  for (int64_t side : tile.type.shape)
    elements *= side;
  if (args.builtin->name == "ravel")
    return reshaped(tile, {elements}, args.range);
  std::optional<Shape> shape = reshapeSides(args, elements);
  if (!shape)
    return Val::poison();
  for (int64_t side : *shape)
    wanted = std::min(wanted * side, 2 * kMaxTileElements);
  if (wanted != elements) {
    error<diag::ElementCount>(args.range, describeShape(tile.type.shape), elements,
                              describeShape(*shape))
        .note(tile.origin, "the tile comes from here");
    return Val::poison();
  }
  return walk.checkTile(*shape, args.range) ? reshaped(tile, *shape, args.range) : Val::poison();
}

Val TileLowerer::buildFlip(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  const Val &tile = args.values[0];
  Val axisValue = args.given(1) ? args.values[1] : Val::ofInt(-1);
  auto axis = axisOf(axisValue, args.rangeOf(1), tile.type.shape.size(), tile.type.str());
  return axis ? flipped(tile, *axis, args.range) : Val::poison();
}

//===----------------------------------------------------------------------===//
// Two tiles in one, one element alone
//===----------------------------------------------------------------------===//

/// join(a, b): a new last axis of side 2; interleave(a, b) makes it part of the last one.
Val TileLowerer::buildJoin(CallArgs &args) {
  for (size_t i = 0; i < args.values.size(); ++i)
    if (!walk.needNumber(args.values[i], args.rangeOf(i), args.builtin->name))
      return Val::poison();
  std::optional<RunType> type = commonOf(args.values, args.range, args.builtin->name);
  if (!type)
    return Val::poison();
  if (!args.values[0].isRun() && !args.values[1].isRun() && type->dtype == Dtype::I64)
    type->dtype = Dtype::I32;
  std::vector<Val> parts;
  for (const Val &value : args.values) {
    Val part = Val::run(walk.materialize(value, type->dtype, type->shape, args.range), *type);
    parts.push_back(expanded(part, int64_t(type->shape.size()), args.range));
  }
  Shape shape = parts[0].type.shape;
  if (!walk.checkTile(shape, args.range))
    return Val::poison();
  Val result = concatenated(parts, int64_t(type->shape.size()), args.range);
  if (result.isPoison() || args.builtin->name == "join" || type->isScalar())
    return result;
  shape.pop_back();
  shape.back() *= 2;
  return reshaped(result, shape, args.range);
}

/// split(x): the two halves of a last axis of side 2, as a tuple.
Val TileLowerer::buildSplit(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  const Val &tile = args.values[0];
  if (tile.type.shape.back() != 2) {
    error<diag::ValueOutside>(args.rangeOf(0), "the last side of what `split` takes", "2",
                              std::to_string(tile.type.shape.back()))
        .note(tile.origin, "the tile comes from here")
        .help("write `reshape(x, ..., 2)` first; a slice takes any part: `x[:, 0:64]`");
    return Val::poison();
  }
  Shape halfShape = tile.type.shape;
  halfShape.back() = 1;
  Shape shape = halfShape;
  shape.pop_back();
  std::vector<Val> halves;
  for (int64_t offset : {0, 1}) {
    SmallVector<int64_t> offsets(halfShape.size(), 0), strides(halfShape.size(), 1);
    offsets.back() = offset;
    halves.push_back(
        reshaped(sliced(tile, halfShape, offsets, strides, args.range), shape, args.range));
  }
  return Val::tuple(std::move(halves));
}

Val TileLowerer::buildItem(CallArgs &args) {
  const Val &value = args.values[0];
  if (value.isNumeric() && value.shape().empty())
    return value;
  if (args.poisoned() || !needTile(args, 0))
    return Val::poison();
  if (llvm::all_of(value.type.shape, [](int64_t side) { return side == 1; }))
    return reshaped(value, {}, args.range);
  error<diag::TypeMismatch>(args.rangeOf(0), "what `item` takes", "a tile of one element",
                            value.describe())
      .note(value.origin, "it comes from here")
      .help("one element of many is `x[i]`");
  return Val::poison();
}
