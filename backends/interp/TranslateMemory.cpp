//===- TranslateMemory.cpp - places, pointers, program ids ---------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Memory.h"
#include "backends/interp/Translate.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

static int64_t aliasClassOf(Type type) {
  Type element = elementTypeOf(type);
  if (auto view = dyn_cast<ViewType>(element))
    return view.getAliasClass();
  if (auto pointer = dyn_cast<PtrType>(element))
    return pointer.getAliasClass();
  return -1;
}

/// All parameters of the class share its memory.
void Translator::noteClass(int64_t aliasClass, bool isWrite) {
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (aliasClassOf(type) != aliasClass)
      continue;
    program.params[index].isRead |= !isWrite;
    program.params[index].isWritten |= isWrite;
  }
}

/// The parameter a pointer was made from, where that can be seen.
static Value rootOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<PtrAddOp, SplatOp, BroadcastOp, ExpandDimsOp, BaseOp>(op))
      return {};
    pointer = op->getOperand(0);
  }
  return pointer;
}

std::vector<uint32_t> Translator::argumentsOfClass(Value pointer) {
  std::vector<uint32_t> result;
  auto root = dyn_cast_if_present<BlockArgument>(rootOf(pointer));
  if (root && root.getOwner() == &kernel.getBody().front())
    result.push_back(root.getArgNumber());
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (aliasClassOf(type) == aliasClassOf(pointer.getType()) &&
        !llvm::is_contained(result, uint32_t(index)))
      result.push_back(uint32_t(index));
  return result;
}

FailureOr<uint32_t> Translator::argumentOf(Operation *op, Value view) {
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument || argument.getOwner() != &kernel.getBody().front()) {
    (void)unsupported(op, "uses a view that is not a parameter of the kernel");
    return failure();
  }
  return argument.getArgNumber();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static uint32_t numElementsOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? uint32_t(tile.getNumElements()) : 1;
}

static PlacePlan placeOf(uint32_t arg, ArrayRef<int64_t> widths, Type tile) {
  PlacePlan plan;
  plan.arg = arg;
  plan.widths.assign(widths.begin(), widths.end());
  plan.elements = numElementsOf(tile);
  plan.dtype = *slotTypeOf(tile);
  plan.elementBytes = byteSize(plan.dtype);
  return plan;
}

LogicalResult Translator::translateRead(ReadOp op) {
  FailureOr<uint32_t> arg = argumentOf(op, op.getView());
  if (failed(arg))
    return failure();
  PlacePlan plan = placeOf(*arg, op.getWidths(), op.getResult().getType());
  for (Value index : op.getIndices())
    plan.indices.push_back(offsetOf(index));
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.fill = op.getFill() ? offsetOf(op.getFill()) : kNoSlot;
  plan.value = define(op.getResult());
  noteClass(aliasClassOf(op.getView().getType()), /*isWrite=*/false);
  emit(selectRead(plan.elementBytes), op).aux = uint32_t(program.places.size());
  program.places.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateWrite(WriteOp op) {
  FailureOr<uint32_t> arg = argumentOf(op, op.getView());
  if (failed(arg))
    return failure();
  PlacePlan plan = placeOf(*arg, op.getWidths(), op.getValue().getType());
  for (Value index : op.getIndices())
    plan.indices.push_back(offsetOf(index));
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.value = offsetOf(op.getValue());
  noteClass(aliasClassOf(op.getView().getType()), /*isWrite=*/true);
  emit(selectWrite(plan.elementBytes), op).aux = uint32_t(program.places.size());
  program.places.push_back(std::move(plan));
  return success();
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static PointerPlan pointerPlanOf(Type value) {
  PointerPlan plan;
  plan.elements = numElementsOf(value);
  plan.dtype = *slotTypeOf(value);
  plan.elementBytes = byteSize(plan.dtype);
  return plan;
}

LogicalResult Translator::translateLoad(LoadOp op) {
  PointerPlan plan = pointerPlanOf(op.getResult().getType());
  plan.args = argumentsOfClass(op.getPointer());
  plan.pointer = offsetOf(op.getPointer());
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.fill = op.getFill() ? offsetOf(op.getFill()) : kNoSlot;
  plan.value = define(op.getResult());
  noteClass(aliasClassOf(op.getPointer().getType()), /*isWrite=*/false);
  emit(selectLoad(plan.elementBytes), op).aux = uint32_t(program.pointers.size());
  program.pointers.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateStore(StoreOp op) {
  PointerPlan plan = pointerPlanOf(op.getValue().getType());
  plan.args = argumentsOfClass(op.getPointer());
  plan.pointer = offsetOf(op.getPointer());
  plan.mask = op.getMask() ? offsetOf(op.getMask()) : kNoSlot;
  plan.value = offsetOf(op.getValue());
  noteClass(aliasClassOf(op.getPointer().getType()), /*isWrite=*/true);
  emit(selectStore(plan.elementBytes), op).aux = uint32_t(program.pointers.size());
  program.pointers.push_back(std::move(plan));
  return success();
}

LogicalResult Translator::translateViewQuery(Operation *op) {
  FailureOr<uint32_t> arg = argumentOf(op, op->getOperand(0));
  if (failed(arg))
    return failure();
  InstFn fn = isa<ExtentOp>(op)   ? selectExtent()
              : isa<StrideOp>(op) ? selectStride()
                                  : selectBase();
  Inst &inst = emit(fn, op, define(op->getResult(0)), *arg);
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    inst.aux = uint32_t(axis.getInt());
  return success();
}

LogicalResult Translator::translateMemory(Operation *op, bool &known) {
  known = true;
  if (bodyLanes)
    return unsupported(op, "stands in a combine region, which only computes");
  if (auto read = dyn_cast<ReadOp>(op))
    return translateRead(read);
  if (auto write = dyn_cast<WriteOp>(op))
    return translateWrite(write);
  if (auto load = dyn_cast<LoadOp>(op))
    return translateLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return translateStore(store);
  if (isa<ExtentOp, StrideOp, BaseOp>(op))
    return translateViewQuery(op);
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    emit(selectProgramId(), op, define(id.getResult())).aux = uint32_t(id.getAxis());
    return success();
  }
  if (auto count = dyn_cast<NumProgramsOp>(op)) {
    emit(selectNumPrograms(), op, define(count.getResult())).aux = uint32_t(count.getAxis());
    return success();
  }
  if (auto add = dyn_cast<PtrAddOp>(op)) {
    if (failed(emitValue(op, selectPointerAdd(*slotTypeOf(add.getOffset().getType())))))
      return failure();
    Type pointee = cast<PtrType>(elementTypeOf(add.getPointer().getType())).getPointee();
    code->back().aux = elementBits(pointee) / 8;
    return success();
  }
  known = false;
  return success();
}
