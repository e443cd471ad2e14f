//===- VerifyDiagnostics.h - expected diagnostics in a file's comments ---------===//
//
// For tests: a comment `expected-error {{text}}` (also -warning, -remark, -note, -help, and -fix,
// whose text is what is put in) demands that a
// diagnostic whose "TKnnnn: message" contains `text` is reported on that line; `@+N` or `@-N` after
// the word names another line. Every error, warning and remark must be expected exactly once, and a
// note when the comments expect any note of the same diagnostic.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/diagnostics/Render.h"

namespace tk {

/// Compares `records` with the comments of `text`, the file at `path`; prints what differs. True
/// when nothing does.
bool verifyDiagnostics(llvm::ArrayRef<DiagRecord> records, llvm::StringRef path,
                       llvm::StringRef text, llvm::raw_ostream &os);

} // namespace tk
