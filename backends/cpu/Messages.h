//===- Messages.h - diagnostics as the one line that a caller gets ----------------===//
//
// A program's context is shared by all threads that launch it, and so is its one handler: it hands
// a diagnostic to the `Messages` that its thread has opened, and drops it where there is none.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include <string>

namespace tk::cpu {

class Messages {
public:
  /// Collects what is reported on this thread until it goes.
  Messages();
  ~Messages();
  Messages(const Messages &) = delete;

  /// To be called once a context; the handler lives as long as the context.
  static void attachTo(mlir::MLIRContext &context);

  /// "k.tk:7:5: TK5001: ...; help: ...; 2 more errors", of the first error.
  std::string text() const;

private:
  void add(mlir::Diagnostic &diag);

  std::string first;
  unsigned errors = 0;
  Messages *outer;
};

/// Writes `text` into the caller's storage of `room` bytes as <tkc/cpu.h> says: one line, cut to
/// fit between two characters, ended with NUL.
void writeText(llvm::StringRef text, char *storage, size_t room);

} // namespace tk::cpu
