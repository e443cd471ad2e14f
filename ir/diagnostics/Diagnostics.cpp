//===- Diagnostics.cpp - the table behind Diagnostics.def ------------------===//

#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;

llvm::ArrayRef<const DiagSpec *> tk::allDiagnostics() {
  static const DiagSpec *const table[] = {
#define DIAG(NAME, CODE, SEVERITY, TEXT) &diag::NAME,
#include "ir/diagnostics/Diagnostics.def"
#undef DIAG
  };
  return table;
}

std::string tk::diagnosticName(const DiagSpec &spec) {
  std::string result;
  for (char c : spec.name) {
    if (llvm::isUpper(c) && !result.empty())
      result += '-';
    result += llvm::toLower(c);
  }
  return result;
}

int tk::diagnosticCode(llvm::StringRef message) {
  int code = 0;
  if (!message.consume_front("TK") || message.consumeInteger(10, code))
    return 0;
  return code;
}
