//===- LowerPlace.cpp - places of tensors, and subscripts as values -------------===//

#include "frontend/TileLowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// The parameter that a pointer comes from.
const TensorParam *Lowerer::paramOf(const Val &pointer) {
  for (const auto &tensor : kernel.tensors)
    if (tensor->index == pointer.type.param)
      return tensor.get();
  llvm_unreachable("a pointer comes from a parameter");
}

bool Lowerer::checkReadable(const TensorParam &tensor, SourceRange range) {
  StringRef name = tensor.decl->name.text;
  if (tensor.decl->access != ast::Access::Out)
    return requirePresent(tensor, range);
  error<diag::ReadsOut>(range, name)
      .note(tensor.decl->range, "it is declared here")
      .help("declare it `inout` to read it too");
  return false;
}

bool Lowerer::checkWritable(const TensorParam &tensor, SourceRange range) {
  StringRef name = tensor.decl->name.text;
  kernel.written.insert(name);
  if (tensor.decl->access != ast::Access::In)
    return requirePresent(tensor, range);
  error<diag::WritesIn>(range, name)
      .note(tensor.decl->range, "it is declared here")
      .help("declare it `out`, or `inout` to read it too");
  return false;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Says where a tensor comes from.
static void noteOrigin(Report &report, const TensorParam &tensor) {
  if (tensor.isView())
    report.note(tensor.made, "the view is made here");
  else
    report.note(tensor.decl->range, "it is declared here");
}

bool Lowerer::placeOption(const ast::Index &index, Place &place) {
  StringRef name = index.name.text;
  bool isMask = name == "mask";
  if (!isMask && name != "fill") {
    if (llvm::is_contained({"cache", "evict", "volatile"}, name))
      error<diag::UnknownArgument>(index.name.range, "a place", name)
          .help("it goes beside the place: `load(x[...], " + name + "=...)`");
    else
      refuseArgument(index.name, "a place", {"mask", "fill"});
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

/// A tile of indices has 32 bits where they hold its numbers with their signs.
static Dtype indexDtype(Dtype dtype) {
  bool fits = dtypeBits(dtype) < 32 || dtype == Dtype::I32;
  return fits ? Dtype::I32 : Dtype::I64;
}

/// Gives all tiles of indices one shape, which stands where the first of them does.
bool Lowerer::finishPlace(Place &place, ArrayRef<PlaceIndex> indices) {
  std::optional<Val> joined;
  for (const PlaceIndex &index : indices) {
    if (index.width >= 0)
      continue;
    if (!joined) {
      joined = index.tile;
      continue;
    }
    std::optional<Shape> shape = broadcast(*joined, index.tile, place.range, "[ ]");
    if (!shape)
      return false;
    joined->type.shape = *shape;
  }
  bool first = true;
  for (const PlaceIndex &index : indices) {
    Value start = index.start;
    if (index.width < 0) {
      Dtype dtype = indexDtype(index.tile.type.dtype);
      if (dtype == Dtype::I32) // one that is widened is warned of there
        warnNarrowProduct(index.tile, place.range, "is an index");
      start = materialize(index.tile, dtype, joined->type.shape, place.range);
      if (first)
        llvm::append_range(place.shape, joined->type.shape);
      first = false;
    } else if (index.width > 0)
      place.shape.push_back(index.width);
    place.indices.push_back(start);
    place.widths.push_back(index.width);
  }
  return checkTile(place.shape, place.range);
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
  if (!good) {
    Report report = error<diag::IndexCount>(expr->range, tensor->decl->name.text, rank, count);
    noteOrigin(report, *tensor);
  }
  std::vector<PlaceIndex> indices;
  for (const ast::Index &index : expr->indices) {
    if (index.kind == ast::Index::Kind::Named) {
      good &= placeOption(index, place);
      continue;
    }
    if (indices.size() == rank)
      continue;
    indices.push_back(
        placeIndex(index, indices.size(), *tensor).value_or(PlaceIndex{Value(), Val(), 0}));
    good &= indices.back().start || indices.back().width < 0;
  }
  if (!good || !finishPlace(place, indices))
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
Value Lowerer::fillValue(const Val &fill, RunType type, SourceRange range, bool &good) {
  if (fill.kind == Val::Kind::None)
    return {};
  type.shape.clear();
  Value result = coerce(fill, type, range, "a fill");
  good &= bool(result);
  return result;
}

/// The addresses of a place, and where they are to be used; null after an error.
Located Lowerer::locatePlace(const Place &place, StringRef what) {
  const TensorParam &tensor = *place.tensor;
  if (dtypeBits(tensor.dtype) < 8 && tensor.dtype != Dtype::I1) {
    error<diag::OperatorType>(place.range, what,
                              dtypeName(tensor.dtype).str() + ": two elements share a byte");
    return {};
  }
  bool good = true;
  Value mask = maskValue(place.mask, place.shape, place.range, good);
  if (!good)
    return {};
  RunType type{tensor.dtype, true, tensor.index, place.shape};
  auto located = LocateOp::create(builder, loc(place.range), mlirType(type),
                                  mlirType(Dtype::I1, place.shape), tensor.value, place.indices,
                                  builder.getDenseI64ArrayAttr(place.widths));
  Value exists = located.getExists();
  if (mask)
    exists = arith::AndIOp::create(builder, loc(place.range), exists, mask);
  return {Val::run(located.getPointer(), type), exists};
}

Val Lowerer::readPlace(const Place &place, const AccessHints &hints) {
  const TensorParam &tensor = *place.tensor;
  RunType type{tensor.dtype, false, 0, place.shape};
  bool good = true;
  Value fill = fillValue(place.fill, type, place.range, good);
  if (hints.isVolatile) {
    Located located = locatePlace(place, "volatile=");
    if (!good || !located.exists)
      return Val::poison();
    return Val::run(LoadOp::create(builder, loc(place.range), mlirType(type), located.pointer.value,
                                   located.exists, fill, hints.cache, hints.evict,
                                   builder.getUnitAttr()),
                    type);
  }
  Value mask = maskValue(place.mask, place.shape, place.range, good);
  if (!good)
    return Val::poison();
  Value result = ReadOp::create(builder, loc(place.range), mlirType(type), tensor.value,
                                place.indices, mask, fill,
                                builder.getDenseI64ArrayAttr(place.widths), hints.cache,
                                hints.evict);
  return Val::run(result, type);
}

void Lowerer::writePlace(const Place &place, const Val &value, SourceRange range,
                         const AccessHints &hints) {
  const TensorParam &tensor = *place.tensor;
  bool good = true;
  Value mask = maskValue(place.mask, place.shape, place.range, good);
  Value stored = coerce(value, {tensor.dtype, false, 0, place.shape}, range,
                        "writing to `" + tensor.decl->name.text.str() + "`");
  if (good && stored)
    WriteOp::create(builder, loc(place.range), stored, tensor.value, place.indices, mask,
                    builder.getDenseI64ArrayAttr(place.widths), hints.cache, hints.evict);
}

//===----------------------------------------------------------------------===//
// Subscripts as values
//===----------------------------------------------------------------------===//

Val Lowerer::evalSubscript(const ast::Subscript *expr) {
  return subscriptOf(eval(expr->base), expr);
}

/// `expr`, whose base has been evaluated.
Val Lowerer::subscriptOf(const Val &base, const ast::Subscript *expr) {
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
      return TileLowerer(*this).index(expr, base);
    break;
  case Val::Kind::Function:
    return instantiate(base, expr);
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
