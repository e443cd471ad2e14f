//===- LowerWarn.cpp - what compiles and is likely wrong -------------------------===//
//
// Both warnings look back from a value through what made it, a bounded number of operations, and
// stay silent where they cannot see.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tk;

/// Operations that a warning looks at.
constexpr unsigned kMaxLookBack = 200;

/// Whether `found` holds for something that `value` is computed from by operations without effects;
/// what is the result of other operations, or an argument, is asked as it is.
static bool anySource(Value value, llvm::function_ref<bool(Value)> found) {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty() && seen.size() < kMaxLookBack) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (found(next))
      return true;
    Operation *op = next.getDefiningOp();
    if (op && op->getNumRegions() == 0 && isMemoryEffectFree(op))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

static bool isConstant(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() != nullptr;
}

/// Whether a number may be anything: it comes from memory, the launch or a loop. The remainder by a
/// constant and what is made of `arange` and constants have bounds that the author sees.
static bool isUnbounded(Value value) {
  if (auto rem = value.getDefiningOp<RemOp>(); rem && isConstant(rem.getRhs()))
    return false;
  return anySource(value, [](Value source) {
    Operation *op = source.getDefiningOp();
    return !op || !isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
           isa<ExtentOp, StrideOp, ProgramIdOp, NumProgramsOp>(op);
  });
}

/// The product of two numbers of which one may be anything and neither is a constant, among what
/// `value` is a sum of.
static arith::MulIOp narrowProduct(Value value) {
  SmallVector<Value> work = {value};
  for (unsigned seen = 0; !work.empty() && seen < kMaxLookBack; ++seen) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
      Value a = product.getLhs(), b = product.getRhs();
      if (!isConstant(a) && !isConstant(b) && (isUnbounded(a) || isUnbounded(b)))
        return product;
    }
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, SplatOp, BroadcastOp, ExpandDimsOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return {};
}

void Lowerer::warnNarrowProduct(const Val &value, SourceRange range, StringRef use) {
  if (!value.isRun() || value.type.pointer || !isInteger(value.type.dtype) ||
      dtypeBits(value.type.dtype) >= 64)
    return;
  arith::MulIOp product = narrowProduct(value.value);
  if (!product)
    return;
  Dtype dtype = value.type.dtype;
  Report report = error<diag::NarrowProduct>(range, dtypeName(dtype), toString(maxOf(dtype)), use);
  if (product.getLoc() != loc(range))
    report.note(product.getLoc(), "it is multiplied here");
  report.help("multiply in 64 bits: `.to(i64)` on one of the factors");
}

/// A tile of pointers that depends on where the program stands, used without a mask.
void Lowerer::warnUnmasked(Value pointer, SourceRange range, StringRef what) {
  bool tile = isa<RankedTensorType>(pointer.getType());
  // A condition around it or a precondition may be what keeps the addresses inside.
  bool guarded = regionDepth != 0 || llvm::any_of(kernel.decl->attributes, [](const auto &attr) {
                   return attr.name.text == "require";
                 });
  if (!tile || guarded || !options.assumptions.empty())
    return;
  auto isProgramId = [](Value source) { return source.getDefiningOp<ProgramIdOp>() != nullptr; };
  if (anySource(pointer, isProgramId))
    error<diag::UnmaskedPointers>(range, what)
        .help("say which elements exist, `mask=i < n`, or take a tensor: its places are checked");
}
