//===- Foreign.h - how other languages spell it ---------------------------------===//
//
// What somebody writes who comes from Triton, Python, CUDA or C, and how it is written here. Tables,
// searched by the parser for words and by the lowering for names, members and arguments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tk {

struct Foreign {
  llvm::StringRef name;
  llvm::StringRef spelling; // what to write for it; "" when there is no word for a word
  llvm::StringRef advice;   // "" when the spelling says all
};

/// A name of a function, type or value; "blockIdx.x" and the like as one. All are null when there
/// is none.
const Foreign *foreignName(llvm::StringRef name);
/// A member of a tile or tensor.
const Foreign *foreignMember(llvm::StringRef name);
/// A name before the dot of others: `tl.`.
bool isForeignPrefix(llvm::StringRef name);
/// A named argument.
const Foreign *foreignArgument(llvm::StringRef name);
/// A word that stands where the grammar has none.
const Foreign *foreignWord(llvm::StringRef word);
/// A word behind which the grammar goes on otherwise: `int x`, `lambda x`.
const Foreign *foreignLead(llvm::StringRef word);
/// A word that begins no declaration.
const Foreign *foreignDeclaration(llvm::StringRef word);

/// What to write for it, for a message.
std::string adviceOf(const Foreign &foreign);

} // namespace tk
