//===- ExprEval.cpp - evaluating an expression's program -------------------===//
#include "Checked.h"
#include "Expr.h"

namespace tkcrt {

using Result = Code::Result;

/// a / b rounded up, for b > 0.
static Result ceilDiv(int64_t a, int64_t b, int64_t &out) {
  if (b <= 0)
    return Result::BadDivisor;
  out = a / b + (a % b > 0);
  return Result::Ok;
}

static Result roundUp(int64_t a, int64_t b, int64_t &out) {
  int64_t quotient = 0;
  Result result = ceilDiv(a, b, quotient);
  if (result != Result::Ok)
    return result;
  return mulTo(quotient, b, out) ? Result::Ok : Result::Overflow;
}

static Result divide(Op op, int64_t a, int64_t b, int64_t &out) {
  if (b == 0)
    return Result::DivideByZero;
  if (b == -1) { // the machine's instruction traps on MIN / -1
    out = 0;
    return op == Op::Mod || subTo(0, a, out) ? Result::Ok : Result::Overflow;
  }
  out = op == Op::Div ? a / b : a % b;
  return Result::Ok;
}

static Result nextPow2(int64_t a, int64_t &out) {
  if (a > int64_t(1) << 62)
    return Result::Overflow;
  out = a <= 1 ? 1 : int64_t(1) << (64 - __builtin_clzll(static_cast<uint64_t>(a - 1)));
  return Result::Ok;
}

static Result binary(Op op, int64_t a, int64_t b, int64_t &out) {
  switch (op) {
  case Op::Add:
    return addTo(a, b, out) ? Result::Ok : Result::Overflow;
  case Op::Sub:
    return subTo(a, b, out) ? Result::Ok : Result::Overflow;
  case Op::Mul:
    return mulTo(a, b, out) ? Result::Ok : Result::Overflow;
  case Op::Div:
  case Op::Mod:
    return divide(op, a, b, out);
  case Op::CDiv:
    return ceilDiv(a, b, out);
  case Op::RoundUp:
    return roundUp(a, b, out);
  case Op::Divides:
    out = a > 0 && b % a == 0;
    return a > 0 ? Result::Ok : Result::BadDivisor;
  default:
    break;
  }
  out = op == Op::Min   ? (a < b ? a : b)
        : op == Op::Max ? (a > b ? a : b)
        : op == Op::Eq  ? a == b
        : op == Op::Ne  ? a != b
        : op == Op::Lt  ? a < b
        : op == Op::Le  ? a <= b
        : op == Op::Gt  ? a > b
                        : a >= b;
  return Result::Ok;
}

/// The instructions that do not pop two and push one. Returns the next instruction.
static size_t step(const Instr &instr, size_t at, const int64_t *slots, int64_t *stack, int &top,
                   Result &result) {
  switch (instr.op) {
  case Op::Const:
    stack[++top] = instr.value;
    break;
  case Op::Slot:
    stack[++top] = slots[instr.value];
    break;
  case Op::Not:
    stack[top] = stack[top] == 0;
    break;
  case Op::Bool:
    stack[top] = stack[top] != 0;
    break;
  case Op::NextPow2:
    result = nextPow2(stack[top], stack[top]);
    break;
  case Op::AndJump:
    if (stack[top] == 0)
      return static_cast<size_t>(instr.value);
    --top;
    break;
  case Op::OrJump:
    if (stack[top] != 0) {
      stack[top] = 1;
      return static_cast<size_t>(instr.value);
    }
    --top;
    break;
  case Op::PopJumpIfZero:
    if (stack[top--] == 0)
      return static_cast<size_t>(instr.value);
    break;
  default: // Jump
    return static_cast<size_t>(instr.value);
  }
  return at + 1;
}

Code::Result Code::evaluate(Program program, const int64_t *slots, int64_t &out) const {
  int64_t stack[kMaxExprStack];
  int top = -1;
  for (size_t at = program.begin; at < program.end;) {
    const Instr &instr = instrs[at];
    Result result = Result::Ok;
    if (instr.op >= Op::Add && instr.op <= Op::Divides) {
      result = binary(instr.op, stack[top - 1], stack[top], stack[top - 1]);
      --top;
      ++at;
    } else {
      at = step(instr, at, slots, stack, top, result);
    }
    if (result != Result::Ok)
      return result;
  }
  out = stack[0];
  return Result::Ok;
}

const char *resultText(Code::Result result) {
  switch (result) {
  case Result::Ok:
    return "is good";
  case Result::Overflow:
    return "overflows 64 bits";
  case Result::DivideByZero:
    return "divides by zero";
  case Result::BadDivisor:
    return "has a divisor that is not positive";
  }
  return "";
}

} // namespace tkcrt
