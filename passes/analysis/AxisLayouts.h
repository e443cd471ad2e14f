//===- AxisLayouts.h - layouts of what meets along an axis ---------------------===//
//
// Reductions and scans combine registers, then lanes, then warps of one axis. These are the layouts
// of the values in between.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/layout/LinearLayout.h"

namespace tk {

/// What is left after combining registers and lanes: one value a warp along `axis`. Warps that have
/// nothing but padding there are the highest; they get no place in the result.
LinearLayout partialLayout(const LinearLayout &layout, unsigned axis);

/// The layout in which every thread gets all partials of the elements that `result` gives it. Up to
/// eight a thread reads itself; more are dealt to lanes that hold duplicates.
LinearLayout gatherLayout(const LinearLayout &result, unsigned axis, int64_t count);

/// True when going up the axis means registers first, then lanes, then warps, each in order.
bool isNaturalOrder(const LinearLayout &layout, unsigned axis);

/// The same tile with `axis` in natural order: as many lanes and warps along it as before.
LinearLayout naturalLayout(const LinearLayout &layout, unsigned axis);

} // namespace tk
