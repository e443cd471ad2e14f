//===- ParserImpl.h - the recursive-descent parser ---------------------------===//
//
// Private to Parser*.cpp. A production is a member function that returns null (or false) after it
// reported an error; callers pass the failure up to the place that recovers: the next statement
// (recoverInBlock), the `{` of a broken header (skipToBlock) or the next declaration
// (recoverInFile).
//
// Line breaks: kind() gives Tok::End in place of the current token where a line break ends a
// statement, i.e. after a token that can end one, unless `else` follows, and outside of brackets
// and headers (newlineBlank).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tk {

class Parser {
public:
  Parser(mlir::MLIRContext &context, const SourceFile &source, ast::File &file);

  void parseDeclarations();
  ast::Expr *parseWholeExpression();
  bool hadErrors() const { return errors.getCount() != 0; }

private:
  /// Sets a member for the time of a scope.
  template <class T> class Restore {
  public:
    Restore(T &slot, T value) : slot(slot), saved(slot) { slot = value; }
    ~Restore() { slot = saved; }
    Restore(const Restore &) = delete;

  private:
    T &slot;
    T saved;
  };
  using NewlineScope = Restore<bool>;

  /// One level of nesting; false when that was one too many (reported, and reading stops).
  class Nested {
  public:
    explicit Nested(Parser &parser, unsigned levels = 1);
    ~Nested() { parser.depth -= levels; }
    Nested(const Nested &) = delete;
    explicit operator bool() const { return ok; }

  private:
    Parser &parser;
    unsigned levels;
    bool ok;
  };

  /// Which brackets were open, to skip to their end after an error.
  struct OpenBrackets {
    unsigned round = 0; // ( and [
    unsigned curly = 0; // records and the branches of if expressions
  };

  struct Arguments {
    llvm::SmallVector<ast::Expr *> args;
    llvm::SmallVector<ast::NamedArg> namedArgs;
  };

  // Tokens (Parser.cpp)
  Tok kind() const;
  bool is(Tok wanted) const { return kind() == wanted; }
  const Token &ahead();
  SourceRange here() const { return current.range; }
  uint32_t begin() const { return current.range.begin; }
  SourceRange from(uint32_t begin) const { return {begin, previousEnd}; }
  llvm::StringRef text() const { return source.getText(current.range); }
  void advance();
  bool accept(Tok wanted);
  bool atDeclaration();
  bool atWord(llvm::StringRef word) const { return is(Tok::Name) && text() == word; }
  bool isFirstOnLine() const { return current.newlineBefore; }
  unsigned indentOfLine(uint32_t offset) const;

  // Reports and recovery (Parser.cpp)
  template <const DiagSpec &Spec, class... Args>
  SyntaxReport report(SourceRange range, Args &&...args) {
    openAtError = open;
    return errors.report<Spec>(range, std::forward<Args>(args)...);
  }
  std::string found() const;
  llvm::StringRef previousText() const { return source.getText({previousBegin, previousEnd}); }
  void adviseWord(SyntaxReport &failure);
  SourceRange placeOfFault() const;
  SyntaxReport expected(llvm::StringRef what);
  bool expect(Tok wanted, llvm::StringRef what);
  bool expectClose(Tok close, SourceRange opening, llvm::StringRef advice = "");
  bool skipSlashComment();
  OpenBrackets openSince(OpenBrackets outer) const;
  void skipOne(OpenBrackets &inside);
  void recoverInBlock(OpenBrackets outer);
  bool skipToBlock(OpenBrackets outer);
  void recoverInFile();
  void recoverInParams(OpenBrackets outer);

  // Shared pieces (ParserExpr.cpp)
  bool parseName(ast::Ident &name, llvm::StringRef what);
  bool parseArguments(Tok close, SourceRange opening, Arguments &out);
  bool parseArgument(Arguments &out);
  bool parseFnParams(llvm::SmallVectorImpl<ast::FnParam> &params);
  bool parseFnParam(llvm::SmallVectorImpl<ast::FnParam> &params);

  // Expressions (ParserExpr.cpp, ParserPrimary.cpp)
  ast::Expr *parseExpr();
  ast::Expr *parseIfExpr();
  bool parseIfExprBranch(ast::Expr *&value);
  ast::Expr *parseFnExpr();
  ast::Expr *parseOr();
  ast::Expr *parseLogical(ast::LogicalOp op);
  ast::Expr *parseComparison();
  ast::Expr *parseBinary(unsigned minPrecedence);
  ast::Expr *makeBinary(ast::Expr *lhs, Token op, ast::BinaryOp binaryOp, ast::Expr *rhs,
                        uint32_t begin);
  ast::Expr *parseUnary();
  ast::Expr *parsePostfix();
  ast::Expr *parseCall(ast::Expr *callee, uint32_t begin);
  ast::Expr *parseSubscript(ast::Expr *base, uint32_t begin);
  bool parseIndex(ast::Index &index);
  bool parseSlice(ast::Index &index);
  ast::Expr *parseMember(ast::Expr *base, uint32_t begin);
  ast::Expr *parsePrimary();
  ast::Expr *parseInt();
  ast::Expr *parseFloat();
  ast::Expr *parseParenthesised();
  ast::Expr *parseList();
  ast::Expr *parseRecord();
  ast::Expr *failPrimary();
  ast::StringLit *parseString();
  template <class T> T *finish(T *expr, llvm::ArrayRef<ast::Expr *> children);
  ast::Expr *checkHeight(ast::Expr *expr, unsigned childHeight);

  // Types (ParserType.cpp)
  ast::Type *parseType();
  ast::Type *parsePlainType();
  ast::Type *parseBracketType(ast::Ident name);
  ast::Type *parseTupleType();
  bool parseStrides(llvm::SmallVectorImpl<ast::Stride> &strides);

  // Statements (ParserStmt.cpp)
  enum class BlockStart { None, Brace, Colon };
  BlockStart openBlock(uint32_t anchor, SourceRange &opening);
  bool closeBlock(uint32_t anchor, SourceRange opening);
  ast::Block *parseBlock(uint32_t anchor);
  ast::Stmt *parseStatement();
  ast::Stmt *failStatement();
  bool endStatement();
  ast::Stmt *parseSimple();
  ast::Stmt *parseLet();
  ast::Stmt *parseReturn();
  ast::Stmt *parseAssign(ast::Expr *target, uint32_t begin);
  ast::Stmt *parseCallOrAssign();
  ast::Stmt *parseIf();
  ast::Stmt *parseFor(llvm::ArrayRef<ast::Attribute> attributes, uint32_t begin);
  ast::Stmt *parseWhile(llvm::ArrayRef<ast::Attribute> attributes, uint32_t begin);
  ast::Stmt *parseAttributed();
  bool parsePattern(ast::Pattern &pattern, llvm::StringRef advice = "");
  bool acceptElif();

  // Declarations (ParserDecl.cpp)
  ast::Decl *parseDeclaration();
  ast::Decl *parseKernel();
  bool parseKernelHeader(ast::Kernel &kernel);
  bool parseKernelParams(ast::Kernel &kernel);
  bool parseKernelParam(llvm::SmallVectorImpl<ast::KernelParam> &params);
  ast::Access parseAccess();
  bool parseCParams(llvm::ArrayRef<ast::CParam> &params);
  bool parseCParam(ast::CParam &param);
  ast::Function *parseFunction();
  bool parseFunctionHeader(ast::Function &function);
  ast::Decl *parseStruct();
  bool parseStructMember(llvm::SmallVectorImpl<ast::StructField> &fields,
                         llvm::SmallVectorImpl<ast::Function *> &methods);
  ast::Decl *endShortDecl(ast::Decl *decl, bool ok);
  ast::Decl *parseConst();
  ast::Decl *parseImport();
  bool parseAttribute(ast::Attribute &attribute);
  bool parseAttributes(llvm::SmallVectorImpl<ast::Attribute> &attributes);

  const SourceFile &source;
  ast::File &file;
  SyntaxErrors errors;
  Lexer lexer;

  Token current;
  std::optional<Token> next; // lexed only when asked for: see skipSlashComment
  Tok previousKind = Tok::Eof;
  uint32_t previousBegin;
  uint32_t previousEnd;
  bool newlineBlank = false;
  bool endTaken = false; // the End before `current` was consumed

  unsigned depth = 0;
  unsigned colonBlocks = 0; // around here: blocks that begin with `:`, which is an error
  unsigned tallest = 0; // the greatest height of an expression since the last closure began
  OpenBrackets open;
  OpenBrackets openAtError;
  std::optional<uint32_t> lastSlashSlash; // for the help about `// text` behind a statement
  /// A block that was closed by a `}` of less indentation than its first line: probably the one
  /// that lacks its own.
  std::optional<SourceRange> suspectBrace;
};

/// Gives a new node its height. Null when it grows too tall (reported).
template <class T> T *Parser::finish(T *expr, llvm::ArrayRef<ast::Expr *> children) {
  unsigned childHeight = 0;
  for (const ast::Expr *child : children)
    childHeight = std::max<unsigned>(childHeight, child->height);
  return checkHeight(expr, childHeight) ? expr : nullptr;
}

/// What messages call the form of an expression ("a name", "a comparison", ...).
llvm::StringRef describe(const ast::Expr &expr);

} // namespace tk
