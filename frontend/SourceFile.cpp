//===- SourceFile.cpp - lines and locations of one file ----------------------===//

#include "frontend/SourceFile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <algorithm>

using namespace tk;

SourceFile::SourceFile(std::string path, std::string text)
    : path(std::move(path)), text(std::move(text)) {
  lineStarts.push_back(0);
  // A longer file is refused before anybody asks for its lines.
  size_t end = std::min(this->text.size(), kMaxBytes);
  for (size_t i = 0; i < end; ++i)
    if (this->text[i] == '\n')
      lineStarts.push_back(uint32_t(i + 1));
}

llvm::StringRef SourceFile::getLine(unsigned line) const {
  if (line == 0 || line > lineStarts.size())
    return {};
  llvm::StringRef rest = llvm::StringRef(text).substr(lineStarts[line - 1]);
  llvm::StringRef found = rest.take_until([](char c) { return c == '\n'; });
  found.consume_back("\r");
  return found;
}

LineColumn SourceFile::getLineColumn(uint32_t offset) const {
  offset = uint32_t(std::min<size_t>(offset, text.size()));
  auto after = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  size_t line = size_t(after - lineStarts.begin());
  return {unsigned(line), offset - lineStarts[line - 1] + 1};
}

mlir::Location SourceFile::getLocation(mlir::MLIRContext &context, SourceRange range) const {
  LineColumn begin = getLineColumn(range.begin);
  LineColumn end = getLineColumn(range.end);
  return mlir::FileLineColRange::get(mlir::StringAttr::get(&context, path), begin.line,
                                     begin.column, end.line, end.column);
}
