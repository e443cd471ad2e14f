//===- Explain.h - `tkc explain`: the page of a message --------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tk {

/// A page of docs/errors, as it is built into the compiler: "TK2011.md" and its text.
struct MessagePage {
  llvm::StringRef name;
  llvm::StringRef text;
};

/// Sorted by name; one for each entry of Diagnostics.def.
llvm::ArrayRef<MessagePage> messagePages();

/// Prints the page of a code (TK2011, 2011) or a name (shape-mismatch); gives the exit status.
int runExplain(llvm::StringRef word);

} // namespace tk
