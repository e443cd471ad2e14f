//===- GeneratorParams.cpp - the head of a kernel: parameters, grid, attributes --------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

using Access = TensorArg::Access;

void Writer::declareGrid() {
  instances = gridWidth = choices.pick({1, 2, 3, 5});
  hasSecondAxis = choices.chance(20);
  if (hasSecondAxis)
    instances *= 2;
}

TensorArg &Writer::addTensor(TensorArg arg) {
  if (arg.type.empty())
    arg.type = dtypeText(arg.dtype) + "[" + listText(arg.extents) + "]";
  static const char *const words[] = {"in ", "out ", "inout ", "inout ", "scratch "};
  parameters += (parameters.empty() ? "" : ", ") + std::string(words[int(arg.access)]) + arg.name +
                ": " + arg.type;
  program.tensors.push_back(std::move(arg));
  return program.tensors.back();
}

/// Rows may lie apart; the first extent may be a name.
void Writer::declareInput(unsigned number) {
  std::string name = "x" + std::to_string(number);
  TensorArg arg{name, anyDtype(), anyShape(), Access::In, "", {}, true, false};
  Source source{name, arg.dtype, arg.extents};
  std::string extents = listText(arg.extents);
  if (choices.chance(25)) {
    std::string extent = "N" + std::to_string(number);
    extents = extent + extents.substr(std::to_string(arg.extents[0]).size());
    scope.push_back({extent, {DType::i64, {}}, false, double(arg.extents[0])});
    source.isNamed = true;
  }
  if (arg.extents.size() == 2 && choices.chance(30)) {
    bool isColumns = choices.chance(30);
    int64_t apart = arg.extents[isColumns ? 0 : 1] + choices.below(4);
    arg.strides = isColumns ? Shape{1, apart} : Shape{apart, 1};
    extents += isColumns ? "; 1, *" : choices.pick({"", "; *, 1"});
    std::string stride = name + (isColumns ? ".stride(1)" : ".stride(0)");
    scope.push_back({stride, {DType::i64, {}}, false, double(apart)});
  }
  arg.type = dtypeText(arg.dtype) + "[" + extents + "]";
  addTensor(arg);
  sources.push_back(source);
}

/// A row an instance.
void Writer::declareOutput(unsigned number) {
  Shape extents = anyShape(2);
  extents.insert(extents.begin(), instances);
  TensorArg arg{"y" + std::to_string(number), anyDtype(), extents, Access::Out, "", {}, false, false};
  addTensor(arg);
}

/// An input of a type without arithmetic, an output of one, one that may be absent, truth values.
void Writer::declareSpecial() {
  static const std::vector<DType> storages = {DType::f8e4m3fn, DType::i4, DType::f8e5m2, DType::u4,
                                              DType::f8e4m3fnuz, DType::f8e5m2fnuz, DType::f4e2m1,
                                              DType::e8m0};
  auto shape = [&](unsigned rank, DType dtype) {
    Shape extents = anyShape(rank);
    if (dtype == DType::i4 || dtype == DType::u4 || dtype == DType::f4e2m1) // two a byte
      extents.back() += extents.back() & 1;
    return extents;
  };
  if (inFull(30)) {
    DType dtype = choices.pick(storages);
    TensorArg arg{"q", dtype, shape(2, dtype), Access::In, "", {}, true, false};
    sources.push_back({arg.name, arg.dtype, arg.extents});
    addTensor(arg);
  }
  if (inFull(20)) {
    DType dtype = choices.pick(storages);
    Shape extents = shape(1, dtype);
    extents.insert(extents.begin(), instances);
    addTensor({"yq", dtype, extents, Access::Out, "", {}, false, false});
  }
  if (inFull(20)) {
    TensorArg arg{"opt", anyDtype(), anyShape(2), Access::In, "", {}, true, choices.chance(40)};
    arg.type = dtypeText(arg.dtype) + "[" + listText(arg.extents) + "]?";
    addTensor(arg);
  }
  if (choices.chance(15)) {
    TensorArg arg{"flags", DType::i1, anyShape(2), Access::In, "", {}, true, false};
    sources.push_back({arg.name, arg.dtype, arg.extents});
    addTensor(arg);
  }
}

/// Memory that all change, memory of each instance, pointers, workspace.
void Writer::declareMemory() {
  if (inFull(40))
    addTensor({"shared", choices.pick({DType::i32, DType::u32, DType::i64}),
               {choices.pick({1, 4, 33})}, Access::Shared, "", {}, true, false});
  if (inFull(30))
    addTensor({"own", choices.pick({DType::i32, DType::u32, DType::i64, DType::u64, DType::f32}),
               {instances, choices.pick({1, 4, 16, 33})}, Access::Own, "", {}, true, false});
  if (inFull(15)) {
    addTensor({"done", DType::i32, {instances}, Access::Own, "", {}, false, false});
    addTensor({"carry", anyDtype(), {instances}, Access::Own, "", {}, false, false});
  }
  if (inFull(20))
    addTensor({"work", anyDtype(), {instances, choices.pick({4, 8, 17})}, Access::Scratch,
               "", {}, false, false});
  if (choices.chance(25)) {
    TensorArg arg{"p", anyDtype(), {choices.pick({64, 17, 256})}, Access::In, "", {}, true, false};
    arg.type = "*" + dtypeText(arg.dtype);
    sources.push_back({arg.name, arg.dtype, arg.extents, /*isPointer=*/true});
    addTensor(arg);
  }
  if (choices.chance(20)) {
    TensorArg arg{"d", anyDtype(), {instances * choices.pick({16, 5, 64})}, Access::Out, "", {}, false, false};
    arg.type = "*" + dtypeText(arg.dtype);
    addTensor(arg);
  }
}

void Writer::declareParams() {
  unsigned inputs = 1 + choices.below(3), outputs = 1 + choices.below(2);
  for (unsigned i = 0; i < inputs; ++i)
    declareInput(i);
  for (unsigned i = 0; i < outputs; ++i)
    declareOutput(i);
  addTensor({"sink", DType::i64, {instances, 32}, Access::Out, "", {}, false, false});
  declareSpecial();
  declareMemory();
  if (choices.chance(60))
    program.scalars.push_back({"n", DType::i64, int64_t(choices.below(9))});
  if (choices.chance(30))
    program.scalars.push_back({"s", anyDtype(), int64_t(choices.below(8))});
  for (const ScalarArg &arg : program.scalars) {
    parameters += ", " + arg.name + ": " + dtypeText(arg.dtype);
    scope.push_back({arg.name, {arg.dtype, {}}, false, double(arg.value)});
  }
}

/// What is true of the arguments, as @variants may say it.
std::vector<std::string> Writer::conditions() const {
  std::vector<std::string> result;
  auto bounds = [&](const std::string &name, int64_t value) {
    std::string number = std::to_string(value);
    result.insert(result.end(), {name + " == " + number, name + " <= " + number, "0 < " + name + " + 1",
                                 name + " != " + std::to_string(value + 1), "0 <= " + name});
    for (int64_t power = 16; power > 1 && value > 0; power /= 2)
      if (value % power == 0)
        result.push_back(name + " % " + std::to_string(power) + " == 0");
  };
  for (const TensorArg &arg : program.tensors) {
    if (arg.name == "opt")
      result.push_back(arg.isAbsent ? "!opt" : "opt");
    for (size_t axis = 0; axis < arg.strides.size(); ++axis)
      bounds(arg.name + ".stride(" + std::to_string(axis) + ")", arg.strides[axis]);
    if (size_t at = arg.type.find("[N"); at != std::string::npos)
      bounds(arg.type.substr(at + 1, arg.type.find_first_of(",;]", at) - at - 1), arg.extents[0]);
  }
  for (const ScalarArg &arg : program.scalars)
    if (isIntType(arg.dtype))
      bounds(arg.name, arg.value);
  return result;
}

/// Facts of which most hold.
std::string Writer::facts() {
  std::vector<std::string> known = conditions();
  if (known.empty())
    return "";
  std::string list;
  for (unsigned count = 1 + choices.below(2); count; --count) {
    std::string fact = choices.pick(known);
    if (choices.chance(40))
      fact += " && " + choices.pick(known);
    if (choices.chance(15))
      fact = "!(" + fact + ")";
    list += (list.empty() ? "" : ", ") + fact;
  }
  return " @variants([" + list + "])";
}

/// All before the kernel's statements.
std::string Writer::headOf() {
  std::string compileTime, before, after;
  if (choices.chance(25))
    after += " @options(warps=" + choices.pick<std::string>({"4", "8", "1", "2"}) + ")";
  if (choices.chance(20))
    after += " @numerics(" + choices.pick<std::string>({"contract=false", "strict=true", "contract=true"}) + ")";
  if (choices.chance(20))
    after += " @require(" + std::to_string(instances) + " > 0)";
  if (choices.chance(30))
    after += facts();
  if (choices.chance(20)) {
    before = "const LOW = 3\n";
    compileTime = "[WIDE: int = LOW, T: dtype = f32]";
    program.text = "    static_assert(WIDE >= LOW && T.bits == 32, \"known\")\n" + program.text;
    if (choices.chance(50))
      after += " @tune(key=[WIDE], configs=[{WIDE: 4}, {WIDE: [5, 6]}])";
  }
  return before + "kernel k" + compileTime + "(" + parameters + ") @grid(" + std::to_string(gridWidth) +
         (hasSecondAxis ? ", 2)" : ")") + after + "\n{\n";
}
