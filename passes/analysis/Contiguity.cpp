//===- Contiguity.cpp - runs of consecutive and of equal values ---------------===//

#include "passes/analysis/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tk;

static int64_t powerOfTwoIn(int64_t side) { return side & -side; }

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

/// Every element is the same: constant along each axis.
static TileRuns uniformRuns(ArrayRef<int64_t> shape, int64_t divisor) {
  TileRuns runs;
  for (int64_t side : shape)
    runs.push_back({1, powerOfTwoIn(side), divisor});
  return runs;
}

/// The divisor of the values at the starts of runs of length `run`, cut from longer ones.
static int64_t divisorAt(const AxisRuns &axis, int64_t run) {
  return run >= axis.contiguity ? axis.divisor : std::min(axis.divisor, run);
}

/// a + b or a - b (then b may only be the constant side).
static TileRuns addRuns(const TileRuns &a, const TileRuns &b, bool subtract) {
  TileRuns runs;
  for (auto [x, y] : llvm::zip(a, b)) {
    AxisRuns axis;
    axis.contiguity = std::min(x.contiguity, y.constancy);
    if (!subtract)
      axis.contiguity = std::max(axis.contiguity, std::min(x.constancy, y.contiguity));
    axis.constancy = std::min(x.constancy, y.constancy);
    axis.divisor =
        std::min(divisorAt(x, axis.contiguity), divisorAt(y, axis.contiguity));
    runs.push_back(axis);
  }
  return runs;
}

static TileRuns mulRuns(const TileRuns &a, const TileRuns &b) {
  TileRuns runs;
  for (auto [x, y] : llvm::zip(a, b)) {
    AxisRuns axis;
    axis.constancy = std::min(x.constancy, y.constancy);
    axis.divisor = std::min<int64_t>(divisorAt(x, 1) * divisorAt(y, 1), int64_t(1) << 30);
    runs.push_back(axis);
  }
  return runs;
}

/// `running < bound`, and its negation: constant over groups that a run fills from a multiple of the
/// group on, when the bound is a multiple of the group too.
static TileRuns compareRuns(const TileRuns &running, const TileRuns &bound) {
  TileRuns runs;
  for (auto [x, y] : llvm::zip(running, bound)) {
    AxisRuns axis;
    int64_t group = std::min({x.contiguity, x.divisor, y.constancy, y.divisor});
    axis.constancy = std::max(std::min(x.constancy, y.constancy), group);
    runs.push_back(axis);
  }
  return runs;
}

static TileRuns constancyOfBoth(const TileRuns &a, const TileRuns &b) {
  TileRuns runs;
  for (auto [x, y] : llvm::zip(a, b))
    runs.push_back({1, std::min(x.constancy, y.constancy), 1});
  return runs;
}

static TileRuns expandRuns(const TileRuns &in, unsigned newAxis) {
  TileRuns runs = in;
  AxisRuns axis;
  axis.divisor = int64_t(1) << 30;
  for (const AxisRuns &other : in)
    axis.divisor = std::min(axis.divisor, divisorAt(other, 1));
  runs.insert(runs.begin() + newAxis, axis);
  return runs;
}

/// Of aligned blocks of `length` elements: blocks of the power of two in it are alike.
static AxisRuns promisedRuns(int64_t contiguous, int64_t constant, int64_t multiple) {
  AxisRuns axis;
  axis.contiguity = powerOfTwoIn(contiguous);
  axis.constancy = powerOfTwoIn(constant);
  // Where a longer block is cut, the later pieces begin at multiples of their length at most.
  axis.divisor = powerOfTwoIn(multiple);
  if (axis.contiguity != contiguous)
    axis.divisor = std::min(axis.divisor, axis.contiguity);
  return axis;
}

/// What is known and what is promised both hold.
static TileRuns hintRuns(const TileRuns &known, HintOp hint) {
  TileRuns runs = known;
  for (auto [i, axis] : llvm::enumerate(runs)) {
    AxisRuns promised = promisedRuns(hint.getContiguous()[i], hint.getConstant()[i],
                                     hint.getMultipleOf()[i]);
    // The first elements of longer runs are first elements of shorter ones.
    axis.divisor = std::max(axis.divisor, promised.divisor);
    axis.contiguity = std::max(axis.contiguity, promised.contiguity);
    axis.constancy = std::max(axis.constancy, promised.constancy);
  }
  return runs;
}

TileRuns ContiguityAnalysis::runs(Value tile) {
  auto it = known.find(tile);
  if (it != known.end())
    return it->second;
  known[tile] = TileRuns(shapeOf(tile).size());
  TileRuns result = compute(tile);
  known[tile] = result;
  return result;
}

TileRuns ContiguityAnalysis::compute(Value tile) {
  ArrayRef<int64_t> shape = shapeOf(tile);
  Operation *op = tile.getDefiningOp();
  if (!op)
    return TileRuns(shape.size());
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    int64_t divisor = 1;
    if (constant.getElementType().isInteger()) {
      int64_t value = constant.getSplatValue<APInt>().getSExtValue();
      divisor = value == 0 ? int64_t(1) << 30 : powerOfTwoIn(value);
    }
    return uniformRuns(shape, divisor);
  }
  return TypeSwitch<Operation *, TileRuns>(op)
      .Case([&](ArangeOp arange) {
        int64_t start = arange.getStart(), run = powerOfTwoIn(shape[0]);
        int64_t divisor = start == 0 ? run : std::min(powerOfTwoIn(start), run);
        return TileRuns{{run, 1, std::max<int64_t>(divisor, 1)}};
      })
      .Case([&](SplatOp splat) {
        bool integer = splat.getValue().getType().isInteger();
        return uniformRuns(shape, integer ? scalars.divisor(splat.getValue()) : 1);
      })
      .Case([&](ExpandDimsOp expand) { return expandRuns(runs(expand.getValue()), expand.getAxis()); })
      .Case([&](BroadcastOp broadcast) {
        TileRuns result = runs(broadcast.getValue());
        for (auto [i, side] : llvm::enumerate(shapeOf(broadcast.getValue())))
          if (side != shape[i])
            result[i].constancy = powerOfTwoIn(shape[i]);
        return result;
      })
      .Case<arith::AddIOp>([&](auto add) { return addRuns(runs(add.getLhs()), runs(add.getRhs()), false); })
      .Case<arith::SubIOp>([&](auto sub) { return addRuns(runs(sub.getLhs()), runs(sub.getRhs()), true); })
      .Case<arith::MulIOp>([&](auto mul) { return mulRuns(runs(mul.getLhs()), runs(mul.getRhs())); })
      .Case<arith::ExtSIOp>([&](auto ext) { return runs(ext.getIn()); })
      .Case([&](HintOp hint) { return hintRuns(runs(hint.getValue()), hint); })
      .Case([&](arith::CmpIOp cmp) {
        TileRuns a = runs(cmp.getLhs()), b = runs(cmp.getRhs());
        // Other comparisons change at bound + 1, which is no multiple of a group.
        switch (cmp.getPredicate()) {
        case arith::CmpIPredicate::slt:
        case arith::CmpIPredicate::sge:
          return compareRuns(a, b);
        case arith::CmpIPredicate::sgt:
        case arith::CmpIPredicate::sle:
          return compareRuns(b, a);
        default:
          return constancyOfBoth(a, b);
        }
      })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto logic) { return constancyOfBoth(runs(logic.getLhs()), runs(logic.getRhs())); })
      .Default([&](Operation *) { return TileRuns(shape.size()); });
}

int64_t ContiguityAnalysis::widestVector(Value base, Value offset, Value mask, unsigned axis,
                                         int64_t maxBytes) {
  int64_t bytes = elementBits(cast<PtrType>(base.getType()).getPointee()) / 8;
  AxisRuns run = runs(offset)[axis];
  int64_t limit = std::min(run.contiguity, maxBytes / bytes);
  if (limit > 1)
    limit = std::min(limit, std::max<int64_t>(1, run.divisor));
  if (limit > 1)
    limit = std::min(limit, std::max<int64_t>(1, scalars.divisor(base) / bytes));
  if (limit > 1 && mask)
    limit = std::min(limit, runs(mask)[axis].constancy);
  return std::max<int64_t>(limit, 1);
}
