//===- LowerPlace.cpp - places of tensors, and parts of tiles ------------------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

bool Lowerer::checkReadable(const TensorParam &tensor, SourceRange range) {
  StringRef name = tensor.decl->name.text;
  if (tensor.decl->access != ast::Access::Out)
    return true;
  error<diag::ReadsOut>(range, name)
      .note(tensor.decl->range, "it is declared here")
      .help("declare it `inout` to read it too");
  return false;
}

bool Lowerer::checkWritable(const TensorParam &tensor, SourceRange range) {
  StringRef name = tensor.decl->name.text;
  kernel.written.insert(name);
  if (tensor.decl->access != ast::Access::In)
    return true;
  error<diag::WritesIn>(range, name)
      .note(tensor.decl->range, "it is declared here")
      .help("declare it `out`, or `inout` to read it too");
  return false;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value Lowerer::scalarIndex(const Val &value, SourceRange range, StringRef what) {
  if (value.isPoison())
    return {};
  bool tile = value.isRun() && !value.type.isScalar();
  if (tile && isInteger(value.type.dtype) && !value.type.pointer) {
    notBuilt(range, "a tile as an index (gather)");
    return {};
  }
  bool integer =
      value.isInt() || (value.isRun() && !value.type.pointer && isInteger(value.type.dtype));
  if (!integer) {
    error<diag::TypeMismatch>(range, what, "an integer scalar", value.describe());
    return {};
  }
  if (value.isInt() && !adaptConst(value, Dtype::I64, range, what))
    return {};
  return materialize(value, Dtype::I64, {}, range);
}

/// One index along one axis: a scalar, `start +: width`, or `:`.
bool Lowerer::placeIndex(const ast::Index &index, unsigned axis, Place &place) {
  int64_t width = 0;
  Value start;
  if (index.kind == ast::Index::Kind::Expr) {
    Val value = eval(index.value);
    if (value.kind == Val::Kind::None) {
      error<diag::NotIndexable>(index.range, "a tensor", " by `None`")
          .help("read the tile first: `x[i +: BLOCK][None, :]`");
      return false;
    }
    start = scalarIndex(value, index.range, "an index");
  } else if (index.kind == ast::Index::Kind::Block) {
    start = scalarIndex(eval(index.start), index.start->range, "the start of a slice");
    std::optional<Int128> side = evalInt(index.width, "the width of a slice");
    std::optional<int64_t> checked = side ? checkSide(*side, index.width->range) : std::nullopt;
    if (!checked)
      return false;
    width = *checked;
  } else {
    if (index.start || index.stop || index.step) {
      notBuilt(index.range, "slices with bounds; `start +: width` has a static width");
      return false;
    }
    std::optional<int64_t> extent = place.tensor->staticExtents[axis];
    if (!extent) {
      error<diag::NotCompileTime>(index.range, "the extent that `:` takes", "one known at launch")
          .note(cast<ast::BracketType>(place.tensor->decl->type)->args[axis]->range,
                "the extent is declared here")
          .help("write `0 +: WIDTH` with a compile-time width");
      return false;
    }
    std::optional<int64_t> checked = checkSide(*extent, index.range);
    if (!checked)
      return false;
    width = *checked;
    start = constant(Val::ofInt(0), Dtype::I64, {}, index.range);
  }
  place.indices.push_back(start);
  place.widths.push_back(width);
  if (width != 0)
    place.shape.push_back(width);
  return bool(start);
}

bool Lowerer::placeOption(const ast::Index &index, Place &place) {
  StringRef name = index.name.text;
  bool isMask = name == "mask";
  if (!isMask && name != "fill") {
    Report report = name == "other"
                        ? error<diag::ForeignSpelling>(index.name.range, "other=")
                        : error<diag::UnknownArgument>(index.name.range, "a place", name);
    report.help(name == "other" ? "write `fill=`" : "a place takes `mask=` and `fill=`");
    return false;
  }
  Val &slot = isMask ? place.mask : place.fill;
  if (slot.kind != Val::Kind::None) {
    error<diag::DuplicateArgument>(index.name.range, "a place", name);
    return false;
  }
  slot = eval(index.value);
  return !slot.isPoison();
}

std::optional<Place> Lowerer::evalPlace(const ast::Subscript *expr, const TensorParam *tensor) {
  Place place;
  place.tensor = tensor;
  place.range = expr->range;
  place.mask = place.fill = Val::none();
  size_t rank = tensor->staticExtents.size();
  size_t count = llvm::count_if(
      expr->indices, [](const ast::Index &index) { return index.kind != ast::Index::Kind::Named; });
  bool good = count == rank;
  if (!good)
    error<diag::IndexCount>(expr->range, tensor->decl->name.text, rank, count)
        .note(tensor->decl->range, "it is declared here");
  unsigned axis = 0;
  for (const ast::Index &index : expr->indices) {
    if (index.kind == ast::Index::Kind::Named)
      good &= placeOption(index, place);
    else if (axis < rank)
      good &= placeIndex(index, axis++, place);
  }
  if (!good || !checkTile(place.shape, expr->range))
    return std::nullopt;
  return place;
}

Value Lowerer::maskValue(const Val &mask, ArrayRef<int64_t> shape, SourceRange range, bool &good) {
  if (mask.kind == Val::Kind::None || (mask.isBool() && mask.boolean))
    return {};
  RunType type{Dtype::I1, false, 0, Shape(shape)};
  if (mask.isNumeric() && !mask.isBool() && !(mask.isRun() && mask.type.dtype == Dtype::I1)) {
    error<diag::TypeMismatch>(range, "a mask", "of i1", mask.describe())
        .help("compare it with a number: `!= 0`");
    good = false;
    return {};
  }
  Value result = coerce(mask, type, range, "a mask");
  good &= bool(result);
  return result;
}

/// The fill as a scalar; null when there is none.
Value Lowerer::fillValue(const Val &fill, Dtype dtype, SourceRange range, bool &good) {
  if (fill.kind == Val::Kind::None)
    return {};
  Value result = coerce(fill, {dtype, false, 0, {}}, range, "a fill");
  good &= bool(result);
  return result;
}

Val Lowerer::readPlace(const Place &place) {
  const TensorParam &tensor = *place.tensor;
  bool good = true;
  Value mask = maskValue(place.mask, place.shape, place.range, good);
  Value fill = fillValue(place.fill, tensor.dtype, place.range, good);
  if (!good)
    return Val::poison();
  Type type = mlirType(tensor.dtype, place.shape);
  Value result = ReadOp::create(builder, loc(place.range), type, tensor.value, place.indices, mask,
                                fill, builder.getDenseI64ArrayAttr(place.widths), CacheHintAttr(),
                                EvictHintAttr());
  return Val::run(result, {tensor.dtype, false, 0, place.shape});
}

void Lowerer::writePlace(const Place &place, const Val &value, SourceRange range) {
  const TensorParam &tensor = *place.tensor;
  bool good = true;
  Value mask = maskValue(place.mask, place.shape, place.range, good);
  Value stored = coerce(value, {tensor.dtype, false, 0, place.shape}, range,
                        "writing to `" + tensor.decl->name.text.str() + "`");
  if (good && stored)
    WriteOp::create(builder, loc(place.range), stored, tensor.value, place.indices, mask,
                    builder.getDenseI64ArrayAttr(place.widths), CacheHintAttr(), EvictHintAttr());
}

//===----------------------------------------------------------------------===//
// Subscripts as values
//===----------------------------------------------------------------------===//

/// `t[:, None]`: new axes; whole axes stay.
Val Lowerer::indexTile(const ast::Subscript *expr, const Val &tile) {
  unsigned rank = tile.type.shape.size(), axis = 0;
  Val result = tile;
  for (const ast::Index &index : expr->indices) {
    bool whole =
        index.kind == ast::Index::Kind::Slice && !index.start && !index.stop && !index.step;
    Val value = index.kind == ast::Index::Kind::Expr ? eval(index.value) : Val();
    if (value.kind != Val::Kind::None && !whole) {
      if (index.kind != ast::Index::Kind::Expr || !value.isPoison())
        notBuilt(index.range, "an index of a tile other than `:` and `None`");
      return Val::poison();
    }
    if (!whole) {
      result.type.shape.insert(result.type.shape.begin() + axis, 1);
      Type type = mlirType(result.type);
      if (!checkTile(result.type.shape, expr->range))
        return Val::poison();
      result.value = ExpandDimsOp::create(builder, loc(expr->range), type, result.value,
                                          builder.getI64IntegerAttr(axis));
    }
    ++axis;
  }
  size_t whole = llvm::count_if(
      expr->indices, [](const ast::Index &index) { return index.kind == ast::Index::Kind::Slice; });
  if (whole == rank)
    return result;
  error<diag::IndexCount>(expr->range, tile.type.str(), rank, whole)
      .note(tile.origin, "the tile comes from here");
  return Val::poison();
}

Val Lowerer::evalSubscript(const ast::Subscript *expr) {
  Val base = eval(expr->base);
  switch (base.kind) {
  case Val::Kind::Poison:
    return base;
  case Val::Kind::Tensor: {
    std::optional<Place> place = evalPlace(expr, base.tensor);
    if (!checkReadable(*base.tensor, expr->range) || !place)
      return Val::poison();
    return readPlace(*place);
  }
  case Val::Kind::Tuple:
  case Val::Kind::List: {
    if (expr->indices.size() != 1 || expr->indices[0].kind != ast::Index::Kind::Expr)
      break;
    std::optional<Int128> index = evalInt(expr->indices[0].value, "the index of a tuple");
    if (index && *index >= 0 && *index < Int128(base.elements.size()))
      return base.elements[size_t(*index)];
    if (index)
      error<diag::ValueOutside>(expr->indices[0].range, "the index of a tuple",
                                "0 to " + std::to_string(base.elements.size() - 1),
                                toString(*index));
    return Val::poison();
  }
  case Val::Kind::Run:
    if (!base.type.isScalar())
      return indexTile(expr, base);
    break;
  case Val::Kind::Function:
  case Val::Kind::Builtin:
    error<diag::NotIndexable>(expr->range, base.describe(), " without a call")
        .help("its compile-time arguments stand before the others: `zeros[f32](64)`");
    return Val::poison();
  default:
    break;
  }
  Report report = error<diag::NotIndexable>(expr->range, base.describe(), "");
  if (base.isPointer())
    report.help("write `load(p + i)`");
  return Val::poison();
}
