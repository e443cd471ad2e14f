//===- Launch.h - the block that a kernel is launched with -------------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

inline constexpr int64_t kDefaultWarps = 4;

/// A launch option that the kernel or the command line fixed.
inline std::optional<int64_t> launchOption(KernelOp kernel, llvm::StringRef name) {
  auto options = kernel.getContract().getFields().getAs<mlir::DictionaryAttr>("options");
  auto given = options ? options.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return given ? std::optional(given.getInt()) : std::nullopt;
}

inline int64_t warpsOf(KernelOp kernel) { return launchOption(kernel, "warps").value_or(kDefaultWarps); }

/// Registers that a thread may have: of the target's most, of its share of the block's, and of what the kernel asks for, the
/// fewest.
inline int64_t registersOfThread(KernelOp kernel, int64_t warpSize, int64_t mostOfThread, int64_t mostOfBlock) {
  int64_t most = std::min(mostOfThread, mostOfBlock / (warpSize * warpsOf(kernel)));
  return std::min(most, launchOption(kernel, "maxregs").value_or(most));
}

} // namespace tk
