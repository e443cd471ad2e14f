//===- BuiltinsView.cpp - view: tensors made in the kernel ----------------------===//
//
// A view is a tensor like a parameter, with extents of its own. It may do what the parameter that
// it came from may, and shares its alias class.
//
//===----------------------------------------------------------------------===//

#include "frontend/MemoryLowerer.h"

using namespace mlir;
using namespace tk;

/// One axis of a tensor as `view` takes it: from `low` to before `high`, or, dropped, at `low`.
struct MemoryLowerer::ViewAxis {
  Value low, high;
  bool drop = false;
  std::optional<int64_t> extent; // of the view, when it is known
};

Val MemoryLowerer::makeView(const TensorParam &from, Value value,
                            ArrayRef<std::optional<int64_t>> extents, SourceRange range) {
  auto view = std::make_unique<TensorParam>();
  view->decl = from.decl;
  view->index = from.index;
  view->dtype = from.dtype;
  view->aliasClass = from.aliasClass;
  view->staticExtents.assign(extents.begin(), extents.end());
  view->value = value;
  view->made = range;
  view->depth = walk.regionDepth;
  Val result;
  result.kind = Val::Kind::Tensor;
  result.tensor = view.get();
  walk.kernel.views.push_back(std::move(view));
  return result;
}

//===----------------------------------------------------------------------===//
// A part of a tensor
//===----------------------------------------------------------------------===//

/// The extent of `low:high` on an axis; known when all three numbers are.
static std::optional<int64_t> partExtent(std::optional<Int128> low, std::optional<Int128> high,
                                         std::optional<int64_t> extent) {
  if (!low || !high || !extent)
    return std::nullopt;
  Int128 from = std::clamp<Int128>(*low, 0, *extent);
  return int64_t(std::clamp<Int128>(*high, from, *extent) - from);
}

std::optional<MemoryLowerer::ViewAxis> MemoryLowerer::viewAxis(const ast::Index &index,
                                                               unsigned axis,
                                                               const TensorParam &tensor) {
  if (index.kind == ast::Index::Kind::Slice && index.step) {
    error<diag::SliceStep>(index.step->range, tensor.decl->name.text)
        .help("of a pointer: `view(p, [n], strides=[2])`");
    return std::nullopt;
  }
  ViewAxis result;
  if (index.kind == ast::Index::Kind::Expr) {
    result.low = walk.scalarIndex(walk.eval(index.value), index.range, "an index of a view");
    result.high = result.low;
    result.drop = true;
    return result.low ? std::optional<ViewAxis>(result) : std::nullopt;
  }
  const ast::Expr *end = index.kind == ast::Index::Kind::Block ? index.width : index.stop;
  Val low = index.start ? viewNumber(walk.eval(index.start), index.start->range, "a bound of a view") : Val::ofInt(0);
  Val high = end ? viewNumber(walk.eval(end), end->range, "a bound of a view")
                 : walk.tensorExtent(tensor, axis, index.range);
  if (low.isPoison() || high.isPoison())
    return std::nullopt;
  if (index.kind == ast::Index::Kind::Block)
    high = walk.arithmetic(ast::BinaryOp::Add, low, high, index.range, index.range);
  result.low = walk.scalarIndex(low, index.range, "a bound of a view");
  result.high = walk.scalarIndex(high, index.range, "a bound of a view");
  if (!result.low || !result.high)
    return std::nullopt;
  auto known = [](const Val &bound) {
    return bound.isInt() ? std::optional<Int128>(bound.integer) : std::nullopt;
  };
  result.extent = partExtent(known(low), known(high), tensor.staticExtents[axis]);
  return result;
}

Val MemoryLowerer::viewOfTensor(CallArgs &args, const ast::Subscript *part,
                                const TensorParam &tensor) {
  size_t rank = tensor.staticExtents.size();
  if (!walk.requirePresent(tensor, part->range))
    return Val::poison();
  if (args.given(1) || args.given(2)) {
    error<diag::TooManyArguments>(args.range, "view", "1 argument with a tensor", "more")
        .help("extents and strides are for pointers: `view(p, [M, N])`");
    return Val::poison();
  }
  for (const ast::Index &index : part->indices)
    if (index.kind == ast::Index::Kind::Named) {
      error<diag::UnknownArgument>(index.name.range, "a part that view takes", index.name.text)
          .help("`mask=` and `fill=` go to the places of the view");
      return Val::poison();
    }
  if (part->indices.size() != rank) {
    error<diag::IndexCount>(part->range, tensor.decl->name.text, rank, part->indices.size())
        .note(tensor.decl->range, "it is declared here");
    return Val::poison();
  }
  SmallVector<Value> low, high;
  SmallVector<bool> drop;
  SmallVector<std::optional<int64_t>> extents;
  bool good = true;
  for (auto [axis, index] : llvm::enumerate(part->indices)) {
    std::optional<ViewAxis> bounds = viewAxis(index, axis, tensor);
    good &= bounds.has_value();
    if (!bounds)
      continue;
    low.push_back(bounds->low);
    high.push_back(bounds->high);
    drop.push_back(bounds->drop);
    if (!bounds->drop)
      extents.push_back(bounds->extent);
  }
  if (!good)
    return Val::poison();
  auto type = ViewType::get(&walk.context, toMlir(&walk.context, tensor.dtype), extents.size(),
                            tensor.aliasClass);
  Value value = SubviewOp::create(builder, walk.loc(args.range), type, tensor.value, low, high,
                                  builder.getDenseBoolArrayAttr(drop));
  return makeView(tensor, value, extents, args.range);
}

//===----------------------------------------------------------------------===//
// A tensor at a pointer
//===----------------------------------------------------------------------===//

/// An integer scalar; of run time as i64, so that what is computed with it does not wrap.
Val MemoryLowerer::viewNumber(const Val &number, SourceRange range, StringRef what) {
  if (number.isInt())
    return walk.adaptConst(number, Dtype::I64, range, what) ? number : Val::poison();
  Value value = walk.scalarIndex(number, range, what);
  return value ? Val::run(value, {Dtype::I64, false, 0, {}}) : Val::poison();
}

/// The integer scalars of a list.
bool MemoryLowerer::viewNumbers(const CallArgs &args, size_t slot, StringRef what,
                                std::vector<Val> &numbers) {
  const Val &list = args.values[slot];
  SourceRange range = args.rangeOf(slot);
  if (list.kind != Val::Kind::List && !list.isTuple()) {
    error<diag::TypeMismatch>(range, what.str() + " of a view", "a list, one number an axis",
                              list.describe());
    return false;
  }
  for (const Val &number : list.elements)
    numbers.push_back(viewNumber(number, range, what.str() + " of a view"));
  return llvm::none_of(numbers, [](const Val &number) { return number.isPoison(); });
}

/// Those of a tensor whose elements lie one after the other, the last axis fastest.
std::vector<Val> MemoryLowerer::rowStrides(ArrayRef<Val> extents, SourceRange range) {
  std::vector<Val> strides(extents.size(), Val::ofInt(1));
  for (size_t axis = extents.size(); axis-- > 1;) {
    bool last = axis + 1 == extents.size();
    strides[axis - 1] = last ? extents[axis]
                             : walk.arithmetic(ast::BinaryOp::Mul, extents[axis], strides[axis],
                                               range, range);
  }
  return strides;
}

/// Extents and strides of a view of a pointer; false after an error.
bool MemoryLowerer::viewSides(const CallArgs &args, std::vector<Val> &extents,
                              std::vector<Val> &strides) {
  enum { Pointer, Extents, Strides };
  if (!args.given(Extents)) {
    error<diag::MissingArgument>(args.range, "view", "extents")
        .help("write `view(p, [M, N])`, or `view(p, [M, N], strides=[s, 1])`");
    return false;
  }
  if (!viewNumbers(args, Extents, "the extents", extents))
    return false;
  // The most axes a tensor may have.
  constexpr size_t kMaxRank = 8;
  if (extents.size() > kMaxRank) {
    error<diag::ValueOutside>(args.rangeOf(Extents), "the rank of a view", "1 to 8",
                              std::to_string(extents.size()));
    return false;
  }
  for (const Val &extent : extents)
    if (extent.isInt() && extent.integer < 0) {
      error<diag::ValueOutside>(args.rangeOf(Extents), "an extent of a view", "0 or more",
                                extent.str());
      return false;
    }
  if (!args.given(Strides)) {
    llvm::append_range(strides, rowStrides(extents, args.rangeOf(Extents)));
    return true;
  }
  if (!viewNumbers(args, Strides, "the strides", strides))
    return false;
  if (strides.size() == extents.size())
    return true;
  error<diag::ValueOutside>(args.rangeOf(Strides), "the number of strides of a view",
                            "its rank " + std::to_string(extents.size()),
                            std::to_string(strides.size()));
  return false;
}

Val MemoryLowerer::viewOfPointer(CallArgs &args, const Val &pointer) {
  bool table = pointer.type.indirections != 0;
  if (!pointer.type.isScalar() || table) {
    error<diag::TypeMismatch>(args.rangeOf(0), "what `view` begins at",
                              "a scalar pointer to numbers", pointer.describe())
        .help(table ? "`load` the address first: `view(load(p + i), [n])`"
                    : "a view has one address, and extents");
    return Val::poison();
  }
  std::vector<Val> extents, strides;
  if (!viewSides(args, extents, strides))
    return Val::poison();
  SmallVector<Value> sides, steps;
  SmallVector<std::optional<int64_t>> known;
  for (const Val &extent : extents) {
    known.push_back(extent.isInt() ? std::optional<int64_t>(extent.integer) : std::nullopt);
    sides.push_back(walk.scalarIndex(extent, args.rangeOf(1), "an extent of a view"));
  }
  for (const Val &stride : strides) // the product of extents may be no i64
    if (Value step = walk.scalarIndex(stride, args.range, "a stride of a view"))
      steps.push_back(step);
    else
      return Val::poison();
  const TensorParam &from = *walk.paramOf(pointer);
  auto type = ViewType::get(&walk.context, toMlir(&walk.context, pointer.type.dtype), sides.size(),
                            from.aliasClass);
  Value value =
      MakeViewOp::create(builder, walk.loc(args.range), type, pointer.value, sides, steps);
  return makeView(from, value, known, args.range);
}

/// view(x[lo:hi, :]), view(p, [M, N], strides=[s, 1]).
Val MemoryLowerer::buildView(CallArgs &args) {
  const ast::Expr *expr = args.exprs[0];
  auto *part = dyn_cast<ast::Subscript>(expr);
  Val base = walk.eval(part ? part->base : expr);
  if (part && base.kind == Val::Kind::Tensor)
    return args.poisoned() ? Val::poison() : viewOfTensor(args, part, *base.tensor);
  if (part)
    base = walk.subscriptOf(base, part);
  if (base.isPoison() || args.poisoned())
    return Val::poison();
  if (base.isPointer())
    return viewOfPointer(args, base);
  Report report = error<diag::TypeMismatch>(expr->range, "what `view` takes",
                                            "a part of a tensor, or a pointer", base.describe());
  if (base.kind == Val::Kind::Tensor)
    report.help("name the part: `view(x[lo:hi, :])`");
  return Val::poison();
}
