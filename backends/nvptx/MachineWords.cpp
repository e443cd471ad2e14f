//===- MachineWords.cpp - elements side by side in words -----------------------------===//
//
// A register of a tile is one element, but memory, loops, shuffles and matrix instructions take elements of 8 and
// 16 bits in words. What comes as a word and leaves as the same one is not taken apart.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

int64_t nvptx::bytesOf(Type machineType) {
  if (isa<LLVM::LLVMPointerType>(machineType))
    return 8;
  return machineType.isInteger(1) ? 1 : machineType.getIntOrFloatBitWidth() / 8;
}

/// Words of 16, 32 or 64 bits (or one byte in 16).
std::pair<IntegerType, unsigned> nvptx::wordsFor(Type machineType, unsigned count) {
  int64_t bytes = bytesOf(machineType), total = bytes * count;
  int64_t word = bytes >= 4 ? bytes : std::clamp<int64_t>(total, 2, 4);
  return {IntegerType::get(machineType.getContext(), unsigned(word * 8)), unsigned(llvm::divideCeil(total, word))};
}

/// The same bits as another type; what was of that type before is taken instead.
Value Machine::reinterpret(Value value, Type type) {
  while (auto cast = value.getDefiningOp<LLVM::BitcastOp>())
    value = cast.getArg();
  return value.getType() == type ? value : once<LLVM::BitcastOp>(type, value);
}

/// The vector whose elements these are, in order, if there is one.
static Value knownVector(ArrayRef<Value> parts) {
  Value vector;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto extract = part.getDefiningOp<LLVM::ExtractElementOp>();
    APInt position;
    if (!extract || (vector && extract.getVector() != vector) ||
        !matchPattern(extract.getPosition(), m_ConstantInt(&position)) || position != i)
      return Value();
    vector = extract.getVector();
  }
  return cast<VectorType>(vector.getType()).getNumElements() == int64_t(parts.size()) ? vector : Value();
}

/// Numbers as one vector; a single one stays as it is.
Value Machine::vectorOf(ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts[0];
  Value vector = knownVector(parts);
  if (!vector) {
    vector = LLVM::PoisonOp::create(builder, loc, VectorType::get({int64_t(parts.size())}, parts[0].getType()));
    for (auto [i, part] : llvm::enumerate(parts))
      vector = LLVM::InsertElementOp::create(builder, loc, vector, part, integer(i, 32));
  }
  return vector;
}

/// Elements of one access as words.
SmallVector<Value> Machine::toWords(ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  auto [word, number] = wordsFor(type, elements.size());
  SmallVector<Value> plain;
  for (Value element : elements) {
    if (isa<LLVM::LLVMPointerType>(type))
      element = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), element);
    else if (type.isInteger(1))
      element = LLVM::ZExtOp::create(builder, loc, builder.getI8Type(), element);
    else if (isa<FloatType>(type))
      element = reinterpret(element, builder.getIntegerType(bytesOf(type) * 8));
    plain.push_back(element);
  }
  if (plain[0].getType() == word)
    return plain;
  if (plain.size() == 1)
    return {LLVM::ZExtOp::create(builder, loc, word, plain[0])};
  SmallVector<Value> words;
  size_t perWord = plain.size() / number;
  for (unsigned i = 0; i < number; ++i)
    words.push_back(reinterpret(vectorOf(ArrayRef(plain).slice(i * perWord, perWord)), word));
  return words;
}

SmallVector<Value> Machine::fromWords(ArrayRef<Value> words, Type type, unsigned count) {
  int64_t bytes = bytesOf(type);
  SmallVector<Value> plain;
  Type integerType = builder.getIntegerType(bytes * 8);
  for (Value word : words) {
    int64_t wordBytes = word.getType().getIntOrFloatBitWidth() / 8;
    int64_t perWord = count == 1 ? 1 : wordBytes / bytes;
    if (count == 1 && wordBytes > bytes) {
      plain.push_back(LLVM::TruncOp::create(builder, loc, integerType, word));
    } else if (perWord == 1) {
      plain.push_back(word);
    } else {
      Value vector = reinterpret(word, VectorType::get({perWord}, integerType));
      for (int64_t i = 0; i < perWord; ++i)
        plain.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, integer(i, 32)));
    }
  }
  for (Value &element : plain) {
    if (isa<LLVM::LLVMPointerType>(type))
      element = LLVM::IntToPtrOp::create(builder, loc, type, element);
    else if (type.isInteger(1))
      element = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, element, integer(0, 8));
    else if (isa<FloatType>(type))
      element = reinterpret(element, type);
  }
  return plain;
}
