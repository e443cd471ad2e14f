//===- Error.h - failures as values in the caller's storage ----------------===//
// Nothing here allocates, throws or prints. A null tkc_error is allowed everywhere.
#ifndef TKC_RUNTIME_ERROR_H
#define TKC_RUNTIME_ERROR_H

#include "tkc/runtime.h"

#include <cstddef>

namespace tkcrt {

/// Marks `err`, when there is one, as good.
tkc_status succeed(tkc_error *err);

/// Writes status and text, and returns the status. Text that is too long ends in "...".
tkc_status fail(tkc_error *err, tkc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Sets what only driver failures have, after fail().
void addDriverCode(tkc_error *err, int code, bool earlierAsync);

/// Checks the `size` field that every descriptor of the C interface begins with, as runtime.h
/// states: at least the `first` release's bytes; those beyond this one's `known` must be zero.
tkc_status checkSize(const void *descriptor, size_t first, size_t known, const char *what,
                     tkc_error *err);

/// The same for a descriptor that has not grown.
inline tkc_status checkSize(const void *descriptor, size_t known, const char *what,
                            tkc_error *err) {
  return checkSize(descriptor, known, known, what, err);
}

} // namespace tkcrt

#endif
