//===- TileLowerer.cpp - arguments of tile functions, and changes of shape --===//

#include "frontend/TileLowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool TileLowerer::needTile(const CallArgs &args, size_t i) {
  const Val &value = args.values[i];
  if (value.isRun() && !value.type.isScalar())
    return true;
  if (value.kind == Val::Kind::Tensor)
    error<diag::OperatorType>(args.rangeOf(i), args.builtin->name, "a tensor as a whole")
        .help("read a tile of it: `x[i +: BLOCK]`");
  else if (!value.isPoison())
    error<diag::TypeMismatch>(args.rangeOf(i), "what `" + args.builtin->name.str() + "` takes",
                              "a tile", value.describe());
  return false;
}

bool TileLowerer::needNumbers(const CallArgs &args, size_t count) {
  if (args.poisoned())
    return false;
  for (size_t i = 0; i < std::min(count, args.values.size()); ++i)
    if (args.given(i) && !walk.needArithmetic(args.values[i], args.rangeOf(i), args.builtin->name))
      return false;
  return true;
}

std::optional<bool> TileLowerer::flag(const CallArgs &args, size_t i) {
  const Val &value = args.values[i];
  if (value.kind == Val::Kind::None)
    return false;
  if (value.isBool())
    return value.boolean;
  if (!value.isPoison())
    error<diag::TypeMismatch>(args.rangeOf(i), "an option of `" + args.builtin->name.str() + "`",
                              "`true` or `false`", value.describe());
  return std::nullopt;
}

std::optional<size_t> TileLowerer::word(const CallArgs &args, size_t i, ArrayRef<StringRef> words) {
  const Val &value = args.values[i];
  if (value.kind == Val::Kind::None)
    return 0;
  auto *it = llvm::find(words, StringRef(value.text));
  if (value.kind == Val::Kind::String && it != words.end())
    return size_t(it - words.begin());
  std::string allowed;
  for (StringRef text : words)
    allowed += (allowed.empty() ? "\"" : ", \"") + text.str() + "\"";
  if (!value.isPoison())
    error<diag::ValueOutside>(args.rangeOf(i), "an option of `" + args.builtin->name.str() + "`",
                              "one of " + allowed, value.describe());
  return std::nullopt;
}

std::optional<int64_t> TileLowerer::axisOf(const Val &axis, SourceRange range, size_t rank,
                                           const Twine &whose) {
  std::optional<Int128> number = walk.needInt(axis, range, "an axis");
  if (!number)
    return std::nullopt;
  Int128 counted = *number < 0 ? *number + Int128(rank) : *number;
  if (counted >= 0 && counted < Int128(rank))
    return int64_t(counted);
  error<diag::BadAxis>(range, toString(*number), rank, whose.str())
      .help("axes count from 0, negative ones from the end");
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> TileLowerer::distinctAxes(ArrayRef<Val> axes, SourceRange range,
                                                              size_t rank, const Twine &whose) {
  SmallVector<int64_t> result;
  for (const Val &axis : axes) {
    std::optional<int64_t> number = axisOf(axis, range, rank, whose);
    if (!number)
      return std::nullopt;
    if (llvm::is_contained(result, *number)) {
      error<diag::RepeatedAxis>(range, *number);
      return std::nullopt;
    }
    result.push_back(*number);
  }
  return result;
}

std::optional<SmallVector<int64_t>> TileLowerer::axesOf(const Val &axes, SourceRange range,
                                                        size_t rank, const Twine &whose) {
  bool several = axes.isTuple() || axes.kind == Val::Kind::List;
  return distinctAxes(several ? ArrayRef<Val>(axes.elements) : ArrayRef<Val>(axes), range, rank,
                      whose);
}

/// What stands for a parameter `name*`; one tuple or list stands for its elements.
std::vector<Val> TileLowerer::evalRest(const CallArgs &args, bool compileTime) {
  std::vector<Val> values;
  for (const ast::Expr *expr : args.rest)
    values.push_back(compileTime ? walk.evalCompileTime(expr) : walk.eval(expr));
  if (values.size() != 1 || !(values[0].isTuple() || values[0].kind == Val::Kind::List))
    return values;
  return std::vector<Val>(values[0].elements);
}

std::optional<RunType> TileLowerer::commonOf(ArrayRef<Val> values, SourceRange range,
                                             StringRef what) {
  Val met;
  for (const Val &value : values) {
    if (!value.isRun())
      continue;
    if (!met.isRun()) {
      met = value;
      continue;
    }
    std::optional<RunType> type = walk.commonType(met, value, range, what);
    if (!type)
      return std::nullopt;
    met.type = *type;
    if (!value.type.isScalar())
      met.origin = value.origin;
  }
  if (!met.isRun()) {
    bool real = llvm::any_of(values, [](const Val &v) { return v.kind == Val::Kind::Float; });
    met = Val::run(Value(), {real ? Dtype::F32 : Lowerer::defaultDtype(values[0]), false, 0, {}});
  }
  for (const Val &value : values)
    if (!value.isRun() && !walk.adaptConst(value, met.type.dtype, range, what))
      return std::nullopt;
  return met.type;
}

/// A number that meets nothing as a tile: i32, f32, i1.
std::optional<Val> TileLowerer::asElement(const Val &value, SourceRange range, StringRef what) {
  if (value.isRun())
    return value;
  Dtype dtype = value.isInt() ? Dtype::I32 : Lowerer::defaultDtype(value);
  if (!walk.needNumber(value, range, what) || !walk.adaptConst(value, dtype, range, what))
    return std::nullopt;
  return Val::run(walk.constant(value, dtype, {}, range), {dtype, false, 0, {}});
}

std::optional<std::vector<Val>> TileLowerer::sameShape(ArrayRef<Val> values, SourceRange range,
                                                       StringRef what) {
  std::vector<Val> result;
  Val met;
  for (const Val &value : values) {
    std::optional<Val> element = asElement(value, range, what);
    if (!element)
      return std::nullopt;
    element->origin = value.origin;
    result.push_back(*element);
    std::optional<Shape> sides =
        met.isRun() ? walk.broadcast(met, *element, range, what) : Shape(element->type.shape);
    if (!sides)
      return std::nullopt;
    if (!met.isRun() || !element->type.isScalar())
      met = *element;
    met.type.shape = *sides;
  }
  for (Val &value : result)
    value = broadcasted(value, met.type.shape, range);
  return result;
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

Val TileLowerer::broadcasted(const Val &value, ArrayRef<int64_t> shape, SourceRange range) {
  RunType type = value.type;
  type.shape = Shape(shape);
  return Val::run(walk.broadcastTo(value.value, value.type.shape, shape, range), type);
}

Val TileLowerer::reshaped(const Val &value, ArrayRef<int64_t> shape, SourceRange range) {
  if (ArrayRef<int64_t>(value.type.shape) == shape)
    return value;
  if (value.type.shape.empty())
    return broadcasted(value, shape, range);
  RunType type = value.type;
  if (shape.empty()) {
    Value first = walk.constant(Val::ofInt(0), Dtype::I64, {}, range);
    return picked(reshaped(value, {1}, range), 0, first, range);
  }
  type.shape = Shape(shape);
  return Val::run(ReshapeOp::create(builder, loc(range), walk.mlirType(type), value.value), type);
}

Val TileLowerer::expanded(const Val &value, int64_t axis, SourceRange range) {
  RunType type = value.type;
  type.shape.insert(type.shape.begin() + axis, 1);
  if (value.type.shape.empty())
    return broadcasted(value, {1}, range);
  return Val::run(ExpandDimsOp::create(builder, loc(range), walk.mlirType(type), value.value,
                                       builder.getI64IntegerAttr(axis)),
                  type);
}

Val TileLowerer::permuted(const Val &tile, ArrayRef<int64_t> order, SourceRange range) {
  if (llvm::is_sorted(order))
    return tile;
  RunType type = tile.type;
  for (auto [i, axis] : llvm::enumerate(order))
    type.shape[i] = tile.type.shape[size_t(axis)];
  return Val::run(PermuteOp::create(builder, loc(range), walk.mlirType(type), tile.value,
                                    builder.getDenseI64ArrayAttr(order)),
                  type);
}

Val TileLowerer::flipped(const Val &tile, int64_t axis, SourceRange range) {
  return Val::run(FlipOp::create(builder, loc(range), walk.mlirType(tile.type), tile.value,
                                 builder.getI64IntegerAttr(axis)),
                  tile.type);
}

Val TileLowerer::concatenated(ArrayRef<Val> tiles, int64_t axis, SourceRange range) {
  if (tiles.size() == 1)
    return tiles[0];
  RunType type = tiles[0].type;
  type.shape[size_t(axis)] = 0;
  SmallVector<Value> values;
  for (const Val &tile : tiles) {
    type.shape[size_t(axis)] += tile.type.shape[size_t(axis)];
    values.push_back(tile.value);
  }
  if (!walk.checkTile(type.shape, range))
    return Val::poison();
  return Val::run(CatOp::create(builder, loc(range), walk.mlirType(type), values,
                                builder.getI64IntegerAttr(axis)),
                  type);
}

Val TileLowerer::iota(ArrayRef<int64_t> shape, int64_t axis, SourceRange range) {
  RunType type{Dtype::I32, false, 0, {shape[size_t(axis)]}};
  Val result = Val::run(
      ArangeOp::create(builder, loc(range), walk.mlirType(type), builder.getI64IntegerAttr(0)),
      type);
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (i != axis)
      result = expanded(result, i, range);
  return broadcasted(result, shape, range);
}

Val TileLowerer::sliced(const Val &tile, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets,
                        ArrayRef<int64_t> strides, SourceRange range) {
  RunType type = tile.type;
  if (ArrayRef<int64_t>(type.shape) == shape)
    return tile; // a whole axis has offset 0 and stride 1
  type.shape = Shape(shape);
  return Val::run(SliceOp::create(builder, loc(range), walk.mlirType(type), tile.value,
                                  builder.getDenseI64ArrayAttr(offsets),
                                  builder.getDenseI64ArrayAttr(strides)),
                  type);
}
