//===- RunWords.cpp - the ARG words of tkc run, taken apart ---------------------------------===//

#include "driver/RunArgs.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;
using namespace tk::interp;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// "7x1000"; sides below 0 only for strides.
static bool parseSides(StringRef text, bool areStrides, std::vector<int64_t> &sides) {
  constexpr int64_t kMaxElements = int64_t(1) << 40;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  int64_t elements = 1;
  for (StringRef part : parts) {
    int64_t value = 0;
    if (part.empty() || part.getAsInteger(10, value) || (value < 0 && !areStrides) ||
        std::abs(value) > kMaxElements)
      return false;
    elements = areStrides ? 1 : elements * std::max<int64_t>(value, 1);
    if (elements > kMaxElements)
      return false;
    sides.push_back(value);
  }
  return true;
}

namespace {
struct Rule {
  StringRef name;
  unsigned least, most; // numbers in parentheses
};
} // namespace

static constexpr Rule kRules[] = {{"zeros", 0, 0},  {"ones", 0, 0},  {"full", 1, 1},
                                  {"arange", 0, 0}, {"rand", 0, 0},  {"randn", 0, 0},
                                  {"randint", 1, 2}, {"perm", 0, 0}, {"empty", 0, 0}};

static const Rule *ruleOf(StringRef name) {
  for (const Rule &rule : kRules)
    if (rule.name == name)
      return &rule;
  return nullptr;
}

static bool parsePart(StringRef part, ArgWord &word, std::string &problem) {
  if (part.consume_front("seed=")) {
    uint64_t seed = 0;
    if (part.getAsInteger(0, seed)) {
      problem = ("has the seed `" + part + "`, which is no number").str();
      return false;
    }
    word.seed = seed;
    return true;
  }
  if (part.consume_front("strides=")) {
    word.strides.emplace();
    if (parseSides(part, /*areStrides=*/true, *word.strides))
      return true;
    problem = ("has the strides `" + part + "`, which are not numbers like 32x1").str();
    return false;
  }
  std::vector<int64_t> extents;
  if (part == "T") {
    word.isTransposed = true;
  } else if (parseDType(part)) {
    word.dtype = part.str();
  } else if (parseSides(part, /*areStrides=*/false, extents)) {
    word.extents = extents;
  } else {
    problem = ("has `" + part +
               "`, which is neither a type, nor extents like 7x1000, nor T, strides=AxB or seed=N")
                  .str();
    return false;
  }
  return true;
}

static bool parseParts(ArrayRef<StringRef> parts, ArgWord &word, std::string &problem) {
  for (StringRef part : parts)
    if (!parsePart(part, word, problem))
      return false;
  if (!word.isTransposed || !word.strides)
    return true;
  problem = "has both T and strides";
  return false;
}

/// Splits at `separator` where no bracket is open.
static SmallVector<StringRef> splitOutside(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '(';
    depth -= text[i] == ']' || text[i] == ')';
    if (text[i] != separator || depth != 0)
      continue;
    parts.push_back(text.slice(begin, i));
    begin = i + 1;
  }
  parts.push_back(text.drop_front(begin));
  return parts;
}

/// A path may hold colons of its own: what follows it is only taken from the end.
static bool parseFile(StringRef text, ArgWord &word, std::string &problem) {
  word.rule = "@";
  SmallVector<StringRef> parts;
  while (true) {
    auto [path, part] = text.rsplit(':');
    ArgWord ignored;
    std::string unused;
    if (part.empty() || !parsePart(part, ignored, unused) || ignored.extents || ignored.seed)
      break;
    parts.push_back(part);
    text = path;
  }
  word.value = text.str();
  return parseParts(parts, word, problem);
}

static bool parseValue(StringRef value, ArgWord &word, std::string &problem) {
  if (value.consume_front("@"))
    return parseFile(value, word, problem);
  if (value.starts_with("[") && value.ends_with("]")) {
    word.rule = "[]";
    StringRef inner = value.drop_front().drop_back().trim();
    if (inner.empty())
      return true;
    for (StringRef part : splitOutside(inner, ',')) {
      ArgWord &element = word.elements.emplace_back();
      element.text = part.trim().str();
      element.name = word.name + "[" + std::to_string(word.elements.size() - 1) + "]";
      if (!parseValue(part.trim(), element, problem))
        return false;
    }
    return true;
  }
  SmallVector<StringRef> parts = splitOutside(value, ':');
  auto [name, arguments] = parts[0].split('(');
  const Rule *rule = ruleOf(name);
  if (!rule) {
    word.value = value.str();
    if (parts.size() == 1)
      return true; // a scalar, or the name of another argument
    std::string known;
    for (const Rule &one : kRules)
      known += (known.empty() ? "" : " ") + one.name.str() + (one.least ? "(..)" : "");
    problem = ("has the rule `" + parts[0] + "`, which is none of " + known).str();
    return false;
  }
  word.rule = name.str();
  const bool hasArguments = arguments.consume_back(")");
  if (hasArguments)
    for (StringRef argument : splitOutside(arguments, ','))
      word.numbers.push_back(argument.trim().str());
  if (word.numbers.size() < rule->least || word.numbers.size() > rule->most ||
      hasArguments != parts[0].contains('(')) {
    problem = rule->most == 0 ? ("has a value that `" + name + "` does not take").str()
              : name == "full" ? std::string("needs a value: full(0.5)")
                               : std::string("needs bounds: randint(8) or randint(-4, 4)");
    return false;
  }
  return parseParts(ArrayRef(parts).drop_front(), word, problem);
}

bool tk::parseArgWord(StringRef text, ArgWord &word, std::string &problem) {
  word.text = text.str();
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty() || !text.contains('=')) {
    problem = "is not NAME=VALUE";
    return false;
  }
  word.name = name.str();
  return parseValue(value, word, problem);
}

std::optional<double> tk::parseNumber(StringRef text) {
  if (text == "true" || text == "false")
    return text == "true";
  double value = 0;
  bool isNegative = text.consume_front("-");
  uint64_t integer = 0;
  if (text == "inf" || text == "nan")
    value = text == "inf" ? INFINITY : NAN;
  else if (!text.getAsInteger(0, integer))
    value = double(integer);
  else if (text.getAsDouble(value))
    return std::nullopt;
  return isNegative ? -value : value;
}
