//===- TuneCommand.h - tkc tune and tkc bench ----------------------------------------------===//
#pragma once

#include "driver/Options.h"

namespace tk {

int runTune(const CompileOptions &options, const TuneOptions &tune);
int runBench(const CompileOptions &options, const TuneOptions &tune);

} // namespace tk
