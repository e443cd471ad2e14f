//===- Generator.cpp - a program's frame ---------------------------------------------===//

#include "tests/fuzz/Writer.h"

using namespace tk::fuzz;

std::string tk::fuzz::dtypeText(DType dtype) { return interp::nameOf(dtype); }
bool tk::fuzz::isFloatType(DType dtype) { return interp::isFloat(dtype); }
bool tk::fuzz::isIntType(DType dtype) { return !isFloatType(dtype) && dtype != DType::i1; }
bool tk::fuzz::isStorageType(DType dtype) {
  return dtype == DType::i4 || dtype == DType::u4 ||
         (dtype >= DType::f8e4m3fn && dtype <= DType::e8m0);
}

int64_t tk::fuzz::elementsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t side : shape)
    count *= side;
  return count;
}

std::string tk::fuzz::listText(const Shape &shape) {
  std::string text;
  for (int64_t side : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(side);
  return text;
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

std::string Writer::bounded(const Expr &value, DType dtype) const {
  if (!keepsExact(dtype) || value.bound <= kVarBound)
    return value.text;
  return "clamp(" + value.text + ", -64.0, 64.0)";
}

/// Powers of two, their neighbours, odd multiples, primes; small ones most of the time.
Shape Writer::anyShape(unsigned maxRank) {
  static const std::vector<int64_t> sides = {1,  2,  3,  4,  5,  7,  8,  16, 17, 32,
                                             48, 64, 80, 96, 33, 128, 192, 256};
  if (!favourites.empty() && choices.chance(60)) {
    const Shape &shape = favourites[choices.below(uint32_t(favourites.size()))].shape;
    if (shape.size() <= maxRank)
      return shape;
  }
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
  if (!favourites.empty() && choices.chance(50))
    return favourites[choices.below(uint32_t(favourites.size()))].dtype;
  if (policy == Policy::Integers)
    return anyInt();
  return choices.pick({DType::i32, DType::f32, DType::i64, DType::f16, DType::u32, DType::bf16,
                       DType::i8, DType::u8, DType::i16, DType::u16, DType::u64, DType::f64});
}

Program Writer::write() {
  policy = Policy(choices.below(7));
  program.dataSeed = choices.below(1u << 30);
  budget = 60 + int(choices.below(140));
  std::vector<Type> often{{anyDtype(), anyShape(2)}, {anyDtype(), anyShape(1)}, {anyDtype(), anyShape()}};
  favourites = std::move(often);
  declareGrid();
  declareParams();
  ++indent;
  line(hasSecondAxis ? "let pid = program_id(0) + num_programs(0) * program_id(1)"
                     : "let pid = program_id(0)");
  scope.push_back({"pid", {DType::i64, {}}, false, double(instances)});
  statements(choices.below(17), 0);
  writeOutput();
  writeSink();
  program.text = imports + helperTexts() + functions + headOf() + program.text + "}\n";
  return program;
}

/// What the names hold in the end, so that no value is without effect.
void Writer::writeSink() {
  int count = 0;
  for (const Var &var : scope) {
    bool isScalar = var.type.shape.empty();
    if (var.type.dtype == DType::i1 || count == 32)
      continue;
    std::string number = "(" + var.name + ").to(i64)";
    line("sink[pid, " + std::to_string(count++) + "] = " + (isScalar ? number : "sum(" + number + ")"));
  }
}

Program tk::fuzz::generate(Choices &choices, const Settings &settings) {
  return Writer(choices, settings).write();
}
