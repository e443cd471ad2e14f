//===- LowerLoop.cpp - for and while ------------------------------------------===//
//
// A run-time loop is `scf.for` from 0 to the trip count by 1, all in i64; its variable is computed
// as start + i * step. The variables that the body assigns are its iteration arguments.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// What a loop carries
//===----------------------------------------------------------------------===//

std::vector<StringRef> Lowerer::assignedVars(const NameUse &use) {
  std::vector<StringRef> names;
  for (const auto &entry : use.assigned)
    if (Binding *binding = frame->scopes.find(entry.first); binding && binding->isVar)
      names.push_back(entry.first);
  return names;
}

/// A variable's value with a placeholder for each number; poison, after an error, for what no
/// run-time value can hold.
Val Lowerer::carriedShape(const Val &value, SourceRange range, StringRef name) {
  if (value.isTuple()) {
    std::vector<Val> elements;
    for (const Val &element : value.elements)
      elements.push_back(carriedShape(element, range, name));
    return Val::tuple(std::move(elements));
  }
  if (value.isRun())
    return Val::run(Value(), value.type);
  if (value.isConstNumber())
    return Val::run(Value(), {defaultDtype(value), false, 0, {}});
  if (!value.isPoison())
    error<diag::TypeMismatch>(range, "`" + name.str() + "`, which a run-time loop changes,",
                              "a number or tile", value.describe());
  return Val::poison();
}

Lowerer::Carried Lowerer::carry(const NameUse &use, SourceRange range) {
  Carried carried;
  for (StringRef name : assignedVars(use)) {
    Binding *binding = frame->scopes.find(name);
    Val shape = carriedShape(binding->val, range, name);
    SmallVector<Value> values;
    if (!yieldLeaves(shape, binding->val, values, range)) {
      binding->val = Val::poison();
      continue;
    }
    carried.names.push_back(name);
    carried.shapes.push_back(shape);
    carried.initial.append(values);
  }
  return carried;
}

void Lowerer::bindCarried(const Carried &carried, ValueRange values) {
  size_t next = 0;
  for (auto [name, shape] : llvm::zip(carried.names, carried.shapes)) {
    Binding *binding = frame->scopes.find(name);
    bool poisoned = binding->val.isPoison();
    SourceRange origin = binding->val.origin;
    Val value = fillPlaceholders(shape, values, next);
    binding->val = poisoned ? Val::poison() : value;
    binding->val.origin = origin;
  }
}

/// What the body leaves in the variables; `otherwise` for those an error has made unknown.
SmallVector<Value> Lowerer::carriedValues(const Carried &carried, ValueRange otherwise,
                                          SourceRange range) {
  SmallVector<Value> result;
  for (auto [name, shape] : llvm::zip(carried.names, carried.shapes)) {
    SmallVector<Value> values;
    const Val &value = frame->scopes.find(name)->val;
    if (value.isPoison() || !yieldLeaves(shape, value, values, range))
      return SmallVector<Value>(otherwise);
    result.append(values);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

std::optional<Lowerer::Range> Lowerer::evalRange(const ast::Call *call) {
  StringRef name = cast<ast::Name>(call->callee)->text;
  if (call->args.empty() || call->args.size() > 3 || !call->namedArgs.empty()) {
    error<diag::TooManyArguments>(call->range, name, "1 to 3 positional arguments",
                                  std::to_string(call->args.size() + call->namedArgs.size()));
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
/// it is too large for a signed number.
Value Lowerer::runTrips(Value low, Value high, Value step, SourceRange at) {
  Location place = loc(at);
  auto number = [&](Int128 n) { return constant(Val::ofInt(n), Dtype::I64, {}, at); };
  Value some = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::slt, low, high);
  Value trips = high;
  if (!isConstant(low, 0))
    trips = arith::SubIOp::create(builder, place, trips, low);
  if (!isConstant(step, 1)) {
    trips = arith::SubIOp::create(builder, place, trips, number(1));
    trips = DivOp::create(builder, place, trips.getType(), trips, step, builder.getUnitAttr(),
                          NumAttr());
    trips = arith::AddIOp::create(builder, place, trips, number(1));
  }
  return arith::SelectOp::create(builder, place, some, trips, number(0));
}

bool Lowerer::isConstant(Value value, int64_t number) {
  auto op = value.getDefiningOp<arith::ConstantOp>();
  auto attr = op ? dyn_cast<IntegerAttr>(op.getValue()) : IntegerAttr();
  return attr && attr.getValue() == number;
}

Value Lowerer::tripCount(const Range &range, SourceRange at) {
  auto number = [&](Int128 n) { return constant(Val::ofInt(n), Dtype::I64, {}, at); };
  if (range.start.isInt() && range.stop.isInt() && range.step.isInt()) {
    Int128 trips = constTrips(range.start.integer, range.stop.integer, range.step.integer);
    return fits(trips, Dtype::I64) ? number(trips) : Value();
  }
  Value start = materialize(range.start, Dtype::I64, {}, at);
  Value stop = materialize(range.stop, Dtype::I64, {}, at);
  if (range.step.isInt() && range.step.integer == 1 && isConstant(start, 0))
    return stop; // scf.for makes no trip for a negative count
  if (range.step.isInt()) {
    Int128 step = range.step.integer;
    return step > 0 ? runTrips(start, stop, number(step), at)
                    : runTrips(stop, start, number(-step), at);
  }
  Location place = loc(at);
  Value step = materialize(range.step, Dtype::I64, {}, at), zero = number(0);
  Value up = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::sgt, step, zero);
  Value low = arith::SelectOp::create(builder, place, up, start, stop);
  Value high = arith::SelectOp::create(builder, place, up, stop, start);
  Value negated = arith::SubIOp::create(builder, place, zero, step);
  Value size = arith::SelectOp::create(builder, place, up, step, negated);
  Value trips = runTrips(low, high, size, at);
  Value moves = arith::CmpIOp::create(builder, place, arith::CmpIPredicate::ne, step, zero);
  return arith::SelectOp::create(builder, place, moves, trips, zero);
}

void Lowerer::setLoopAttributes(Operation *loop, ArrayRef<ast::Attribute> attributes) {
  for (const ast::Attribute &attr : attributes) {
    StringRef name = attr.name.text;
    bool stages = name == "pipeline", count = name == "unroll";
    if (!stages && !count && name != "flatten" && name != "warp_specialize") {
      error<diag::UnknownAttribute>(attr.range, name, "loop")
          .help("loops take @pipeline(stages=3), @unroll(4), @flatten, @warp_specialize");
      continue;
    }
    const ast::Expr *expr = nullptr;
    if (count && attr.args.size() == 1 && attr.namedArgs.empty())
      expr = attr.args[0];
    else if (stages && attr.args.empty() && attr.namedArgs.size() == 1 &&
             attr.namedArgs[0].name.text == "stages")
      expr = attr.namedArgs[0].value;
    else if (!attr.args.empty() || !attr.namedArgs.empty() || count) {
      error<diag::BadAttribute>(attr.range, name, "has other arguments than it takes")
          .help("loops take @pipeline(stages=3), @unroll(4), @flatten, @warp_specialize");
      continue;
    }
    std::optional<Int128> value = expr ? evalInt(expr, "the number of an attribute") : Int128(0);
    if (expr && value && (*value < 1 || *value > 1024)) {
      error<diag::ValueOutside>(expr->range, "`@" + name.str() + "`", "1 to 1024",
                                toString(*value));
      continue;
    }
    Attribute set = builder.getUnitAttr();
    if (expr && value)
      set = builder.getI64IntegerAttr(int64_t(*value));
    loop->setAttr(("tk." + name).str(), set);
  }
}

void Lowerer::execRunFor(const ast::For *stmt, const ast::Call *call) {
  std::optional<Range> range = evalRange(call);
  if (!enterRegion(stmt->range))
    return;
  NameUse use;
  collectNames(stmt->body, use);
  Carried carried = carry(use, stmt->range);
  Value trips = range ? tripCount(*range, call->range) : Value();
  if (!trips) // for the other errors in the body
    trips = constant(Val::ofInt(0), Dtype::I64, {}, call->range);
  Value zero = constant(Val::ofInt(0), Dtype::I64, {}, call->range);
  Value one = constant(Val::ofInt(1), Dtype::I64, {}, call->range);
  Val start = range ? range->start : Val::poison(), step = range ? range->step : Val::poison();
  auto loop = scf::ForOp::create(builder, loc(stmt->range), zero, trips, one, carried.initial);
  setLoopAttributes(loop, stmt->attributes);

  OpBuilder::InsertionGuard guard(builder);
  Block *body = loop.getBody();
  if (!body->empty())
    body->back().erase(); // the terminator that comes with a loop without arguments
  builder.setInsertionPointToStart(body);
  Scopes before = frame->scopes;
  bool unrolled = std::exchange(frame->unrolled, false);
  ++regionDepth, ++frame->runLoops;
  bindCarried(carried, loop.getRegionIterArgs());
  frame->scopes.push();
  Val index = Val::run(loop.getInductionVar(), {Dtype::I64, false, 0, {}});
  SourceRange at = stmt->pattern.range;
  if (!(step.isInt() && step.integer == 1))
    index = arithmetic(ast::BinaryOp::Mul, index, toI64(step, at), at, at);
  if (!(start.isInt() && start.integer == 0))
    index = arithmetic(ast::BinaryOp::Add, toI64(start, at), index, at, at);
  index.origin = stmt->iterable->range;
  bindName(stmt->pattern.names.front(), index, /*isVar=*/false);
  execBlock(stmt->body, nullptr);
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc(stmt->range),
                       carriedValues(carried, loop.getRegionIterArgs(), stmt->range));
  --regionDepth, --frame->runLoops;
  frame->unrolled = unrolled;
  Scopes after = std::exchange(frame->scopes, std::move(before));
  for (StringRef name : carried.names)
    if (after.find(name)->val.isPoison())
      frame->scopes.find(name)->val = Val::poison();
  bindCarried(carried, loop.getResults());
}

/// A loop's number as i64, so that mixing narrower and unsigned bounds is no error.
Val Lowerer::toI64(const Val &value, SourceRange range) {
  if (value.isPoison())
    return value;
  return Val::run(materialize(value, Dtype::I64, {}, range), {Dtype::I64, false, 0, {}});
}

Flow Lowerer::execStaticFor(const ast::For *stmt, const ast::Call *call) {
  std::optional<Range> range = evalRange(call);
  for (const ast::Attribute &attr : stmt->attributes)
    error<diag::UnknownAttribute>(attr.range, attr.name.text, "static_range loop");
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
  if (trips > kMaxStaticTrips) {
    error<diag::TooManyTrips>(call->range, toString(trips), kMaxStaticTrips)
        .help("`range` makes a run-time loop");
    return Flow::Next;
  }
  Continuation barrier{{}, frame->scopes.depth(), nullptr, /*barrier=*/true};
  bool unrolled = std::exchange(frame->unrolled, true);
  Flow flow = Flow::Next;
  for (Int128 i = 0; i < trips && !outOfFuel; ++i) {
    size_t depth = frame->scopes.depth();
    frame->scopes.push();
    Val index = Val::ofInt(start + i * step);
    index.origin = call->range;
    bindName(stmt->pattern.names.front(), index, /*isVar=*/false);
    flow = execBlock(stmt->body, &barrier);
    frame->scopes.truncate(depth);
    if (flow == Flow::Break || flow == Flow::Return)
      break;
  }
  frame->unrolled = unrolled;
  return flow == Flow::Return ? flow : Flow::Next;
}

Flow Lowerer::execFor(const ast::For *stmt) {
  auto *call = dyn_cast<ast::Call>(stmt->iterable);
  auto *name = call ? dyn_cast<ast::Name>(call->callee) : nullptr;
  bool isStatic = name && name->text == "static_range";
  if (!name || (name->text != "range" && !isStatic) || stmt->pattern.isTuple) {
    error<diag::NotIterable>(stmt->pattern.isTuple ? stmt->pattern.range : stmt->iterable->range);
    return Flow::Next;
  }
  if (isStatic)
    return execStaticFor(stmt, call);
  execRunFor(stmt, call);
  return Flow::Next;
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

void Lowerer::execWhile(const ast::While *stmt) {
  if (!enterRegion(stmt->range))
    return;
  NameUse use;
  collectNames(stmt->body, use);
  Carried carried = carry(use, stmt->range);
  SmallVector<Type> types = llvm::to_vector(ValueRange(carried.initial).getTypes());
  auto loop = scf::WhileOp::create(builder, loc(stmt->range), types, carried.initial);
  setLoopAttributes(loop, stmt->attributes);
  OpBuilder::InsertionGuard guard(builder);
  Scopes before = frame->scopes;
  bool unrolled = std::exchange(frame->unrolled, false);
  ++regionDepth, ++frame->runLoops;
  SmallVector<Location> places(types.size(), loc(stmt->range));
  Block *test = builder.createBlock(&loop.getBefore(), {}, types, places);
  bindCarried(carried, test->getArguments());
  std::optional<Val> condition = evalCondition(stmt->condition, "the condition of `while`");
  Val truth = condition.value_or(Val::ofBool(false));
  Value flag = truth.isRun() ? truth.value : constant(truth, Dtype::I1, {}, stmt->condition->range);
  scf::ConditionOp::create(builder, loc(stmt->condition->range), flag, test->getArguments());

  Block *body = builder.createBlock(&loop.getAfter(), {}, types, places);
  bindCarried(carried, body->getArguments());
  execBlock(stmt->body, nullptr);
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc(stmt->range),
                       carriedValues(carried, body->getArguments(), stmt->range));
  --regionDepth, --frame->runLoops;
  frame->unrolled = unrolled;
  Scopes after = std::exchange(frame->scopes, std::move(before));
  for (StringRef name : carried.names)
    if (after.find(name)->val.isPoison())
      frame->scopes.find(name)->val = Val::poison();
  bindCarried(carried, loop.getResults());
}
