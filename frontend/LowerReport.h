//===- LowerReport.h - reporting from the walk ---------------------------------===//
//
// Functions are elaborated at every call and loops unrolled, so one fault may be met many times:
// it is reported once. Inside a function the calls that led there follow as notes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Frontend.h"
#include "frontend/Modules.h"
#include "ir/diagnostics/Diagnostics.h"
#include <set>
#include <tuple>

namespace tk {

class Reporter;

/// A diagnostic being written; it is reported when it goes out of scope.
class Report {
public:
  Report() = default;
  Report(mlir::InFlightDiagnostic &&diag, Reporter *reporter)
      : diag(std::move(diag)), reporter(reporter) {}
  Report(Report &&other) : diag(std::move(other.diag)), reporter(other.reporter) {
    other.reporter = nullptr;
  }
  ~Report();

  /// A note at a place in the program; none when `range` is empty.
  Report &note(SourceRange range, const llvm::Twine &text);
  Report &note(mlir::Location place, const llvm::Twine &text);
  Report &help(const llvm::Twine &text);
  /// An edit that mends the program, together with the others of this report.
  Report &fix(SourceRange range, const llvm::Twine &replacement);
  /// A name that may have been meant, as advice and as an edit; nothing when it is empty.
  Report &suggest(SourceRange range, llvm::StringRef name);
  /// The edits that put `.to(f32)` and the like behind an expression, in parentheses if need be.
  Report &fixSuffix(SourceRange expr, const llvm::Twine &suffix);

private:
  mlir::InFlightDiagnostic diag;
  Reporter *reporter = nullptr; // null: this fault has been reported before
};

class Reporter {
public:
  Reporter(mlir::MLIRContext &context, const SourceMap &sources)
      : context(context), sources(sources) {}

  /// A fault that is found in the standard library is its caller's, who cannot mend the library.
  template <const DiagSpec &Spec, class... Args> Report report(SourceRange range, Args &&...args) {
    SourceRange place = isInLibrary(range) ? callFromOutside(range) : range;
    Report report = start<Spec>(locate(place), range, std::forward<Args>(args)...);
    if (place.begin != range.begin)
      report.note(range, "it is found here, in the standard library");
    return report;
  }
  /// An error of the command line, at no place of the file.
  template <const DiagSpec &Spec, class... Args> Report reportCommand(Args &&...args) {
    if (Spec.severity == mlir::DiagnosticSeverity::Error)
      errorClass = LowerError::CommandLine;
    return start<Spec>(mlir::UnknownLoc::get(&context), SourceRange(), std::forward<Args>(args)...);
  }

  bool isInLibrary(SourceRange range) const {
    return llvm::StringRef(sources.fileAt(range.begin).getPath()).starts_with(kLibraryPrefix);
  }
  /// The innermost call that does not stand in the library; `range` where there is none.
  SourceRange callFromOutside(SourceRange range) const;
  mlir::Location locate(SourceRange range) const { return sources.getLocation(context, range); }

  llvm::StringRef textAt(SourceRange range) const { return sources.getText(range); }

  LowerError errorClass = LowerError::None;
  unsigned numErrors = 0;
  /// The calls being inlined, outermost first: the place and the function's name.
  std::vector<std::pair<SourceRange, std::string>> calls;

private:
  template <const DiagSpec &Spec, class... Args>
  Report start(mlir::Location loc, SourceRange range, Args &&...args) {
    std::string text = llvm::formatv(Spec.text.data(), args...).str();
    if (Spec.severity == mlir::DiagnosticSeverity::Error) {
      ++numErrors;
      if (errorClass == LowerError::None)
        errorClass = LowerError::Input;
    }
    // Beyond this many the rest follows from the first ones.
    constexpr size_t kMaxReports = 100;
    if (reported.size() >= kMaxReports ||
        !reported.emplace(Spec.code, range.begin, range.end, std::move(text)).second)
      return Report();
    return Report(emit<Spec>(loc, std::forward<Args>(args)...), this);
  }

  mlir::MLIRContext &context;
  const SourceMap &sources;
  std::set<std::tuple<int, uint32_t, uint32_t, std::string>> reported;
};

/// An expression's text with `.to(f32)` and the like behind it, in parentheses if need be.
std::string withSuffix(llvm::StringRef expr, const llvm::Twine &suffix);

} // namespace tk
