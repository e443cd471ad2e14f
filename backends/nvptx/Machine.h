//===- Machine.h - one kernel from block level to one thread's code ------------===//
//
// A hand-written walk: each operation of phase Ordered becomes LLVM-dialect operations on scalars,
// one for each register of its tile. A tile value is a list of `Element`s in the order of its
// layout's registers. An i32 element may be kept as "variable + constant" until it is used, so
// that offsets of the registers of a tile share one variable and differ in the immediate: the
// address of each is then one register plus an immediate, and LLVM never sees a sign-extended sum.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/target/Target.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace tk::nvptx {

/// var + imm; a null variable is zero. Only i32 elements have an immediate.
struct Element {
  mlir::Value var;
  int64_t imm = 0;
};

using Tile = llvm::SmallVector<Element>;

/// A device parameter: what the loader computes for it, and its type.
struct DeviceParam {
  mlir::Attribute value; // contract expression
  mlir::Type type;       // of the LLVM function's argument
  std::string dtype;     // as the description names it: ptr, i64, f32, ...
  unsigned size;         // bytes, and alignment
};

class Machine {
public:
  Machine(KernelOp kernel, const Target &target, mlir::Value sharedBase = {});

  /// Makes the function beside the kernel. Fails with a diagnostic for what has no code.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lower();
  llvm::ArrayRef<DeviceParam> params() const { return deviceParams; }

private:
  // MachineKernel.cpp: signature, entry, control flow
  void collectParams();
  unsigned paramFor(mlir::Attribute value, mlir::Type type, llvm::StringRef dtype);
  mlir::LLVM::LLVMFuncOp makeFunction();
  void attachAttributes(mlir::LLVM::LLVMFuncOp function);
  void makeEntry();
  void collectExactOffsets();
  void bindArguments();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  unsigned elementsPerWord(mlir::Value tile);
  llvm::SmallVector<mlir::Value> flatten(mlir::ValueRange values);
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat);
  llvm::SmallVector<mlir::Type> flatTypes(mlir::ValueRange values);
  mlir::Block *newBlock(llvm::ArrayRef<mlir::Type> types);

  // MachineTiles.cpp: values, coordinates, shape operations
  mlir::Type machineType(mlir::Type element);
  mlir::Value integer(int64_t value, unsigned bits);
  mlir::Value materialize(const Element &element);
  mlir::Value scalar(mlir::Value value);
  mlir::Value reg(mlir::Value tile, unsigned index);
  Tile &tileOf(mlir::Value value);
  LinearLayout layoutOf(mlir::Value tile);
  mlir::Value threadCoordinate(const LinearLayout &layout, unsigned axis);
  Element coordinate(const LinearLayout &layout, unsigned axis, unsigned index);
  mlir::Value validity(const LinearLayout &layout, unsigned index);
  mlir::Value ownership(const LinearLayout &layout);
  mlir::Value andOf(mlir::Value a, mlir::Value b);
  void lowerConstant(mlir::Operation *op);
  void lowerShape(mlir::Operation *op);

  // MachineElementwise.cpp, MachineMath.cpp: one element
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  bool foldOffset(mlir::Operation *op);
  mlir::Value element(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value arithmetic(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value division(mlir::Operation *op, mlir::ValueRange operands, bool remainder);
  mlir::Value shift(mlir::Operation *op, mlir::ValueRange operands, bool left);
  mlir::Value extremum(mlir::Operation *op, mlir::ValueRange operands, bool maximum);
  mlir::Value conversion(CastOp op, mlir::Value operand);
  mlir::Value compare(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value unary(UnaryOp op, mlir::Value operand);
  mlir::Value unaryF32(UnaryFn fn, mlir::Value x);
  mlir::Value exponential(mlir::Value x);
  mlir::Value libdevice(llvm::StringRef name, mlir::Value x);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type, mlir::ValueRange operands);
  mlir::Value floating(double value, mlir::Type type);

  // MachineMemory.cpp: global memory
  mlir::Value pointer(mlir::Value base, const Element &offset, mlir::Type pointee);
  llvm::SmallVector<mlir::Value> loadWords(mlir::Value pointer, mlir::Value predicate,
                                           llvm::ArrayRef<mlir::Value> fills, bool readonly,
                                           bool byte, mlir::Type word);
  llvm::SmallVector<mlir::Value> loadElements(mlir::Value pointer, mlir::Value predicate,
                                              mlir::Value fill, mlir::Type type, unsigned count,
                                              bool readonly);
  void storeElements(mlir::Value pointer, mlir::Value predicate,
                     llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> toWords(llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> fromWords(llvm::ArrayRef<mlir::Value> words, mlir::Type type,
                                           unsigned count);
  void lowerLoad(tkg::LoadOp op);
  void lowerStore(tkg::StoreOp op);
  mlir::LogicalResult lowerPointerLoad(LoadOp op);
  mlir::LogicalResult lowerPointerStore(StoreOp op);
  void lowerPtrAdd(PtrAddOp op);

  // MachineShared.cpp: reductions, shared buffers, barriers
  struct Partial {
    llvm::SmallVector<mlir::Value, 2> values;
    mlir::Value valid; // null: always
  };
  Partial combine(tkg::ReduceOp op, const Partial &left, const Partial &right);
  Partial combineInThread(tkg::ReduceOp op, llvm::ArrayRef<unsigned> registers);
  Partial combineLanes(tkg::ReduceOp op, Partial partial);
  mlir::Value shuffle(mlir::Value value, int32_t laneMask);
  void lowerReduce(tkg::ReduceOp op);
  mlir::Value bufferPointer(mlir::Value buffer, const LinearLayout &layout, unsigned index);
  void lowerBufStore(tkg::BufStoreOp op);
  void lowerBufLoad(tkg::BufLoadOp op);
  void lowerConvert(tkg::ConvertOp op);
  mlir::Value sharedBase();

  KernelOp kernel;
  const Target &target;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp function;
  bool contract = true; // a * b + c may become one operation
  mlir::Value thread, lane, warp;

  llvm::SmallVector<DeviceParam> deviceParams;
  std::map<std::string, unsigned> paramIndex;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  std::map<std::pair<std::string, unsigned>, mlir::Value> coordinates;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> addresses;
  std::map<std::pair<int64_t, unsigned>, mlir::Value> constants;
  llvm::DenseSet<mlir::Operation *> exactOffsets; // i32 arithmetic known not to wrap
};

/// The kernels' description (docs/metadata.md) without resources and images, as JSON text. Each
/// entry: a kernel's variants in the order fast, general.
struct LoweredVariant {
  KernelOp kernel;
  llvm::SmallVector<DeviceParam> params;
};
std::string describeKernels(llvm::ArrayRef<LoweredVariant> variants, const Target &target);

/// The name of the block's dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedName = "tkc_shared";

} // namespace tk::nvptx
