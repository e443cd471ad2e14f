//===- Driver.h - the program `tkc` as a call ----------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tk {

/// Everything but --version; gives the exit status.
int runTkc(llvm::ArrayRef<const char *> args);

} // namespace tk
