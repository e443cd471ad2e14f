//===- RunAdvice.h - what one could write for an argument of tkc run -------------------===//
#pragma once

#include "driver/RunArgs.h"

namespace tk {

/// As the source calls it, without the values of its compile-time parameters.
llvm::StringRef nameOfKernel(KernelOp kernel);

/// `names` and a guess for each extent of the kernel that has no value there.
interp::Names guessExtents(KernelOp kernel, interp::Names names);

/// A word for parameter `index`: "x=randn:64x32", "n=64". The extents are those that `names` gives,
/// and are left out where `known` has them already.
std::string exampleWord(KernelOp kernel, unsigned index, const interp::Names &names,
                        const interp::Names &known);

/// ":64x32"; empty for a tensor of rank 0. `entry` is null for an array behind a pointer.
std::string exampleExtents(mlir::DictionaryAttr entry, const interp::Names &names);

/// `word` with another type or other extents; empty where it has none of its own.
std::string withDType(const ArgWord &word, llvm::StringRef dtype);
std::string withExtents(const ArgWord &word, llvm::ArrayRef<int64_t> extents);

/// The one of `names` that may have been meant; a single letter is near to any other.
llvm::StringRef nearName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// "the argument `x`", "the arguments `x`, `y` and `z`"
std::string listArguments(llvm::ArrayRef<std::string> names);

} // namespace tk
