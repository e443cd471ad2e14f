//===- Specialize.cpp - what a fact of @variants makes of a kernel -------------===//

#include "passes/Specialize.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

namespace {
/// A name of the host that is a number: an extent, a stride, a scalar; or a parameter that is there (1) or not (0).
struct Replacement {
  StringRef name;
  int64_t number;
  bool isPresence = false;
};
} // namespace

static std::optional<unsigned> scalarCalled(KernelOp kernel, StringRef name) {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<IntegerType>(type) && argumentName(kernel, index) == name)
      return index;
  return std::nullopt;
}

static bool isUnsigned(KernelOp kernel, unsigned scalar) {
  StringRef dtype = kernel.getArgContract(scalar).getAs<StringAttr>("dtype").getValue();
  return dtype.starts_with("u") || dtype == "i1";
}

/// Whether the number is one of the scalar's type.
static bool holds(KernelOp kernel, unsigned scalar, int64_t number) {
  unsigned width = cast<IntegerType>(kernel.getArgumentTypes()[scalar]).getWidth();
  return isUnsigned(kernel, scalar) ? number >= 0 && llvm::isUIntN(width, number) : llvm::isIntN(width, number);
}

/// Of a u64 the host has no value past 2^63: a condition on it would make launches fail that are good.
static bool asksForHuge(KernelOp kernel, Attribute condition) {
  if (auto term = dyn_cast<ArrayAttr>(condition))
    return llvm::any_of(term, [&](Attribute operand) { return asksForHuge(kernel, operand); });
  auto name = dyn_cast<StringAttr>(condition);
  std::optional<unsigned> scalar = name ? scalarCalled(kernel, name.getValue()) : std::nullopt;
  return scalar && isUnsigned(kernel, *scalar) && kernel.getArgumentTypes()[*scalar].isInteger(64);
}

/// What it means for the kernel that `condition` is `value`.
static std::optional<Replacement> replacementFor(KernelOp kernel, Attribute condition, bool value) {
  auto isTruth = [&](StringRef name) {
    std::optional<unsigned> scalar = scalarCalled(kernel, name);
    return scalar && kernel.getArgumentTypes()[*scalar].isInteger(1);
  };
  if (auto name = dyn_cast<StringAttr>(condition))
    return isTruth(name.getValue()) ? std::optional(Replacement{name.getValue(), value}) : std::nullopt;
  auto term = dyn_cast<ArrayAttr>(condition);
  if (term && cast<StringAttr>(term[0]).getValue() == "not")
    return replacementFor(kernel, term[1], !value);
  std::optional<HostComparison> compare = comparisonOf(condition);
  if (!compare || (compare->op != "eq" && compare->op != "ne"))
    return std::nullopt;
  bool equal = value == (compare->op == "eq");
  StringRef name = compare->name.getValue();
  int64_t number = compare->number;
  if (name.ends_with(".ptr"))
    return number == 0 ? std::optional(Replacement{name.drop_back(4), !equal, /*isPresence=*/true}) : std::nullopt;
  if (isTruth(name)) // which has two values only
    return number == 0 || number == 1 ? std::optional(Replacement{name, equal ? number : 1 - number}) : std::nullopt;
  return equal ? std::optional(Replacement{name, number}) : std::nullopt;
}

/// A multiple, or a bound on a name as "at most" or "at least"; null for all else.
static Attribute factOf(KernelOp kernel, Attribute condition) {
  std::optional<HostComparison> compare = comparisonOf(condition);
  if (!compare)
    return {};
  if (compare->op == "divides")
    return compare->number > 0 ? condition : Attribute();
  bool below = compare->op == "lt" || compare->op == "le", above = compare->op == "gt" || compare->op == "ge";
  int64_t step = compare->op == "lt" ? -1 : compare->op == "gt" ? 1 : 0, limit;
  if ((!below && !above) || llvm::AddOverflow(compare->number, step, limit))
    return {};
  Builder builder(kernel.getContext());
  return builder.getArrayAttr(
      {builder.getStringAttr(below ? "le" : "ge"), compare->name, builder.getI64IntegerAttr(limit)});
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Writes one replacement into a kernel; `found` says whether there was anything to replace.
class Rewriter {
public:
  Rewriter(KernelOp kernel, Replacement what) : kernel(kernel), what(what) {}

  bool run() {
    if (what.isPresence)
      replacePresence();
    else
      replaceNumber();
    return found;
  }

private:
  void replaceNumber() {
    NamedAttrList fields(kernel.getContract().getFields());
    SmallVector<Attribute> args(cast<ArrayAttr>(fields.get("args")).getValue());
    for (auto [index, arg] : llvm::enumerate(args))
      if (isa<ViewType>(kernel.getArgumentTypes()[index]))
        arg = replacedSides(cast<DictionaryAttr>(arg));
    std::optional<unsigned> scalar = scalarCalled(kernel, what.name);
    if (scalar && holds(kernel, *scalar, what.number))
      replaceScalar(kernel.getBody().getArgument(*scalar));
    if (!found) // of the grid alone the code does not depend
      return;
    fields.set("args", ArrayAttr::get(kernel.getContext(), args));
    fields.set("grid", replaced(cast<ArrayAttr>(fields.get("grid")), "grid."));
    kernel.setContractAttr(
        ContractAttr::get(kernel.getContext(), fields.getDictionary(kernel.getContext())));
  }

  /// `list` with the number for the name, which an axis may also have as `own` and its place: "x.s1".
  ArrayAttr replaced(ArrayAttr list, const std::string &own) {
    SmallVector<Attribute> entries(list.getValue());
    for (auto [axis, entry] : llvm::enumerate(entries)) {
      auto text = dyn_cast<StringAttr>(entry);
      if (!text || (text.getValue() != what.name && own + std::to_string(axis) != what.name))
        continue;
      entry = IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), what.number);
      found = true;
    }
    return ArrayAttr::get(kernel.getContext(), entries);
  }

  DictionaryAttr replacedSides(DictionaryAttr argument) {
    NamedAttrList entry(argument);
    StringRef own = argument.getAs<StringAttr>("name").getValue();
    for (auto [field, letter] : {std::pair("extents", ".e"), std::pair("strides", ".s")})
      entry.set(field, replaced(argument.getAs<ArrayAttr>(field), (own + letter).str()));
    return entry.getDictionary(kernel.getContext());
  }

  void replaceScalar(BlockArgument argument) {
    if (argument.use_empty())
      return;
    found = true;
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    auto type = cast<IntegerType>(argument.getType());
    auto value = IntegerAttr::get(type, APInt(64, what.number).trunc(type.getWidth()));
    argument.replaceAllUsesWith(arith::ConstantOp::create(builder, kernel.getLoc(), type, value));
  }

  void replacePresence() {
    SmallVector<PresentOp> queries;
    kernel.walk([&](PresentOp query) {
      auto argument = dyn_cast<BlockArgument>(query.getOperand());
      if (argument && argument.getOwner() == &kernel.getBody().front() &&
          argumentName(kernel, argument.getArgNumber()) == what.name)
        queries.push_back(query);
    });
    for (PresentOp query : queries) {
      OpBuilder builder(query);
      auto value = builder.getBoolAttr(what.number != 0);
      query.replaceAllUsesWith(arith::ConstantOp::create(builder, query.getLoc(), value).getResult());
      query.erase();
      found = true;
    }
  }

  KernelOp kernel;
  Replacement what;
  bool found = false;
};
} // namespace

/// Whether the program asks for this stride itself: of the argument, or of a view, which may be one of it.
static bool isAskedFor(KernelOp kernel, StringRef argument, StringRef axis) {
  auto asks = [&](StrideOp stride) {
    auto view = dyn_cast<BlockArgument>(stride.getView());
    bool isOther = view && view.getOwner() == &kernel.getBody().front() &&
                   (argumentName(kernel, view.getArgNumber()) != argument || std::to_string(stride.getAxis()) != axis);
    return isOther ? WalkResult::advance() : WalkResult::interrupt();
  };
  return kernel.walk(asks).wasInterrupted();
}

/// What the host has to check so that the replacement is right. The stride of an axis of one element is any number, and
/// no address is ever multiplied by it.
static Attribute checkFor(KernelOp kernel, const Replacement &what, Attribute condition) {
  auto [argument, place] = what.name.rsplit(".s");
  if (what.isPresence || place.empty() || isAskedFor(kernel, argument, place))
    return condition;
  Builder builder(kernel.getContext());
  Attribute isOne = builder.getArrayAttr({builder.getStringAttr("le"), builder.getStringAttr(argument + ".e" + place),
                                          builder.getI64IntegerAttr(1)});
  return builder.getArrayAttr({builder.getStringAttr("or"), condition, isOne});
}

Specialization tk::specialize(KernelOp kernel, Attribute fact) {
  Specialization made;
  SmallVector<Attribute> waiting{fact};
  while (!waiting.empty()) {
    Attribute condition = waiting.pop_back_val();
    auto term = dyn_cast<ArrayAttr>(condition);
    if (term && cast<StringAttr>(term[0]).getValue() == "and") {
      llvm::append_range(waiting, llvm::reverse(term.getValue().drop_front()));
      continue;
    }
    if (asksForHuge(kernel, condition))
      continue;
    std::optional<Replacement> what = replacementFor(kernel, condition, true);
    if (what && Rewriter(kernel, *what).run())
      made.conditions.push_back(checkFor(kernel, *what, condition));
    else if (Attribute multiple = what ? Attribute() : factOf(kernel, condition))
      made.facts.push_back(multiple);
  }
  return made;
}
