//===- Translate.h - from a tk.kernel to a Program -------------------------------===//
//
// One walk over the kernel in program order. Places of values are given back after their last use
// and taken again by values of the same size, so that the arena of a loop body stays small.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Exec.h"
#include "backends/interp/Interp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tk::interp {

/// The element type of a scalar or tile inside a program (signless), none for other types.
std::optional<DType> slotTypeOf(mlir::Type type);
/// Of a view, a pointer or a tile of pointers; -1 for other types.
int64_t aliasClassOf(mlir::Type type);

/// An instruction with the same places, beside the one just emitted.
inline Inst beside(const Inst &inst, InstFn fn, uint32_t aux = 0) {
  Inst other = inst;
  other.fn = fn;
  other.aux = aux;
  return other;
}

/// A tile with these sides, seen around one of its axes.
AxisView axisView(llvm::ArrayRef<int64_t> sides, int64_t axis);

class Translator {
public:
  Translator(KernelOp kernel, const Options &options) : kernel(kernel), options(options) {}

  /// Fails with a diagnostic on an operation that stage `tk` does not have.
  mlir::LogicalResult run();

  Program program;
  std::vector<mlir::Location> locations; // of Program::ops

private:
  struct Slot {
    uint32_t offset = 0;
    uint32_t bytes = 0;
    unsigned uses = 0; // values that lie here; kForever: a constant or argument
  };
  static constexpr unsigned kForever = ~0u;

  // Places (Translate.cpp).
  unsigned takeSlot(size_t bytes);
  void giveBack(unsigned slot);
  uint32_t offsetOf(mlir::Value value);
  uint32_t define(mlir::Value value);
  void share(mlir::Value value, mlir::Value same);
  uint32_t temporary(size_t bytes);
  size_t bytesOf(mlir::Type type) const;
  uint32_t constantSlot(std::vector<uint8_t> bytes);
  void findLastUses();
  void releaseAfter(mlir::Operation *op);

  // Instructions.
  Inst &emit(InstFn fn, mlir::Operation *op, uint32_t dst = kNoSlot, uint32_t a = kNoSlot,
             uint32_t b = kNoSlot, uint32_t c = kNoSlot);
  void emitCopy(mlir::Operation *op, uint32_t to, uint32_t from, mlir::Type type);
  uint32_t lanesOf(mlir::Type type) const;
  uint32_t infoOf(mlir::Operation *op);
  bool hasBounds(mlir::Type type) const;
  mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &why);

  // Structure and control flow (Translate.cpp, TranslateControl.cpp).
  void translateArguments();
  mlir::LogicalResult translateBlock(mlir::Block &block);
  mlir::LogicalResult translateOp(mlir::Operation *op);
  mlir::LogicalResult translateFor(mlir::scf::ForOp op);
  mlir::LogicalResult translateWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult translateIf(mlir::scf::IfOp op);
  unsigned takeSlotBeside(llvm::ArrayRef<uint32_t> places, size_t bytes);
  void copyParallel(mlir::Operation *op, mlir::ValueRange from, llvm::ArrayRef<uint32_t> to);

  // Regions of scalars (TranslateRegion.cpp).
  /// How many lanes the region being translated has, and whether its instructions know.
  struct RegionState {
    uint32_t lanes = 0;       // 0: not in a region
    bool isInline = false;    // instructions run over `lanes` lanes; else the frame says how many
    mlir::Region *region = nullptr;
    std::vector<int64_t> shape; // of the tile whose elements the lanes are, for messages
  };
  mlir::LogicalResult translateCombine(mlir::Operation *op, ReducePlan &plan);
  mlir::LogicalResult translateCombineBody(mlir::Block &block, ReducePlan &plan,
                                           llvm::SmallVectorImpl<unsigned> &scratch);
  mlir::LogicalResult translateMap(mlir::Operation *op, mlir::Region &body);
  mlir::LogicalResult translateInline(mlir::Operation *op, mlir::Region &body);
  mlir::LogicalResult translateOneByOne(mlir::Operation *op, mlir::Region &body);
  mlir::LogicalResult translateReference(mlir::Operation *op, mlir::Region &reference,
                                         llvm::StringRef name);
  unsigned hold(mlir::Value value);
  bool isImported(mlir::Value value) const;
  uint32_t importValue(mlir::Value value);

  // Elements that meet (TranslateCollective.cpp, TranslateDot.cpp).
  mlir::LogicalResult translateCollective(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateReduce(ReduceOp op);
  mlir::LogicalResult translateScan(ScanOp op);
  mlir::LogicalResult translateSort(SortOp op);
  mlir::LogicalResult translateHistogram(HistogramOp op);
  mlir::LogicalResult translateDot(DotOp op);
  mlir::LogicalResult translateDotScaled(DotScaledOp op);
  mlir::LogicalResult emitDot(mlir::Operation *op, DotPlan plan, mlir::Value a, mlir::Value b,
                              mlir::Value acc);
  uint32_t scratchSlot(size_t bytes, llvm::SmallVectorImpl<unsigned> &scratch);

  // Computing (TranslateCompute.cpp).
  mlir::LogicalResult translateCompute(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult translateBinary(mlir::Operation *op, BinaryOp kind, bool isUnsigned);
  mlir::LogicalResult translateCast(CastOp op);
  mlir::LogicalResult emitConversion(mlir::Operation *op, DType from, DType to, Rounding rounding,
                                     OverflowRule overflow);
  mlir::LogicalResult translateUnary(UnaryOp op);
  mlir::LogicalResult translateBinaryFn(BinaryFnOp op);
  mlir::LogicalResult translateSelect(mlir::arith::SelectOp op);
  mlir::LogicalResult translateFma(FmaOp op);
  mlir::LogicalResult translateConversion(mlir::Operation *op);
  mlir::LogicalResult translateCompare(mlir::Operation *op);
  mlir::LogicalResult emitValue(mlir::Operation *op, InstFn fn);
  void emitNanCheck(mlir::Operation *op);
  void emitIntegerCheck(mlir::Operation *op, BinaryOp kind, bool isUnsigned);

  // Shapes (TranslateShape.cpp).
  enum class MoveForm { Whole, Pick, Put };
  mlir::LogicalResult translateShape(mlir::Operation *op, bool &known);
  void emitMove(mlir::Operation *op, MovePlan plan, mlir::Type type, MoveForm form, uint32_t dst,
                uint32_t a, uint32_t b = kNoSlot);
  mlir::LogicalResult translateBroadcast(BroadcastOp op);
  mlir::LogicalResult translateSplat(SplatOp op);
  mlir::LogicalResult translatePermute(PermuteOp op);
  mlir::LogicalResult translateCat(CatOp op);
  mlir::LogicalResult translateFlip(FlipOp op);
  mlir::LogicalResult translateSlice(SliceOp op);
  mlir::LogicalResult translateInsert(InsertOp op);
  mlir::LogicalResult translatePick(PickOp op);
  mlir::LogicalResult translatePut(PutOp op);
  mlir::LogicalResult translateGather(GatherOp op);
  mlir::LogicalResult translateBitcast(BitcastOp op);

  // Memory (TranslateMemory.cpp).
  mlir::LogicalResult translateMemory(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateRead(ReadOp op);
  mlir::LogicalResult translateWrite(WriteOp op);
  mlir::LogicalResult translateLocate(LocateOp op);
  mlir::LogicalResult translateLoad(LoadOp op);
  mlir::LogicalResult translateStore(StoreOp op);
  mlir::LogicalResult translateMakeView(MakeViewOp op);
  mlir::LogicalResult translateSubview(SubviewOp op);
  mlir::LogicalResult translateViewQuery(mlir::Operation *op);
  mlir::LogicalResult translatePresent(PresentOp op);
  mlir::LogicalResult translatePointerAdd(PtrAddOp op);
  mlir::FailureOr<ViewSource> viewSourceOf(mlir::Operation *op, mlir::Value view);
  mlir::FailureOr<PlacePlan> placeOf(mlir::Operation *op, mlir::Value view,
                                     mlir::ValueRange indices, llvm::ArrayRef<int64_t> widths,
                                     mlir::Type tile);
  PointerPlan pointerPlanOf(mlir::Value pointer, mlir::Type value);
  void reserveOffsets(PlacePlan &plan);
  void emitPlace(mlir::Operation *op, PlacePlan plan, InstFn box, InstFn gather);
  static unsigned bytesOfElement(mlir::Type type);
  void noteClass(mlir::Type type, bool isWrite);

  // What an instance does beside memory and numbers (TranslateInstance.cpp).
  mlir::LogicalResult translateInstance(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateQuery(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateAtomic(mlir::Operation *op, bool &known);
  mlir::LogicalResult emitAtomic(mlir::Operation *op, AtomicPlan plan, MemOrder order,
                                 MemScope scope);
  void translatePrint(PrintOp op);
  void translateAssert(AssertOp op);
  void translateHint(HintOp op);
  bool findTurns();
  void emitTurn(mlir::Operation *op);
  void emitRound(mlir::Operation *op, mlir::ValueRange values, llvm::ArrayRef<uint32_t> carried);
  void findAddressArithmetic();
  void emitWrapCheck(mlir::Operation *op);

  KernelOp kernel;
  const Options &options;
  bool mayContract = true; // a * b + c may be one rounding
  Code *code = nullptr;
  std::vector<Slot> slots;
  std::map<uint32_t, std::vector<uint32_t>> freeOffsets; // by size
  llvm::DenseMap<mlir::Value, unsigned> slotOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>> dying;
  llvm::DenseMap<mlir::Operation *, uint32_t> infos;
  /// Sums and products of i32 that become part of an address.
  llvm::SmallPtrSet<mlir::Operation *, 8> addressArithmetic;
  RegionState body;
};

} // namespace tk::interp
