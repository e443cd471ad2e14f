//===- Error.cpp - failures as values in the caller's storage --------------===//
#include "Error.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace tkcrt {

/// A size of 0 is a caller who forgot it; the storage is still a whole tkc_error by its type.
static bool isWritable(const tkc_error *err) {
  return err && (err->size == 0 || err->size >= sizeof(tkc_error));
}

tkc_status succeed(tkc_error *err) {
  if (isWritable(err)) {
    err->status = TKC_OK;
    err->driver_code = 0;
    err->earlier_async = 0;
    err->text[0] = 0;
  }
  return TKC_OK;
}

tkc_status fail(tkc_error *err, tkc_status status, const char *format, ...) {
  if (!isWritable(err))
    return status;
  err->status = status;
  err->driver_code = 0;
  err->earlier_async = 0;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(err->text, sizeof(err->text), format, args);
  va_end(args);
  if (length >= static_cast<int>(sizeof(err->text)))
    memcpy(err->text + sizeof(err->text) - 4, "...", 4);
  return status;
}

void addDriverCode(tkc_error *err, int code, bool earlierAsync) {
  if (!isWritable(err))
    return;
  err->driver_code = code;
  err->earlier_async = earlierAsync ? 1 : 0;
}

tkc_status checkSize(const void *descriptor, size_t first, size_t known, const char *what,
                     tkc_error *err) {
  if (!descriptor)
    return fail(err, TKC_E_ARG, "%s is NULL", what);
  uint32_t size;
  memcpy(&size, descriptor, sizeof(size));
  if (size < first)
    return fail(err, TKC_E_ARG, "%s: size is %u, needed sizeof, which is %zu", what, size, known);
  const unsigned char *bytes = static_cast<const unsigned char *>(descriptor);
  for (size_t i = known; i < size; ++i)
    if (bytes[i])
      return fail(err, TKC_E_UNSUPPORTED,
                  "%s: byte %zu is set, and this libtkcrt knows %zu bytes; use a newer libtkcrt",
                  what, i, known);
  return TKC_OK;
}

} // namespace tkcrt

const char *tkc_status_name(tkc_status status) {
  static const char *const names[] = {
      "TKC_OK",          "TKC_E_ARG",           "TKC_E_DTYPE",     "TKC_E_EXTENT",
      "TKC_E_ALIGN",     "TKC_E_OVERLAP",       "TKC_E_REQUIRE",   "TKC_E_GRID",
      "TKC_E_WORKSPACE", "TKC_E_NO_VARIANT",    "TKC_E_COLD",      "TKC_E_DEVICE",
      "TKC_E_DRIVER",    "TKC_E_DRIVER_OLD",    "TKC_E_CORRUPT",   "TKC_E_DIGEST",
      "TKC_E_ABI",       "TKC_E_NEEDS_FEATURE", "TKC_E_RESOURCES", "TKC_E_UNSUPPORTED",
      "TKC_E_NOMEM",     "TKC_E_AMBIGUOUS",     "TKC_E_KERNEL"};
  constexpr int count = sizeof(names) / sizeof(names[0]);
  return status >= 0 && status < count ? names[status] : "unknown";
}

uint32_t tkc_rt_version(void) {
  return TKC_RT_VERSION;
}
