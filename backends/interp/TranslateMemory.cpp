//===- TranslateMemory.cpp - places, views and pointers ------------------------------===//

#include "backends/interp/Memory.h"
#include "backends/interp/Translate.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

int64_t tk::interp::aliasClassOf(Type type) {
  Type element = elementTypeOf(type);
  if (auto view = dyn_cast<ViewType>(element))
    return view.getAliasClass();
  if (auto pointer = dyn_cast<PtrType>(element))
    return pointer.getAliasClass();
  return -1;
}

/// All parameters of the class share its memory.
void Translator::noteClass(Type type, bool isWrite) {
  ClassUse &use = program.classes[aliasClassOf(type)];
  (isWrite ? use.isWritten : use.isRead) = true;
}

static uint32_t numElementsOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? uint32_t(tile.getNumElements()) : 1;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Views are arguments or made by operations; nothing else hands them on.
FailureOr<ViewSource> Translator::viewSourceOf(Operation *op, Value view) {
  auto type = cast<ViewType>(view.getType());
  ViewSource source;
  source.rank = uint32_t(type.getRank());
  source.aliasClass = type.getAliasClass();
  if (source.rank > kMaxPlaceRank)
    return unsupported(op, "has a view of rank " + Twine(source.rank));
  if (!isa<BlockArgument>(view))
    source.slot = offsetOf(view);
  while (auto part = view.getDefiningOp<SubviewOp>())
    view = part.getView();
  auto argument = dyn_cast<BlockArgument>(view);
  if (argument && argument.getOwner() == &kernel.getBody().front())
    source.arg = argument.getArgNumber();
  else if (!view.getDefiningOp<MakeViewOp>())
    return unsupported(op, "uses a view that is handed on by control flow");
  return source;
}

LogicalResult Translator::translateMakeView(MakeViewOp op) {
  ViewPlan plan;
  plan.pointer = offsetOf(op.getPointer());
  for (auto [extent, stride] : llvm::zip(op.getExtents(), op.getStrides())) {
    plan.first.push_back(offsetOf(extent));
    plan.second.push_back(offsetOf(stride));
  }
  emit(selectMakeView(), op, define(op.getResult())).aux = uint32_t(program.memory.views.size());
  program.memory.views.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateSubview(SubviewOp op) {
  FailureOr<ViewSource> from = viewSourceOf(op, op.getView());
  if (failed(from))
    return failure();
  ViewPlan plan;
  plan.from = *from;
  plan.elementBytes = bytesOfElement(op.getView().getType());
  plan.drops.assign(op.getDrop().begin(), op.getDrop().end());
  for (auto [low, high] : llvm::zip(op.getLow(), op.getHigh())) {
    plan.first.push_back(offsetOf(low));
    plan.second.push_back(offsetOf(high));
  }
  emit(selectSubview(), op, define(op.getResult())).aux = uint32_t(program.memory.views.size());
  program.memory.views.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateViewQuery(Operation *op) {
  FailureOr<ViewSource> source = viewSourceOf(op, op->getOperand(0));
  if (failed(source))
    return failure();
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  uint32_t at = axis ? uint32_t(axis.getInt()) : 0;
  if (source->slot == kNoSlot) {
    InstFn fn = isa<ExtentOp>(op)   ? selectExtent()
                : isa<StrideOp>(op) ? selectStride()
                                    : selectBase();
    emit(fn, op, define(op->getResult(0)), source->arg).aux = at;
    return success();
  }
  uint32_t word = isa<ExtentOp>(op) ? 1 + at : isa<StrideOp>(op) ? 1 + source->rank + at : 0;
  emit(selectViewWord(), op, define(op->getResult(0)), source->slot).aux = word;
  return success();
}

LogicalResult Translator::translatePresent(PresentOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getArgument());
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return unsupported(op, "asks about something that is no parameter");
  emit(selectPresent(), op, define(op.getResult()), argument.getArgNumber());
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

unsigned Translator::bytesOfElement(Type type) {
  auto view = dyn_cast<ViewType>(type);
  return byteSize(*slotTypeOf(view ? view.getElement() : type));
}

/// View, indices and widths; the rest is the operation's own.
FailureOr<PlacePlan> Translator::placeOf(Operation *op, Value view, ValueRange indices,
                                         ArrayRef<int64_t> widths, Type tile) {
  FailureOr<ViewSource> source = viewSourceOf(op, view);
  if (failed(source))
    return failure();
  PlacePlan plan;
  plan.view = *source;
  plan.widths.assign(widths.begin(), widths.end());
  plan.elements = numElementsOf(tile);
  plan.dtype = *slotTypeOf(cast<ViewType>(view.getType()).getElement());
  plan.elementBytes = byteSize(plan.dtype);
  for (auto [index, width] : llvm::zip(indices, widths)) {
    plan.indices.push_back(offsetOf(index));
    plan.indexTypes.push_back(*slotTypeOf(index.getType()));
    if (width < 0)
      plan.picked = numElementsOf(index.getType());
  }
  return plan;
}

/// Room for the offsets of picked elements, given back at once: they live for one instruction, and
/// what is defined after it may lie there.
void Translator::reserveOffsets(PlacePlan &plan) {
  if (plan.picked == 0)
    return;
  unsigned slot = takeSlot(size_t(plan.picked) * 8);
  plan.offsets = slots[slot].offset;
  giveBack(slot);
}

void Translator::emitPlace(Operation *op, PlacePlan plan, InstFn box, InstFn gather) {
  reserveOffsets(plan);
  emit(plan.picked ? gather : box, op).aux = uint32_t(program.memory.places.size());
  program.memory.places.push_back(std::move(plan));
}

LogicalResult Translator::translateRead(ReadOp op) {
  FailureOr<PlacePlan> plan = placeOf(op, op.getView(), op.getIndices(), op.getWidths(),
                                      op.getResult().getType());
  if (failed(plan))
    return failure();
  plan->mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan->fill = op.getFill() ? offsetOf(op.getFill()) : kNoSlot;
  plan->value = define(op.getResult());
  noteClass(op.getView().getType(), /*isWrite=*/false);
  unsigned bytes = plan->elementBytes;
  emitPlace(op, std::move(*plan), selectRead(bytes), selectGatherRead(bytes));
  return success();
}

LogicalResult Translator::translateWrite(WriteOp op) {
  FailureOr<PlacePlan> plan = placeOf(op, op.getView(), op.getIndices(), op.getWidths(),
                                      op.getValue().getType());
  if (failed(plan))
    return failure();
  plan->mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan->value = offsetOf(op.getValue());
  noteClass(op.getView().getType(), /*isWrite=*/true);
  unsigned bytes = plan->elementBytes;
  emitPlace(op, std::move(*plan), selectWrite(bytes), selectGatherWrite(bytes));
  return success();
}

LogicalResult Translator::translateLocate(LocateOp op) {
  FailureOr<PlacePlan> plan = placeOf(op, op.getView(), op.getIndices(), op.getWidths(),
                                      op.getPointer().getType());
  if (failed(plan))
    return failure();
  plan->value = define(op.getPointer());
  plan->exists = define(op.getExists());
  emitPlace(op, std::move(*plan), selectLocate(), selectGatherLocate());
  return success();
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

/// The parameter a pointer was made from, where that can be seen.
static Value rootOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<PtrAddOp, SplatOp, BroadcastOp, ExpandDimsOp, BaseOp, MakeViewOp, SubviewOp, LocateOp,
             HintOp, ReshapeOp, PermuteOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  return pointer;
}

PointerPlan Translator::pointerPlanOf(Value pointer, Type value) {
  PointerPlan plan;
  plan.elements = numElementsOf(value);
  plan.dtype = *slotTypeOf(value);
  plan.elementBytes = byteSize(plan.dtype);
  plan.aliasClass = aliasClassOf(pointer.getType());
  plan.pointer = offsetOf(pointer);
  auto root = dyn_cast_if_present<BlockArgument>(rootOf(pointer));
  if (root && root.getOwner() == &kernel.getBody().front() &&
      aliasClassOf(root.getType()) == plan.aliasClass)
    plan.root = root.getArgNumber();
  return plan;
}

LogicalResult Translator::translateLoad(LoadOp op) {
  PointerPlan plan = pointerPlanOf(op.getPointer(), op.getResult().getType());
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.fill = op.getFill() ? offsetOf(op.getFill()) : kNoSlot;
  plan.value = define(op.getResult());
  plan.isVolatile = op.getIsVolatile();
  if (plan.isVolatile)
    program.classes[plan.aliasClass].isAtomic = true;
  else
    noteClass(op.getPointer().getType(), /*isWrite=*/false);
  emit(selectLoad(plan.elementBytes), op).aux = uint32_t(program.memory.pointers.size());
  if (plan.isVolatile)
    emitTurn(op);
  program.memory.pointers.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateStore(StoreOp op) {
  PointerPlan plan = pointerPlanOf(op.getPointer(), op.getValue().getType());
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.value = offsetOf(op.getValue());
  noteClass(op.getPointer().getType(), /*isWrite=*/true);
  emit(selectStore(plan.elementBytes), op).aux = uint32_t(program.memory.pointers.size());
  program.memory.pointers.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translatePointerAdd(PtrAddOp op) {
  if (failed(emitValue(op, selectPointerAdd(*slotTypeOf(op.getOffset().getType())))))
    return failure();
  Type pointee = cast<PtrType>(elementTypeOf(op.getPointer().getType())).getPointee();
  code->back().aux = elementBits(pointee) / 8;
  return success();
}

LogicalResult Translator::translateMemory(Operation *op, bool &known) {
  known = true;
  if (body.lanes)
    return unsupported(op, "stands in a combine region, which only computes");
  if (auto read = dyn_cast<ReadOp>(op))
    return translateRead(read);
  if (auto write = dyn_cast<WriteOp>(op))
    return translateWrite(write);
  if (auto locate = dyn_cast<LocateOp>(op))
    return translateLocate(locate);
  if (auto load = dyn_cast<LoadOp>(op))
    return translateLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return translateStore(store);
  if (auto view = dyn_cast<MakeViewOp>(op))
    return translateMakeView(view);
  if (auto part = dyn_cast<SubviewOp>(op))
    return translateSubview(part);
  if (isa<ExtentOp, StrideOp, BaseOp>(op))
    return translateViewQuery(op);
  if (auto present = dyn_cast<PresentOp>(op))
    return translatePresent(present);
  if (auto add = dyn_cast<PtrAddOp>(op))
    return translatePointerAdd(add);
  return translateInstance(op, known);
}
