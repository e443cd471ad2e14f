//===- Messages.cpp - diagnostics as the one line that a caller gets --------------===//

#include "backends/cpu/Messages.h"
#include "ir/diagnostics/Render.h"
#include "mlir/IR/MLIRContext.h"
#include <algorithm>
#include <cstring>

using namespace tk;
using namespace tk::cpu;

static thread_local Messages *current = nullptr;

Messages::Messages() : outer(current) {
  current = this;
}
Messages::~Messages() {
  current = outer;
}

void Messages::attachTo(mlir::MLIRContext &context) {
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diag) {
    if (current)
      current->add(diag);
  });
}

void Messages::add(mlir::Diagnostic &diag) {
  if (diag.getSeverity() != mlir::DiagnosticSeverity::Error || errors++ > 0)
    return;
  if (DiagPlace place = placeOf(diag.getLocation()); place.line)
    first =
        place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  first += diag.str();
  for (mlir::Diagnostic &note : diag.getNotes())
    first += "; " + note.str();
}

std::string Messages::text() const {
  std::string text = first;
  if (errors > 1)
    text += "; " + std::to_string(errors - 1) + " more error" + (errors > 2 ? "s" : "");
  return text;
}

void tk::cpu::writeText(llvm::StringRef text, char *storage, size_t room) {
  if (!storage || room == 0)
    return;
  size_t size = std::min(text.size(), room - 1);
  while (size > 0 && size < text.size() && (text[size] & 0xC0) == 0x80)
    --size; // not inside a character of several bytes
  std::memcpy(storage, text.data(), size);
  std::replace_if(
      storage, storage + size, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  storage[size] = '\0';
}
