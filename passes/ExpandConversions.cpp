//===- ExpandConversions.cpp - other layouts by shuffles or through shared memory ---===//
//
// Requires: phase LaidOut, no tk.reduce left.
// Ensures:  phase Expanded. A tkg.convert that is left renames registers, or shuffles within warps
//           where that costs less than memory. Any other is a scratch, a store and a load; one with
//           too large a scratch is done in halves first. Remark TK4103 says what each costs, and why
//           it is there. A vector that was loaded is loaded once more instead (LoadInLayout.h).
// Fails:    never.
//
//   %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %m = tkg.alloc {conversion} : !tkg.buf<64xf32>
//   tkg.buf_store %a, %m : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %b = tkg.buf_load %m : !tkg.buf<64xf32> -> tensor<64xf32, #B>
//
// The scratch is rows with padding if both sides access them as well as can be: their addresses differ
// in constants. Else it has an order free of bank conflicts (ir/layout/Scratch.h), if the two layouts
// have the same core and padding does not make it much larger than the tile.
//
// What pays. A multiprocessor shuffles or selects words about as fast as it reads them from shared
// memory, so per word the ways differ by how often each is touched: a store and a load against a
// shuffle and the selects around it, whose number grows with the lane bits that trade places with
// register bits. Memory also takes a wait for the other warps. So shuffles win for few words or
// few bits, memory for the transposition of a large tile. The costs are the target's.
//
//===----------------------------------------------------------------------===//

#include "ir/Phases.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/target/Target.h"
#include "ir/tk/Elements.h"
#include "ir/tkg/TkgDialect.h"
#include "passes/LoadInLayout.h"
#include "passes/Passes.h"
#include "passes/SharedTiles.h"
#include "passes/analysis/SharedAccess.h"

namespace tk {
#define GEN_PASS_DEF_EXPANDCONVERSIONS
#include "passes/Passes.h.inc"
} // namespace tk

using namespace mlir;
using namespace tk;

/// A scratch with an order may be so much larger than its tile, for padding.
static constexpr int64_t kMostPadding = 2;

namespace {
class Conversion {
public:
  explicit Conversion(tkg::ConvertOp op)
      : op(op), builder(op), loc(op.getLoc()), shared{builder, loc}, from(mapOf(op.getValue())),
        to(mapOf(op.getResult())), type(cast<RankedTensorType>(op.getResult().getType())),
        bytes(elementBytes(type)) {
    planScratch();
  }
  bool shufflesPay(const ExchangeCosts &costs) const;
  bool halve(SmallVectorImpl<tkg::ConvertOp> &halves);
  void throughMemory();
  void remark();
  int64_t scratchBytes() const;

private:
  void planScratch();
  SharedAccesses accesses(tkg::BufType buffer) const;
  std::optional<ShufflePlan> shuffles() const;

  tkg::ConvertOp op;
  OpBuilder builder;
  Location loc;
  SharedBuilder shared;
  LinearLayout from, to;
  RankedTensorType type;
  int64_t bytes; // of an element
  tkg::BufType scratch;
};
} // namespace

/// Of the store and the load together.
SharedAccesses Conversion::accesses(tkg::BufType buffer) const {
  SharedAccesses store = accessesTo(buffer, {}, from, /*isStore=*/true), load = accessesTo(buffer, {}, to, /*isStore=*/false);
  store.count += load.count;
  store.wavefronts += load.wavefronts;
  return store;
}

void Conversion::planScratch() {
  ArrayRef<int64_t> shape = type.getShape();
  Type element = type.getElementType();
  scratch = tkg::BufType::get(op.getContext(), shape, element, paddedStrides(shape, element));
  std::optional<LinearLayout> order = scratchLayout(from, to, bytes);
  if (!order || order->numOffsets() > kMostPadding * type.getNumElements())
    return;
  auto ordered = tkg::BufType::get(op.getContext(), shape, element, {}, tkg::LayoutAttr::get(op.getContext(), *order));
  SharedAccesses rows = accesses(scratch), best = accesses(ordered);
  if (rows.count > best.count || rows.wavefronts.taken > best.wavefronts.taken)
    scratch = ordered;
}

int64_t Conversion::scratchBytes() const { return scratch.getBytes(); }

std::optional<ShufflePlan> Conversion::shuffles() const {
  return ShufflePlan::create(llvm::cantFail(LayoutConversion::create(from, to)), elementsPerWord(type));
}

bool Conversion::shufflesPay(const ExchangeCosts &costs) const {
  ShufflePlan plan = *shuffles();
  int64_t words = std::max<int64_t>(1, bytes / 4) * to.numRepeats();
  int64_t byShuffles = words * (plan.numShuffles() * costs.shuffle + plan.numSelects() * costs.select);
  return byShuffles <= accesses(scratch).wavefronts.taken * costs.wavefront + costs.barrier;
}

/// The layout of half of the tile along `axis`; none unless the halves differ in one register bit alone.
static std::optional<LinearLayout> halfOf(const LinearLayout &layout, unsigned axis) {
  int32_t half = layout.shape()[axis] / 2;
  if (half == 0 || layout.coreSize(axis) != layout.shape()[axis])
    return std::nullopt;
  std::vector<DimBases> all;
  unsigned numDropped = 0;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp}) {
    DimBases &bases = all.emplace_back(DimBases{dim, {}});
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
      Coords basis = layout.basis(dim, bit);
      bool isHalf = dim == InDim::Register && basis[axis] == half &&
                    llvm::count_if(basis, [](int32_t c) { return c != 0; }) == 1;
      if (basis[axis] >= half && !isHalf)
        return std::nullopt;
      if (isHalf)
        ++numDropped;
      else
        bases.bases.emplace_back(basis.begin(), basis.end());
    }
  }
  SmallVector<int32_t> shape(layout.shape());
  shape[axis] = half;
  if (numDropped != 1)
    return std::nullopt;
  return llvm::cantFail(LinearLayout::fromBases(all, shape, layout.repeats()));
}

/// Two conversions of half the size, if the halves lie in different registers of both layouts.
bool Conversion::halve(SmallVectorImpl<tkg::ConvertOp> &halves) {
  for (unsigned axis = 0; axis < to.rank(); ++axis) {
    std::optional<LinearLayout> fromHalf = halfOf(from, axis), toHalf = halfOf(to, axis);
    if (!fromHalf || !toHalf)
      continue;
    SmallVector<int64_t> offsets(to.rank(), 0), strides(to.rank(), 1);
    SmallVector<Value> parts;
    for (int64_t offset : {int64_t(0), int64_t(fromHalf->shape()[axis])}) {
      offsets[axis] = offset;
      Value part = SliceOp::create(builder, loc, tileTypeFor(op.getValue(), *fromHalf), op.getValue(), offsets, strides);
      halves.push_back(tkg::ConvertOp::create(builder, loc, tileTypeFor(part, *toHalf), part, "shared", op.getWhyAttr()));
      parts.push_back(halves.back());
    }
    op.replaceAllUsesWith(CatOp::create(builder, loc, type, parts, axis).getResult());
    op.erase();
    return true;
  }
  return false;
}

/// Bytes of the buffers that nobody uses any more once `op` is reached: a scratch may lie there.
static int64_t bytesFreeAt(Operation *op) {
  int64_t bytes = 0;
  op->getParentOfType<KernelOp>().walk([&](tkg::AllocOp alloc) {
    Block *home = alloc->getBlock();
    Operation *here = home->findAncestorOpInBlock(*op);
    auto isBefore = [&](Operation *user) { return home->findAncestorOpInBlock(*user)->isBeforeInBlock(here); };
    auto isDead = [&](Operation *user) { return isBefore(user) && !isa<tkg::BufViewOp>(user); };
    auto viewsAreDead = [&](Operation *user) { return isBefore(user) && llvm::all_of(user->getUsers(), isDead); };
    if (here && alloc->isBeforeInBlock(here) &&
        llvm::all_of(alloc->getUsers(), [&](Operation *user) { return isDead(user) || viewsAreDead(user); }))
      bytes += alloc.getResult().getType().getBytes();
  });
  return bytes;
}

void Conversion::throughMemory() {
  auto buffer = tkg::AllocOp::create(builder, loc, scratch, IntegerAttr());
  buffer->setAttr("conversion", builder.getUnitAttr());
  shared.store(op.getValue(), buffer);
  op.replaceAllUsesWith(shared.load(buffer, type));
  op.erase();
}

void Conversion::remark() {
  std::string tile, means = "shared memory";
  llvm::raw_string_ostream(tile) << RankedTensorType::get(type.getShape(), type.getElementType());
  bool isShuffle = op.getHow() == "shuffle";
  if (isShuffle) {
    ShufflePlan plan = *shuffles();
    means = llvm::formatv("{0} shuffles and {1} selects a thread", plan.numShuffles() * to.numRepeats(),
                          plan.numSelects() * to.numRepeats());
  }
  emit<diag::ConversionLeft>(loc, tile, means, isShuffle ? 0 : scratchBytes()).attachNote()
      << op.getWhy().value_or("nobody said why") << ": from " << from.str() << " to " << to.str();
}

namespace {
struct ExpandConversions : tk::impl::ExpandConversionsBase<ExpandConversions> {
  using Base::Base;

  /// Those that take memory; in pieces where there is little.
  void expand(tkg::ConvertOp op) {
    Conversion conversion(op);
    SmallVector<tkg::ConvertOp> halves;
    int64_t bytes = conversion.scratchBytes();
    if (bytes <= scratchBytes || bytes <= bytesFreeAt(op) || !conversion.halve(halves))
      return conversion.throughMemory();
    for (tkg::ConvertOp half : halves)
      expand(half);
  }

  void runOnOperation() override {
    ExchangeCosts costs{int(shuffleCost), int(selectCost), int(wavefrontCost), int(barrierCost)};
    SmallVector<tkg::ConvertOp> throughMemory;
    getOperation().walk([&](tkg::ConvertOp op) {
      if (op.getHow() == "registers")
        return;
      if (op.getHow() == "shuffle" && !Conversion(op).shufflesPay(costs))
        op.setHow("shared");
      if (op.getHow() == "shared" && loadInLayout(op))
        return;
      Conversion(op).remark();
      if (op.getHow() == "shared")
        throughMemory.push_back(op);
    });
    for (tkg::ConvertOp op : throughMemory)
      expand(op);
    setPhase(getOperation(), Phase::Expanded);
  }
};
} // namespace
