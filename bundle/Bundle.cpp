//===- Bundle.cpp - one file with the description and every image ------------------===//

#include "bundle/Bundle.h"
#include "backends/metadata/Metadata.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

using namespace tk;
using namespace tk::bundle_format;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
namespace endian = llvm::support::endian;

template <class... Args> static llvm::Error wrong(const char *format, Args &&...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::formatv(format, std::forward<Args>(args)...).str());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Fixed, so that the bytes depend on the image alone. Higher ones gain little on machine code.
static constexpr int kZstdLevel = 15;

namespace {
struct Packed {
  std::string bytes;
  StringRef codec;
};
} // namespace

/// What does not shrink stays as it is, and so does what would shrink more than a reader believes.
static Packed pack(const std::string &image) {
  if (!llvm::compression::zstd::isAvailable())
    return {image, "none"};
  llvm::SmallVector<uint8_t, 0> packed;
  llvm::compression::zstd::compress(llvm::arrayRefFromStringRef(image), packed, kZstdLevel);
  if (packed.size() >= image.size() || image.size() / packed.size() >= kMaxRatio)
    return {image, "none"};
  return {llvm::toStringRef(packed).str(), "zstd"};
}

static std::string headerFor(StringRef json, size_t fileBytes) {
  std::string header(kHeaderBytes, '\0');
  std::copy_n(kMagic, 8, header.begin());
  endian::write32le(&header[kVersionAt], kVersion);
  endian::write32le(&header[kHeaderBytesAt], kHeaderBytes);
  endian::write64le(&header[kJsonAt], kHeaderBytes);
  endian::write64le(&header[kJsonBytesAt], json.size());
  endian::write64le(&header[kFileBytesAt], fileBytes);
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(json));
  llvm::copy(digest, header.begin() + kDigestAt);
  return header;
}

std::string tk::writeBundle(const Bundle &bundle) {
  std::vector<Packed> packed;
  for (const std::string &image : bundle.images)
    packed.push_back(pack(image));
  // The offsets stand in the JSON that comes before the images: its length is found by trying.
  Object document = bundle.document;
  std::string json;
  size_t jsonBytes = 0, end = 0;
  do {
    jsonBytes = json.size();
    end = kHeaderBytes + jsonBytes;
    for (auto [i, image] : llvm::enumerate(packed)) {
      Object &entry = *(*document.getArray("images"))[i].getAsObject();
      size_t offset = llvm::alignTo(end, kImageAlign);
      entry["offset"] = int64_t(offset);
      entry["stored"] = int64_t(image.bytes.size());
      entry["codec"] = image.codec;
      end = offset + image.bytes.size();
    }
    json = printJson(Object(document), /*compact=*/true);
  } while (json.size() != jsonBytes);
  std::string file = headerFor(json, end) + json;
  for (const Packed &image : packed) {
    file.resize(llvm::alignTo(file.size(), kImageAlign));
    file += image.bytes;
  }
  return file;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool tk::nestsTooDeep(StringRef json) {
  constexpr int mostNesting = 64;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size() && depth <= mostNesting; ++i) {
    char c = json[i];
    if (c == '"')
      inString = !inString;
    else if (inString)
      i += c == '\\';
    else
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
  }
  return depth > mostNesting;
}

static llvm::Expected<Object> parseDocument(StringRef json) {
  if (nestsTooDeep(json))
    return wrong("its JSON nests too deeply");
  llvm::Expected<Value> parsed = llvm::json::parse(json);
  if (!parsed)
    return wrong("its JSON does not parse: {0}", llvm::toString(parsed.takeError()));
  Object *document = parsed->getAsObject();
  std::optional<StringRef> schema = document ? document->getString("schema") : std::nullopt;
  if (!schema || !schema->starts_with("tkc.kernel/1."))
    return wrong("its schema is `{0}`, this tkc reads tkc.kernel/1", schema.value_or(""));
  return std::move(*document);
}

/// The JSON of a file whose header holds, not yet parsed.
static llvm::Expected<StringRef> jsonOf(StringRef bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(StringRef(kMagic, 8)))
    return wrong("it does not begin as one");
  const char *at = bytes.data();
  uint32_t version = endian::read32le(at + kVersionAt);
  if (version != kVersion)
    return wrong("its format is version {0}, this tkc reads version {1}", version, kVersion);
  uint64_t jsonAt = endian::read64le(at + kJsonAt), jsonBytes = endian::read64le(at + kJsonBytesAt);
  uint64_t fileBytes = endian::read64le(at + kFileBytesAt);
  if (fileBytes != bytes.size())
    return wrong("its header says {0} bytes, the file has {1}", fileBytes, bytes.size());
  if (endian::read32le(at + kHeaderBytesAt) != kHeaderBytes || jsonAt != kHeaderBytes ||
      jsonBytes > bytes.size() - kHeaderBytes)
    return wrong("its header is damaged");
  StringRef json = bytes.substr(jsonAt, jsonBytes);
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(json));
  if (llvm::toStringRef(digest) != bytes.substr(kDigestAt, 32))
    return wrong("its JSON is damaged: the digest is another one");
  return json;
}

/// The bytes of an image; `end` is where the one before it ended.
static llvm::Expected<std::string> unpack(StringRef bytes, const Object &entry, uint64_t &end,
                                          StoredImage &storage) {
  int64_t offset = entry.getInteger("offset").value_or(-1);
  int64_t stored = entry.getInteger("stored").value_or(-1);
  int64_t size = entry.getInteger("size").value_or(-1);
  StringRef codec = entry.getString("codec").value_or("");
  if (offset < int64_t(end) || offset % kImageAlign || stored <= 0 ||
      uint64_t(offset) > bytes.size() || uint64_t(stored) > bytes.size() - uint64_t(offset))
    return wrong("it lies outside the file or over another one");
  if (size <= 0 || uint64_t(size) > kMaxImageBytes || size / stored > int64_t(kMaxRatio))
    return wrong("its size of {0} bytes is out of bounds", size);
  storage = {uint64_t(offset), uint64_t(stored), codec.str()};
  end = uint64_t(offset) + uint64_t(stored);
  StringRef packed = bytes.substr(offset, stored);
  std::string image;
  if (codec == "none") {
    image = packed.str();
  } else if (codec == "zstd" && llvm::compression::zstd::isAvailable()) {
    llvm::SmallVector<uint8_t, 0> unpacked;
    if (llvm::Error error = llvm::compression::zstd::decompress(llvm::arrayRefFromStringRef(packed),
                                                                unpacked, size_t(size)))
      return wrong("it does not decompress: {0}", llvm::toString(std::move(error)));
    image = llvm::toStringRef(unpacked).str();
  } else
    return wrong("its codec is `{0}`", codec);
  if (image.size() != uint64_t(size) || sha256Hex(image) != entry.getString("sha256").value_or(""))
    return wrong("its bytes are not those of its digest");
  return image;
}

/// "b3:" and 16 digits: it is written into headers as it is.
static bool isHash(std::optional<StringRef> text) {
  return text && text->size() == 19 && text->starts_with("b3:") &&
         llvm::all_of(text->drop_front(3), llvm::isHexDigit);
}

/// Whether the arguments have a name, and words as kind, dtype and access.
static bool areArguments(const Array *args) {
  return args && llvm::all_of(*args, [](const Value &value) {
           const Object *arg = value.getAsObject();
           auto isWord = [&](StringRef field, bool needed) {
             std::optional<StringRef> text = arg->getString(field);
             return text ? !text->empty() && llvm::all_of(*text, llvm::isAlnum) : !needed;
           };
           return arg && arg->getString("name") && isWord("kind", true) && isWord("dtype", true) &&
                  isWord("access", false);
         });
}

/// Where a field is not what every user of a bundle relies on; empty when all is well.
static std::string faultOf(const Object &document, size_t numImages) {
  const Array *kernels = document.getArray("kernels");
  if (!kernels || kernels->empty() || kernels->size() > kMaxKernels)
    return "kernels";
  for (auto [i, entry] : llvm::enumerate(*kernels)) {
    std::string path = llvm::formatv("kernels[{0}]", i);
    const Object *kernel = entry.getAsObject();
    const Array *variants = kernel ? kernel->getArray("variants") : nullptr;
    if (!variants || !kernel->getString("kernel") || !kernel->getObject("instance") ||
        !areArguments(kernel->getArray("args")) || !isHash(kernel->getString("abi_hash")) ||
        variants->empty() || variants->size() > kMaxVariants)
      return path;
    for (auto [j, value] : llvm::enumerate(*variants)) {
      const Object *variant = value.getAsObject();
      const Object *target = variant ? variant->getObject("target") : nullptr;
      int64_t image = variant ? variant->getInteger("image").value_or(-1) : -1;
      if (!target || !target->getString("arch") || !target->getString("vendor") ||
          !variant->getString("id") || !variant->getString("symbol") ||
          !variant->getObject("config") || !variant->getArray("when") ||
          !variant->getObject("params") || image < 0 || uint64_t(image) >= numImages)
        return llvm::formatv("{0}.variants[{1}]", path, j);
    }
  }
  return "";
}

static void forgetStorage(Object &entry) {
  for (StringRef field : {"offset", "stored", "codec", "path"})
    entry.erase(field);
}

llvm::Expected<Bundle> tk::readBundle(StringRef bytes) {
  llvm::Expected<StringRef> json = jsonOf(bytes);
  if (!json)
    return json.takeError();
  llvm::Expected<Object> document = parseDocument(*json);
  if (!document)
    return document.takeError();
  Bundle bundle{std::move(*document), {}, {}};
  Array *images = bundle.document.getArray("images");
  if (!images || images->empty() || images->size() > kMaxImages)
    return wrong("its JSON has no list of images");
  if (std::string fault = faultOf(bundle.document, images->size()); !fault.empty())
    return wrong("`{0}` lacks a field or has a wrong one", fault);
  uint64_t end = kHeaderBytes + json->size();
  for (auto [i, value] : llvm::enumerate(*images)) {
    Object *entry = value.getAsObject();
    if (!entry || !entry->getString("kind"))
      return wrong("`images[{0}]` has no kind", i);
    bundle.storage.emplace_back();
    llvm::Expected<std::string> image = unpack(bytes, *entry, end, bundle.storage.back());
    if (!image)
      return wrong("image {0} is damaged: {1}", i, llvm::toString(image.takeError()));
    bundle.images.push_back(std::move(*image));
    forgetStorage(*entry);
  }
  return std::move(bundle);
}

llvm::Expected<Bundle> tk::bundleOf(StringRef description, std::string image) {
  llvm::Expected<Object> document = parseDocument(description);
  if (!document)
    return document.takeError();
  Bundle bundle{std::move(*document), {}, {}};
  Array *images = bundle.document.getArray("images");
  std::string fault = faultOf(bundle.document, 1);
  if (!images || images->size() != 1 || !images->front().getAsObject() || !fault.empty())
    return wrong("`{0}` lacks a field or has a wrong one", fault.empty() ? "images" : fault);
  forgetStorage(*images->front().getAsObject());
  bundle.images.push_back(std::move(image));
  return std::move(bundle);
}
