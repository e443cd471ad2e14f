//===- FormatLines.cpp - one statement after another, as lines -----------------------------===//

#include "frontend/FormatLines.h"

using namespace tk;
using namespace tk::format;

//===----------------------------------------------------------------------===//
// On one line
//===----------------------------------------------------------------------===//

/// A `,` before the bracket that closes on its line, unless it begins that line.
bool LineWriter::isDropped(unsigned index, bool flat) const {
  const FormatToken &token = tokens[index], &next = tokens[index + 1];
  return token.kind == Tok::Comma && isClosing(next.kind) && !token.needed &&
         !token.numComments && !tokens[index - 1].hasTrailing && (flat || !next.newline);
}

bool LineWriter::isFlat(unsigned first, unsigned last, unsigned indent) const {
  unsigned column = indent;
  for (unsigned i = first; i <= last; ++i) {
    const FormatToken &token = tokens[i];
    bool hasComments = (i != first && token.numComments) || (i != last && token.hasTrailing);
    if (hasComments || (i != last && token.multiLine))
      return false;
    if (!isDropped(i, /*flat=*/true))
      column += unsigned(token.text.size()) + (i != first && tokens.hasSpace(i));
    if (column > kMaxColumns)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// On several lines
//===----------------------------------------------------------------------===//

/// True where a line break stands whatever fits: the author's, those around comments and blocks, and
/// those that give each record of a list, and the parameters of a declaration, a line.
bool LineWriter::mustBreak(unsigned index, const Run &run) const {
  const FormatToken &before = tokens[index - 1], &token = tokens[index];
  if (token.numComments || before.hasTrailing)
    return true;
  if (before.multiLine || (token.kind == Tok::RBrace && tokens[token.match].multiLine))
    return true;
  bool inRecords = token.opener != FormatToken::kNone && tokens[token.opener].records;
  if (before.params || before.records)
    return true;
  if (inRecords && before.kind == Tok::Comma && token.kind == Tok::LBrace)
    return true;
  bool joins = token.kind == Tok::Comma || token.kind == Tok::Semi || token.tight ||
               (token.block && index == run.last);
  return token.newline && !joins;
}

unsigned LineWriter::indentOf(unsigned index, const Run &run) const {
  if (index == run.first)
    return run.indent;
  const FormatToken &token = tokens[index];
  if (isClosing(token.kind))
    return indentOfOpening.lookup(token.match);
  unsigned step = unsigned(run.continuation);
  bool inRun = token.opener != FormatToken::kNone && token.opener >= run.first;
  if (!inRun)
    return run.indent + step;
  if (tokens[token.opener].params)
    return run.indent + step;
  unsigned indent = indentOfOpening.lookup(token.opener);
  return indent + (indent == run.indent ? step : kIndent);
}

/// One past the last token of the line that begins with `begin`. Of the places where it may end, the
/// last of those with the lowest rank.
unsigned LineWriter::endOfLine(unsigned begin, unsigned indent, const Run &run) const {
  unsigned column = indent, best = 0;
  for (unsigned i = begin; i <= run.last; ++i) {
    const FormatToken &token = tokens[i];
    if (i != begin && mustBreak(i, run))
      return i;
    bool mayBreak = i != begin && token.rank != FormatToken::kNone;
    if (mayBreak && (!best || token.rank <= tokens[best].rank))
      best = i;
    if (!isDropped(i, /*flat=*/false))
      column += unsigned(token.text.size()) + (i != begin && tokens.hasSpace(i));
    if (column > kMaxColumns && best)
      return best;
  }
  return run.last + 1;
}

void LineWriter::write(unsigned first, unsigned last, unsigned indent, Continuation continuation,
                       WriteBlock writeBlock) {
  writeComments(first, indent);
  if (isFlat(first, last, indent)) {
    emit(first, last + 1, indent, /*flat=*/true);
    return attachTrailing(last, /*isEnd=*/true);
  }
  Run run{first, last, indent, continuation};
  for (unsigned begin = first; begin <= last;) {
    const FormatToken &token = tokens[begin];
    unsigned lineIndent = indentOf(begin, run);
    if (begin != first)
      writeComments(begin, lineIndent + (isClosing(token.kind) ? kIndent : 0));
    unsigned end = endOfLine(begin, lineIndent, run);
    emit(begin, end, lineIndent, /*flat=*/false);
    attachTrailing(end - 1, /*isEnd=*/end > last);
    begin = end;
    if (!tokens[end - 1].multiLine || end > last)
      continue;
    // A closure on several lines.
    suppressBlank();
    writeBlock(*tokens.blockAt(end - 1), lineIndent + kIndent);
    begin = tokens[end - 1].match;
    writeComments(begin, lineIndent + kIndent);
    suppressBlank();
  }
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

LineWriter::Line &LineWriter::addLine(unsigned indent, bool blankBefore) {
  Line line;
  line.indent = indent;
  line.blankBefore = blankBefore && !blankSuppressed;
  blankSuppressed = false;
  lines.push_back(line);
  return lines.back();
}

void LineWriter::writeComments(unsigned index, unsigned indent) {
  if (commentsWritten == index)
    return;
  commentsWritten = index;
  for (const Comment &comment : tokens.commentsBefore(index)) {
    bool goesOn = !lines.empty() && !lines.back().comment.empty() && !comment.blankBefore &&
                  lines.back().column == comment.column &&
                  (lines.back().hangs || !lines.back().code.empty());
    Line &line = addLine(indent, comment.blankBefore);
    line.comment = comment.text;
    line.column = comment.column;
    line.hangs = goesOn;
  }
}

/// Writes [begin, end) as one line.
void LineWriter::emit(unsigned begin, unsigned end, unsigned indent, bool flat) {
  Line &line = addLine(indent, tokens[begin].blankBefore);
  for (unsigned i = begin; i < end; ++i) {
    const FormatToken &token = tokens[i];
    if (isOpening(token.kind))
      indentOfOpening[i] = indent;
    if (isDropped(i, flat))
      continue;
    if (i != begin && tokens.hasSpace(i))
      line.code += ' ';
    line.code += token.text;
  }
}

/// Gives the last line the comment behind a token, or behind the separator after the end of a run,
/// which is left out.
void LineWriter::attachTrailing(unsigned index, bool isEnd) {
  const FormatToken &next = tokens[index + 1];
  bool separates = next.kind == Tok::Semi || next.kind == Tok::Comma;
  if (!tokens[index].hasTrailing && isEnd && separates)
    ++index;
  if (!tokens[index].hasTrailing)
    return;
  lines.back().comment = tokens.trailing(index).text;
  lines.back().column = tokens.trailing(index).column;
}

//===----------------------------------------------------------------------===//
// Comments behind code
//===----------------------------------------------------------------------===//

/// Aligns the comments of lines [begin, end) unless one would leave the page by that.
void LineWriter::placeGroup(size_t begin, size_t end) {
  unsigned place = 0;
  bool fits = true;
  for (size_t i = begin; i < end; ++i)
    if (!lines[i].hangs)
      place = std::max(place, lines[i].indent + unsigned(lines[i].code.size()) + 2);
  for (size_t i = begin; i < end; ++i)
    fits &= place + lines[i].comment.size() <= kMaxColumns;
  unsigned own = place;
  for (size_t i = begin; i < end; ++i) {
    if (!lines[i].hangs)
      own = lines[i].indent + unsigned(lines[i].code.size()) + 2;
    lines[i].commentPlace = fits ? place : own;
  }
}

void LineWriter::placeComments() {
  auto isBehindCode = [&](const Line &line) {
    return !line.comment.empty() && (line.hangs || !line.code.empty());
  };
  auto follows = [&](const Line &line, const Line &first) {
    return isBehindCode(line) &&
           (line.hangs || (line.indent == first.indent && !line.blankBefore));
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!isBehindCode(lines[i]))
      continue;
    size_t end = i + 1;
    while (end < lines.size() && follows(lines[end], lines[i]))
      ++end;
    placeGroup(i, end);
    i = end - 1;
  }
}

std::string LineWriter::finish() {
  placeComments();
  std::string text;
  for (const Line &line : lines) {
    if (line.blankBefore)
      text += '\n';
    size_t begin = text.size();
    if (!line.hangs)
      text.append(line.indent, ' ');
    text += line.code;
    if (!line.comment.empty()) {
      bool alone = line.code.empty() && !line.hangs;
      size_t width = text.size() - begin;
      text.append(alone ? 0 : line.commentPlace - width, ' ');
      text += line.comment;
    }
    text += '\n';
  }
  return text;
}
