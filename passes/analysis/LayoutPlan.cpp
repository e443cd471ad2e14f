//===- LayoutPlan.cpp - classes of tiles and their layouts ---------------------===//

#include "passes/analysis/LayoutPlan.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

/// More 32-bit registers of one thread for one tile than this would take minutes to compile.
static constexpr int64_t kMaxTileRegisters = 1024;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getShape();
}

LinearLayout tk::reducedLayout(const LinearLayout &layout, unsigned axis) {
  return layout.reduceAxis(axis).layout;
}

LinearLayout tk::broadcastOperandLayout(const LinearLayout &to, ArrayRef<int64_t> from) {
  LinearLayout layout = to;
  for (auto [axis, side] : llvm::enumerate(from))
    if (side == 1 && to.shape()[axis] != 1)
      layout = layout.reduceAxis(axis).layout.expandAxis(axis);
  return layout;
}

std::optional<AccessOperands> tk::accessOperands(Operation *op) {
  if (auto load = dyn_cast<tkg::LoadOp>(op))
    return AccessOperands{load.getBase(), load.getOffset(), load.getMask(), load.getResult()};
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return AccessOperands{store.getBase(), store.getOffset(), store.getMask(), store.getValue()};
  return std::nullopt;
}

LayoutPlan::LayoutPlan(KernelOp kernel, MachineShape machine)
    : kernel(kernel), machine(machine), scalars(kernel), contiguity(scalars) {}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned LayoutPlan::idOf(Value tile) {
  auto [it, isNew] = ids.try_emplace(tile, values.size());
  if (isNew) {
    values.push_back(tile);
    parents.push_back(it->second);
  }
  return it->second;
}

unsigned LayoutPlan::rootOf(unsigned id) {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void LayoutPlan::tie(Value a, Value b) {
  if (!isTile(a) || !isTile(b) || shapeOf(a) != shapeOf(b))
    return;
  unsigned x = rootOf(idOf(a)), y = rootOf(idOf(b));
  parents[std::max(x, y)] = std::min(x, y);
}

void LayoutPlan::tieAll(ValueRange tiles) {
  Value first;
  for (Value tile : tiles) {
    if (!isTile(tile))
      continue;
    idOf(tile);
    if (first)
      tie(first, tile);
    first = first ? first : tile;
  }
}

void LayoutPlan::tieControl(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        auto yielded = loop.getBody()->getTerminator()->getOperands();
        for (auto [init, arg, next, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                                                        yielded, loop.getResults()))
          tieAll({init, arg, next, result});
      })
      .Case([&](scf::IfOp branch) {
        for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
          if (!region->empty())
            for (auto [value, result] : llvm::zip(region->front().getTerminator()->getOperands(),
                                                  branch.getResults()))
              tieAll({value, result});
      })
      .Case([&](scf::WhileOp loop) {
        for (auto [init, arg, next] : llvm::zip(loop.getInits(), loop.getBeforeArguments(),
                                                loop.getYieldOp().getOperands()))
          tieAll({init, arg, next});
        for (auto [passed, arg, result] : llvm::zip(loop.getConditionOp().getArgs(),
                                                    loop.getAfterArguments(), loop.getResults()))
          tieAll({passed, arg, result});
      });
}

void LayoutPlan::tieOperation(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return tieControl(op);
  if (isa<scf::YieldOp, scf::ConditionOp, tk::YieldOp>(op))
    return;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    tieAll(reduce.getOperands());
    return tieAll(reduce.getResults());
  }
  for (Value result : op->getResults())
    if (isTile(result))
      idOf(result);
  if (isa<ExpandDimsOp, BroadcastOp, SplatOp, ArangeOp, arith::ConstantOp>(op))
    return;
  SmallVector<Value> tiles(op->getOperands());
  llvm::append_range(tiles, op->getResults());
  tieAll(tiles);
}

void LayoutPlan::addAccess(Operation *op) {
  std::optional<AccessOperands> access = accessOperands(op);
  if (!access)
    return;
  Class &tiles = classes[rootOf(idOf(access->tile))];
  unsigned axis = tiles.shape.size() - 1;
  int64_t widest = contiguity.widestVector(access->base, access->offset, access->mask, axis,
                                           machine.maxVectorBytes);
  tiles.accesses.push_back({op, elementBits(access->tile.getType()) / 8, widest});
}

void LayoutPlan::addLinks(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](ReduceOp reduce) {
        Value operand = reduce.getOperands().front();
        unsigned parent = rootOf(idOf(operand));
        int64_t last = shapeOf(operand).size() - 1;
        classes[parent].reducedOverLast |= int64_t(reduce.getAxis()) == last;
        if (isTile(reduce.getResult(0)))
          classes[rootOf(idOf(reduce.getResult(0)))].links.push_back({parent, op});
      })
      .Case<ExpandDimsOp, BroadcastOp>([&](auto shape) {
        classes[rootOf(idOf(shape.getValue()))].links.push_back(
            {rootOf(idOf(shape.getResult())), op});
      });
}

void LayoutPlan::collect() {
  kernel.walk([&](Operation *op) { tieOperation(op); });
  for (unsigned id = 0; id < values.size(); ++id) {
    Class &tiles = classes[rootOf(id)];
    tiles.shape.assign(shapeOf(values[id]).begin(), shapeOf(values[id]).end());
    if (!tiles.example)
      tiles.example = values[id];
  }
  kernel.walk([&](Operation *op) {
    addLinks(op);
    addAccess(op);
  });
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

LinearLayout LayoutPlan::follow(const Class &child, const Link &link) {
  const LinearLayout &parent = *classes[link.parent].layout;
  if (auto reduce = dyn_cast<ReduceOp>(link.op))
    return reducedLayout(parent, reduce.getAxis());
  if (auto expand = dyn_cast<ExpandDimsOp>(link.op))
    return parent.reduceAxis(expand.getAxis()).layout;
  return broadcastOperandLayout(parent, child.shape);
}

/// Issue slots and memory sectors that the class's accesses take in a layout with `vector`
/// consecutive elements a thread; only comparisons between vectors matter.
static int64_t accessCost(int64_t elementBytes, int64_t widest, int64_t vector) {
  constexpr int64_t issueCost = 4, sectorBytes = 32, scale = 16;
  int64_t used = std::min(widest, vector);
  return scale / used * (issueCost + std::min(vector * elementBytes, sectorBytes));
}

int64_t LayoutPlan::chooseVector(const Class &tiles) {
  int64_t elements = 1;
  for (int64_t side : tiles.shape)
    elements *= llvm::PowerOf2Ceil(side);
  int64_t most = std::max<int64_t>(1, elements / machine.threads());
  int64_t best = 1, bestCost = INT64_MAX;
  for (int64_t vector = 1; vector <= std::min<int64_t>(most, 16); vector *= 2) {
    int64_t cost = 0;
    for (const Access &access : tiles.accesses)
      cost += accessCost(access.elementBytes, access.widest, vector);
    if (cost < bestCost)
      std::tie(best, bestCost) = std::pair(vector, cost);
  }
  return best;
}

/// How often the power-of-two part of the last side is repeated: the odd factor, when that part alone
/// gives each thread that runs along the axis a vector. Else 1, and the side is padded.
static int32_t repeatsOf(ArrayRef<int32_t> shape, int64_t vector, bool warpsOnRows,
                         const MachineShape &machine) {
  int64_t side = shape.back(), power = side & -side, rows = 1;
  for (int32_t other : shape.drop_back())
    rows *= llvm::PowerOf2Ceil(other);
  int64_t warps = warpsOnRows ? std::max<int64_t>(1, machine.warps / rows) : machine.warps;
  return power >= vector * machine.warpSize * warps ? side / power : 1;
}

/// Lanes run along the last axis first. So do warps, unless the tile is reduced along it: then
/// warps take other axes first, and the reduction stays within a warp.
LinearLayout LayoutPlan::distribute(const Class &tiles, int64_t vector) {
  unsigned rank = tiles.shape.size();
  SmallVector<int32_t> shape(tiles.shape.begin(), tiles.shape.end());
  SmallVector<int32_t> perThread(rank, 1), lanes(rank, 1), warps(rank, 1);
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < rank; ++i)
    order.push_back(rank - 1 - i);
  perThread[rank - 1] = vector;
  SmallVector<int32_t> repeats(rank, 1);
  repeats[rank - 1] = repeatsOf(shape, vector, tiles.reducedOverLast, machine);
  auto room = [&](unsigned axis) {
    return std::max<int64_t>(1, int64_t(llvm::PowerOf2Ceil(shape[axis] / repeats[axis])) /
                                    (perThread[axis] * lanes[axis] * warps[axis]));
  };
  auto deal = [&](int64_t count, SmallVector<int32_t> &into, ArrayRef<unsigned> axes) {
    for (unsigned axis : axes) {
      int64_t here = std::min(count, room(axis));
      into[axis] *= here;
      count /= here;
    }
    into[axes.front()] *= count; // what does not fit holds duplicates
  };
  deal(machine.warpSize, lanes, order);
  SmallVector<unsigned> warpOrder = order;
  if (tiles.reducedOverLast && rank > 1)
    std::rotate(warpOrder.begin(), warpOrder.begin() + 1, warpOrder.end());
  deal(machine.warps, warps, warpOrder);
  return llvm::cantFail(LinearLayout::blocked(shape, perThread, lanes, warps, order, repeats));
}

LinearLayout LayoutPlan::chooseOwn(const Class &tiles) {
  return distribute(tiles, chooseVector(tiles));
}

LogicalResult LayoutPlan::checkRegisters(const Class &tiles) {
  int64_t bits = std::max<int64_t>(elementBits(tiles.example.getType()), 32);
  int64_t registers = tiles.layout->numRegisters() * bits / 32;
  if (registers <= kMaxTileRegisters)
    return success();
  Location loc = tiles.example.getLoc();
  std::string type;
  llvm::raw_string_ostream(type) << tiles.example.getType();
  return withHelp(emit<diag::TileOverRegisters>(loc, type, registers, machine.warps,
                                                kMaxTileRegisters),
                  "use more warps, or a smaller tile in a loop");
}

LogicalResult LayoutPlan::decide() {
  collect();
  SmallVector<unsigned> order;
  for (auto &entry : classes)
    order.push_back(entry.first);
  auto elements = [&](unsigned id) {
    int64_t count = 1;
    for (int64_t side : classes[id].shape)
      count *= side;
    return count;
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::pair(elements(a), classes[a].shape.size()) >
           std::pair(elements(b), classes[b].shape.size());
  });
  for (unsigned id : order) {
    Class &tiles = classes[id];
    for (const Link &link : tiles.links)
      if (!tiles.layout && classes[link.parent].layout && link.parent != id)
        tiles.layout = follow(tiles, link);
    if (!tiles.layout)
      tiles.layout = chooseOwn(tiles);
    if (failed(checkRegisters(tiles)))
      return failure();
  }
  return success();
}

LinearLayout LayoutPlan::layoutOf(Value tile) { return *classes[rootOf(idOf(tile))].layout; }

int64_t LayoutPlan::vectorOf(Operation *op) {
  AccessOperands access = *accessOperands(op);
  const Class &tiles = classes[rootOf(idOf(access.tile))];
  unsigned axis = tiles.shape.size() - 1;
  for (const Access &known : tiles.accesses)
    if (known.op == op)
      return std::min<int64_t>(known.widest, tiles.layout->contiguousPerThread(axis));
  return 1;
}
