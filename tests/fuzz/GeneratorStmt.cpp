//===- GeneratorStmt.cpp - statements: names, branches, parts, claims ------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

void Writer::statements(unsigned count, unsigned depth) {
  for (unsigned i = 0; i < count && budget > 0; ++i)
    statement(depth);
}

/// Names that are declared inside are gone after it.
void Writer::block(unsigned count, unsigned depth) {
  size_t vars = scope.size(), read = sources.size(), called = callables.size(), held = structs.size();
  ++indent;
  statements(count, depth);
  --indent;
  scope.resize(vars);
  sources.resize(read);
  callables.resize(called);
  structs.resize(held);
}

void Writer::statement(unsigned depth) {
  using Maker = void (Writer::*)();
  using DeepMaker = void (Writer::*)(unsigned);
  static const DeepMaker deep[] = {&Writer::ifStatement, &Writer::forLoop, &Writer::staticLoop,
                                   &Writer::whileLoop, &Writer::listLoop};
  static const Maker plain[] = {&Writer::assign,       &Writer::assign,        &Writer::declareTuple,
                                &Writer::assignPart,   &Writer::declareClosure, &Writer::declareStruct,
                                &Writer::changeStruct, &Writer::leave};
  static const Maker memory[] = {&Writer::writeOutput, &Writer::atomicUpdate, &Writer::ownAtomic,
                                 &Writer::storePointer, &Writer::scatter,     &Writer::declareView,
                                 &Writer::useOptional, &Writer::useScratch,   &Writer::claim,
                                 &Writer::declareFunction, &Writer::lookBack};
  unsigned kind = choices.below(policy == Policy::Loops ? 14 : 10);
  if ((kind == 3 || kind == 4 || kind >= 10) && depth < 3)
    return (this->*deep[choices.below(5)])(depth);
  if (kind == 5 || kind == 6)
    return (this->*plain[choices.below(8)])();
  if (kind >= 7 && kind < 10 && !function) {
    if (unsigned which = choices.below(11); which != 10 || depth == 0)
      return (this->*memory[which])();
  }
  declare();
}

void Writer::declare() {
  Type type{anyDtype(), choices.chance(25) ? Shape() : anyShape()};
  bool isVar = choices.chance(40);
  Expr value = expr(type, 3);
  std::string name = fresh("v");
  double bound = isVar && keepsExact(type.dtype) ? kVarBound : value.bound;
  line((isVar ? "var " : "let ") + name + " = " + (isVar ? bounded(value, type.dtype) : value.text));
  scope.push_back({name, type, isVar, bound});
}

/// Several names at once, or one for several values.
void Writer::declareTuple() {
  unsigned kind = choices.below(5);
  Type type{anyDtype(), anyShape(2)};
  std::string first = fresh("a"), second = fresh("b"), tuple = "let (" + first + ", " + second + ") = ";
  auto both = [&](const Type &left, double bound, const Type &right, double other) {
    scope.push_back({first, left, false, bound});
    scope.push_back({second, right, false, other});
  };
  if (kind == 1 && isIntType(type.dtype)) {
    line(tuple + "divmod(" + expr(type, 2).text + ", " + expr(type, 1).text + ")");
    return both(type, 0, type, 0);
  }
  if (kind == 2) {
    Expr value = expr(type, 2);
    line(tuple + "sort(" + value.text + ", axis=0)");
    return both(type, value.bound, {DType::i32, type.shape}, 0);
  }
  if (kind == 3) {
    Shape pairs = type.shape;
    pairs.push_back(2);
    Expr value = expr({type.dtype, pairs}, 2);
    line(tuple + "split(" + value.text + ")");
    return both(type, value.bound, type, value.bound);
  }
  Expr a = expr(type, 2), b = expr({DType::i32, {}}, 1);
  if (kind == 4) { // a variable, whose members are variables
    std::string name = fresh("t");
    line("var " + name + " = (" + bounded(a, type.dtype) + ", " + b.text + ")");
    scope.push_back({name + ".0", type, true, keepsExact(type.dtype) ? kVarBound : a.bound});
    scope.push_back({name + ".1", {DType::i32, {}}, true, 0});
    return line(name + ".0 = " + bounded(expr(type, 1), type.dtype));
  }
  line(tuple + "(" + a.text + ", " + b.text + ")");
  both(type, a.bound, {DType::i32, {}}, 0);
}

const Var *Writer::findVar(const Type &type, bool assignable) {
  std::vector<const Var *> found;
  for (const Var &var : scope)
    if (var.type == type && (var.isVar || !assignable))
      found.push_back(&var);
  return found.empty() ? nullptr : choices.pick(found);
}

void Writer::assign() {
  std::vector<const Var *> vars;
  for (const Var &var : scope)
    if (var.isVar)
      vars.push_back(&var);
  if (vars.empty())
    return declare();
  const Var var = *choices.pick(vars);
  line(var.name + " = " + bounded(expr(var.type, 3), var.type.dtype));
}

/// A layer, every second element, or the element at an index known at run time.
void Writer::assignPart() {
  std::vector<const Var *> vars;
  for (const Var &var : scope)
    if (var.isVar && !var.type.shape.empty() && var.name.find('.') == std::string::npos)
      vars.push_back(&var);
  if (vars.empty())
    return assign();
  const Var var = *choices.pick(vars);
  Type part = var.type;
  std::string at;
  unsigned kind = choices.below(3);
  int64_t side = part.shape[0];
  if (kind == 0) {
    at = "::2";
    part.shape[0] = (side + 1) / 2;
  } else {
    at = kind == 1 ? std::to_string(choices.below(uint32_t(side))) : index(side);
    part.shape.erase(part.shape.begin());
  }
  for (size_t i = 1; i < var.type.shape.size(); ++i)
    at += ", :";
  line(var.name + "[" + at + "] = " + bounded(expr(part, 2), part.dtype));
}

void Writer::ifStatement(unsigned depth) {
  line("if " + condition({}, 2).text + " {");
  block(1 + choices.below(2), depth + 1);
  if (choices.chance(50)) {
    line("} else {");
    block(1 + choices.below(2), depth + 1);
  }
  line("}");
}

/// Out of a loop, a function or the kernel.
void Writer::leave() {
  std::string word = loops == 0 ? "return" : choices.pick<std::string>({"break", "continue", "return"});
  if (word == "return" && !function && !choices.chance(25))
    return declare();
  std::string flag = condition({}, 1).text;
  if (word == "return" && function)
    word += " " + bounded(expr(*function, 1), function->dtype);
  mayHaveLeft |= word == "return";
  line("if " + flag + " { " + word + " }");
}

/// What changes nothing: claims that hold, prints, hints about the launch, clocks.
void Writer::claim() {
  Type type{anyInt(), anyShape(1)};
  std::string tile = expr(type, 1).text;
  switch (choices.below(9)) {
  case 0:
    return line("static_assert(1 < 2, \"order\")");
  case 1:
    return line("assert((" + tile + " & 1) <= 1, \"a bit\")");
  case 2:
    return line("assert((" + tile + " & 3) < 2, \"a low number\", mask=(" + tile + " & 3) < 2)");
  case 3:
    return line("assume(pid >= 0)");
  case 4:
    return line("print(\"values \", " + tile + ", pid" + choices.pick<std::string>({"", ", hex=true"}) + ")");
  case 5:
    return line("barrier()");
  case 6:
    return line("assert(" + choices.pick<std::string>({"clock()", "globaltimer()", "smid()", "num_warps()"}) +
                " >= 0, \"a count\")");
  case 7:
    return line(choices.pick<std::string>({"grid_wait()", "grid_launch_dependents()"}));
  default:
    if (sources.empty() || sources[0].isPointer || isStorageType(sources[0].dtype))
      return line("barrier()");
    Type read{sources[0].dtype, {choices.pick({4, 16})}};
    std::string place = placeText(sources[0], read);
    return line("prefetch(" + place + choices.pick<std::string>({"", ", evict=\"last\""}) + ")");
  }
}
