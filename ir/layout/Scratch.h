//===- Scratch.h - shared memory that a conversion passes through ------------------===//
//
// Shared memory has 32 banks of 4 bytes. An access of a warp takes as many *wavefronts* as the
// busiest bank has different words to give, a wide access the same for each part of the warp that
// fills 128 bytes.
//
// A scratch is written in one layout and read in another, so its own order is free. Offset bits are,
// from the lowest: a *vector*, then the rest of the 128 bytes that lie side by side in the banks, then
// the *rows* of 128 bytes. Bank conflicts are elements of one wavefront that differ by a sum of row
// vectors. So the row vectors are chosen outside of the span of what a wavefront touches, of the
// store and of the load: neither fills the space, and over F2 two proper subspaces never cover it.
// Hence both are free of conflicts. (After "Linear Layouts", arXiv 2505.23819.)
//
// The vector is what threads of both sides have side by side; where that is less than 16 bytes, one
// of the two gets a wider one of its own, if no conflicts come of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/layout/LinearLayout.h"

namespace tk {

struct Wavefronts {
  int64_t taken = 0, least = 0; // least: without conflicts, at the same width
  Wavefronts &operator+=(const Wavefronts &other);
};

/// Of one access of a warp: where each lane's `bytes` begin; lanes without an address take no part.
Wavefronts wavefrontsOf(llvm::ArrayRef<std::optional<int64_t>> addresses, int64_t bytes);

/// The offsets that the places of `tile` have in `memory`, as a layout of rank 1. Cores and repeats
/// of the two agree.
LinearLayout offsetsIn(const LinearLayout &memory, const LinearLayout &tile);

/// Registers whose offsets follow one another, the first at a multiple of their number.
using RegisterVector = llvm::SmallVector<int32_t, 8>;
/// The accesses of a thread to what `offsets` names, each offset once, as wide as possible.
std::vector<RegisterVector> vectorAccesses(const LinearLayout &offsets, int64_t maxVector);

/// Of all accesses of the first warp: by owners alone if `isStore`.
Wavefronts wavefrontsIn(const LinearLayout &memory, const LinearLayout &tile, int64_t elementBytes, bool isStore);

/// The order of a scratch between two layouts; none unless their cores and repeats agree.
std::optional<LinearLayout> scratchLayout(const LinearLayout &src, const LinearLayout &dst, int64_t elementBytes);

} // namespace tk
