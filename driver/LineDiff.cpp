//===- LineDiff.cpp - two texts compared by lines ----------------------------------------===//

#include "driver/LineDiff.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

using namespace tk;
using llvm::StringRef;

namespace {

/// A line of the comparison: ' ' in both texts, '-' in the first only, '+' in the second only.
struct Edit {
  char kind;
  StringRef line;
};

} // namespace

/// Lines with their line breaks.
static std::vector<StringRef> splitLines(StringRef text) {
  std::vector<StringRef> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    size_t size = end == StringRef::npos ? text.size() : end + 1;
    lines.push_back(text.take_front(size));
    text = text.drop_front(size);
  }
  return lines;
}

/// More lines than this on both sides together are not compared one with another.
static constexpr size_t kMaxCells = size_t(1) << 24;

/// By the longest common subsequence, whose lengths fill a table from the end.
static void compare(llvm::ArrayRef<StringRef> a, llvm::ArrayRef<StringRef> b,
                    std::vector<Edit> &edits) {
  size_t width = b.size() + 1;
  std::vector<uint32_t> longest;
  bool isComparable = (a.size() + 1) * width <= kMaxCells;
  if (isComparable) {
    longest.assign((a.size() + 1) * width, 0);
    for (size_t i = a.size(); i-- > 0;)
      for (size_t j = b.size(); j-- > 0;)
        longest[i * width + j] =
            a[i] == b[j] ? longest[(i + 1) * width + j + 1] + 1
                         : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  }
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    bool atEnd = i == a.size() || j == b.size();
    if (isComparable && !atEnd && a[i] == b[j]) {
      edits.push_back({' ', a[i]});
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && (!isComparable || longest[(i + 1) * width + j] >=
                                                                       longest[i * width + j + 1]))) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
}

static std::vector<Edit> compareTexts(StringRef before, StringRef after) {
  std::vector<StringRef> aLines = splitLines(before), bLines = splitLines(after);
  llvm::ArrayRef<StringRef> a = aLines, b = bLines;
  std::vector<Edit> edits;
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    edits.push_back({' ', a.front()});
    a = a.drop_front(), b = b.drop_front();
  }
  size_t same = 0;
  while (same < std::min(a.size(), b.size()) &&
         a[a.size() - 1 - same] == b[b.size() - 1 - same])
    ++same;
  compare(a.drop_back(same), b.drop_back(same), edits);
  for (StringRef line : a.take_back(same))
    edits.push_back({' ', line});
  return edits;
}

/// Lines of context around what differs.
static constexpr size_t kContext = 3;

void tk::printDiff(StringRef path, StringRef before, StringRef after, llvm::raw_ostream &os) {
  std::vector<Edit> edits = compareTexts(before, after);
  os << "--- " << path << "\n+++ " << path << '\n';
  size_t lineA = 1, lineB = 1, shown = 0; // the lines at edits[shown]
  auto skipTo = [&](size_t end) {
    for (; shown < end; ++shown) {
      lineA += edits[shown].kind != '+';
      lineB += edits[shown].kind != '-';
    }
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].kind == ' ')
      continue;
    skipTo(std::max(shown, i > kContext ? i - kContext : 0));
    size_t last = i; // the last difference of the hunk
    for (size_t j = i; j < edits.size() && j <= last + 2 * kContext; ++j)
      if (edits[j].kind != ' ')
        last = j;
    size_t end = std::min(edits.size(), last + kContext + 1), countA = 0, countB = 0;
    for (size_t j = shown; j < end; ++j) {
      countA += edits[j].kind != '+';
      countB += edits[j].kind != '-';
    }
    os << "@@ -" << lineA - !countA << ',' << countA << " +" << lineB - !countB << ',' << countB
       << " @@\n";
    for (size_t j = shown; j < end; ++j) {
      os << edits[j].kind << edits[j].line;
      if (!edits[j].line.ends_with("\n"))
        os << "\n\\ No newline at end of file\n";
    }
    skipTo(end);
    i = end - 1;
  }
}
