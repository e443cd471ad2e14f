//===- Program.h - a kernel as a flat list of typed instructions -------------===//
//
// A kernel is translated once into arrays of instructions. Every value of the kernel has a place
// (a byte offset) in an arena that each worker allocates once; a tile lies there element by
// element, row-major, a scalar is one element. An instruction holds the function that does it, the
// places of its operands and the number of elements, so running a program instance allocates
// nothing and looks at no IR. A result never shares its place with an operand of its instruction.
//
// Combine regions of reductions run over many pairs at once: their instructions have `n` = 0 and
// take the number of elements from the frame.
//
// With error bounds, the double that bounds an element lies in a second arena at eight times its
// byte offset (a one-byte element needs eight bytes there); see Bounds.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/ComputePlans.h"
#include "backends/interp/Conversion.h"
#include "backends/interp/Findings.h"
#include "backends/interp/MemoryPlans.h"
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tk::interp {

struct Frame;
struct Inst;
using InstFn = void (*)(const Inst &, Frame &);

struct Inst {
  InstFn fn = nullptr;
  uint32_t dst = kNoSlot; // places of the result and the operands
  uint32_t a = kNoSlot;
  uint32_t b = kNoSlot;
  uint32_t c = kNoSlot;
  uint32_t n = 0;   // elements; 0: as many as the frame says
  uint32_t aux = 0; // a jump's target, or an index into one of the program's tables
  uint32_t op = 0;  // index of the operation it came from
};
using Code = std::vector<Inst>;

/// A copy between tiles as nested loops: element (i, j, ...) of the result comes from
/// `offset = i * strides[0] + j * strides[1] + ...`; the last axis is the inner loop.
struct CopyPlan {
  unsigned elementBytes = 0;
  std::vector<uint32_t> sides;
  std::vector<uint32_t> strides;
};

/// A tk.reduce or tk.scan: operands are seen as (outer, side, inner).
struct ReducePlan {
  struct Operand {
    uint32_t value = kNoSlot, result = kNoSlot;                   // the tile and what is left of it
    uint32_t left = kNoSlot, right = kNoSlot, combined = kNoSlot; // of the combine region
    uint32_t work = kNoSlot;                                      // as large as the tile
    unsigned elementBytes = 0;
    DType dtype = DType::f32;
  };
  std::vector<Operand> operands;
  uint32_t outer = 1, side = 1, inner = 1;
  uint32_t body = 0;       // index into Program::bodies
  bool oneByOne = false;   // the region has control flow: pairs run one at a time
  bool isFloatSum = false; // x + y in any order: bounds need no tree
  bool isReverse = false;  // a scan from the last element to the first
  bool isTree = false;     // a scan along the tree of reductions
  bool watchesNan = false; // the region has instructions that look for NaN
};

/// A place of the kernel in the source, for findings.
struct OpInfo {
  std::vector<int64_t> shape; // of the result or the stored value
};

/// A parameter as the program sees it.
struct ParamInfo {
  bool isScalar = false;
  uint32_t slot = kNoSlot; // of a scalar or pointer
  DType dtype = DType::i64;
  int64_t aliasClass = -1;
};

/// What a kernel does to the memory of one alias class.
struct ClassUse {
  bool isRead = false;
  bool isWritten = false;
  bool isAtomic = false; // by operations that are one step among instances

  void add(const ClassUse &other) {
    isRead |= other.isRead;
    isWritten |= other.isWritten;
    isAtomic |= other.isAtomic;
  }
};

struct Program {
  Code code;
  std::vector<Code> bodies; // combine regions
  std::vector<CopyPlan> copies;
  std::vector<Conversion> conversions;
  MemoryPlans memory;
  std::vector<ReducePlan> reductions;
  ComputePlans compute;
  std::vector<ParamInfo> params;
  std::vector<OpInfo> ops;
  std::map<int64_t, ClassUse> classes;
  /// Instances may wait for each other: all that are live take turns.
  bool takesTurns = false;
  bool hasOrder = false;   // acquires and releases
  bool hasAtomics = false; // that others can see
  bool hasPrints = false;
  bool hasClock = false;
  size_t arenaBytes = 0;
  /// Constants: bytes put at an offset once, before the first instance.
  struct Constant {
    uint32_t slot = 0;
    std::vector<uint8_t> bytes;
  };
  std::vector<Constant> constants;
};

struct ArgState; // Memory.h
class MemoryMap;
class Races; // Races.h

constexpr size_t kPastTheEnd = SIZE_MAX;

/// Why an instance let others run.
enum class Pause : uint8_t { None, Turn, Round };

/// What one worker has while it runs instances; where instances take turns, what each of them has.
struct Frame {
  /// An element of memory that was read atomically.
  struct Look {
    const ArgState *arg = nullptr;
    int64_t element = 0;
  };
  const Program *program = nullptr;
  uint8_t *arena = nullptr;
  uint8_t *boundArena = nullptr; // null: no bounds
  ArgState *args = nullptr;
  Findings *findings = nullptr;
  const MemoryMap *memory = nullptr;
  Races *races = nullptr;         // null: nothing is ordered
  std::string *printed = nullptr; // null: nobody wants it
  int64_t programId[3] = {0, 0, 0};
  int64_t grid[3] = {1, 1, 1};
  uint32_t instance = 0; // linear program id, plus one
  uint32_t event = 0;    // what its accesses are marked with; see Races.h
  uint32_t lanes = 1;
  size_t firstLane = 0; // where lane 0 of a region stands in the tile, for messages
  size_t pc = 0;
  uint64_t ticks = 0; // instructions so far, where there is a clock
  // Where instances take turns:
  bool watchesChanges = false; // plain stores count as changes, too
  Pause pause = Pause::None;
  size_t resumeAt = 0;         // the instruction after the pause
  const Inst *pausedAt = nullptr;
  uint64_t changes = 0;        // of memory, by this instance
  Look lookedAt;               // the last one

  template <class T> T *at(uint32_t slot) const { return reinterpret_cast<T *>(arena + slot); }
  double *boundsAt(uint32_t slot) const {
    return reinterpret_cast<double *>(boundArena + size_t(slot) * 8);
  }
  size_t count(const Inst &inst) const { return inst.n ? inst.n : lanes; }
};

/// Runs code from instruction `begin` until it ends or pauses.
template <bool Counts = false>
inline void execute(const Code &code, Frame &frame, size_t begin = 0) {
  size_t saved = frame.pc;
  const size_t end = code.size();
  for (frame.pc = begin; frame.pc < end;) {
    const Inst &inst = code[frame.pc++];
    inst.fn(inst, frame);
    if constexpr (Counts)
      ++frame.ticks;
  }
  frame.pc = saved;
}

} // namespace tk::interp
