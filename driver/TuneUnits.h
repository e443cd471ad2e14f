//===- TuneUnits.h - the configurations of a file, given to the tuner ----------------------===//
//
// What is known before any machine code (parameters, `prune`, the tuning space) is read from stage
// tk of each configuration, which the front end makes in milliseconds. Machine code is made only of
// those that have to be timed: not of those left out, nor of those whose time the cache has.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/TuneLibrary.h"
#include "driver/Units.h"

namespace tk {

/// The units of one kernel and instance: those that candidates are made of.
struct TuneGroup {
  std::vector<Unit> units;
  std::vector<std::string> keys;      // of their notes in the cache; empty: no stage tk
  std::vector<std::string> described; // JSON
  std::vector<std::string> failures;  // why the front end makes nothing of it
};

/// What compiles for the device; null, with a diagnostic's text in `problem`, when nothing does.
const Target *targetOfDevice(const llvm::json::Value &report, std::string &problem);

/// Lists the units and runs the front end on each; on failure messages are printed and the status
/// is not 0.
int planTuning(const CompileOptions &options, const Input &input, std::vector<TuneGroup> &groups);

/// Adds the group's units as candidates, in order, without code.
tkc_status addCandidates(tkc_tuner *tuner, TuneGroup &group, bool hasCache, tkc_error *error);

/// Compiles what some shape needs, in parallel.
tkc_status compileMissing(tkc_tuner *tuner, const CompileOptions &options, const Input &input,
                          TuneGroup &group, const TuneOptions &tune, tkc_error *error);

/// Compiles one unit to an image and its JSON; messages are printed.
int compileOne(const CompileOptions &options, const Input &input, const Unit &unit,
               std::string &image, std::string &json);

} // namespace tk
