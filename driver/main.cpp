//===- main.cpp - tkc -----------------------------------------------------------------===//

#include "driver/Driver.h"
#include "driver/Tools.h"
#include "llvm/Support/raw_ostream.h"

/// True when --version stands among the options. It is answered before anything is set up.
static bool asksForVersion(llvm::ArrayRef<const char *> args) {
  for (llvm::StringRef arg : args.drop_front())
    if (arg == "--version" || arg == "--")
      return arg == "--version";
  return false;
}

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> args(argv, size_t(argc));
  int status = 0;
  if (asksForVersion(args))
    llvm::outs() << "tkc " << tk::tkcVersion() << " (LLVM " << tk::llvmVersion() << ")\n";
  else
    status = tk::runTkc(args);
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return status;
  llvm::outs().clear_error();
  llvm::errs() << "tkc: error: cannot write standard output\n";
  return status ? status : 1;
}
