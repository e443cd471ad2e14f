//===- Targets.h - the table of chips ----------------------------------------===//
//
// Every name the command line takes stands here, also the ones that are not built yet, so that
// these get an answer of their own. `tkc targets` prints the table.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tk {

/// What is compiled for when nobody says.
constexpr llvm::StringLiteral kDefaultTarget = "sm_90a";

/// All known chips, in the order in which they are shown.
llvm::ArrayRef<Target> allTargets();

/// Null when there is no such name; the result may be one that is not supported yet.
const Target *findTarget(llvm::StringRef name);

/// The known name most like `name`, or empty when none is near.
llvm::StringRef nearestTarget(llvm::StringRef name);

/// "sm_80, sm_86, ...": the names that can be compiled for.
std::string supportedTargetNames();

/// The table for people.
void printTargets(llvm::raw_ostream &os);

} // namespace tk
