//===- MemoryPlans.h - what instructions on memory need to know ----------------===//
//
// An instruction has room for four places and two numbers; the plan that its `aux` names has the
// rest. Places of values are byte offsets in the arena.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include <string>
#include <vector>

namespace tk::interp {

constexpr uint32_t kNoSlot = ~0u;
constexpr unsigned kMaxPlaceRank = 16;

/// The view of a place: an argument's own, or one that the kernel has made, whose address, extents
/// and strides lie in the arena as i64 (see ExecView.cpp).
struct ViewSource {
  uint32_t arg = kNoSlot;  // the argument it is or is a part of; none: made from a pointer
  uint32_t slot = kNoSlot; // none: the argument's own
  uint32_t rank = 0;
  int64_t aliasClass = 0;
};

/// A tk.read, tk.write or tk.locate.
struct PlacePlan {
  ViewSource view;
  std::vector<uint32_t> indices; // places of i64 scalars, and of tiles
  std::vector<int64_t> widths;   // 0: a single index, -1: a tile of them
  uint32_t value = kNoSlot;
  uint32_t mask = kNoSlot;
  uint32_t fill = kNoSlot;
  uint32_t exists = kNoSlot; // of a tk.locate
  uint32_t elements = 1;
  unsigned elementBytes = 0;
  DType dtype = DType::f32;
  // Of a place with tiles of indices:
  uint32_t picked = 0;           // elements of such a tile
  uint32_t offsets = kNoSlot;    // room for as many i64
  std::vector<DType> indexTypes; // of each index
};

/// A tk.load or tk.store.
struct PointerPlan {
  uint32_t root = kNoSlot; // the argument that the pointer was made from, where that can be seen
  int64_t aliasClass = 0;
  uint32_t pointer = kNoSlot;
  uint32_t value = kNoSlot;
  uint32_t mask = kNoSlot;
  uint32_t fill = kNoSlot;
  uint32_t elements = 1;
  unsigned elementBytes = 0;
  DType dtype = DType::f32;
  bool isVolatile = false;
};

/// In the order of tk::AtomicKind, and the operations that are none of them.
enum class AtomicAction : uint8_t { Add, Max, Min, And, Or, Xor, Exchange, Cas, Load, Store };

/// An atomic operation; `pointer.value` is what it stores or combines.
struct AtomicPlan {
  PointerPlan pointer;
  AtomicAction action = AtomicAction::Add;
  uint32_t expected = kNoSlot; // of a compare and swap
  uint32_t result = kNoSlot;   // none: nobody uses it
  bool isUnsigned = false;
  bool acquires = false, releases = false;
  bool isShared = true; // with other program instances; not so in scope cta
};

/// A tk.make_view or tk.subview.
struct ViewPlan {
  ViewSource from; // of a part
  uint32_t pointer = kNoSlot;
  std::vector<uint32_t> first, second; // extents and strides, or low and high
  std::vector<bool> drops;
  unsigned elementBytes = 0;
};

/// A value that is printed.
struct PrintedValue {
  uint32_t slot = kNoSlot;
  int64_t aliasClass = 0; // of pointers
  DType dtype = DType::i32;
  std::vector<int64_t> shape;
};
struct PrintPlan {
  std::string text;
  bool isHex = false;
  std::vector<PrintedValue> values;
};

/// A tk.assert.
struct AssertPlan {
  std::string text;
  uint32_t condition = kNoSlot, mask = kNoSlot;
  uint32_t elements = 1;
};

struct HintPlan {
  uint32_t value = kNoSlot;
  int64_t aliasClass = 0; // of pointers
  DType dtype = DType::i32;
  uint64_t step = 1; // from one neighbour to the next
  std::vector<int64_t> shape, multipleOf, contiguous, constant;
};

/// Where an instance stands when it lets others run at the end of a round of a loop: what the loop
/// carries tells whether the round has changed anything.
struct RoundPlan {
  struct Range {
    uint32_t slot, bytes;
  };
  std::vector<Range> carried;
};

struct MemoryPlans {
  std::vector<PlacePlan> places;
  std::vector<PointerPlan> pointers;
  std::vector<AtomicPlan> atomics;
  std::vector<ViewPlan> views;
  std::vector<PrintPlan> prints;
  std::vector<AssertPlan> asserts;
  std::vector<HintPlan> hints;
  std::vector<RoundPlan> rounds;
};

} // namespace tk::interp
