//===- Header.h - the typed C++ header of a bundle ----------------------------------------===//
#pragma once

#include "bundle/Bundle.h"

namespace tk {

/// C++17 on <tkc/runtime.hpp>: the embedded bytes at `symbol`, and in namespace `space` a struct
/// for each kernel and instance.
std::string writeHeader(const Bundle &bundle, llvm::StringRef space, llvm::StringRef symbol);

} // namespace tk
