//===- ExecControl.cpp - program ids, extents, jumps and loops -----------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <type_traits>

using namespace tk::interp;

static void programId(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = frame.programId[inst.aux];
}
static void numPrograms(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = frame.grid[inst.aux];
}
static void extent(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = frame.args[inst.a].extents[inst.aux];
}
static void stride(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = frame.args[inst.a].strides[inst.aux];
}
static void base(const Inst &inst, Frame &frame) {
  const ArgState &arg = frame.args[inst.a];
  *frame.at<uint64_t>(inst.dst) = reinterpret_cast<uint64_t>(arg.buffer->data) +
                                  uint64_t(arg.origin) * arg.buffer->elementBytes;
}
static void number(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = inst.aux;
}
InstFn tk::interp::selectNumber() {
  return number;
}
InstFn tk::interp::selectProgramId() {
  return programId;
}
InstFn tk::interp::selectNumPrograms() {
  return numPrograms;
}
InstFn tk::interp::selectExtent() {
  return extent;
}
InstFn tk::interp::selectStride() {
  return stride;
}
InstFn tk::interp::selectBase() {
  return base;
}

static void jump(const Inst &inst, Frame &frame) {
  frame.pc = inst.aux;
}
static void jumpIfFalse(const Inst &inst, Frame &frame) {
  if (!*frame.at<uint8_t>(inst.a))
    frame.pc = inst.aux;
}
static void stopWhenOver(const Inst &inst, Frame &frame) {
  if (frame.findings->isOver())
    frame.pc = inst.aux;
}
InstFn tk::interp::selectStopWhenOver() {
  return stopWhenOver;
}
InstFn tk::interp::selectJump() {
  return jump;
}
InstFn tk::interp::selectJumpIfFalse() {
  return jumpIfFalse;
}

template <class T> static void loopTest(const Inst &inst, Frame &frame) {
  if (!(*frame.at<T>(inst.a) < *frame.at<T>(inst.b)) || frame.findings->isOver())
    frame.pc = inst.aux;
}

/// A variable that would wrap past its type has left the loop's range: fall through to the end.
template <class T> static void loopNext(const Inst &inst, Frame &frame) {
  T next;
  if (__builtin_add_overflow(*frame.at<T>(inst.dst), *frame.at<T>(inst.b), &next))
    return;
  *frame.at<T>(inst.dst) = next;
  frame.pc = inst.aux;
}

template <class T> static void stepCheck(const Inst &inst, Frame &frame) {
  T step = *frame.at<T>(inst.b);
  if (step > 0)
    return;
  frame.pc = inst.aux;
  if (Finding *finding = frame.findings->add(FindingKind::StepNotPositive, inst.op))
    finding->args = {programOf(frame), std::to_string(step)};
}

/// Of the size of a step, as unsigned.
template <class T> static void zeroStepCheck(const Inst &inst, Frame &frame) {
  if (*frame.at<T>(inst.b) != 0)
    return;
  if (Finding *finding = frame.findings->add(FindingKind::StepNotPositive, inst.op))
    finding->args = {programOf(frame), "0"};
}

InstFn tk::interp::selectLoopTest(DType type, bool isUnsigned) {
  if (type == DType::i32)
    return isUnsigned ? loopTest<uint32_t> : loopTest<int32_t>;
  return isUnsigned ? loopTest<uint64_t> : loopTest<int64_t>;
}
InstFn tk::interp::selectLoopNext(DType type, bool isUnsigned) {
  if (type == DType::i32)
    return isUnsigned ? loopNext<uint32_t> : loopNext<int32_t>;
  return isUnsigned ? loopNext<uint64_t> : loopNext<int64_t>;
}
InstFn tk::interp::selectStepCheck(DType type) {
  return type == DType::i32 ? stepCheck<int32_t> : stepCheck<int64_t>;
}
InstFn tk::interp::selectZeroStepCheck(DType type) {
  return type == DType::i32 ? zeroStepCheck<int32_t> : zeroStepCheck<int64_t>;
}
