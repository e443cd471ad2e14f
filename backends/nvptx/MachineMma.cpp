//===- MachineMma.cpp - products by matrix instructions of a warp -----------------------===//
//
// A step along K reads the fragments of a row and of a column of instruction tiles, then multiplies
// each with each. Fragments that are not in registers are read from shared memory by `ldmatrix`
// (MachineMatrixLoad.cpp), else one by one. f32 operands are cut into two tf32 pieces
// whose three larger products are added, which is as accurate as f32, unless tf32 is asked for.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "passes/analysis/LayoutPlan.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// One operand of a product, a step along K after the other.
struct Machine::Fragments {
  Value operand; // a tile in `layout`, or a buffer
  LinearLayout layout;
  std::optional<MatrixLoad> load;
  unsigned steps = 1, pack = 1;

  unsigned registersOfStep() const { return unsigned(layout.numRegisters()) / steps; }
};

Machine::Fragments Machine::fragmentsOf(Value operand, const LinearLayout &layout, const MatrixTiling &tiling) {
  const MatrixInstruction &one = tiling.instruction();
  Fragments fragments{operand, layout, std::nullopt, unsigned(tiling.k / one.k), unsigned(std::max(one.pack, 1))};
  if (isa<tkg::BufType>(operand.getType()))
    fragments.load = matrixLoad(operand, layout);
  return fragments;
}

/// The 32-bit (of f64: 64-bit) registers of one step.
SmallVector<Value> Machine::fragmentWords(const Fragments &fragments, unsigned step) {
  SmallVector<Value> words;
  unsigned count = fragments.registersOfStep(), first = step * count;
  auto pointer = [&](const LinearLayout &layout, unsigned index) {
    Element offset = bufferOffset(fragments.operand, layout, index);
    return sharedPointer(validOffset(fragments.operand, layout, index, offset));
  };
  if (fragments.load)
    return loadMatrices(fragments.operand, *fragments.load, first / fragments.pack, (first + count) / fragments.pack);
  bool isBuffer = isa<tkg::BufType>(fragments.operand.getType());
  Type memory = isBuffer ? bufferElement(fragments.operand) : Type();
  for (unsigned i = first; i < first + count; i += fragments.pack) {
    SmallVector<Value> elements;
    for (unsigned j = 0; j < fragments.pack; ++j)
      elements.push_back(isBuffer ? loadShared(pointer(fragments.layout, i + j), memory, memory, 1)[0]
                                  : reg(fragments.operand, i + j));
    Value word = elements[0];
    if (fragments.pack > 1 || (!word.getType().isF64() && !word.getType().isInteger(32)))
      word = fragments.pack == 1 ? LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), word).getResult()
                                 : toWords(elements)[0];
    words.push_back(word);
  }
  return words;
}

static StringRef integerName(bool isUnsigned) { return isUnsigned ? "u8" : "s8"; }

/// One instruction's intrinsic.
static std::string intrinsicName(const MatrixInstruction &one, bool aUnsigned, bool bUnsigned) {
  std::string name = llvm::formatv("llvm.nvvm.mma.m{0}n{1}k{2}.row.col.", one.m, one.n, one.k).str();
  switch (one.kind) {
  case MatrixKind::F16:
    return name + "f32.f32";
  case MatrixKind::BF16:
    return name + "bf16";
  case MatrixKind::Tf32:
    return name + "tf32";
  case MatrixKind::F64:
    return name + "f64";
  case MatrixKind::Fp8:
    return name + "f32.e4m3.e4m3.f32";
  case MatrixKind::I8:
    name += integerName(aUnsigned);
    return aUnsigned == bUnsigned ? name : name + "." + integerName(bUnsigned).str();
  }
  llvm_unreachable("a kind has a name");
}

SmallVector<Value> Machine::matrixInstruction(const MatrixTiling &tiling, ArrayRef<Value> a, ArrayRef<Value> b,
                                              ArrayRef<Value> sums, bool aUnsigned, bool bUnsigned) {
  SmallVector<Value> operands;
  for (ArrayRef<Value> words : {a, b})
    for (Value word : words)
      operands.push_back(tiling.kind == MatrixKind::F16
                             ? LLVM::BitcastOp::create(builder, loc, VectorType::get({2}, builder.getF16Type()), word).getResult()
                             : word);
  llvm::append_range(operands, sums);
  auto type = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(sums.size(), sums[0].getType()));
  Value result = intrinsic(intrinsicName(tiling.instruction(), aUnsigned, bUnsigned), type, operands);
  SmallVector<Value> values;
  for (int64_t i = 0; i < int64_t(sums.size()); ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, result, ArrayRef<int64_t>{i}));
  return values;
}

/// The bits of x rounded to tf32, and of what that leaves, rounded too.
static std::pair<Value, Value> tf32Pieces(OpBuilder &builder, Location loc, Value word) {
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  auto rounded = [&](Value x) -> Value {
    return LLVM::CallIntrinsicOp::create(builder, loc, i32, builder.getStringAttr("llvm.nvvm.f2tf32.rna"), x).getResult(0);
  };
  Value x = LLVM::BitcastOp::create(builder, loc, f32, word);
  Value high = rounded(x);
  Value rest = LLVM::FSubOp::create(builder, loc, f32, x, LLVM::BitcastOp::create(builder, loc, f32, high));
  return {high, rounded(rest)};
}

void Machine::lowerMma(tkg::MmaOp op) {
  MatrixTiling tiling = *tilingOf(op->getAttr("tkg.tiling"));
  Fragments a = fragmentsOf(op.getA(), leftOperandLayout(tiling), tiling);
  Fragments b = fragmentsOf(op.getB(), rightOperandLayout(tiling), tiling);
  bool isTf32 = tiling.kind == MatrixKind::Tf32, inPieces = isTf32 && op.getInput() != "tf32";
  SmallVector<Value> sums = beginSums(op.getAcc());
  unsigned aWords = a.registersOfStep() / a.pack, bWords = b.registersOfStep() / b.pack;
  const MatrixInstruction &one = tiling.instruction();
  unsigned aOne = unsigned(one.m * one.k / 32) / a.pack, bOne = unsigned(one.n * one.k / 32) / b.pack;
  unsigned cOne = unsigned(one.m * one.n / 32), rows = aWords / aOne, columns = bWords / bOne;
  for (unsigned step = 0; step < a.steps; ++step) {
    using Pieces = std::array<SmallVector<Value>, 2>; // of tf32: the high and the low piece
    auto read = [&](const Fragments &fragments) {
      Pieces pieces{fragmentWords(fragments, step), {}};
      if (isTf32)
        for (Value &word : pieces[0]) {
          auto [high, low] = tf32Pieces(builder, loc, word);
          word = high;
          pieces[1].push_back(low);
        }
      return pieces;
    };
    Pieces left = read(a), right = read(b);
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned column = 0; column < columns; ++column) {
        auto part = MutableArrayRef(sums).slice((row * columns + column) * cOne, cOne);
        auto add = [&](unsigned x, unsigned y) {
          SmallVector<Value> next =
              matrixInstruction(tiling, ArrayRef(left[x]).slice(row * aOne, aOne),
                                ArrayRef(right[y]).slice(column * bOne, bOne), part, op.getAUnsigned(), op.getBUnsigned());
          llvm::copy(next, part.begin());
        };
        if (inPieces) {
          add(1, 0);
          add(0, 1);
        }
        add(0, 0);
      }
  }
  endSums(op.getAcc(), op.getResult(), sums);
}
