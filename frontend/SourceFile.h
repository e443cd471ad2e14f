//===- SourceFile.h - the text of one .tk file and places in it -------------===//
//
// Places are byte offsets; a SourceRange is [begin, end). Lines and columns count from 1, columns
// in bytes, as MLIR's FileLineColRange has them; the end column is one past the last byte.
// The syntax tree points into the text: a SourceFile outlives the trees parsed from it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tk {

/// Bytes [begin, end) of a SourceFile.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool operator==(const SourceRange &) const = default;
};

/// The smallest range that holds both.
inline SourceRange join(SourceRange a, SourceRange b) {
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

/// Both from 1; the column counts bytes.
struct LineColumn {
  unsigned line = 1;
  unsigned column = 1;
};

/// Owns the path (as messages show it) and the text of one file.
class SourceFile {
public:
  /// The longest text parseFile takes; offsets would allow 4 GiB.
  static constexpr size_t kMaxBytes = size_t(16) << 20;

  SourceFile(std::string path, std::string text);
  // Trees and locations point into the text.
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  llvm::StringRef getPath() const { return path; }
  llvm::StringRef getText() const { return text; }
  llvm::StringRef getText(SourceRange range) const {
    return llvm::StringRef(text).slice(range.begin, range.end);
  }

  unsigned getNumLines() const { return unsigned(lineStarts.size()); }
  /// The text of a line (from 1) without its line break; empty when there is no such line.
  llvm::StringRef getLine(unsigned line) const;
  /// Offsets past the end give the end.
  LineColumn getLineColumn(uint32_t offset) const;

  /// A FileLineColRange of this path.
  mlir::Location getLocation(mlir::MLIRContext &context, SourceRange range) const;

private:
  std::string path;
  std::string text;
  std::vector<uint32_t> lineStarts; // only for the first kMaxBytes
};

} // namespace tk
