//===- FormatTokens.h - the tokens of a file, with what the formatter asks of them -----===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace tk::format {

/// `# text`, without the blanks behind it.
struct Comment {
  llvm::StringRef text;
  unsigned column;  // in the source, from 1
  bool blankBefore; // a blank line stands before it
};

/// A token. What is named after a kind of bracket is said of the opening one.
struct FormatToken {
  Tok kind = Tok::Eof;
  llvm::StringRef text;

  // As the author wrote it.
  bool newline = false;     // it begins a line
  bool blankBefore = false; // a blank line stands right before it
  bool hasTrailing = false; // a comment follows it on its line
  unsigned firstComment = 0, numComments = 0; // the comments on lines of their own before it
  unsigned trailing = 0;

  // What it is for.
  bool prefix : 1 = false;    // nothing stands between it and its operand
  bool tight : 1 = false;     // `(` and `[` behind what they apply to; `=` of a named argument
  bool subscript : 1 = false; // `[` whose `:` are slices
  bool record : 1 = false;    // `{` of a record
  bool records : 1 = false;   // `[` of a list of several records
  bool params : 1 = false;    // `(` of the parameters of a declaration
  bool block : 1 = false;     // `{` of statements or members
  bool multiLine : 1 = false; // such a block, which the author wrote on several lines
  bool needed : 1 = false;    // `,` without which a tuple were none
  bool late : 1 = false;      // part of what is assigned to, where lines are broken last

  unsigned match = kNone;  // of a bracket: the other one
  unsigned opener = kNone; // the innermost bracket around it; a bracket is not around itself
  unsigned rank = kNone;   // how much a line break before it disturbs; kNone: never there

  static constexpr unsigned kNone = ~0u;
};

/// All tokens of an error-free file; the last one is Eof.
class FormatTokens {
public:
  FormatTokens(mlir::MLIRContext &context, const ast::File &file);

  const FormatToken &operator[](unsigned index) const { return tokens[index]; }
  FormatToken &operator[](unsigned index) { return tokens[index]; }
  unsigned size() const { return unsigned(tokens.size()); }
  llvm::ArrayRef<Comment> commentsBefore(unsigned index) const {
    return llvm::ArrayRef(comments).slice(tokens[index].firstComment, tokens[index].numComments);
  }
  const Comment &trailing(unsigned index) const { return comments[tokens[index].trailing]; }
  llvm::ArrayRef<Comment> getComments() const { return comments; }

  /// The token that begins, or ends, at a place.
  unsigned at(uint32_t offset) const;
  unsigned endingAt(uint32_t offset) const;
  unsigned first(const ast::Node &node) const { return at(node.range.begin); }
  unsigned last(const ast::Node &node) const { return endingAt(node.range.end); }

  /// True when a blank stands before a token on the line of the one before it.
  bool hasSpace(unsigned index) const;
  /// The statements of a block, by its `{`.
  const ast::Block *blockAt(unsigned index) const { return blocks.lookup(index); }
  void setBlock(unsigned index, const ast::Block &block) { blocks[index] = &block; }

private:
  void readTokens(mlir::MLIRContext &context, const SourceFile &source);
  void readGap(llvm::StringRef gap, uint32_t offset, const SourceFile &source);
  void matchBrackets();
  void rankBreaks();
  unsigned rankOf(unsigned index, unsigned depth) const;

  std::vector<FormatToken> tokens;
  std::vector<uint32_t> begins; // where tokens begin, for at()
  std::vector<Comment> comments;
  llvm::DenseMap<unsigned, const ast::Block *> blocks;
};

bool isOpening(Tok kind);
bool isClosing(Tok kind);

} // namespace tk::format
