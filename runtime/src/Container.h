//===- Container.h - the frame of a .tkb file ------------------------------===//
// docs/design/bundles.md has the format.
#ifndef TKC_RUNTIME_CONTAINER_H
#define TKC_RUNTIME_CONTAINER_H

#include "Sha256.h"
#include "tkc/runtime.h"

#include <cstring>

namespace tkcrt {

/// Little-endian, as bundles and the images in them are; Bind.cpp asserts that the machine is too.
template <typename Integer> Integer readAt(const void *data, size_t at) {
  Integer value;
  memcpy(&value, static_cast<const char *>(data) + at, sizeof(value));
  return value;
}

struct Container {
  uint64_t jsonOffset = 0, jsonBytes = 0;
  Digest digest{}; ///< of the JSON
  uint64_t jsonEnd() const { return jsonOffset + jsonBytes; }
};

/// Reads and checks the header, and that the JSON is the one whose digest it holds.
tkc_status readContainer(const void *data, size_t bytes, Container &out, tkc_error *err);

/// Bytes [begin, end) of the file, which nothing names, must be 0.
tkc_status checkGap(const void *data, uint64_t begin, uint64_t end, tkc_error *err);

} // namespace tkcrt

#endif
