//===- RenderTest.cpp - diagnostics as text, JSON, and against comments -----------===//

#include "ir/diagnostics/Diagnostics.h"
#include "ir/diagnostics/Render.h"
#include "ir/diagnostics/VerifyDiagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"
#include <catch2/catch.hpp>

using namespace tk;

namespace {
struct Fixture {
  explicit Fixture(DiagPolicy policy = {}) : buffer(context, std::move(policy)) {}

  mlir::Location at(unsigned line, unsigned column, unsigned endColumn) {
    return mlir::FileLineColRange::get(mlir::StringAttr::get(&context, "f.tk"), line, column, line,
                                       endColumn);
  }
  std::string text(llvm::StringRef source, bool colors = false) {
    SourceTexts sources;
    sources.add("f.tk", source);
    std::string result;
    llvm::raw_string_ostream os(result);
    renderText(buffer.getRecords(), sources, os, colors);
    return result;
  }
  bool verify(llvm::StringRef source) {
    std::string said;
    llvm::raw_string_ostream os(said);
    return verifyDiagnostics(buffer.getRecords(), "f.tk", source, os);
  }

  mlir::MLIRContext context;
  DiagnosticBuffer buffer;
};
} // namespace

TEST_CASE("an error is shown with its line and range", "[render]") {
  Fixture f;
  (void)withHelp(emit<diag::UnknownCharacter>(f.at(2, 3, 6), "$"), "remove it");
  CHECK(f.text("first\n  abc = 1\n") == "f.tk:2:3: error: TK1004: unknown character `$`\n"
                                        "    2 |   abc = 1\n"
                                        "      |   ^~~\n"
                                        "help: remove it\n");
  CHECK(f.buffer.getNumErrors() == 1);
}

TEST_CASE("columns count bytes, carets count characters", "[render]") {
  Fixture f;
  (void)emit<diag::UnknownCharacter>(f.at(1, 5, 6), "x"); // after two characters of two bytes
  std::string text = f.text("\xC3\xA4\xC3\xB6x\n");
  CHECK(llvm::StringRef(text).ends_with("      |   ^\n"));
}

TEST_CASE("places outside the text are survived", "[render]") {
  Fixture f;
  (void)emit<diag::UnknownCharacter>(f.at(1, 100, 200), "a");
  (void)emit<diag::UnknownCharacter>(f.at(99, 1, 2), "b");
  (void)emit<diag::UnknownCharacter>(f.at(1, 0, 0), "c");
  (void)emit<diag::UnknownCharacter>(f.at(1, 3, 1), "d");
  (void)emit<diag::UnknownCharacter>(mlir::UnknownLoc::get(&f.context), "e");
  std::string text = f.text("abc\n");
  CHECK(llvm::StringRef(text).count("error:") == 5);
  CHECK(llvm::StringRef(text).contains("tkc: error: TK1004: unknown character `e`"));
}

TEST_CASE("a long line is shown around its caret", "[render]") {
  Fixture f;
  (void)emit<diag::UnknownCharacter>(f.at(1, 5000, 5001), "x");
  CHECK(f.text(std::string(10000, 'a')).size() < 600);
}

TEST_CASE("control characters never reach the terminal", "[render]") {
  Fixture f;
  (void)emit<diag::UnknownCharacter>(f.at(1, 1, 2), "x");
  CHECK(!llvm::StringRef(f.text("a\033[31m\tb")).contains('\033'));
  CHECK(llvm::StringRef(f.text("abc", /*colors=*/true)).contains("\033[31m"));
}

TEST_CASE("the same thing is said once", "[render]") {
  Fixture f;
  for (int i = 0; i < 3; ++i)
    (void)emit<diag::UnknownCharacter>(f.at(1, 1, 2), "x");
  CHECK(f.buffer.getRecords().size() == 1);
  CHECK(f.buffer.getNumErrors() == 1);
}

TEST_CASE("a call is a note", "[render]") {
  Fixture f;
  mlir::Location call = mlir::CallSiteLoc::get(f.at(1, 1, 2), f.at(2, 1, 2));
  mlir::Location fused = mlir::FusedLoc::get(&f.context, {mlir::UnknownLoc::get(&f.context), call});
  (void)emit<diag::UnknownCharacter>(fused, "x");
  REQUIRE(f.buffer.getRecords().size() == 1);
  const DiagRecord &record = f.buffer.getRecords()[0];
  CHECK(record.place.line == 1);
  REQUIRE(record.notes.size() == 1);
  CHECK(record.notes[0].message == "called from here");
  CHECK(record.notes[0].place.line == 2);
}

TEST_CASE("warnings obey -W", "[render]") {
  auto count = [](DiagPolicy policy) {
    Fixture f(policy);
    (void)emit<diag::DescriptionLost>(f.at(1, 1, 2));
    return std::pair(f.buffer.getNumErrors(), f.buffer.getNumWarnings());
  };
  DiagPolicy hidden, all, one, plain;
  hidden.hiddenWarnings = {3024};
  all.warningsAreErrors = true;
  one.errorWarnings = {3024};
  plain.warningsAreErrors = true;
  plain.plainWarnings = {3024};
  CHECK(count({}) == std::pair(0u, 1u));
  CHECK(count(hidden) == std::pair(0u, 0u));
  CHECK(count(all) == std::pair(1u, 0u));
  CHECK(count(one) == std::pair(1u, 0u));
  CHECK(count(plain) == std::pair(0u, 1u));
}

TEST_CASE("remarks are shown when asked for", "[render]") {
  auto count = [](bool show, std::string filter) {
    DiagPolicy policy;
    policy.showRemarks = show;
    policy.remarkFilter = filter;
    Fixture f(policy);
    (void)emit<diag::KernelResources>(f.at(1, 1, 2), "k", 8, 0);
    return f.buffer.getRecords().size();
  };
  CHECK(count(false, "") == 0);
  CHECK(count(true, "") == 1);
  CHECK(count(true, "TK3039") == 1);
  CHECK(count(true, "TK3038") == 0);
}

TEST_CASE("JSON lines are JSON", "[render]") {
  Fixture f;
  auto error = emit<diag::UnknownCharacter>(f.at(2, 3, 6), "\"\\\n\xff");
  error.attachNote(f.at(1, 1, 2)) << "here";
  error.attachNote() << "help: that";
  error.report();
  std::string text;
  llvm::raw_string_ostream os(text);
  renderJson(f.buffer.getRecords(), os);
  CHECK(llvm::StringRef(text).count('\n') == 1);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  REQUIRE(bool(value));
  const llvm::json::Object &record = *value->getAsObject();
  CHECK(record.getString("code") == llvm::StringRef("TK1004"));
  CHECK(record.getInteger("endColumn") == 6);
  CHECK(record.getArray("notes")->size() == 1);
  CHECK(record.getArray("help")->size() == 1);
}

TEST_CASE("comments must say what is reported, and the other way round", "[render]") {
  Fixture f;
  auto error = emit<diag::UnknownCharacter>(f.at(2, 1, 2), "$");
  error.attachNote(f.at(1, 1, 2)) << "first here";
  error.report();
  CHECK(f.verify("\nx # expected-error {{TK1004}}\n"));
  CHECK(f.verify("x # expected-error @+1 {{unknown}}\nx\n"));
  CHECK(f.verify("\nx\n// expected-error@-1 {{unknown}}\n"));
  CHECK(f.verify("x # expected-note {{first}}\nx # expected-error {{`$`}}\n"));
  CHECK(!f.verify("\nx\n"));
  CHECK(!f.verify("x # expected-error {{TK1004}}\nx\n"));
  CHECK(!f.verify("\nx # expected-warning {{TK1004}}\n"));
  CHECK(!f.verify("\nx # expected-error {{TK1004}} expected-error {{TK1004}}\n"));
  CHECK(!f.verify("x # expected-note {{second}}\nx # expected-error {{`$`}}\n"));
  CHECK(!f.verify("\nx # expected-error TK1004\n"));
  CHECK(!f.verify("\nx expected-error {{TK1004}}\n"));
}
