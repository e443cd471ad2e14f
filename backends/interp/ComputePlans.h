//===- ComputePlans.h - what instructions on whole tiles need to know --------------===//
//
// An instruction has room for four places and two numbers; the plan that its `aux` names has the
// rest. Places are byte offsets in the arena, strides and offsets count elements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include <vector>

namespace tk::interp {

/// A copy between tiles as nested loops: element (i, j, ...) goes from
/// `fromOffset + i * fromStrides[0] + j * fromStrides[1] + ...` to the like with `to`.
struct MovePlan {
  unsigned elementBytes = 0;
  std::vector<uint32_t> sides;
  std::vector<int64_t> fromStrides, toStrides;
  int64_t fromOffset = 0, toOffset = 0;
  // A layer at an index known at run time (tk.pick and tk.put):
  int64_t layers = 0;    // side of the axis, 0: no such index
  int64_t layerStride = 0;
  uint32_t axis = 0;     // for messages
  bool reports = true;   // an index outside is a finding
};

/// A tile seen as (outer, side, inner) around one of its axes.
struct AxisView {
  uint32_t outer = 1, side = 1, inner = 1;
};

/// A tk.gather along one axis.
struct GatherPlan {
  AxisView from;
  uint32_t picked = 1; // side of the result
  unsigned elementBytes = 0;
  DType index = DType::i32;
  uint32_t axis = 0;
  bool reports = true;
};

/// A tk.bitcast between widths: `ratio` narrow elements along the side of `wide` are one wide one.
struct BitcastPlan {
  AxisView wide;
  uint32_t ratio = 1;
  unsigned narrowBits = 8, wideBytes = 1;
};

/// A region that runs for one element of its tiles after the other (tk.map with control flow).
struct MapPlan {
  struct Value {
    uint32_t tile = 0, scalar = 0;
    unsigned elementBytes = 0;
    bool hasBounds = false;
  };
  std::vector<Value> operands, results;
  uint32_t elements = 1;
  uint32_t body = 0; // index into Program::bodies
};

struct SortPlan {
  AxisView from;
  uint32_t taken = 1; // side of the results
  DType dtype = DType::f32;
  bool isDescending = false, isUnsigned = false;
  uint32_t value = 0, sorted = 0, indices = 0;
  uint32_t scratch = 0; // 16 bytes an element of a line
};

struct HistogramPlan {
  uint32_t value = 0, counts = 0, mask = 0;
  bool hasMask = false, isUnsigned = false;
  DType dtype = DType::i32;
  uint32_t elements = 1, bins = 1;
};

/// How the f32 operands of a product are prepared, in the order of tk::DotInput.
enum class DotInputRule : uint8_t { Exact, Tf32, Tf32x3, Bf16x3, Bf16x6 };

/// A tk.dot or tk.dot_scaled: `batches` products of [m, k] by [k, n].
struct DotPlan {
  struct Operand {
    uint32_t slot = 0;
    DType dtype = DType::f32;
    std::vector<double> numbers; // what the bytes of a type of one byte mean
    // Scales, one for each `block` elements along k; block 0: none.
    uint32_t scale = 0;
    uint32_t block = 0;
    DType scaleType = DType::e8m0;
    std::vector<double> scaleNumbers;
  };
  Operand a, b;
  uint32_t acc = 0, result = 0;
  DType accType = DType::f32;
  uint32_t batches = 1, m = 1, n = 1, k = 1;
  DotInputRule input = DotInputRule::Exact;
  int64_t promote = 128;
  uint32_t scratch = 0; // see dotScratchBytes
};

struct ComputePlans {
  std::vector<MovePlan> moves;
  std::vector<GatherPlan> gathers;
  std::vector<BitcastPlan> bitcasts;
  std::vector<MapPlan> maps;
  std::vector<SortPlan> sorts;
  std::vector<HistogramPlan> histograms;
  std::vector<DotPlan> dots;
};

} // namespace tk::interp
