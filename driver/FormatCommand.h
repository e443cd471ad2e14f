//===- FormatCommand.h - tkc fmt ------------------------------------------------------===//
#pragma once

#include "driver/Options.h"

namespace tk {

/// Formats every file; one with errors is reported and left alone. The exit status is 1 after an
/// error, and with --check or --diff when a file would change.
int runFormat(const CompileOptions &options, const FormatOptions &format);

} // namespace tk
