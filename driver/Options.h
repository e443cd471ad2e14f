//===- Options.h - the command line as one struct -------------------------------===//
//
// OptionTable declares the options; everything else sees CompileOptions and RunOptions. A wrong
// command line is a value too: diagnostics and the exit status.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/RunCommand.h"
#include "driver/Stages.h"
#include "driver/TuneOptions.h"
#include "frontend/Frontend.h"
#include "ir/diagnostics/Diagnostics.h"
#include "ir/diagnostics/Render.h"
#include <string>
#include <vector>

namespace tk {

struct CompileOptions {
  // What to read and to write.
  std::string input;
  std::string output;             // -o; empty: default
  std::vector<Stage> stages;      // --emit; empty: from the extension of `output`, else cubin
  std::string metadata;           // --metadata
  std::string dumpDir;            // --dump-dir
  bool saveTemps = false;
  bool depfile = false;           // -MD
  std::string depfilePath;        // -MF

  // What to compile.
  std::string target; // empty: the input's, else the default
  LowerOptions lower;
  bool hasConfig = false;
  bool described = false; // whatever the image: a description is wanted

  // What only bundles have.
  enum class Configs { One, All, Tuned };
  std::vector<std::string> targets; // also compute_80 and cpu
  bool onlyImageTargets = false;    // --target names no chip
  Configs configs = Configs::One;
  std::string tuned; // the tuning table
  size_t maxVariants = 256;
  std::string listVariants; // text, json; empty: not asked for
  std::string hostTarget;   // of object files; empty: this machine's
  std::string symbolPrefix = "tkc_bundle_";
  int optLevel = 3;
  bool lineInfo = false;
  int jobs = 0; // 0: as many as fit

  // Tools.
  std::string ptxas, libdevice;
  bool hermetic = false;

  // What to show.
  std::string stopAfter;
  std::vector<std::string> printBefore, printAfter;
  bool timePasses = false;
  bool verbose = false;
  bool verifyPhases = false;
  bool jsonDiagnostics = false;
  bool verifyDiagnostics = false;
  DiagPolicy policy;
  std::string testCrash; // hidden: how to crash, for the tests

  /// The words of the command line, for "to reproduce".
  std::vector<std::string> commandLine;
};

/// tkc link, size, notices, extract
struct BundleCommand {
  std::string name;
  std::vector<std::string> files;
};

struct FormatOptions {
  std::vector<std::string> files; // "-" is standard input
  bool check = false, diff = false;
};

/// What the command line asks for.
struct CommandLine {
  enum class Action { Compile, Run, Format, Bundle, Tune, Targets, Explain, Help, HelpHidden, Wrong };
  Action action = Action::Wrong;
  CompileOptions options;         // Compile, Run, Format, Bundle
  RunOptions run;                 // Run
  FormatOptions format;           // Format
  BundleCommand bundle;           // Bundle
  TuneOptions tune;               // Tune
  std::vector<std::string> words; // after `explain`
  std::vector<DiagRecord> errors; // Wrong
  int status = 2;                 // Wrong
};

CommandLine parseCommandLine(llvm::ArrayRef<const char *> args);

/// The integer of [lowest, highest] that an option says; `to` stays as it is when `text` is empty.
std::optional<DiagRecord> convertInteger(llvm::StringRef option, llvm::StringRef text, int lowest,
                                         int highest, int &to);

/// A diagnostic without a place, for what is said before there is a context.
template <const DiagSpec &Spec, class... Args>
DiagRecord commandLineDiag(llvm::StringRef help, Args &&...args) {
  static_assert(sizeof...(Args) == size_t(Spec.numArgs), "wrong number of arguments");
  DiagRecord record;
  record.severity = Spec.severity;
  record.code = Spec.code;
  record.message = llvm::formatv(Spec.text.data(), std::forward<Args>(args)...).str();
  if (!help.empty())
    record.help.push_back(help.str());
  return record;
}

} // namespace tk
