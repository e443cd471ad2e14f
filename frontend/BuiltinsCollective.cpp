//===- BuiltinsCollective.cpp - sort, topk, histogram, gather ---------------===//

#include "frontend/TileLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

/// sort(x, axis=-1, descending=false), topk(x, k, axis=-1, descending=true): (values, indices)
Val TileLowerer::buildSort(CallArgs &args) {
  bool top = args.builtin->name == "topk";
  size_t axisSlot = top ? 2 : 1, orderSlot = axisSlot + 1;
  std::optional<bool> descending =
      args.given(orderSlot) ? flag(args, orderSlot) : std::optional<bool>(top);
  if (args.poisoned() || !descending || !needTile(args, 0) || !needNumbers(args, 1))
    return Val::poison();
  const Val &tile = args.values[0];
  Val number = args.given(axisSlot) ? args.values[axisSlot] : Val::ofInt(-1);
  auto axis = axisOf(number, args.rangeOf(axisSlot), tile.type.shape.size(), tile.type.str());
  if (!axis)
    return Val::poison();
  int64_t side = tile.type.shape[size_t(*axis)];
  RunType type = tile.type;
  if (top) {
    std::optional<Int128> count = walk.needInt(args.values[1], args.rangeOf(1), "the k of `topk`");
    if (!count)
      return Val::poison();
    if (*count < 1 || *count > side) {
      error<diag::ValueOutside>(args.rangeOf(1), "the k of `topk`",
                                "1 to " + std::to_string(side) + ", the side of axis " +
                                    std::to_string(*axis),
                                toString(*count))
          .note(tile.origin, "the tile comes from here");
      return Val::poison();
    }
    type.shape[size_t(*axis)] = int64_t(*count);
  }
  RunType indexType{Dtype::I32, false, 0, type.shape};
  bool isUnsigned = !isFloat(type.dtype) && isUnsignedLike(type.dtype);
  auto op = SortOp::create(builder, loc(args.range), walk.mlirType(type), walk.mlirType(indexType),
                           tile.value, builder.getI64IntegerAttr(*axis),
                           *descending ? builder.getUnitAttr() : UnitAttr(),
                           isUnsigned ? builder.getUnitAttr() : UnitAttr());
  return Val::tuple({Val::run(op.getSorted(), type), Val::run(op.getIndices(), indexType)});
}

/// histogram(x, bins, mask=)
Val TileLowerer::buildHistogram(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0) || !needNumbers(args, 1))
    return Val::poison();
  const Val &tile = args.values[0];
  if (tile.type.pointer || !isInteger(tile.type.dtype)) {
    error<diag::OperatorType>(args.rangeOf(0), "histogram", tile.describe())
        .help("histogram counts integers");
    return Val::poison();
  }
  auto bins = walk.needInt(args.values[1], args.rangeOf(1), "the number of bins");
  auto side = bins ? walk.checkSide(*bins, args.rangeOf(1)) : std::nullopt;
  bool good = side.has_value();
  Value mask =
      good ? walk.maskValue(args.values[2], tile.type.shape, args.rangeOf(2), good) : Value();
  if (!good)
    return Val::poison();
  RunType type{Dtype::I32, false, 0, {*side}};
  bool isUnsigned = isUnsignedLike(tile.type.dtype);
  Value result = HistogramOp::create(builder, loc(args.range), walk.mlirType(type), tile.value,
                                     mask, isUnsigned ? builder.getUnitAttr() : UnitAttr());
  return Val::run(result, type);
}

/// gather(x, index, axis): x[.., index[.., i, ..], ..]
Val TileLowerer::buildGather(CallArgs &args) {
  if (args.poisoned() || !needTile(args, 0) || !needTile(args, 1))
    return Val::poison();
  const Val &tile = args.values[0], &index = args.values[1];
  if (index.type.pointer || !isInteger(index.type.dtype)) {
    error<diag::TypeMismatch>(args.rangeOf(1), "the index of `gather`", "a tile of integers",
                              index.describe());
    return Val::poison();
  }
  Val number = args.given(2) ? args.values[2] : Val::ofInt(0);
  if (!args.given(2) && tile.type.shape.size() > 1) {
    error<diag::MissingArgument>(args.range, "gather", "axis");
    return Val::poison();
  }
  auto axis = axisOf(number, args.rangeOf(2), tile.type.shape.size(), tile.type.str());
  if (!axis)
    return Val::poison();
  RunType type = tile.type;
  bool fits = index.type.shape.size() == type.shape.size();
  if (fits) {
    type.shape[size_t(*axis)] = index.type.shape[size_t(*axis)];
    fits = type.shape == index.type.shape;
  }
  if (!fits) {
    error<diag::ShapeMismatch>(args.range, "gather", describeShape(tile.type.shape),
                               describeShape(index.type.shape))
        .note(tile.origin, describeShape(tile.type.shape) + " comes from here")
        .note(index.origin, describeShape(index.type.shape) + " comes from here")
        .help("the index has the sides of the tile, but for axis " + std::to_string(*axis));
    return Val::poison();
  }
  // Unsigned numbers of 32 bits need 64 signed ones.
  bool narrow = dtypeBits(index.type.dtype) < 32 || index.type.dtype == Dtype::I32;
  Value indices = walk.materialize(index, narrow ? Dtype::I32 : Dtype::I64, type.shape, args.range);
  Value result = GatherOp::create(builder, loc(args.range), walk.mlirType(type), tile.value,
                                  indices, builder.getI64IntegerAttr(*axis));
  return Val::run(result, type);
}
