//===- MetadataImages.cpp - reading the list of images ---------------------===//
// In a bundle every offset and size is checked against the file before anything is allocated.
#include "Metadata.h"

namespace tkcrt {

/// Images in a bundle begin at a multiple of this.
constexpr uint64_t kImageAlign = 64;

static bool readKind(Reader &reader, const Json &json, ImageInfo &out) {
  static const std::pair<const char *, ImageInfo::Kind> kinds[] = {
      {"cubin", ImageInfo::Kind::Cubin},
      {"ptx", ImageInfo::Kind::Ptx},
      {"hsaco", ImageInfo::Kind::Hsaco},
      {"tk", ImageInfo::Kind::Tk}};
  std::string kind;
  if (!reader.text(json, "kind", 1, 32, kind))
    return false;
  for (const auto &[name, value] : kinds)
    if (kind == name) {
      out.kind = value;
      return true;
    }
  return reader.corrupt("kind is \"%s\", needed cubin, ptx, hsaco or tk", kind.c_str());
}

/// Where the bytes are in the bundle, from `end` of the image before; moves `end` past them.
static bool readPlace(Reader &reader, const Json &json, const ImageSpace &space, uint64_t &end,
                      ImageInfo &out) {
  std::string codec;
  int64_t offset, stored;
  if (!reader.text(json, "codec", 1, 32, codec) ||
      !reader.integer(json, "offset", static_cast<int64_t>(end), static_cast<int64_t>(space.end),
                      offset) ||
      !reader.integer(json, "stored", 1, static_cast<int64_t>(space.end) - offset, stored))
    return false;
  if (codec != "none" && codec != "zstd")
    return reader.refuse(TKC_E_UNSUPPORTED,
                         "codec is \"" + codec + "\", this libtkcrt knows none and zstd");
  if (offset % static_cast<int64_t>(kImageAlign))
    return reader.corrupt("offset is %lld, needed a multiple of %llu",
                          static_cast<long long>(offset),
                          static_cast<unsigned long long>(kImageAlign));
  out.codec = codec == "zstd" ? ImageInfo::Codec::Zstd : ImageInfo::Codec::None;
  out.offset = static_cast<uint64_t>(offset);
  out.stored = static_cast<uint64_t>(stored);
  end = out.offset + out.stored;
  bool isGood = out.codec == ImageInfo::Codec::None ? out.bytes == out.stored
                                                    : out.bytes / kMaxCompression <= out.stored;
  if (!isGood)
    return reader.corrupt("size is %llu and stored %llu, needed %s",
                          static_cast<unsigned long long>(out.bytes),
                          static_cast<unsigned long long>(out.stored),
                          out.codec == ImageInfo::Codec::None ? "the same" : "at most 1024 times");
  return true;
}

static bool readImage(Reader &reader, const Json &json, const ImageSpace &space, uint64_t &end,
                      ImageInfo &out) {
  std::string digest;
  int64_t bytes;
  if (!reader.isObject(json) || !readKind(reader, json, out) ||
      !reader.integer(json, "size", 1, static_cast<int64_t>(kMaxImageBytes), bytes) ||
      !reader.text(json, "sha256", 0, 256, digest))
    return false;
  if (!fromHex(digest, out.digest))
    return reader.corrupt("sha256 is not 64 lower-case hexadecimal digits");
  out.bytes = static_cast<uint64_t>(bytes);
  return !space.isBundle || readPlace(reader, json, space, end, out);
}

bool readImages(Reader &reader, const Json &json, const ImageSpace &space,
                std::vector<ImageInfo> &out) {
  const Json *images = reader.need(json, "images");
  if (!images)
    return false;
  Reader::Scope scope(reader, "images");
  if (!reader.isArray(*images, 1, 4096))
    return false;
  out.resize(images->size());
  uint64_t end = space.begin;
  for (size_t i = 0; i < out.size(); ++i) {
    Reader::Scope at(reader, i);
    if (!readImage(reader, (*images)[i], space, end, out[i]))
      return false;
  }
  return true;
}

} // namespace tkcrt
