//===- LlvmPasses.cpp - which of LLVM's passes run over a kernel -------------------===//
//
// The machine passes emit straight-line code on scalars in SSA form, with loops around it. LLVM's default
// pipeline goes over it a dozen times for what inlining and unrolling bring forth in programs of many small
// functions. Here each kind of pass runs once, where it finds something in kernels.
//
// What is left out, and why:
//  * vectorizers of loops and of straight-line code: packed instructions are chosen by the machine passes;
//  * global value numbering, here and in the code generator: it finds no more than EarlyCSE, and its merging of
//    addresses across blocks costs registers; a second EarlyCSE in the code generator finds nothing;
//  * a second InstCombine: over the examples there are fewer instructions without it;
//  * in the code generator, reassociation of sums that are there in another order, which finds next to none in
//    kernels, merging of loads and stores, which are as wide as they can be, and hoisting of constants;
//  * jump threading: it copies blocks, and divergent branches are the dearer the more of them there are;
//  * passes over the call graph: but for a few functions of libdevice, all is inlined.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/LlvmPasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using namespace tk;

/// Accesses of a loop up to which stores are moved out of it. The search takes the square of their number, and
/// what a kernel adds up is in registers anyway.
static constexpr unsigned kMostPromotedAccesses = 16;

namespace {
/// Loads and stores whose predicate became false for certain: the ones give their fills (Translate.cpp has the order of the
/// operands), the others nothing. Left to ptxas 13.0,
/// which finds them too, one random program came out wrong on a device.
struct FoldFalsePredicates : PassInfoMixin<FoldFalsePredicates> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<CallInst>(&instruction);
      auto *text = call && call->arg_size() > 1 ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      auto *predicate = text ? dyn_cast<ConstantInt>(call->getArgOperand(1)) : nullptr;
      if (!predicate || !predicate->isZero() || !predicate->getType()->isIntegerTy(1) || !text->getAsmString().starts_with("@$"))
        continue;
      StringRef action = text->getAsmString().split(' ').second;
      if (action.starts_with("ld.global"))
        call->replaceAllUsesWith(fills(*call));
      else if (!action.starts_with("st.global"))
        continue;
      call->eraseFromParent();
    }
    return PreservedAnalyses::none();
  }

private:
  static Value *fills(CallInst &load) {
    auto *several = dyn_cast<StructType>(load.getType());
    if (!several)
      return load.getArgOperand(2);
    IRBuilder<> builder(&load);
    Value *result = PoisonValue::get(several);
    for (unsigned i = 0; i < several->getNumElements(); ++i)
      result = builder.CreateInsertValue(result, load.getArgOperand(2 + i), i);
    return result;
  }
};
} // namespace

/// Cleans up what the machine passes and inlining leave.
static FunctionPassManager beforeLoops() {
  FunctionPassManager passes;
  passes.addPass(SimplifyCFGPass());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(InstCombinePass(InstCombineOptions().setMaxIterations(1)));
  passes.addPass(FoldFalsePredicates());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(ReassociatePass());
  return passes;
}

static FunctionPassManager onLoops(int level) {
  LICMOptions hoisting;
  hoisting.MssaNoAccForPromotionCap = kMostPromotedAccesses;
  LoopPassManager moving, counting;
  moving.addPass(LoopRotatePass());
  moving.addPass(LICMPass(hoisting));
  moving.addPass(SimpleLoopUnswitchPass(/*NonTrivial=*/level == 3));
  counting.addPass(IndVarSimplifyPass());
  counting.addPass(LoopDeletionPass());
  counting.addPass(LoopFullUnrollPass(level));
  FunctionPassManager passes;
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(moving), /*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(counting)));
  return passes;
}

static FunctionPassManager afterLoops(int level) {
  SimplifyCFGOptions late, last;
  late.convertSwitchToLookupTable(true).needCanonicalLoops(false).hoistCommonInsts(true).sinkCommonInsts(true);
  last.convertSwitchRangeToICmp(true).speculateUnpredictables(true).hoistLoadsStoresWithCondFaulting(true);
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass(late));
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(level)));
  passes.addPass(DivRemPairsPass());
  passes.addPass(SimplifyCFGPass(last));
  return passes;
}

namespace {
/// Loads with an order whose result nobody uses: what they might have seen, nobody knows. ptxas 13.0 removes such an
/// `ld.acquire` itself, and with it, in a loop, the computation of its predicate, which other instructions read.
struct DropUnusedLoads : PassInfoMixin<DropUnusedLoads> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<CallInst>(&instruction);
      auto *text = call && call->use_empty() ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (text && (text->getAsmString().contains("ld.acquire.") || text->getAsmString().contains("ld.relaxed.")))
        call->eraseFromParent();
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};
} // namespace

void nvptx::addRequiredPasses(ModulePassManager &passes) {
  FunctionPassManager last;
  last.addPass(FoldFalsePredicates());
  last.addPass(DCEPass());
  last.addPass(DropUnusedLoads());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(last)));
}

ModulePassManager nvptx::optimizationPasses(PassBuilder &builder, OptimizationLevel level) {
  ModulePassManager passes;
  builder.invokePipelineStartEPCallbacks(passes, level); // the target's own
  passes.addPass(AlwaysInlinerPass());                   // libdevice
  passes.addPass(GlobalDCEPass());
  int speed = int(level.getSpeedupLevel());
  for (FunctionPassManager &part : std::array{beforeLoops(), onLoops(speed), afterLoops(speed)})
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(part), /*EagerlyInvalidate=*/true));
  return passes;
}

//===----------------------------------------------------------------------===//
// The code generator
//===----------------------------------------------------------------------===//

/// LLVM's strength reduction of straight-line code saves registers, but compares each of the sums, products and
/// addresses with each: at these sizes that begins to be a part of the whole that is felt.
static constexpr unsigned kMostInstructions = 3000, kMostCandidates = 192;

static bool isLarge(const Function &function) {
  unsigned candidates = 0;
  for (const Instruction &instruction : instructions(function))
    candidates += isa<GetElementPtrInst>(instruction) || instruction.getOpcode() == Instruction::Add ||
                  instruction.getOpcode() == Instruction::Mul;
  return candidates > kMostCandidates || function.getInstructionCount() > kMostInstructions;
}

nvptx::CodegenGate::CodegenGate(Module &module) : context(module.getContext()), outer(context.getOptPassGate()) {
  for (const Function &function : module)
    if (isLarge(function))
      large.insert("function (" + function.getName().str() + ")");
  context.setOptPassGate(*this);
}

nvptx::CodegenGate::~CodegenGate() { context.setOptPassGate(outer); }

bool nvptx::CodegenGate::shouldRunPass(StringRef pass, StringRef unit) const {
  static const StringSet<> idle{"gvn", "early-cse", "nary-reassociate", "load-store-vectorizer", "consthoist"};
  return !idle.contains(pass) && (pass != "slsr" || !large.contains(unit));
}
