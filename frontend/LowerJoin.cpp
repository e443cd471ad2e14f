//===- LowerJoin.cpp - joining two branches -----------------------------------===//
//
// A branch is elaborated into a region that has no parent yet, from a snapshot of what the names
// stand for. What the two branches disagree about becomes the results of the scf.if: variables,
// how the branch is left, the value that is returned. Where a branch never comes to what follows,
// its side of a result is a zero that nothing reads; no code is elaborated twice.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tk;

/// Elaborates a branch into a region of its own; the names mean what they meant before, after it.
void Lowerer::elaborateBranch(BranchCode &code, llvm::function_ref<Exit()> body) {
  code.scopes = frame->scopes;
  code.returned = frame->returned;
  code.region.emplaceBlock();
  resumeBranch(code, body);
}

/// Goes on at the end of a branch.
void Lowerer::resumeBranch(BranchCode &code, llvm::function_ref<Exit()> body) {
  OpBuilder::InsertionGuard guard(builder);
  auto swap = [&] {
    std::swap(frame->scopes, code.scopes);
    std::swap(frame->returned, code.returned);
  };
  swap();
  ++regionDepth;
  builder.setInsertionPointToEnd(&code.region.front());
  code.exit = body();
  --regionDepth;
  swap();
}

//===----------------------------------------------------------------------===//
// Merging values
//===----------------------------------------------------------------------===//

static bool isPlaceholder(const Val &val) {
  return val.isRun() && !val.value;
}

/// The region may have no parent yet, nor those around it.
static bool isMadeIn(Value value, Region &region) {
  for (Region *place = value.getParentRegion(); place;) {
    if (place == &region)
      return true;
    Operation *parent = place->getParentOp();
    place = parent ? parent->getParentRegion() : nullptr;
  }
  return false;
}

Val Lowerer::escaping(const Val &value, Region &region, std::vector<RunType> &types) {
  Val result = value;
  if (value.isAggregate()) {
    for (Val &element : result.elements)
      element = escaping(element, region, types);
  } else if (value.kind == Val::Kind::Tensor) {
    result.leftBranch |= value.tensor->depth > regionDepth;
  } else if (value.isRun() && isMadeIn(value.value, region)) {
    types.push_back(value.type);
    result.value = Value();
  }
  return result;
}

/// Two tensors, or one and something else: which of them it is would be known at run time.
Val Lowerer::mergeTensors(const Val &a, const Val &b, SourceRange range, StringRef what) {
  for (const Val *value : {&a, &b}) {
    if (value->kind != Val::Kind::Tensor || value->tensor->depth <= regionDepth)
      continue;
    Val view = *value;
    view.leftBranch = true; // reported where it is used
    return view;
  }
  error<diag::TypeMismatch>(range, "`" + what.str() + "` in both branches", "one tensor",
                            a.describe() + " and " + b.describe())
      .note(a.origin, "one value comes from here")
      .note(b.origin, "the other value comes from here")
      .help("keep the bounds in variables, and make a view behind the branch");
  return Val::poison();
}

/// Says, of a view that is used, that it was made in a branch that is over.
bool Lowerer::checkView(const Val &value, SourceRange range, StringRef name) {
  if (value.isAggregate())
    return llvm::all_of(value.elements,
                        [&](const Val &part) { return checkView(part, range, name); });
  if (!value.leftBranch)
    return true;
  error<diag::ViewLeavesBranch>(range, name)
      .note(value.tensor->made, "the view is made here")
      .help("keep its bounds in variables, and make the view behind the branch");
  return false;
}

Val Lowerer::mergeNumbers(const Val &a, const Val &b, SourceRange range, StringRef what,
                          std::vector<RunType> &types) {
  std::optional<RunType> type;
  if (a.isPointer() && b.isPointer() && a.type == b.type)
    type = a.type;
  else if (a.isNumeric() && b.isNumeric())
    type = commonType(a, b, range, what);
  else if (a.isPointer() && b.isPointer() && a.type.param != b.type.param)
    error<diag::PointersMeet>(range, what, paramOf(a)->decl->name.text, paramOf(b)->decl->name.text)
        .note(a.origin, "one pointer comes from here")
        .note(b.origin, "the other pointer comes from here")
        .help("a pointer's type says which parameter it points into: keep the offset in a variable, "
              "or load and store in the branches");
  else
    error<diag::TypeMismatch>(range, "`" + what.str() + "` in both branches", "of one type",
                              a.describe() + " and " + b.describe())
        .note(a.origin, "one value comes from here")
        .note(b.origin, "the other value comes from here");
  if (!type)
    return Val::poison();
  types.push_back(*type);
  return Val::run(Value(), *type);
}

/// What a value is after two branches: parts on which they agree stay, the others become
/// placeholders, whose types are appended.
Val Lowerer::merge(const Val &a, const Val &b, SourceRange range, StringRef what,
                   std::vector<RunType> &types) {
  if (a.isPoison() || b.isPoison())
    return Val::poison();
  if (sameValue(a, b))
    return a;
  if (what == "return" && a.isUnit() != b.isUnit()) {
    StringRef name = frame->function ? frame->function->name.text : kernel.decl->name.text;
    error<diag::MissingReturn>(range, name).note(frame->returnRange, "the last `return` is here");
    return Val::poison();
  }
  if (a.kind == Val::Kind::Tensor || b.kind == Val::Kind::Tensor)
    return mergeTensors(a, b, range, what);
  if (!sameStructure(a, b))
    return mergeNumbers(a, b, range, what, types);
  Val result = a;
  size_t numTypes = types.size();
  for (auto [i, element] : llvm::enumerate(result.elements)) {
    const Val &left = a.elements[i], &right = b.elements[i];
    std::string part = a.memberName(what, i);
    if (a.isFixedMember(i) && !sameValue(left, right)) {
      error<diag::TypeMismatch>(range, "`" + part + "` in both branches", "one compile-time value",
                                left.str() + " and " + right.str());
      element = Val::poison();
    } else
      element = merge(left, right, range, part, types);
    if (!element.isPoison())
      continue;
    types.resize(numTypes);
    return Val::poison();
  }
  return result;
}

/// A pointer of the type, to nothing that may be read.
Value Lowerer::unreadPointer(const RunType &type, SourceRange range) {
  const TensorParam *param = paramOf(Val::run(Value(), type));
  if (!param->pointer)
    return BaseOp::create(builder, loc(range), mlirType(type), param->value);
  if (param->value.getType() == mlirType(type))
    return param->value;
  // It is one of a table's; a load that reads no memory gives the address zero.
  RunType table = type;
  ++table.indirections;
  Value from = unreadPointer(table, range);
  return LoadOp::create(builder, loc(range), mlirType(type), from,
                        constant(Val::ofBool(false), Dtype::I1, {}, range), Value(), CacheHintAttr(),
                        EvictHintAttr(), UnitAttr());
}

/// What stands for a value on a path that never reads it.
Value Lowerer::unreadValue(const RunType &type, SourceRange range) {
  if (!type.pointer)
    return constant(Val::ofInt(0), type.dtype, type.shape, range);
  RunType scalar = type;
  scalar.shape.clear();
  return broadcastTo(unreadPointer(scalar, range), {}, type.shape, range);
}

/// Appends to `yields` what a branch gives for the placeholders; false after an error.
bool Lowerer::yieldLeaves(const Val &merged, const Val &value, SmallVectorImpl<Value> &yields,
                          SourceRange range) {
  if (merged.isAggregate()) {
    for (auto [i, part] : llvm::enumerate(merged.elements))
      if (!yieldLeaves(part, value.isNever() ? value : value.elements[i], yields, range))
        return false;
    return true;
  }
  if (!isPlaceholder(merged))
    return true;
  yields.push_back(value.isNever() ? unreadValue(merged.type, range)
                                   : coerce(value, merged.type, range, "the branch"));
  return bool(yields.back());
}

Val Lowerer::fillPlaceholders(const Val &merged, ValueRange values, size_t &next) {
  Val result = merged;
  if (merged.isAggregate())
    for (Val &element : result.elements)
      element = fillPlaceholders(element, values, next);
  else if (isPlaceholder(merged))
    result.value = values[next++];
  return result;
}

//===----------------------------------------------------------------------===//
// Joining branches
//===----------------------------------------------------------------------===//

/// Makes the scf.if of two elaborated branches and gives their merged values, which stand pairwise
/// in the two lists.
std::vector<Val> Lowerer::joinBranches(Value condition, BranchCode &thenCode, BranchCode &elseCode,
                                       ArrayRef<std::string> names, SourceRange range) {
  std::vector<Val> merged;
  std::vector<RunType> types;
  for (size_t i = 0; i < names.size(); ++i) {
    const Val &a = thenCode.values[i], &b = elseCode.values[i];
    merged.push_back(a.isNever()   ? escaping(b, elseCode.region, types)
                     : b.isNever() ? escaping(a, thenCode.region, types)
                                   : merge(a, b, range, names[i], types));
    // A name is looked at where it is used; what has none is used here.
    bool isName = names[i] != "return" && names[i] != "if";
    if (!isName && !checkView(merged.back(), range, names[i]))
      merged.back() = Val::poison();
  }
  for (BranchCode *code : {&thenCode, &elseCode}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&code->region.front());
    SmallVector<Value> yields;
    for (size_t i = 0; i < names.size(); ++i)
      if (!yieldLeaves(merged[i], code->values[i], yields, range))
        return std::vector<Val>(names.size(), Val::poison());
    scf::YieldOp::create(builder, loc(range), yields);
  }
  auto isEmpty = [](BranchCode &code) { return llvm::hasSingleElement(code.region.front()); };
  if (types.empty() && isEmpty(thenCode) && isEmpty(elseCode))
    return merged;
  SmallVector<Type> results;
  for (const RunType &type : types)
    results.push_back(mlirType(type));
  auto op = scf::IfOp::create(builder, loc(range), results, condition, /*addThenBlock=*/false,
                              /*addElseBlock=*/false);
  op.getThenRegion().takeBody(thenCode.region);
  // An empty `else` is left out: its block has nothing but the yield.
  if (!results.empty() || !isEmpty(elseCode))
    op.getElseRegion().takeBody(elseCode.region);
  size_t next = 0;
  for (Val &value : merged)
    value = fillPlaceholders(value, op.getResults(), next);
  return merged;
}

/// Joins the branches of a statement: the variables they assign, the way out and what is returned.
Exit Lowerer::joinIf(Value condition, BranchCode &thenCode, BranchCode &elseCode,
                     ArrayRef<StringRef> vars, SourceRange range) {
  std::vector<std::string> names;
  for (StringRef name : vars)
    names.push_back(name.str());
  names.push_back("return");
  for (BranchCode *code : {&thenCode, &elseCode})
    if (frame->tail == Tail::LoopEnd && !code->exit.leavesLoop())
      code->exit = Flow::Next;
  Exit exit = thenCode.exit.withWaysOf(elseCode.exit);
  bool isCondition = thenCode.exit.isKnown() && elseCode.exit.isKnown();
  bool isRead = frame->tail != Tail::FunctionEnd;
  if (!exit.isKnown() && !isCondition && isRead)
    names.push_back("exit");
  for (BranchCode *code : {&thenCode, &elseCode}) {
    // Behind a `return`, nothing reads the variables of the function.
    for (StringRef name : vars)
      code->values.push_back(code->exit.always(Flow::Return) ? Val::never()
                                                             : code->scopes.find(name)->val);
    code->values.push_back(code->exit.may(Flow::Return) ? code->returned : Val::never());
    if (names.size() == vars.size() + 1)
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&code->region.front());
    Value way = code->exit.valueIn(exit, builder, loc(range));
    Dtype dtype = way.getType().isInteger(1) ? Dtype::I1 : Dtype::I32;
    code->values.push_back(Val::run(way, {dtype, false, 0, {}}));
  }
  std::vector<Val> merged = joinBranches(condition, thenCode, elseCode, names, range);
  for (auto [name, value] : llvm::zip(vars, merged))
    if (!value.isNever())
      frame->scopes.find(name)->val = value;
  frame->returned = merged[vars.size()];
  if (isCondition)
    return Exit::either(condition, thenCode.exit, elseCode.exit);
  if (!isRead)
    return exit;
  if (merged.back().isPoison()) // a merge has failed
    return exit.may(Flow::Next) ? Flow::Next : Flow::Return;
  return exit.withValue(merged.back().value);
}
