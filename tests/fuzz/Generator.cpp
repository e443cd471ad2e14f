//===- Generator.cpp - a program's frame: parameters, helpers, the kernel ----------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

const char *tk::fuzz::dtypeText(DType dtype) { return interp::nameOf(dtype); }
bool tk::fuzz::isFloatType(DType dtype) { return interp::isFloat(dtype); }
bool tk::fuzz::isIntType(DType dtype) { return !isFloatType(dtype) && dtype != DType::i1; }

int64_t tk::fuzz::elementsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t side : shape)
    count *= side;
  return count;
}

double tk::fuzz::exactLimit(DType dtype) {
  switch (dtype) {
  case DType::bf16:
    return 256;
  case DType::f16:
    return 2048;
  case DType::f32:
    return 0x1p24;
  default:
    return 0x1p53;
  }
}

void Writer::line(const std::string &text) {
  program.text += std::string(size_t(indent) * 4, ' ') + text + "\n";
}

/// Powers of two, their neighbours, odd multiples, primes; small ones most of the time.
Shape Writer::anyShape(unsigned maxRank) {
  static const std::vector<int64_t> sides = {1,  2,  3,  4,  5,  7,  8,  16, 17, 32,
                                             48, 64, 80, 96, 33, 128, 192, 256};
  Shape shape;
  unsigned rank = 1 + choices.below(maxRank);
  int64_t room = settings.maxTileElements;
  for (unsigned i = 0; i < rank; ++i) {
    int64_t side = sides[choices.below(rank == 1 ? uint32_t(sides.size()) : 11)];
    side = std::min(side, std::max<int64_t>(room, 1));
    room /= side;
    shape.push_back(side);
  }
  return shape;
}

DType Writer::anyDtype() {
  if (policy == Policy::Integers)
    return anyInt();
  return choices.pick({DType::i32, DType::f32, DType::i64, DType::f16, DType::u32, DType::bf16,
                       DType::i8, DType::u8, DType::i16, DType::u16, DType::u64, DType::f64});
}

static std::string extentsText(const Shape &extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return text;
}

/// Inputs of a few types, outputs with a row an instance, integers that all instances change.
void Writer::declareParams() {
  instances = choices.pick({1, 2, 3, 5});
  unsigned inputs = 1 + choices.below(3), outputs = 1 + choices.below(2);
  for (unsigned i = 0; i < inputs; ++i)
    program.tensors.push_back({"x" + std::to_string(i), anyDtype(), anyShape(), TensorArg::Access::In});
  for (unsigned i = 0; i < outputs; ++i) {
    Shape extents = anyShape(2);
    extents.insert(extents.begin(), instances);
    program.tensors.push_back({"y" + std::to_string(i), anyDtype(), extents, TensorArg::Access::Out});
  }
  if (!settings.machineOnly && choices.chance(40))
    program.tensors.push_back({"shared", choices.pick({DType::i32, DType::u32, DType::i64}),
                               {choices.pick({1, 4, 33})}, TensorArg::Access::Shared});
  if (choices.chance(60))
    program.scalars.push_back({"n", DType::i64, int64_t(choices.below(9))});
  if (choices.chance(30))
    program.scalars.push_back({"s", anyDtype(), int64_t(choices.below(8))});
}

void Writer::writeHelpers() {
  line("fn larger(a, b) { return where(a > b, a, b) }");
  line("fn mix(a, b) {");
  line("    if a < b { return a }");
  line("    return b - a");
  line("}");
  line("");
}

Program Writer::write() {
  policy = Policy(choices.below(settings.machineOnly ? 3 : 7));
  program.dataSeed = choices.below(1u << 30);
  budget = 40 + int(choices.below(80));
  declareParams();
  writeHelpers();
  std::string params;
  for (const TensorArg &arg : program.tensors) {
    const char *access = arg.access == TensorArg::Access::In    ? "in "
                         : arg.access == TensorArg::Access::Out ? "out "
                                                                : "inout ";
    params += (params.empty() ? "" : ", ") + std::string(access) + arg.name + ": " +
              dtypeText(arg.dtype) + "[" + extentsText(arg.extents) + "]";
  }
  for (const ScalarArg &arg : program.scalars) {
    params += ", " + arg.name + ": " + dtypeText(arg.dtype);
    scope.push_back({arg.name, {arg.dtype, {}}, false, double(arg.value)});
  }
  line("kernel k(" + params + ") @grid(" + std::to_string(instances) + ") {");
  ++indent;
  line("let pid = program_id(0)");
  scope.push_back({"pid", {DType::i64, {}}, false, double(instances)});
  statements(choices.below(9), 0);
  writeOutput();
  --indent;
  line("}");
  return program;
}

Program tk::fuzz::generate(Choices &choices, const Settings &settings) {
  return Writer(choices, settings).write();
}
