//===- BuiltinsReduce.cpp - reductions and scans ----------------------------===//

#include "frontend/TileLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// The axis
//===----------------------------------------------------------------------===//

std::optional<TileLowerer::Axis> TileLowerer::reductionAxis(ArrayRef<Val> tiles, const Val &axis,
                                                            bool keepDims, SourceRange axisRange,
                                                            SourceRange range) {
  Axis result;
  result.tiles.assign(tiles.begin(), tiles.end());
  result.keep = tiles[0].type.shape;
  if (axis.kind == Val::Kind::None) {
    int64_t elements = 1;
    for (int64_t side : tiles[0].type.shape)
      elements *= side;
    for (Val &tile : result.tiles)
      tile = reshaped(tile, {elements}, range);
    result.keep.assign(keepDims ? result.keep.size() : 0, 1);
    return result;
  }
  auto number = axisOf(axis, axisRange, tiles[0].type.shape.size(), tiles[0].type.str());
  if (!number)
    return std::nullopt;
  result.axis = *number;
  if (keepDims)
    result.keep[size_t(*number)] = 1;
  else
    result.keep.erase(result.keep.begin() + *number);
  return result;
}

/// Refuses what reads like two values to compare.
bool TileLowerer::checkAxisArgument(CallArgs &args) {
  StringRef name = args.builtin->name;
  const Val &axis = args.values[1];
  auto other = llvm::StringSwitch<StringRef>(name)
                   .Case("max", "the larger of two values is `maximum(a, b)`")
                   .Case("min", "the smaller of two values is `minimum(a, b)`")
                   .Default("");
  if (axis.isRun() || axis.kind == Val::Kind::Float) {
    Report report = error<diag::NotAxis>(args.rangeOf(1), name, axis.describe());
    if (!other.empty())
      report.help(other);
    if (!other.empty() && !args.self)
      report.fix(args.call->callee->range, name == "max" ? "maximum" : "minimum");
    return false;
  }
  const Val &value = args.values[0];
  // Sums and products have a wider type than their elements; all else compares or computes in theirs.
  bool widens = llvm::is_contained({"sum", "prod", "cumsum", "cumprod"}, name);
  if (widens ? !walk.needNumber(value, args.rangeOf(0), name) : !walk.needArithmetic(value, args.rangeOf(0), name))
    return false;
  if (value.shape().empty()) {
    Report report = error<diag::OperatorType>(args.rangeOf(0), name, value.describe());
    report.help(other.empty() ? "only tiles have axes" : other);
    if (!other.empty() && !args.self)
      report.fix(args.call->callee->range, name == "max" ? "maximum" : "minimum");
    return false;
  }
  bool positional = args.given(1) && llvm::is_contained(args.call->args, args.exprs[1]);
  if (!other.empty() && positional && !args.self && axis.isInt())
    error<diag::PositionalAxis>(args.range, name, toString(axis.integer))
        .help("write `axis=" + toString(axis.integer) + "`; " + other)
        .fix({args.rangeOf(1).begin, args.rangeOf(1).begin}, "axis=");
  return true;
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

bool TileLowerer::combineRegion(Region &region, ArrayRef<Val> tiles, SourceRange range,
                                Combine combine) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (int side = 0; side < 2; ++side)
    for (const Val &tile : tiles)
      types.push_back(elementTypeOf(tile.value.getType()));
  Block *block =
      builder.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc(range)));
  ValueRange arguments = block->getArguments();
  auto values = combine(arguments.take_front(tiles.size()), arguments.drop_front(tiles.size()));
  if (!values)
    return false;
  YieldOp::create(builder, loc(range), *values);
  return true;
}

std::optional<std::vector<Val>> TileLowerer::reduced(const Axis &axis, ReduceOrder order,
                                                     SourceRange range, Combine combine) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  std::vector<Val> results;
  for (const Val &tile : axis.tiles) {
    RunType type = tile.type;
    type.shape.erase(type.shape.begin() + axis.axis);
    operands.push_back(tile.value);
    types.push_back(walk.mlirType(type));
    results.push_back(Val::run(Value(), type));
  }
  auto op =
      ReduceOp::create(builder, loc(range), types, operands, builder.getI64IntegerAttr(axis.axis),
                       ReduceOrderAttr::get(builder.getContext(), order));
  if (!combineRegion(op.getCombine(), axis.tiles, range, combine)) {
    op.erase();
    return std::nullopt;
  }
  bool keepsOne = axis.keep.size() == axis.tiles[0].type.shape.size();
  for (auto [result, value] : llvm::zip(results, op.getResults())) {
    result.value = value;
    result = result.type.isScalar() || !keepsOne ? reshaped(result, axis.keep, range)
                                                 : expanded(result, axis.axis, range);
  }
  return results;
}

std::optional<std::vector<Val>> TileLowerer::scanned(const Axis &axis, ReduceOrder order,
                                                     bool reverse, SourceRange range,
                                                     Combine combine) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (const Val &tile : axis.tiles) {
    operands.push_back(tile.value);
    types.push_back(tile.value.getType());
  }
  auto op =
      ScanOp::create(builder, loc(range), types, operands, builder.getI64IntegerAttr(axis.axis),
                     reverse ? builder.getUnitAttr() : UnitAttr(),
                     ReduceOrderAttr::get(builder.getContext(), order));
  if (!combineRegion(op.getCombine(), axis.tiles, range, combine)) {
    op.erase();
    return std::nullopt;
  }
  std::vector<Val> results;
  for (auto [tile, value] : llvm::zip(axis.tiles, op.getResults()))
    results.push_back(Val::run(value, tile.type));
  return results;
}

//===----------------------------------------------------------------------===//
// Known combinations
//===----------------------------------------------------------------------===//

/// Sums and products of small types are made in a wider one.
static Dtype sumDtype(Dtype dtype) {
  if (isFloat(dtype))
    return dtypeBits(dtype) < 32 ? Dtype::F32 : dtype;
  if (dtypeBits(dtype) >= 32)
    return dtype;
  return isSignedInteger(dtype) || dtype == Dtype::I1 ? Dtype::I32 : Dtype::U32;
}

/// Two elements of `sum`, `cumsum` and the like.
Value TileLowerer::fold(StringRef name, Value a, Value b, Dtype dtype, SourceRange range) {
  Location at = loc(range);
  bool real = isFloat(dtype);
  UnitAttr sign = !real && isUnsignedLike(dtype) ? builder.getUnitAttr() : UnitAttr();
  if (name.ends_with("max"))
    return MaxOp::create(builder, at, a.getType(), a, b, sign, NumAttr());
  if (name.ends_with("min"))
    return MinOp::create(builder, at, a.getType(), a, b, sign, NumAttr());
  if (name.ends_with("prod"))
    return real ? Value(arith::MulFOp::create(builder, at, a, b))
                : Value(arith::MulIOp::create(builder, at, a, b));
  if (name == "xor_sum")
    return arith::XOrIOp::create(builder, at, a, b);
  if (name == "all")
    return arith::AndIOp::create(builder, at, a, b);
  if (name == "any" || name == "reduce_or" || name == "or_sum")
    return arith::OrIOp::create(builder, at, a, b);
  return real ? Value(arith::AddFOp::create(builder, at, a, b))
              : Value(arith::AddIOp::create(builder, at, a, b));
}

/// Sums and products of floats depend on their order to the last bit, nothing else does.
ReduceOrder TileLowerer::foldOrder(StringRef name, Dtype dtype) {
  bool rounds = isFloat(dtype) && (name.ends_with("sum") || name.ends_with("prod"));
  return rounds && walk.kernel.isDeterministic ? ReduceOrder::tree : ReduceOrder::any;
}

/// The operand of a known reduction or scan, in the type that it is made in.
std::optional<Val> TileLowerer::foldOperand(CallArgs &args) {
  StringRef name = args.builtin->name;
  Val value = args.values[0];
  Dtype dtype = value.type.dtype;
  bool truths = name == "any" || name == "all";
  bool bits = name == "xor_sum" || name == "reduce_or" || name == "or_sum";
  if (truths ? dtype != Dtype::I1 : bits && isFloat(dtype)) {
    error<diag::OperatorType>(args.rangeOf(0), name, value.describe())
        .help(truths ? "compare it with a number: `!= 0`" : name + " is for integers");
    return std::nullopt;
  }
  if (!name.ends_with("sum") && !name.ends_with("prod"))
    return value;
  if (name == "xor_sum" || name == "or_sum")
    return value;
  SourceRange origin = value.origin;
  value = walk.castTo(value, sumDtype(dtype), args.range);
  value.origin = origin;
  return value;
}

/// sum, prod, xor_sum, reduce_or, any, all: `x axis? keep_dims?`
Val TileLowerer::buildFold(CallArgs &args) {
  StringRef name = args.builtin->name;
  std::optional<bool> keepDims = flag(args, 2);
  if (args.poisoned() || !keepDims || !checkAxisArgument(args))
    return Val::poison();
  std::optional<Val> value = foldOperand(args);
  auto axis = value ? reductionAxis(*value, args.values[1], *keepDims, args.rangeOf(1), args.range)
                    : std::nullopt;
  if (!axis)
    return Val::poison();
  warnUnfilled(args.values[0], *axis, args.range, name);
  auto results =
      reduced(*axis, foldOrder(name, value->type.dtype), args.range,
              [&](ValueRange left, ValueRange right) -> std::optional<Values> {
                return Values{fold(name, left[0], right[0], value->type.dtype, args.range)};
              });
  return results->front();
}

//===----------------------------------------------------------------------===//
// Extremes and where they are
//===----------------------------------------------------------------------===//

/// The extreme of (value, index) pairs: the left one, unless the right one is truly beyond it.
/// NaN is beyond every number. The left index is the lower one, so that ties go to it.
std::optional<TileLowerer::Values> TileLowerer::keepExtreme(bool wantMax, Dtype dtype,
                                                            ValueRange left, ValueRange right,
                                                            SourceRange range) {
  Location at = loc(range);
  Value take;
  if (isFloat(dtype)) {
    using P = arith::CmpFPredicate;
    Value beyond = arith::CmpFOp::create(builder, at, wantMax ? P::UGT : P::ULT, right[0], left[0]);
    Value number = arith::CmpFOp::create(builder, at, P::ORD, left[0], left[0]);
    take = arith::AndIOp::create(builder, at, beyond, number);
  } else {
    using P = arith::CmpIPredicate;
    bool isUnsigned = isUnsignedLike(dtype);
    P predicate = wantMax ? (isUnsigned ? P::ugt : P::sgt) : isUnsigned ? P::ult : P::slt;
    take = arith::CmpIOp::create(builder, at, predicate, right[0], left[0]);
  }
  Values results;
  for (auto [a, b] : llvm::zip(left, right))
    results.push_back(arith::SelectOp::create(builder, at, take, b, a));
  return results;
}

/// max, min: `x axis? return_indices? keep_dims?`; argmax, argmin: `x axis? keep_dims?`
Val TileLowerer::buildExtreme(CallArgs &args) {
  StringRef name = args.builtin->name;
  bool onlyIndex = name.starts_with("arg"), wantMax = name.ends_with("max");
  std::optional<bool> indices = onlyIndex ? std::optional<bool>(true) : flag(args, 2);
  std::optional<bool> keepDims = flag(args, onlyIndex ? 2 : 3);
  if (args.poisoned() || !indices || !keepDims || !checkAxisArgument(args))
    return Val::poison();
  const Val &value = args.values[0];
  Dtype dtype = value.type.dtype;
  auto axis = reductionAxis(value, args.values[1], *keepDims, args.rangeOf(1), args.range);
  if (!axis)
    return Val::poison();
  warnUnfilled(value, *axis, args.range, name);
  if (!*indices)
    return reduced(*axis, ReduceOrder::any, args.range,
                   [&](ValueRange left, ValueRange right) -> std::optional<Values> {
                     return Values{fold(name, left[0], right[0], dtype, args.range)};
                   })
        ->front();
  axis->tiles.push_back(iota(axis->tiles[0].type.shape, axis->axis, args.range));
  auto results =
      reduced(*axis, ReduceOrder::indexed, args.range, [&](ValueRange left, ValueRange right) {
        std::optional<Values> kept = keepExtreme(wantMax, dtype, left, right, args.range);
        if (kept && !onlyIndex) // -0 is below +0 for the value; for the index they are one number
          kept->front() = fold(name, left[0], right[0], dtype, args.range);
        return kept;
      });
  return onlyIndex ? results->back() : Val::tuple(std::move(*results));
}

/// Skips conversions, which keep the order of numbers.
static Operation *sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<CastOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// An element that is masked off, or beyond the edge of the tensor, reads as 0 and takes part.
void TileLowerer::warnUnfilled(const Val &value, const Axis &axis, SourceRange range,
                               StringRef name) {
  Operation *source = sourceOf(value.value);
  if (name == "sum") {
    // exp(0) is 1: only the sum of exponentials is surely wrong.
    auto unary = dyn_cast_or_null<UnaryOp>(source);
    if (!unary || (unary.getFn() != UnaryFn::exp && unary.getFn() != UnaryFn::exp2))
      return;
    source = sourceOf(unary.getValue());
  } else if (!name.ends_with("max") && !name.ends_with("min"))
    return;
  auto read = dyn_cast_or_null<ReadOp>(source);
  auto load = dyn_cast_or_null<LoadOp>(source);
  bool masked =
      (read && read.getMask() && !read.getFill()) || (load && load.getMask() && !load.getFill());
  if (!masked && !(read && !read.getFill() && isRagged(read, value, axis)))
    return;
  error<diag::UnfilledOperand>(range, name, masked ? "masked off" : "beyond the edge of the tensor")
      .note(value.origin == range ? SourceRange() : value.origin, "the value comes from here")
      .help(name == "sum" || name.ends_with("max") ? "say what they hold: `fill=-inf`"
                                                   : "say what they hold: `fill=inf`");
}

/// Whether the reduced axis is `i +: W` of an extent that W need not divide.
bool TileLowerer::isRagged(ReadOp read, const Val &value, const Axis &axis) {
  auto tensor = llvm::find_if(walk.kernel.tensors,
                              [&](const auto &entry) { return entry->value == read.getView(); });
  if (tensor == walk.kernel.tensors.end() ||
      axis.tiles[0].type.shape.size() != value.type.shape.size())
    return false; // a view, or all axes at once
  int64_t tileAxis = 0;
  for (auto [i, width] : llvm::enumerate(read.getWidths())) {
    if (width < 0)
      return false;
    if (width > 0 && tileAxis++ == axis.axis) {
      std::optional<int64_t> extent = (*tensor)->staticExtents[i];
      return !extent || *extent % width != 0;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// cumsum, cumprod, cummax, cummin: `x axis? reverse?`
Val TileLowerer::buildCumulate(CallArgs &args) {
  StringRef name = args.builtin->name;
  std::optional<bool> reverse = flag(args, 2);
  if (args.poisoned() || !reverse || !checkAxisArgument(args))
    return Val::poison();
  std::optional<Val> value = foldOperand(args);
  Val number = args.given(1) ? args.values[1] : Val::ofInt(0);
  auto axis =
      value ? reductionAxis(*value, number, false, args.rangeOf(1), args.range) : std::nullopt;
  if (!axis)
    return Val::poison();
  auto results =
      scanned(*axis, foldOrder(name, value->type.dtype), *reverse, args.range,
              [&](ValueRange left, ValueRange right) -> std::optional<Values> {
                return Values{fold(name, left[0], right[0], value->type.dtype, args.range)};
              });
  return results->front();
}

//===----------------------------------------------------------------------===//
// Combinations that the program says
//===----------------------------------------------------------------------===//

/// What a function of scalars makes of two elements, or of two tuples of elements.
std::optional<TileLowerer::Values> TileLowerer::callCombine(const CallArgs &args, const Val &given,
                                                            const Val &function,
                                                            ArrayRef<Val> tiles, ValueRange left,
                                                            ValueRange right) {
  SourceRange range = args.rangeOf(1);
  std::string what = "the result of the function of `" + args.builtin->name.str() + "`";
  std::vector<Val> operands;
  for (ValueRange side : {left, right}) {
    std::vector<Val> elements;
    for (auto [tile, value] : llvm::zip(tiles, side))
      elements.push_back(Val::run(value, {tile.type.dtype, false, 0, {}}));
    operands.push_back(given.isTuple() ? Val::tuple(elements) : elements[0]);
  }
  Val wanted = operands[0];
  Val result = walk.callValue(function, std::move(operands), range);
  if (result.isPoison())
    return std::nullopt;
  if (given.isTuple() && !sameStructure(wanted, result)) {
    error<diag::TypeMismatch>(range, what, wanted.str(), result.describe());
    return std::nullopt;
  }
  Values values;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    RunType type{tile.type.dtype, false, 0, {}};
    Value value = walk.coerce(given.isTuple() ? result.elements[i] : result, type, range, what);
    if (!value)
      return std::nullopt;
    values.push_back(value);
  }
  return values;
}

/// The order in which a function combines does not matter when it is known to commute.
static ReduceOrder orderOf(const Val &function) {
  bool commutes = function.kind == Val::Kind::Builtin &&
                  (function.builtin->name == "maximum" || function.builtin->name == "minimum");
  return commutes ? ReduceOrder::any : ReduceOrder::indexed;
}

/// reduce(x, fn, axis=None, keep_dims=false), scan(x, fn, axis=0, reverse=false); x may be an
/// aggregate.
Val TileLowerer::buildReduce(CallArgs &args) {
  StringRef name = args.builtin->name;
  bool axisFirst = args.values[1].isInt() || args.values[1].kind == Val::Kind::None;
  if (axisFirst && args.given(2) && !args.values[2].isInt()) { // Triton's order
    std::swap(args.values[1], args.values[2]);
    std::swap(args.exprs[1], args.exprs[2]);
  }
  std::optional<bool> option = flag(args, 3);
  if (args.poisoned() || !option || !isFunction(args, 1))
    return Val::poison();
  const Val &given = args.values[0], &function = args.values[1];
  bool several = given.isTuple(), isScan = name != "reduce";
  auto tiles = sameShape(several ? ArrayRef<Val>(given.elements) : ArrayRef<Val>(given),
                         args.rangeOf(0), name);
  if (!tiles)
    return Val::poison();
  for (const Val &tile : *tiles)
    if (!walk.needNumber(tile, args.rangeOf(0), name))
      return Val::poison();
  if (tiles->empty() || tiles->front().type.isScalar()) {
    error<diag::OperatorType>(args.rangeOf(0), name, given.describe()).help("only tiles have axes");
    return Val::poison();
  }
  Val number = isScan && !args.given(2) ? Val::ofInt(0) : args.values[2];
  auto axis = reductionAxis(*tiles, number, !isScan && *option, args.rangeOf(2), args.range);
  if (!axis)
    return Val::poison();
  ReduceOrder order = orderOf(function);
  if (order == ReduceOrder::indexed && walk.kernel.isDeterministic)
    order = ReduceOrder::tree;
  auto combine = [&](ValueRange left, ValueRange right) {
    auto values = callCombine(args, given, function, *tiles, left, right);
    bool good =
        values && checkScalars(*builder.getInsertionBlock()->getParent(), args.rangeOf(1), name);
    return good ? values : std::nullopt;
  };
  auto results = isScan ? scanned(*axis, order, *option, args.range, combine)
                        : reduced(*axis, order, args.range, combine);
  if (!results)
    return Val::poison();
  return several ? Val::tuple(std::move(*results)) : results->front();
}
