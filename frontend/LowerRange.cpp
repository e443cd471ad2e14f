//===- LowerRange.cpp - trip counts, unrolled loops, attributes of loops ----------===//

#include "frontend/Foreign.h"
#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// range
//===----------------------------------------------------------------------===//

std::optional<Lowerer::Range> Lowerer::evalRange(const ast::Call *call) {
  StringRef name = cast<ast::Name>(call->callee)->text;
  for (const ast::NamedArg &arg : call->namedArgs) {
    if (const Foreign *foreign = foreignArgument(arg.name.text))
      error<diag::ForeignSpelling>(arg.name.range, arg.name.text.str() + "=").help(adviceOf(*foreign));
    else
      error<diag::UnknownArgument>(arg.name.range, name, arg.name.text);
    return std::nullopt;
  }
  if (call->args.empty() || call->args.size() > 3) {
    error<diag::TooManyArguments>(call->range, name, "1 to 3 positional arguments",
                                  std::to_string(call->args.size()));
    return std::nullopt;
  }
  Range range;
  bool good = true;
  Val *slots[] = {&range.start, &range.stop, &range.step};
  for (auto [i, arg] : llvm::enumerate(call->args)) {
    Val value = eval(arg);
    bool integer = value.isInt() || (value.isRun() && !value.type.pointer &&
                                     value.type.isScalar() && isInteger(value.type.dtype));
    if (!integer && !value.isPoison())
      error<diag::TypeMismatch>(arg->range, "a bound of `" + name.str() + "`", "an integer scalar",
                                value.describe());
    if (value.isInt() && !adaptConst(value, Dtype::I64, arg->range, name))
      integer = false;
    good &= integer;
    *slots[call->args.size() == 1 ? 1 : i] = value;
  }
  if (good && range.step.isInt() && range.step.integer == 0) {
    error<diag::ZeroStep>(call->args[2]->range, name);
    return std::nullopt;
  }
  return good ? std::optional<Range>(range) : std::nullopt;
}

static Int128 constTrips(Int128 start, Int128 stop, Int128 step) {
  Int128 distance = step > 0 ? stop - start : start - stop;
  return distance <= 0 ? 0 : ceilDiv(distance, step > 0 ? step : -step);
}

/// low < high ? (high - low - 1) / step + 1 : 0, where the difference is right as unsigned even if
/// it is too large for a signed number. `watch` marks the division, whose divisor may be zero: then
/// the interpreter reports the loop's step there.
Value Lowerer::runTrips(Value low, Value high, Value step, bool watch, SourceRange at) {
  Location place = loc(at);
  auto number = [&](Int128 n) { return constant(Val::ofInt(n), Dtype::I64, {}, at); };
  Value some = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::slt, low, high);
  Value trips = high;
  if (!isConstant(low, 0))
    trips = arith::SubIOp::create(builder, place, trips, low);
  if (!isConstant(step, 1)) {
    trips = arith::SubIOp::create(builder, place, trips, number(1));
    auto quotient = DivOp::create(builder, place, trips.getType(), trips, step,
                                  builder.getUnitAttr(), NumAttr());
    if (watch)
      quotient->setAttr("tk.trip_count", builder.getUnitAttr());
    trips = quotient;
    trips = arith::AddIOp::create(builder, place, trips, number(1));
  }
  return arith::SelectOp::create(builder, place, some, trips, number(0));
}

bool Lowerer::isConstant(Value value, int64_t number) {
  auto op = value.getDefiningOp<arith::ConstantOp>();
  auto attr = op ? dyn_cast<IntegerAttr>(op.getValue()) : IntegerAttr();
  return attr && attr.getValue() == number;
}

/// Whether the distance of two bounds, the first not above the second, may need 64 unsigned bits.
static bool mayBeFar(const Val &low, const Val &high) {
  auto isNarrow = [](const Val &val) { return val.isRun() && dtypeBits(val.type.dtype) < 64; };
  bool fromZero = low.isInt() && low.integer >= 0;
  return !fromZero && !(isNarrow(low) && isNarrow(high));
}

/// A count of 2^63 and more is never reached.
Value Lowerer::saturatedTrips(Value trips, SourceRange at) {
  Location place = loc(at);
  auto number = [&](Int128 n) { return constant(Val::ofInt(n), Dtype::I64, {}, at); };
  Value isHuge =
      arith::CmpIOp::create(builder, place, arith::CmpIPredicate::slt, trips, number(0));
  return arith::SelectOp::create(builder, place, isHuge, number(INT64_MAX), trips);
}

Value Lowerer::tripCount(const Range &range, SourceRange at) {
  auto number = [&](Int128 n) { return constant(Val::ofInt(n), Dtype::I64, {}, at); };
  const Val &first = range.start, &last = range.stop, &by = range.step;
  if (first.isInt() && last.isInt() && by.isInt())
    return number(std::min<Int128>(constTrips(first.integer, last.integer, by.integer), INT64_MAX));
  Value start = materialize(first, Dtype::I64, {}, at);
  Value stop = materialize(last, Dtype::I64, {}, at);
  if (by.isInt() && by.integer == 1 && isConstant(start, 0))
    return stop; // a negative count makes no trip
  if (by.isInt()) {
    bool up = by.integer > 0;
    Int128 size = up ? by.integer : -by.integer;
    Value trips = up ? runTrips(start, stop, number(size), false, at)
                     : runTrips(stop, start, number(size), false, at);
    bool far = size <= 2 && (up ? mayBeFar(first, last) : mayBeFar(last, first));
    return far ? saturatedTrips(trips, at) : trips;
  }
  Location place = loc(at);
  Value step = materialize(by, Dtype::I64, {}, at), zero = number(0);
  Value up = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::sgt, step, zero);
  Value low = arith::SelectOp::create(builder, place, up, start, stop);
  Value high = arith::SelectOp::create(builder, place, up, stop, start);
  Value negated = arith::SubIOp::create(builder, place, zero, step);
  Value size = arith::SelectOp::create(builder, place, up, step, negated);
  Value trips = runTrips(low, high, size, true, at);
  if (mayBeFar(first, last) && mayBeFar(last, first))
    trips = saturatedTrips(trips, at);
  Value moves = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::ne, step, zero);
  return arith::SelectOp::create(builder, place, moves, trips, zero);
}

/// A loop's number as i64, so that mixing narrower and unsigned bounds is no error.
Val Lowerer::toI64(const Val &value, SourceRange range) {
  if (value.isPoison())
    return value;
  return Val::run(materialize(value, Dtype::I64, {}, range), {Dtype::I64, false, 0, {}});
}


/// start + i * step
Val Lowerer::loopVariable(const Range &range, Value counter, SourceRange at) {
  Val index = Val::run(counter, {Dtype::I64, false, 0, {}});
  if (!(range.step.isInt() && range.step.integer == 1))
    index = arithmetic(ast::BinaryOp::Mul, index, toI64(range.step, at), at, at);
  if (!(range.start.isInt() && range.start.integer == 0))
    index = arithmetic(ast::BinaryOp::Add, toI64(range.start, at), index, at, at);
  return index;
}

//===----------------------------------------------------------------------===//
// Unrolled loops
//===----------------------------------------------------------------------===//

/// Elaborates the body once for each element. A trip behind one that may have left the loop stands
/// under a test; the trips do not nest.
Exit Lowerer::execUnrolled(const ast::For *stmt, size_t trips,
                           llvm::function_ref<Val(size_t)> element) {
  for (const ast::Attribute &attr : stmt->attributes)
    error<diag::UnknownAttribute>(attr.range, attr.name.text, "loop that is unrolled");
  NameUse use;
  collectNames(stmt->body, use);
  Location at = loc(stmt->range);
  Exit exit;
  llvm::SaveAndRestore loops(frame->loops, frame->loops + 1);
  llvm::SaveAndRestore outer(frame->tail, Tail::Code); // how a trip is left is asked behind it
  for (size_t i = 0; i < trips && exit.may(Flow::Next) && !outOfFuel; ++i) {
    exit = execIfLive(exit, use, stmt->range, [&] {
      llvm::SaveAndRestore tail(frame->tail, Tail::LoopEnd);
      size_t depth = frame->scopes.depth();
      frame->scopes.push();
      bindPattern(stmt->pattern, element(i), /*isVar=*/false);
      Exit left = execBlock(stmt->body);
      frame->scopes.truncate(depth);
      return left.renamed(Flow::Continue, Flow::Next, builder, at);
    });
  }
  return exit.renamed(Flow::Break, Flow::Next, builder, at);
}

/// A loop that is unrolled: `static_range`, or `range` where a compile-time value is wanted.
Exit Lowerer::execStaticFor(const ast::For *stmt, const ast::Call *call) {
  bool isStatic = cast<ast::Name>(call->callee)->text == "static_range";
  std::optional<Range> range;
  {
    CompileTime asked(*this);
    range = evalRange(call);
  }
  if (!range)
    return Flow::Next;
  for (auto [i, arg] : llvm::enumerate(call->args)) {
    const Val &value = call->args.size() == 1 ? range->stop
                       : i == 0               ? range->start
                       : i == 1               ? range->stop
                                              : range->step;
    if (value.isInt())
      continue;
    error<diag::NotCompileTime>(arg->range, "a bound of `static_range`", value.describe())
        .help("`range` takes run-time bounds");
    return Flow::Next;
  }
  Int128 start = range->start.integer, step = range->step.integer;
  Int128 trips = constTrips(start, range->stop.integer, step);
  if (isStatic && trips > kMaxStaticTrips) {
    error<diag::TooManyTrips>(call->range, toString(trips), kMaxStaticTrips)
        .help("`range` makes a run-time loop");
    return Flow::Next;
  }
  return execUnrolled(stmt, size_t(trips), [&](size_t i) {
    Val index = Val::ofInt(start + Int128(i) * step);
    index.origin = call->range;
    return index;
  });
}

/// `for x in [1, 2, 4]`: over the elements of a list or tuple.
Exit Lowerer::execListFor(const ast::For *stmt) {
  Val list = eval(stmt->iterable);
  bool isList = list.kind == Val::Kind::List || list.isTuple();
  if (!isList && !list.isPoison())
    error<diag::NotIterable>(stmt->iterable->range, list.describe())
        .help("`for i in range(n)`; a run-time `range` over the axis of a tensor or tile");
  return isList ? execUnrolled(stmt, list.elements.size(), [&](size_t i) { return list.elements[i]; })
                : Exit();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// An attribute of loops and what it takes.
struct LoopAttribute {
  StringLiteral name, example;
  bool onWhile;
};
} // namespace

static constexpr LoopAttribute kLoopAttributes[] = {
    {"pipeline", "@pipeline(stages=3)", false},
    {"unroll", "@unroll(4)", true},
    {"flatten", "@flatten", false},
    {"warp_specialize", "@warp_specialize", true},
    {"no_licm", "@no_licm", true},
};

static std::string loopAttributeNames(bool counted) {
  std::string names;
  for (const LoopAttribute &known : kLoopAttributes)
    if (counted || known.onWhile)
      names += (names.empty() ? "" : ", ") + known.example.str();
  return names;
}

/// `@name(truth)`: whether the attribute is on; a configuration may choose.
std::optional<bool> Lowerer::attributeSwitch(const ast::Attribute &attr) {
  if (attr.args.empty() && attr.namedArgs.empty())
    return true;
  if (attr.args.size() == 1 && attr.namedArgs.empty()) {
    Val value = eval(attr.args[0]);
    if (value.isBool())
      return value.boolean;
    if (!value.isPoison())
      error<diag::NotCompileTime>(attr.args[0]->range, "a truth value of an attribute",
                                  value.describe());
    return std::nullopt;
  }
  error<diag::BadAttribute>(attr.range, attr.name.text, "takes nothing, or one truth value");
  return std::nullopt;
}

/// The attribute's value on the operation; null when it is off, or after an error.
Attribute Lowerer::loopAttribute(const ast::Attribute &attr) {
  StringRef name = attr.name.text;
  if (name != "pipeline" && name != "unroll") {
    std::optional<bool> on = attributeSwitch(attr);
    return on && *on ? builder.getUnitAttr() : Attribute();
  }
  const ast::Expr *expr = nullptr;
  if (name == "unroll" && attr.args.size() == 1 && attr.namedArgs.empty())
    expr = attr.args[0];
  else if (name == "pipeline" && attr.args.empty() && attr.namedArgs.size() == 1 &&
           attr.namedArgs[0].name.text == "stages")
    expr = attr.namedArgs[0].value;
  else if (name == "pipeline" && attr.args.empty() && attr.namedArgs.empty())
    return builder.getUnitAttr();
  if (!expr) {
    error<diag::BadAttribute>(attr.range, name, "has other arguments than it takes")
        .help(name == "unroll" ? "write `@unroll(4)`" : "write `@pipeline(stages=3)` or `@pipeline`");
    return {};
  }
  // As many stages as `@options` takes; a body is copied at most so often.
  int64_t most = name == "unroll" ? 64 : 16;
  std::optional<Int128> value = evalInt(expr, "the number of an attribute");
  if (value && *value >= 1 && *value <= most)
    return builder.getI64IntegerAttr(int64_t(*value));
  if (value)
    error<diag::ValueOutside>(expr->range, "`@" + name.str() + "`", "1 to " + std::to_string(most),
                              toString(*value));
  return {};
}

NamedAttrList Lowerer::loopAttributes(ArrayRef<ast::Attribute> attributes, bool counted) {
  NamedAttrList list;
  llvm::StringMap<SourceRange> seen;
  for (const ast::Attribute &attr : attributes) {
    StringRef name = attr.name.text;
    const auto *known =
        llvm::find_if(kLoopAttributes, [&](const LoopAttribute &one) { return one.name == name; });
    bool takes = known != std::end(kLoopAttributes) && (counted || known->onWhile);
    auto [earlier, isNew] = seen.try_emplace(name, attr.range);
    if (!takes)
      error<diag::UnknownAttribute>(attr.range, name, counted ? "`for` loop" : "`while` loop")
          .help("it takes " + loopAttributeNames(counted));
    else if (!isNew)
      error<diag::BadAttribute>(attr.range, name, "is given twice")
          .note(earlier->second, "the first one is here");
    else if (Attribute value = loopAttribute(attr))
      list.set(("tk." + name).str(), value);
  }
  return list;
}
