//===- ExecMap.cpp - regions of scalars with control flow, element by element -----===//
//
// A region without control flow needs nothing of this: its instructions run over whole tiles.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <cstring>

using namespace tk::interp;

static void takeElement(const MapPlan::Value &value, size_t element, Frame &frame) {
  const unsigned bytes = value.elementBytes;
  std::memcpy(frame.arena + value.scalar, frame.arena + value.tile + element * bytes, bytes);
  if (value.hasBounds)
    *frame.boundsAt(value.scalar) = frame.boundsAt(value.tile)[element];
}

static void giveElement(const MapPlan::Value &value, size_t element, Frame &frame) {
  const unsigned bytes = value.elementBytes;
  std::memcpy(frame.arena + value.tile + element * bytes, frame.arena + value.scalar, bytes);
  if (value.hasBounds)
    frame.boundsAt(value.tile)[element] = *frame.boundsAt(value.scalar);
}

static void map(const Inst &inst, Frame &frame) {
  const MapPlan &plan = frame.program->compute.maps[inst.aux];
  const Code &body = frame.program->bodies[plan.body];
  const uint32_t savedLanes = frame.lanes;
  frame.lanes = 1;
  for (size_t i = 0; i < plan.elements && !frame.findings->isOver(); ++i) {
    frame.firstLane = i;
    for (const MapPlan::Value &operand : plan.operands)
      takeElement(operand, i, frame);
    execute(body, frame);
    for (const MapPlan::Value &result : plan.results)
      giveElement(result, i, frame);
  }
  frame.firstLane = 0;
  frame.lanes = savedLanes;
}

InstFn tk::interp::selectMap() {
  return map;
}
