//===- MachineMatrixLoad.cpp - ldmatrix ---------------------------------------------------===//
//
// `ldmatrix` brings up to four matrices of 8 rows of 16 bytes from shared memory at once: each lane
// names a row, and gets the 4 bytes of each matrix that the fragments of matrix instructions have
// there. Rows lie on 16-byte boundaries. Of elements of 16 bits it can also bring the transposed matrix.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "passes/analysis/MatrixLayouts.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// The bits of an input dimension step 1, 2, 4.. times `first` along `axis`.
static bool runsAlong(const LinearLayout &layout, InDim dim, unsigned bit, unsigned count, unsigned axis, int32_t first) {
  if (layout.numBits(dim) < bit + count)
    return false;
  for (unsigned i = 0; i < count; ++i) {
    Coords wanted(layout.rank(), 0);
    wanted[axis] = first << i;
    if (layout.basis(dim, bit + i) != wanted)
      return false;
  }
  return true;
}

namespace {
/// The lowest registers and the lanes are those of matrices of 8 rows of 16 bytes: four lanes along a row,
/// eight across, whose rows may lie `step` apart.
struct FragmentAxes {
  unsigned pair, group; // of a register's elements; of lanes 4, 8 and 16 apart
  int32_t step;
};
} // namespace

static std::optional<FragmentAxes> fragmentAxes(const LinearLayout &layout, int32_t pack) {
  if (layout.rank() < 2 || !layout.repeats().empty() || layout.numBits(InDim::Lane) != 5)
    return std::nullopt;
  unsigned last = layout.rank() - 1;
  for (unsigned pair : {last, last - 1}) {
    unsigned group = 2 * last - 1 - pair;
    int32_t step = layout.basis(InDim::Lane, 2)[group];
    if (step > 0 && runsAlong(layout, InDim::Register, 0, llvm::Log2_32(pack), pair, 1) &&
        runsAlong(layout, InDim::Lane, 0, 2, pair, pack) && runsAlong(layout, InDim::Lane, 2, 3, group, step))
      return FragmentAxes{pair, group, step};
  }
  return std::nullopt;
}

/// How `ldmatrix` reads the buffer into the layout, if it can. Elements side by side across the rows need the
/// transposing form; bytes come in pairs of columns then, as `pairsColumns` of MatrixTiling deals them.
std::optional<Machine::MatrixLoad> Machine::matrixLoad(Value buffer, const LinearLayout &layout) {
  auto type = cast<tkg::BufType>(buffer.getType());
  int64_t bytes = type.getElementBytes(), bits = elementBits(type.getElement());
  if (bits != 8 * bytes || bits > 32)
    return std::nullopt;
  int32_t pack = int32_t(4 / bytes);
  std::optional<FragmentAxes> axes = fragmentAxes(layout, pack);
  if (!axes)
    return std::nullopt;
  auto [pair, group, step] = *axes;
  bool pairs = bytes == 1 && step == 2 && runsAlong(layout, InDim::Register, 2, 1, pair, 16) &&
               runsAlong(layout, InDim::Register, 3, 1, group, 1);
  bool straight = type.stride(pair) == 1, transposed = type.stride(group) == 1 && ((bytes == 2 && step == 1) || pairs);
  unsigned rows = straight ? group : pair, along = straight ? pair : group;
  if ((!straight && !transposed) || startAlignment(buffer) % 16 || type.getShape()[along] * bytes % 16)
    return std::nullopt;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    if (axis != along && type.stride(axis) * bytes % 16)
      return std::nullopt;
  if (!straight && pairs)
    return MatrixLoad{pairAddressLayout(layout), 4, true, true};
  int32_t words = layout.numRegisters() / pack;
  int32_t matrices = words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1;
  return MatrixLoad{matrixAddressLayout(layout, rows + 2 - layout.rank(), pack, matrices), matrices, !straight, false};
}

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
SmallVector<Value> Machine::loadMatrices(Value buffer, const MatrixLoad &load, unsigned begin, unsigned end) {
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
