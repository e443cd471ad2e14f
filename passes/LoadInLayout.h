//===- LoadInLayout.h - what a load gives, in another layout -------------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"

namespace tk {

/// Replaces a change of layout by another load that has the wanted layout, where the tile is a vector that was loaded, from
/// memory that nobody writes meanwhile, or follows from such elementwise: reading it once more is less than a way
/// through shared memory. False when it is not.
bool loadInLayout(tkg::ConvertOp op);

} // namespace tk
