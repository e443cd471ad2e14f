//===- Expr.h - the JSON's expressions as flat, checked programs -----------===//
// Parsed once, when a bundle is opened; evaluated at every launch without allocation. A program is
// a run of instructions for a stack machine with forward jumps only: it ends, and how deep its
// stack gets is known when it is parsed. docs/metadata.md has the operators.
#ifndef TKC_RUNTIME_EXPR_H
#define TKC_RUNTIME_EXPR_H

#include "Json.h"

#include <functional>

namespace tkcrt {

constexpr int kMaxExprDepth = 32;   ///< nesting of operators
constexpr int kMaxExprTerms = 1024; ///< operators and operands of one expression
/// One operand waits on each level of nesting above the one being evaluated.
constexpr int kMaxExprStack = kMaxExprDepth + 2;

enum class Op : uint8_t {
  Const, // push value
  Slot,  // push slots[value]
  // Add to Divides: pop two, push one. evaluate() relies on their standing together.
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  CDiv,
  Min,
  Max,
  RoundUp,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Divides,
  Not,           // top = top == 0
  NextPow2,      // of the top
  Bool,          // top = top != 0
  AndJump,       // top is 0: keep it and jump to value; else pop
  OrJump,        // top is not 0: make it 1 and jump to value; else pop
  PopJumpIfZero, // pop; jump to value if it was 0
  Jump,
};

struct Instr {
  int64_t value;
  Op op;
};

/// A run [begin, end) of a Code's instructions.
struct Program {
  uint32_t begin = 0, end = 0;
};

/// An expression to be reported about: its text, and for a comparison the two sides.
struct Condition {
  Program whole, left, right;
  bool isComparison = false;
  std::string text;
};

/// All programs of one kernel.
class Code {
public:
  enum class Result : uint8_t { Ok, Overflow, DivideByZero, BadDivisor };

  /// `slots` has a value for every slot that the parser's resolver gave out.
  Result evaluate(Program program, const int64_t *slots, int64_t &out) const;

  std::vector<Instr> instrs;
};

/// For messages: "overflows 64 bits", ...
const char *resultText(Code::Result result);

/// The slot of a name, or a negative number after having reported why not.
using Resolver = std::function<int(const std::string &name)>;

/// Appends the expression's program to `code`. Errors are reported through the reader.
bool parseExpr(Reader &reader, const Json &json, const Resolver &resolve, Code &code, Program &out);

/// The same, with the text, and with programs of both sides for a comparison.
bool parseCondition(Reader &reader, const Json &json, const Resolver &resolve, Code &code,
                    Condition &out);

/// The expression as a person writes it: `M * 2`, `cdiv(N, 128)`. For expressions that parsed.
std::string exprText(const Json &json);

} // namespace tkcrt

#endif
