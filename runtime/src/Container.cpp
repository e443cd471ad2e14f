//===- Container.cpp - the frame of a .tkb file ----------------------------===//
#include "Container.h"

#include "Error.h"
#include "Metadata.h"

#include <cstring>

namespace tkcrt {

static constexpr unsigned char kMagic[8] = {0x89, 'T', 'K', 'B', '\r', '\n', 0x1a, '\n'};
constexpr uint64_t kHeaderBytes = 128;
constexpr uint32_t kFormatVersion = 1;

static tkc_status failBundle(tkc_error *err, const char *what, uint64_t found, uint64_t needed) {
  return fail(err, TKC_E_CORRUPT, "bundle: %s %llu, needed %llu", what,
              static_cast<unsigned long long>(found), static_cast<unsigned long long>(needed));
}

static tkc_status checkMagic(const void *data, size_t bytes, tkc_error *err) {
  if (bytes < kHeaderBytes)
    return failBundle(err, "the file ends in its header: bytes", bytes, kHeaderBytes);
  if (memcmp(data, kMagic, sizeof(kMagic)) != 0) {
    bool isText = memcmp(static_cast<const char *>(data) + 1, kMagic + 1, 3) == 0;
    return fail(err, TKC_E_CORRUPT, "bundle: it does not begin as a .tkb does%s",
                isText ? "; was it transferred as text?" : "");
  }
  uint32_t version = readAt<uint32_t>(data, 8);
  if (version != kFormatVersion)
    return fail(err, TKC_E_UNSUPPORTED, "bundle: format version %u, this libtkcrt reads %u",
                version, kFormatVersion);
  return TKC_OK;
}

tkc_status checkGap(const void *data, uint64_t begin, uint64_t end, tkc_error *err) {
  const char *bytes = static_cast<const char *>(data);
  for (uint64_t at = begin; at < end; ++at)
    if (bytes[at])
      return failBundle(err, "not 0 where nothing is: the byte at", at, end);
  return TKC_OK;
}

tkc_status readContainer(const void *data, size_t bytes, Container &out, tkc_error *err) {
  if (tkc_status status = checkMagic(data, bytes, err))
    return status;
  uint32_t header = readAt<uint32_t>(data, 12);
  out.jsonOffset = readAt<uint64_t>(data, 16);
  out.jsonBytes = readAt<uint64_t>(data, 24);
  uint64_t fileBytes = readAt<uint64_t>(data, 32);
  memcpy(out.digest.data(), static_cast<const char *>(data) + 40, out.digest.size());
  if (header != kHeaderBytes)
    return failBundle(err, "bytes of the header", header, kHeaderBytes);
  if (fileBytes != bytes)
    return failBundle(err, "the file is cut or has grown: bytes", bytes, fileBytes);
  if (out.jsonOffset < kHeaderBytes || out.jsonOffset > bytes)
    return failBundle(err, "the JSON begins at", out.jsonOffset, kHeaderBytes);
  if (out.jsonBytes > kMaxJsonBytes || out.jsonBytes > bytes - out.jsonOffset)
    return failBundle(err, "bytes of JSON", out.jsonBytes, bytes - out.jsonOffset);
  if (tkc_status status = checkGap(data, 72, out.jsonOffset, err))
    return status;
  Digest found = sha256(static_cast<const char *>(data) + out.jsonOffset, out.jsonBytes);
  if (found != out.digest)
    return fail(err, TKC_E_DIGEST, "bundle: the JSON has SHA-256 %s, the header says %s",
                toHex(found).c_str(), toHex(out.digest).c_str());
  return TKC_OK;
}

} // namespace tkcrt
