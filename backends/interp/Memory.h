//===- Memory.h - buffers while a kernel runs, and their shadows -------------===//
//
// A worker sees each buffer with a shadow of its own: who wrote an element last, who read it first.
// The byte that says "somebody wrote this element" is shared between workers. Shadows exist only
// where a check needs them, so a kernel pays for what can go wrong in it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Program.h"

namespace tk::interp {

enum class Access : uint8_t { In, Out, InOut };

/// One buffer, as one worker sees it. Elements count from the lowest address.
struct BufferState {
  uint8_t *data = nullptr;
  int64_t elements = 0;
  unsigned elementBytes = 0;
  DType dtype = DType::f32;
  uint8_t *written = nullptr; // null: every element is
  uint32_t *writer = nullptr; // instance that wrote last, 0: none; null: no check
  uint32_t *reader = nullptr; // first instance that read, with kSeveral for more than one
  double *bounds = nullptr;   // error bound an element
};
constexpr uint32_t kSeveral = 0x80000000u;

/// A tensor or pointer argument.
struct ArgState {
  BufferState *buffer = nullptr;
  const char *name = "";
  Access access = Access::InOut;
  int64_t origin = 0; // element of the buffer at index zero
  std::vector<int64_t> extents, strides;
  bool checkBounds = true;
  bool checkAccess = true; // writes to `in`, reads of `out`
  bool checkRaces = true;
  bool notesReads = true;  // noteRead has something to do
  bool notesWrites = true; // noteWrite has something to do
};

/// Elements first, first + stride, ... of an argument's buffer, as many as `count`. All of them lie
/// within the buffer. Each reports what is wrong with the access and updates the shadows.
void noteRead(const Inst &inst, Frame &frame, ArgState &arg, int64_t first, int64_t stride,
              int64_t count);
void noteWrite(const Inst &inst, Frame &frame, ArgState &arg, int64_t first, int64_t stride,
               int64_t count, const uint8_t *values);

/// "[3, 17]": the coordinates of an element of the argument's buffer.
std::string coordinatesOf(const ArgState &arg, int64_t element);
/// "(3, 0, 0)" of the instance that runs, or of a linear id plus one.
std::string programOf(const Frame &frame);
std::string programOf(const Frame &frame, uint32_t instance);
/// "[1, 5]": where element `lane` stands in the tile of the instruction's operation; "" for
/// scalars.
std::string laneOf(const Frame &frame, const Inst &inst, size_t lane);
/// A number as a person reads it.
std::string valueText(DType type, const void *element);

// ExecPlace.cpp (aux: index of a PlacePlan) and ExecPointer.cpp (aux: index of a PointerPlan)
InstFn selectRead(unsigned elementBytes);
InstFn selectWrite(unsigned elementBytes);
InstFn selectLoad(unsigned elementBytes);
InstFn selectStore(unsigned elementBytes);

} // namespace tk::interp
