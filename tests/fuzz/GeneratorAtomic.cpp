//===- GeneratorAtomic.cpp - atomic operations whose order does not show ---------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

/// One kind a tensor, so that the order of instances does not show.
void Writer::atomicUpdate() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.access != TensorArg::Access::Shared)
      continue;
    static const char *const kinds[] = {"add", "max", "min", "and", "or", "xor"};
    const char *kind = kinds[size_t(program.dataSeed % 6)];
    Type type{arg.dtype, {arg.extents[0]}};
    Expr value = expr(type, 2);
    std::string mask = choices.chance(30) ? ", mask=" + condition(type.shape, 1).text : "";
    line(std::string("atomic_") + kind + "(" + arg.name + "[0 +: " + std::to_string(arg.extents[0]) +
         "], " + value.text + mask + ", sem=\"relaxed\"" +
         choices.pick<std::string>({"", ", scope=\"sys\""}) + ")");
    return;
  }
  declare();
}

/// On a row that no other instance touches every operation has one result.
void Writer::ownAtomic() {
  for (const TensorArg &arg : program.tensors) {
    if (arg.name != "own")
      continue;
    int64_t side = arg.extents[1];
    unsigned kind = choices.below(7);
    if (kind == 6)
      return ownFlag(arg);
    Type type{arg.dtype, {side}};
    bool isFloat = isFloatType(arg.dtype);
    std::string place = "own[pid, 0 +: " + std::to_string(side) + "]";
    std::string value = bounded(expr(type, 2), type.dtype), name = fresh("v");
    std::string how = choices.pick<std::string>({"", ", sem=\"relaxed\"", ", sem=\"acquire\", scope=\"cta\""});
    if (choices.chance(25))
      how = ", mask=" + condition(type.shape, 1).text + how;
    if (kind == 0 && !isFloat)
      return line(place + " += " + value);
    if (kind == 1) {
      std::string expected = bounded(expr(type, 1), type.dtype);
      line("let " + name + " = atomic_cas(" + place + ", " + expected + ", " + value + how + ")");
    } else if (kind == 2)
      line("let " + name + " = atomic_load(" + place + ")");
    else if (kind == 3) {
      return line("atomic_store(" + place + ", " + value + ")");
    } else {
      std::string word = choices.pick<std::string>({"xchg", "max", "min", "exchange", "add", "and", "or", "xor"});
      if (isFloat && word.size() == 3)
        word = "max";
      if (isFloat && word == "or")
        word = "min";
      line("let " + name + " = atomic_" + word + "(" + place + ", " + value + how + ")");
    }
    scope.push_back({name, type, false, kVarBound});
    return;
  }
  declare();
}

/// Waiting for what the instance has just stored.
void Writer::ownFlag(const TensorArg &arg) {
  std::string place = "own[pid, " + std::to_string(choices.below(uint32_t(arg.extents[1]))) + "]";
  if (isFloatType(arg.dtype))
    return line("atomic_store(" + place + ", 3.0)");
  line("atomic_store(" + place + ", 3)");
  line("atomic_poll(" + place + ", 3)");
}

/// Each instance waits for the one before and takes what that left. Only where all come by.
void Writer::lookBack() {
  const TensorArg *carry = nullptr;
  for (const TensorArg &arg : program.tensors)
    if (arg.name == "carry")
      carry = &arg;
  if (!carry || mayHaveLeft || function)
    return declare();
  Type type{carry->dtype, {}};
  std::string name = fresh("v"), value = bounded(expr(type, 1), type.dtype);
  line("var " + name + " = " + value);
  line("if pid > 0 {");
  line("    atomic_poll(done[pid - 1], 1)");
  line("    " + name + " = maximum(" + name + ", carry[pid - 1])");
  line("}");
  line("carry[pid] = " + name);
  line("atomic_store(done[pid], 1)");
  scope.push_back({name, type, true, kVarBound});
  mayHaveLeft = true; // once
}
