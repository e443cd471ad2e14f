//===- MachineAtomic.cpp - memory that others change -------------------------------===//
//
// One thread performs the operation for an element, whoever holds copies of it. What has no
// instruction is a loop that compares and swaps: sums of bf16 on older chips, minima and maxima of
// floats, 16 bits that are exchanged.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

//===----------------------------------------------------------------------===//
// Elements as words
//===----------------------------------------------------------------------===//

Value Machine::toBits(Value value) { return toWords(value)[0]; }

Value Machine::fromBits(Value bits, Type type) { return fromWords(bits, type, 1)[0]; }

/// One instruction; null when it has no result.
Value Machine::atom(StringRef action, const AtomicAccess &access, MemOrder order, Value pointer,
                    Value predicate, ValueRange values) {
  bool hasResult = access.hasResult && !action.starts_with("st.");
  auto word = builder.getIntegerType(access.type.getIntOrFloatBitWidth());
  auto op = tkg::PtxAtomOp::create(builder, loc, hasResult ? Type(word) : Type(), action, pointer,
                                   predicate, values, order, access.scope);
  return op.getResult();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Compares and swaps a word until nobody came between; returns what it held. `change` makes the
/// new word from the old one. Where `predicate` is false nothing happens, and the result is zero.
Value Machine::replaced(Value pointer, Value predicate, Type word, const AtomicAccess &access,
                        llvm::function_ref<Value(Value)> change) {
  unsigned bits = word.getIntOrFloatBitWidth();
  std::string suffix = llvm::formatv(".b{0}", bits).str();
  AtomicAccess inner = access;
  inner.hasResult = true;
  inner.type = word;
  Block *start = newBlock({}), *loop = newBlock({word}), *exit = newBlock({word});
  if (predicate)
    LLVM::CondBrOp::create(builder, loc, predicate, start, ValueRange(), exit,
                           ValueRange(integer(0, bits)));
  else
    LLVM::BrOp::create(builder, loc, ValueRange(), start);
  MadeScope inside(made);
  builder.setInsertionPointToEnd(start);
  Value first = atom("ld" + suffix, inner, MemOrder::relaxed, pointer, Value(), {});
  LLVM::BrOp::create(builder, loc, first, loop);
  builder.setInsertionPointToEnd(loop);
  Value old = loop->getArgument(0), next = change(old);
  Value found = atom("cas" + suffix, inner, access.order, pointer, Value(), {old, next});
  Value done = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, found, old);
  LLVM::CondBrOp::create(builder, loc, done, exit, ValueRange(found), loop, ValueRange(found));
  builder.setInsertionPointToEnd(exit);
  return exit->getArgument(0);
}

/// What memory becomes. Sums of bf16 are made in f32 and rounded once, as everywhere.
Value Machine::updated(const AtomicAccess &access, Value old) {
  Value value = access.values[0];
  switch (*access.kind) {
  case AtomicKind::add: {
    Type f32 = builder.getF32Type();
    Value sum = LLVM::FAddOp::create(builder, loc, f32, LLVM::FPExtOp::create(builder, loc, f32, old),
                                     LLVM::FPExtOp::create(builder, loc, f32, value));
    return LLVM::FPTruncOp::create(builder, loc, access.type, sum);
  }
  case AtomicKind::max:
    return intrinsic("llvm.maximum", access.type, {old, value});
  case AtomicKind::min:
    return intrinsic("llvm.minimum", access.type, {old, value});
  default:
    return value;
  }
}

Value Machine::atomicLoop(const AtomicAccess &access, Value pointer, Value predicate) {
  Type word = builder.getIntegerType(access.type.getIntOrFloatBitWidth());
  return replaced(pointer, predicate, word, access, [&](Value old) {
    return toBits(updated(access, fromBits(old, access.type)));
  });
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// The instruction of a change, or "" when there is none.
static std::string actionOf(AtomicKind kind, bool isUnsigned, Type type, const Target &target) {
  unsigned bits = type.getIntOrFloatBitWidth();
  auto typed = [&](StringRef name, StringRef letter) {
    return llvm::formatv("{0}.{1}{2}", name, letter, bits).str();
  };
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case AtomicKind::add:
    if (type.isBF16())
      return target.hasBf16Arithmetic ? "add.noftz.bf16" : "";
    return type.isF16() ? "add.noftz.f16" : typed("add", isFloat ? "f" : "u");
  case AtomicKind::max:
  case AtomicKind::min:
    return isFloat ? "" : typed(stringifyAtomicKind(kind), isUnsigned ? "u" : "s");
  case AtomicKind::exchange:
    return bits == 16 ? "" : typed("exch", "b");
  default:
    return typed(stringifyAtomicKind(kind), "b");
  }
}

/// The result's word, or null.
Value Machine::atomicElement(const AtomicAccess &access, Value pointer, Value predicate) {
  unsigned bits = access.type.getIntOrFloatBitWidth();
  SmallVector<Value> words;
  for (Value value : access.values)
    words.push_back(toBits(value));
  std::string action;
  if (access.kind) {
    action = actionOf(*access.kind, access.op->hasAttr("is_unsigned"), access.type, target);
    if (action.empty())
      return atomicLoop(access, pointer, predicate);
  } else {
    StringRef name = isa<AtomicCasOp>(access.op) ? "cas" : isa<AtomicLoadOp>(access.op) ? "ld" : "st";
    action = llvm::formatv("{0}.b{1}", name, bits).str();
  }
  return atom(action, access, access.order, pointer, predicate, words);
}

//===----------------------------------------------------------------------===//
// Tiles and scalars
//===----------------------------------------------------------------------===//

/// Elements that this thread holds copies of: from its own register, or from the lane that has it.
void Machine::shareResult(Value result, Tile tile) {
  LinearLayout layout = layoutOf(result);
  uint32_t duplicates = layout.ownerMask(InDim::Register);
  std::map<std::vector<int32_t>, unsigned> owners;
  for (int32_t i = layout.numRegisters() - 1; i >= 0; --i) {
    Coords at = layout.apply(i, 0, 0);
    if (!(i % layout.numCoreElements() & duplicates))
      owners[std::vector<int32_t>(at.begin(), at.end())] = i;
  }
  uint32_t copies = layout.freeBits(InDim::Lane);
  bool throughMemory = llvm::all_of(result.getUsers(), llvm::IsaPred<tkg::BufStoreOp>);
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    Coords at = layout.apply(i, 0, 0);
    unsigned owner = owners.at({at.begin(), at.end()});
    if (owner != unsigned(i))
      tile[i] = tile[owner];
    else if (copies != 0 && !throughMemory)
      tile[i].var = shuffle(tile[i].var, once<LLVM::AndOp>(lane, integer(int32_t(~copies), 32)), NVVM::ShflKind::idx);
  }
  tiles[result] = std::move(tile);
}

/// Atomic operations, and loads of memory that others change.
void Machine::lowerAtomic(Operation *op) {
  AtomicAccess access{op, {}, {}, MemOrder::relaxed, MemScope::gpu, {}, !op->use_empty()};
  Value pointers, mask;
  SmallVector<Value, 2> values;
  TypeSwitch<Operation *>(op)
      .Case<AtomicRmwOp, AtomicStoreOp>([&](auto atomic) { values = {atomic.getValue()}; })
      .Case([&](AtomicCasOp cas) { values = {cas.getExpected(), cas.getDesired()}; });
  TypeSwitch<Operation *>(op).Case<AtomicRmwOp, AtomicStoreOp, AtomicCasOp, AtomicLoadOp>(
      [&](auto atomic) {
        pointers = atomic.getPointer();
        mask = atomic.getMask();
        access.order = atomic.getOrder();
        access.scope = atomic.getScope();
      });
  if (auto rmw = dyn_cast<AtomicRmwOp>(op))
    access.kind = rmw.getKind();
  access.type = machineType(cast<PtrType>(elementTypeOf(pointers.getType())).getPointee());
  if (!isa<RankedTensorType>(pointers.getType())) {
    for (Value value : values)
      access.values.push_back(scalar(value));
    Value predicate = andOf(mask ? scalar(mask) : Value(), firstThread());
    Value word = atomicElement(access, scalar(pointers), predicate);
    if (access.hasResult)
      scalars[op->getResult(0)] = fromBits(word, access.type);
    return;
  }
  LinearLayout layout = layoutOf(pointers);
  Value owner = ownership(layout);
  Tile tile(layout.numRegisters());
  for (int32_t i = 0; i < layout.numRegisters(); ++i) {
    if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
      continue;
    access.values.clear();
    for (Value value : values)
      access.values.push_back(reg(value, i));
    Value predicate = mask ? reg(mask, i) : Value();
    predicate = andOf(andOf(predicate, validity(layout, i)), owner);
    Value word = atomicElement(access, reg(pointers, i), predicate);
    if (access.hasResult)
      tile[i] = {fromBits(word, access.type), 0};
  }
  if (access.hasResult)
    shareResult(op->getResult(0), std::move(tile));
}

/// Sums of several floats side by side in one instruction, as PTX has it for words: `add.v4.f32`, `add.noftz.v2.bf16x2`.
static std::string vectorSum(Type type, size_t words) {
  std::string vector = words > 1 ? llvm::formatv("v{0}.", words).str() : "";
  return type.isF32() ? "add." + vector + "f32" : "add.noftz." + vector + (type.isF16() ? "f16x2" : "bf16x2");
}

/// Changes whose result nobody asks for, at a base and offsets: as many elements at once as the access has.
void Machine::lowerPlacedAtomic(tkg::AtomicRmwOp op) {
  Value base = scalar(op.getBase());
  Type pointee = op.getBase().getType().getPointee();
  AtomicAccess access{op, op.getKind(), {}, MemOrder::relaxed, op.getScope(), machineType(pointee), false};
  int64_t vector = op.getVector();
  forEachOwned(op.getValue(), op.getMask(), vector, [&](unsigned first, Value predicate) {
    Value address = pointer(base, tiles[op.getOffset()][first], pointee);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vector; ++i)
      elements.push_back(reg(op.getValue(), first + i));
    if (vector > 1) {
      SmallVector<Value> words = toWords(elements);
      atom(vectorSum(access.type, words.size()), access, access.order, address, predicate, words);
    } else {
      access.values.assign({elements[0]});
      atomicElement(access, address, predicate);
    }
  });
}
