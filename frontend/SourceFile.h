//===- SourceFile.h - the text of one .tk file and places in it -------------===//
//
// Places are byte offsets; a SourceRange is [begin, end). Lines and columns count from 1, columns
// in bytes, as MLIR's FileLineColRange has them; the end column is one past the last byte.
// The syntax tree points into the text: a SourceFile outlives the trees parsed from it.
//
// A program of several files lays them end to end: the offsets of each begin at its base, so that
// a range names a place in any of them. A SourceMap finds the file again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tk {

/// Bytes [begin, end) of a SourceFile, counted from the first byte of the program's first file.
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

  SourceFile(std::string path, std::string text, uint32_t base = 0);
  // Trees and locations point into the text.
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  llvm::StringRef getPath() const { return path; }
  llvm::StringRef getText() const { return text; }
  llvm::StringRef getText(SourceRange range) const {
    return llvm::StringRef(text).slice(range.begin - base, range.end - base);
  }
  /// The offset of the first byte.
  uint32_t getBase() const { return base; }

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
  uint32_t base;
  std::vector<uint32_t> lineStarts; // in `text`; only for the first kMaxBytes
};

/// The files of a program, by place.
class SourceMap {
public:
  /// A file that others own; its base is 0 or behind all others.
  void add(const SourceFile &file) { files.push_back(&file); }
  /// Lays a file behind the others; null when 32 bits do not reach that far.
  const SourceFile *add(std::string path, std::string text);

  const SourceFile &fileAt(uint32_t offset) const;
  llvm::StringRef getText(SourceRange range) const { return fileAt(range.begin).getText(range); }
  mlir::Location getLocation(mlir::MLIRContext &context, SourceRange range) const {
    return fileAt(range.begin).getLocation(context, range);
  }

private:
  std::vector<const SourceFile *> files; // by base
  std::vector<std::unique_ptr<SourceFile>> owned;
};

} // namespace tk
