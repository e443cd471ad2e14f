//===- LayoutPlan.cpp - classes of tiles and their layouts ---------------------===//

#include "passes/analysis/LayoutPlan.h"
#include "ir/diagnostics/Diagnostics.h"
#include "passes/analysis/MatrixChoice.h"
#include "passes/analysis/Oversized.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;

/// Of one thread, of 32 bits, for one tile. What is not worked through in strips spills beyond 255;
/// ptxas takes up to 4 s for 512 of them, and minutes for 1024.
static constexpr int64_t kMaxTileRegisters = 512;

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

/// The bases of a layout, each changed by `change`; those for which it says false are left out.
static llvm::Expected<LinearLayout>
changeBases(const LinearLayout &layout, ArrayRef<int32_t> shape, ArrayRef<int32_t> lowRegisters,
            unsigned axis, llvm::function_ref<bool(InDim, Coords &)> change) {
  std::vector<DimBases> dims;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp, InDim::Block}) {
    DimBases bases{dim, {}};
    if (dim == InDim::Register)
      for (int32_t step : lowRegisters) {
        bases.bases.push_back(std::vector<int32_t>(layout.rank(), 0));
        bases.bases.back()[axis] = step;
      }
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
      Coords basis = layout.basis(dim, bit);
      if (change(dim, basis))
        bases.bases.emplace_back(basis.begin(), basis.end());
    }
    dims.push_back(std::move(bases));
  }
  return LinearLayout::fromBases(dims, shape, layout.repeats());
}

LinearLayout tk::splitElements(const LinearLayout &layout, unsigned axis, int32_t ratio) {
  SmallVector<int32_t> shape(layout.shape()), parts;
  shape[axis] *= ratio;
  for (int32_t step = 1; step < ratio; step *= 2)
    parts.push_back(step);
  return llvm::cantFail(changeBases(layout, shape, parts, axis, [&](InDim, Coords &basis) {
    basis[axis] *= ratio;
    return true;
  }));
}

std::optional<LinearLayout> tk::joinElements(const LinearLayout &layout, unsigned axis, int32_t ratio) {
  SmallVector<int32_t> shape(layout.shape());
  if (layout.coreSize(axis) < ratio)
    return std::nullopt;
  shape[axis] /= ratio;
  int32_t parts = 0; // steps within a whole that registers make
  bool isWhole = true;
  auto joined = changeBases(layout, shape, {}, axis, [&](InDim dim, Coords &basis) {
    int32_t step = basis[axis];
    if (step % ratio == 0) {
      basis[axis] /= ratio;
      return true;
    }
    isWhole &= dim == InDim::Register && step < ratio && llvm::isPowerOf2_32(step) && !(parts & step);
    for (unsigned other = 0; other < layout.rank(); ++other)
      isWhole &= other == axis || basis[other] == 0;
    parts |= step;
    return false;
  });
  if (!joined) {
    llvm::consumeError(joined.takeError());
    return std::nullopt;
  }
  return isWhole && parts == ratio - 1 ? std::optional(*joined) : std::nullopt;
}

int64_t tk::bitcastRatio(BitcastOp op) {
  int64_t from = elementTypeOf(op.getValue().getType()).getIntOrFloatBitWidth();
  int64_t to = elementTypeOf(op.getType()).getIntOrFloatBitWidth();
  return std::max(from, to) / std::min(from, to);
}

std::optional<AccessOperands> tk::accessOperands(Operation *op) {
  if (auto load = dyn_cast<tkg::LoadOp>(op))
    return AccessOperands{load.getBase(), load.getOffset(), load.getMask(), load.getResult()};
  if (auto store = dyn_cast<tkg::StoreOp>(op))
    return AccessOperands{store.getBase(), store.getOffset(), store.getMask(), store.getValue()};
  if (auto atomic = dyn_cast<tkg::AtomicRmwOp>(op))
    return AccessOperands{atomic.getBase(), atomic.getOffset(), atomic.getMask(), atomic.getValue()};
  return std::nullopt;
}

int64_t tk::widestAccess(Operation *op, int64_t maxVectorBytes, int64_t maxAtomicBytes) {
  auto atomic = dyn_cast<tkg::AtomicRmwOp>(op);
  if (!atomic)
    return maxVectorBytes;
  Type type = elementTypeOf(atomic.getValue().getType());
  bool joins = atomic.getKind() == AtomicKind::add && (type.isF16() || type.isBF16() || type.isF32());
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  return joins ? std::max(bytes, type.isF16() ? std::max<int64_t>(maxAtomicBytes, 4) : maxAtomicBytes) : bytes;
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

/// The operands and results whose elements must be in the same threads. Operations that move data
/// take their other operands in any layout.
static SmallVector<Value> tiedTiles(Operation *op) {
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case<ExpandDimsOp, BroadcastOp, SplatOp, ArangeOp, arith::ConstantOp, ReshapeOp, PermuteOp,
            SliceOp, CatOp, PickOp>([](auto) { return SmallVector<Value>(); })
      .Case<FlipOp, InsertOp, PutOp>([](auto move) { return SmallVector<Value>{move.getValue(), move.getResult()}; })
      .Case([](GatherOp gather) { return SmallVector<Value>{gather.getIndices(), gather.getResult()}; })
      .Case([](SortOp sort) { return SmallVector<Value>{sort.getSorted(), sort.getIndices()}; })
      .Case([](HistogramOp count) {
        SmallVector<Value> tiles{count.getValue()};
        if (count.getMask())
          tiles.push_back(count.getMask());
        return tiles;
      })
      .Case([](DotOp dot) { return SmallVector<Value>{dot.getAcc(), dot.getResult()}; })
      .Case([](tkg::StoreOp store) {
        SmallVector<Value> tiles{store.getOffset()};
        if (store.getMask())
          tiles.push_back(store.getMask());
        return tiles;
      })
      .Default([](Operation *op) {
        SmallVector<Value> tiles(op->getOperands());
        llvm::append_range(tiles, op->getResults());
        return tiles;
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
  tieAll(tiedTiles(op));
}

/// A loop is taken to go round eight times; deeper than three no longer matters.
static int64_t tripWeight(Operation *op) {
  int64_t weight = 1;
  for (Operation *loop = op->getParentOp(); !isa<KernelOp>(loop); loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop) && weight < 512)
      weight *= 8;
  return weight;
}

void LayoutPlan::addAccess(Operation *op) {
  std::optional<AccessOperands> access = accessOperands(op);
  if (!access)
    return;
  Class &tiles = classes[rootOf(idOf(access->offset))];
  unsigned axis = tiles.shape.size() - 1;
  int64_t widest = contiguity.widestVector(access->base, access->offset, access->mask, axis,
                                           widestAccess(op, machine.maxVectorBytes, machine.maxAtomicBytes));
  tiles.accesses.push_back({op, elementBits(access->tile.getType()) / 8, widest, tripWeight(op)});
}

static std::optional<MatrixKind> matrixKindOf(DotOp dot, const MachineShape &machine) {
  return chooseMatrixKind(dot, {machine.warpSize, machine.warps, machine.matrixKinds});
}

/// True for a transposed right operand: in memory its elements lie side by side along K.
static bool hasDepthInside(Value right) {
  auto permute = right.getDefiningOp<PermuteOp>();
  return permute && permute.getOrder()[permute.getOrder().size() - 2] == int64_t(permute.getOrder().size() - 1);
}

void LayoutPlan::addProduct(DotOp dot) {
  Class &result = classes[rootOf(idOf(dot.getResult()))];
  result.isProduct = true;
  std::optional<MatrixKind> kind = matrixKindOf(dot, machine);
  if (!kind)
    return;
  Class &left = classes[rootOf(idOf(dot.getA()))];
  left.feedsProduct = true;
  bool isBytes = matrixInstruction(*kind).pack == 4;
  left.pairsColumns |= isBytes;
  result.pairsColumns |= isBytes && !hasDepthInside(dot.getB());
  result.onlyBytes &= isBytes;
  if (result.tiling)
    return;
  size_t rank = result.shape.size();
  result.tiling = MatrixTiling{*kind, int32_t(result.shape[rank - 2]), int32_t(result.shape[rank - 1]),
                               int32_t(shapeOf(dot.getA()).back()), 1, 1};
  result.tiling->batch.assign(result.shape.begin(), result.shape.end() - 2);
}

static constexpr StringRef kTilingFields[] = {"m", "n", "k", "warps_m", "warps_n"};
static constexpr StringRef kBatchField = "batch", kBatchWarpsField = "warps_batch"; // of rank above 2
static constexpr StringRef kPairsField = "pairs_columns";

Attribute tk::tilingAttr(MLIRContext *context, const MatrixTiling &tiling) {
  Builder builder(context);
  SmallVector<NamedAttribute> fields{builder.getNamedAttr("kind", builder.getStringAttr(tiling.instruction().name))};
  const int32_t values[] = {tiling.m, tiling.n, tiling.k, tiling.warpsM, tiling.warpsN};
  for (auto [name, value] : llvm::zip(kTilingFields, values))
    fields.push_back(builder.getNamedAttr(name, builder.getI32IntegerAttr(value)));
  if (tiling.pairsColumns)
    fields.push_back(builder.getNamedAttr(kPairsField, builder.getUnitAttr()));
  if (!tiling.batch.empty()) {
    fields.push_back(builder.getNamedAttr(kBatchField, builder.getDenseI32ArrayAttr(tiling.batch)));
    fields.push_back(builder.getNamedAttr(kBatchWarpsField, builder.getI32IntegerAttr(tiling.warpsBatch)));
  }
  return builder.getDictionaryAttr(fields);
}

std::optional<MatrixTiling> tk::tilingOf(Attribute attribute) {
  auto fields = dyn_cast_or_null<DictionaryAttr>(attribute);
  std::optional<MatrixKind> kind =
      fields ? parseMatrixKind(fields.getAs<StringAttr>("kind").getValue()) : std::nullopt;
  if (!kind)
    return std::nullopt;
  auto field = [&](StringRef name) { return int32_t(fields.getAs<IntegerAttr>(name).getInt()); };
  MatrixTiling tiling{*kind, field("m"), field("n"), field("k"), field("warps_m"), field("warps_n")};
  tiling.pairsColumns = fields.contains(kPairsField);
  if (auto batch = fields.getAs<DenseI32ArrayAttr>(kBatchField)) {
    tiling.batch.assign(batch.asArrayRef().begin(), batch.asArrayRef().end());
    tiling.warpsBatch = field(kBatchWarpsField);
  }
  return tiling;
}

std::optional<MatrixTiling> LayoutPlan::tilingOf(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  std::optional<MatrixKind> kind = dot ? matrixKindOf(dot, machine) : std::nullopt;
  const Class *result = kind ? &classes[rootOf(idOf(dot.getResult()))] : nullptr;
  if (!result || !result->tiling || result->tiling->instruction().m != matrixInstruction(*kind).m)
    return std::nullopt;
  MatrixTiling tiling = *result->tiling; // several products may share an accumulator, but not a K
  tiling.kind = *kind;
  tiling.k = int32_t(shapeOf(dot.getA()).back());
  return tiling;
}

void LayoutPlan::keepTogether(Class &tiles, unsigned axis, int32_t count) {
  tiles.together.resize(tiles.shape.size(), 1);
  tiles.together[axis] = std::max(tiles.together[axis], count);
}

/// Each side can follow the other; a thread should have all parts of a whole.
void LayoutPlan::addBitcast(BitcastOp op) {
  int64_t ratio = bitcastRatio(op);
  if (ratio == 1 || !isTile(op.getResult()))
    return;
  unsigned from = rootOf(idOf(op.getValue())), to = rootOf(idOf(op.getResult()));
  classes[from].links.push_back({to, op});
  classes[to].links.push_back({from, op});
  bool joins = shapeOf(op.getResult())[*op.getAxis()] < shapeOf(op.getValue())[*op.getAxis()];
  keepTogether(classes[joins ? from : to], *op.getAxis(), ratio);
}

void LayoutPlan::addLinks(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](BitcastOp bitcast) { addBitcast(bitcast); })
      .Case([&](AsmOp assembly) { // an execution without neighbours repeats one
        for (Value result : assembly.getResults())
          if (isTile(result))
            keepTogether(classes[rootOf(idOf(result))], shapeOf(result).size() - 1, assembly.getPack());
      })
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
      })
      .Case<ReshapeOp, PermuteOp>([&](auto shape) {
        unsigned from = rootOf(idOf(shape.getValue())), to = rootOf(idOf(shape.getResult()));
        classes[from].links.push_back({to, op, false});
        classes[to].links.push_back({from, op, true});
      })
      .Case([&](DotOp dot) { addProduct(dot); });
}

/// A stored tile has the layout of its addresses, unless it comes from matrix instructions, whose
/// fragments are written in short pieces: such a tile is brought into another layout.
void LayoutPlan::tieStores() {
  llvm::DenseSet<unsigned> products;
  kernel.walk([&](DotOp dot) {
    if (matrixKindOf(dot, machine))
      products.insert(rootOf(idOf(dot.getResult())));
  });
  kernel.walk([&](tkg::StoreOp store) {
    if (!products.contains(rootOf(idOf(store.getValue()))))
      tie(store.getValue(), store.getOffset());
  });
}

void LayoutPlan::collect() {
  kernel.walk([&](Operation *op) { tieOperation(op); });
  tieStores();
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
  kernel.walk([&](DotOp dot) {
    Class &result = classes[rootOf(idOf(dot.getResult()))];
    result.afterProduct |= classes[rootOf(idOf(dot.getA()))].isProduct;
  });
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The layout of shape `shape` that a reshape or permutation gives (or takes, unless `toResult`) for
/// free when its other side is in `parent`.
static std::optional<LinearLayout> followShape(const LinearLayout &parent, ArrayRef<int64_t> shape,
                                               Operation *op, bool toResult) {
  if (isa<ReshapeOp>(op))
    return parent.reshape(SmallVector<int32_t>(shape.begin(), shape.end()));
  SmallVector<unsigned> order(shape.size());
  for (auto [i, axis] : llvm::enumerate(cast<PermuteOp>(op).getOrder()))
    order[toResult ? i : axis] = unsigned(toResult ? axis : i);
  return parent.transpose(order);
}

std::optional<LinearLayout> LayoutPlan::follow(const Class &child, const Link &link) {
  const LinearLayout &parent = *classes[link.parent].layout;
  if (auto bitcast = dyn_cast<BitcastOp>(link.op)) {
    unsigned axis = *bitcast.getAxis();
    int32_t ratio = bitcastRatio(bitcast);
    return child.shape[axis] > parent.shape()[axis] ? splitElements(parent, axis, ratio)
                                                    : joinElements(parent, axis, ratio);
  }
  if (isa<ReshapeOp, PermuteOp>(link.op)) {
    if (!child.accesses.empty() || child.isProduct)
      return std::nullopt; // its own wishes come first
    return followShape(parent, child.shape, link.op, link.toResult);
  }
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
      cost += access.weight * accessCost(access.elementBytes, access.widest, vector);
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

/// A thread of a product by multiply-adds reads one row and one column for each of its elements: a
/// block of up to 4 x 4 reads the fewest.
static void dealProduct(ArrayRef<int32_t> shape, SmallVector<int32_t> &perThread,
                        const MachineShape &machine) {
  int64_t elements = 1;
  for (int32_t side : shape)
    elements *= llvm::PowerOf2Ceil(side);
  int64_t most = std::max<int64_t>(1, elements / machine.threads());
  unsigned n = shape.size() - 1, m = n - 1;
  perThread[n] = int32_t(std::min<int64_t>({4, most, int64_t(llvm::PowerOf2Ceil(shape[n]))}));
  perThread[m] = int32_t(std::min<int64_t>({4, most / perThread[n], int64_t(llvm::PowerOf2Ceil(shape[m]))}));
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
  if (tiles.isProduct)
    dealProduct(shape, perThread, machine);
  for (auto [axis, together] : llvm::enumerate(tiles.together))
    perThread[axis] = std::max(perThread[axis], together);
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

/// Rows stay within a warp where they are reduced, or where products follow one another: there the
/// accumulator of the first is the left operand of the second. The latter only saves a way through shared
/// memory, which is less than what warps without rows of their own would do again.
LinearLayout LayoutPlan::chooseOwn(Class &tiles) {
  if (tiles.tiling) {
    MatrixTiling &t = *tiles.tiling;
    bool hasRowsForAll = t.m >= machine.warps * t.instruction().m;
    bool rowsInWarp = tiles.reducedOverLast || (hasRowsForAll && (tiles.feedsProduct || tiles.afterProduct));
    SmallVector<int32_t, 2> batch = t.batch;
    t = tileProduct(t.kind, t.m, t.n, t.k, machine.warps, rowsInWarp, batch);
    t.pairsColumns = tiles.pairsColumns && tiles.onlyBytes && int64_t(llvm::PowerOf2Ceil(t.n)) / t.warpsN >= 16;
    return accumulatorLayout(t);
  }
  return distribute(tiles, chooseVector(tiles));
}

LogicalResult LayoutPlan::checkRegisters(const Class &tiles) {
  int64_t bits = std::max<int64_t>(elementBits(tiles.example.getType()), 32);
  int64_t registers = tiles.layout->numRegisters() * bits / 32;
  if (registers <= kMaxTileRegisters)
    return success();
  Location loc = tiles.example.getLoc();
  markOversized(Value(tiles.example).getParentRegion()->getParentOfType<KernelOp>());
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
  // Of classes of one size, those with wishes of their own come before those that follow.
  auto rankOf = [&](unsigned id) {
    const Class &tiles = classes[id];
    return std::tuple(elements(id), !tiles.accesses.empty() || tiles.isProduct, tiles.shape.size());
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return rankOf(a) > rankOf(b); });
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
  const Class &tiles = classes[rootOf(idOf(access.offset))];
  unsigned axis = tiles.shape.size() - 1;
  for (const Access &known : tiles.accesses)
    if (known.op == op)
      return std::min<int64_t>(known.widest, tiles.layout->contiguousPerThread(axis));
  return 1;
}
