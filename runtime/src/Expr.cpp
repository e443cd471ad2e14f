//===- Expr.cpp - parsing and printing of the JSON's expressions -----------===//
#include "Expr.h"

namespace tkcrt {

namespace {
enum class Form : uint8_t { Fold, Binary, Unary, And, Or, Select };

struct OpInfo {
  const char *name;
  Op op;
  Form form;
  const char *infix; ///< nullptr: printed as a call
};
} // namespace

static constexpr OpInfo kOps[] = {
    {"add", Op::Add, Form::Fold, " + "},
    {"mul", Op::Mul, Form::Fold, " * "},
    {"min", Op::Min, Form::Fold, nullptr},
    {"max", Op::Max, Form::Fold, nullptr},
    {"sub", Op::Sub, Form::Binary, " - "},
    {"div", Op::Div, Form::Binary, " // "},
    {"mod", Op::Mod, Form::Binary, " % "},
    {"cdiv", Op::CDiv, Form::Binary, nullptr},
    {"round_up", Op::RoundUp, Form::Binary, nullptr},
    {"eq", Op::Eq, Form::Binary, " == "},
    {"ne", Op::Ne, Form::Binary, " != "},
    {"lt", Op::Lt, Form::Binary, " < "},
    {"le", Op::Le, Form::Binary, " <= "},
    {"gt", Op::Gt, Form::Binary, " > "},
    {"ge", Op::Ge, Form::Binary, " >= "},
    {"divides", Op::Divides, Form::Binary, nullptr},
    {"not", Op::Not, Form::Unary, nullptr},
    {"next_pow2", Op::NextPow2, Form::Unary, nullptr},
    {"and", Op::AndJump, Form::And, " && "},
    {"or", Op::OrJump, Form::Or, " || "},
    {"select", Op::PopJumpIfZero, Form::Select, nullptr},
};

/// The operator that begins the array, or nullptr.
static const OpInfo *findOp(const Json &json) {
  if (!json.is_array() || json.empty())
    return nullptr;
  const std::string *name = json[0].get_ptr<const std::string *>();
  for (const OpInfo &info : kOps)
    if (name && *name == info.name)
      return &info;
  return nullptr;
}

namespace {
class Parser {
public:
  Parser(Reader &reader, const Resolver &resolve, Code &code)
      : reader(reader), resolve(resolve), code(code) {}

  bool parse(const Json &json, int depth) {
    if (++terms > kMaxExprTerms)
      return reader.corrupt("the expression has more than %d terms", kMaxExprTerms);
    if (json.is_number()) {
      int64_t value;
      if (!reader.integer(json, INT64_MIN, INT64_MAX, value))
        return false;
      emit(Op::Const, value);
      return true;
    }
    if (const std::string *name = json.get_ptr<const std::string *>()) {
      int slot = resolve(*name);
      if (slot < 0)
        return false;
      emit(Op::Slot, slot);
      return true;
    }
    return parseOperator(json, depth);
  }

private:
  bool parseOperator(const Json &json, int depth) {
    if (!json.is_array() || json.empty() || !json[0].is_string())
      return reader.corrupt("found %s, needed an integer, a name or [operator, operands...]",
                            kindName(json));
    const OpInfo *info = findOp(json);
    if (!info)
      return reader.corrupt("unknown operator \"%.60s\"",
                            json[0].get_ref<const std::string &>().c_str());
    if (depth >= kMaxExprDepth)
      return reader.corrupt("the expression nests deeper than %d", kMaxExprDepth);
    size_t count = json.size() - 1;
    size_t needed = info->form == Form::Binary   ? 2
                    : info->form == Form::Unary  ? 1
                    : info->form == Form::Select ? 3
                                                 : 0;
    if (needed ? count != needed : count == 0)
      return reader.corrupt("`%s` has %zu operands, needed %s%zu", info->name, count,
                            needed ? "" : "at least ", needed ? needed : 1);
    if (info->form == Form::Select)
      return parseSelect(json, depth + 1);
    if (info->form == Form::And || info->form == Form::Or)
      return parseLazy(json, *info, depth + 1);
    for (size_t i = 1; i <= count; ++i) {
      if (!parse(json[i], depth + 1))
        return false;
      // A fold of one operand is that operand; from the second on each is folded in.
      if (info->form == Form::Unary || i >= 2)
        emit(info->op, 0);
    }
    return true;
  }

  bool parseLazy(const Json &json, const OpInfo &info, int depth) {
    std::vector<size_t> jumps;
    for (size_t i = 1; i < json.size(); ++i) {
      if (!parse(json[i], depth))
        return false;
      if (i + 1 < json.size()) {
        jumps.push_back(code.instrs.size());
        emit(info.op, 0);
      }
    }
    emit(Op::Bool, 0);
    for (size_t jump : jumps)
      code.instrs[jump].value = static_cast<int64_t>(code.instrs.size());
    return true;
  }

  bool parseSelect(const Json &json, int depth) {
    if (!parse(json[1], depth))
      return false;
    size_t toElse = code.instrs.size();
    emit(Op::PopJumpIfZero, 0);
    if (!parse(json[2], depth))
      return false;
    size_t toEnd = code.instrs.size();
    emit(Op::Jump, 0);
    code.instrs[toElse].value = static_cast<int64_t>(code.instrs.size());
    if (!parse(json[3], depth))
      return false;
    code.instrs[toEnd].value = static_cast<int64_t>(code.instrs.size());
    return true;
  }

  void emit(Op op, int64_t value) { code.instrs.push_back({value, op}); }

  Reader &reader;
  const Resolver &resolve;
  Code &code;
  int terms = 0;
};
} // namespace

bool parseExpr(Reader &reader, const Json &json, const Resolver &resolve, Code &code,
               Program &out) {
  out.begin = static_cast<uint32_t>(code.instrs.size());
  if (!Parser(reader, resolve, code).parse(json, 0))
    return false;
  out.end = static_cast<uint32_t>(code.instrs.size());
  return true;
}

bool parseCondition(Reader &reader, const Json &json, const Resolver &resolve, Code &code,
                    Condition &out) {
  if (!parseExpr(reader, json, resolve, code, out.whole))
    return false;
  out.text = exprText(json);
  const OpInfo *info = findOp(json);
  out.isComparison =
      info && ((info->op >= Op::Eq && info->op <= Op::Ge) || info->op == Op::Divides);
  if (!out.isComparison)
    return true;
  return parseExpr(reader, json[1], resolve, code, out.left) &&
         parseExpr(reader, json[2], resolve, code, out.right);
}

std::string exprText(const Json &json) {
  if (const std::string *name = json.get_ptr<const std::string *>())
    return *name;
  const OpInfo *info = findOp(json);
  if (!info)
    return json.is_number() ? std::to_string(json.get<int64_t>()) : std::string("?");
  std::string text = info->infix ? "" : info->name + std::string("(");
  for (size_t i = 1; i < json.size(); ++i) {
    if (i > 1)
      text += info->infix ? info->infix : ", ";
    const OpInfo *inner = info->infix ? findOp(json[i]) : nullptr;
    bool parens = inner && inner->infix && json[i].size() > 2;
    text += parens ? "(" + exprText(json[i]) + ")" : exprText(json[i]);
  }
  return info->infix ? text : text + ")";
}

} // namespace tkcrt
