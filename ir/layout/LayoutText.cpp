//===- LayoutText.cpp - printing and parsing of layouts -------------------===//
//
//   text  ::= entry (`,` entry)*
//   entry ::= (`register` | `lane` | `warp` | `block` | `offset` | `repeats`) `=` lists
//           | `shape` `=` list
//   lists ::= `[` (list (`,` list)*)? `]`      list ::= `[` (number (`,` number)*)? `]`
//
//===----------------------------------------------------------------------===//

#include "ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace tk;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printList(llvm::raw_ostream &os, ArrayRef<int32_t> list) {
  os << '[';
  llvm::interleave(
      list, os, [&](int32_t number) { os << number; }, ",");
  os << ']';
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  StringRef separator = "";
  for (InDim dim : kInDims) {
    bool isForeign = memory != (dim == InDim::Offset);
    if (numBits(dim) == 0 && (isForeign || dim == InDim::Block))
      continue;
    os << separator << inDimName(dim) << "=[";
    for (unsigned bit = 0; bit < numBits(dim); ++bit) {
      os << (bit ? "," : "");
      printList(os, basis(dim, bit));
    }
    os << ']';
    separator = ", ";
  }
  if (!repeatList.empty()) {
    os << ", repeats=[";
    llvm::interleave(
        repeatList, os,
        [&](const Repeat &repeat) { os << '[' << repeat.dim << ',' << repeat.count << ']'; }, ",");
    os << ']';
  }
  if (hasPads() || packed.empty()) {
    os << ", shape=";
    printList(os, tileShape);
  }
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &tk::operator<<(llvm::raw_ostream &os, const LinearLayout &layout) {
  layout.print(os);
  return os;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// A reader with one character of look-ahead. Each function is false after an error, which is kept.
struct Parser {
  StringRef text;
  size_t at = 0;
  std::string error;
  std::vector<DimBases> bases;
  std::optional<std::vector<int32_t>> shape;
  std::optional<std::vector<Repeat>> repeats;

  bool fail(const llvm::Twine &what) {
    error = ("column " + llvm::Twine(at + 1) + ": " + what).str();
    return false;
  }
  bool peek(char c) {
    at = std::min(text.find_first_not_of(' ', at), text.size());
    return at < text.size() && text[at] == c;
  }
  bool eat(char c) {
    bool found = peek(c);
    at += found;
    return found;
  }
  bool expect(char c) { return eat(c) || fail("expected `" + llvm::Twine(c) + "`"); }

  bool number(int32_t &value);
  bool list(llvm::function_ref<bool()> item);
  bool numbers(std::vector<int32_t> &values);
  bool lists(std::vector<std::vector<int32_t>> &values);
  bool repeatEntry();
  bool entry();
  bool all();
};
} // namespace

bool Parser::number(int32_t &value) {
  peek(' ');
  StringRef digits =
      text.substr(at).take_while([](char c) { return llvm::isDigit(c) || c == '-'; });
  if (digits.empty() || digits.getAsInteger(10, value))
    return fail("expected a number of 32 bits");
  at += digits.size();
  return true;
}

bool Parser::list(llvm::function_ref<bool()> item) {
  if (!expect('['))
    return false;
  if (eat(']'))
    return true;
  do {
    if (!item())
      return false;
  } while (eat(','));
  return eat(']') || fail("expected `,` or `]`");
}

bool Parser::numbers(std::vector<int32_t> &values) {
  return list([&] { return number(values.emplace_back()); });
}

bool Parser::lists(std::vector<std::vector<int32_t>> &values) {
  return list([&] { return numbers(values.emplace_back()); });
}

bool Parser::repeatEntry() {
  size_t start = at;
  std::vector<std::vector<int32_t>> pairs;
  if (!lists(pairs))
    return false;
  repeats.emplace();
  for (const std::vector<int32_t> &pair : pairs) {
    if (pair.size() != 2 || pair[0] < 0) {
      at = start;
      return fail("a repeat is `[dimension,count]`");
    }
    repeats->push_back({uint32_t(pair[0]), pair[1]});
  }
  return true;
}

bool Parser::entry() {
  peek(' ');
  size_t start = at;
  StringRef name = text.substr(at).take_while(llvm::isAlpha);
  at += name.size();
  const InDim *dim = llvm::find_if(kInDims, [&](InDim d) { return inDimName(d) == name; });
  bool isShape = name == "shape", isRepeats = name == "repeats";
  if (dim == kInDims.end() && !isShape && !isRepeats) {
    at = start;
    return fail("expected register, lane, warp, block, offset, repeats or shape");
  }
  if ((isShape && shape) || (isRepeats && repeats)) {
    at = start;
    return fail("`" + name + "` is given twice");
  }
  if (!expect('='))
    return false;
  if (isShape)
    return numbers(shape.emplace());
  if (isRepeats)
    return repeatEntry();
  return lists(bases.emplace_back(DimBases{*dim, {}}).bases);
}

bool Parser::all() {
  do {
    if (!entry())
      return false;
  } while (eat(','));
  return at == text.size() || fail("expected `,` or the end");
}

Expected<LinearLayout> LinearLayout::parse(StringRef text) {
  Parser parser;
  parser.text = text;
  if (!parser.all())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), parser.error);
  std::optional<ArrayRef<int32_t>> shape;
  if (parser.shape)
    shape = *parser.shape;
  return fromBases(parser.bases, shape, parser.repeats.value_or(std::vector<Repeat>()));
}
