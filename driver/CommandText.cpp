//===- CommandText.cpp - the command line as a text that messages point into ----------===//

#include "driver/CommandText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;

static std::string quoteWord(StringRef word) {
  bool isPlain = !word.empty() && llvm::all_of(word, [](char c) {
    return llvm::isAlnum(c) || StringRef("-_=./,+:@%").contains(c);
  });
  if (isPlain)
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string tk::quoteCommand(llvm::ArrayRef<std::string> words) {
  return llvm::join(llvm::map_range(words, quoteWord), " ");
}

/// The words as commandText has them.
static std::vector<std::string> shownWords(llvm::ArrayRef<std::string> words) {
  std::vector<std::string> shown = words.vec();
  if (!shown.empty())
    shown.front() = llvm::sys::path::filename(shown.front()).str();
  return shown;
}

std::string tk::commandText(llvm::ArrayRef<std::string> words) {
  return quoteCommand(shownWords(words));
}

static mlir::Location placeOfColumns(mlir::MLIRContext *context, size_t begin, size_t end) {
  return mlir::FileLineColRange::get(mlir::StringAttr::get(context, kCommandLineName), 1,
                                     unsigned(begin) + 1, 1, unsigned(end) + 1);
}

mlir::Location tk::placeOfWord(mlir::MLIRContext *context, llvm::ArrayRef<std::string> words,
                               StringRef word) {
  size_t begin = 0;
  for (const std::string &candidate : shownWords(words)) {
    const size_t end = begin + quoteWord(candidate).size();
    StringRef option = candidate;
    if (option == word)
      return placeOfColumns(context, begin, end);
    if (option.consume_back(word) && option.starts_with("-") && option.ends_with("="))
      return placeOfColumns(context, begin, end);
    begin = end + 1;
  }
  return mlir::UnknownLoc::get(context);
}

mlir::Location tk::placeBehindWords(mlir::MLIRContext *context, llvm::ArrayRef<std::string> words) {
  if (words.empty())
    return mlir::UnknownLoc::get(context);
  const size_t end = commandText(words).size() + 1;
  return placeOfColumns(context, end, end);
}
