//===- LineDiff.h - two texts compared by lines ------------------------------------------===//
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace tk {

/// Prints what turns `before` into `after`, in the unified form that `patch` reads.
void printDiff(llvm::StringRef path, llvm::StringRef before, llvm::StringRef after,
               llvm::raw_ostream &os);

} // namespace tk
