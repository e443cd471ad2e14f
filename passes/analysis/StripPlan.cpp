//===- StripPlan.cpp - which operations work through tiles strip by strip -----===//

#include "passes/analysis/StripPlan.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/StripMemory.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tk;

/// Elements of a tile that one thread may have: ptxas takes 80 ms for the code of 128, and half a
/// second for that of 512.
static constexpr int64_t kMostUnrolled = 128;
/// Elements a thread of a piece: enough loads under way, and a quarter of the registers at most.
static constexpr int64_t kMostPieceElements = 32, kLeastPieceElements = 8;
/// Roots of one loop, so that its code stays small and the search for a place to stand short.
static constexpr size_t kMostRoots = 16;
/// How often an operation of a block may be done in its loops, on average: what follows from a hundred
/// reductions of one tile would otherwise be half of a hundred times the code.
static constexpr size_t kMostRepetitions = 16;

int64_t StripBudget::pieceElements() const {
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(registers / 4)), kLeastPieceElements, kMostPieceElements);
}

int64_t StripBudget::mostUnrolled() const { return std::min(kMostUnrolled, liveWords()); }

StripPlan::StripPlan(KernelOp kernel, StripBudget budget) : kernel(kernel), budget(budget) {
  unsigned number = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { order[op] = number++; });
}

int64_t StripBudget::elementsOf(Value tile) const {
  int64_t elements = 1;
  for (int64_t side : tileSides(tile.getType()))
    elements *= side;
  return llvm::divideCeil(elements, threads);
}

//===----------------------------------------------------------------------===//
// Whether a block is over the budget
//===----------------------------------------------------------------------===//

/// Tiles that cost no registers: their elements are made where they are used, or are predicates.
static bool takesNoRegisters(Value tile) {
  Operation *op = tile.getDefiningOp();
  Type element = elementTypeOf(tile.getType());
  return isa_and_nonnull<arith::ConstantOp, SplatOp, ArangeOp, ExpandDimsOp, BroadcastOp>(op) ||
         element.isInteger(1) || isa<PtrType>(element);
}

/// Elements meet here, so all tiles that are used later have all their elements.
static bool isMeeting(Operation *op) {
  return isa<ReduceOp, ScanOp, SortOp, PermuteOp, ReshapeOp, GatherOp, scf::ForOp, scf::WhileOp, scf::IfOp>(op);
}

/// Registers of one thread that a tile takes.
int64_t StripPlan::wordsOf(Value tile) const {
  return llvm::divideCeil(elementsOf(tile) * elementBits(tile.getType()), 32);
}

/// Of the operands that an operation takes all at once. A reduction in any order takes one element
/// after the other.
int64_t StripPlan::wordsMeetingIn(Operation *op) const {
  auto reduce = dyn_cast<ReduceOp>(op);
  int64_t words = 0;
  if (!reduce || reduce.getOrder() != ReduceOrder::any)
    for (Value operand : op->getOperands())
      words += isa<RankedTensorType>(operand.getType()) ? wordsOf(operand) : 0;
  return words;
}

bool StripPlan::isOverBudget(Block &block) const {
  DenseMap<Operation *, size_t> positions;
  for (Operation &op : block)
    positions.try_emplace(&op, positions.size());
  std::vector<int64_t> change(positions.size() + 1, 0); // of the words that live across operation i
  for (auto [position, op] : llvm::enumerate(block)) {
    if (isa<WriteOp, StoreOp>(op) && elementsOf(op.getOperand(0)) > budget.mostUnrolled())
      return true;
    for (Value result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType()) || takesNoRegisters(result))
        continue;
      if (elementsOf(result) > budget.mostUnrolled())
        return true;
      size_t last = position;
      for (Operation *user : result.getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user))
          last = std::max(last, positions.lookup(here));
      if (last > position + 1) {
        change[position + 1] += wordsOf(result);
        change[last] -= wordsOf(result);
      }
    }
  }
  int64_t words = 0;
  for (auto [position, op] : llvm::enumerate(block)) {
    words += change[position];
    if (isMeeting(&op) && words + wordsMeetingIn(&op) > budget.liveWords())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Whether anything in the kernel may write the memory that a load reads.
bool StripPlan::isWritten(Operation *load) const {
  int64_t aliasClass = *classOfAccess(load);
  auto [known, isNew] = written.try_emplace(aliasClass, false);
  if (isNew)
    KernelOp(kernel).walk([&](Operation *op) {
      known->second |= op->getNumRegions() == 0 && touchOf(op, aliasClass).writes;
    });
  return known->second;
}

/// Whether an operation may be computed again in a loop in `block`.
bool StripPlan::canRepeat(Operation *op, Block *block) const {
  bool isHere = op->getBlock() == block;
  if (isMemoryEffectFree(op))
    return true;
  if (auto load = dyn_cast<LoadOp>(op); load && load.getIsVolatile())
    return false;
  return isa<ReadOp, LoadOp>(op) && (isHere || !isWritten(op));
}

/// The largest power of two that divides a side.
static int64_t powerOf(int64_t side) { return side & -side; }

/// The nodes of a tree have a power of two elements: as many pieces, as wide as the block at least, so that no
/// piece is mostly overhead.
static int64_t treePieces(int64_t side, int64_t wanted, int64_t divisor, int64_t threads) {
  int64_t odd = side / powerOf(side);
  if (divisor % odd != 0 || (odd > 1 && powerOf(side) < threads))
    return 1;
  return odd * std::min<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(wanted, odd)), powerOf(divisor));
}

/// Adds what `user` needs. Fails when that cannot be cut, or is big and used whole. `divisor` divides all
/// sides that are cut.
bool StripPlan::addSlice(StripRoot &root, const SmallVector<int> &cuts, Operation *user,
                         SmallVectorImpl<Cut> &work, int64_t &divisor) const {
  for (auto [operand, axis] : llvm::zip(user->getOperands(), cuts)) {
    if (axis == kWhole) {
      if (elementsOf(operand) > budget.pieceElements())
        return false;
      root.whole.insert(operand);
      continue;
    }
    Operation *op = operand.getDefiningOp();
    if (!op || !canRepeat(op, root.op->getBlock()))
      return false;
    divisor = std::gcd(divisor, tileSides(operand.getType())[axis]);
    if (elementsOf(operand) > root.elements) {
      root.elements = elementsOf(operand);
      root.largest = operand;
    }
    work.push_back({op, axis});
  }
  return true;
}

/// The root with its slice, when all of it can be cut; with as many pieces as it needs or allows.
std::optional<StripRoot> StripPlan::cutAlong(Operation *op, int axis) const {
  StripRoot root;
  root.op = op;
  root.axis = axis;
  SmallVector<Cut> work;
  DenseSet<std::pair<Operation *, int>> seen;
  int64_t divisor = 0;
  OperandCuts cuts = rootCuts(op, axis);
  if (!cuts || !addSlice(root, *cuts, op, work, divisor))
    return std::nullopt;
  while (!work.empty()) {
    Cut cut = work.pop_back_val();
    if (!seen.insert({cut.op, cut.axis}).second)
      continue;
    cuts = operandCuts(cut.op, cut.axis);
    if (!cuts || !addSlice(root, *cuts, cut.op, work, divisor))
      return std::nullopt;
    root.slice.push_back(cut);
  }
  llvm::sort(root.slice, isBefore());
  int64_t wanted = llvm::divideCeil(root.elements, budget.pieceElements());
  auto reduce = dyn_cast<ReduceOp>(op);
  bool isTree = reduce && reduce.getOrder() == ReduceOrder::tree;
  root.pieces = isTree ? treePieces(tileSides(op->getOperand(0).getType())[axis], wanted, divisor, budget.threads)
                       : std::min<int64_t>(llvm::PowerOf2Ceil(wanted), powerOf(divisor));
  return root.pieces > 1 ? std::optional(root) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// Reductions of big tiles that must be finished before the root's loop begins.
int64_t StripPlan::reductionsBehind(const StripRoot &root) const {
  SetVector<Value> values(root.whole.begin(), root.whole.end());
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || op->getBlock() != root.op->getBlock())
      continue;
    if (isa<ReduceOp>(op) && elementsOf(op->getOperand(0)) > budget.pieceElements())
      ++count;
    else
      values.insert(op->operand_begin(), op->operand_end());
  }
  return count;
}

/// Along the axis that needs the fewest loops before this one, among those that cut it small enough.
std::optional<StripRoot> StripPlan::bestStore(Operation *op) const {
  std::optional<StripRoot> best;
  auto costOf = [&](const StripRoot &root) {
    int64_t left = llvm::divideCeil(root.elements, root.pieces);
    return std::tuple(left > budget.mostUnrolled(), reductionsBehind(root), left);
  };
  for (int axis = 0; axis < int(tileSides(op->getOperand(0).getType()).size()); ++axis) {
    std::optional<StripRoot> root = cutAlong(op, axis);
    if (root && (!best || costOf(*root) < costOf(*best)))
      best = root;
  }
  return best;
}

static constexpr StringLiteral kNotCut = "its elements meet in an operation that no loop over pieces can do";
static constexpr StringLiteral kMemoryOrder = "pieces would read memory that others have written";
static constexpr StringLiteral kTooOften = "too much would be computed again for each reduction";

/// The root that `op` becomes, if any: a store, or a reduction that somebody needs.
std::optional<StripRoot> StripPlan::rootAt(Operation *op, const DenseSet<Value> &needed, size_t &allowance) const {
  auto reduce = dyn_cast<ReduceOp>(op);
  bool isNeeded = llvm::any_of(op->getResults(), [&](Value result) { return needed.contains(result); });
  if (!isa<WriteOp, StoreOp>(op) && !(reduce && isNeeded))
    return std::nullopt;
  std::optional<StripRoot> root = reduce ? cutAlong(op, int(reduce.getAxis())) : bestStore(op);
  StripLoop alone;
  if (root)
    alone.roots.push_back(*root);
  bool isTooLong = root && root->slice.size() > allowance;
  if (root && !isTooLong && isLegal(alone)) {
    allowance -= root->slice.size();
    return root;
  }
  if (int64_t elements = elementsOf(op->getOperand(0)); elements > budget.mostUnrolled()) {
    std::string type;
    llvm::raw_string_ostream(type) << op->getOperand(0).getType();
    emit<diag::NotStripMined>(op->getLoc(), type, elements,
                              isTooLong ? kTooOften : root ? kMemoryOrder : kNotCut);
  }
  return std::nullopt;
}

/// What the regions of an operation use.
static void needRegions(Operation *op, DenseSet<Value> &needed) {
  op->walk([&](Operation *inner) {
    if (inner != op)
      needed.insert(inner->operand_begin(), inner->operand_end());
  });
}

/// From the end: what a later operation needs whole, an earlier one must make.
SmallVector<StripRoot> StripPlan::findRoots(Block &block) const {
  DenseSet<Value> needed;
  SmallVector<StripRoot> roots;
  size_t allowance = kMostRepetitions * block.getOperations().size();
  for (Operation &op : llvm::reverse(block)) {
    if (std::optional<StripRoot> root = rootAt(&op, needed, allowance)) {
      needed.insert(root->whole.begin(), root->whole.end());
      needRegions(&op, needed);
      for (const Cut &cut : root->slice)
        needRegions(cut.op, needed);
      roots.push_back(std::move(*root));
      continue;
    }
    bool stays = !wouldOpBeTriviallyDead(&op) ||
                 llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); });
    if (stays)
      op.walk([&](Operation *inner) { needed.insert(inner->operand_begin(), inner->operand_end()); });
  }
  std::reverse(roots.begin(), roots.end());
  return roots;
}

bool StripPlan::isLegal(const StripLoop &loop) const {
  return keepsMemoryOrder(loop, [&](Operation *load) { return isWritten(load); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool usesAny(Operation *op, const DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        bool uses = llvm::any_of(inner->getOperands(), [&](Value value) { return values.contains(value); });
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool usesAny(const StripRoot &root, const DenseSet<Value> &values) {
  return usesAny(root.op, values) ||
         llvm::any_of(root.slice, [&](const Cut &cut) { return usesAny(cut.op, values); });
}

void StripPlan::mergeSlices(StripLoop &loop) const {
  for (const StripRoot &root : loop.roots)
    llvm::append_range(loop.slice, root.slice);
  llvm::sort(loop.slice, isBefore());
  loop.slice.erase(llvm::unique(loop.slice), loop.slice.end());
}

SmallVector<StripLoop> StripPlan::decide(Block &block) {
  SmallVector<StripLoop> loops;
  if (!isOverBudget(block))
    return loops;
  SmallVector<StripRoot> roots = findRoots(block);
  StripLoop open;
  DenseSet<Value> late; // results of the open loop, and what follows from them
  auto close = [&] {
    if (!open.roots.empty()) {
      mergeSlices(open);
      loops.push_back(std::move(open));
    }
    open = {};
    late.clear();
  };
  size_t next = 0;
  for (Operation &op : block) {
    bool isRoot = next < roots.size() && roots[next].op == &op;
    bool waits = isRoot ? usesAny(roots[next], late) : usesAny(&op, late);
    if (waits && (isRoot || !isMemoryEffectFree(&op)))
      close();
    if (isRoot) {
      StripLoop longer = open;
      longer.roots.push_back(roots[next]);
      if (longer.pieces() != roots[next].pieces || longer.roots.size() > kMostRoots || !isLegal(longer)) {
        close();
        longer.roots.assign(1, roots[next]);
      }
      open = std::move(longer);
      ++next;
    }
    if (isRoot || (waits && !open.roots.empty()))
      late.insert(op.result_begin(), op.result_end());
  }
  close();
  return loops;
}
