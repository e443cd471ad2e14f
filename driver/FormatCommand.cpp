//===- FormatCommand.cpp - tkc fmt ----------------------------------------------------===//

#include "driver/FormatCommand.h"
#include "driver/LineDiff.h"
#include "driver/Outputs.h"
#include "driver/Session.h"
#include "frontend/Format.h"

using namespace tk;
using llvm::StringRef;

static int formatFile(const CompileOptions &options, const FormatOptions &format,
                      StringRef path) {
  Input input;
  if (std::optional<DiagRecord> wrong =
          path == "-" ? readStandardInput(input) : readInput(path, input))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  std::string text;
  int status = runSession(options, input, [&](mlir::MLIRContext &context) {
    SourceFile source(input.path, input.text);
    llvm::FailureOr<std::string> formatted = formatSource(context, source);
    if (failed(formatted))
      return 1;
    text = std::move(*formatted);
    return 0;
  });
  if (status || options.verifyDiagnostics)
    return status;
  bool changes = text != input.text;
  if (format.diff && changes)
    printDiff(input.path, input.text, text, llvm::outs());
  if (format.check && changes)
    return printAlone(commandLineDiag<diag::NotFormatted>("`tkc fmt` puts it right", input.path),
                      options.jsonDiagnostics, 1);
  if (format.diff || format.check)
    return changes;
  if (!changes && path != "-")
    return 0;
  if (std::optional<DiagRecord> wrong = writeFiles(OutputFile{path.str(), text}))
    return printAlone(*wrong, options.jsonDiagnostics, 1);
  return 0;
}

int tk::runFormat(const CompileOptions &options, const FormatOptions &format) {
  int status = 0;
  for (const std::string &path : format.files)
    status = std::max(status, formatFile(options, format, path));
  return status;
}
