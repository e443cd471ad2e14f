//===- LowerLoop.cpp - for and while at run time ----------------------------------===//
//
// A run-time `for` is `scf.for` from 0 to the trip count by 1, all in i64; its variable is computed
// as start + i * step. The variables that the body assigns are its iteration arguments. A body
// that may be left by `break` or `return` needs `scf.while`, whose arguments are, in order,
//
//   the counter            of a `for`
//   the variables          that the body assigns
//   live                   an i1, false once the loop is left; the number of the way (LowerExit.h)
//                          where both `break` and `return` are possible
//   what is returned       read only behind a `return`
//
// The parts are elaborated into regions first, the operation is made around them afterwards: only
// then is it known how the body is left and what it returns.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

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

/// A variable's value with a placeholder for each number; other parts stay what they are.
Val Lowerer::carriedShape(const Val &value) {
  Val shape = value;
  if (value.isAggregate()) {
    for (auto [i, element] : llvm::enumerate(shape.elements))
      if (!value.isFixedMember(i))
        element = carriedShape(element);
  } else if (value.isRun())
    shape.value = Value();
  else if (value.isConstNumber())
    shape = Val::run(Value(), {defaultDtype(value), false, 0, {}});
  return shape;
}

Lowerer::Carried Lowerer::carry(const NameUse &use, SourceRange range) {
  Carried carried;
  for (StringRef name : assignedVars(use)) {
    Binding *binding = frame->scopes.find(name);
    if (binding->val.isPoison())
      continue;
    Val shape = carriedShape(binding->val);
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
    Val &val = frame->scopes.find(name)->val;
    Val value = fillPlaceholders(shape, values, next);
    value.origin = val.origin;
    if (!val.isPoison())
      val = value;
  }
}

/// The first part of a variable that no run-time value can hold and that has changed; null if none.
static const Val *changedPart(const Val &shape, const Val &value) {
  if (sameStructure(shape, value)) {
    for (auto [part, element] : llvm::zip(shape.elements, value.elements))
      if (const Val *changed = changedPart(part, element))
        return changed;
    return nullptr;
  }
  return shape.isRun() || sameValue(shape, value) ? nullptr : &value;
}

/// What the body leaves in the variables; any value for those an error has made unknown.
SmallVector<Value> Lowerer::carriedValues(LoopCode &code) {
  SmallVector<Value> result;
  for (auto [name, shape] : llvm::zip(code.carried.names, code.carried.shapes)) {
    Val &value = code.body.scopes.find(name)->val;
    SmallVector<Value> values;
    const Val *changed = value.isPoison() ? nullptr : changedPart(shape, value);
    if (changed)
      error<diag::TypeMismatch>(code.range, "`" + name.str() + "`, which a run-time loop changes,",
                                changed->isConstNumber() ? "the same where it is known at compile time"
                                                         : "a number or tile",
                                changed->describe());
    if (changed || value.isPoison() || !yieldLeaves(shape, value, values, code.range)) {
      value = Val::poison();
      values.clear();
      yieldLeaves(shape, Val::never(), values, code.range);
    }
    result.append(values);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Making the loop
//===----------------------------------------------------------------------===//

/// Behind the loop, whose results begin with the variables.
Exit Lowerer::afterLoop(LoopCode &code, ValueRange results) {
  for (StringRef name : code.carried.names)
    if (code.body.scopes.find(name)->val.isPoison())
      frame->scopes.find(name)->val = Val::poison();
  bindCarried(code.carried, results);
  return Flow::Next;
}

/// The body goes through to its end each time.
Exit Lowerer::finishFor(LoopCode &code) {
  Location at = loc(code.range);
  Value zero = constant(Val::ofInt(0), Dtype::I64, {}, code.range);
  Value one = constant(Val::ofInt(1), Dtype::I64, {}, code.range);
  auto loop = scf::ForOp::create(builder, at, zero, code.trips, one, code.carried.initial);
  for (NamedAttribute attr : code.attributes)
    loop->setAttr(attr.getName(), attr.getValue());
  loop.getRegion().takeBody(code.body.region);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, at, carriedValues(code));
  return afterLoop(code, loop.getResults());
}

/// The first block of the loop: another trip is made when the code is `live` (null: it always is)
/// and the test says so, which is not evaluated otherwise.
void Lowerer::emitTest(LoopCode &code, Block &block, Value live) {
  Location at = loc(code.range);
  Value more;
  if (code.trips) {
    more = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::slt, block.getArgument(0),
                                 code.trips);
  } else {
    more = whileCondition(code, block);
    Block &test = code.test.region.front();
    if (live && !isHarmless(test)) {
      BranchCode left;
      left.region.emplaceBlock();
      left.values.push_back(Val::ofBool(false));
      code.test.values.push_back(Val::run(more, {Dtype::I1, false, 0, {}}));
      more = joinBranches(live, code.test, left, {std::string("while")}, code.range)[0].value;
      live = Value();
    } else {
      block.getOperations().splice(block.end(), test.getOperations());
    }
  }
  builder.setInsertionPointToEnd(&block);
  if (live)
    more = arith::AndIOp::create(builder, at, live, more);
  scf::ConditionOp::create(builder, at, more, block.getArguments());
}

/// The condition of a `while`, whose code is made to use the arguments of `block`.
Value Lowerer::whileCondition(LoopCode &code, Block &block) {
  OpBuilder::InsertionGuard guard(builder);
  Block &test = code.test.region.front();
  builder.setInsertionPointToEnd(&test);
  Val truth = code.condition.value_or(Val::ofBool(false));
  Value condition = truth.isRun() ? truth.value : constant(truth, Dtype::I1, {}, code.range);
  if (auto argument = dyn_cast<BlockArgument>(condition); argument && argument.getOwner() == &test)
    condition = block.getArgument(argument.getArgNumber());
  for (auto [inner, outer] : llvm::zip(test.getArguments(), block.getArguments()))
    inner.replaceAllUsesWith(outer);
  test.eraseArguments(0, test.getNumArguments());
  return condition;
}

/// What scf.while carries beside the variables, in front of them and behind.
struct Lowerer::WhileShape {
  bool counts = false;  // a counter, in front
  size_t liveAt = 0;    // which argument says whether the loop is left
  bool leaves = false;  // there is such an argument
  bool twoWays = false; // it is the number of a way, else an i1
  Exit ways;            // of that number
  Val returned = Val::never();
};

Lowerer::WhileShape Lowerer::whileShape(LoopCode &code) {
  const Exit &exit = code.body.exit;
  WhileShape shape;
  shape.counts = bool(code.trips);
  shape.liveAt = shape.counts + code.carried.initial.size();
  shape.leaves = exit.leavesLoop();
  shape.twoWays = exit.may(Flow::Break) && exit.may(Flow::Return);
  shape.ways = exit.withWaysOf(Flow::Next);
  std::vector<RunType> types;
  if (exit.may(Flow::Return))
    shape.returned = escaping(code.body.returned, code.body.region, types);
  if (!checkView(shape.returned, code.range, "return"))
    shape.returned = Val::poison();
  return shape;
}

SmallVector<Value> Lowerer::whileInits(LoopCode &code, const WhileShape &shape) {
  SmallVector<Value> inits;
  if (shape.counts)
    inits.push_back(constant(Val::ofInt(0), Dtype::I64, {}, code.range));
  inits.append(code.carried.initial);
  if (shape.twoWays)
    inits.push_back(Exit().valueIn(shape.ways, builder, loc(code.range)));
  else if (shape.leaves)
    inits.push_back(constant(Val::ofBool(true), Dtype::I1, {}, code.range));
  yieldLeaves(shape.returned, Val::never(), inits, code.range);
  return inits;
}

/// Gives the body, a block of the loop by now, its end.
void Lowerer::endWhile(LoopCode &code, const WhileShape &shape, Block &body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&body);
  Location at = loc(code.range);
  const Exit &exit = code.body.exit;
  SmallVector<Value> yields;
  if (shape.counts)
    yields.push_back(arith::AddIOp::create(builder, at, body.getArgument(0),
                                           constant(Val::ofInt(1), Dtype::I64, {}, code.range)));
  yields.append(carriedValues(code));
  if (shape.leaves)
    yields.push_back(shape.twoWays ? exit.valueIn(shape.ways, builder, at)
                                   : exit.isBefore(Flow::Break, builder, at));
  yieldLeaves(shape.returned, code.body.returned, yields, code.range);
  scf::YieldOp::create(builder, at, yields);
}

Exit Lowerer::finishWhile(LoopCode &code) {
  Location at = loc(code.range);
  WhileShape shape = whileShape(code);
  SmallVector<Value> inits = whileInits(code, shape);
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> places(types.size(), at);
  auto loop = scf::WhileOp::create(builder, at, types, inits);
  for (NamedAttribute attr : code.attributes)
    loop->setAttr(attr.getName(), attr.getValue());
  auto isBefore = [&](Flow bound, Value live) {
    return shape.twoWays ? shape.ways.withValue(live).isBefore(bound, builder, at) : live;
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *test = builder.createBlock(&loop.getBefore(), {}, types, places);
    Value live = shape.leaves ? isBefore(Flow::Break, test->getArgument(shape.liveAt)) : Value();
    emitTest(code, *test, live);
  }
  loop.getAfter().takeBody(code.body.region);
  Block *body = loop.getAfterBody();
  for (Type type : ArrayRef(types).drop_front(body->getNumArguments()))
    body->addArgument(type, at);
  endWhile(code, shape, *body);

  Exit exit = afterLoop(code, loop.getResults().drop_front(shape.counts));
  if (!code.body.exit.may(Flow::Return))
    return exit;
  size_t next = shape.liveAt + 1;
  frame->returned = fillPlaceholders(shape.returned, loop.getResults(), next);
  if (code.condition && code.condition->isBool() && !code.body.exit.may(Flow::Break))
    return Flow::Return; // `while true`
  return Exit::ofTest(Flow::Next, Flow::Return,
                      isBefore(Flow::Return, loop.getResult(shape.liveAt)));
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

Exit Lowerer::execRunFor(const ast::For *stmt, const ast::Call *call) {
  std::optional<Range> range = evalRange(call);
  LoopCode code;
  code.range = stmt->range;
  code.attributes = loopAttributes(stmt->attributes, /*counted=*/true);
  if (!enterRegion(stmt->range))
    return Flow::Next;
  NameUse use;
  collectNames(stmt->body, use);
  code.carried = carry(use, stmt->range);
  code.trips = range ? tripCount(*range, call->range) : Value();
  if (!code.trips) // for the other errors in the body
    code.trips = constant(Val::ofInt(0), Dtype::I64, {}, call->range);

  elaborateBranch(code.body, [&] {
    Block *body = builder.getInsertionBlock();
    Value counter = body->addArgument(builder.getI64Type(), loc(stmt->pattern.range));
    for (Value value : code.carried.initial)
      body->addArgument(value.getType(), loc(stmt->range));
    bindCarried(code.carried, body->getArguments().drop_front());
    frame->scopes.push();
    llvm::SaveAndRestore loops(frame->loops, frame->loops + 1);
    llvm::SaveAndRestore tail(frame->tail, Tail::LoopEnd);
    Val variable = range ? loopVariable(*range, counter, stmt->pattern.range) : Val::poison();
    variable.origin = stmt->iterable->range;
    bindName(stmt->pattern.names.front(), variable, /*isVar=*/false);
    Exit exit = execBlock(stmt->body);
    frame->scopes.pop();
    return exit;
  });
  return code.body.exit.leavesLoop() ? finishWhile(code) : finishFor(code);
}

Exit Lowerer::execFor(const ast::For *stmt) {
  auto *call = dyn_cast<ast::Call>(stmt->iterable);
  auto *name = call ? dyn_cast<ast::Name>(call->callee) : nullptr;
  bool isStatic = name && name->text == "static_range";
  if (!isStatic && !(name && name->text == "range"))
    return execListFor(stmt);
  if (stmt->pattern.isTuple) {
    error<diag::PatternCount>(stmt->pattern.range, stmt->pattern.names.size(), "one number");
    return Flow::Next;
  }
  return isStatic || runsNow(call) ? execStaticFor(stmt, call) : execRunFor(stmt, call);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

Exit Lowerer::execWhile(const ast::While *stmt) {
  if (runsNow(stmt))
    return execStaticWhile(stmt);
  LoopCode code;
  code.range = stmt->range;
  code.attributes = loopAttributes(stmt->attributes, /*counted=*/false);
  if (!enterRegion(stmt->range))
    return Flow::Next;
  NameUse use;
  collectNames(stmt->body, use);
  code.carried = carry(use, stmt->range);
  auto addArguments = [&] {
    Block *block = builder.getInsertionBlock();
    for (Value value : code.carried.initial)
      block->addArgument(value.getType(), loc(stmt->range));
    bindCarried(code.carried, block->getArguments());
  };
  elaborateBranch(code.test, [&] {
    addArguments();
    code.condition = evalCondition(stmt->condition, "the condition of `while`");
    return Exit();
  });
  bool isKnown = code.condition && code.condition->isBool();
  if (isKnown && !code.condition->boolean) {
    leaveOut(use);
    return Flow::Next;
  }
  elaborateBranch(code.body, [&] {
    addArguments();
    llvm::SaveAndRestore loops(frame->loops, frame->loops + 1);
    llvm::SaveAndRestore tail(frame->tail, Tail::LoopEnd);
    return execBlock(stmt->body);
  });
  if (isKnown && !outOfFuel && !frame->hidesExit && !code.body.exit.leavesLoop())
    error<diag::LoopNeverEnds>(stmt->condition->range)
        .help("leave it by `break` or `return` under a condition");
  return finishWhile(code);
}
