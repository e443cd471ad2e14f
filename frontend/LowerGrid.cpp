//===- LowerGrid.cpp - grids of any rank ----------------------------------------===//
//
// A launch has three axes. A grid of more folds the third and what follows into the third, the
// earlier one fastest; the kernel takes its number apart again, by the extents that the contract
// computes, from the same expressions.
//
//   @grid(a, b, c, d)                    grid = [a, b, c * d]
//   program_id(2), program_id(3)         %z % c, %z // c
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

/// Axes of a launch.
constexpr unsigned kLaunchAxes = 3;
/// As many axes as a tensor may have.
constexpr size_t kMaxGridRank = 8;

void Lowerer::readGrid(const ast::Attribute &attr, NamedAttrList &fields,
                       SmallVectorImpl<Attribute> &require) {
  if (attr.args.empty() || attr.args.size() > kMaxGridRank || !attr.namedArgs.empty()) {
    error<diag::BadAttribute>(attr.range, "grid",
                              "has 1 to " + std::to_string(kMaxGridRank) + " axes, got " +
                                  std::to_string(attr.args.size()));
    return;
  }
  for (const ast::Expr *expr : attr.args) {
    Attribute axis = hostExpr(expr);
    if (!axis)
      return;
    auto number = dyn_cast<IntegerAttr>(axis);
    if (number && number.getInt() < 0)
      error<diag::ValueOutside>(expr->range, "an axis of the grid", "0 or more",
                                std::to_string(number.getInt()));
    kernel.gridAxes.push_back(axis);
  }
  SmallVector<Attribute> axes(kernel.gridAxes);
  Attribute zero = builder.getI64IntegerAttr(0);
  while (axes.size() > kLaunchAxes) {
    Attribute last = axes.pop_back_val();
    axes.back() = foldHost("mul", {axes.back(), last}, attr.range);
    if (!axes.back())
      return;
  }
  // Of two negative extents the product would be no error.
  for (size_t axis = kLaunchAxes - 1; kernel.gridAxes.size() > kLaunchAxes && axis < attr.args.size();
       ++axis) {
    Attribute condition = foldHost("ge", {kernel.gridAxes[axis], zero}, attr.args[axis]->range);
    std::string text = source.getText(attr.args[axis]->range).str() + " >= 0";
    auto known = dyn_cast_or_null<IntegerAttr>(condition);
    if (condition && !known)
      require.push_back(
          builder.getDictionaryAttr({builder.getNamedAttr("expr", condition),
                                     builder.getNamedAttr("text", builder.getStringAttr(text))}));
  }
  axes.resize(kLaunchAxes, builder.getI64IntegerAttr(1));
  fields.set("grid", builder.getArrayAttr(axes));
}

//===----------------------------------------------------------------------===//
// Host expressions in the kernel
//===----------------------------------------------------------------------===//

/// An extent, a stride or a scalar parameter, as the host's expressions name it.
std::optional<Val> Lowerer::hostNameInKernel(StringRef name, SourceRange range) {
  for (auto &[text, host] : kernel.hostNames)
    if (host.expr == builder.getStringAttr(name))
      return Val::run(hostValue(host), {Dtype::I64, false, 0, {}});
  for (auto [index, param] : llvm::enumerate(kernel.decl->params)) {
    auto *type = dyn_cast<ast::NamedType>(param.type);
    std::optional<Dtype> dtype =
        type && param.name.text == name ? resolveDtype(type->name) : std::optional<Dtype>();
    if (dtype)
      return toI64(Val::run(kernel.op.getBody().getArgument(index), {*dtype, false, 0, {}}), range);
  }
  auto [tensorName, stride] = name.rsplit(".s");
  unsigned axis = 0;
  for (const auto &tensor : kernel.tensors)
    if (tensor->decl->name.text == tensorName && !stride.getAsInteger(10, axis))
      return tensorStride(*tensor, axis, range);
  return std::nullopt;
}

/// The value of a host expression; nullopt for what a kernel does not compute.
std::optional<Val> Lowerer::hostInKernel(Attribute expr, SourceRange range) {
  if (auto number = dyn_cast<IntegerAttr>(expr))
    return Val::ofInt(number.getInt());
  if (auto name = dyn_cast<StringAttr>(expr))
    return hostNameInKernel(name.getValue(), range);
  auto list = cast<ArrayAttr>(expr);
  StringRef op = cast<StringAttr>(list[0]).getValue();
  std::optional<Val> a = hostInKernel(list[1], range);
  std::optional<Val> b = list.size() == 3 ? hostInKernel(list[2], range) : std::nullopt;
  if (!a || !b)
    return std::nullopt;
  auto binary = [&](ast::BinaryOp op, const Val &lhs, const Val &rhs) {
    return arithmetic(op, lhs, rhs, range, range);
  };
  using ast::BinaryOp;
  if (op == "cdiv") // the host has checked that the divisor is above 0
    return binary(BinaryOp::IntDiv,
                  binary(BinaryOp::Add, *a, binary(BinaryOp::Sub, *b, Val::ofInt(1))), *b);
  auto simple = llvm::StringSwitch<std::optional<BinaryOp>>(op)
                    .Case("add", BinaryOp::Add)
                    .Case("sub", BinaryOp::Sub)
                    .Case("mul", BinaryOp::Mul)
                    .Case("div", BinaryOp::IntDiv)
                    .Case("mod", BinaryOp::Rem)
                    .Default(std::nullopt);
  return simple ? std::optional<Val>(binary(*simple, *a, *b)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// program_id and num_programs
//===----------------------------------------------------------------------===//

/// The extent of a folded axis.
Val Lowerer::gridExtent(unsigned axis, SourceRange range) {
  std::optional<Val> extent = hostInKernel(kernel.gridAxes[axis], range);
  if (extent)
    return *extent;
  SourceRange written;
  for (const ast::Attribute &attr : kernel.decl->attributes)
    if (attr.name.text == "grid")
      written = attr.args[axis]->range;
  error<diag::GridAxisUnknown>(range, axis)
      .note(written, "the extent is written here")
      .help("from the third axis on of more than three, the kernel computes extents by + - * // % "
            "and cdiv; others go first");
  return Val::poison();
}

Val Lowerer::buildProgramId(CallArgs &args) {
  std::optional<Int128> number = needInt(args.values[0], args.rangeOf(0), "a grid axis");
  if (!number)
    return Val::poison();
  size_t rank = std::max<size_t>(kernel.gridAxes.size(), 1); // a constant has no grid
  Int128 counted = *number < 0 ? *number + Int128(rank) : *number;
  if (counted < 0 || counted >= Int128(rank)) {
    error<diag::BadAxis>(args.rangeOf(0), toString(*number), rank, "the grid")
        .note(kernel.decl ? kernel.decl->name.range : SourceRange(), "of this kernel");
    return Val::poison();
  }
  unsigned axis = unsigned(counted), last = kLaunchAxes - 1;
  bool folded = rank > kLaunchAxes && axis >= last, isId = args.builtin->name == "program_id";
  if (folded && !isId) {
    Val extent = gridExtent(axis, args.range);
    return extent.isPoison() ? extent : toI64(extent, args.range);
  }
  IntegerAttr launch = builder.getI64IntegerAttr(std::min(axis, last));
  Type type = builder.getI64Type();
  Value value = isId ? Value(ProgramIdOp::create(builder, loc(args.range), type, launch))
                     : Value(NumProgramsOp::create(builder, loc(args.range), type, launch));
  Val id = Val::run(value, {Dtype::I64, false, 0, {}});
  for (unsigned faster = last; folded && faster < axis; ++faster)
    id = arithmetic(ast::BinaryOp::IntDiv, id, gridExtent(faster, args.range), args.range,
                    args.range);
  if (folded && axis + 1 < rank)
    id = arithmetic(ast::BinaryOp::Rem, id, gridExtent(axis, args.range), args.range, args.range);
  return id;
}
