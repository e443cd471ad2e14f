//===- MachineSort.cpp - bitonic sort of rows in shared memory ------------------------===//
//
// Stage (k, j), for k = 1 .. log N and j = k - 1 .. 0, compares elements whose places differ in bit
// j; bit k of the place says which way. Both counters are the loop's, so the code is small whatever
// the side. Keys become unsigned integers whose order is the language's (-0 below +0, NaN above
// all); equal keys are ordered by their indices, so the result does not depend on the network.
// K. Batcher, "Sorting networks and their applications", 1968.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

SmallVector<Value> Machine::countedLoop(Value first, Value end, Value step, ValueRange carried, LoopBody body) {
  SmallVector<Type> types{first.getType()};
  llvm::append_range(types, carried.getTypes());
  Block *header = newBlock(types), *inside = newBlock({}), *after = newBlock({});
  SmallVector<Value> start{first};
  llvm::append_range(start, carried);
  LLVM::BrOp::create(builder, loc, start, header);
  builder.setInsertionPointToEnd(header);
  Value index = header->getArgument(0);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, index, end);
  LLVM::CondBrOp::create(builder, loc, more, inside, ValueRange(), after, ValueRange());
  builder.setInsertionPointToEnd(inside);
  MadeScope inner(made);
  SmallVector<Value> next = body(index, header->getArguments().drop_front());
  next.insert(next.begin(), LLVM::AddOp::create(builder, loc, index, step, kNoWrap));
  LLVM::BrOp::create(builder, loc, next, header);
  builder.setInsertionPointToEnd(after);
  return SmallVector<Value>(header->getArguments().drop_front());
}

/// The unsigned integer whose order is that of the sort.
static Value orderedKey(OpBuilder &builder, Location loc, Value key, bool isUnsigned, bool descending) {
  Type type = key.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type plain = builder.getIntegerType(bits);
  auto constant = [&](APInt value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, plain, builder.getIntegerAttr(plain, value));
  };
  Value sign = constant(APInt::getSignMask(bits)), ones = constant(APInt::getAllOnes(bits));
  if (auto real = dyn_cast<FloatType>(type)) {
    Value raw = LLVM::BitcastOp::create(builder, loc, plain, key);
    Value negative = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, raw, constant(APInt::getZero(bits)));
    Value nan = LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, key, key);
    Value flipped = LLVM::XOrOp::create(builder, loc, raw, ones);
    Value raised = LLVM::OrOp::create(builder, loc, raw, sign);
    key = LLVM::SelectOp::create(builder, loc, negative, flipped, raised);
    key = LLVM::SelectOp::create(builder, loc, nan, ones, key);
  } else if (!isUnsigned) {
    key = LLVM::XOrOp::create(builder, loc, key, sign);
  }
  return descending ? LLVM::XOrOp::create(builder, loc, key, ones).getResult() : key;
}

/// One sort: the buffers, and how elements compare.
struct Machine::RowSort {
  Machine &machine;
  tkg::BufSortOp op;
  int64_t rows, width, logWidth;
  Type memory;
  bool isUnsigned;
  Element keys, indices;

  /// What stands at one place of a row.
  struct Entry {
    Value keyPointer, indexPointer, key, index;
  };

  RowSort(Machine &machine, tkg::BufSortOp op);
  Value make(Value a, int64_t b, Value (Machine::*how)(Value, Value)) { return (machine.*how)(a, machine.integer(b, 32)); }
  Value compare(LLVM::ICmpPredicate how, Value a, Value b) {
    return LLVM::ICmpOp::create(machine.builder, machine.loc, how, a, b);
  }
  Entry entryAt(Value place);
  Value follows(const Entry &a, const Entry &b);
  void numberIndices();
  void compareExchange(Value pair, Value k, Value j);
  void run();
};

Machine::RowSort::RowSort(Machine &machine, tkg::BufSortOp op) : machine(machine), op(op) {
  auto type = cast<tkg::BufType>(op.getKeys().getType());
  rows = type.getShape()[0];
  width = type.getShape()[1];
  logWidth = llvm::Log2_64(width);
  memory = machine.bufferElement(op.getKeys());
  isUnsigned = op.getIsUnsigned() || type.getElement().isInteger(1);
  keys = machine.bufferStart(op.getKeys());
  indices = machine.bufferStart(op.getIndices());
}

Machine::RowSort::Entry Machine::RowSort::entryAt(Value place) {
  Type i32 = machine.builder.getI32Type();
  int64_t bytes = cast<tkg::BufType>(op.getKeys().getType()).getElementBytes();
  Entry entry;
  entry.keyPointer = machine.sharedPointer(machine.plus(keys, machine.times({place, 0}, bytes)));
  entry.indexPointer = machine.sharedPointer(machine.plus(indices, machine.times({place, 0}, 4)));
  entry.key = machine.loadShared(entry.keyPointer, memory, memory, 1)[0];
  entry.index = machine.loadShared(entry.indexPointer, i32, i32, 1)[0];
  return entry;
}

/// Whether a comes after b. Padding has the highest indices and comes last.
Value Machine::RowSort::follows(const Entry &a, const Entry &b) {
  using P = LLVM::ICmpPredicate;
  OpBuilder &builder = machine.builder;
  Value x = orderedKey(builder, machine.loc, a.key, isUnsigned, op.getDescending());
  Value y = orderedKey(builder, machine.loc, b.key, isUnsigned, op.getDescending());
  Value byIndex = compare(P::ugt, a.index, b.index);
  Value result = machine.bitOr(compare(P::ugt, x, y), machine.bitAnd(compare(P::eq, x, y), byIndex));
  if (int64_t(op.getSide()) == width)
    return result;
  Value side = machine.integer(op.getSide(), 32);
  Value pad = machine.bitOr(compare(P::uge, a.index, side), compare(P::uge, b.index, side));
  return LLVM::SelectOp::create(builder, machine.loc, pad, byIndex, result);
}

void Machine::RowSort::numberIndices() {
  Value threads = machine.integer(machine.blockThreads(), 32);
  machine.countedLoop(machine.thread, machine.integer(rows * width, 32), threads, {}, [&](Value place, ValueRange) {
    Value pointer = machine.sharedPointer(machine.plus(indices, machine.times({place, 0}, 4)));
    LLVM::StoreOp::create(machine.builder, machine.loc, make(place, width - 1, &Machine::bitAnd), pointer);
    return SmallVector<Value>();
  });
}

/// Places of a pair: its number with a zero, or a one, inserted at bit j.
void Machine::RowSort::compareExchange(Value pair, Value k, Value j) {
  OpBuilder &builder = machine.builder;
  Location loc = machine.loc;
  Value one = machine.integer(1, 32), distance = LLVM::ShlOp::create(builder, loc, one, j);
  Value low = machine.bitAnd(pair, LLVM::SubOp::create(builder, loc, distance, one));
  Value high = LLVM::ShlOp::create(builder, loc, LLVM::LShrOp::create(builder, loc, pair, j),
                                   LLVM::AddOp::create(builder, loc, j, one));
  Value first = machine.bitOr(high, low);
  Entry a = entryAt(first), b = entryAt(machine.bitOr(first, distance));
  Value down = LLVM::LShrOp::create(builder, loc, make(first, width - 1, &Machine::bitAnd), k);
  down = LLVM::TruncOp::create(builder, loc, builder.getI1Type(), down);
  machine.guarded(LLVM::XOrOp::create(builder, loc, follows(a, b), down), [&] {
    machine.storeShared(b.key, a.keyPointer, memory);
    machine.storeShared(a.key, b.keyPointer, memory);
    machine.storeShared(b.index, a.indexPointer, builder.getI32Type());
    machine.storeShared(a.index, b.indexPointer, builder.getI32Type());
  });
}

void Machine::RowSort::run() {
  numberIndices();
  Value one = machine.integer(1, 32), threads = machine.integer(machine.blockThreads(), 32);
  auto nothing = [] { return SmallVector<Value>(); };
  machine.countedLoop(one, machine.integer(logWidth + 1, 32), one, {}, [&](Value k, ValueRange) {
    machine.countedLoop(machine.integer(0, 32), k, one, {}, [&](Value done, ValueRange) {
      Value left = LLVM::SubOp::create(machine.builder, machine.loc, k, one);
      Value j = LLVM::SubOp::create(machine.builder, machine.loc, left, done);
      NVVM::Barrier0Op::create(machine.builder, machine.loc);
      machine.countedLoop(machine.thread, machine.integer(rows * width / 2, 32), threads, {}, [&](Value pair, ValueRange) {
        compareExchange(pair, k, j);
        return nothing();
      });
      return nothing();
    });
    return nothing();
  });
}

void Machine::lowerBufSort(tkg::BufSortOp op) { RowSort(*this, op).run(); }
