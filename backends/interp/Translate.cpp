//===- Translate.cpp - places of values, and the walk over a kernel ----------------===//

#include "backends/interp/Translate.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

static std::optional<DType> floatTypeOf(Type element) {
  using Result = std::optional<DType>;
  return llvm::TypeSwitch<Type, Result>(element)
      .Case<Float16Type>([](Type) { return DType::f16; })
      .Case<BFloat16Type>([](Type) { return DType::bf16; })
      .Case<Float32Type>([](Type) { return DType::f32; })
      .Case<Float64Type>([](Type) { return DType::f64; })
      .Case<Float8E4M3FNType>([](Type) { return DType::f8e4m3fn; })
      .Case<Float8E5M2Type>([](Type) { return DType::f8e5m2; })
      .Case<Float8E4M3FNUZType>([](Type) { return DType::f8e4m3fnuz; })
      .Case<Float8E5M2FNUZType>([](Type) { return DType::f8e5m2fnuz; })
      .Case<Float4E2M1FNType>([](Type) { return DType::f4e2m1; })
      .Case<Float8E8M0FNUType>([](Type) { return DType::e8m0; })
      .Default([](Type) { return Result(); });
}

std::optional<DType> tk::interp::slotTypeOf(Type type) {
  Type element = elementTypeOf(type);
  if (isa<PtrType>(element))
    return DType::ptr;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return floatTypeOf(element);
  if (!integer.isSignless())
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return DType::i1;
  case 4:
    return DType::i4;
  case 8:
    return DType::i8;
  case 16:
    return DType::i16;
  case 32:
    return DType::i32;
  case 64:
    return DType::i64;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Tiles begin on a cache line.
static size_t roundedBytes(size_t bytes) {
  return bytes <= 8 ? 8 : llvm::alignTo(bytes, 64);
}

unsigned Translator::takeSlot(size_t bytes) {
  const size_t rounded = roundedBytes(bytes);
  Slot slot;
  slot.bytes = uint32_t(rounded);
  std::vector<uint32_t> &free = freeOffsets[slot.bytes];
  if (!free.empty()) {
    slot.offset = free.back();
    free.pop_back();
  } else {
    size_t offset = llvm::alignTo(program.arenaBytes, rounded == 8 ? 8 : 64);
    program.arenaBytes = offset + rounded;
    slot.offset = uint32_t(std::min<size_t>(offset, kNoSlot)); // run() refuses such an arena
  }
  slot.uses = 1;
  slots.push_back(slot);
  return unsigned(slots.size() - 1);
}

void Translator::giveBack(unsigned index) {
  Slot &slot = slots[index];
  if (slot.uses == kForever || --slot.uses > 0)
    return;
  freeOffsets[slot.bytes].push_back(slot.offset);
}

uint32_t Translator::offsetOf(Value value) {
  if (isImported(value))
    return importValue(value);
  return slots[slotOf.lookup(value)].offset;
}

uint32_t Translator::define(Value value) {
  unsigned slot = takeSlot(bytesOf(value.getType()));
  slotOf[value] = slot;
  return slots[slot].offset;
}

/// `value` lies where `same` lies.
void Translator::share(Value value, Value same) {
  if (isImported(same)) {
    Slot lanes;
    lanes.offset = importValue(same);
    lanes.bytes = uint32_t(bytesOf(same.getType()));
    lanes.uses = kForever;
    slots.push_back(lanes);
    slotOf[value] = unsigned(slots.size() - 1);
    return;
  }
  unsigned slot = slotOf.lookup(same);
  slotOf[value] = slot;
  if (slots[slot].uses != kForever)
    ++slots[slot].uses;
}

/// A place that is never given back, for what lives longer than a value.
uint32_t Translator::temporary(size_t bytes) {
  unsigned slot = takeSlot(bytes);
  slots[slot].uses = kForever;
  return slots[slot].offset;
}

static size_t numElementsOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? size_t(tile.getNumElements()) : 1;
}

size_t Translator::bytesOf(Type type) const {
  if (auto view = dyn_cast<ViewType>(type)) // see ExecView.cpp
    return size_t(1 + std::max<int64_t>(2 * view.getRank(), 1)) * 8;
  std::optional<DType> dtype = slotTypeOf(type);
  size_t elements = body.lanes ? body.lanes : numElementsOf(type);
  return elements * (dtype ? byteSize(*dtype) : 8);
}

uint32_t Translator::lanesOf(Type type) const {
  if (body.lanes)
    return body.isInline ? body.lanes : 0;
  return uint32_t(numElementsOf(type));
}

uint32_t Translator::constantSlot(std::vector<uint8_t> bytes) {
  // Not from the free list: a constant is put in place before everything else runs.
  const size_t rounded = roundedBytes(bytes.size());
  size_t offset = llvm::alignTo(program.arenaBytes, rounded == 8 ? 8 : 64);
  program.arenaBytes = offset + rounded;
  uint32_t slot = uint32_t(std::min<size_t>(offset, kNoSlot));
  program.constants.push_back({slot, std::move(bytes)});
  return slot;
}

static void rememberLastUse(Value value, Block *block,
                            DenseMap<Operation *, SmallVector<Value, 4>> &dying) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && (!last || last->isBeforeInBlock(ancestor)))
      last = ancestor;
  }
  if (last)
    dying[last].push_back(value);
}

void Translator::findLastUses() {
  kernel.getBody().walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      rememberLastUse(argument, block, dying);
    for (Operation &op : *block)
      for (Value result : op.getResults())
        rememberLastUse(result, block, dying);
  });
}

void Translator::releaseAfter(Operation *op) {
  auto found = dying.find(op);
  if (found == dying.end())
    return;
  for (Value value : found->second) {
    auto slot = slotOf.find(value);
    if (slot != slotOf.end())
      giveBack(slot->second);
  }
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

uint32_t Translator::infoOf(Operation *op) {
  auto [entry, isNew] = infos.try_emplace(op, uint32_t(program.ops.size()));
  if (isNew) {
    OpInfo info;
    Type type;
    if (op->getNumResults() > 0)
      type = op->getResult(0).getType();
    else if (isa<WriteOp, StoreOp, AtomicStoreOp, AssertOp>(op))
      type = op->getOperand(0).getType();
    if (auto tile = dyn_cast_if_present<RankedTensorType>(type))
      info.shape.assign(tile.getShape().begin(), tile.getShape().end());
    else if (body.lanes)
      info.shape = body.shape;
    program.ops.push_back(std::move(info));
    locations.push_back(op->getLoc());
  }
  return entry->second;
}

Inst &Translator::emit(InstFn fn, Operation *op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
  Inst inst;
  inst.fn = fn;
  inst.dst = dst;
  inst.a = a;
  inst.b = b;
  inst.c = c;
  inst.op = infoOf(op);
  code->push_back(inst);
  return code->back();
}

bool Translator::hasBounds(Type type) const {
  std::optional<DType> dtype = slotTypeOf(type);
  return options.errorBounds && dtype && isFloat(*dtype);
}

LogicalResult Translator::unsupported(Operation *op, const Twine &why) {
  return tk::emit<diag::InterpCannotRun>(op->getLoc(), op->getName().getStringRef(), why.str());
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Translator::translateArguments() {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    ParamInfo param;
    param.aliasClass = aliasClassOf(argument.getType());
    if (!isa<ViewType>(argument.getType())) {
      param.isScalar = !isa<PtrType>(argument.getType());
      param.dtype = *slotTypeOf(argument.getType());
      unsigned slot = takeSlot(8);
      slots[slot].uses = kForever;
      slotOf[argument] = slot;
      param.slot = slots[slot].offset;
    }
    program.params.push_back(param);
  }
}

LogicalResult Translator::translateOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return translateFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return translateWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return translateIf(branch);
  bool known = false;
  if (failed(translateCompute(op, known)))
    return failure();
  if (!known && failed(translateShape(op, known)))
    return failure();
  if (!known && failed(translateCollective(op, known)))
    return failure();
  if (!known && failed(translateMemory(op, known)))
    return failure();
  if (!known)
    return unsupported(op, "is not an operation of stage tk");
  return success();
}

/// All operations but the terminator, whose meaning is its parent's.
LogicalResult Translator::translateBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed(translateOp(&op)))
      return failure();
    emitWrapCheck(&op);
    releaseAfter(&op);
  }
  return success();
}

static LogicalResult checkTypes(Operation *op) {
  for (Value result : op->getResults())
    if (!isa<ViewType>(result.getType()) && !slotTypeOf(result.getType()))
      return tk::emit<diag::InterpCannotRun>(
          op->getLoc(), op->getName().getStringRef(),
          llvm::formatv("has a result of type {0}", result.getType()).str());
  return success();
}

LogicalResult Translator::run() {
  auto numerics = kernel.getContract().getFields().getAs<DictionaryAttr>("numerics");
  if (auto contract = numerics ? numerics.getAs<BoolAttr>("contract") : BoolAttr())
    mayContract = contract.getValue();
  WalkResult types = kernel.getBody().walk([](Operation *op) {
    return failed(checkTypes(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (types.wasInterrupted())
    return failure();
  code = &program.code;
  translateArguments();
  findLastUses();
  findAddressArithmetic();
  program.takesTurns = findTurns();
  if (failed(translateBlock(kernel.getBody().front())))
    return failure();
  size_t needed = program.arenaBytes * (options.errorBounds ? 9 : 1);
  if (program.arenaBytes >= kNoSlot || needed > options.maxArenaBytes)
    return tk::emit<diag::InterpArenaTooLarge>(kernel.getLoc(), needed, options.maxArenaBytes);
  return success();
}
