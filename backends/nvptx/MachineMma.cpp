//===- MachineMma.cpp - products by matrix instructions of a warp -----------------------===//
//
// A step along K reads the fragments of a row and of a column of instruction tiles, then multiplies
// each with each. Fragments that are not in registers are read from shared memory by `ldmatrix`
// (MachineMatrixLoad.cpp), else one by one. An operand comes in one or two pieces:
//  * f32 is cut into two of tf32, whose three larger products are added, which is as accurate as f32,
//    unless tf32 is asked for.
//  * fp8 on a chip without units for it: the elements k with k mod 4 in {0, 1} and the others, as f16.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "passes/analysis/LayoutPlan.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// One operand of a product, a step along K after the other, and so for each batch element.
struct Machine::Fragments {
  Value operand; // a tile in `layout`, or a buffer
  LinearLayout layout;
  std::optional<MatrixAccess> load;
  unsigned steps = 1, pack = 1;

  unsigned registersOfStep() const { return unsigned(layout.numRegisters()) / steps; }
};

Machine::Fragments Machine::fragmentsOf(Value operand, const LinearLayout &layout, const MatrixTiling &tiling) {
  const MatrixInstruction &one = tiling.instruction();
  unsigned steps = unsigned(tiling.k / one.k * batchesOfWarp(tiling));
  Fragments fragments{operand, layout, std::nullopt, steps, unsigned(std::max(one.pack, 1))};
  if (isa<tkg::BufType>(operand.getType()))
    fragments.load = matrixAccess(operand, layout);
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
      word = fragments.pack == 1 ? reinterpret(word, builder.getI32Type()) : toWords(elements)[0];
    words.push_back(word);
  }
  return words;
}

/// What a step along K does with a tile of the instruction.
struct Machine::MatrixStep {
  MatrixKind kind;
  std::string intrinsic;
  SmallVector<std::pair<unsigned, unsigned>, 3> products; // pieces of a and of b, in this order
  bool isHalf = false;                                    // operands are pairs of f16
  unsigned promote = 0; // steps after which partial sums are added; 0: there are none
};

/// The type of the elements of a tile or a buffer.
static Type operandElement(Value operand) {
  auto buffer = dyn_cast<tkg::BufType>(operand.getType());
  return buffer ? buffer.getElement() : elementTypeOf(operand.getType());
}

static StringRef elementName(Type type, bool isUnsigned) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return isUnsigned ? "u8" : "s8";
}

/// The types in the name of an instruction's intrinsic.
static std::string typesName(MatrixKind kind, StringRef a, StringRef b) {
  switch (kind) {
  case MatrixKind::F16:
    return "f32.f32";
  case MatrixKind::BF16:
    return "bf16";
  case MatrixKind::Tf32:
    return "tf32";
  case MatrixKind::F64:
    return "f64";
  case MatrixKind::Fp8:
    return ("f32." + a + "." + b + ".f32").str();
  case MatrixKind::I8:
    return a == b ? a.str() : (a + "." + b).str();
  }
  llvm_unreachable("a kind has a name");
}

Machine::MatrixStep Machine::matrixStep(tkg::MmaOp op, const MatrixTiling &tiling) {
  MatrixStep step{tiling.kind, "", {{0, 0}}};
  MatrixKind unit = tiling.kind;
  if (tiling.kind == MatrixKind::Tf32 && op.getInput() != "tf32")
    step.products = {{1, 0}, {0, 1}, {0, 0}};
  if (tiling.kind == MatrixKind::Fp8 && target.fp8MatrixBits == 0) {
    step.products = {{0, 0}, {1, 1}};
    unit = MatrixKind::F16;
  }
  step.isHalf = unit == MatrixKind::F16;
  const MatrixInstruction &one = ::tk::matrixInstruction(unit);
  constexpr int fullBits = 24; // of f32, which needs no promotion
  if (unit == MatrixKind::Fp8 && target.fp8MatrixBits < fullBits && op.getPromote() > 0)
    step.promote = unsigned(std::max<int64_t>(1, int64_t(op.getPromote()) / one.k));
  StringRef a = elementName(operandElement(op.getA()), op.getAUnsigned());
  StringRef b = elementName(operandElement(op.getB()), op.getBUnsigned());
  step.intrinsic = llvm::formatv("llvm.nvvm.mma.m{0}n{1}k{2}.row.col.{3}", one.m, one.n, one.k, typesName(unit, a, b)).str();
  return step;
}

SmallVector<Value> Machine::matrixInstruction(const MatrixStep &step, ArrayRef<Value> a, ArrayRef<Value> b,
                                              ArrayRef<Value> sums) {
  SmallVector<Value> operands;
  llvm::append_range(operands, a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, sums);
  auto type = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(sums.size(), sums[0].getType()));
  Value result = intrinsic(step.intrinsic, type, operands);
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

/// The fragments of one step, in pieces.
Machine::MatrixPieces Machine::matrixPieces(const MatrixStep &step, const Fragments &fragments, unsigned number) {
  MatrixPieces pieces{fragmentWords(fragments, number), {}};
  bool isFp8 = step.kind == MatrixKind::Fp8 && step.isHalf;
  bool isCut = step.kind == MatrixKind::Tf32 || isFp8;
  for (Value &word : isCut ? MutableArrayRef<Value>(pieces[0]) : MutableArrayRef<Value>()) {
    if (!isFp8 && step.products.size() == 1) { // half way between two it goes to the even one, which no instruction of sm_80 does
      word = reinterpret(roundedToTf32(reinterpret(word, builder.getF32Type())), builder.getI32Type());
      continue;
    }
    auto [first, second] = isFp8 ? halvesOfFp8(word, operandElement(fragments.operand)) : tf32Pieces(builder, loc, word);
    word = first;
    pieces[1].push_back(second);
  }
  if (step.isHalf)
    for (SmallVector<Value> &words : pieces)
      for (Value &word : words)
        word = reinterpret(word, VectorType::get({2}, builder.getF16Type()));
  return pieces;
}

/// True when no thread has an element of the tile in these registers: the first one is beyond the tile in
/// the first thread, whose coordinates are the smallest.
static bool isPadding(const LinearLayout &layout, unsigned firstRegister) {
  return !layout.isValid(layout.apply(int32_t(firstRegister), 0, 0));
}

void Machine::lowerMma(tkg::MmaOp op) {
  MatrixTiling tiling = *tilingOf(op->getAttr("tkg.tiling"));
  MatrixStep step = matrixStep(op, tiling);
  Fragments a = fragmentsOf(op.getA(), leftOperandLayout(tiling), tiling);
  Fragments b = fragmentsOf(op.getB(), rightOperandLayout(tiling), tiling);
  LinearLayout sumLayout = layoutOf(op.getAcc());
  SmallVector<Value> sums = beginSums(op.getAcc());
  unsigned aWords = a.registersOfStep() / a.pack, bWords = b.registersOfStep() / b.pack;
  const MatrixInstruction &one = tiling.instruction();
  unsigned aOne = unsigned(one.m * one.k / 32) / a.pack, bOne = unsigned(one.n * one.k / 32) / b.pack;
  unsigned cOne = unsigned(one.m * one.n / 32), rows = aWords / aOne, columns = bWords / bOne;
  unsigned depth = unsigned(tiling.k / one.k), grid = rows * columns * cOne;
  SmallVector<Value> partial;
  for (unsigned number = 0; number < a.steps; ++number) {
    unsigned k = number % depth; // the others were of another batch element
    auto total = MutableArrayRef(sums).slice(number / depth * grid, grid);
    if (step.promote && k % step.promote == 0)
      partial.assign(grid, floating(0.0, builder.getF32Type()));
    MutableArrayRef<Value> into = step.promote ? MutableArrayRef(partial) : total;
    MatrixPieces left = matrixPieces(step, a, number), right = matrixPieces(step, b, number);
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned column = 0; column < columns; ++column) {
        unsigned first = (row * columns + column) * cOne;
        if (isPadding(sumLayout, number / depth * grid + first))
          continue;
        auto part = into.slice(first, cOne);
        for (auto [x, y] : step.products)
          llvm::copy(matrixInstruction(step, ArrayRef(left[x]).slice(row * aOne, aOne),
                                       ArrayRef(right[y]).slice(column * bOne, bOne), part),
                     part.begin());
      }
    if (step.promote && ((k + 1) % step.promote == 0 || k + 1 == depth))
      for (auto [sum, more] : llvm::zip(total, partial))
        sum = LLVM::FAddOp::create(builder, loc, sum, more);
  }
  endSums(op.getAcc(), op.getResult(), sums);
}
