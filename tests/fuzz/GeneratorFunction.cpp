//===- GeneratorFunction.cpp - functions, closures, structures, modules ---------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

namespace {
struct Helper {
  const char *name, *text;
};
} // namespace

/// What programs call, written before the kernel when they do. None gives more than its larger argument.
static constexpr Helper kHelpers[] = {
    {"larger", "fn larger(a, b) { return where(a > b, a, b) }\n"},
    {"mix", "fn mix(a, b) {\n    let early = a < b\n    if early { return a }\n    return b\n}\n"},
    {"halve", "fn halve(a, b) {\n    var (n, v) = (3, a)\n    while n > 0 {\n        if v < b { break }\n"
              "        v = minimum(v, b)\n        n -= 1\n    }\n    return v\n}\n"},
    {"best", "fn best(a, b) { return where(a.0 >= b.0, a, b) }\n"},
    {"twice", "fn twice(f, x) { return f(f(x)) }\n"},
    {"chain", "fn chain(x, y, const n: int) {\n    if n == 0 { return x }\n    return maximum(chain(x, y, n - 1), y)\n}\n"},
    {"choose", "fn choose[N: int = 2](x, y, const which: int = 0) {\n    if which % N == 0 { return x }\n    return y\n}\n"},
    {"batched", "fn batched(a, b) { return a @ b }\n"},
    {"row_part", "fn row_part(x: T[M, N], row, const W: int) -> tile[T, W] { return x[row, 0 +: W] }\n"},
    {"Span", "struct Span[T: dtype, N: int] {\n    low: tile[T, N]\n    high: tile[T, N]\n"
             "    fn add(self, x) { return Span(minimum(self.low, x), maximum(self.high, x)) }\n"
             "    fn wide(self) { return where(self.low == self.high, self.low, self.high) }\n}\n"},
};

std::string Writer::helper(const char *name) {
  helpers[name] = true;
  return name;
}

std::string Writer::helperTexts() const {
  std::string text;
  for (const Helper &helper : kHelpers)
    if (helpers.count(helper.name))
      text += helper.text;
  return text;
}

/// A function of one value with statements of its own, which sees nothing else.
void Writer::declareFunction() {
  Type type{anyDtype(), choices.chance(30) ? Shape() : anyShape(2)};
  std::string name = fresh("g"), parameter = fresh("v");
  std::string text = std::move(program.text);
  std::vector<Var> outer = std::move(scope), held = std::move(structs);
  std::vector<Callable> called = std::move(callables);
  int margin = indent;
  unsigned outerLoops = loops;
  bool leaves = mayHaveLeft;
  program.text.clear(), structs.clear(), callables.clear();
  scope = {{parameter, type, false, kVarBound}};
  indent = 1, loops = 0, function = &type;
  if (choices.chance(40))
    line("if " + condition({}, 2).text + " { return " + parameter + " }");
  statements(1 + choices.below(4), 1);
  line("return " + bounded(expr(type, 2), type.dtype));
  functions += "fn " + name + "(" + parameter + ") {\n" + program.text + "}\n";
  program.text = std::move(text);
  scope = std::move(outer), structs = std::move(held), callables = std::move(called);
  indent = margin, loops = outerLoops, mayHaveLeft = leaves, function = nullptr;
  callables.push_back({name, type, kVarBound});
  std::string result = fresh("v");
  line("let " + result + " = " + name + "(" + bounded(expr(type, 2), type.dtype) + ")");
  scope.push_back({result, type, false, kVarBound});
}

/// A closure sees the names around it.
void Writer::declareClosure() {
  Type type{anyDtype(), choices.chance(40) ? Shape() : anyShape(2)};
  size_t size = scope.size();
  std::string name = fresh("h");
  scope.push_back({"a", type, false, kVarBound});
  Expr body = expr(type, 2);
  scope.resize(size);
  line("let " + name + " = fn(a) { return " + bounded(body, type.dtype) + " }");
  callables.push_back({name, type, kVarBound});
  std::string result = fresh("v"), value = bounded(expr(type, 1), type.dtype);
  line("let " + result + " = " + (choices.chance(40) ? helper("twice") + "(" + name + ", " : name + "(") + value + ")");
  scope.push_back({result, type, false, kVarBound});
}

void Writer::declareStruct() {
  Type type{anyDtype(), anyShape(1)};
  std::string name = fresh("s"), low = bounded(expr(type, 2), type.dtype);
  line("var " + name + " = " + helper("Span") + "(" + low + ", " + bounded(expr(type, 2), type.dtype) + ")");
  structs.push_back({name, type, true, kVarBound});
  line(name + " = " + name + ".add(" + bounded(expr(type, 1), type.dtype) + ")");
  std::string wide = fresh("v");
  line("let " + wide + " = " + name + ".wide()");
  scope.push_back({wide, type, false, kVarBound});
}

void Writer::changeStruct() {
  if (structs.empty())
    return declareStruct();
  const Var held = choices.pick(structs);
  std::string value = bounded(expr(held.type, 2), held.type.dtype);
  line(choices.chance(50) ? held.name + " = " + held.name + ".add(" + value + ")"
                          : held.name + choices.pick<std::string>({".low = ", ".high = "}) + value);
}

/// A value from a call; nothing when there is nothing to call.
Expr Writer::call(const Type &type, unsigned depth) {
  auto value = [&] { return bounded(expr(type, depth - 1), type.dtype); };
  for (const Var &held : structs)
    if (held.type == type && choices.chance(50))
      return {held.name + choices.pick<std::string>({".wide()", ".low", ".high"}), kVarBound};
  switch (choices.below(6)) {
  case 0:
    return {helper("chain") + "(" + value() + ", " + value() + ", " + std::to_string(choices.below(4)) + ")", kVarBound};
  case 1:
    return {helper("choose") + choices.pick<std::string>({"", "[3]"}) + "(" + value() + ", " + value() +
                choices.pick<std::string>({"", ", which=1", ", 3"}) + ")",
            kVarBound};
  case 2: {
    if (!isFloatType(type.dtype))
      return {"", 0};
    imports = "import std.nn\n";
    return {"nn.relu(" + value() + ")", kVarBound};
  }
  case 3: { // of a tensor that is an argument
    std::vector<Source> fitting;
    for (const Source &source : sources)
      if (!function && source.dtype == type.dtype && source.extents.size() == 2 && !source.isPointer)
        fitting.push_back(source);
    if (fitting.empty() || type.shape.size() != 1)
      return {"", 0};
    const Source source = choices.pick(fitting);
    return {helper("row_part") + "(" + source.name + ", " + index(source.extents[0]) + ", W=" +
                std::to_string(type.shape[0]) + ")",
            8};
  }
  default: {
    std::vector<Callable> fitting;
    for (const Callable &callable : callables)
      if (callable.type == type)
        fitting.push_back(callable);
    if (fitting.empty())
      return {"", 0};
    std::string name = choices.pick(fitting).name;
    return {choices.chance(30) ? helper("twice") + "(" + name + ", " + value() + ")"
                               : name + "(" + value() + ")",
            kVarBound};
  }
  }
}
