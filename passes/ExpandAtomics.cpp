//===- ExpandAtomics.cpp - results that one thread gets for all -----------------===//
//
// Requires: phase LaidOut.
// Ensures:  the same. What comes from memory that others change, or from a clock, is the same for
//           all threads that hold it: one thread an element asks, and where copies lie in several
//           warps the result goes through a shared buffer. A barrier stands before a release and
//           after an acquire: they speak for the whole program instance.
// Fails:    never.
//
//   %o = tk.atomic_rmw add %v, %p order release scope gpu : i32, !tk.ptr<i32, 0>
// becomes
//   tkg.barrier
//   %r = tk.atomic_rmw add (splat %v), (splat %p) order release scope gpu : tensor<1xi32, #all>, ...
//   %b = tkg.alloc : !tkg.buf<1xi32>, tkg.buf_store %r, %b, %t = tkg.buf_load %b
//   %o = tkg.reduce %t axis 0 : tensor<1xi32, #all> -> i32
//
// Copies within a warp get theirs by a shuffle when the operation is lowered.
//
//===----------------------------------------------------------------------===//

#include "ir/tk/Launch.h"
#include "ir/tkg/TkgDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDATOMICS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// Whether `op` asks memory that others change, or a clock.
static bool isPolled(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return isa<AtomicRmwOp, AtomicCasOp, AtomicLoadOp, AtomicStoreOp, ClockOp>(op) ||
         (load && load.getIsVolatile());
}

static MemOrder orderOf(Operation *op) {
  return TypeSwitch<Operation *, MemOrder>(op)
      .Case<AtomicRmwOp, AtomicCasOp, AtomicLoadOp, AtomicStoreOp>(
          [](auto atomic) { return atomic.getOrder(); })
      .Default([](Operation *) { return MemOrder::relaxed; });
}

namespace {
class AtomicExpansion {
public:
  AtomicExpansion(KernelOp kernel, int64_t warpSize);
  void run();

private:
  Value splat(OpBuilder &builder, Location loc, Value scalar);
  Value scalarOf(OpBuilder &builder, Location loc, Value tile);
  Operation *onTile(Operation *op);
  bool goesThroughMemory(Value tile);
  void expand(Operation *op);

  KernelOp kernel;
  tkg::LayoutAttr everywhere; // of a tile of one element that every thread holds
};
} // namespace

AtomicExpansion::AtomicExpansion(KernelOp kernel, int64_t warpSize) : kernel(kernel) {
  auto zeros = [](InDim dim, int64_t size) {
    return DimBases{dim, std::vector<std::vector<int32_t>>(llvm::Log2_64(size), {0})};
  };
  LinearLayout layout = llvm::cantFail(LinearLayout::fromBases(
      {DimBases{InDim::Register, {}}, zeros(InDim::Lane, warpSize), zeros(InDim::Warp, warpsOf(kernel))}, {1}));
  everywhere = tkg::LayoutAttr::get(kernel.getContext(), layout);
}

Value AtomicExpansion::splat(OpBuilder &builder, Location loc, Value scalar) {
  return SplatOp::create(builder, loc, RankedTensorType::get({1}, scalar.getType(), everywhere),
                         scalar);
}

/// The element of a tile of one.
Value AtomicExpansion::scalarOf(OpBuilder &builder, Location loc, Value tile) {
  Type type = elementTypeOf(tile.getType());
  auto reduce = tkg::ReduceOp::create(builder, loc, type, tile, 0, ReduceOrder::any);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getCombine(), {}, {type, type}, {loc, loc});
  tkg::YieldOp::create(builder, loc, body->getArgument(0));
  return reduce.getResult(0);
}

/// A scalar operation as one on tiles of one element.
Operation *AtomicExpansion::onTile(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  if (isa<ClockOp>(op)) {
    Operation *clock = builder.clone(*op);
    return splat(builder, loc, clock->getResult(0)).getDefiningOp();
  }
  Operation *made = builder.clone(*op);
  builder.setInsertionPoint(made);
  auto load = dyn_cast<LoadOp>(made);
  unsigned scalars = load && load.getFill() ? 1 : 0; // the fill, which is last
  for (OpOperand &operand : made->getOpOperands().drop_back(scalars))
    operand.set(splat(builder, loc, operand.get()));
  Type type = op->getResult(0).getType();
  made->getResult(0).setType(RankedTensorType::get({1}, type, everywhere));
  return made;
}

/// A shuffle is enough where copies lie in lanes whose number alone says which they are copies of.
bool AtomicExpansion::goesThroughMemory(Value tile) {
  if (isa<SplatOp>(tile.getDefiningOp()))
    return true; // a clock, which each thread has read
  LinearLayout layout = tkg::layoutOf(tile.getType()).getMap();
  return layout.ownerMask(InDim::Warp) != 0 ||
         layout.ownerMask(InDim::Lane) != layout.freeBits(InDim::Lane);
}

void AtomicExpansion::expand(Operation *op) {
  MemOrder order = orderOf(op);
  Location loc = op->getLoc();
  bool releases = order == MemOrder::release || order == MemOrder::acq_rel;
  bool acquires = order == MemOrder::acquire || order == MemOrder::acq_rel;
  if (releases) {
    OpBuilder before(op);
    tkg::BarrierOp::create(before, loc);
  }
  bool isUsed = op->getNumResults() == 1 && !op->use_empty();
  bool isScalar = isUsed && !isa<RankedTensorType>(op->getResult(0).getType());
  Operation *made = isScalar ? onTile(op) : op;
  OpBuilder builder(made);
  builder.setInsertionPointAfter(made);
  Value result = isUsed ? made->getResult(0) : Value();
  Value shared = result, buffer;
  Operation *store = nullptr;
  if (isUsed && goesThroughMemory(result)) {
    auto type = cast<RankedTensorType>(result.getType());
    buffer = tkg::AllocOp::create(
        builder, loc, tkg::BufType::get(op->getContext(), type.getShape(), type.getElementType()),
        IntegerAttr());
    store = tkg::BufStoreOp::create(builder, loc, result, buffer);
  }
  if (acquires)
    tkg::BarrierOp::create(builder, loc);
  if (buffer)
    shared = tkg::BufLoadOp::create(builder, loc, result.getType(), buffer);
  if (isScalar) {
    op->getResult(0).replaceAllUsesWith(scalarOf(builder, loc, shared));
    op->erase();
  } else if (buffer) {
    result.replaceAllUsesExcept(shared, store);
  }
}

void AtomicExpansion::run() {
  SmallVector<Operation *> polled, barriers;
  kernel.walk([&](Operation *op) {
    if (isPolled(op))
      polled.push_back(op);
    if (isa<BarrierOp>(op))
      barriers.push_back(op);
  });
  for (Operation *op : polled)
    expand(op);
  for (Operation *op : barriers) {
    OpBuilder builder(op);
    tkg::BarrierOp::create(builder, op->getLoc());
    op->erase();
  }
}

namespace {
struct ExpandAtomics : tk::impl::ExpandAtomicsBase<ExpandAtomics> {
  using Base::Base;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      AtomicExpansion(kernel, warpSize).run();
  }
};
} // namespace
