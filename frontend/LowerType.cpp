//===- LowerType.cpp - types that are written, and values that they take -----------===//

#include "frontend/Lowerer.h"

using namespace mlir;
using namespace tk;

std::optional<RunType> Lowerer::resolveType(const ast::Type *type) {
  if (auto *named = dyn_cast<ast::NamedType>(type)) {
    std::optional<Dtype> dtype = resolveDtype(named->name);
    return dtype ? std::optional<RunType>(RunType{*dtype, false, 0, {}}) : std::nullopt;
  }
  auto *bracket = dyn_cast<ast::BracketType>(type);
  if (!bracket || bracket->args.empty()) {
    error<diag::UnknownType>(type->range, source.getText(type->range))
        .help("a tile is written `tile[T, M, N]`");
    return std::nullopt;
  }
  std::optional<Dtype> dtype = evalDtype(bracket->args[0]);
  RunType result{dtype.value_or(Dtype::F32), false, 0, {}};
  for (const ast::Expr *arg : bracket->args.drop_front()) {
    std::optional<Int128> side = evalInt(arg, "the side of a tile");
    std::optional<int64_t> checked = side ? checkSide(*side, arg->range) : std::nullopt;
    if (!checked)
      return std::nullopt;
    result.shape.push_back(*checked);
  }
  if (!dtype || !checkTile(result.shape, type->range))
    return std::nullopt;
  return result;
}

Val Lowerer::convertToTuple(const Val &value, const ast::TupleType *type, SourceRange range,
                            StringRef what) {
  if (!value.isTuple() || value.elements.size() != type->elements.size()) {
    error<diag::TypeMismatch>(range, what, "a tuple of " + std::to_string(type->elements.size()),
                              value.describe())
        .note(type->range, "the type is written here");
    return Val::poison();
  }
  std::vector<Val> elements;
  for (auto [i, written] : llvm::enumerate(type->elements))
    elements.push_back(convertToType(value.elements[i], written, range,
                                     "the member " + std::to_string(i) + " of " + what.str()));
  bool good = llvm::none_of(elements, [](const Val &element) { return element.isPoison(); });
  return good ? value.withElements(std::move(elements)) : Val::poison();
}

Val Lowerer::convertToPointer(const Val &value, const ast::PointerType *type, SourceRange range,
                              StringRef what) {
  std::optional<RunType> wanted = resolvePointer(type);
  if (!wanted)
    return Val::poison();
  if (value.isPointer() && value.type.isScalar() && value.type.dtype == wanted->dtype &&
      value.type.indirections == wanted->indirections)
    return value;
  error<diag::TypeMismatch>(range, what, "of type " + wanted->str(), value.describe());
  return Val::poison();
}

/// `*T`, `**T` and so on; of no parameter.
std::optional<RunType> Lowerer::resolvePointer(const ast::PointerType *type) {
  RunType result{Dtype::F32, true, 0, {}};
  const ast::Type *pointee = type->pointee;
  for (; isa<ast::PointerType>(pointee); pointee = cast<ast::PointerType>(pointee)->pointee)
    ++result.indirections;
  // More than anybody follows, and little enough for printed types.
  constexpr unsigned kMaxIndirections = 3;
  auto *named = dyn_cast<ast::NamedType>(pointee);
  if (!named || result.indirections > kMaxIndirections) {
    error<diag::UnknownType>(type->range, source.getText(type->range))
        .help("a pointer is written `*f32`, one to at most 3 tables of addresses `****f32`");
    return std::nullopt;
  }
  std::optional<Dtype> dtype = resolveDtype(named->name);
  if (!dtype)
    return std::nullopt;
  result.dtype = *dtype;
  return result;
}

/// An extent of a tensor argument against the one that is written. A name that the launch gives its
/// value is not compared: every access is checked against the tensor's own extents.
bool Lowerer::checkExtent(const TensorParam &tensor, unsigned axis, const ast::Expr *written,
                          SourceRange range, StringRef what) {
  auto *name = dyn_cast<ast::Name>(written);
  if (name && name->text == "_")
    return true;
  Val wanted = evalCompileTime(written);
  std::optional<int64_t> extent = tensor.staticExtents[axis];
  if (name && wanted.isRun())
    return true;
  std::optional<Int128> number = needInt(wanted, written->range, "an extent of a parameter's type");
  if (!number)
    return false;
  if (extent ? *number == *extent : name != nullptr)
    return true;
  error<diag::TypeMismatch>(range, what, "of extent " + toString(*number) + " along axis " +
                                             std::to_string(axis),
                            extent ? "extent " + std::to_string(*extent)
                                   : "an extent that is known at launch")
      .note(written->range, "the extent is written here");
  return false;
}

static std::string describeAxes(StringRef kind, StringRef dtype, size_t rank) {
  return (kind + " of " + dtype + " with " + Twine(rank) + (rank == 1 ? " axis" : " axes")).str();
}

Val Lowerer::convertToTensor(const Val &value, const ast::BracketType *type, SourceRange range,
                             StringRef what) {
  size_t rank = type->args.size();
  const TensorParam *tensor = value.kind == Val::Kind::Tensor ? value.tensor : nullptr;
  bool fits = tensor && tensor->staticExtents.size() == rank;
  std::optional<Dtype> dtype = fits ? resolveDtype(type->name) : std::nullopt;
  if (fits && !dtype)
    return Val::poison();
  if (!fits || tensor->dtype != *dtype) {
    std::string found = value.describe();
    if (tensor)
      found = describeAxes("a tensor", dtypeName(tensor->dtype), tensor->staticExtents.size());
    Report report =
        error<diag::TypeMismatch>(range, what, describeAxes("a tensor", type->name.text, rank), found);
    report.note(type->range, "the type is written here");
    if (value.isRun() && !value.type.isScalar())
      report.help("the type of a tile is `tile[" + type->name.text + ", ...]`");
    return Val::poison();
  }
  for (auto [axis, extent] : llvm::enumerate(type->args))
    if (!checkExtent(*tensor, axis, extent, range, what))
      return Val::poison();
  return value;
}

/// A scalar or a tile.
Val Lowerer::convertToNumber(const Val &value, const ast::Type *type, SourceRange range,
                             StringRef what) {
  // A tile type's sides may be names that only a tile of its rank binds.
  auto *bracket = dyn_cast<ast::BracketType>(type);
  bool ranks = !bracket || !value.isRun() || bracket->args.size() == value.shape().size() + 1;
  std::optional<RunType> wanted = ranks ? resolveType(type) : std::nullopt;
  if (ranks && !wanted)
    return Val::poison();
  if (!ranks || (value.isRun() && value.type.shape.size() != wanted->shape.size())) {
    std::string text = wanted ? wanted->str() : source.getText(type->range).str();
    error<diag::TypeMismatch>(range, what, "of type " + text, value.describe())
        .note(type->range, "the type is written here")
        .help("a parameter without a type takes scalars and tiles");
    return Val::poison();
  }
  if (wantsCompileTime != 0 && value.isConstNumber() && wanted->isScalar())
    return adaptConst(value, wanted->dtype, range, what) ? numberOf(value, wanted->dtype)
                                                         : Val::poison();
  Value converted = coerce(value, *wanted, range, what);
  return converted ? Val::run(converted, *wanted) : Val::poison();
}

/// `value` as a parameter, result or `let` of a written type takes it.
Val Lowerer::convertToType(const Val &value, const ast::Type *type, SourceRange range,
                           StringRef what) {
  if (value.isPoison())
    return value;
  Val result;
  auto *named = dyn_cast<ast::NamedType>(type);
  auto *bracket = dyn_cast<ast::BracketType>(type);
  const ast::Struct *structure = named     ? findStruct(named->name)
                                 : bracket ? findStruct(bracket->name)
                                           : nullptr;
  if (structure)
    result = convertToStruct(value, structure, type, range, what);
  else if (auto *tuple = dyn_cast<ast::TupleType>(type))
    result = convertToTuple(value, tuple, range, what);
  else if (auto *pointer = dyn_cast<ast::PointerType>(type))
    result = convertToPointer(value, pointer, range, what);
  else if (named && isKindName(named->name.text))
    result = convertToKind(value, named->name, range, what);
  else if (bracket && bracket->name.text != "tile")
    result = convertToTensor(value, bracket, range, what);
  else
    result = convertToNumber(value, type, range, what);
  result.origin = value.origin;
  return result;
}

/// `int`, `bool`, `dtype`, `string`: a compile-time value.
Val Lowerer::convertToKind(const Val &value, const ast::Ident &kind, SourceRange range,
                           StringRef what) {
  bool right = kind.text == "int"     ? value.isInt()
               : kind.text == "bool"  ? value.isBool()
               : kind.text == "dtype" ? value.kind == Val::Kind::Dtype
                                      : value.kind == Val::Kind::String;
  if (right)
    return value;
  if (!value.isCompileTime())
    error<diag::NotCompileTime>(range, what, value.describe())
        .note(kind.range, "`" + kind.text + "` asks for it here");
  else if (what.starts_with("`"))
    error<diag::BadValue>(range, what.trim('`'), kind.text, value.str());
  else
    error<diag::TypeMismatch>(range, what, "of kind " + kind.text.str(), value.describe())
        .note(kind.range, "the kind is written here");
  return Val::poison();
}
