//===- Translate.cpp - phase Machine to LLVM IR -----------------------------------===//
//
// First the machine operations that NVVM lacks become inline assembly, one instruction each; this
// is the only place that writes any. Then MLIR's own translation does the rest.
//
//===----------------------------------------------------------------------===//

#include "backends/metadata/Metadata.h"
#include "backends/nvptx/Nvptx.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;
using namespace tk;

//===----------------------------------------------------------------------===//
// Machine operations to inline assembly
//===----------------------------------------------------------------------===//

/// The letter of a register operand and the suffix of an access.
static std::pair<char, StringRef> wordNames(Type word, bool byte) {
  switch (word.getIntOrFloatBitWidth()) {
  case 16: return {'h', byte ? "u8" : "b16"};
  case 32: return {'r', "b32"};
  default: return {'l', "b64"};
  }
}

static StringRef vectorName(size_t count) { return count == 4 ? ".v4" : count == 2 ? ".v2" : ""; }

/// "{$a, $b}" or "$a".
static std::string operandList(unsigned first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += llvm::formatv("{0}${1}", i ? ", " : "", first + i).str();
  return count > 1 ? "{" + text + "}" : text;
}

static LLVM::InlineAsmOp makeAsm(OpBuilder &builder, Location loc, Type result, ValueRange operands,
                                 StringRef text, StringRef constraints, bool sideEffects) {
  return LLVM::InlineAsmOp::create(builder, loc, result, operands, text, constraints, sideEffects,
                                   /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr());
}

/// ".L1::evict_first" and the like; of two hints the way out of the cache counts.
static std::string hintName(std::optional<CacheHint> cache, std::optional<EvictHint> evict,
                            bool beforeNc) {
  if (evict && *evict != EvictHint::normal)
    return beforeNc ? "" : (".L1::evict_" + stringifyEvictHint(*evict)).str();
  return cache && beforeNc ? ("." + stringifyCacheHint(*cache)).str() : "";
}

/// "[$1+4096]": constants that were added to a pointer stand in the instruction, so that neighbours
/// share one register whatever LLVM makes of it. Replaces the pointer by what it is counted from.
static std::string addressText(Value &pointer, unsigned operand) {
  int64_t offset = 0;
  while (auto move = pointer.getDefiningOp<LLVM::GEPOp>()) {
    APInt distance;
    if (!move.getElemType().isInteger(8) || move.getDynamicIndices().size() != 1 ||
        !matchPattern(move.getDynamicIndices()[0], m_ConstantInt(&distance)) ||
        !llvm::isInt<31>(offset + distance.getSExtValue()))
      break;
    offset += distance.getSExtValue();
    pointer = move.getBase();
  }
  std::string place = llvm::formatv("${0}", operand).str();
  return "[" + place + (offset ? "+" + std::to_string(offset) : "") + "]";
}

/// Outputs begin as the fills (tied inputs), so an instruction that is not executed leaves them.
static void expandLoad(tkg::PtxLoadOp op) {
  OpBuilder builder(op);
  size_t count = op.getResults().size();
  Type word = op.getResult(0).getType();
  auto [letter, suffix] = wordNames(word, op.getByte());
  std::string constraints, text;
  for (size_t i = 0; i < count; ++i)
    constraints += std::string("=") + letter + ",";
  constraints += "l";
  Value pointer = op.getPointer();
  std::string address = addressText(pointer, count);
  SmallVector<Value> operands{pointer};
  if (op.getPredicate()) {
    constraints += ",b";
    operands.push_back(op.getPredicate());
    for (size_t i = 0; i < count; ++i)
      constraints += "," + std::to_string(i);
    llvm::append_range(operands, op.getFills());
    text = "@$" + std::to_string(count + 1) + " ";
  }
  text += op.getIsVolatile() ? "ld.volatile.global" : "ld.global";
  if (!op.getIsVolatile())
    text += hintName(op.getCache(), op.getEvict(), true) + (op.getReadonly() ? ".nc" : "") +
            hintName(op.getCache(), op.getEvict(), false);
  text += llvm::formatv("{0}.{1} {2}, {3};", vectorName(count), suffix, operandList(0, count), address)
              .str();
  Type result = word;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(op.getContext(), SmallVector<Type>(count, word));
  auto made = makeAsm(builder, op.getLoc(), result, operands, text, constraints, !op.getReadonly());
  for (size_t i = 0; i < count; ++i) {
    Value value = made.getResult(0);
    if (count > 1)
      value = LLVM::ExtractValueOp::create(builder, op.getLoc(), value, ArrayRef<int64_t>{int64_t(i)});
    op.getResult(i).replaceAllUsesWith(value);
  }
  op.erase();
}

static void expandStore(tkg::PtxStoreOp op) {
  OpBuilder builder(op);
  size_t count = op.getWords().size();
  auto [letter, suffix] = wordNames(op.getWords()[0].getType(), op.getByte());
  Value pointer = op.getPointer();
  std::string address = addressText(pointer, 0), constraints = "l", text;
  SmallVector<Value> operands{pointer};
  if (op.getPredicate()) {
    operands.push_back(op.getPredicate());
    constraints += ",b";
    text = "@$1 ";
  }
  unsigned first = operands.size();
  for (size_t i = 0; i < count; ++i)
    constraints += std::string(",") + letter;
  text += "st.global" + hintName(op.getCache(), op.getEvict(), true) +
          hintName(op.getCache(), op.getEvict(), false);
  text += llvm::formatv("{0}.{1} {2}, {3};", vectorName(count), suffix, address,
                        operandList(first, count))
              .str();
  llvm::append_range(operands, op.getWords());
  makeAsm(builder, op.getLoc(), Type(), operands, text, constraints + ",~{memory}", true);
  op.erase();
}

/// `atom`, `red` where the result is not asked for and the order allows it, or `ld` and `st` with an
/// order and a scope. Where it is not executed the result stays the zero that it is tied to.
static void expandAtom(tkg::PtxAtomOp op) {
  OpBuilder builder(op);
  auto [name, type] = op.getAction().split('.');
  bool plain = name == "ld" || name == "st", hasResult = bool(op.getResult());
  bool reduces = !hasResult && !plain && name != "cas" && name != "exch" &&
                 (op.getOrder() == MemOrder::relaxed || op.getOrder() == MemOrder::release);
  bool writesResult = !reduces && name != "st";
  unsigned bits = 0;
  type.drop_front(type.find_first_of("0123456789")).getAsInteger(10, bits);
  Type word = op.getValues().empty() ? builder.getIntegerType(bits) : op.getValues()[0].getType();
  bool isVector = reduces && op.getValues().size() > 1;
  char letter = wordNames(word, false).first;
  unsigned next = writesResult;
  std::string constraints = writesResult ? std::string("=") + letter + ",l" : "l", text;
  SmallVector<Value> operands{op.getPointer()};
  std::string address = llvm::formatv("[${0}]", next++).str();
  if (op.getPredicate()) {
    constraints += ",b";
    operands.push_back(op.getPredicate());
    text = llvm::formatv("@${0} ", next++).str();
  }
  std::string values;
  for (Value value : op.getValues()) {
    constraints += std::string(",") + letter;
    operands.push_back(value);
    values += llvm::formatv("{0}${1}", values.empty() ? "" : ", ", next++).str();
  }
  if (!values.empty())
    values = isVector ? ", {" + values + "}" : ", " + values;
  if (writesResult && op.getPredicate()) {
    constraints += ",0";
    operands.push_back(LLVM::ConstantOp::create(builder, op.getLoc(), word, builder.getIntegerAttr(word, 0)));
  }
  std::string how = llvm::formatv(".{0}.{1}.global.", stringifyMemOrder(op.getOrder()),
                                  stringifyMemScope(op.getScope()));
  if (plain)
    text += (name + how + type).str();
  else
    text += ((reduces ? "red" : "atom") + how + name + "." + type).str();
  text += writesResult ? " $0, " + address + values + ";" : " " + address + values + ";";
  auto made = makeAsm(builder, op.getLoc(), writesResult ? word : Type(), operands, text,
                      constraints + ",~{memory}", true);
  if (hasResult)
    op.getResult().replaceAllUsesWith(made.getResult(0));
  op.erase();
}

static void expandPrefetch(tkg::PtxPrefetchOp op) {
  OpBuilder builder(op);
  SmallVector<Value> operands{op.getPointer()};
  if (op.getPredicate())
    operands.push_back(op.getPredicate());
  bool last = op.getEvict() == EvictHint::last;
  std::string text = op.getPredicate() ? "@$1 " : "";
  text += last ? "prefetch.global.L2::evict_last [$0];" : "prefetch.global.L2 [$0];";
  makeAsm(builder, op.getLoc(), Type(), operands, text, op.getPredicate() ? "l,b" : "l", true);
  op.erase();
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

void nvptx::initializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

FailureOr<std::unique_ptr<llvm::Module>>
nvptx::translateToLlvm(ModuleOp module, llvm::LLVMContext &context, const Target &target) {
  module.walk([](tkg::PtxLoadOp op) { expandLoad(op); });
  module.walk([](tkg::PtxStoreOp op) { expandStore(op); });
  module.walk([](tkg::PtxPrefetchOp op) { expandPrefetch(op); });
  module.walk([](tkg::PtxAtomOp op) { expandAtom(op); });
  std::optional<std::string> description = descriptionOf(module);
  for (NamedAttribute attribute : llvm::to_vector(module->getAttrs()))
    if (attribute.getName().getValue().starts_with("tk."))
      module->removeAttr(attribute.getName());
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "tkc", /*disableVerification=*/true);
  if (!result) {
    emit<diag::TranslationFailed>(module.getLoc(), "MLIR's translation gave up");
    return failure();
  }
  result->setSourceFileName("tkc");
  result->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  if (description)
    setDescription(*result, *description);
  return result;
}

LogicalResult nvptx::verify(const llvm::Module &module, llvm::function_ref<Location(StringRef)> locationOf) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!llvm::verifyModule(module, &os))
    return success();
  auto wrong = llvm::find_if(module, [](const llvm::Function &function) { return llvm::verifyFunction(function); });
  return emit<diag::TranslationFailed>(locationOf(wrong == module.end() ? "" : wrong->getName()), StringRef(reason).rtrim());
}
