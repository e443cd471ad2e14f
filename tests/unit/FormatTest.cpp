//===- FormatTest.cpp - properties of the formatter over the project's kernels -----------===//
//
// tests/frontend/format.test has the style by example. Here: whatever blanks, line breaks and
// comments stand between the tokens, the result is stable, and formatSource itself refuses to change
// the tree or lose a comment.
//
//===----------------------------------------------------------------------===//

#include "frontend/Format.h"
#include "frontend/Lexer.h"
#include "ir/diagnostics/Render.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tk;

static std::string formatted(llvm::StringRef text) {
  mlir::MLIRContext context;
  DiagnosticBuffer diagnostics(context, {});
  SourceFile source("f.tk", text.str());
  llvm::FailureOr<std::string> result = formatSource(context, source);
  for (const DiagRecord &record : diagnostics.getRecords())
    UNSCOPED_INFO(record.place.line << ": " << record.message);
  REQUIRE(succeeded(result));
  return *result;
}

static std::vector<std::string> kernels() {
  std::vector<std::string> texts;
  for (const char *folder : {"/tests/frontend/kernels", "/examples", "/tests/run"}) {
    std::error_code error;
    llvm::sys::fs::directory_iterator it(std::string(TKC_SOURCE_DIR) + folder, error), end;
    for (; !error && it != end; it.increment(error))
      if (llvm::StringRef(it->path()).ends_with(".tk"))
        texts.push_back((*llvm::MemoryBuffer::getFile(it->path()))->getBuffer().str());
  }
  REQUIRE(texts.size() > 10);
  return texts;
}

namespace {
/// Writes the tokens of a text again, with something else between them.
class Noise {
public:
  Noise(llvm::StringRef text, unsigned seed) : text(text), random(seed) {}

  /// `lines`: line breaks and comments too, where they do not end a statement.
  std::string make(bool lines);

private:
  std::string between(bool lines);

  llvm::StringRef text;
  std::mt19937 random;
};
} // namespace

std::string Noise::between(bool lines) {
  static constexpr const char *kBlanks[] = {"", " ", "   ", "\t", " \t "};
  static constexpr const char *kLines[] = {"\n", "\n\n\n", " # c\n", "\n# d\n\n", "\n \n# e\n# f\n"};
  unsigned choice = random() % 16;
  if (lines && choice < 3)
    return kLines[random() % 5];
  return choice < 10 ? kBlanks[random() % 5] : "";
}

std::string Noise::make(bool lines) {
  mlir::MLIRContext context;
  SourceFile source("f.tk", text.str());
  SyntaxErrors errors(context, source);
  Lexer lexer(source, errors);
  std::string result;
  uint32_t end = 0;
  llvm::SmallVector<Tok> open; // brackets
  for (Token token = lexer.next(); token.kind != Tok::Eof; token = lexer.next()) {
    llvm::StringRef gap = source.getText({end, token.range.begin});
    result += gap;
    result += between(lines && !gap.empty() && !open.empty() && open.back() != Tok::LBrace);
    if (llvm::is_contained({Tok::RParen, Tok::RBracket, Tok::RBrace}, token.kind))
      open.pop_back();
    if (llvm::is_contained({Tok::LParen, Tok::LBracket, Tok::LBrace}, token.kind))
      open.push_back(token.kind);
    result += source.getText(token.range);
    end = token.range.end;
  }
  return result + source.getText({end, uint32_t(text.size())}).str();
}

TEST_CASE("formatting formatted text changes nothing", "[format]") {
  for (const std::string &text : kernels()) {
    std::string once = formatted(text);
    CHECK(formatted(once) == once);
  }
}

TEST_CASE("the author's blanks do not matter", "[format]") {
  for (const std::string &text : kernels())
    for (unsigned seed = 0; seed < 5; ++seed)
      CHECK(formatted(Noise(text, seed).make(/*lines=*/false)) == formatted(text));
}

TEST_CASE("line breaks and comments in brackets are kept in a stable form", "[format]") {
  for (const std::string &text : kernels())
    for (unsigned seed = 0; seed < 10; ++seed) {
      std::string once = formatted(Noise(text, seed).make(/*lines=*/true));
      CHECK(formatted(once) == once);
    }
}

TEST_CASE("long lines, deep nesting and long chains", "[format]") {
  std::string chain = "const A = 1", nested = "const B = ";
  for (int i = 0; i < 1000; ++i)
    chain += " + some_name";
  nested += std::string(200, '(') + "1" + std::string(200, ')');
  for (const std::string &text : {chain, nested, std::string(), std::string("# only\n\n\n# this")}) {
    std::string once = formatted(text);
    CHECK(formatted(once) == once);
  }
  CHECK(llvm::StringRef(formatted(chain)).split('\n').first.size() <= 100);
}

TEST_CASE("a file with errors is not formatted", "[format]") {
  mlir::MLIRContext context;
  DiagnosticBuffer diagnostics(context, {});
  CHECK(failed(formatSource(context, SourceFile("f.tk", "kernel k( {"))));
  CHECK(diagnostics.getNumErrors() > 0);
}
