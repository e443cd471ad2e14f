//===- MachineMatrixLoad.cpp - ldmatrix ---------------------------------------------------===//
//
// `ldmatrix` brings up to four matrices of 8 rows of 16 bytes from shared memory at once: each lane
// names a row, and gets the 4 bytes of each matrix that the fragments of matrix instructions have
// there. Rows lie on 16-byte boundaries. Of elements of 16 bits it can also bring the transposed matrix.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// Of k and k + 16, the bytes of an even and of an odd column, from pairs of both: with the address layout of
/// pairs a register has two k and the next one the two k that follow.
static SmallVector<Value> splitPairs(OpBuilder &builder, Location loc, ArrayRef<Value> loaded) {
  auto bytes = [&](Value low, Value high, int64_t selector) -> Value {
    Type i32 = builder.getI32Type();
    Value which = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(int32_t(selector)));
    return LLVM::CallIntrinsicOp::create(builder, loc, i32, builder.getStringAttr("llvm.nvvm.prmt"),
                                         ValueRange{low, high, which}).getResult(0);
  };
  constexpr int64_t even = 0x6420, odd = 0x7531;
  return {bytes(loaded[0], loaded[1], even), bytes(loaded[2], loaded[3], even), bytes(loaded[0], loaded[1], odd),
          bytes(loaded[2], loaded[3], odd)};
}

/// The registers that one `ldmatrix` gives.
static SmallVector<Value> registersOfLoad(OpBuilder &builder, Location loc, Value loaded, int32_t count) {
  if (count == 1)
    return {loaded};
  SmallVector<Value> registers;
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, ArrayRef<int64_t>{i}));
  return registers;
}

/// The words of 32 bits from `begin` to behind `end`. A load may bring others too; those are dropped here,
/// and merged by CSE where they are asked for.
SmallVector<Value> Machine::loadMatrices(Value buffer, const MatrixAccess &load, unsigned begin, unsigned end) {
  SmallVector<Value> words;
  Type i32 = builder.getI32Type();
  for (unsigned word = begin / load.matrices * load.matrices; word < end; word += load.matrices) {
    unsigned index = word / load.matrices;
    Element offset = validOffset(buffer, load.addresses, index, bufferOffset(buffer, load.addresses, index));
    Type type = load.matrices == 1 ? i32 : Type(LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(load.matrices, i32)));
    std::string name = ("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + Twine(load.matrices) +
                        (load.transposed ? ".trans" : "") + ".b16").str();
    SmallVector<Value> registers = registersOfLoad(builder, loc, intrinsic(name, type, sharedPointer(offset)), load.matrices);
    if (load.pairs)
      registers = splitPairs(builder, loc, registers);
    for (int32_t i = 0; i < load.matrices; ++i)
      if (word + i >= begin && word + i < end)
        words.push_back(registers[i]);
  }
  return words;
}
