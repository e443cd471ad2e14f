//===- StripBuilder.cpp - builds a loop over pieces of tiles ------------------===//

#include "passes/StripBuilder.h"

using namespace mlir;
using namespace tk;

Type StripBuilder::pieceType(Value tile, int axis) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> sides(type.getShape());
  sides[axis] /= strips.pieces();
  return RankedTensorType::get(sides, type.getElementType());
}

Value StripBuilder::pieceOf(Value tile, int axis) {
  return axis == kWhole ? tile : pieces.at({tile, axis});
}

/// The index, within a tile's axis, at which the piece begins.
Value StripBuilder::start(int64_t width, Type type) {
  Value number = loop.getInductionVar();
  Value index = arith::MulIOp::create(builder, loc, number, constant(builder.getI64IntegerAttr(width)));
  return type.isInteger(64) ? index : arith::TruncIOp::create(builder, loc, type, index).getResult();
}

Operation *StripBuilder::cloneCut(Operation *op, int axis, const SmallVector<int> &cuts) {
  Operation *copy = builder.clone(*op);
  for (auto [i, cut] : llvm::enumerate(cuts))
    copy->setOperand(i, pieceOf(op->getOperand(i), cut));
  for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
    if (isa<RankedTensorType>(old.getType()) && !isa<ReduceOp>(op))
      result.setType(pieceType(old, axis));
  return copy;
}

/// The slice of a place that makes the cut axis begins where the piece does.
template <typename Op> void StripBuilder::moveSlice(Op place, int axis) {
  std::optional<unsigned> at = slicedAxis(place.getView(), place.getIndices(), place.getWidths(), axis);
  if (!at)
    return;
  SmallVector<int64_t> widths(place.getWidths());
  widths[*at] /= strips.pieces();
  place.setWidths(widths);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(place);
  OpOperand &index = place.getIndicesMutable()[*at];
  Value offset = start(widths[*at], builder.getI64Type());
  index.set(arith::AddIOp::create(builder, loc, index.get(), offset));
}

/// Blocks of elements that the author promised something about do not reach beyond a piece.
static void limitBlocks(HintOp hint, int axis) {
  int64_t side = tileSides(hint.getType())[axis];
  auto limit = [&](ArrayRef<int64_t> lengths) {
    SmallVector<int64_t> limited(lengths);
    limited[axis] = side % limited[axis] == 0 ? limited[axis] : 1;
    return limited;
  };
  if (side % hint.getContiguous()[axis] != 0 || side % hint.getConstant()[axis] != 0)
    hint.setMultipleOf(SmallVector<int64_t>(hint.getMultipleOf().size(), 1));
  hint.setContiguous(limit(hint.getContiguous()));
  hint.setConstant(limit(hint.getConstant()));
}

void StripBuilder::emit(const Cut &cut) {
  loc = cut.op->getLoc();
  Operation *copy = cloneCut(cut.op, cut.axis, *operandCuts(cut.op, cut.axis));
  SmallVector<Value> results(copy->getResults());
  if (auto reduce = dyn_cast<ReduceOp>(copy)) {
    for (auto [old, result] : llvm::zip(cut.op->getResults(), copy->getResults()))
      result.setType(pieceType(old, cut.axis));
  } else if (auto number = dyn_cast<arith::ConstantOp>(copy)) {
    auto splat = cast<DenseElementsAttr>(number.getValue());
    number.setValueAttr(splat.resizeSplat(cast<ShapedType>(number.getType())));
  } else if (auto range = dyn_cast<ArangeOp>(copy)) {
    auto type = cast<RankedTensorType>(range.getType());
    Value first = start(type.getDimSize(0), type.getElementType());
    results[0] = arith::AddIOp::create(builder, loc, range, SplatOp::create(builder, loc, type, first));
  } else if (auto read = dyn_cast<ReadOp>(copy)) {
    moveSlice(read, cut.axis);
  } else if (auto locate = dyn_cast<LocateOp>(copy)) {
    moveSlice(locate, cut.axis);
  } else if (isCarriedScan(cut.op, cut.axis)) {
    results = emitScan(cast<ScanOp>(copy));
  } else if (auto hint = dyn_cast<HintOp>(copy)) {
    limitBlocks(hint, cut.axis);
  }
  for (auto [old, result] : llvm::zip(cut.op->getResults(), results))
    pieces[{old, cut.axis}] = result;
}

SmallVector<Value> StripBuilder::emitRoot(const StripRoot &root, ValueRange carried) {
  loc = root.op->getLoc();
  if (auto reduce = dyn_cast<ReduceOp>(root.op))
    return emitReduction(reduce, root, carried);
  Operation *copy = cloneCut(root.op, root.axis, *rootCuts(root.op, root.axis));
  if (auto write = dyn_cast<WriteOp>(copy))
    moveSlice(write, root.axis);
  return {};
}

/// What stands between the roots and uses a result of one of them moves behind the loop.
void StripBuilder::moveLateOperations() {
  DenseSet<Value> late;
  Operation *after = &*std::prev(builder.getInsertionPoint()), *last = strips.roots.back().op;
  for (Operation *op = strips.roots.front().op, *next; op != last; op = next) {
    next = op->getNextNode();
    bool isRoot = llvm::any_of(strips.roots, [&](const StripRoot &root) { return root.op == op; });
    bool uses = !isRoot && op->walk([&](Operation *inner) {
                              return llvm::any_of(inner->getOperands(), [&](Value v) { return late.contains(v); })
                                         ? WalkResult::interrupt()
                                         : WalkResult::advance();
                            }).wasInterrupted();
    if (uses) {
      op->moveAfter(after);
      after = op;
    }
    if (isRoot || uses)
      late.insert(op->result_begin(), op->result_end());
  }
}

/// Of an operation in the root's block or in one around it.
static bool comesBefore(Operation *op, Operation *root) {
  return op->getBlock() != root->getBlock() || op->isBeforeInBlock(root);
}

void StripBuilder::run() {
  SmallVector<Value> first = initialValues();
  Value zero = constant(builder.getI64IntegerAttr(0)), one = constant(builder.getI64IntegerAttr(1));
  Value count = constant(builder.getI64IntegerAttr(strips.pieces()));
  loop = scf::ForOp::create(builder, loc, zero, count, one, first);
  builder.setInsertionPointToStart(loop.getBody());
  if (first.empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());

  // In program order: the loads and stores of a piece keep theirs.
  ValueRange carried = loop.getRegionIterArgs();
  SmallVector<Value> next;
  ArrayRef<Cut> rest = strips.slice;
  for (const StripRoot &root : strips.roots) {
    for (; !rest.empty() && comesBefore(rest.front().op, root.op); rest = rest.drop_front())
      emit(rest.front());
    size_t own = carriedBy(root);
    llvm::append_range(next, emitRoot(root, carried.take_front(own)));
    carried = carried.drop_front(own);
  }
  llvm::append_range(next, scanTotals);
  scf::YieldOp::create(builder, loc, next);

  builder.setInsertionPointAfter(loop);
  ValueRange results = loop.getResults();
  for (const StripRoot &root : strips.roots)
    if (auto reduce = dyn_cast<ReduceOp>(root.op)) {
      finish(reduce, results.take_front(carriedBy(root)));
      results = results.drop_front(carriedBy(root));
    }
  moveLateOperations();
}
