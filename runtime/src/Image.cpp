//===- Image.cpp - an image's bytes, when a prepare needs them -------------===//
#include "Bundle.h"
#include "Container.h"
#include "Error.h"

#include <cstring>
#ifdef TKC_HAS_ZSTD
#include <zstd.h>
#endif

namespace tkcrt {

static tkc_status failImage(size_t image, const char *what, tkc_error *err) {
  return fail(err, TKC_E_CORRUPT, "bundle: images[%zu]: %s", image, what);
}

/// One frame that holds exactly the image, into `out`, which has room for it.
static tkc_status decompress(const ImageInfo &info, size_t image, const char *stored, char *out,
                             tkc_error *err) {
#ifdef TKC_HAS_ZSTD
  size_t frame = ZSTD_findFrameCompressedSize(stored, info.stored);
  if (ZSTD_isError(frame) || frame != info.stored)
    return failImage(image, "is not one frame of zstd", err);
  if (ZSTD_getFrameContentSize(stored, info.stored) != info.bytes)
    return failImage(image, "its frame of zstd is not of the size that the JSON says", err);
  size_t bytes = ZSTD_decompress(out, info.bytes, stored, info.stored);
  if (ZSTD_isError(bytes))
    return failImage(image, ZSTD_getErrorName(bytes), err);
  return bytes == info.bytes ? TKC_OK : failImage(image, "its frame of zstd ends early", err);
#else
  (void)info, (void)stored, (void)out;
  return fail(err, TKC_E_UNSUPPORTED,
              "bundle: images[%zu]: this libtkcrt was built without zstd; build it with libzstd, "
              "or link the bundle without compression",
              image);
#endif
}

static tkc_status checkDigest(const ImageInfo &info, size_t image, const char *data,
                              tkc_error *err) {
  Digest found = sha256(data, info.bytes);
  if (found == info.digest)
    return TKC_OK;
  return fail(err, TKC_E_DIGEST,
              "bundle: images[%zu] has SHA-256 %s, the JSON describes one with %s", image,
              toHex(found).c_str(), toHex(info.digest).c_str());
}

/// A driver reads where the headers point without asking how long the image is: CUDA 13.0 crashes on half a
/// cubin. What is no ELF file it refuses.
static tkc_status checkElf(const ImageInfo &info, size_t image, const char *data, tkc_error *err) {
  constexpr uint64_t kHeader = 64, kNoBits = 8;
  if (info.bytes < 4 || memcmp(data, "\x7f" "ELF", 4) != 0)
    return TKC_OK;
  if (info.bytes < kHeader)
    return failImage(image, "is cut off within the header of its ELF file", err);
  auto isInside = [&](uint64_t at, uint64_t bytes) {
    return at <= info.bytes && bytes <= info.bytes - at;
  };
  auto isWhole = [&](bool isSection) {
    uint64_t table = readAt<uint64_t>(data, isSection ? 40 : 32);
    uint64_t each = readAt<uint16_t>(data, isSection ? 58 : 54);
    uint64_t count = readAt<uint16_t>(data, isSection ? 60 : 56);
    if (count && (each < (isSection ? 64 : 56) || !isInside(table, each * count)))
      return false;
    for (uint64_t entry = table; count; entry += each, --count) {
      bool isEmpty = isSection && readAt<uint32_t>(data, entry + 4) == kNoBits;
      if (!isEmpty && !isInside(readAt<uint64_t>(data, entry + (isSection ? 24 : 8)),
                                readAt<uint64_t>(data, entry + 32)))
        return false;
    }
    return true;
  };
  if (isWhole(/*isSection=*/true) && isWhole(/*isSection=*/false))
    return TKC_OK;
  return failImage(image, "is an ELF file whose headers point behind its end: it was cut off", err);
}

tkc_status readImageBytes(const tkc_bundle &bundle, size_t image, ImageBytes &out, tkc_error *err) {
  const ImageInfo &info = bundle.metadata.images[image];
  bool isPacked = bundle.isFile && info.codec == ImageInfo::Codec::Zstd;
  bool isPtx = info.kind == ImageInfo::Kind::Ptx;
  out.data = bundle.data + (bundle.isFile ? info.offset : 0);
  if (isPacked || isPtx) {
    if (!out.own.allocate(bundle.driver->hooks, info.bytes + 1))
      return fail(err, TKC_E_NOMEM, "bundle: images[%zu]: no memory for %llu bytes", image,
                  static_cast<unsigned long long>(info.bytes));
    char *own = out.own.data();
    if (!isPacked)
      memcpy(own, out.data, info.bytes);
    else if (tkc_status status = decompress(info, image, out.data, own, err))
      return status;
    own[info.bytes] = 0; // the driver takes PTX as a C string
    out.data = own;
  }
  // A single image was compared when it was opened.
  if (tkc_status status = bundle.isFile ? checkDigest(info, image, out.data, err) : TKC_OK)
    return status;
  return checkElf(info, image, out.data, err);
}

} // namespace tkcrt
