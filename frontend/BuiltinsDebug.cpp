//===- BuiltinsDebug.cpp - print, assert, hints, clocks ------------------------===//

#include "frontend/MemoryLowerer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The run-time values of an argument of `print`: members of tuples stand one after the other.
bool MemoryLowerer::collectPrinted(const Val &value, SourceRange range,
                                   std::vector<Val> &values) {
  if (value.isTuple() || value.kind == Val::Kind::List)
    return llvm::all_of(value.elements, [&](const Val &element) {
      return collectPrinted(element, range, values);
    });
  if (value.isPoison())
    return false;
  if (value.isRun() || value.isConstNumber()) {
    std::optional<Val> run = walk.asRun(value, range);
    if (run)
      values.push_back(*run);
    return run.has_value();
  }
  Report report = error<diag::TypeMismatch>(range, "what `print` prints", "numbers and pointers",
                                            value.describe());
  if (value.kind == Val::Kind::Tensor)
    report.help("print a tile of it: `x[i +: BLOCK]`");
  else
    report.help("the text stands first: `print(\"x = \", x)`");
  return false;
}

Val MemoryLowerer::buildPrint(CallArgs &args) {
  enum { Text, Hex };
  const Val &text = args.values[Text];
  std::optional<bool> hex = truth(args, Hex, "hex");
  std::vector<Val> values;
  bool good = hex.has_value() && !args.poisoned();
  for (const ast::Expr *expr : args.rest)
    good &= collectPrinted(walk.eval(expr), expr->range, values);
  if (!text.isPoison() && text.kind != Val::Kind::String) {
    error<diag::TypeMismatch>(args.rangeOf(Text), "the first argument of `print`", "a text",
                              text.describe())
        .help("write `print(\"x = \", x)`");
    return Val::unit();
  }
  if (!good)
    return Val::unit();
  SmallVector<Value> operands;
  SmallVector<bool> isUnsigned;
  for (const Val &value : values) {
    operands.push_back(value.value);
    isUnsigned.push_back(value.type.pointer || isUnsignedLike(value.type.dtype));
  }
  PrintOp::create(builder, walk.loc(args.range), builder.getStringAttr(text.text),
                  *hex ? builder.getUnitAttr() : UnitAttr(), operands,
                  builder.getDenseBoolArrayAttr(isUnsigned));
  return Val::unit();
}

/// What `static_print` writes: the value, or the type of one that only a run knows.
static std::string textOf(const Val &value) {
  if (value.kind == Val::Kind::String)
    return value.text;
  if (value.kind != Val::Kind::Tensor)
    return value.str();
  std::string text = dtypeName(value.tensor->dtype).str() + "[";
  for (auto [axis, extent] : llvm::enumerate(value.tensor->staticExtents))
    text += (axis == 0 ? "" : ", ") + (extent ? std::to_string(*extent) : "?");
  return text + "]";
}

/// Every call prints, also one that has printed the same before: no report that is made once.
Val MemoryLowerer::buildStaticPrint(CallArgs &args) {
  std::string line;
  for (const ast::Expr *expr : args.rest) {
    Val value = walk.eval(expr);
    if (value.isPoison())
      return Val::unit();
    line += (line.empty() ? "" : " ") + textOf(value);
  }
  emit<diag::StaticPrint>(walk.loc(args.range), line);
  return Val::unit();
}

//===----------------------------------------------------------------------===//
// What the author knows
//===----------------------------------------------------------------------===//

/// A condition and its mask broadcast together.
Val MemoryLowerer::buildAssert(CallArgs &args) {
  enum { Condition, Text, Mask };
  if (args.poisoned())
    return Val::unit();
  const Val &condition = args.values[Condition], &text = args.values[Text];
  const Val &mask = args.values[Mask];
  bool truth = condition.isBool() || (condition.isRun() && !condition.type.pointer &&
                                      condition.type.dtype == Dtype::I1);
  if (!truth) {
    error<diag::TypeMismatch>(args.rangeOf(Condition), "what `assert` claims", "of i1",
                              condition.describe())
        .help("compare it with a number: `!= 0`");
    return Val::unit();
  }
  bool hasText = text.kind == Val::Kind::String;
  if (args.given(Text) && !hasText) {
    error<diag::TypeMismatch>(args.rangeOf(Text), "the text of `assert`", "a text",
                              text.describe());
    return Val::unit();
  }
  if (condition.isBool() && condition.boolean)
    return Val::unit();
  bool good = true;
  std::optional<Shape> shape = Shape(condition.shape());
  if (mask.isRun())
    shape = walk.broadcast(condition, mask, args.range, "assert");
  Value maskTile = shape ? walk.maskValue(mask, *shape, args.rangeOf(Mask), good) : Value();
  if (!shape || !good)
    return Val::unit();
  std::string claim = hasText ? text.text : walk.source.getText(args.rangeOf(Condition)).str();
  AssertOp::create(builder, walk.loc(args.range),
                   walk.materialize(condition, Dtype::I1, *shape, args.rangeOf(Condition)),
                   builder.getStringAttr(claim), maskTile);
  return Val::unit();
}

Val MemoryLowerer::buildAssume(CallArgs &args) {
  const Val &condition = args.values[0];
  SourceRange range = args.rangeOf(0);
  if (condition.isPoison() || (condition.isBool() && condition.boolean))
    return Val::unit();
  bool scalar = condition.isBool() || (condition.isRun() && condition.type.isScalar() &&
                                       !condition.type.pointer &&
                                       condition.type.dtype == Dtype::I1);
  if (!scalar)
    error<diag::BadCondition>(range, "what `assume` promises", condition.describe())
        .help("of a tile, promise something about the scalars that it is made of");
  else if (condition.isBool())
    error<diag::AssumesFalse>(range, walk.source.getText(range));
  else
    AssumeOp::create(builder, walk.loc(args.range), condition.value);
  return Val::unit();
}

/// One number an axis; a single number is for a value of one axis, or a scalar.
std::optional<SmallVector<int64_t>> MemoryLowerer::hintNumbers(CallArgs &args, size_t axes) {
  const Val &given = args.values[1];
  SourceRange range = args.rangeOf(1);
  ArrayRef<Val> numbers = given;
  if (given.isTuple() || given.kind == Val::Kind::List)
    numbers = given.elements;
  if (numbers.size() != axes) {
    error<diag::ValueOutside>(range, "how many numbers `" + args.builtin->name.str() + "` takes",
                              std::to_string(axes) + ", one an axis",
                              std::to_string(numbers.size()));
    return std::nullopt;
  }
  SmallVector<int64_t> result;
  for (const Val &number : numbers) {
    std::optional<Int128> value = walk.needInt(number, range, "what a hint promises");
    // No address is a multiple of more, no tile has more elements.
    constexpr int64_t kMaxHint = int64_t(1) << 30;
    if (value && (*value < 1 || *value > kMaxHint)) {
      error<diag::ValueOutside>(range, "what a hint promises", "1 to 2^30", toString(*value));
      return std::nullopt;
    }
    if (!value)
      return std::nullopt;
    result.push_back(int64_t(*value));
  }
  return result;
}

/// multiple_of(x, 16), max_contiguous(x, [1, 16]), max_constancy(x, 16). Of hints inside each
/// other one is made: `multiple_of` speaks of the first element of each block of the others.
Val MemoryLowerer::buildHint(CallArgs &args) {
  const Val &value = args.values[0];
  if (args.poisoned())
    return Val::poison();
  bool integer = value.isInt() || (value.isRun() && !value.type.pointer &&
                                   isInteger(value.type.dtype));
  std::optional<Val> run = integer || value.isPointer()
                               ? walk.asRun(value, args.rangeOf(0))
                               : std::optional<Val>();
  if (!run) {
    error<diag::TypeMismatch>(args.rangeOf(0), "what `" + args.builtin->name.str() + "` is about",
                              "integers or pointers", value.describe());
    return Val::poison();
  }
  size_t axes = std::max<size_t>(run->shape().size(), 1);
  std::optional<SmallVector<int64_t>> numbers = hintNumbers(args, axes);
  if (!numbers)
    return Val::poison();
  SmallVector<int64_t> multiple(axes, 1), contiguous(axes, 1), constant(axes, 1);
  Value about = run->value;
  auto inner = about.getDefiningOp<HintOp>();
  // Made by the call inside this one, so nothing else sees it.
  bool nested = inner && inner.getLoc() == walk.loc(args.exprs[0]->range);
  if (nested) {
    multiple.assign(inner.getMultipleOf().begin(), inner.getMultipleOf().end());
    contiguous.assign(inner.getContiguous().begin(), inner.getContiguous().end());
    constant.assign(inner.getConstant().begin(), inner.getConstant().end());
    about = inner.getValue();
  }
  (args.builtin->name == "multiple_of"      ? multiple
   : args.builtin->name == "max_contiguous" ? contiguous
                                            : constant) = *numbers;
  Value result = HintOp::create(builder, walk.loc(args.range), about.getType(), about,
                                builder.getDenseI64ArrayAttr(multiple),
                                builder.getDenseI64ArrayAttr(contiguous),
                                builder.getDenseI64ArrayAttr(constant));
  if (nested)
    inner->erase();
  return Val::run(result, run->type);
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

Val MemoryLowerer::buildBarrier(CallArgs &args) {
  BarrierOp::create(builder, walk.loc(args.range));
  return Val::unit();
}

Val MemoryLowerer::buildMachineNumber(CallArgs &args) {
  Location at = walk.loc(args.range);
  Type type = builder.getI64Type();
  StringRef name = args.builtin->name;
  Value result;
  if (name == "clock")
    result = ClockOp::create(builder, at, type, ClockKind::cycles);
  else if (name == "globaltimer")
    result = ClockOp::create(builder, at, type, ClockKind::nanoseconds);
  else if (name == "smid")
    result = SmIdOp::create(builder, at, type);
  else
    result = NumWarpsOp::create(builder, at, type);
  return Val::run(result, {Dtype::I64, false, 0, {}});
}

Val MemoryLowerer::buildGridDependency(CallArgs &args) {
  bool wait = args.builtin->name == "grid_wait";
  GridDependencyOp::create(builder, walk.loc(args.range),
                           wait ? GridDependencyKind::wait : GridDependencyKind::launch);
  return Val::unit();
}
