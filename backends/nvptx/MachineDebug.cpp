//===- MachineDebug.cpp - print, assert, clocks, and the grid's dependencies ----------===//
//
// What a kernel prints goes through the device's vprintf: a line of the text and the scalars by the
// first thread, then a line for each element of a tile by the thread that owns it, with its index.
// The lines of one thread are in the order of its elements; between threads there is none.
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
// Calls of the driver
//===----------------------------------------------------------------------===//

/// A function that the driver gives every module.
LLVM::LLVMFuncOp Machine::deviceFunction(StringRef name, Type result, ArrayRef<Type> operands) {
  auto module = kernel->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder outer = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(outer, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, operands));
}

/// The generic address of a text that ends in a zero; equal texts are one.
Value Machine::text(StringRef text) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string bytes = text.str() + '\0';
  auto generic = LLVM::LLVMPointerType::get(context, 0), global = LLVM::LLVMPointerType::get(context, 1);
  LLVM::GlobalOp found;
  unsigned count = 0;
  for (auto known : module.getOps<LLVM::GlobalOp>()) {
    if (!known.getSymName().starts_with("tkc_text"))
      continue;
    ++count;
    if (auto value = dyn_cast_or_null<StringAttr>(known.getValueOrNull()); value && value.getValue() == bytes)
      found = known;
  }
  if (!found) {
    OpBuilder outer = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    found = LLVM::GlobalOp::create(outer, module.getLoc(), type, /*isConstant=*/true,
                                   LLVM::Linkage::Internal, "tkc_text" + std::to_string(count),
                                   builder.getStringAttr(bytes), /*alignment=*/1, /*addrSpace=*/1);
  }
  Value address = LLVM::AddressOfOp::create(builder, loc, global, found.getSymName());
  return LLVM::AddrSpaceCastOp::create(builder, loc, generic, address);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Values of a line for which there is room; a line of more gets its own.
static constexpr size_t kPrintedValues = 16;

/// One call of vprintf; every value takes 8 bytes.
void Machine::printLine(Value predicate, StringRef format, ArrayRef<Value> values) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto generic = LLVM::LLVMPointerType::get(context, 0);
  LLVM::LLVMFuncOp print = deviceFunction("vprintf", i32, {generic, generic});
  Value buffer = values.size() <= kPrintedValues ? printBuffer : Value();
  if (!buffer) {
    OpBuilder::InsertionGuard guard(builder);
    Value count = integer(std::max(values.size(), kPrintedValues), 32);
    builder.setInsertionPointAfterValue(count);
    buffer = LLVM::AllocaOp::create(builder, loc, generic, i64, count, /*alignment=*/8);
    printBuffer = printBuffer ? printBuffer : buffer;
  }
  guarded(predicate, [&] {
    for (auto [i, value] : llvm::enumerate(values)) {
      Value place = LLVM::GEPOp::create(builder, loc, generic, i64, buffer,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
      LLVM::StoreOp::create(builder, loc, value, place);
    }
    LLVM::CallOp::create(builder, loc, print, ValueRange{text(format), buffer});
  });
}

/// The directive of an element, and the element as vprintf takes it.
std::string Machine::printFormat(PrintOp op, unsigned index, Value element, Value &argument) {
  Type type = element.getType(), i64 = builder.getI64Type();
  if (isa<LLVM::LLVMPointerType>(type)) {
    argument = LLVM::PtrToIntOp::create(builder, loc, i64, element);
    return "0x%llx";
  }
  unsigned bits = type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type) && !op.getHex()) {
    bool wide = type.isF64();
    argument = wide ? element : LLVM::FPExtOp::create(builder, loc, builder.getF64Type(), element);
    return wide ? "%.17g" : "%.9g"; // enough digits to tell any two numbers apart
  }
  Value number = isa<FloatType>(type) ? toBits(element) : element;
  bool isUnsigned = op.getHex() || op.getUnsignedValues()[index] || type.isInteger(1);
  argument = number.getType() == i64 ? number
             : isUnsigned ? LLVM::ZExtOp::create(builder, loc, i64, number).getResult()
                          : LLVM::SExtOp::create(builder, loc, i64, number).getResult();
  if (op.getHex())
    return llvm::formatv("0x%0{0}llx", bits / 4).str();
  return isUnsigned ? "%llu" : "%lld";
}

void Machine::lowerPrint(PrintOp op) {
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  std::string head = "(%lld, %lld, %lld) ";
  for (char letter : op.getText())
    head += letter == '%' ? std::string("%%") : std::string(1, letter);
  SmallVector<Value> program;
  for (Value id : {NVVM::BlockIdXOp::create(builder, loc, i32).getResult(),
                   NVVM::BlockIdYOp::create(builder, loc, i32).getResult(),
                   NVVM::BlockIdZOp::create(builder, loc, i32).getResult()})
    program.push_back(LLVM::ZExtOp::create(builder, loc, i64, id));
  std::string line = head;
  SmallVector<Value> arguments = program;
  auto add = [&](std::string &to, SmallVector<Value> &values, unsigned index, Value element) {
    Value argument;
    std::string format = printFormat(op, index, element, argument);
    to += (to.back() == ' ' ? "" : " ") + format;
    values.push_back(argument);
  };
  bool hasTiles = false;
  for (auto [index, value] : llvm::enumerate(op.getValues())) {
    if (isa<RankedTensorType>(value.getType()))
      hasTiles = true;
    else
      add(line, arguments, index, scalar(value));
  }
  if (!hasTiles || arguments.size() > program.size())
    printLine(firstThread(), line + "\n", arguments);
  for (auto [index, value] : llvm::enumerate(op.getValues())) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    LinearLayout layout = layoutOf(value);
    Value owner = ownership(layout);
    for (int32_t i = 0; i < layout.numRegisters(); ++i) {
      if (i % layout.numCoreElements() & layout.ownerMask(InDim::Register))
        continue;
      std::string format = head + (head.back() == ' ' ? "[" : " [");
      SmallVector<Value> values = program;
      for (unsigned axis = 0; axis < layout.rank(); ++axis) {
        format += axis ? ", %lld" : "%lld";
        values.push_back(LLVM::ZExtOp::create(builder, loc, i64,
                                              materialize(coordinate(layout, axis, i))));
      }
      format += "]";
      add(format, values, index, reg(value, i));
      printLine(andOf(owner, validity(layout, i)), format + "\n", values);
    }
  }
}

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

/// Names the file and line and ends the launch with an error, as the driver's assert does. Only
/// where the kernel's options ask for it.
void Machine::lowerAssert(AssertOp op) {
  auto options = kernel.getContract().getFields().getAs<DictionaryAttr>("options");
  if (!options.getAs<BoolAttr>("asserts"))
    return;
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto generic = LLVM::LLVMPointerType::get(context, 0);
  LLVM::LLVMFuncOp fail =
      deviceFunction("__assertfail", LLVM::LLVMVoidType::get(context), {generic, generic, i32, generic, i64});
  auto place = op->getLoc()->findInstanceOf<FileLineColRange>();
  StringRef file = place ? place.getFilename().getValue() : "kernel";
  unsigned line = place ? place.getStartLine() : 0;
  auto check = [&](Value condition, Value mask, Value owner) {
    Value fails = LLVM::XOrOp::create(builder, loc, condition, integer(1, 1));
    guarded(andOf(andOf(fails, mask), owner), [&] {
      auto group = kernel->getAttrOfType<StringAttr>("variant_of");
      SmallVector<Value> operands{text(op.getText()), text(file), integer(line, 32),
                                  text(group ? group.getValue() : kernel.getSymName()),
                                  integer(1, 64)};
      LLVM::CallOp::create(builder, loc, fail, operands);
    });
  };
  if (!isa<RankedTensorType>(op.getCondition().getType()))
    return check(scalar(op.getCondition()), op.getMask() ? scalar(op.getMask()) : Value(), firstThread());
  LinearLayout layout = layoutOf(op.getCondition());
  Value owner = ownership(layout);
  for (int32_t i = 0; i < layout.numRegisters(); ++i)
    check(reg(op.getCondition(), i), op.getMask() ? reg(op.getMask(), i) : Value(),
          andOf(owner, validity(layout, i)));
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// Operations about this program instance and the processor that runs it. On chips without
/// programmatic launches nothing overlaps, so there is nothing to wait for.
LogicalResult Machine::lowerInstance(Operation *op) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  TypeSwitch<Operation *>(op)
      .Case([&](ClockOp clock) {
        scalars[clock] = clock.getKind() == ClockKind::cycles
                             ? NVVM::Clock64Op::create(builder, loc, i64).getResult()
                             : NVVM::GlobalTimerOp::create(builder, loc, i64).getResult();
      })
      .Case([&](SmIdOp id) {
        Value number = NVVM::SmIdOp::create(builder, loc, i32);
        scalars[id] = LLVM::ZExtOp::create(builder, loc, i64, number);
      })
      .Case([&](GridDependencyOp dependency) {
        bool waits = dependency.getKind() == GridDependencyKind::wait;
        if (target.computeMajor >= 9)
          NVVM::GriddepcontrolOp::create(builder, loc,
                                         waits ? NVVM::GridDepActionKind::wait
                                               : NVVM::GridDepActionKind::launch_dependents);
      })
      .Case([&](PrintOp print) { lowerPrint(print); })
      .Case([&](AssertOp claim) { lowerAssert(claim); });
  return success();
}
