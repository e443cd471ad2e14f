//===- Render.cpp - diagnostics for people and for tools ----------------------===//

#include "ir/diagnostics/Render.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace tk;
using mlir::DiagnosticSeverity;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

DiagPlace tk::placeOf(mlir::Location loc) {
  if (auto range = mlir::dyn_cast<mlir::FileLineColRange>(loc))
    return {range.getFilename().str(), range.getStartLine(), range.getStartColumn(),
            range.getEndLine(), range.getEndColumn()};
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc))
    return placeOf(name.getChildLoc());
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc)) {
    DiagPlace place = placeOf(call.getCallee());
    return place.line ? place : placeOf(call.getCaller());
  }
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc))
    for (mlir::Location part : fused.getLocations())
      if (DiagPlace place = placeOf(part); place.line)
        return place;
  if (auto opaque = mlir::dyn_cast<mlir::OpaqueLoc>(loc))
    return placeOf(opaque.getFallbackLocation());
  return {};
}

/// The calls through which the code at `loc` was reached, innermost first.
static void collectCalls(mlir::Location loc, std::vector<DiagNote> &notes) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc))
    return collectCalls(name.getChildLoc(), notes);
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    for (mlir::Location part : fused.getLocations())
      if (placeOf(part).line)
        return collectCalls(part, notes);
    return;
  }
  auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc);
  if (!call)
    return;
  collectCalls(call.getCallee(), notes);
  if (DiagPlace place = placeOf(call.getCaller()); place.line)
    notes.push_back({place, "called from here"});
  collectCalls(call.getCaller(), notes);
}

//===----------------------------------------------------------------------===//
// The buffer
//===----------------------------------------------------------------------===//

DiagnosticBuffer::DiagnosticBuffer(mlir::MLIRContext &context, DiagPolicy policyIn)
    : context(context), policy(std::move(policyIn)) {
  if (!policy.remarkFilter.empty())
    remarkRegex = std::make_unique<llvm::Regex>(policy.remarkFilter);
  handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) { add(diag); });
}

DiagnosticBuffer::~DiagnosticBuffer() { context.getDiagEngine().eraseHandler(handler); }

static int takeCode(std::string &message) {
  int code = diagnosticCode(message);
  if (code)
    message = llvm::StringRef(message).split(':').second.ltrim().str();
  return code;
}

/// A note of its own comes as a remark (emit in Diagnostics.h).
static bool isNote(int code) {
  return llvm::any_of(allDiagnostics(), [&](const DiagSpec *spec) {
    return spec->code == code && spec->severity == DiagnosticSeverity::Note;
  });
}

void DiagnosticBuffer::add(mlir::Diagnostic &diag) {
  DiagRecord record;
  record.severity = diag.getSeverity();
  record.message = diag.str();
  record.code = takeCode(record.message);
  if (record.severity == DiagnosticSeverity::Remark && isNote(record.code))
    record.severity = DiagnosticSeverity::Note;
  record.place = placeOf(diag.getLocation());
  for (mlir::Diagnostic &note : diag.getNotes()) {
    std::string text = note.str();
    llvm::StringRef advice = text;
    if (advice.consume_front("help: "))
      record.help.push_back(advice.str());
    else if (advice.consume_front("fix: "))
      record.fix.push_back({placeOf(note.getLocation()), advice.str()});
    else
      record.notes.push_back({placeOf(note.getLocation()), text});
  }
  collectCalls(diag.getLocation(), record.notes);
  if (!admit(record) || llvm::is_contained(records, record))
    return;
  numErrors += record.severity == DiagnosticSeverity::Error;
  numWarnings += record.severity == DiagnosticSeverity::Warning;
  records.push_back(std::move(record));
}

bool DiagnosticBuffer::admit(DiagRecord &record) const {
  if (record.severity == DiagnosticSeverity::Remark) {
    std::string text = "TK" + std::to_string(record.code) + ": " + record.message;
    return policy.showRemarks && (!remarkRegex || remarkRegex->match(text));
  }
  if (record.severity != DiagnosticSeverity::Warning)
    return true;
  if (llvm::is_contained(policy.hiddenWarnings, record.code))
    return false;
  bool plain = llvm::is_contained(policy.plainWarnings, record.code);
  if (llvm::is_contained(policy.errorWarnings, record.code) ||
      (policy.warningsAreErrors && !plain)) {
    record.severity = DiagnosticSeverity::Error;
    record.message += " [-Werror]";
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Source lines
//===----------------------------------------------------------------------===//

std::optional<llvm::StringRef> SourceTexts::getLine(llvm::StringRef path, unsigned line) {
  auto found = texts.find(path);
  if (found == texts.end()) {
    // A path that cannot be read has no lines, and is not tried again.
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    std::string text = buffer ? (*buffer)->getBuffer().str() : std::string();
    found = texts.try_emplace(path, std::move(text)).first;
  }
  llvm::StringRef rest = found->second;
  for (unsigned i = 1; i < line; ++i) {
    size_t end = rest.find('\n');
    if (end == llvm::StringRef::npos)
      return std::nullopt;
    rest = rest.drop_front(end + 1);
  }
  llvm::StringRef result = rest.take_until([](char c) { return c == '\n'; });
  result.consume_back("\r");
  if (result.empty())
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Longest part of a source line that is shown.
static constexpr size_t kMaxShownBytes = 160;

namespace {
class TextRenderer {
public:
  TextRenderer(SourceTexts &sources, llvm::raw_ostream &os, bool colors)
      : sources(sources), os(os), colors(colors) {}

  void render(const DiagRecord &record);

private:
  void header(const DiagPlace &place, DiagnosticSeverity severity, llvm::StringRef message);
  void snippet(const DiagPlace &place, llvm::ArrayRef<DiagEdit> fix = {});
  void paint(const char *sequence) {
    if (colors)
      os << sequence;
  }

  SourceTexts &sources;
  llvm::raw_ostream &os;
  bool colors;
};
} // namespace

static llvm::StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

static const char *severityColor(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "\033[36m";
  case DiagnosticSeverity::Warning:
    return "\033[35m";
  case DiagnosticSeverity::Error:
    return "\033[31m";
  case DiagnosticSeverity::Remark:
    return "\033[34m";
  }
  return "";
}

static std::string withCode(const DiagRecord &record) {
  if (!record.code)
    return record.message;
  return "TK" + std::to_string(record.code) + ": " + record.message;
}

void TextRenderer::header(const DiagPlace &place, DiagnosticSeverity severity,
                          llvm::StringRef message) {
  paint("\033[1m");
  if (place.line)
    os << place.file << ':' << place.line << ':' << place.column << ": ";
  else
    os << "tkc: ";
  paint(severityColor(severity));
  os << severityName(severity) << ": ";
  paint("\033[0m");
  os << message << '\n';
}

/// One printed cell a character: control bytes become blanks, bytes that continue a character are
/// kept. The caret line gets a mark for each character of [begin, end).
static void drawLine(llvm::StringRef line, size_t begin, size_t end, std::string &text,
                     std::string &marks) {
  for (size_t i = 0; i < line.size(); ++i) {
    unsigned char c = line[i];
    text += c < 0x20 || c == 0x7f ? ' ' : char(c);
    bool continuation = (c & 0xC0) == 0x80;
    if (!continuation && i < end)
      marks += i < begin ? ' ' : i == begin ? '^' : '~';
  }
  if (begin >= line.size())
    marks += '^';
}

/// What a fix puts into the line, at its columns; a second row where texts would overlap.
static std::vector<std::string> fixRows(llvm::StringRef line, size_t skip, const DiagPlace &place,
                                        llvm::ArrayRef<DiagEdit> fix) {
  std::vector<std::string> rows;
  for (const DiagEdit &edit : fix) {
    if (edit.place.line != place.line || edit.place.file != place.file ||
        edit.place.column <= skip || edit.text.empty())
      continue;
    llvm::StringRef before = line.take_front(edit.place.column - 1).drop_front(skip);
    size_t cells = llvm::count_if(before, [](unsigned char c) { return (c & 0xC0) != 0x80; });
    if (rows.empty() || rows.back().size() > cells)
      rows.emplace_back();
    rows.back().resize(cells, ' ');
    rows.back() += edit.text;
  }
  return rows;
}

void TextRenderer::snippet(const DiagPlace &place, llvm::ArrayRef<DiagEdit> fix) {
  if (!place.line)
    return;
  std::optional<llvm::StringRef> line = sources.getLine(place.file, place.line);
  if (!line || place.column == 0)
    return;
  size_t begin = std::min<size_t>(place.column - 1, line->size());
  size_t end = place.endLine > place.line ? line->size() : place.endColumn ? place.endColumn - 1 : 0;
  end = std::clamp(end, std::min(begin + 1, line->size()), line->size());
  size_t skip = begin > kMaxShownBytes / 2 && line->size() > kMaxShownBytes
                    ? begin - kMaxShownBytes / 2
                    : 0;
  llvm::StringRef shown = line->substr(skip, kMaxShownBytes);
  std::string text, marks;
  drawLine(shown, begin - skip, std::min(end - skip, shown.size()), text, marks);
  std::string number = std::to_string(place.line);
  std::string gutter(std::max<size_t>(5, number.size()), ' ');
  os << llvm::right_justify(number, gutter.size()) << " | " << text << '\n' << gutter << " | ";
  paint("\033[32m");
  os << marks;
  for (const std::string &row : fixRows(*line, skip, place, fix))
    os << '\n' << gutter << " | " << llvm::StringRef(row).rtrim();
  paint("\033[0m");
  os << '\n';
}

void TextRenderer::render(const DiagRecord &record) {
  header(record.place, record.severity, withCode(record));
  snippet(record.place, record.fix);
  for (const DiagNote &note : record.notes) {
    const DiagPlace &place = note.place.line ? note.place : record.place;
    header(place, DiagnosticSeverity::Note, note.message);
    if (place != record.place)
      snippet(place);
  }
  for (const DiagEdit &edit : record.fix) {
    if (edit.place.line == record.place.line && edit.place.file == record.place.file)
      continue;
    header(edit.place, DiagnosticSeverity::Note, "the fix goes here");
    snippet(edit.place, edit);
  }
  for (const std::string &advice : record.help) {
    paint("\033[1;32m");
    os << "help: ";
    paint("\033[0m");
    os << advice << '\n';
  }
}

void tk::renderText(llvm::ArrayRef<DiagRecord> records, SourceTexts &sources,
                    llvm::raw_ostream &os, bool colors) {
  TextRenderer renderer(sources, os, colors);
  for (const DiagRecord &record : records)
    renderer.render(record);
}

//===----------------------------------------------------------------------===//
// JSON lines
//===----------------------------------------------------------------------===//

static void writePlace(llvm::json::OStream &json, const DiagPlace &place) {
  if (!place.line)
    return;
  json.attribute("file", llvm::json::fixUTF8(place.file));
  json.attribute("line", place.line);
  json.attribute("column", place.column);
  json.attribute("endLine", place.endLine);
  json.attribute("endColumn", place.endColumn);
}

void tk::renderJson(llvm::ArrayRef<DiagRecord> records, llvm::raw_ostream &os) {
  for (const DiagRecord &record : records) {
    llvm::json::OStream json(os);
    json.object([&] {
      json.attribute("code", record.code ? "TK" + std::to_string(record.code) : "");
      json.attribute("severity", severityName(record.severity));
      json.attribute("message", llvm::json::fixUTF8(record.message));
      writePlace(json, record.place);
      json.attributeArray("notes", [&] {
        for (const DiagNote &note : record.notes)
          json.object([&] {
            json.attribute("message", llvm::json::fixUTF8(note.message));
            writePlace(json, note.place);
          });
      });
      json.attributeArray("help", [&] {
        for (const std::string &advice : record.help)
          json.value(llvm::json::fixUTF8(advice));
      });
      json.attributeArray("fix", [&] {
        for (const DiagEdit &edit : record.fix)
          json.object([&] {
            writePlace(json, edit.place);
            json.attribute("replacement", llvm::json::fixUTF8(edit.text));
          });
      });
    });
    os << '\n';
  }
}
