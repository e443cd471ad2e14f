//===- ParserTest.cpp - shapes of trees, recovery, round trips ---------------===//
//
// Shapes are compared as dumpAst writes them. The files of tests/frontend/ are read from the
// source tree: they are the corpus of the round trips and of the random changes.
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"
#include "frontend/AstPrinter.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace tk;

/// Changed inputs a run; -DTKC_FUZZ_ROUNDS=... for a long one.
#ifndef TKC_FUZZ_ROUNDS
#define TKC_FUZZ_ROUNDS 2000
#endif

namespace {
/// What parsing a text gave: its dump and canonical text, or its errors as "line:code".
struct Parsed {
  bool ok = false;
  std::string dump, text;
  std::vector<std::string> errors, notes;
};
} // namespace

static void collect(mlir::Diagnostic &diag, Parsed &result) {
  auto lineOf = [](mlir::Location loc) {
    return std::to_string(mlir::cast<mlir::FileLineColLoc>(loc).getLine());
  };
  result.errors.push_back(lineOf(diag.getLocation()) + ":" +
                          std::to_string(diagnosticCode(diag.str())));
  for (mlir::Diagnostic &note : diag.getNotes())
    if (!llvm::StringRef(note.str()).starts_with("help: "))
      result.notes.push_back(lineOf(note.getLocation()) + ":" + note.str());
}

static Parsed parse(const std::string &text) {
  Parsed result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diag) {
    collect(diag, result);
    return mlir::success();
  });
  SourceFile source("test.tk", text);
  auto file = parseFile(context, source);
  result.ok = succeeded(file);
  if (!result.ok)
    return result;
  llvm::raw_string_ostream dumpStream(result.dump), textStream(result.text);
  dumpAst(**file, dumpStream);
  printAst(**file, textStream);
  return result;
}

/// The shape of one expression, or its first error.
static std::string shape(const std::string &text) {
  Parsed result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diag) {
    collect(diag, result);
    return mlir::success();
  });
  SourceFile source("test.tk", text);
  auto parsed = parseExpression(context, source);
  if (failed(parsed))
    return result.errors.front();
  std::string dump;
  llvm::raw_string_ostream stream(dump);
  dumpAst(*parsed->expr, stream);
  return dump;
}

/// The shape of the statements of a body.
static std::string body(const std::string &text) {
  std::string dump = parse("fn f() {\n" + text + "\n}").dump;
  llvm::StringRef rest = dump;
  if (!rest.consume_front("(fn f (do") || !rest.consume_back("))\n"))
    return "failed: " + dump;
  return rest.ltrim().str();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST_CASE("operators bind as the grammar says", "[parser]") {
  CHECK(shape("a + b * c") == "(+ a (* b c))");
  CHECK(shape("a - b - c") == "(- (- a b) c)");
  CHECK(shape("a @ b * c") == "(* (@ a b) c)");
  CHECK(shape("x * (a @ b)") == "(* x (@ a b))");
  CHECK(shape("(x * a) @ b") == "(@ (* x a) b)");
  CHECK(shape("a + b @ c") == "(+ a (@ b c))");
  CHECK(shape("a // b % c / d") == "(/ (% (// a b) c) d)");
  CHECK(shape("a << b + c") == "(<< a (+ b c))");
  CHECK(shape("a | b ^ c & d << e") == "(| a (^ b (& c (<< d e))))");
  CHECK(shape("a & b == c | d") == "(cmp (& a b) == (| c d))");
  CHECK(shape("a < b && c || !d && e") == "(|| (&& (cmp a < b) c) (&& (! d) e))");
  CHECK(shape("-a.b * ~c[0]") == "(* (- (.b a)) (~ ([] c 0)))");
  CHECK(shape("!-~a") == "(! (- (~ a)))");
  CHECK(shape("- - a") == "(- (- a))");
}

TEST_CASE("chains are flat, parentheses cut them", "[parser]") {
  CHECK(shape("a < b <= c != d") == "(cmp a < b <= c != d)");
  CHECK(shape("(a < b) < c") == "(cmp (cmp a < b) < c)");
  CHECK(shape("a && b && c") == "(&& a b c)");
  CHECK(shape("a && (b && c)") == "(&& a (&& b c))");
  CHECK(shape("a || b || c && d") == "(|| a b (&& c d))");
}

TEST_CASE("postfix forms", "[parser]") {
  CHECK(shape("f[T](x, axis=0).0.1.to(f32)[]") ==
        "([] (call (.to (.1 (.0 (call ([] f T) x (= axis 0))))) f32))");
  CHECK(shape("x[i +: B, :, a:, :b, ::c, a:b:c, fill=-inf]") ==
        "([] x (+: i B) (: _ _ _) (: a _ _) (: _ b _) (: _ _ c) (: a b c) (= fill (- inf)))");
  CHECK(shape("x[a + 1 +: b * 2]") == "([] x (+: (+ a 1) (* b 2)))");
  CHECK(shape("(x, y).0") == "(.0 (tuple x y))");
  CHECK(shape("f(a, b,)") == "(call f a b)");
}

TEST_CASE("primaries", "[parser]") {
  CHECK(shape("(a,)") == "(tuple a)");
  CHECK(shape("(a, b,)") == "(tuple a b)");
  CHECK(shape("((a))") == "a");
  CHECK(shape("[1, [2.5], \"s\", true]") == "(list 1 (list 2.5) \"s\" true)");
  CHECK(shape("[{BM: 64, warps: [4, 8],},]") == "(list (record (: BM 64) (: warps (list 4 8))))");
  CHECK(shape("if a { 1 } else if b { 2 } else { 3 }") == "(if (arm a 1) (arm b 2) 3)");
  CHECK(shape("fn(a, const b: i32 = 1) { return a }") ==
        "(fn (param a) (const-param b :i32 1) (do (return a)))");
  CHECK(shape("(if a { 1 } else { 2 }) + 1") == "(+ (if (arm a 1) 2) 1)");
  CHECK(shape("a +\n b\n (c)") == "(+ a (call b c))"); // the whole text is one expression
}

TEST_CASE("integers keep their spelling and have a value of any size", "[parser]") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto value = [&](const char *text) {
    SourceFile source("test.tk", text);
    auto parsed = parseExpression(context, source);
    REQUIRE(succeeded(parsed));
    return llvm::toString(llvm::cast<ast::IntLit>(parsed->expr)->getValue(), 10, true);
  };
  CHECK(value("0") == "0");
  CHECK(value("1_000") == "1000");
  CHECK(value("0xFF_FF") == "65535");
  CHECK(value("0b1010") == "10");
  CHECK(value("0o17") == "15");
  CHECK(value("0xFFFFFFFFFFFFFFFFFFFF") == "1208925819614629174706175");
}

TEST_CASE("a line break ends a statement where the grammar says", "[parser]") {
  CHECK(body("f(\nx\n)\ng()") == "(call f x) (call g)");
  CHECK(body("let a = b +\nc") == "(let a (+ b c))");
  CHECK(body("let a =\n\n# why\nb") == "(let a b)");
  CHECK(body("x = a; y = b;") == "(= x a) (= y b)");
  CHECK(body("if a\n{ f() }\nelse\n{ g() }") == "(if (arm a (do (call f))) (do (call g)))");
  CHECK(body("if a { f() } g()") == "(if (arm a (do (call f)))) (call g)");
  CHECK(body("let a = if b {\n1\n}\nelse { 2 }\nf()") == "(let a (if (arm b 1) 2)) (call f)");
  CHECK(body("f(fn(a) {\nlet b = a\nreturn b\n},\nx)") ==
        "(call f (fn (param a) (do (let b a) (return b))) x)");
  CHECK(body("return\n-a.f()") == "failed: ");
  CHECK(body("return\nf()") == "(return) (call f)");
  CHECK(body("for i in\nrange(0,\n4)\n{ }") == "(for i (call range 0 4) (do))");
}

TEST_CASE("statements", "[parser]") {
  CHECK(body("var (a, b): (f32, i32) = f()") == "(var (tuple a b) :(tuple :f32 :i32) (call f))");
  CHECK(body("a.b[0] @= c") == "(@= ([] (.b a) 0) c)");
  CHECK(body("return a, b") == "(return a b)");
  CHECK(body("return (a, b)") == "(return (tuple a b))");
  CHECK(body("@pipeline(stages=3)\n@flatten for (i, j) in r { break }") ==
        "(for (@pipeline (= stages 3)) (@flatten) (tuple i j) r (do (break)))");
  CHECK(body("while a { continue }") == "(while a (do (continue)))");
  CHECK(body("let in = out.inout(scratch)") == "(let in (call (.inout out) scratch))");
}

TEST_CASE("declarations", "[parser]") {
  CHECK(parse("kernel k[T: f16 | bf16 = f16, N: int](@zeroed inout x: *T, scratch s: f32[N; 1, "
              "*]?, in: i32 = 3) @grid(1) @a { }")
            .dump == "(kernel k (cparam T f16 bf16)=f16 (cparam N int) (param-inout (@zeroed) x "
                     ":(* :T)) (param-scratch? s :(f32[] N ; 1 *)) (param- in :i32 3) (@grid 1) "
                     "(@a) (do))\n");
  CHECK(parse("struct S[T: dtype] { a: T, b: i32; c: (T)\n fn f(self) { return 1 } }").dump ==
        "(struct S (cparam T dtype) (field a :T) (field b :i32) (field c :T) (fn f (param self) "
        "(do (return 1))))\n");
  CHECK(parse("import a.b\nimport \"c\"\nconst X = 1").dump ==
        "(import a b)\n(import \"c\")\n(const X 1)\n");
  CHECK(parse("").ok);
  CHECK(parse("# nothing\r\n").ok);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

using Errors = std::vector<std::string>;

TEST_CASE("each faulty statement is one error, the sound ones none", "[parser]") {
  CHECK(parse("fn f(x) {\nlet = 1\nlet a = 2\nlet b = (3\nlet c = f(a b)\nx[0\n] = 1\ny\n}\n"
              "fn g() {\nreturn x +\n}")
            .errors == Errors{"2:1010", "5:1017", "5:1017", "8:1025", "12:1012"});
}

TEST_CASE("a fault inside an argument list that spans lines is one error", "[parser]") {
  CHECK(
      parse("fn f(x) {\nlet a = g(x x,\nfn(b) {\nlet c = b\nreturn c\n},\nx)\nlet = 1\n}").errors ==
      Errors{"2:1017", "8:1010"});
}

TEST_CASE("a missing brace is one error with a note where it was opened", "[parser]") {
  Parsed parsed = parse("fn f(x) {\n    if x {\n        g()\n    g()\n}\nfn h() { }\n");
  CHECK(parsed.errors == Errors{"6:1018"});
  CHECK(parsed.notes == Errors{"2:by its indentation, this `{` lacks its `}`"});
  CHECK(parse("kernel k() {\n f(").errors == Errors{"2:1012"});
}

TEST_CASE("reports stop at a limit", "[parser]") {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "let x = 1\nfn f() { }\n";
  Parsed parsed = parse(text);
  CHECK(parsed.errors.size() == 65);
  CHECK(llvm::StringRef(parsed.errors.back()).ends_with(":1033"));
}

TEST_CASE("what is not text is refused before it is read", "[parser]") {
  CHECK(parse(std::string("fn f() { }\n\0", 12)).errors == Errors{"2:1002"});
  CHECK(parse("# caf\xE9").errors == Errors{"1:1003"});
  CHECK(parse("# \xC3").errors == Errors{"1:1003"});
  CHECK(parse("# \xED\xA0\x80").errors == Errors{"1:1003"});
  CHECK(parse(std::string(SourceFile::kMaxBytes, '\n')).ok);
  CHECK(parse(std::string(SourceFile::kMaxBytes + 1, '\n')).errors == Errors{"1:1001"});
}

static std::string times(llvm::StringRef text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST_CASE("deep nesting of every kind is an error, never a crash", "[parser]") {
  unsigned count = GENERATE(300u, 100'000u);
  auto nested = [&](llvm::StringRef head, llvm::StringRef open, llvm::StringRef inner) {
    return parse(head.str() + times(open, count) + inner.str()).errors;
  };
  Errors wanted = {"1:1031"};
  CHECK(nested("const A = ", "(", "1") == wanted);
  CHECK(nested("const A = ", "[", "1") == wanted);
  CHECK(nested("const A = ", "[{a: ", "1") == wanted);
  CHECK(nested("const A = ", "f(", "1") == wanted);
  CHECK(nested("const A = ", "f(a=", "1") == wanted);
  CHECK(nested("const A = ", "x[", "1") == wanted);
  CHECK(nested("const A = ", "x[0:", "1") == wanted);
  CHECK(nested("const A = ", "- ", "1") == wanted);
  CHECK(nested("const A = ", "!(", "1") == wanted);
  CHECK(nested("const A = ", "if a { 1 } else ", "{ 1 }") == wanted);
  CHECK(nested("const A = ", "if a { ", "1") == wanted);
  CHECK(nested("const A = ", "fn() { return ", "1") == wanted);
  CHECK(nested("fn f(x: ", "*", "f32) { }") == wanted);
  CHECK(nested("fn f(x: ", "(f32, ", "f32) { }") == wanted);
  CHECK(nested("fn f() { ", "if a { ", "}") == wanted);
  CHECK(nested("fn f() { ", "if a { } else ", "{ } }") == wanted);
  CHECK(nested("fn f() { ", "while a { ", "}") == wanted);
  CHECK(nested("fn f() { ", "for a in b { ", "}") == wanted);
}

TEST_CASE("a tall expression is an error, never a crash", "[parser]") {
  unsigned count = GENERATE(1100u, 300'000u);
  auto chain = [&](llvm::StringRef link) {
    return parse("const A = x" + times(link, count) + "\nconst B = 1 1").errors;
  };
  Errors wanted = {"1:1032", "2:1016"};
  CHECK(chain(" + x") == wanted);
  CHECK(chain(" @ x") == wanted);
  CHECK(chain(".x") == wanted);
  CHECK(chain(".0") == wanted);
  CHECK(chain("()") == wanted);
  CHECK(chain("[]") == wanted);
  CHECK(chain(" && x") == wanted);
  CHECK(chain(" < x") == wanted);
  CHECK(parse("const A = x" + times(" + x", 1000)).ok);
}

//===----------------------------------------------------------------------===//
// Round trips and random changes
//===----------------------------------------------------------------------===//

static std::string readFile(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The .tk files of tests/frontend/ and below, sorted.
static std::vector<std::filesystem::path> corpus() {
#ifdef TKC_SOURCE_DIR
  std::filesystem::path root = std::filesystem::path(TKC_SOURCE_DIR) / "tests";
#else
  std::filesystem::path root = std::filesystem::path(__FILE__).parent_path().parent_path();
#endif
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root / "frontend"))
    if (entry.path().extension() == ".tk")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 16);
  return files;
}

/// Canonical text parses to the same tree and prints as itself.
static void checkRoundTrip(const Parsed &first) {
  Parsed second = parse(first.text);
  INFO(first.text);
  REQUIRE(second.errors == Errors{});
  REQUIRE(second.dump == first.dump);
  REQUIRE(second.text == first.text);
}

TEST_CASE("printing and parsing the kernels changes nothing", "[parser]") {
  unsigned good = 0;
  for (const std::filesystem::path &path : corpus()) {
    INFO(path);
    Parsed parsed = parse(readFile(path));
    bool isKernel = path.parent_path().filename() == "kernels";
    if (isKernel)
      REQUIRE(parsed.errors == Errors{});
    if (!parsed.ok)
      continue;
    good += isKernel;
    checkRoundTrip(parsed);
  }
  CHECK(good >= 15);
}

TEST_CASE("the printer keeps the parentheses that matter", "[printer]") {
  const char *text = GENERATE(
      "(a + b) * c", "a - (b - c)", "(x * a) @ b", "x * (a @ b)", "(a @ b) @ c", "a @ (b @ c)",
      "(a < b) < c", "a < (b < c)", "(a && b) && c", "a || (b && c) || (d || e)", "-(-a)", "(-a).b",
      "(a + b)[0]", "(if a { 1 } else { 2 }) + 3", "(fn(a) { return a })(1)", "(1).0",
      "(1.5).to(f32)", "(0x1).e", "(a, b).0", "(a,)", "!(a && b)", "(a | b) & c", "a & (b == c)",
      "f((if a { 1 } else { 2 }), x=(fn() { }))", "[{a: (b)}]", "x[(a):(b), (c) +: (d)]",
      "if (if a { b } else { c }) { 1 } else { 2 }", "if a { if b { 1 } else { 2 } } else { 3 }");
  checkRoundTrip(parse("const A = " + std::string(text)));
}

/// A short piece of a text, cut anywhere.
static std::string piece(const std::string &text, std::mt19937 &random) {
  if (text.empty())
    return "";
  size_t begin = random() % text.size();
  return text.substr(begin, random() % 24);
}

static std::string changed(std::string text, const std::string &other, std::mt19937 &random) {
  static const char *const kWords[] = {
      "(",      ")",      "[",       "]",  "{",  "}",  ",",      ";",       "\n",
      "\"",     "#",      "@",       "@x", ":",  "+:", "//",     "else",    "if a ",
      " fn(",   "return", "=",       "-",  "1.", "?",  " in ",   "*",       "kernel ",
      "\nfn x", "\nlet ", "struct ", ".0", "&&", "<",  "const ", "\xCE\xB1"};
  for (unsigned changes = 1 + random() % 4; changes; --changes) {
    size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 6) {
    case 0: // flip some bits of a byte
      if (!text.empty())
        text[at] = char(text[at] ^ (1 + random() % 255));
      break;
    case 1:
      text.erase(at, random() % 24);
      break;
    case 2:
      text.insert(at, piece(other, random));
      break;
    case 3:
      text.insert(at, piece(text, random));
      break;
    case 4:
      text.insert(at, kWords[random() % std::size(kWords)]);
      break;
    case 5: // the end is cut off, or another text follows
      text.resize(at);
      if (random() % 2)
        text += other.substr(other.empty() ? 0 : random() % other.size());
      break;
    }
  }
  return text;
}

TEST_CASE("no change to the kernels makes the parser crash", "[parser]") {
  std::vector<std::string> texts;
  for (const std::filesystem::path &path : corpus())
    texts.push_back(readFile(path));
  std::mt19937 random(20240607);
  unsigned good = 0;
  for (unsigned i = 0; i < TKC_FUZZ_ROUNDS; ++i) {
    const std::string &text = texts[random() % texts.size()];
    std::string input = changed(text, texts[random() % texts.size()], random);
    Parsed parsed = parse(input);
    // Either a tree, which survives printing, or errors.
    REQUIRE(parsed.ok == parsed.errors.empty());
    good += parsed.ok;
    if (parsed.ok)
      checkRoundTrip(parsed);
  }
  CHECK(good > 0);
}

TEST_CASE("no bytes make the parser crash", "[parser]") {
  std::mt19937 random(7);
  static const char kBytes[] = "(){}[]@;:,.+-*/&|^!~<>=?#\"'\n 019aexf_\\$";
  for (unsigned i = 0; i < 2000; ++i) {
    std::string text = i % 2 ? "fn f() {\n" : "";
    for (unsigned length = random() % 200; length; --length)
      text += i % 5 == 0 ? char(random() % 256) : kBytes[random() % (sizeof(kBytes) - 1)];
    Parsed parsed = parse(text);
    REQUIRE(parsed.ok == parsed.errors.empty());
  }
}
