//===- PrefetchFragments.cpp - fragments read one step ahead of the product ------------===//
//
// Requires: phase LaidOut, loops pipelined.
// Ensures:  in a pipelined loop whose one product reads both operands from rings, tkg.mma takes
//           fragments in registers, each read while the instructions of the step before run.
// Fails:    never.
//
//   scf.for %i iter_args(%acc, %slot) {
//     tkg.async_wait N; tkg.barrier; copies ahead
//     %a = tkg.buf_view %ra[%slot]; %b = tkg.buf_view %rb[%slot]
//     %d = tkg.mma %a, %b, %acc                      // two steps along K
//   }
// becomes
//   tkg.async_wait N; tkg.barrier
//   scf.for %i iter_args(%acc, %slot, %a0 = step 0 of slot 0, %b0 likewise) {
//     %a1 = step 1 of %a; %b1 likewise
//     %c = tkg.mma %a0, %b0, %acc
//     copies ahead
//     tkg.async_wait N; tkg.barrier
//     %a2 = step 0 of the next slot; %b2 likewise    // in the last iteration nobody uses it
//     %d = tkg.mma %a1, %b1, %c
//     yield %d, next slot, %a2, %b2
//   }
//
// So a warp goes from one iteration to the next with instructions to issue, and the barrier, the wait
// and the copies stand between instructions that run meanwhile.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/LayoutPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tk {
#define GEN_PASS_DEF_PREFETCHFRAGMENTS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

namespace {
/// An operand of the product: a ring, and the axis of its slots along K.
struct Operand {
  tkg::BufViewOp view;
  arith::MulIOp place; // slot x elements
  unsigned axisOfK;
  LinearLayout fragments; // of one step
};

class Prefetch {
public:
  explicit Prefetch(scf::ForOp loop) : loop(loop) {}
  bool matches(int64_t mostRegisters);
  void rewrite();

private:
  std::optional<Operand> operand(Value value, unsigned axisOfK);
  int64_t registers();
  Value fragments(OpBuilder &builder, const Operand &operand, Value slot, int64_t step);
  Value multiply(OpBuilder &builder, Value a, Value b, Value acc);
  void carryFragments();
  void splitBody();

  scf::ForOp loop;
  tkg::MmaOp mma;
  tkg::AsyncWaitOp wait;
  tkg::BarrierOp barrier;
  tkg::RingSlotOp next;
  MatrixTiling tiling; // of one step
  int64_t steps = 1;
  std::optional<Operand> a, b;
  Value slot, carriedA, carriedB;
};
} // namespace

/// A view of a ring at the loop's slot, with nothing added.
std::optional<Operand> Prefetch::operand(Value value, unsigned axisOfK) {
  auto view = value.getDefiningOp<tkg::BufViewOp>();
  auto place = view && view.getIndex() ? view.getIndex().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!place || view.getOffset() != 0 || !view.getBuffer().getDefiningOp<tkg::AllocOp>() || place.getLhs() != next.getSlot())
    return std::nullopt;
  return Operand{view, place, axisOfK, axisOfK == 1 ? leftOperandLayout(tiling) : rightOperandLayout(tiling)};
}

/// 32-bit words a thread for the sums, and twice for the fragments of a step.
int64_t Prefetch::registers() {
  auto ofStep = [](const Operand &operand) {
    tkg::BufViewOp view = operand.view;
    return registerWords(operand.fragments, view.getResult().getType().getElement());
  };
  return registerWords(mma.getAcc()) + 2 * (ofStep(*a) + ofStep(*b));
}

bool Prefetch::matches(int64_t mostRegisters) {
  auto products = loop.getBody()->getOps<tkg::MmaOp>();
  auto waits = loop.getBody()->getOps<tkg::AsyncWaitOp>();
  if (!llvm::hasSingleElement(products) || !llvm::hasSingleElement(waits))
    return false;
  mma = *products.begin();
  wait = *waits.begin();
  barrier = dyn_cast<tkg::BarrierOp>(wait->getNextNode());
  next = loop.getYieldedValues().back().getDefiningOp<tkg::RingSlotOp>();
  if (!barrier || !next || !mma->isBeforeInBlock(next))
    return false;
  tiling = *tilingOf(mma->getAttr("tkg.tiling"));
  if (tiling.k % tiling.instruction().k || !tiling.batch.empty())
    return false;
  steps = tiling.k / tiling.instruction().k;
  tiling.k = tiling.instruction().k;
  a = operand(mma.getA(), 1);
  b = operand(mma.getB(), 0);
  return a && b && registers() <= mostRegisters;
}

Value Prefetch::fragments(OpBuilder &builder, const Operand &operand, Value slot, int64_t step) {
  Operand at = operand;
  Location loc = mma.getLoc();
  tkg::BufType type = at.view.getResult().getType();
  SmallVector<int64_t> shape(type.getShape()), strides;
  for (unsigned axis : {0u, 1u})
    strides.push_back(type.stride(axis));
  shape[at.axisOfK] = tiling.k;
  Value place = arith::MulIOp::create(builder, loc, slot, at.place.getRhs());
  Value part = SharedBuilder{builder, loc}.view(at.view.getBuffer(), shape, strides,
                                                step * tiling.k * type.stride(at.axisOfK), place);
  auto tile = RankedTensorType::get(shape, type.getElement(), tkg::LayoutAttr::get(builder.getContext(), at.fragments));
  return tkg::BufLoadOp::create(builder, loc, tile, part);
}

Value Prefetch::multiply(OpBuilder &builder, Value a, Value b, Value acc) {
  auto made = tkg::MmaOp::create(builder, mma.getLoc(), acc.getType(), a, b, acc, mma.getInput(), mma.getPromote(),
                                 mma.getAUnsigned(), mma.getBUnsigned());
  made->setAttr("tkg.tiling", tilingAttr(builder.getContext(), tiling));
  return made;
}

/// The loop with the fragments of its first step as values that it carries.
void Prefetch::carryFragments() {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  tkg::AsyncWaitOp::create(builder, loc, wait.getPending());
  tkg::BarrierOp::create(builder, loc);
  Value first = loop.getInitArgs()[cast<BlockArgument>(next.getSlot()).getArgNumber() - 1];
  for (Operand *operand : {&*a, &*b}) // the constant may be inside
    if (loop->isAncestor(operand->place.getRhs().getDefiningOp()))
      operand->place.getRhs().getDefiningOp()->moveBefore(loop);
  SmallVector<Value> inits{fragments(builder, *a, first, 0), fragments(builder, *b, first, 0)};
  auto made = cast<scf::ForOp>(cast<LoopLikeOpInterface>(loop.getOperation())
                                   .replaceWithAdditionalYields(*std::make_unique<IRRewriter>(builder), inits,
                                                                /*replaceInitOperandUsesInLoop=*/false,
                                                                [&](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
                                                                  return SmallVector<Value>(args.begin(), args.end());
                                                                })
                                   .value()
                                   .getOperation());
  loop = made;
  carriedA = loop.getRegionIterArgs().take_back(2)[0];
  carriedB = loop.getRegionIterArgs().back();
}

/// The steps of the product, with what PipelineLoops put at the head of the loop between them.
void Prefetch::splitBody() {
  Value left = carriedA, right = carriedB, acc = mma.getAcc();
  SmallVector<Operation *> copies;
  for (Operation &op : *loop.getBody())
    if (isa<tkg::AsyncCopyOp, tkg::AsyncCommitOp>(op))
      copies.push_back(&op);
  if (!copies.empty() && mma->isBeforeInBlock(copies.back()))
    mma->moveAfter(copies.back());
  OpBuilder builder(mma);
  auto moveCopies = [&] {
    for (Operation *op : copies)
      op->moveBefore(mma);
  };
  for (int64_t step = 0; step + 1 < steps; ++step) {
    Value nextLeft = fragments(builder, *a, next.getSlot(), step + 1), nextRight = fragments(builder, *b, next.getSlot(), step + 1);
    acc = multiply(builder, left, right, acc);
    left = nextLeft, right = nextRight;
    if (step == 0)
      moveCopies();
  }
  if (steps == 1)
    moveCopies();
  wait->moveBefore(mma);
  barrier->moveBefore(mma);
  next->moveBefore(mma);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  Value firstLeft = fragments(builder, *a, next, 0), firstRight = fragments(builder, *b, next, 0);
  acc = multiply(builder, left, right, acc);
  mma.getResult().replaceAllUsesWith(acc);
  mma.erase();
  yield->setOperand(yield->getNumOperands() - 2, firstLeft);
  yield->setOperand(yield->getNumOperands() - 1, firstRight);
  for (const Operand &operand : {*a, *b}) {
    auto view = operand.view;
    if (view.use_empty())
      view.erase();
  }
}

void Prefetch::rewrite() {
  carryFragments();
  splitBody();
}

namespace {
struct PrefetchFragments : tk::impl::PrefetchFragmentsBase<PrefetchFragments> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (Prefetch prefetch(loop); prefetch.matches(mostRegisters))
        prefetch.rewrite();
  }
};
} // namespace
