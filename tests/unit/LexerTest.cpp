//===- LexerTest.cpp - tokens, their places and their faults -----------------===//

#include "frontend/Lexer.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <catch2/catch.hpp>

using namespace tk;

namespace {
/// All tokens of a text but Eof, and the codes reported.
struct Lexed {
  std::vector<Token> tokens;
  std::vector<int> codes;
  std::string kinds; // spellings of punctuation and keywords, N I F S for the rest; `|` line breaks
};
} // namespace

static std::string shown(Tok kind) {
  switch (kind) {
  case Tok::Name:
    return "N";
  case Tok::Int:
    return "I";
  case Tok::Float:
    return "F";
  case Tok::String:
    return "S";
  default:
    return spelling(kind).str();
  }
}

static Lexed lex(std::string text) {
  Lexed result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diag) {
    result.codes.push_back(diagnosticCode(diag.str()));
    return mlir::success();
  });
  SourceFile source("test.tk", std::move(text));
  SyntaxErrors errors(context, source);
  Lexer lexer(source, errors);
  for (Token token = lexer.next(); token.kind != Tok::Eof; token = lexer.next()) {
    if (!result.tokens.empty())
      result.kinds += token.newlineBefore ? " | " : " ";
    result.kinds += shown(token.kind);
    result.tokens.push_back(token);
  }
  return result;
}

TEST_CASE("the longest operator wins", "[lexer]") {
  CHECK(lex("a//=b //c").kinds == "N //= N // N");
  CHECK(lex("<<= << <= < >>= >> >= >").kinds == "<<= << <= < >>= >> >= >");
  CHECK(lex("i+:4 +1 += ->- >").kinds == "N +: I + I += -> - >");
  CHECK(lex("a&&b&c||d|e!=!f==g=h").kinds == "N && N & N || N | N != ! N == N = N");
  CHECK(lex("**T; ::2").kinds == "* * N ; : : I");
}

TEST_CASE("keywords are words of their own", "[lexer]") {
  CHECK(lex("for fort format _for").kinds == "for N N N");
  CHECK(lex("true false None inf in out inout scratch").kinds == "true false N N N N N N");
}

TEST_CASE("numbers", "[lexer]") {
  CHECK(lex("0 42 1_000 0xFf_00 0b1010 0o17").kinds == "I I I I I I");
  CHECK(lex("1.5 0.5 1e5 1E+5 2.5e-3 1_0.2_5").kinds == "F F F F F F");
  CHECK(lex("1-2 1e-x").kinds == "I - I I - N");
  CHECK(lex("x.0.1 x .0 .to").kinds == "N . I . I N . I . N");
  CHECK(lex("1.to(f32)").kinds == "I . N ( N )");
  CHECK(lex("1.0.x").kinds == "F . N");
}

TEST_CASE("a malformed number is one token and one error", "[lexer]") {
  const char *text = GENERATE("1.", "0x", "0b2", "0o8", "1__0", "1_", "007", "10u", "1.5f", "1e5e5",
                              "0xg", "x.01", "x.256", "x.1_0", "x.99999999999999999999");
  Lexed lexed = lex(std::string(text) + " + y");
  CHECK(lexed.codes == std::vector<int>{diag::BadNumber.code});
  CHECK(llvm::StringRef(lexed.kinds).ends_with("I + N") |
        llvm::StringRef(lexed.kinds).ends_with("F + N"));
}

TEST_CASE("a number has a bound on its length", "[lexer]") {
  CHECK(lex(std::string(256, '1')).codes.empty());
  CHECK(lex(std::string(257, '1')).codes == std::vector<int>{diag::BadNumber.code});
}

TEST_CASE("strings", "[lexer]") {
  CHECK(lex("\"\" \"a # b\" \"\\\"\" \"\\\\\"").kinds == "S S S S");
  CHECK(stringValue("\"a\\n\\t\\\\\\\"\"") == "a\n\t\\\"");
  CHECK(lex("\"\xC3\xA9\"").codes.empty());
  Lexed open = lex("f(\"abc\ng");
  CHECK(open.kinds == "N ( S | N");
  CHECK(open.codes == std::vector<int>{diag::UnterminatedString.code});
  CHECK(lex("\"abc").codes == std::vector<int>{diag::UnterminatedString.code});
  CHECK(lex("\"abc\\").codes == std::vector<int>{diag::UnterminatedString.code});
  CHECK(lex("\"\\q \\\xC3\xA9\"").codes ==
        std::vector<int>{diag::UnknownEscape.code, diag::UnknownEscape.code});
}

TEST_CASE("blanks, comments and line breaks", "[lexer]") {
  CHECK(lex("a\tb\r\nc # d\n\n# e\r\n f").kinds == "N N | N | N");
  CHECK(lex("# only a comment").kinds == "");
  CHECK(lex("\xEF\xBB\xBF"
            "a")
            .kinds == "N");
  CHECK(lex("# \xC3\xA9\xE8\xAA\x9E\na").codes.empty());
  CHECK(lex("a").tokens.front().newlineBefore);
}

TEST_CASE("unknown characters: one error a line", "[lexer]") {
  Lexed lexed = lex("a $ b ` c\n\xCE\xB1\xCE\xB2\n\x01");
  CHECK(lexed.codes == std::vector<int>(3, diag::UnknownCharacter.code));
  CHECK(lexed.kinds == "N N N N N | N N | N");
}

TEST_CASE("a token's range is its text", "[lexer]") {
  std::string text = "let x1 = 0xFF // \"s\"\n  +: 2.5";
  SourceFile source("test.tk", text);
  std::string again;
  for (const Token &token : lex(text).tokens)
    again += source.getText(token.range).str() + " ";
  CHECK(again == "let x1 = 0xFF // \"s\" +: 2.5 ");
}

TEST_CASE("offsets become lines and columns", "[source]") {
  SourceFile source("test.tk", "ab\r\n\nc");
  CHECK(source.getNumLines() == 3);
  CHECK(source.getLine(1) == "ab");
  CHECK(source.getLine(2) == "");
  CHECK(source.getLine(3) == "c");
  CHECK(source.getLine(4) == "");
  auto at = [&](uint32_t offset) {
    LineColumn place = source.getLineColumn(offset);
    return std::pair(place.line, place.column);
  };
  CHECK(at(0) == std::pair(1u, 1u));
  CHECK(at(3) == std::pair(1u, 4u));
  CHECK(at(4) == std::pair(2u, 1u));
  CHECK(at(5) == std::pair(3u, 1u));
  CHECK(at(100) == std::pair(3u, 2u));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto location = mlir::cast<mlir::FileLineColRange>(source.getLocation(context, {0, 2}));
  CHECK(location.getFilename().str() == "test.tk");
  CHECK(location.getStartLine() == 1);
  CHECK(location.getStartColumn() == 1);
  CHECK(location.getEndColumn() == 3);
}
