//===- BundleCommands.h - bundles: compiling them, and what is done with them --------------===//
#pragma once

#include "driver/Options.h"

namespace tk {

/// tkc FILE -o k.tkb and its kin.
int runBundle(const CompileOptions &options);

/// tkc link, size, notices, extract.
int runBundleCommand(const CompileOptions &options, const BundleCommand &command);

} // namespace tk
