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
#include "ir/tk/Elements.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/analysis/Contiguity.h"
#include "passes/analysis/MatrixLayouts.h"
#include "passes/analysis/Scalars.h"
#include "passes/analysis/SharedAccess.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/ScopedHashTable.h"
#include <map>

namespace tk {
class ShufflePlan;
struct ThreadParity;
} // namespace tk

namespace tk::nvptx {

/// var + imm + uniform; a null value is zero. Only i32 elements have more than the variable. The uniform part
/// is the same in all threads: where the registers of a tile differ in that alone, one of their addresses leads
/// to all of them.
struct Element {
  mlir::Value var;
  int64_t imm = 0;
  mlir::Value uniform = {};
};

using Tile = llvm::SmallVector<Element>;

/// For sums and products whose range is known to fit.
inline constexpr mlir::LLVM::IntegerOverflowFlags kNoWrap = mlir::LLVM::IntegerOverflowFlags::nsw;

/// Bytes that one element takes in memory.
int64_t bytesOf(mlir::Type machineType);
/// The words that hold `count` elements: their type and number.
std::pair<mlir::IntegerType, unsigned> wordsFor(mlir::Type machineType, unsigned count);

/// A device parameter: what the loader computes for it, and its type.
struct DeviceParam {
  mlir::Attribute value; // contract expression
  mlir::Type type;       // of the LLVM function's argument
  std::string dtype;     // as the description names it: ptr, i64, f32, ...
  unsigned size;         // bytes, and alignment
};

/// Operations of addresses, masks and words that are not made twice: each register of a tile asks for them, and LLVM
/// would take its time to find that they are one. What is made in a block is of use in it and in those that it
/// encloses.
class Made {
public:
  using Key = std::tuple<mlir::TypeID, uintptr_t, mlir::Value, mlir::Value>; // operation; flags, type or predicate; operands
  using Table = llvm::ScopedHashTable<Key, mlir::Value>;

  /// The value, from `make` where there is none.
  mlir::Value once(const Key &key, llvm::function_ref<mlir::Value()> make) {
    if (mlir::Value known = table.lookup(key))
      return known;
    mlir::Value value = make();
    table.insert(key, value);
    return value;
  }

private:
  friend class MadeScope;
  Table table;
};

/// While code goes into a block that does not dominate what follows.
class MadeScope {
public:
  explicit MadeScope(Made &made) : scope(made.table) {}

private:
  Made::Table::ScopeTy scope;
};

class Machine {
public:
  Machine(KernelOp kernel, const Target &target);

  /// Makes the function beside the kernel. Fails with a diagnostic for what has no code.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> lower();
  llvm::ArrayRef<DeviceParam> params() const { return deviceParams; }

private:
  // MachineKernel.cpp: signature, entry, control flow
  void collectParams();
  unsigned paramFor(mlir::Attribute value, mlir::Type type, llvm::StringRef dtype);
  void makeFunction();
  int32_t blockThreads();
  void attachAttributes(mlir::LLVM::LLVMFuncOp function);
  void makeEntry();
  void collectExactOffsets();
  void eraseUnused();
  void bindArguments();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerScalarOp(mlir::Operation *op);
  mlir::LogicalResult lowerTileOp(mlir::Operation *op);
  mlir::LogicalResult unsupported(mlir::Operation *op);
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
  struct ThreadPart {
    mlir::Value coordinate; // null: zero
    int32_t bits;           // those that may be set
  };
  mlir::Value threadCoordinate(const LinearLayout &layout, unsigned axis);
  ThreadPart threadPart(const LinearLayout &layout, unsigned axis);
  Element coordinate(const LinearLayout &layout, unsigned axis, unsigned index);
  mlir::Value validity(const LinearLayout &layout, unsigned index, std::optional<unsigned> skip = {});
  mlir::Value ownership(const LinearLayout &layout);
  mlir::Value andOf(mlir::Value a, mlir::Value b);
  mlir::Value compared(mlir::LLVM::ICmpPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value shifted(mlir::Value base, mlir::Value distance);
  void lowerConstant(mlir::Operation *op);
  void lowerShape(mlir::Operation *op);
  void lowerRegisterMove(mlir::Operation *op);

  // MachineElementwise.cpp, MachineMath.cpp: one element
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  bool isRange(mlir::Value tile);
  bool isOfRanges(mlir::Value tile);
  bool foldStride(mlir::Operation *op);
  bool foldSum(mlir::Operation *op);
  bool foldOffset(mlir::Operation *op);
  llvm::SmallVector<unsigned> firstAlike(mlir::Value tile);
  bool foldCompare(mlir::Operation *op);
  mlir::Value element(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value arithmetic(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value division(mlir::Operation *op, mlir::ValueRange operands, bool remainder);
  mlir::Value shift(mlir::Operation *op, mlir::ValueRange operands, bool left);
  mlir::Value extremum(mlir::Operation *op, mlir::ValueRange operands, bool maximum);
  mlir::Value compare(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value unary(UnaryOp op, mlir::Value operand);
  mlir::Value unaryWide(UnaryFn fn, mlir::Value x);
  mlir::Value approximation(UnaryFn fn, mlir::Value x);
  mlir::Value exponential(mlir::Value x);
  mlir::Value libdevice(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Value callDevice(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type type, mlir::ValueRange operands);
  mlir::Value floating(double value, mlir::Type type);

  // MachineFunctions.cpp: functions of two numbers and of bits
  mlir::Value binaryFunction(BinaryFnOp op, mlir::Value a, mlir::Value b);
  mlir::Value bitsFunction(BitsOp op, mlir::Value x);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value upperHalf(mlir::Value a, mlir::Value b, bool isUnsigned);

  // MachineMap.cpp, MachineAsm.cpp: regions, bits under another type, assembly, calls
  unsigned registersOf(mlir::Type type);
  mlir::Value elementOf(mlir::Value value, unsigned index);
  void setElement(mlir::Value value, unsigned index, mlir::Value element);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> lowerRegion(mlir::Block &body,
                                                              mlir::ValueRange operands);
  mlir::LogicalResult lowerMap(MapOp op);
  mlir::LogicalResult lowerMapAsLoop(MapOp op, unsigned count);
  mlir::Value localArray(mlir::Type type, unsigned count);
  mlir::Value loadLocal(mlir::Value array, mlir::Value index, mlir::Type type);
  void storeLocal(mlir::Value array, mlir::Value index, mlir::Value value);
  std::map<std::vector<int32_t>, unsigned> registersByPlace(const LinearLayout &layout);
  void lowerBitcast(BitcastOp op);
  void lowerHint(HintOp op);
  llvm::SmallVector<mlir::Value> packForAsm(mlir::Value value, unsigned first, int64_t pack,
                                            llvm::ArrayRef<char> letters);
  void unpackFromAsm(mlir::Value result, unsigned first, int64_t pack,
                     llvm::ArrayRef<mlir::Value> words);
  mlir::LogicalResult lowerAsm(AsmOp op);
  void executeAsm(AsmOp op, unsigned first, llvm::ArrayRef<char> letters);
  mlir::LogicalResult lowerExtern(ExternOp op);

  // MachineConvert.cpp: one number of another type
  struct Conversion {
    mlir::Type from, to; // of the dialect tk: fp8 and i4 among them
    bool fromUnsigned = false, toUnsigned = false;
    Round round = Round::rne;
    Overflow overflow = Overflow::natural; // of floats: `saturate` or `ieee`
  };
  Conversion conversionOf(CastOp op);
  mlir::Value conversion(CastOp op, mlir::Value operand);
  mlir::Value floatToFloat(const Conversion &how, mlir::Value x);
  mlir::Value floatToInteger(const Conversion &how, mlir::Value x);
  mlir::Value integerToFloat(const Conversion &how, mlir::Value x);
  mlir::Value integerToInteger(const Conversion &how, mlir::Value x);
  mlir::Value doubleToFloat(const Conversion &how, mlir::Value x);
  mlir::Value encode(const Conversion &how, mlir::Value x);
  mlir::Value cutToHalf(mlir::Value x, mlir::Type to);
  mlir::Value encodeByHardware(const Conversion &how, mlir::Value low, mlir::Value high);
  mlir::Value readFloat(mlir::Value x, mlir::Type type);
  mlir::Value readInteger(mlir::Value x, mlir::Type type, bool isUnsigned);
  mlir::Value asOddF32(mlir::Value x);
  mlir::Value oddFromDouble(mlir::Value x);
  mlir::Value oddFromInteger(mlir::Value x, bool isUnsigned);
  mlir::Value roundInteger(mlir::Value x, bool isUnsigned, mlir::Type to, Round round);
  mlir::Value clampFinite(mlir::Value x, mlir::Type type);
  mlir::Value clampInteger(mlir::Value x, bool isUnsigned, mlir::Type to, bool toUnsigned);
  mlir::Value cutInteger(mlir::Value x, mlir::Type to);
  bool convertPairs(CastOp op);

  // MachineMemory.cpp: global memory
  struct AccessKind {
    bool readonly = false, isVolatile = false;
    CacheHintAttr cache;
    EvictHintAttr evict;
    bool isPlain() const { return !isVolatile && !cache && !evict; }
  };
  mlir::Value pointer(mlir::Value base, const Element &offset, mlir::Type pointee);
  mlir::Value zeroOf(mlir::Type type);
  bool isReadonly(mlir::Value pointer);
  llvm::SmallVector<mlir::Value> loadWords(mlir::Value pointer, mlir::Value predicate,
                                           llvm::ArrayRef<mlir::Value> fills, AccessKind kind,
                                           bool byte, mlir::Type word);
  llvm::SmallVector<mlir::Value> loadElements(mlir::Value pointer, mlir::Value predicate,
                                              mlir::Value fill, mlir::Type type, unsigned count,
                                              AccessKind kind);
  void storeElements(mlir::Value pointer, mlir::Value predicate,
                     llvm::ArrayRef<mlir::Value> elements, AccessKind kind);
  void lowerLoad(tkg::LoadOp op);
  void lowerStore(tkg::StoreOp op);
  mlir::LogicalResult lowerPointerLoad(LoadOp op);
  void forEachOwned(mlir::Value tile, mlir::Value mask, int64_t vector, llvm::function_ref<void(unsigned, mlir::Value)> visit);
  mlir::LogicalResult lowerPointerStore(StoreOp op);
  void lowerPtrAdd(PtrAddOp op);
  bool extendRange(mlir::Operation *op);
  mlir::Value moved(mlir::Value base, mlir::Value offset, int64_t bytes);
  void lowerPrefetch(PrefetchOp op);
  void lowerPresent(PresentOp op);
  mlir::Value viewAddress(mlir::Value view);
  mlir::Value firstThread();

  // MachineWords.cpp: elements side by side
  mlir::Value reinterpret(mlir::Value value, mlir::Type type);
  mlir::Value vectorOf(llvm::ArrayRef<mlir::Value> parts);
  llvm::SmallVector<mlir::Value> toWords(llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> fromWords(llvm::ArrayRef<mlir::Value> words, mlir::Type type,
                                           unsigned count);

  // MachineAtomic.cpp: memory that others change
  struct AtomicAccess {
    mlir::Operation *op;
    std::optional<AtomicKind> kind; // of a change
    llvm::SmallVector<mlir::Value, 2> values; // of one element
    MemOrder order;
    MemScope scope;
    mlir::Type type; // of the element
    bool hasResult;
  };
  void lowerAtomic(mlir::Operation *op);
  void lowerPlacedAtomic(tkg::AtomicRmwOp op);
  mlir::Value atomicElement(const AtomicAccess &access, mlir::Value pointer, mlir::Value predicate);
  mlir::Value atom(llvm::StringRef action, const AtomicAccess &access, MemOrder order,
                   mlir::Value pointer, mlir::Value predicate, mlir::ValueRange values);
  mlir::Value atomicLoop(const AtomicAccess &access, mlir::Value pointer, mlir::Value predicate);
  mlir::Value updated(const AtomicAccess &access, mlir::Value old);
  mlir::Value replaced(mlir::Value pointer, mlir::Value predicate, mlir::Type word,
                       const AtomicAccess &access,
                       llvm::function_ref<mlir::Value(mlir::Value)> change);
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);
  void shareResult(mlir::Value result, Tile tile);

  // MachineDebug.cpp: what a kernel says of itself, and about the machine
  mlir::LogicalResult lowerInstance(mlir::Operation *op);
  mlir::LLVM::LLVMFuncOp deviceFunction(llvm::StringRef name, mlir::Type result,
                                        llvm::ArrayRef<mlir::Type> operands);
  mlir::Value text(llvm::StringRef text);
  mlir::Value printBuffer; // room for the values of a line, one for all lines
  void printLine(mlir::Value predicate, llvm::StringRef format, llvm::ArrayRef<mlir::Value> values);
  std::string printFormat(PrintOp op, unsigned index, mlir::Value element, mlir::Value &argument);
  void lowerPrint(PrintOp op);
  void lowerAssert(AssertOp op);

  // MachinePacked.cpp: elements of 4 bits, two a byte
  void lowerPackedLoad(tkg::LoadOp op);
  void lowerPackedStore(tkg::StoreOp op);
  mlir::Value nibbleOf(mlir::Value byte, mlir::Value index);
  mlir::Value packedPointer(mlir::Value base, const Element &offset);

  // MachineReduce.cpp, MachineScan.cpp: what meets in a warp
  struct Partial {
    llvm::SmallVector<mlir::Value, 2> values;
    mlir::Value valid; // null: always
  };
  /// Registers that differ along one axis only, in its order, by their other coordinates.
  using RegisterGroups = std::map<std::vector<int32_t>, llvm::SmallVector<unsigned>>;
  static RegisterGroups groupRegisters(const LinearLayout &layout, unsigned axis);
  Partial combine(mlir::Region &region, const Partial &left, const Partial &right);
  /// What register `index` of each tile holds.
  Partial partialAt(mlir::ValueRange tiles, unsigned index, mlir::Value valid);
  Partial combineInThread(tkg::ReduceOp op, llvm::ArrayRef<unsigned> registers);
  Partial combineLanes(tkg::ReduceOp op, Partial partial);
  mlir::Value exchangeWords(mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value)> exchange);
  mlir::Value shuffle(mlir::Value value, mlir::Value lane, mlir::NVVM::ShflKind kind);
  mlir::Value shuffle(mlir::Value value, int32_t laneMask);
  Partial shuffle(const Partial &partial, mlir::Value lane);
  void lowerReduce(tkg::ReduceOp op);
  struct ScanSteps;
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  void lowerScan(tkg::ScanOp op);
  void lowerScanCarry(tkg::ScanCarryOp op);
  void carryTree(tkg::ScanCarryOp op, llvm::ArrayRef<unsigned> totals, mlir::Value mine,
                 llvm::ArrayRef<unsigned> registers, llvm::MutableArrayRef<Tile> results);

  // MachineShared.cpp, MachineSort.cpp, MachineDot.cpp: shared buffers
  Element bufferStart(mlir::Value buffer);
  Element plus(Element a, const Element &b);
  Element times(const Element &a, int64_t factor);
  mlir::Value sharedBase();
  mlir::Value sharedPointer(const Element &offset);
  Element bufferOffset(mlir::Value buffer, const LinearLayout &layout, unsigned index,
                       std::optional<unsigned> skip = {});
  Element validOffset(mlir::Value buffer, const LinearLayout &layout, unsigned index, Element offset);
  mlir::Type bufferElement(mlir::Value buffer);
  void guarded(mlir::Value predicate, llvm::function_ref<void()> body);
  void storeShared(llvm::ArrayRef<mlir::Value> elements, mlir::Value pointer, mlir::Type type);
  llvm::SmallVector<mlir::Value> loadShared(mlir::Value pointer, mlir::Type type, mlir::Type memory,
                                            int64_t count);
  void forEachOrdered(mlir::Value buffer, const LinearLayout &layout,
                      llvm::function_ref<void(llvm::ArrayRef<int32_t>, mlir::Value)> visit);
  void storeOrdered(tkg::BufStoreOp op);
  void loadOrdered(tkg::BufLoadOp op);
  void lowerBufStore(tkg::BufStoreOp op);
  void lowerBufLoad(tkg::BufLoadOp op);
  void lowerBufGather(tkg::BufGatherOp op);
  void lowerRingSlot(tkg::RingSlotOp op);
  void copyAsync(mlir::Value target, mlir::Value source, int64_t bytes, mlir::Value read);
  void lowerAsyncCopy(tkg::AsyncCopyOp op);
  void lowerBufCount(tkg::BufCountOp op);
  struct RowSort;
  void lowerBufSort(tkg::BufSortOp op);
  // MachineShuffle.cpp: other layouts within threads and warps
  void lowerConvert(tkg::ConvertOp op);
  mlir::Value parity(const ThreadParity &when);
  mlir::Value laneOf(llvm::ArrayRef<ThreadParity> bits);
  llvm::SmallVector<mlir::Value> runPlan(const ShufflePlan &plan, mlir::Value tile, int32_t first,
                                         mlir::Value from);
  void lowerShuffles(tkg::ConvertOp op, const LayoutConversion &map);
  // MachineDot.cpp: products by multiply-adds
  struct DotOperand;
  DotOperand dotOperand(mlir::Value buffer, const LinearLayout &acc, unsigned along, unsigned across);
  mlir::Value widened(mlir::Value value, mlir::Type type, mlir::Type wide, bool isUnsigned);
  mlir::Value roundedToTf32(mlir::Value x);
  mlir::Value productStep(mlir::Value a, mlir::Value b, mlir::Value sum);
  llvm::SmallVector<mlir::Value> beginSums(mlir::Value acc);
  void endSums(mlir::Value acc, mlir::Value result, llvm::ArrayRef<mlir::Value> sums);
  void lowerDot(tkg::DotOp op);
  // MachineMatrixLoad.cpp, MachineMma.cpp: matrix instructions
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value buffer, const MatrixAccess &load, unsigned begin,
                                              unsigned end);
  struct Fragments;
  Fragments fragmentsOf(mlir::Value operand, const LinearLayout &layout, const MatrixTiling &tiling);
  llvm::SmallVector<mlir::Value> fragmentWords(const Fragments &fragments, unsigned step);
  struct MatrixStep;
  MatrixStep matrixStep(tkg::MmaOp op, const MatrixTiling &tiling);
  llvm::SmallVector<mlir::Value> matrixInstruction(const MatrixStep &step, llvm::ArrayRef<mlir::Value> a,
                                                   llvm::ArrayRef<mlir::Value> b, llvm::ArrayRef<mlir::Value> sums);
  using MatrixPieces = std::array<llvm::SmallVector<mlir::Value>, 2>;
  MatrixPieces matrixPieces(const MatrixStep &step, const Fragments &fragments, unsigned number);
  std::pair<mlir::Value, mlir::Value> halvesOfFp8(mlir::Value word, mlir::Type element);
  void lowerMma(tkg::MmaOp op);
  /// Values that go round a loop: what the body gets and what it gives.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> countedLoop(mlir::Value first, mlir::Value end, mlir::Value step,
                                             mlir::ValueRange carried, LoopBody body);

  /// Op(a, b), or Op(a) of a type, made once.
  template <class Op> mlir::Value once(mlir::Value a, mlir::Value b) {
    return made.once({mlir::TypeID::get<Op>(), 0, a, b}, [&] { return Op::create(builder, loc, a, b); });
  }
  template <class Op> mlir::Value once(mlir::Value a, mlir::Value b, mlir::LLVM::IntegerOverflowFlags flags) {
    return made.once({mlir::TypeID::get<Op>(), uintptr_t(flags), a, b},
                     [&] { return Op::create(builder, loc, a, b, flags); });
  }
  template <class Op> mlir::Value once(mlir::Type type, mlir::Value a) {
    return made.once({mlir::TypeID::get<Op>(), uintptr_t(type.getAsOpaquePointer()), a, mlir::Value()},
                     [&] { return Op::create(builder, loc, type, a); });
  }

  KernelOp kernel;
  ScalarAnalysis known;
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
  std::map<LinearLayout, llvm::SmallVector<ThreadPart>> threadParts;
  mlir::Value shared; // where the block's shared memory begins
  Made made;
  std::map<std::pair<int64_t, unsigned>, mlir::Value> constants;
  llvm::DenseSet<mlir::Operation *> exactOffsets; // i32 arithmetic known not to wrap
  ContiguityAnalysis contiguity{known};
  llvm::DenseSet<mlir::Operation *> ofRanges;     // those that keep apart what registers differ in
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
