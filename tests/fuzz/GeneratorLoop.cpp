//===- GeneratorLoop.cpp - loops of every kind -----------------------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// No attribute changes what a loop computes.
void Writer::loopAttributes(bool isFor) {
  if (!choices.chance(25))
    return;
  line(isFor ? choices.pick<std::string>({"@unroll(2)", "@pipeline(stages=2)", "@no_licm", "@warp_specialize"})
             : choices.pick<std::string>({"@unroll(3)", "@no_licm", "@warp_specialize"}));
}

void Writer::loopBody(unsigned count, unsigned depth, bool isRunTime) {
  ++loops;
  block(count, depth + 1);
  --loops;
}

/// At most some eight trips; bounds and steps known at compile time or not.
void Writer::forLoop(unsigned depth) {
  std::string name = fresh("j");
  std::string low = std::to_string(int(choices.below(5)) - 2);
  std::string number = std::to_string(choices.below(6));
  std::string high = !function && choices.chance(30) ? "(pid + " + number + ")" : number;
  bool down = choices.chance(25);
  std::string step = choices.pick<std::string>({"1", "2", "3", "(2 + n % 2)"});
  if (step.size() > 1 && (function || program.scalars.empty() || program.scalars[0].name != "n"))
    step = "1";
  loopAttributes(/*isFor=*/true);
  line("for " + name + " in range(" + (down ? high : low) + ", " + (down ? low : high) + ", " +
       (down ? "-" : "") + step + ") {");
  size_t size = scope.size();
  scope.push_back({name, {DType::i64, {}}, false, 16});
  loopBody(1 + choices.below(3), depth, /*isRunTime=*/true);
  scope.resize(size);
  line("}");
}

void Writer::staticLoop(unsigned depth) {
  std::string name = fresh("c");
  line("for " + name + " in static_range(" + std::to_string(1 + choices.below(3)) + ") {");
  loopBody(1 + choices.below(2), depth, /*isRunTime=*/false);
  line("}");
}

/// Over two values of one type.
void Writer::listLoop(unsigned depth) {
  Type type{anyDtype(), choices.chance(50) ? Shape() : anyShape(2)};
  Expr a = expr(type, 2), b = expr(type, 1);
  std::string name = fresh("e");
  line("for " + name + " in [" + a.text + ", " + b.text + "] {");
  size_t size = scope.size();
  scope.push_back({name, type, false, std::max(a.bound, b.bound)});
  loopBody(1 + choices.below(2), depth, /*isRunTime=*/false);
  scope.resize(size);
  line("}");
}

/// A counter that the body cannot touch bounds the trips.
void Writer::whileLoop(unsigned depth) {
  std::string name = fresh("w");
  line("var " + name + " = " + (function ? "0.to(i64)" : "pid % 3"));
  std::string more = choices.chance(40) ? " && " + condition({}, 1).text : "";
  loopAttributes(/*isFor=*/false);
  line("while " + name + " < " + std::to_string(1 + choices.below(5)) + more + " {");
  ++indent;
  line(name + " += 1");
  --indent;
  loopBody(1 + choices.below(2), depth, /*isRunTime=*/true);
  line("}");
}
