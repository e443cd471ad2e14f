//===- CommandText.h - the command line as a text that messages point into ------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace tk {

/// What locations call the command line.
inline constexpr llvm::StringLiteral kCommandLineName = "<command line>";

/// The words as one can paste them into a shell.
std::string quoteCommand(llvm::ArrayRef<std::string> words);

/// The one line that messages show: as quoteCommand, the program by its bare name.
std::string commandText(llvm::ArrayRef<std::string> words);

/// Where `word` stands in commandText, also as the value of `--option=word`; unknown when it is not
/// there.
mlir::Location placeOfWord(mlir::MLIRContext *context, llvm::ArrayRef<std::string> words,
                           llvm::StringRef word);

/// Behind the last word: where one more belongs.
mlir::Location placeBehindWords(mlir::MLIRContext *context, llvm::ArrayRef<std::string> words);

} // namespace tk
