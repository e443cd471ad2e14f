//===- RefuseUnbuilt.cpp - stop at what later passes cannot lower yet ---------===//
//
// Requires: phase Emitted.
// Ensures:  the same; every operation and every type of the module has machine code.
// Fails:    TK4005 at the first operation of each kernel that has none.
//
//   %1 = tk.unary exp %0 : tensor<64xf32>
// becomes
//   %1 = tk.unary exp %0 : tensor<64xf32>
//
// The language and the interpreter have more than the machine passes: they say so here, once,
// instead of each at its own place.
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/tk/TkDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

namespace tk {
#define GEN_PASS_DEF_REFUSEUNBUILT
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Functions of one number that have code; the enumeration goes on with those that have none.
static constexpr UnaryFn kLastUnaryFn = UnaryFn::sigmoid;

static bool hasCode(Operation *op) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return unary.getFn() <= kLastUnaryFn;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getIsVolatile();
  if (auto read = dyn_cast<ReadOp>(op))
    return !llvm::is_contained(read.getWidths(), -1);
  if (auto write = dyn_cast<WriteOp>(op))
    return !llvm::is_contained(write.getWidths(), -1);
  if (auto cast = dyn_cast<CastOp>(op)) {
    NumAttr num = cast.getNumAttr();
    return !num || (num.getOverflow() == Overflow::natural &&
                    (num.getRound() == Round::rne || num.getRound() == Round::rtz));
  }
  if (op->getName().getDialectNamespace() != TkDialect::getDialectNamespace())
    return true;
  return isa<KernelOp, ReturnOp, YieldOp, ProgramIdOp, NumProgramsOp, ExtentOp, StrideOp, BaseOp,
             PtrAddOp, StoreOp, ArangeOp, SplatOp, ExpandDimsOp, BroadcastOp, DivOp, RemOp, ShlOp,
             ShrOp, MinOp, MaxOp, FmaOp, ReduceOp>(op);
}

static bool hasCode(Type type) {
  Type element = elementTypeOf(type);
  if (auto view = dyn_cast<ViewType>(element))
    element = view.getElement();
  else if (auto pointer = dyn_cast<PtrType>(element))
    element = pointer.getPointee();
  return element.isInteger(1) || element.isInteger(8) || element.isInteger(16) ||
         element.isInteger(32) || element.isInteger(64) || element.isF16() || element.isBF16() ||
         element.isF32() || element.isF64();
}

/// What has no code in `op`, or "".
static std::string missingIn(Operation *op) {
  if (!hasCode(op))
    return llvm::formatv("`{0}`", op->getName().stripDialect()).str();
  SmallVector<Type> types(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types)
    if (!hasCode(type))
      return llvm::formatv("values of type {0}", type).str();
  return "";
}

namespace {
struct RefuseUnbuilt : tk::impl::RefuseUnbuiltBase<RefuseUnbuilt> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
        std::string missing = missingIn(op);
        if (missing.empty())
          return WalkResult::advance();
        emit<diag::NoMachineCode>(op->getLoc(), missing);
        signalPassFailure();
        return WalkResult::interrupt();
      });
  }
};
} // namespace
