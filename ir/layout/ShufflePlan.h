//===- ShufflePlan.h - a conversion within warps, step by step ------------------===//
//
// When every warp already has all that it needs, a conversion takes no memory: in each of some
// *rounds* every lane sends one word and gets one (`shfl.sync` with an index). In a round all lanes
// name the same value, so a lane that must send register 3 while its neighbour sends register 5
// *selects* first, and a lane that is to keep what it got in another register than its neighbour
// selects afterwards.
//
// Which elements travel together in a round? Let A and B be the spans of the register bases before
// and after. A set of elements closed under XOR, W, can be sent at once if no two of its elements
// lie in one lane, neither before nor after: if W meets A and B in zero only. The rounds are then
// the sets r + W. Over F2 two proper subspaces never cover a space, so W can be extended until it
// completes the larger of A and B to the whole: as many rounds as a thread has registers, fewer
// being impossible. Vectors of W that stay in their lane come first, so that a round in which
// nothing moves needs no shuffle. (After "Linear Layouts", arXiv 2505.23819, which builds W from
// common lane vectors and sums of the others.)
//
//   src: register=[[1]], lane=[[2]]    lane 0 has 0 1, lane 1 has 2 3
//   dst: register=[[2]], lane=[[1]]    lane 0 wants 0 2, lane 1 wants 1 3
//   W = {0, 3}: round 0 moves nothing; in round 1, {1, 2}, lane 0 sends register 1, lane 1 register 0.
//
// Neighbours that stay together travel packed in one word.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/layout/LinearLayout.h"

namespace tk {

/// A condition on the thread: whether an odd number of the masked bits of its lane and warp is set.
struct ThreadParity {
  int32_t lanes = 0, warps = 0;

  bool isConstant() const { return lanes == 0 && warps == 0; }
  bool operator()(int32_t lane, int32_t warp) const;
  friend auto operator<=>(const ThreadParity &, const ThreadParity &) = default;
};

/// A step makes one word of each thread from words made before it.
struct ShuffleStep {
  enum Kind : uint8_t { Select, Shuffle } kind;
  unsigned value;       // Shuffle: the word that lanes send. Select: where `when` is even
  unsigned other = 0;   // Select: where `when` is odd
  ThreadParity when;    // Select
  int32_t laneFlip = 0; // Shuffle: the word comes from lane sourceLane ^ laneFlip
};

class ShufflePlan {
public:
  /// True if each warp has all it needs and both sides have the same cores and repeats.
  static bool exists(const LayoutConversion &conversion);
  /// None where none exists. At most `maxPerWord` elements, a power of two, travel in a word.
  static std::optional<ShufflePlan> create(const LayoutConversion &conversion, int32_t maxPerWord);

  int32_t perWord() const { return int32_t(1) << partBits; }
  /// The words at the start: for each the registers of its elements. All in one core; the plan
  /// serves each repeat alike.
  llvm::ArrayRef<llvm::SmallVector<int32_t, 4>> inputs() const { return inputWords; }
  /// Words are numbered: inputs first, then those that the steps make.
  llvm::ArrayRef<ShuffleStep> steps() const { return stepList; }
  /// For each core register of the result the word and the element of it.
  struct Output {
    unsigned word, part;
  };
  llvm::ArrayRef<Output> outputs() const { return outputList; }

  /// The bits of the lane from which a lane gets its words, before any flip; none: its own number.
  llvm::ArrayRef<ThreadParity> sourceLane() const { return laneBits; }

  unsigned numShuffles() const { return shuffles; }
  unsigned numSelects() const { return unsigned(stepList.size()) - shuffles; }

private:
  friend class ShufflePlanner;

  unsigned partBits = 0, shuffles = 0;
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>> inputWords;
  llvm::SmallVector<ShuffleStep> stepList;
  llvm::SmallVector<Output> outputList;
  llvm::SmallVector<ThreadParity> laneBits;
};

} // namespace tk
