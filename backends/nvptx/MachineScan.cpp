//===- MachineScan.cpp - scans within a warp, and what earlier warps add --------------===//
//
// The axis is in natural order. A thread scans its registers one after the other; the totals of
// the lanes are scanned in as many steps as lanes along the axis have bits: in step i each lane
// whose bit i is set combines with the last lane of the half before it. Bits of the axis may stand
// anywhere in the lane's number. In reverse everything runs from the other end; padding, which is
// then met first, takes no part.
//
// Of a tree, each thread, lane and warp goes through the levels one by one: in step i all elements whose
// index has bit i set combine with what the half before theirs gives.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"
#include <algorithm>

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// What the steps of one scan share.
struct Machine::ScanSteps {
  Machine &machine;
  Region &region;
  bool reverse;
  SmallVector<int32_t> bits; // of the lane's number, in the order of the axis
  int32_t mask = 0;          // all of them

  ScanSteps(Machine &machine, tkg::ScanOp op, const LinearLayout &layout)
      : machine(machine), region(op.getCombine()), reverse(op.getReverse()) {
    for (unsigned bit = 0; bit < layout.numBits(InDim::Lane); ++bit)
      if (layout.basis(InDim::Lane, bit)[op.getAxis()])
        bits.push_back(1 << bit);
    for (int32_t bit : bits)
      mask |= bit;
  }
  /// The lower index on the left; `before` is nearer to where the scan begins.
  Partial join(const Partial &before, const Partial &after) {
    return reverse ? machine.combine(region, after, before) : machine.combine(region, before, after);
  }
  /// What lanes of the upper half of their 2 * `bit` take from, and whether a lane is one of those.
  std::pair<Value, Value> halfBefore(int32_t bit, int32_t below);
  Partial scanChain(SmallVectorImpl<Partial> &sums);
  Partial scanTree(SmallVectorImpl<Partial> &sums);
  Value of(Value (Machine::*make)(Value, Value), Value a, int64_t b) { return (machine.*make)(a, machine.integer(b, 32)); }
  Partial select(Value condition, const Partial &yes, const Partial &no);
  Partial scanLanes(Partial total);
  Partial fromPrevious(const Partial &total);
  Value hasPrevious();
  Partial ofWarp(const Partial &total);
};

Value Machine::bitAnd(Value a, Value b) { return LLVM::AndOp::create(builder, loc, a, b); }
Value Machine::bitOr(Value a, Value b) { return LLVM::OrOp::create(builder, loc, a, b); }

Machine::Partial Machine::ScanSteps::select(Value condition, const Partial &yes, const Partial &no) {
  OpBuilder &builder = machine.builder;
  Partial result;
  for (auto [a, b] : llvm::zip(yes.values, no.values))
    result.values.push_back(LLVM::SelectOp::create(builder, machine.loc, condition, a, b));
  Value always = machine.integer(1, 1);
  if (yes.valid || no.valid)
    result.valid = LLVM::SelectOp::create(builder, machine.loc, condition, yes.valid ? yes.valid : always,
                                          no.valid ? no.valid : always);
  return result;
}

std::pair<Value, Value> Machine::ScanSteps::halfBefore(int32_t bit, int32_t below) {
  Value source = of(&Machine::bitAnd, machine.lane, ~(bit | below));
  source = of(&Machine::bitOr, source, reverse ? bit : below);
  auto predicate = reverse ? LLVM::ICmpPredicate::eq : LLVM::ICmpPredicate::ne;
  Value adds = LLVM::ICmpOp::create(machine.builder, machine.loc, predicate, of(&Machine::bitAnd, machine.lane, bit),
                                    machine.integer(0, 32));
  return {source, adds};
}

/// In step i lanes whose bit i is set (in reverse: clear) add the last lane of the half before theirs.
Machine::Partial Machine::ScanSteps::scanLanes(Partial total) {
  int32_t below = 0;
  for (int32_t bit : bits) {
    auto [source, adds] = halfBefore(bit, below);
    total = select(adds, join(machine.shuffle(total, source), total), total);
    below |= bit;
  }
  return total;
}

/// As many registers as a power of two, the one where the scan begins first; gives the lane's total.
Machine::Partial Machine::ScanSteps::scanTree(SmallVectorImpl<Partial> &sums) {
  for (size_t half = 1; half < sums.size(); half *= 2)
    for (size_t i = 0; i < sums.size(); ++i)
      if (i & half)
        sums[i] = join(sums[(i & ~(2 * half - 1)) + half - 1], sums[i]);
  int32_t below = 0;
  for (int32_t bit : bits) {
    auto [source, adds] = halfBefore(bit, below);
    Partial before = machine.shuffle(sums.back(), source);
    for (Partial &sum : sums)
      sum = select(adds, join(before, sum), sum);
    below |= bit;
  }
  return sums.back();
}

/// From the lane before along the axis: one less (or more) in the bits of the mask alone.
Machine::Partial Machine::ScanSteps::fromPrevious(const Partial &total) {
  Value lane = machine.lane;
  Value start = reverse ? of(&Machine::bitOr, lane, ~mask) : of(&Machine::bitAnd, lane, mask);
  Value moved = LLVM::AddOp::create(machine.builder, machine.loc, start, machine.integer(reverse ? 1 : -1, 32));
  Value previous = machine.bitOr(of(&Machine::bitAnd, moved, mask), of(&Machine::bitAnd, lane, ~mask));
  return machine.shuffle(total, previous);
}

Value Machine::ScanSteps::hasPrevious() {
  return LLVM::ICmpOp::create(machine.builder, machine.loc, LLVM::ICmpPredicate::ne,
                              of(&Machine::bitAnd, machine.lane, mask), machine.integer(reverse ? mask : 0, 32));
}

/// What the last lane has.
Machine::Partial Machine::ScanSteps::ofWarp(const Partial &total) {
  if (mask == 0)
    return total;
  Value last = reverse ? of(&Machine::bitAnd, machine.lane, ~mask) : of(&Machine::bitOr, machine.lane, mask);
  return machine.shuffle(total, last);
}

/// One register after the other, then what the lanes before have; gives the lane's total.
Machine::Partial Machine::ScanSteps::scanChain(SmallVectorImpl<Partial> &sums) {
  for (size_t i = 1; i < sums.size(); ++i)
    sums[i] = join(sums[i - 1], sums[i]);
  Partial total = scanLanes(sums.back());
  if (mask == 0)
    return total;
  Partial carry = fromPrevious(total);
  Value has = hasPrevious();
  for (Partial &sum : sums)
    sum = select(has, join(carry, sum), sum);
  return total;
}

void Machine::lowerScan(tkg::ScanOp op) {
  LinearLayout layout = layoutOf(op.getValues().front());
  unsigned axis = op.getAxis();
  bool padded = op.getReverse() && layout.shape()[axis] != layout.padded(axis);
  ScanSteps steps(*this, op, layout);
  SmallVector<Tile> scanned(op.getResults().size(), Tile(layout.numRegisters()));
  std::map<std::vector<int32_t>, Partial> totals;
  for (auto &[key, registers] : groupRegisters(layout, axis)) {
    SmallVector<unsigned> order(registers);
    if (op.getReverse())
      std::reverse(order.begin(), order.end());
    SmallVector<Partial> sums;
    for (unsigned index : order)
      sums.push_back(partialAt(op.getValues(), index, padded ? validity(layout, index) : Value()));
    Partial total = op.getTree() ? steps.scanTree(sums) : steps.scanChain(sums);
    for (auto [index, sum] : llvm::zip(order, sums))
      for (auto [number, value] : llvm::enumerate(sum.values))
        scanned[number][index] = {value, 0};
    if (!op.getTotals().empty())
      totals[key] = steps.ofWarp(total);
  }
  for (auto [result, tile] : llvm::zip(op.getResults(), scanned))
    tiles[result] = std::move(tile);
  for (auto [number, total] : llvm::enumerate(op.getTotals())) {
    LinearLayout to = layoutOf(total);
    Tile tile;
    for (int32_t i = 0; i < to.numRegisters(); ++i) {
      Coords coords = to.apply(i, 0, 0);
      coords.erase(coords.begin() + axis);
      tile.push_back({totals.at({coords.begin(), coords.end()}).values[number], 0});
    }
    tiles[total] = std::move(tile);
  }
}

/// One level of the tree over warps after the other: what the half before gives enters all of this warp's
/// elements. Warps that have only padding have no totals.
void Machine::carryTree(tkg::ScanCarryOp op, ArrayRef<unsigned> totals, Value mine, ArrayRef<unsigned> registers,
                        MutableArrayRef<Tile> results) {
  bool reverse = op.getReverse();
  Region &region = op.getCombine();
  auto join = [&](const Partial &before, const Partial &after) {
    return reverse ? combine(region, after, before) : combine(region, before, after);
  };
  SmallVector<Partial> nodes, sums; // of warps; of this thread's elements
  for (unsigned index : totals)
    nodes.push_back(partialAt(op.getTotals(), index, Value()));
  for (unsigned index : registers)
    sums.push_back(partialAt(op.getValues(), index, Value()));
  size_t warps = nodes.size();
  for (size_t half = 1; half < warps; half *= 2) {
    Partial before;
    Value there = integer(0, 1);
    for (size_t start = 0; start + half < warps; start += 2 * half) {
      // The halves of this node meet: one of them is before the other.
      size_t takes = reverse ? start : start + half;
      Partial node = nodes[reverse ? start + half : start + half - 1];
      Value place = LLVM::LShrOp::create(builder, loc, mine, integer(llvm::Log2_64(half), 32));
      Value isIn = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, place, integer(takes / half, 32));
      there = bitOr(there, isIn);
      for (auto [i, value] : llvm::enumerate(before.values))
        value = LLVM::SelectOp::create(builder, loc, isIn, node.values[i], value);
      if (before.values.empty())
        before = node;
      for (size_t w = takes; w < std::min(takes + half, warps); ++w)
        nodes[w] = join(node, nodes[w]);
    }
    before.valid = there;
    for (Partial &sum : sums)
      sum = join(before, sum);
  }
  for (auto [index, sum] : llvm::zip(registers, sums))
    for (auto [number, value] : llvm::enumerate(sum.values))
      results[number][index] = {value, 0};
}

void Machine::lowerScanCarry(tkg::ScanCarryOp op) {
  LinearLayout layout = layoutOf(op.getValues().front()), from = layoutOf(op.getTotals().front());
  unsigned axis = op.getAxis(), next = 0;
  int32_t warps = from.shape()[axis];
  bool reverse = op.getReverse();
  Region &region = op.getCombine();
  Value mine = integer(0, 32); // this warp's place along the axis
  for (unsigned bit = 0; bit < layout.numBits(InDim::Warp); ++bit) {
    if (!layout.basis(InDim::Warp, bit)[axis])
      continue;
    Value moved = LLVM::LShrOp::create(builder, loc, warp, integer(bit, 32));
    moved = LLVM::ShlOp::create(builder, loc, LLVM::AndOp::create(builder, loc, moved, integer(1, 32)),
                                integer(next++, 32));
    mine = LLVM::OrOp::create(builder, loc, mine, moved);
  }
  RegisterGroups totals = groupRegisters(from, axis);
  SmallVector<Tile> results(op.getResults().size(), Tile(layout.numRegisters()));
  for (auto &[key, registers] : groupRegisters(layout, axis)) {
    if (op.getTree()) {
      carryTree(op, ArrayRef(totals.at(key)).take_front(warps), mine, registers, results);
      continue;
    }
    Partial carry;
    for (int32_t k = 0; k < warps; ++k) {
      int32_t w = reverse ? warps - 1 - k : k;
      auto predicate = reverse ? LLVM::ICmpPredicate::slt : LLVM::ICmpPredicate::sgt;
      Value isBefore = LLVM::ICmpOp::create(builder, loc, predicate, mine, integer(w, 32));
      Partial total = partialAt(op.getTotals(), totals.at(key)[w], isBefore);
      carry = carry.values.empty() ? total
              : reverse            ? combine(region, total, carry)
                                   : combine(region, carry, total);
    }
    for (unsigned index : registers) {
      Partial own = partialAt(op.getValues(), index, Value());
      own = reverse ? combine(region, own, carry) : combine(region, carry, own);
      for (auto [number, value] : llvm::enumerate(own.values))
        results[number][index] = {value, 0};
    }
  }
  for (auto [result, tile] : llvm::zip(op.getResults(), results))
    tiles[result] = std::move(tile);
}
