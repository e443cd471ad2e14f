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
    Coords basis = layout.basis(dim, bit + i);
    if (basis[axis] != first << i || basis[1 - axis] != 0)
      return false;
  }
  return true;
}

/// The axis of the elements of a register, when the lowest registers and the lanes are those of matrices of
/// 8 rows: four lanes along a row, eight across.
static std::optional<unsigned> axisOfRows(const LinearLayout &layout, int32_t pack) {
  if (layout.rank() != 2 || !layout.repeats().empty() || layout.numBits(InDim::Lane) != 5)
    return std::nullopt;
  for (unsigned axis : {0u, 1u})
    if (runsAlong(layout, InDim::Register, 0, llvm::Log2_32(pack), axis, 1) && runsAlong(layout, InDim::Lane, 0, 2, axis, pack) &&
        runsAlong(layout, InDim::Lane, 2, 3, 1 - axis, 1))
      return axis;
  return std::nullopt;
}

/// How `ldmatrix` reads the buffer into the layout, if it can.
std::optional<Machine::MatrixLoad> Machine::matrixLoad(Value buffer, const LinearLayout &layout) {
  auto type = cast<tkg::BufType>(buffer.getType());
  int64_t bytes = type.getElementBytes(), bits = elementBits(type.getElement());
  if (bits != 8 * bytes || bits > 32)
    return std::nullopt;
  int32_t pack = int32_t(4 / bytes);
  std::optional<unsigned> pair = axisOfRows(layout, pack);
  if (!pair)
    return std::nullopt;
  unsigned group = 1 - *pair;
  bool straight = type.stride(*pair) == 1, transposed = type.stride(group) == 1 && bytes == 2;
  unsigned rows = straight ? group : *pair;
  if ((!straight && !transposed) || type.stride(rows) * bytes % 16 || startAlignment(buffer) % 16 ||
      type.getShape()[1 - rows] * bytes % 16)
    return std::nullopt;
  int32_t words = layout.numRegisters() / pack;
  int32_t matrices = words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1;
  return MatrixLoad{matrixAddressLayout(layout, rows, pack, matrices), matrices, !straight};
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
    Value loaded = intrinsic(name, type, sharedPointer(offset));
    for (int32_t i = 0; i < load.matrices; ++i)
      if (word + i >= begin && word + i < end)
        words.push_back(load.matrices == 1 ? loaded
                                           : LLVM::ExtractValueOp::create(builder, loc, loaded, ArrayRef<int64_t>{i}).getResult());
  }
  return words;
}
