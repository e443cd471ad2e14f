//===- MachineAsm.cpp - assembly and library functions that the author names ---------===//
//
// Each operand of tk.asm is handed over in the register that its constraint names: h, r and l are
// integers of 16, 32 and 64 bits, f and d floats, b a predicate. Elements narrower than 32 bits are
// packed, the first one lowest. The last execution repeats an element where registers run out.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/BitOps.h"
#include "backends/nvptx/Machine.h"
#include "ir/diagnostics/Diagnostics.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

namespace {
/// How the elements of one operand or result lie in registers of the assembly.
struct Packing {
  unsigned bits;    // of one element
  unsigned perWord; // elements of one register
  unsigned words;   // registers of one execution
};
} // namespace

static Packing packingOf(Type element, int64_t pack) {
  if (isa<PtrType>(element))
    return {64, 1, unsigned(pack)};
  unsigned bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  unsigned perWord = bits >= 32 ? 1 : std::min<unsigned>(32 / bits, pack);
  return {bits, perWord, unsigned(pack) / perWord};
}

/// The letters of the registers in the order of the constraints, outputs first; those of inputs
/// that share an output's register are the output's.
static SmallVector<char> lettersOf(StringRef constraints) {
  SmallVector<StringRef> parts;
  constraints.split(parts, ',', -1, /*KeepEmpty=*/false);
  SmallVector<char> letters;
  for (StringRef part : parts) {
    part = part.trim().ltrim("=&");
    unsigned tied = 0;
    if (part.starts_with("~"))
      continue;
    if (!part.getAsInteger(10, tied))
      letters.push_back(tied < letters.size() ? letters[tied] : 'r');
    else
      letters.push_back(part.empty() ? 'r' : part.front());
  }
  return letters;
}

static Type registerType(char letter, OpBuilder &builder) {
  switch (letter) {
  case 'h':
    return builder.getI16Type();
  case 'l':
    return builder.getI64Type();
  case 'f':
    return builder.getF32Type();
  case 'd':
    return builder.getF64Type();
  case 'b':
    return builder.getI1Type();
  default:
    return builder.getI32Type();
  }
}

/// A value of any type as an integer of `bits` bits, or more, with zeros above.
static Value plainBits(OpBuilder &builder, BitOps ops, Value value, unsigned bits) {
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return LLVM::PtrToIntOp::create(builder, value.getLoc(), builder.getI64Type(), value);
  if (!value.getType().isInteger())
    value = ops.bitsOf(value);
  return value.getType().getIntOrFloatBitWidth() < bits ? ops.zext(value, bits) : value;
}

/// Integer bits as a value of a type, which cuts or extends with zeros.
static Value fromPlainBits(OpBuilder &builder, BitOps ops, Value bits, Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(builder, bits.getLoc(), type, bits);
  unsigned have = bits.getType().getIntOrFloatBitWidth(), want = type.getIntOrFloatBitWidth();
  if (have != want)
    bits = have < want ? ops.zext(bits, want) : ops.trunc(bits, want);
  return ops.bitcast(bits, type);
}

/// Elements first, first + 1, ... of a value, in registers of the types that the letters name.
SmallVector<Value> Machine::packForAsm(Value value, unsigned first, int64_t pack,
                                       ArrayRef<char> letters) {
  BitOps ops(builder, loc);
  Packing packing = packingOf(elementTypeOf(value.getType()), pack);
  unsigned last = registersOf(value.getType()) - 1;
  SmallVector<Value> words;
  for (unsigned word = 0; word < packing.words; ++word) {
    unsigned bits = std::max(packing.bits * packing.perWord, 8u);
    Value all;
    for (unsigned k = 0; k < packing.perWord; ++k) {
      unsigned index = std::min(first + word * packing.perWord + k, last);
      Value piece = plainBits(builder, ops, elementOf(value, index), bits);
      piece = ops.shl(piece, k * packing.bits);
      all = all ? ops.bor(all, piece) : piece;
    }
    words.push_back(fromPlainBits(builder, ops, all, registerType(letters[word], builder)));
  }
  return words;
}

/// The other way; elements beyond the last register are dropped.
void Machine::unpackFromAsm(Value result, unsigned first, int64_t pack, ArrayRef<Value> words) {
  BitOps ops(builder, loc);
  Type element = elementTypeOf(result.getType()), type = machineType(element);
  Packing packing = packingOf(element, pack);
  unsigned count = registersOf(result.getType());
  for (unsigned word = 0; word < packing.words; ++word) {
    Value all = plainBits(builder, ops, words[word], 8);
    unsigned width = all.getType().getIntOrFloatBitWidth();
    for (unsigned k = 0; k < packing.perWord; ++k) {
      unsigned index = first + word * packing.perWord + k;
      if (index >= count || k * packing.bits >= width)
        break;
      Value piece = ops.lshr(all, k * packing.bits);
      if (element.isInteger(1))
        piece = ops.ne(ops.band(piece, 1), 0);
      else if (packing.bits < 8)
        piece = ops.band(piece, (1 << packing.bits) - 1);
      setElement(result, index, fromPlainBits(builder, ops, piece, type));
    }
  }
}

/// Registers of the assembly that values take in one execution.
static size_t wordsOf(ValueRange values, int64_t pack) {
  size_t words = 0;
  for (Value value : values)
    words += packingOf(elementTypeOf(value.getType()), pack).words;
  return words;
}

/// One execution, for `pack` elements from `first` on.
void Machine::executeAsm(AsmOp op, unsigned first, ArrayRef<char> letters) {
  size_t count = wordsOf(op.getResults(), op.getPack());
  SmallVector<Type> types;
  for (char letter : letters.take_front(count))
    types.push_back(registerType(letter, builder));
  Type type = count == 0   ? Type()
              : count == 1 ? types.front()
                           : LLVM::LLVMStructType::getLiteral(context, types);
  SmallVector<Value> inputs, outputs;
  ArrayRef<char> rest = letters.drop_front(count);
  for (Value operand : op.getOperands()) {
    SmallVector<Value> words = packForAsm(operand, first, op.getPack(), rest);
    rest = rest.drop_front(words.size());
    llvm::append_range(inputs, words);
  }
  auto made = LLVM::InlineAsmOp::create(
      builder, loc, type, inputs, op.getCode(), op.getConstraints(),
      /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  if (count == 1)
    outputs.push_back(made.getResult(0));
  for (size_t i = 0; count > 1 && i < count; ++i)
    outputs.push_back(LLVM::ExtractValueOp::create(builder, loc, made.getResult(0),
                                                   ArrayRef<int64_t>{int64_t(i)}));
  ArrayRef<Value> left = outputs;
  for (Value result : op.getResults()) {
    size_t taken = wordsOf(result, op.getPack());
    unpackFromAsm(result, first, op.getPack(), left.take_front(taken));
    left = left.drop_front(taken);
  }
}

LogicalResult Machine::lowerAsm(AsmOp op) {
  SmallVector<char> letters = lettersOf(op.getConstraints());
  size_t needed = wordsOf(op.getResults(), op.getPack()) + wordsOf(op.getOperands(), op.getPack());
  if (letters.size() != needed)
    return emit<diag::MachineUnsupported>(loc, "asm", target.name);
  Value any = op.getResults().empty() ? op.getOperand(0) : op.getResult(0);
  for (unsigned first = 0; first < registersOf(any.getType()); first += op.getPack())
    executeAsm(op, first, letters);
  return success();
}

/// A name that is declared with other types already is refused.
LogicalResult Machine::lowerExtern(ExternOp op) {
  Type type = machineType(elementTypeOf(op.getType()));
  SmallVector<Type> types;
  for (Value operand : op.getOperands())
    types.push_back(machineType(elementTypeOf(operand.getType())));
  auto known = function->getParentOfType<ModuleOp>().lookupSymbol<LLVM::LLVMFuncOp>(op.getSymbol());
  if (known && known.getFunctionType() != LLVM::LLVMFunctionType::get(type, types))
    return emit<diag::NoMachineCode>(
        loc, ("`" + op.getSymbol() + "` with other types than elsewhere").str());
  for (unsigned i = 0; i < registersOf(op.getType()); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(elementOf(operand, i));
    setElement(op.getResult(), i, callDevice(op.getSymbol(), type, operands));
  }
  return success();
}
