//===- Lines.h - programs made smaller by leaving out lines --------------------------===//
//
// What the choices of a generator cannot drop alone: a statement between others, the sink's lines, a
// loop around what matters. A line that opens a brace goes with all up to the one that closes it, or
// with that one alone. What is no program any more must not fail the way that is looked for.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tk::fuzz {

using Lines = std::vector<std::string>;

inline int bracesOf(llvm::StringRef line) { return int(line.count('{')) - int(line.count('}')); }

/// Behind the line that closes what line `first` opens.
inline size_t endOfBlock(const Lines &lines, size_t first) {
  int depth = 0;
  for (size_t i = first; i < lines.size(); ++i)
    if ((depth += bracesOf(lines[i])) <= 0)
      return i + 1;
  return lines.size();
}

/// `lines` without those from `first` to `end`; only without these two where `onlyEnds`.
inline Lines without(const Lines &lines, size_t first, size_t end, bool onlyEnds) {
  Lines result(lines.begin(), lines.begin() + long(first));
  if (onlyEnds)
    result.insert(result.end(), lines.begin() + long(first) + 1, lines.begin() + long(end) - 1);
  result.insert(result.end(), lines.begin() + long(end), lines.end());
  return result;
}

/// The text with the fewest lines, as far as leaving out one after the other finds it, of which
/// `fails` still holds; it asks at most `budget` times.
template <class Fails> std::string reduceLines(llvm::StringRef text, unsigned budget, Fails fails) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, '\n', -1, /*KeepEmpty=*/false);
  Lines lines(parts.begin(), parts.end());
  auto textOf = [](const Lines &lines) { return llvm::join(lines, "\n") + "\n"; };
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t first = lines.size(); first-- > 0;) {
      if (bracesOf(lines[first]) < 0 || first >= lines.size())
        continue;
      size_t end = endOfBlock(lines, first);
      for (bool onlyEnds : {false, true}) {
        if ((onlyEnds && end - first < 3) || budget == 0)
          continue;
        Lines fewer = without(lines, first, end, onlyEnds);
        --budget;
        if (!fails(textOf(fewer)))
          continue;
        lines = std::move(fewer);
        progress = true;
        break;
      }
    }
  }
  return textOf(lines);
}

} // namespace tk::fuzz
