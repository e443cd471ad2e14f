//===- TranslateRegion.cpp - regions of scalars ---------------------------------------===//
//
// A region without control flow runs over many lanes at once: the combine of a reduction over all
// pairs of a level, the body of tk.map over the whole tile. With control flow every lane runs on
// its own.
//
// Outside values are the same in all lanes. Where there is one lane they are used in place, else
// they are repeated.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Bounds.h"
#include "backends/interp/Translate.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// Lanes may take different ways through the region, or their order can be seen.
static bool needsOneByOne(Region &region) {
  WalkResult walk = region.walk([](Operation *op) {
    bool isControl = isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op);
    bool hasEffects = !isa<AsmOp>(op) && !isMemoryEffectFree(op);
    return isControl || hasEffects ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

bool Translator::isImported(Value value) const {
  return body.lanes > 1 && !body.region->isAncestor(value.getParentRegion());
}

/// A value from outside the region (or a constant in it), the same in every lane of the region.
uint32_t Translator::importValue(Value value) {
  unsigned bytes = byteSize(*slotTypeOf(value.getType()));
  uint32_t outside = slots[slotOf.lookup(value)].offset;
  uint32_t inside = temporary(size_t(body.lanes) * bytes);
  Operation *owner = body.region->getParentOp();
  emit(selectSplat(bytes), owner, inside, outside).n = body.isInline ? body.lanes : 0;
  if (hasBounds(value.getType()))
    emit(selectBoundSplat(), owner, inside, outside).n = body.isInline ? body.lanes : 0;
  return inside;
}

/// A value that stays in place until `giveBack` of the returned slot.
unsigned Translator::hold(Value value) {
  unsigned slot = slotOf.lookup(value);
  if (slots[slot].uses != kForever)
    ++slots[slot].uses;
  return slot;
}

//===----------------------------------------------------------------------===//
// The combine of a reduction or scan
//===----------------------------------------------------------------------===//

LogicalResult Translator::translateCombineBody(Block &block, ReducePlan &plan,
                                               SmallVectorImpl<unsigned> &scratch) {
  const size_t count = plan.operands.size();
  SmallVector<uint32_t> inputs;
  for (size_t i = 0; i < count; ++i) {
    Value left = block.getArgument(unsigned(i)), right = block.getArgument(unsigned(i + count));
    plan.operands[i].left = define(left);
    plan.operands[i].right = define(right);
    inputs.append({plan.operands[i].left, plan.operands[i].right});
    scratch.append({hold(left), hold(right)});
  }
  if (failed(translateBlock(block)))
    return failure();
  Operation *yield = block.getTerminator();
  for (size_t i = 0; i < count; ++i) {
    Value value = yield->getOperand(unsigned(i));
    bool isFresh = value.getDefiningOp() && value.getParentBlock() == &block &&
                   !llvm::is_contained(inputs, offsetOf(value));
    if (count == 1 && isFresh) {
      plan.operands[i].combined = offsetOf(value);
      scratch.push_back(hold(value));
      continue;
    }
    unsigned place = takeSlot(bytesOf(value.getType()));
    plan.operands[i].combined = slots[place].offset;
    scratch.push_back(place);
    emitCopy(yield, plan.operands[i].combined, offsetOf(value), value.getType());
  }
  releaseAfter(yield);
  return success();
}

/// Fills in the plan's places and body; scratch memory is free again afterwards, since nothing else
/// runs while the operation does. `plan.work` lanes: as many as the region has for a scan, the
/// whole tile for a reduction.
LogicalResult Translator::translateCombine(Operation *op, ReducePlan &plan) {
  Region &region = op->getRegion(0);
  plan.oneByOne = needsOneByOne(region);
  SmallVector<unsigned> scratch;
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
    ReducePlan::Operand &entry = plan.operands.emplace_back();
    entry.dtype = *slotTypeOf(operand.getType());
    entry.elementBytes = byteSize(entry.dtype);
    entry.value = offsetOf(operand);
    entry.work = scratchSlot(bytesOf(operand.getType()), scratch);
    entry.result = define(result);
    plan.watchesNan |= isFloat(entry.dtype) && options.checks.nan != NanCheck::Off;
  }
  const uint32_t pairs = isa<ScanOp>(op) ? 1 : plan.side / 2;
  Code combine;
  Code *outside = std::exchange(code, &combine);
  body.lanes = plan.oneByOne ? 1 : std::max(plan.outer * pairs * plan.inner, 1u);
  body.region = &region;
  LogicalResult translated = translateCombineBody(region.front(), plan, scratch);
  body = RegionState();
  code = outside;
  for (unsigned slot : scratch)
    giveBack(slot);
  plan.body = uint32_t(program.bodies.size());
  program.bodies.push_back(std::move(combine));
  return translated;
}

//===----------------------------------------------------------------------===//
// Element by element: tk.map and references
//===----------------------------------------------------------------------===//

/// Arguments lie where the operands lie, results where what is yielded lies.
LogicalResult Translator::translateInline(Operation *op, Region &region) {
  Block &block = region.front();
  for (auto [argument, operand] : llvm::zip(block.getArguments(), op->getOperands()))
    if (!argument.use_empty())
      share(argument, operand);
  RegionState saved = body;
  if (!saved.lanes) {
    Type type = op->getResult(0).getType();
    body.lanes = lanesOf(type);
    body.isInline = true;
    body.region = &region;
    body.shape.assign(tileSides(type).begin(), tileSides(type).end());
  }
  llvm::scope_exit restore([&] { body = saved; });
  if (failed(translateBlock(block)))
    return failure();
  Operation *yield = block.getTerminator();
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
    share(result, value);
  releaseAfter(yield);
  return success();
}

LogicalResult Translator::translateOneByOne(Operation *op, Region &region) {
  MapPlan plan;
  Type first = op->getResult(0).getType();
  plan.elements = lanesOf(first);
  SmallVector<unsigned> scratch;
  auto valueOf = [&](uint32_t tile, Type type) {
    MapPlan::Value &value = plan.operands.emplace_back();
    value.tile = tile;
    value.elementBytes = byteSize(*slotTypeOf(type));
    value.hasBounds = hasBounds(type);
  };
  for (Value operand : op->getOperands())
    valueOf(offsetOf(operand), operand.getType());
  for (Value result : op->getResults())
    valueOf(define(result), result.getType());
  plan.results.assign(plan.operands.begin() + op->getNumOperands(), plan.operands.end());
  plan.operands.resize(op->getNumOperands());

  Code elements;
  Code *outside = std::exchange(code, &elements);
  llvm::scope_exit restore([&] {
    code = outside;
    body = RegionState();
    for (unsigned slot : scratch)
      giveBack(slot);
  });
  body.lanes = 1;
  body.region = &region;
  body.shape.assign(tileSides(first).begin(), tileSides(first).end());
  Block &block = region.front();
  for (auto [value, argument] : llvm::zip(plan.operands, block.getArguments())) {
    value.scalar = define(argument);
    scratch.push_back(hold(argument));
  }
  if (failed(translateBlock(block)))
    return failure();
  Operation *yield = block.getTerminator();
  for (auto [value, yielded] : llvm::zip(plan.results, yield->getOperands())) {
    value.scalar = scratchSlot(bytesOf(yielded.getType()), scratch);
    emitCopy(yield, value.scalar, offsetOf(yielded), yielded.getType());
  }
  releaseAfter(yield);
  plan.body = uint32_t(program.bodies.size());
  program.bodies.push_back(std::move(elements));
  Inst map;
  map.fn = selectMap();
  map.op = infoOf(op);
  map.aux = uint32_t(program.compute.maps.size());
  outside->push_back(map);
  program.compute.maps.push_back(std::move(plan));
  return success();
}

/// Inside another region an operation is one lane's as the region's own operations are; that region
/// runs one by one when this one has to.
LogicalResult Translator::translateMap(Operation *op, Region &region) {
  if (body.lanes || !needsOneByOne(region))
    return translateInline(op, region);
  return translateOneByOne(op, region);
}

LogicalResult Translator::translateReference(Operation *op, Region &reference, StringRef name) {
  if (reference.empty())
    return tk::emit<diag::NoReference>(op->getLoc(), name);
  return translateMap(op, reference);
}
