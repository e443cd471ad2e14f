//===- SourceFile.cpp - lines and locations of one file ----------------------===//

#include "frontend/SourceFile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <algorithm>

using namespace tk;

SourceFile::SourceFile(std::string path, std::string text, uint32_t base)
    : path(std::move(path)), text(std::move(text)), base(base) {
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
  offset = uint32_t(std::min<size_t>(offset - base, text.size()));
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

const SourceFile *SourceMap::add(std::string path, std::string text) {
  // One byte between two files: a place at the end of one is no place of the next.
  uint64_t base = 0;
  if (!files.empty())
    base = uint64_t(files.back()->getBase()) + files.back()->getText().size() + 1;
  if (base + text.size() >= UINT32_MAX)
    return nullptr;
  owned.push_back(std::make_unique<SourceFile>(std::move(path), std::move(text), uint32_t(base)));
  files.push_back(owned.back().get());
  return files.back();
}

const SourceFile &SourceMap::fileAt(uint32_t offset) const {
  auto after = std::upper_bound(
      files.begin(), files.end(), offset,
      [](uint32_t place, const SourceFile *file) { return place < file->getBase(); });
  return after == files.begin() ? *files.front() : **std::prev(after);
}
