//===- OptionTable.h - the options as they are declared -----------------------------===//
//
// The one place that declares options, each with its line of --help. CLI11 (in OptionTable.cpp
// alone: it is slow to compile) splits the words; values stay strings here, so that Options.cpp
// converts them all with messages of the same form.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/diagnostics/Render.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tk {

/// What the words of a command line say, before it is checked. Empty: not given.
struct RawOptions {
  std::vector<std::string> words; // that are no options: files and arguments, in order
  std::vector<std::string> emit, defines, targets, fallbacks, assumptions, kernels, includes, warnings;
  std::vector<std::string> printBefore, printAfter;
  std::string output, metadata, dumpDir, depfilePath, config, warps, stages, ctas, maxregs;
  std::string ptxas, libdevice, stopAfter, optLevel, jobs, diagnostics, remarks, testCrash;
  bool saveTemps = false, depfile = false, hermetic = false, lineInfo = false, asserts = false, verbose = false;
  bool timePasses = false, verifyPhases = false, verifyDiagnostics = false;
  bool help = false, helpHidden = false, version = false;

  // bundles
  std::string tuned, maxVariants, listVariants, hostTarget, symbolPrefix;
  bool withInterp = false;

  // tkc run
  std::string engine, sms, order, live;
  std::vector<std::string> outs, prints, lets, expects, bounds;
  bool checkBounds = true, checkInit = true, checkAccess = true, checkRaces = true;
  bool checkArithmetic = true, checkNan = false, noCheckNan = false;

  // tkc tune, tkc bench
  std::vector<std::string> shapes, fills;
  std::string cache, search, device, shard, rounds, timeout, why, baseline, svg;
  bool json = false;

  // tkc fmt
  bool fmtCheck = false, fmtDiff = false;
};

/// Whose options are known.
enum class Command { Compile, Run, Format, Link, Extract, Size, Notices, Tune, Merge, Bench };

/// "tkc FILE", "tkc run", "tkc tune merge"
llvm::StringRef commandName(Command command);

/// Reads the words after `tkc` or `tkc run`; a mistake comes back as a diagnostic.
std::optional<DiagRecord> parseWords(llvm::ArrayRef<const char *> words, Command command,
                                     RawOptions &raw);

/// The text of --help or --help-hidden.
std::string helpText(bool hidden);

} // namespace tk
