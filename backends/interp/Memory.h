//===- Memory.h - buffers while a kernel runs, and their shadows -------------===//
//
// A worker sees each buffer with a shadow of its own: who wrote an element last, who read it first,
// who operated on it atomically. The byte that says "somebody wrote this element" is shared between
// workers. Shadows exist only where a check needs them, so a kernel pays for what can go wrong in
// it. An entry of a shadow is an event (Races.h): in most kernels a program instance.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Program.h"
#include "backends/interp/Races.h"
#include <map>

namespace tk::interp {

enum class Access : uint8_t { In, Out, InOut };

/// One buffer, as one worker sees it. Elements count from the lowest address.
struct BufferState {
  uint8_t *data = nullptr;
  int64_t elements = 0;
  unsigned elementBytes = 0;
  DType dtype = DType::f32;
  uint8_t *written = nullptr;   // null: every element is
  uint32_t *writer = nullptr;   // who wrote last, 0: nobody; null: no check
  uint32_t *reader = nullptr;   // who read, with kSeveral for more than one
  uint32_t *changer = nullptr;  // who changed it atomically, like `reader`
  uint32_t *observer = nullptr; // who read it atomically, like `reader`
  double *bounds = nullptr;     // error bound an element
  uint64_t hintBase = 0;        // what hints about addresses count from
  bool isUnbounded = false;     // nothing is checked
  ClassUse use;                 // what the kernel does to it, under all of its names
  double *sums = nullptr;       // of magnitudes that were added atomically, twice an element: with
                                // their number
};

/// Memory under a name: a tensor or pointer argument, or what an argument's pointers point to.
struct ArgState {
  BufferState *buffer = nullptr;
  std::string name;
  Access access = Access::InOut;
  int64_t origin = 0; // element of the buffer at index zero
  std::vector<int64_t> extents, strides;
  bool isAbsent = false; // an optional argument that was not given
  bool checkBounds = true;
  bool checkInit = true;
  bool checkAccess = true; // writes to `in`, reads of `out`
  bool checkRaces = true;
  bool notesReads = true;  // noteRead has something to do
  bool notesWrites = true; // noteWrite has something to do
};

/// All memory of a run, found by address.
class MemoryMap {
public:
  struct Region {
    uint64_t begin, end;
    ArgState *arg;
  };
  void add(int64_t aliasClass, ArgState *arg);
  /// What holds the byte at `address` in an alias class; null: nothing.
  ArgState *find(int64_t aliasClass, uint64_t address) const;
  /// What lies nearest to it; null when the class has no memory.
  ArgState *nearest(int64_t aliasClass, uint64_t address) const;

private:
  std::map<int64_t, std::vector<Region>> classes; // each in order
};

/// A view while an instruction works on it.
struct ViewRef {
  ArgState *arg = nullptr; // null: the pointer it was made from lies in no buffer
  uint64_t origin = 0;     // element of the buffer at index zero; sums wrap
  const int64_t *extents = nullptr, *strides = nullptr;
  uint64_t address = 0;   // of the element at index zero
  bool isChecked = false; // made from a pointer: elements may lie outside the buffer
  bool isEmpty = false;   // of rank 0, and its element does not exist
};
ViewRef madeViewOf(const Frame &frame, const ViewSource &source, unsigned elementBytes);
inline ViewRef viewOf(const Frame &frame, const ViewSource &source, unsigned elementBytes) {
  if (source.slot != kNoSlot)
    return madeViewOf(frame, source, elementBytes);
  ArgState &arg = frame.args[source.arg];
  const uint64_t origin = uint64_t(arg.origin);
  return {&arg, origin, arg.extents.data(), arg.strides.data(),
          reinterpret_cast<uint64_t>(arg.buffer->data) + origin * elementBytes};
}

/// Elements first, first + stride, ... of an argument's buffer, as many as `count`. All of them lie
/// within the buffer. Each reports what is wrong with the access and updates the shadows.
void noteRead(const Inst &inst, Frame &frame, ArgState &arg, int64_t first, int64_t stride,
              int64_t count);
void noteWrite(const Inst &inst, Frame &frame, ArgState &arg, int64_t first, int64_t stride,
               int64_t count, const uint8_t *values);
/// One element, atomically: read, changed or both.
void noteAtomic(const Inst &inst, Frame &frame, ArgState &arg, int64_t element, bool reads,
                bool changes);

/// What holds all `count` elements from `address` on, and the first of them; null: nothing.
ArgState *argumentAt(const PointerPlan &plan, const Frame &frame, uint64_t address, uint64_t count,
                     int64_t &element);

/// "[3, 17]": the coordinates of an element of the argument's buffer.
std::string coordinatesOf(const ArgState &arg, int64_t element);
/// "(3, 0, 0)" of a linear id plus one, of the instance that runs, or of an event.
std::string programText(const int64_t *grid, uint32_t instance);
std::string programOf(const Frame &frame);
std::string programOf(const Frame &frame, uint32_t event);
/// "[1, 5]": where element `lane` stands in the tile of the instruction's operation; "" for
/// scalars.
std::string laneOf(const Frame &frame, const Inst &inst, size_t lane);
/// A number as a person reads it.
std::string valueText(DType type, const void *element);

/// An access through pointers, or a view made from one, to `address`, which is in no buffer of the
/// class.
void reportOutside(const Inst &inst, Frame &frame, FindingKind kind, uint32_t root,
                   int64_t aliasClass, uint64_t address, unsigned elementBytes, size_t lane);
/// An element of a store that another element of the same store has overwritten.
void reportDuplicate(const Inst &inst, Frame &frame, const ArgState &arg, int64_t element,
                     DType dtype, const void *value, size_t lane);
/// A single index outside its extent, or a view of an argument that was not given.
void reportIndex(const Inst &inst, Frame &frame, const ArgState *arg, size_t axis, int64_t index,
                 int64_t extent);

// ExecPlace.cpp (aux: index of a PlacePlan) and ExecGather.cpp (the same, with tiles of indices)
InstFn selectRead(unsigned elementBytes);
InstFn selectWrite(unsigned elementBytes);
InstFn selectLocate();
InstFn selectGatherRead(unsigned elementBytes);
InstFn selectGatherWrite(unsigned elementBytes);
InstFn selectGatherLocate();

// ExecPointer.cpp (aux: index of a PointerPlan) and ExecAtomic.cpp (aux: index of an AtomicPlan)
InstFn selectLoad(unsigned elementBytes);
InstFn selectStore(unsigned elementBytes);
/// Null for a type that the action does not have.
InstFn selectAtomic(AtomicAction action, DType type);

// ExecView.cpp
InstFn selectMakeView(); // aux: index of a ViewPlan, dst: the view
InstFn selectSubview();
InstFn selectViewWord(); // a: the view, aux: which of its words
InstFn selectPresent();  // a: argument

// ExecDebug.cpp
InstFn selectPrint();  // aux: index of a PrintPlan
InstFn selectAssert(); // aux: index of an AssertPlan
InstFn selectAssume(); // a: the condition
InstFn selectHint();   // aux: index of a HintPlan
InstFn selectClock();
InstFn selectNumber(); // dst: i64, aux: the number
/// a, b: operands, dst: result, aux: 0 for +, 1 for -, 2 for *. Reports a sum, difference or
/// product of i32 that wraps.
InstFn selectWrapCheck();

// Schedule.cpp
InstFn selectTurn();  // lets others run
InstFn selectRound(); // the same at the end of a round of a loop; aux: index of a RoundPlan

} // namespace tk::interp
