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
  mlir::LogicalResult translateReduce(ReduceOp op);
  mlir::LogicalResult translateCombine(ReduceOp op, ReducePlan &plan,
                                       llvm::SmallVectorImpl<unsigned> &scratch);
  unsigned hold(mlir::Value value);
  uint32_t importValue(mlir::Value value);

  // Computing (TranslateCompute.cpp).
  mlir::LogicalResult translateCompute(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult translateBinary(mlir::Operation *op, BinaryOp kind, bool isUnsigned);
  mlir::LogicalResult translateCast(CastOp op);
  mlir::LogicalResult translateUnary(UnaryOp op);
  mlir::LogicalResult translateSelect(mlir::arith::SelectOp op);
  mlir::LogicalResult translateBroadcast(BroadcastOp op);
  mlir::LogicalResult translateSplat(SplatOp op);
  mlir::LogicalResult translateFma(FmaOp op);
  mlir::LogicalResult translateConversion(mlir::Operation *op);
  mlir::LogicalResult translateCompare(mlir::Operation *op);
  mlir::LogicalResult emitValue(mlir::Operation *op, InstFn fn);
  void emitNanCheck(mlir::Operation *op);
  void emitIntegerCheck(mlir::Operation *op, BinaryOp kind, bool isUnsigned);

  // Memory (TranslateMemory.cpp).
  mlir::LogicalResult translateMemory(mlir::Operation *op, bool &known);
  mlir::LogicalResult translateRead(ReadOp op);
  mlir::LogicalResult translateWrite(WriteOp op);
  mlir::LogicalResult translateLoad(LoadOp op);
  mlir::LogicalResult translateStore(StoreOp op);
  mlir::LogicalResult translateViewQuery(mlir::Operation *op);
  mlir::FailureOr<uint32_t> argumentOf(mlir::Operation *op, mlir::Value view);
  void noteClass(int64_t aliasClass, bool isWrite);
  std::vector<uint32_t> argumentsOfClass(mlir::Value pointer);

  KernelOp kernel;
  const Options &options;
  bool mayContract = true; // a * b + c may be one rounding
  Code *code = nullptr;
  std::vector<Slot> slots;
  std::map<uint32_t, std::vector<uint32_t>> freeOffsets; // by size
  llvm::DenseMap<mlir::Value, unsigned> slotOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 4>> dying;
  llvm::DenseMap<mlir::Operation *, uint32_t> infos;
  /// Divisions by the step of a loop that make its number of trips.
  /// Inside a combine region: how many pairs run at once, 0 outside.
  uint32_t bodyLanes = 0;
  mlir::Region *bodyRegion = nullptr;
};

} // namespace tk::interp
