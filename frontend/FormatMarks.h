//===- FormatMarks.h - what the syntax tree says about tokens ----------------------------===//
#pragma once

#include "frontend/FormatTokens.h"

namespace tk::format {

/// Sets what tokens are for.
void markTokens(const ast::File &file, FormatTokens &tokens);

} // namespace tk::format
