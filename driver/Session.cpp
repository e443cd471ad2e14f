//===- Session.cpp - one piece of guarded work with its messages -------------------------===//

#include "driver/Session.h"
#include "driver/CommandText.h"
#include "driver/Crash.h"
#include "driver/Tools.h"
#include "frontend/Modules.h"
#include "ir/diagnostics/VerifyDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

using namespace tk;
using llvm::StringRef;

static void print(llvm::ArrayRef<DiagRecord> records, SourceTexts &sources, bool json) {
  if (json)
    return renderJson(records, llvm::errs());
  bool colors = llvm::sys::Process::FileDescriptorHasColors(STDERR_FILENO);
  renderText(records, sources, llvm::errs(), colors);
}

int tk::printAlone(const DiagRecord &record, bool json, int status) {
  SourceTexts sources;
  print(record, sources, json);
  return status;
}

/// Says what happened and how to make it happen again, and ends the process: nothing that the
/// crashed code used can be destroyed.
[[noreturn]] static void reportCrash(const CrashReport &report, const CompileOptions &options) {
  limitReport();
  std::string what = report.activity + (report.reason.empty() ? "" : ": " + report.reason);
  DiagRecord record = commandLineDiag<diag::LlvmCrashed>("", what);
  record.notes.push_back({{}, "tkc " + tkcVersion().str() + ", LLVM " + llvmVersion().str()});
  record.notes.push_back({{}, "to reproduce: " + quoteCommand(options.commandLine)});
  record.help.push_back("please report this with the input file; nothing was written");
  printAlone(record, options.jsonDiagnostics, 3);
  llvm::errs().flush();
  _exit(3);
}

std::optional<DiagRecord> tk::readStandardInput(Input &input) {
  input.path = "<stdin>";
  auto buffer = llvm::MemoryBuffer::getSTDIN();
  if (!buffer)
    return commandLineDiag<diag::CannotRead>("", "standard input", buffer.getError().message());
  input.text = (*buffer)->getBuffer().str();
  return std::nullopt;
}

std::optional<DiagRecord> tk::readInput(StringRef path, Input &input) {
  if (path == "-")
    return readStandardInput(input);
  input.path = path.str();
  if (llvm::sys::fs::is_directory(input.path))
    return commandLineDiag<diag::CannotRead>("", input.path, "it is a folder");
  llvm::sys::fs::file_status status;
  bool known = !llvm::sys::fs::status(input.path, status);
  if (known && (status.type() == llvm::sys::fs::file_type::character_file ||
                status.type() == llvm::sys::fs::file_type::block_file))
    return commandLineDiag<diag::CannotRead>("", input.path, "it is a device"); // may never end
  auto buffer = llvm::MemoryBuffer::getFile(input.path, /*IsText=*/true,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return commandLineDiag<diag::CannotRead>("", input.path, buffer.getError().message());
  input.text = (*buffer)->getBuffer().str();
  return std::nullopt;
}

/// The status that errors make of work that thought itself good; internal errors are 3.
static int statusOf(const WorkResult &work) {
  int status = work.status;
  for (const DiagRecord &record : work.records) {
    if (record.severity != mlir::DiagnosticSeverity::Error)
      continue;
    if (record.code / 1000 == 9)
      return 3;
    status = std::max(status, 1);
  }
  return status;
}

namespace {
/// What a compile or run needs. Nothing of it is destroyed when the work crashed: the process ends.
struct Session {
  std::unique_ptr<mlir::MLIRContext> context;
  std::optional<DiagnosticBuffer> diagnostics;
};
} // namespace

WorkResult tk::runGuardedWork(const CompileOptions &options,
                              llvm::function_ref<int(mlir::MLIRContext &)> work) {
  auto session = std::make_unique<Session>();
  WorkResult result;
  setReproduction(quoteCommand(options.commandLine), options.jsonDiagnostics);
  result.crash = runGuarded([&] {
    session->context = createContext();
    session->diagnostics.emplace(*session->context, options.policy);
    result.status = work(*session->context);
  });
  if (session->diagnostics)
    result.records = session->diagnostics->getRecords().vec();
  if (result.crash.crashed)
    session.release();
  return result;
}

int tk::reportWork(const CompileOptions &options, const Input &input, const WorkResult &work) {
  SourceTexts sources;
  sources.add(input.path, input.text);
  sources.add(kCommandLineName, commandText(options.commandLine));
  for (const LibraryFile &file : libraryFiles())
    sources.add(libraryPath(file.name), file.text);
  if (!options.verifyDiagnostics)
    print(work.records, sources, options.jsonDiagnostics);
  if (work.crash.crashed)
    reportCrash(work.crash, options);
  if (options.verifyDiagnostics)
    return verifyDiagnostics(work.records, input.path, input.text, llvm::errs()) ? 0 : 1;
  int status = statusOf(work);
  if (status == 3) {
    DiagRecord note;
    note.severity = mlir::DiagnosticSeverity::Note;
    note.message = "to reproduce: " + quoteCommand(options.commandLine);
    printAlone(note, options.jsonDiagnostics, 3);
  }
  return status;
}

int tk::runSession(const CompileOptions &options, const Input &input,
                   llvm::function_ref<int(mlir::MLIRContext &)> work) {
  return reportWork(options, input, runGuardedWork(options, work));
}
