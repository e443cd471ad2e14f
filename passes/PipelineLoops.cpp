//===- PipelineLoops.cpp - copies that run ahead of the iterations that read them ----===//
//
// Requires: phase LaidOut, no tk.dot left.
// Ensures:  in a counted loop, a tkg.load whose tile only fills a shared buffer is an asynchronous copy
//           into a ring of S slots, begun S - 1 iterations ahead. So is, in a loop with a product or
//           with the attribute `tk.pipeline`, one whose tile goes to registers, which are then read
//           from the ring.
// Fails:    never.
//
//   scf.for %i = 0 to %n {
//     %v = tkg.load %p(%i)
//     %b = tkg.alloc
//     tkg.buf_store %v, %b
//     use %b
//   }
// becomes, with two slots,
//   %r = tkg.alloc                       // both slots
//   tkg.async_copy when 0 < %n, %p(0), slot 0
//   tkg.async_commit
//   scf.for %i = 0 to %n {
//     tkg.async_wait 0                   // at most S - 2 groups under way: slot %i % S is full
//     tkg.barrier                        // for all threads; and the slot read last is free
//     tkg.async_copy when %i + 1 < %n, %p(%i + 1), slot (%i + 1) % S    // behind the first product
//     tkg.async_commit
//     use slot %i % S
//   }
//   tkg.async_wait 0
//
// Where the mask has a limit that the iteration gives, that is 0 instead of `when`. The number of a slot is carried by the loop. InsertBarriers proves the order of all this.
//
// Four steps: `collectCopies` finds the loads, `chooseStages` the number of slots, `makeRing` the buffers,
// `rewrite` the prologue and the loop. The address of a copy is computed by a copy of the operations
// that computed it, with another iteration number; a load whose address depends on what the loop
// carries or loads stays where it is.
//
//===----------------------------------------------------------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tk {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Stages where neither the loop nor the kernel says how many.
static constexpr int64_t kDefaultStages = 3;

namespace {
/// A load and the buffer that it fills, if it fills one.
struct Copy {
  tkg::LoadOp load;
  tkg::BufStoreOp store;
  tkg::AllocOp alloc;
  tkg::BufType type; // of a slot
  SmallVector<Operation *> address; // what computes the operands, in program order
  arith::CmpIOp limit; // what makes the mask false with 0 on its right, if anything does
  tkg::AllocOp ring;
  int64_t slotElements = 0;
};

class LoopPipeline {
public:
  LoopPipeline(scf::ForOp loop, int64_t limitBytes, ScalarAnalysis &scalars) : loop(loop), limitBytes(limitBytes), scalars(scalars) {}
  void run();

private:
  std::optional<Copy> candidate(tkg::LoadOp load);
  bool pipelinesRegisters();
  bool dependsOnIteration(const Copy &copy);
  void collectCopies();
  std::string whyNot(const Copy &copy);
  bool collectAddress(Value value, llvm::SetVector<Operation *> &ops);
  int64_t slotBytes(const Copy &copy);
  bool chooseStages();
  void makeRing(OpBuilder &builder, Copy &copy);
  Value constant(OpBuilder &builder, Type type, int64_t value);
  Value slotView(OpBuilder &builder, const Copy &copy, Value slot);
  bool isInvariant(Value value);
  arith::CmpIOp limitIn(Value mask);
  void issue(OpBuilder &builder, Value iteration, Value slot);
  void rewrite();
  void rewriteBody(Value slot, OpBuilder &builder);

  scf::ForOp loop;
  int64_t limitBytes;
  ScalarAnalysis &scalars;
  SmallVector<Copy> copies;
  int64_t stages = 1;
};
} // namespace

/// Loads of registers are copied ahead where it was asked for, and where products wait for them.
bool LoopPipeline::pipelinesRegisters() {
  bool hasProduct = false;
  loop.getBody()->walk([&](Operation *op) { hasProduct |= isa<tkg::MmaOp, tkg::DotOp>(op); });
  return hasProduct || loop->hasAttr("tk.pipeline");
}

/// What the load fills: one buffer of the loop's body and nothing else, or registers.
std::optional<Copy> LoopPipeline::candidate(tkg::LoadOp load) {
  if (load->getBlock() != loop.getBody())
    return std::nullopt;
  auto store = load.getResult().hasOneUse() ? dyn_cast<tkg::BufStoreOp>(*load.getResult().user_begin()) : tkg::BufStoreOp();
  auto alloc = store ? store.getBuffer().getDefiningOp<tkg::AllocOp>() : tkg::AllocOp();
  if (alloc && store->getBlock() == loop.getBody() && alloc->getBlock() == loop.getBody())
    return Copy{load, store, alloc, alloc.getResult().getType(), {}, {}, {}, 0};
  if (!pipelinesRegisters())
    return std::nullopt;
  auto tile = cast<RankedTensorType>(load.getResult().getType());
  auto type = tkg::BufType::get(load.getContext(), tile.getShape(), tile.getElementType(),
                                paddedStrides(tile.getShape(), tile.getElementType()));
  return Copy{load, {}, {}, type, {}, {}, {}, 0};
}

/// Adds what computes `value` in the loop's body; false when it depends on more than the iteration.
bool LoopPipeline::collectAddress(Value value, llvm::SetVector<Operation *> &ops) {
  if (!value || value == loop.getInductionVar() || !loop->isAncestor(value.getParentRegion()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectAddress(operand, ops))
      return false;
  ops.insert(op);
  return true;
}

static bool isZero(Value fill) {
  if (!fill)
    return true;
  Attribute value;
  if (!matchPattern(fill, m_Constant(&value)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isPosZero();
  return isa<IntegerAttr>(value) && cast<IntegerAttr>(value).getValue().isZero();
}

/// Why a load cannot be copied ahead, or "".
std::string LoopPipeline::whyNot(const Copy &copy) {
  tkg::LoadOp load = copy.load;
  if (isa<PtrType>(copy.type.getElement()) || elementBits(copy.type.getElement()) < 8)
    return "its elements share bytes";
  if (int64_t bytes = int64_t(load.getVector()) * copy.type.getElementBytes(); bytes < 4)
    return "an asynchronous copy moves 4 bytes or more a thread, this one " + std::to_string(bytes);
  if (!load.getReadonly())
    return "the kernel may write the memory it reads";
  return isZero(load.getFill()) || !copy.store ? "" : "its fill is not zero";
}

int64_t LoopPipeline::slotBytes(const Copy &copy) { return llvm::alignTo(copy.type.getBytes(), 16); }

/// True when there are two stages or more. Where the number is fixed and the rings do not fit, loads of
/// registers stay what they are.
bool LoopPipeline::chooseStages() {
  auto kernel = loop->getParentOfType<KernelOp>();
  auto options = kernel.getContract().getFields().getAs<DictionaryAttr>("options");
  auto ofLoop = loop->getAttrOfType<IntegerAttr>("tk.pipeline");
  auto ofKernel = options ? options.getAs<IntegerAttr>("stages") : IntegerAttr();
  int64_t wanted = ofLoop ? ofLoop.getInt() : ofKernel ? ofKernel.getInt() : kDefaultStages;
  int64_t largest = 0, others = 0; // at least the largest other buffer may be alive too, at most all
  kernel.walk([&](tkg::AllocOp alloc) {
    if (llvm::is_contained(llvm::map_range(copies, [](const Copy &copy) { return copy.alloc; }), alloc))
      return;
    largest = std::max(largest, alloc.getResult().getType().getBytes());
    others += alloc.getResult().getType().getBytes();
  });
  auto bytes = [&] {
    int64_t sum = 0;
    for (const Copy &copy : copies)
      sum += slotBytes(copy);
    return sum;
  };
  stages = wanted;
  auto fits = [&](int64_t rest) { return stages * bytes() + rest <= limitBytes; };
  while (stages > (ofLoop || ofKernel ? wanted : 2) && !fits(largest))
    --stages;
  llvm::erase_if(copies, [&](Copy &copy) {
    bool stays = stages > 1 && !copy.store && !fits(others);
    if (stays)
      emit<diag::NotPipelined>(copy.load.getLoc(), "the ring would not fit in shared memory");
    return stays;
  });
  if (!ofLoop && !ofKernel && !fits(largest))
    stages = 1;
  if (stages != wanted && !copies.empty())
    emit<diag::StagesLowered>(loop.getLoc(), stages, wanted, bytes());
  return stages > 1 && !copies.empty();
}

Value LoopPipeline::constant(OpBuilder &builder, Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loop.getLoc(), builder.getIntegerAttr(type, value));
}

/// A buffer with one axis more: the slots.
void LoopPipeline::makeRing(OpBuilder &builder, Copy &copy) {
  tkg::BufType type = copy.type;
  copy.slotElements = slotBytes(copy) / type.getElementBytes();
  SmallVector<int64_t> shape{stages}, strides{copy.slotElements};
  for (auto [axis, side] : llvm::enumerate(type.getShape())) {
    shape.push_back(side);
    strides.push_back(type.stride(unsigned(axis)));
  }
  auto ringType = tkg::BufType::get(builder.getContext(), shape, type.getElement(), strides);
  copy.ring = tkg::AllocOp::create(builder, copy.load.getLoc(), ringType, IntegerAttr());
}

Value LoopPipeline::slotView(OpBuilder &builder, const Copy &copy, Value slot) {
  tkg::AllocOp ring = copy.ring;
  Location loc = ring.getLoc();
  Value place = arith::MulIOp::create(builder, loc, slot, constant(builder, builder.getI32Type(), copy.slotElements));
  return tkg::BufViewOp::create(builder, loc, copy.type, ring.getResult(), place,
                                /*offset=*/0);
}

/// In all iterations, those that do not exist too.
bool LoopPipeline::isInvariant(Value value) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  return op && !op->getNumRegions() && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand); });
}

/// A conjunct `place < limit` of the mask, of places that are the same in all iterations and never negative, and a
/// limit that is not: with 0 for it the mask is false.
arith::CmpIOp LoopPipeline::limitIn(Value mask) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (!op || !loop->isAncestor(op))
    return {};
  if (isa<arith::AndIOp, ExpandDimsOp, BroadcastOp>(op)) {
    for (Value operand : op->getOperands())
      if (arith::CmpIOp found = limitIn(operand))
        return found;
    return {};
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  auto splat = compare ? compare.getRhs().getDefiningOp<SplatOp>() : SplatOp();
  bool isLimit = splat && compare.getPredicate() == arith::CmpIPredicate::slt && loop->isAncestor(splat) &&
                 isInvariant(compare.getLhs()) && scalars.range(compare.getLhs()).lo >= 0;
  return isLimit ? compare : arith::CmpIOp();
}

/// The copies of one iteration, of nothing where there is no such iteration, and the end of their group. One number
/// that is 0 then costs less than a condition for each instruction.
void LoopPipeline::issue(OpBuilder &builder, Value iteration, Value slot) {
  Location loc = loop.getLoc();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iteration, loop.getUpperBound());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  llvm::SmallPtrSet<Operation *, 2> limited;
  for (const Copy &copy : copies)
    limited.insert(copy.limit);
  llvm::SmallDenseMap<Value, Value, 2> limits;
  auto limitFor = [&](Value limit) {
    Value &made = limits[limit];
    if (!made)
      made = arith::SelectOp::create(builder, loc, exists, limit, constant(builder, limit.getType(), 0));
    return made;
  };
  for (const Copy &copy : copies)
    for (Operation *op : copy.address) {
      if (mapping.contains(op->getResult(0)))
        continue;
      Operation *made = builder.clone(*op, mapping);
      if (!limited.contains(op))
        continue;
      auto compare = cast<arith::CmpIOp>(made);
      builder.setInsertionPoint(made);
      Value limit = limitFor(mapping.lookupOrDefault(cast<arith::CmpIOp>(op).getRhs().getDefiningOp<SplatOp>().getValue()));
      compare.getRhsMutable().assign(SplatOp::create(builder, loc, compare.getRhs().getType(), limit));
      builder.setInsertionPointAfter(made);
    }
  for (const Copy &copy : copies) {
    tkg::LoadOp load = copy.load;
    auto mapped = [&](Value value) { return value ? mapping.lookupOrDefault(value) : Value(); };
    Value when = copy.limit ? Value() : exists;
    tkg::AsyncCopyOp::create(builder, load.getLoc(), when, mapped(load.getBase()), mapped(load.getOffset()),
                             mapped(load.getMask()), slotView(builder, copy, slot), load.getVector());
  }
  tkg::AsyncCommitOp::create(builder, loc);
}

/// The tile of a load of registers: what the ring has, and the fill where the mask is false.
static Value fromRing(OpBuilder &builder, tkg::LoadOp load, Value slot) {
  Location loc = load.getLoc();
  Value tile = tkg::BufLoadOp::create(builder, loc, load.getResult().getType(), slot);
  if (isZero(load.getFill()))
    return tile;
  Value fill = SplatOp::create(builder, loc, load.getResult().getType(), load.getFill());
  return arith::SelectOp::create(builder, loc, load.getMask(), tile, fill);
}

/// Copies begin after the first product of an iteration: its instructions run while addresses are made.
static void goBehindFirstProduct(OpBuilder &builder, Block &body) {
  for (Operation &op : body)
    if (isa<tkg::MmaOp>(op))
      return builder.setInsertionPointAfter(&op);
}

/// What threads copy for themselves needs no barrier; InsertBarriers has one where it does.
void LoopPipeline::rewriteBody(Value slot, OpBuilder &builder) {
  Location loc = loop.getLoc();
  tkg::AsyncWaitOp::create(builder, loc, stages - 2);
  if (llvm::any_of(copies, [](const Copy &copy) { return bool(copy.store); }))
    tkg::BarrierOp::create(builder, loc);
  OpBuilder head(builder);
  goBehindFirstProduct(builder, *loop.getBody());
  Value ahead = arith::AddIOp::create(builder, loc, loop.getInductionVar(), constant(builder, builder.getI64Type(), stages - 1));
  issue(builder, ahead, ringSlot(builder, loc, slot, stages - 1, stages));
  for (Copy &copy : copies) {
    if (copy.store) {
      copy.alloc.replaceAllUsesWith(slotView(head, copy, slot));
      copy.store.erase();
      copy.alloc.erase();
    } else {
      OpBuilder here(copy.load);
      copy.load.replaceAllUsesWith(fromRing(here, copy.load, slotView(here, copy, slot)));
    }
    copy.load.erase();
  }
}

/// The loop with the slot's number as one more value that it carries.
void LoopPipeline::rewrite() {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Type i32 = builder.getI32Type();
  for (Copy &copy : copies) {
    copy.limit = limitIn(copy.load.getMask());
    makeRing(builder, copy);
  }
  for (int64_t k = 0; k < stages - 1; ++k)
    issue(builder, constant(builder, builder.getI64Type(), k), constant(builder, i32, k));
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(constant(builder, i32, 0));
  auto made = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  for (NamedAttribute attribute : loop->getAttrs())
    made->setAttr(attribute.getName(), attribute.getValue());
  made.getBody()->getOperations().splice(made.getBody()->end(), loop.getBody()->getOperations());
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), made.getBody()->getArguments()))
    from.replaceAllUsesWith(to);
  for (auto [from, to] : llvm::zip(loop.getResults(), made.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  loop = made;
  Value slot = made.getRegionIterArgs().back();
  builder.setInsertionPointToStart(made.getBody());
  rewriteBody(slot, builder);
  Operation *yield = made.getBody()->getTerminator();
  builder.setInsertionPoint(yield);
  SmallVector<Value> yielded(yield->getOperands());
  yielded.push_back(ringSlot(builder, loc, slot, 1, stages));
  scf::YieldOp::create(builder, loc, yielded);
  yield->erase();
  builder.setInsertionPointAfter(made); // the groups of iterations that there are not
  tkg::AsyncWaitOp::create(builder, loc, 0);
}

/// Loads of one address in all iterations find it in a cache.
bool LoopPipeline::dependsOnIteration(const Copy &copy) {
  auto uses = [&](Operation *op) { return llvm::is_contained(op->getOperands(), loop.getInductionVar()); };
  return uses(copy.load) || llvm::any_of(copy.address, uses);
}

void LoopPipeline::collectCopies() {
  for (tkg::LoadOp load : llvm::to_vector(loop.getBody()->getOps<tkg::LoadOp>())) {
    std::optional<Copy> copy = candidate(load);
    if (!copy)
      continue;
    std::string reason = whyNot(*copy);
    llvm::SetVector<Operation *> address;
    for (Value operand : std::initializer_list<Value>{load.getBase(), load.getOffset(), load.getMask()})
      if (reason.empty() && !collectAddress(operand, address))
        reason = "its address depends on what the loop carries or loads";
    if (!reason.empty()) {
      emit<diag::NotPipelined>(load.getLoc(), reason);
      continue;
    }
    copy->address = address.takeVector();
    if (!copy->store && !dependsOnIteration(*copy))
      continue;
    copies.push_back(std::move(*copy));
  }
}

void LoopPipeline::run() {
  collectCopies();
  if (copies.empty() || !chooseStages())
    return;
  int64_t bytes = 0;
  for (const Copy &copy : copies)
    bytes += slotBytes(copy) * stages;
  emit<diag::LoopPipelined>(loop.getLoc(), copies.size(), stages - 1, bytes);
  auto kernel = loop->getParentOfType<KernelOp>();
  auto most = kernel->getAttrOfType<IntegerAttr>("tkg.stages");
  if (!most || most.getInt() < stages)
    kernel->setAttr("tkg.stages", Builder(loop.getContext()).getI64IntegerAttr(stages));
  rewrite();
}

namespace {
struct PipelineLoops : tk::impl::PipelineLoopsBase<PipelineLoops> {
  using Base::Base;

  void runOnOperation() override {
    if (!asyncCopies)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) { // inner loops first
      ScalarAnalysis scalars(loop->getParentOfType<KernelOp>());
      LoopPipeline(loop, limitBytes, scalars).run();
    }
  }
};
} // namespace
