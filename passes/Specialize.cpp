//===- Specialize.cpp - what a fact of @variants makes of a kernel -------------===//

#include "passes/Specialize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

namespace {
/// One name of the host that is known to be a number.
class Substitution {
public:
  Substitution(KernelOp kernel, StringRef name, int64_t number)
      : kernel(kernel), name(name),
        number(IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), number)) {}

  /// True when the kernel has the name.
  bool apply() {
    NamedAttrList fields(kernel.getContract().getFields());
    SmallVector<Attribute> args(cast<ArrayAttr>(fields.get("args")).getValue());
    for (auto [index, arg] : llvm::enumerate(args)) {
      auto entry = cast<DictionaryAttr>(arg);
      if (isa<ViewType>(kernel.getArgumentTypes()[index]))
        arg = replacedSides(entry);
      else if (entry.getAs<StringAttr>("name").getValue() == name)
        replaceScalar(kernel.getBody().getArgument(index), entry.getAs<StringAttr>("dtype").getValue());
    }
    fields.set("args", ArrayAttr::get(kernel.getContext(), args));
    fields.set("grid", replaced(cast<ArrayAttr>(fields.get("grid")), "grid."));
    kernel.setContractAttr(
        ContractAttr::get(kernel.getContext(), fields.getDictionary(kernel.getContext())));
    return found;
  }

private:
  /// `list` with the number for the name, which an axis may also have as `own` and its place: "x.s1".
  ArrayAttr replaced(ArrayAttr list, const std::string &own) {
    SmallVector<Attribute> entries(list.getValue());
    for (auto [axis, entry] : llvm::enumerate(entries)) {
      auto text = dyn_cast<StringAttr>(entry);
      if (!text || (text.getValue() != name && own + std::to_string(axis) != name))
        continue;
      entry = number;
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

  void replaceScalar(BlockArgument argument, StringRef dtype) {
    auto type = dyn_cast<IntegerType>(argument.getType());
    if (!type || argument.use_empty())
      return;
    int64_t value = number.getInt();
    bool isUnsigned = dtype.starts_with("u") || dtype == "i1";
    if (isUnsigned ? !llvm::isUIntN(type.getWidth(), value) : !llvm::isIntN(type.getWidth(), value))
      return; // it is never so
    found = true;
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    auto attribute = IntegerAttr::get(type, APInt(64, value).trunc(type.getWidth()));
    argument.replaceAllUsesWith(arith::ConstantOp::create(builder, kernel.getLoc(), type, attribute));
  }

  KernelOp kernel;
  StringRef name;
  IntegerAttr number;
  bool found = false;
};

/// One fact, condition by condition.
class Specializer {
public:
  explicit Specializer(KernelOp kernel) : kernel(kernel) {}

  void add(Attribute condition) {
    auto term = dyn_cast<ArrayAttr>(condition);
    StringRef op = term ? cast<StringAttr>(term[0]).getValue() : "";
    if (op == "and") {
      for (Attribute operand : term.getValue().drop_front())
        add(operand);
    } else if (holdsAs(condition, true))
      made.specialized.push_back(condition);
    else if (Attribute fact = op.empty() ? Attribute() : factOf(op, term))
      made.facts.push_back(fact);
  }

  Specialization made;

private:
  /// Writes into the kernel that `condition` is `value`.
  bool holdsAs(Attribute condition, bool value) {
    if (auto name = dyn_cast<StringAttr>(condition))
      return isBool(name.getValue()) && Substitution(kernel, name.getValue(), value).apply();
    auto term = dyn_cast<ArrayAttr>(condition);
    StringRef op = term ? cast<StringAttr>(term[0]).getValue() : "";
    if (op == "not")
      return holdsAs(term[1], !value);
    if (op != "eq" && op != "ne")
      return false;
    auto name = dyn_cast<StringAttr>(term[1]);
    auto number = dyn_cast<IntegerAttr>(term[2]);
    if (!name) { // the other way round
      name = dyn_cast<StringAttr>(term[2]);
      number = dyn_cast<IntegerAttr>(term[1]);
    }
    if (!name || !number)
      return false;
    bool equal = value == (op == "eq");
    if (name.getValue().ends_with(".ptr"))
      return number.getInt() == 0 && setPresence(name.getValue().drop_back(4), !equal);
    if (isBool(name.getValue()))
      return holdsAs(name, equal == (number.getInt() != 0));
    return equal && Substitution(kernel, name.getValue(), number.getInt()).apply();
  }

  bool isBool(StringRef name) {
    for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
      if (kernel.getArgContract(i).getAs<StringAttr>("name").getValue() == name)
        return kernel.getArgumentTypes()[i].isInteger(1);
    return false;
  }

  bool setPresence(StringRef name, bool present) {
    SmallVector<PresentOp> queries;
    kernel.walk([&](PresentOp query) {
      auto argument = dyn_cast<BlockArgument>(query.getOperand());
      if (argument && argument.getOwner() == &kernel.getBody().front() &&
          kernel.getArgContract(argument.getArgNumber()).getAs<StringAttr>("name").getValue() == name)
        queries.push_back(query);
    });
    for (PresentOp query : queries) {
      OpBuilder builder(query);
      query.replaceAllUsesWith(
          arith::ConstantOp::create(builder, query.getLoc(), builder.getBoolAttr(present)).getResult());
      query.erase();
    }
    return !queries.empty();
  }

  /// A multiple, or a bound on a name as "at most" or "at least"; null for all else.
  Attribute factOf(StringRef op, ArrayAttr term) {
    if (op == "divides")
      return isa<IntegerAttr>(term[1]) && isa<StringAttr>(term[2]) ? term : Attribute();
    bool below = op == "lt" || op == "le", above = op == "gt" || op == "ge";
    if (!below && !above)
      return {};
    auto name = dyn_cast<StringAttr>(term[1]);
    auto number = dyn_cast<IntegerAttr>(term[2]);
    if (!name) {
      name = dyn_cast<StringAttr>(term[2]);
      number = dyn_cast<IntegerAttr>(term[1]);
      std::swap(below, above);
    }
    int64_t strict = op == "lt" || op == "gt" ? (below ? -1 : 1) : 0, limit;
    if (!name || !number || llvm::AddOverflow(number.getInt(), strict, limit))
      return {};
    Builder builder(kernel.getContext());
    return builder.getArrayAttr(
        {builder.getStringAttr(below ? "le" : "ge"), name, builder.getI64IntegerAttr(limit)});
  }

  KernelOp kernel;
};
} // namespace

Specialization tk::specialize(KernelOp kernel, Attribute fact) {
  Specializer specializer(kernel);
  specializer.add(fact);
  return std::move(specializer.made);
}
