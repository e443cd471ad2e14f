//===- MachineScan.cpp - scans within a warp, and what earlier warps add --------------===//
//
// The axis is in natural order. A thread scans its registers one after the other; the totals of
// the lanes are scanned in as many steps as lanes along the axis have bits: in step i each lane
// whose bit i is set combines with the last lane of the half before it. Bits of the axis may stand
// anywhere in the lane's number. In reverse everything runs from the other end; padding, which is
// then met first, takes no part.
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

/// In step i lanes whose bit i is set (in reverse: clear) add the last lane of the half before theirs.
Machine::Partial Machine::ScanSteps::scanLanes(Partial total) {
  int32_t below = 0;
  for (int32_t bit : bits) {
    Value source = of(&Machine::bitAnd, machine.lane, ~(bit | below));
    source = of(&Machine::bitOr, source, reverse ? bit : below);
    auto predicate = reverse ? LLVM::ICmpPredicate::eq : LLVM::ICmpPredicate::ne;
    Value adds = LLVM::ICmpOp::create(machine.builder, machine.loc, predicate, of(&Machine::bitAnd, machine.lane, bit),
                                      machine.integer(0, 32));
    total = select(adds, join(machine.shuffle(total, source), total), total);
    below |= bit;
  }
  return total;
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
    for (unsigned index : order) {
      Partial own = partialAt(op.getValues(), index, padded ? validity(layout, index) : Value());
      sums.push_back(sums.empty() ? own : steps.join(sums.back(), own));
    }
    Partial total = steps.scanLanes(sums.back());
    if (steps.mask) {
      Partial carry = steps.fromPrevious(total);
      Value has = steps.hasPrevious();
      for (Partial &sum : sums)
        sum = steps.select(has, steps.join(carry, sum), sum);
    }
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
