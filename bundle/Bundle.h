//===- Bundle.h - one file with the description and every image --------------------===//
//
// docs/design/bundles.md has the bytes. In memory a bundle is the description with `images` reduced
// to what does not depend on where they lie, and the images themselves, decompressed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tk {

/// Offsets of the header's fields and the bounds that a reader insists on.
namespace bundle_format {
constexpr char kMagic[] = "\x89TKB\r\n\x1a\n";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 128, kImageAlign = 64;
constexpr size_t kVersionAt = 8, kHeaderBytesAt = 12, kJsonAt = 16, kJsonBytesAt = 24,
                 kFileBytesAt = 32, kDigestAt = 40;
constexpr uint64_t kMaxImageBytes = uint64_t(256) << 20, kMaxRatio = 1024;
constexpr size_t kMaxImages = 4096, kMaxKernels = 4096, kMaxVariants = 256;
} // namespace bundle_format

/// An image as its bytes were stored.
struct StoredImage {
  uint64_t offset = 0, stored = 0;
  std::string codec; // "none" or "zstd"
};

struct Bundle {
  llvm::json::Object document;      // `images[i]`: {kind, size, sha256}
  std::vector<std::string> images;  // the bytes of each
  std::vector<StoredImage> storage; // as read; not used for writing

  llvm::json::Array &kernels() { return *document.getArray("kernels"); }
  const llvm::json::Array &kernels() const { return *document.getArray("kernels"); }
  const llvm::json::Object &imageEntry(size_t i) const {
    return *(*document.getArray("images"))[i].getAsObject();
  }
};

/// The bundle of one image and its description, as `writeDescription` made it.
llvm::Expected<Bundle> bundleOf(llvm::StringRef description, std::string image);

/// The bytes of the file; the same bundle gives the same bytes.
std::string writeBundle(const Bundle &bundle);

/// Brackets too far inside each other, outside strings, for a parser that recurses.
bool nestsTooDeep(llvm::StringRef json);

/// Checks header, digests and bounds; the reason of a failure says what is wrong where.
llvm::Expected<Bundle> readBundle(llvm::StringRef bytes);

} // namespace tk
