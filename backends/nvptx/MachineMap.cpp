//===- MachineMap.cpp - regions of scalars, bits under another type, promises -------===//
//
// The region of tk.map becomes code once for each register, with branches of its own: lanes part
// where they disagree. A region that is large, for many registers, becomes one loop over them,
// whose elements lie in the thread's local memory meanwhile.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

//===----------------------------------------------------------------------===//
// Scalars and tiles alike
//===----------------------------------------------------------------------===//

unsigned Machine::registersOf(Type type) {
  return isa<RankedTensorType>(type) ? tkg::layoutOf(type).getMap().numRegisters() : 1;
}

Value Machine::elementOf(Value value, unsigned index) {
  return isa<RankedTensorType>(value.getType()) ? reg(value, index) : scalar(value);
}

void Machine::setElement(Value value, unsigned index, Value element) {
  if (!isa<RankedTensorType>(value.getType())) {
    scalars[value] = element;
    return;
  }
  Tile &tile = tiles[value];
  tile.resize(registersOf(value.getType()));
  tile[index] = {element, 0};
}

//===----------------------------------------------------------------------===//
// tk.map
//===----------------------------------------------------------------------===//

/// Operations that the unrolled code of one tk.map may have.
static constexpr unsigned kMostUnrolled = 4096;

/// The region with the scalars `operands`; what it yields.
FailureOr<SmallVector<Value>> Machine::lowerRegion(Block &body, ValueRange operands) {
  for (auto [argument, operand] : llvm::zip(body.getArguments(), operands))
    scalars[argument] = operand;
  if (failed(lowerBlock(body)))
    return failure();
  SmallVector<Value> results;
  for (Value yielded : body.getTerminator()->getOperands())
    results.push_back(scalar(yielded));
  return results;
}

LogicalResult Machine::lowerMap(MapOp op) {
  Block &body = op.getBody().front();
  unsigned count = registersOf(op.getResult(0).getType()), size = 0;
  op.getBody().walk([&](Operation *) { ++size; });
  if (count > 1 && size * count > kMostUnrolled)
    return lowerMapAsLoop(op, count);
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(elementOf(operand, i));
    FailureOr<SmallVector<Value>> results = lowerRegion(body, operands);
    if (failed(results))
      return failure();
    for (auto [result, value] : llvm::zip(op.getResults(), *results))
      setElement(result, i, value);
  }
  return success();
}

/// Room for `count` elements of a type in the thread's local memory.
Value Machine::localArray(Type type, unsigned count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Type pointer = LLVM::LLVMPointerType::get(context);
  Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  return LLVM::AllocaOp::create(builder, loc, pointer, LLVM::LLVMArrayType::get(type, count), one);
}

/// i1 lies in a byte.
static Type memoryTypeOf(Type type, OpBuilder &builder) {
  return type.isInteger(1) ? builder.getI8Type() : type;
}

Value Machine::loadLocal(Value array, Value index, Type type) {
  Type memory = memoryTypeOf(type, builder);
  Value address = LLVM::GEPOp::create(builder, loc, array.getType(), memory, array,
                                      ArrayRef<LLVM::GEPArg>{index});
  Value value = LLVM::LoadOp::create(builder, loc, memory, address);
  return memory == type ? value : BitOps(builder, loc).ne(value, 0);
}

void Machine::storeLocal(Value array, Value index, Value value) {
  Type memory = memoryTypeOf(value.getType(), builder);
  Value address = LLVM::GEPOp::create(builder, loc, array.getType(), memory, array,
                                      ArrayRef<LLVM::GEPArg>{index});
  if (memory != value.getType())
    value = BitOps(builder, loc).zext(value, 8);
  LLVM::StoreOp::create(builder, loc, value, address);
}

LogicalResult Machine::lowerMapAsLoop(MapOp op, unsigned count) {
  BitOps ops(builder, loc);
  SmallVector<Value> arrays;
  SmallVector<Type> types;
  SmallVector<Value> values(op.getOperands());
  llvm::append_range(values, op.getResults());
  for (Value value : values) {
    types.push_back(machineType(elementTypeOf(value.getType())));
    arrays.push_back(localArray(memoryTypeOf(types.back(), builder), count));
  }
  size_t inputs = op.getOperands().size();
  for (auto [number, operand] : llvm::enumerate(op.getOperands()))
    for (unsigned i = 0; i < count; ++i)
      storeLocal(arrays[number], integer(i, 64), elementOf(operand, i));
  Block *body = newBlock({builder.getI64Type()}), *exit = newBlock({});
  LLVM::BrOp::create(builder, loc, integer(0, 64), body);
  builder.setInsertionPointToEnd(body);
  Value index = body->getArgument(0);
  SmallVector<Value> operands;
  for (size_t i = 0; i < inputs; ++i)
    operands.push_back(loadLocal(arrays[i], index, types[i]));
  FailureOr<SmallVector<Value>> results;
  {
    MadeScope inner(made);
    results = lowerRegion(op.getBody().front(), operands);
  }
  if (failed(results))
    return failure();
  for (auto [i, value] : llvm::enumerate(*results))
    storeLocal(arrays[inputs + i], index, value);
  Value next =
      LLVM::AddOp::create(builder, loc, index, integer(1, 64), LLVM::IntegerOverflowFlags::nsw);
  auto loop = LLVM::CondBrOp::create(builder, loc, ops.ult(next, count), body, ValueRange{next},
                                     exit, ValueRange());
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, builder.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  loop.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                                           {}, {}, {}, {}, {}, {}, {}, {}));
  builder.setInsertionPointToEnd(exit);
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    for (unsigned i = 0; i < count; ++i)
      setElement(result, i,
                 loadLocal(arrays[inputs + number], integer(i, 64), types[inputs + number]));
  return success();
}

//===----------------------------------------------------------------------===//
// tk.bitcast, tk.hint
//===----------------------------------------------------------------------===//

/// The registers of a tile by the coordinates that they have in the first thread.
std::map<std::vector<int32_t>, unsigned> Machine::registersByPlace(const LinearLayout &layout) {
  std::map<std::vector<int32_t>, unsigned> places;
  for (int32_t i = layout.numRegisters() - 1; i >= 0; --i) {
    Coords at = layout.apply(i, 0, 0);
    places[std::vector<int32_t>(at.begin(), at.end())] = i;
  }
  return places;
}

static Value withoutType(BitOps ops, Value value) {
  return value.getType().isInteger() ? value : ops.bitsOf(value);
}

/// Integers of the register types, whose upper bits are zero, as one of `bits` bits, low ones
/// first.
static Value joinBits(BitOps ops, ArrayRef<Value> pieces, unsigned pieceBits, unsigned bits) {
  Value all;
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Value shifted = ops.shl(ops.zext(piece, bits), i * pieceBits);
    all = all ? ops.bor(all, shifted) : shifted;
  }
  return all;
}

/// Planning puts all parts of a wide element into one thread.
void Machine::lowerBitcast(BitcastOp op) {
  BitOps ops(builder, loc);
  Value from = op.getValue(), to = op.getResult();
  unsigned fromBits = elementTypeOf(from.getType()).getIntOrFloatBitWidth();
  unsigned toBits = elementTypeOf(to.getType()).getIntOrFloatBitWidth();
  Type type = machineType(elementTypeOf(to.getType()));
  unsigned count = registersOf(to.getType());
  if (fromBits == toBits) {
    for (unsigned i = 0; i < count; ++i)
      setElement(to, i, ops.bitcast(elementOf(from, i), type));
    return;
  }
  LinearLayout layout = layoutOf(to);
  std::map<std::vector<int32_t>, unsigned> sources = registersByPlace(layoutOf(from));
  unsigned axis = *op.getAxis(), ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  for (unsigned i = 0; i < count; ++i) {
    Coords coords = layout.apply(i, 0, 0);
    std::vector<int32_t> at(coords.begin(), coords.end());
    Value bits;
    if (fromBits > toBits) {
      unsigned part = at[axis] % ratio;
      at[axis] /= ratio;
      bits = ops.lshr(withoutType(ops, reg(from, sources.at(at))), part * toBits);
      bits = ops.trunc(bits, std::max(toBits, 8u));
      bits = toBits < 8 ? ops.band(bits, (1 << toBits) - 1) : bits;
    } else {
      SmallVector<Value> pieces;
      at[axis] *= ratio;
      for (unsigned part = 0; part < ratio; ++part, ++at[axis])
        pieces.push_back(withoutType(ops, reg(from, sources.at(at))));
      bits = joinBits(ops, pieces, fromBits, toBits);
    }
    setElement(to, i, ops.bitcast(bits, type));
  }
}

/// The promise has done its work in the analyses.
void Machine::lowerHint(HintOp op) {
  if (isa<RankedTensorType>(op.getType()))
    tiles[op.getResult()] = Tile(tiles[op.getValue()]);
  else
    scalars[op.getResult()] = scalar(op.getValue());
}
