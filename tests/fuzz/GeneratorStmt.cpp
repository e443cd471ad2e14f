//===- GeneratorStmt.cpp - statements: names, branches, loops, stores ---------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// What a float variable may hold, so that a loop cannot push it out of the exact range.
static constexpr double kVarBound = 64;

void Writer::statements(unsigned count, unsigned depth) {
  for (unsigned i = 0; i < count && budget > 0; ++i)
    statement(depth);
}

/// Names that are declared inside are gone after it.
void Writer::block(unsigned count, unsigned depth) {
  size_t size = scope.size();
  ++indent;
  statements(count, depth);
  --indent;
  scope.resize(size);
}

void Writer::statement(unsigned depth) {
  unsigned kind = choices.below(policy == Policy::Loops ? 16 : 12);
  bool deep = depth >= 3;
  if (kind == 4 && !deep)
    return ifStatement(depth);
  if ((kind == 5 || kind >= 12) && !deep)
    return forLoop(depth);
  if (kind == 6 && !deep)
    return staticLoop(depth);
  if (kind == 7 && !deep)
    return whileLoop(depth);
  if (kind == 8)
    return leaveLoop();
  if (kind == 9)
    return writeOutput();
  if (kind == 10)
    return atomicUpdate();
  if (kind == 3 || kind == 11)
    return assign();
  declare();
}

void Writer::declare() {
  Type type{anyDtype(), choices.chance(25) ? Shape() : anyShape()};
  bool isVar = choices.chance(40);
  Expr value = expr(type, 3);
  std::string name = fresh("v");
  double bound = value.bound;
  if (isVar && settings.exact && isFloatType(type.dtype)) {
    bound = kVarBound;
    value.text = "clamp(" + value.text + ", -64.0, 64.0)";
  }
  // A variable starts from something known at run time: its type is then the one wanted.
  line((isVar ? "var " : "let ") + name + " = " + value.text);
  scope.push_back({name, type, isVar, bound});
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
  Expr value = expr(var.type, 3);
  if (settings.exact && isFloatType(var.type.dtype))
    value.text = "clamp(" + value.text + ", -64.0, 64.0)";
  line(var.name + " = " + value.text);
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

/// At most some eight trips; bounds and steps known at compile time or not.
void Writer::forLoop(unsigned depth) {
  std::string name = fresh("j"); // i8 would hide a type
  std::string low = std::to_string(int(choices.below(5)) - 2);
  std::string high = choices.chance(30) ? "(pid + " + std::to_string(choices.below(4)) + ")"
                                        : std::to_string(choices.below(6));
  bool down = choices.chance(25);
  std::string step = choices.pick({"1", "2", "3"});
  line("for " + name + " in range(" + (down ? high : low) + ", " + (down ? low : high) + ", " +
       (down ? "-" : "") + step + ") {");
  size_t size = scope.size();
  scope.push_back({name, {DType::i64, {}}, false, 16});
  ++loops, ++runtimeLoops;
  block(1 + choices.below(3), depth + 1);
  --loops, --runtimeLoops;
  scope.resize(size);
  line("}");
}

void Writer::staticLoop(unsigned depth) {
  std::string name = fresh("c");
  line("for " + name + " in static_range(" + std::to_string(1 + choices.below(3)) + ") {");
  ++loops;
  block(1 + choices.below(2), depth + 1);
  --loops;
  line("}");
}

/// A counter that the body cannot touch bounds the trips.
void Writer::whileLoop(unsigned depth) {
  std::string name = fresh("w");
  line("var " + name + " = pid % 3");
  std::string more = choices.chance(40) ? " && " + condition({}, 1).text : "";
  line("while " + name + " < " + std::to_string(1 + choices.below(5)) + more + " {");
  ++indent;
  line(name + " += 1");
  --indent;
  ++loops, ++runtimeLoops;
  block(1 + choices.below(2), depth + 1);
  --loops, --runtimeLoops;
  line("}");
}

void Writer::leaveLoop() {
  if (loops == 0 && !choices.chance(10))
    return declare();
  std::string word = loops == 0 ? "return" : choices.pick({"break", "continue", "break"});
  line("if " + condition({}, 1).text + " { " + word + " }");
}

/// A tile into this instance's row; a part of it may lie outside, where nothing is written.
void Writer::writeOutput() {
  std::vector<const TensorArg *> outputs;
  for (const TensorArg &arg : program.tensors)
    if (arg.access == TensorArg::Access::Out)
      outputs.push_back(&arg);
  const TensorArg arg = *choices.pick(outputs);
  Type type{arg.dtype, {}};
  std::string place = arg.name + "[pid";
  for (size_t axis = 1; axis < arg.extents.size(); ++axis) {
    int64_t extent = arg.extents[axis];
    int64_t side = choices.chance(50) ? extent : 1 + int64_t(choices.below(uint32_t(extent + 3)));
    int64_t start = choices.chance(30) ? int64_t(choices.below(uint32_t(extent))) - 1 : 0;
    place += ", " + std::to_string(start) + " +: " + std::to_string(side);
    type.shape.push_back(side);
  }
  if (elementsOf(type.shape) > 4 * settings.maxTileElements)
    return;
  line(place + "] = " + expr(type, 3).text);
}

/// One kind a tensor, so that the order of instances does not show.
void Writer::atomicUpdate() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.access != TensorArg::Access::Shared)
      continue;
    static const char *const kinds[] = {"add", "max", "min", "and", "or", "xor"};
    const char *kind = kinds[size_t(program.dataSeed % 6)];
    Type type{arg.dtype, {arg.extents[0]}};
    line(std::string("atomic_") + kind + "(" + arg.name + "[0 +: " +
         std::to_string(arg.extents[0]) + "], " + expr(type, 2).text + ", sem=\"relaxed\")");
    return;
  }
  declare();
}
