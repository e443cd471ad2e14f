//===- Bundle.cpp - opening a .tkb, or an image and its description --------===//
#include "Bundle.h"

#include "Container.h"
#include "Error.h"

#include <cstring>
#include <memory>
#include <new>

namespace tkcrt {

static tkc_status checkDescriptor(const tkc_bundle_desc *desc, tkc_error *err) {
  if (tkc_status status = checkSize(desc, sizeof(*desc), "tkc_bundle_desc", err))
    return status;
  if (desc->flags & ~uint32_t(TKC_BORROW))
    return fail(err, TKC_E_ARG, "tkc_bundle_desc.flags is %#x, known is TKC_BORROW", desc->flags);
  if (!desc->data || !desc->bytes)
    return fail(err, TKC_E_ARG, "tkc_bundle_desc: data is NULL or bytes is 0");
  if (!desc->json && desc->json_bytes)
    return fail(err, TKC_E_ARG,
                "tkc_bundle_desc: json is NULL and json_bytes %zu; for a .tkb it is 0",
                desc->json_bytes);
  return TKC_OK;
}

static tkc_status checkJsonDigest(const uint8_t *expected, const Digest &found, tkc_error *err) {
  if (!expected)
    return TKC_OK;
  Digest needed;
  memcpy(needed.data(), expected, needed.size());
  if (found == needed)
    return TKC_OK;
  return fail(err, TKC_E_DIGEST, "the JSON has SHA-256 %s, the caller needs %s",
              toHex(found).c_str(), toHex(needed).c_str());
}

/// Which of the images the bytes are.
static tkc_status findImage(const tkc_bundle_desc &desc, const Metadata &metadata, size_t &out,
                            tkc_error *err) {
  Digest found = sha256(desc.data, desc.bytes);
  for (out = 0; out < metadata.images.size(); ++out)
    if (metadata.images[out].bytes == desc.bytes && metadata.images[out].digest == found)
      return TKC_OK;
  if (metadata.images.size() > 1)
    return fail(err, TKC_E_DIGEST,
                "the image (%zu bytes, SHA-256 %s) is none of the %zu that the JSON describes",
                desc.bytes, toHex(found).c_str(), metadata.images.size());
  const ImageInfo &needed = metadata.images[0];
  if (needed.bytes != desc.bytes)
    return fail(err, TKC_E_DIGEST, "the image has %zu bytes, the JSON describes one of %llu",
                desc.bytes, static_cast<unsigned long long>(needed.bytes));
  return fail(err, TKC_E_DIGEST, "the image has SHA-256 %s, the JSON describes one with %s",
              toHex(found).c_str(), toHex(needed.digest).c_str());
}

static tkc_status openPair(const tkc_bundle_desc &desc, tkc_bundle &bundle, tkc_error *err) {
  if (desc.sha256)
    if (tkc_status status = checkJsonDigest(desc.sha256, sha256(desc.json, desc.json_bytes), err))
      return status;
  if (tkc_status status =
          parseMetadata(desc.json, desc.json_bytes, ImageSpace(), bundle.metadata, err))
    return status;
  return findImage(desc, bundle.metadata, bundle.only, err);
}

/// Everything of the file but the images' bytes, which wait until a prepare needs them.
static tkc_status openFile(const tkc_bundle_desc &desc, tkc_bundle &bundle, tkc_error *err) {
  Container container;
  if (tkc_status status = readContainer(desc.data, desc.bytes, container, err))
    return status;
  if (tkc_status status = checkJsonDigest(desc.sha256, container.digest, err))
    return status;
  ImageSpace space{true, container.jsonEnd(), desc.bytes};
  const char *json = static_cast<const char *>(desc.data) + container.jsonOffset;
  if (tkc_status status = parseMetadata(json, container.jsonBytes, space, bundle.metadata, err))
    return status;
  uint64_t end = space.begin;
  for (const ImageInfo &image : bundle.metadata.images) {
    if (tkc_status status = checkGap(desc.data, end, image.offset, err))
      return status;
    end = image.offset + image.stored;
  }
  bundle.isFile = true;
  return checkGap(desc.data, end, desc.bytes, err);
}

static tkc_status openBundle(const tkc_bundle_desc &desc, tkc_bundle &bundle, tkc_error *err) {
  tkc_status status = desc.json ? openPair(desc, bundle, err) : openFile(desc, bundle, err);
  if (status)
    return status;
  bundle.libraries.resize(bundle.metadata.images.size());
  bundle.data = static_cast<const char *>(desc.data);
  if (desc.flags & TKC_BORROW)
    return TKC_OK;
  if (!bundle.copy.allocate(bundle.driver->hooks, desc.bytes))
    return fail(err, TKC_E_NOMEM, "tkc_bundle_open: no memory for a copy of %zu bytes", desc.bytes);
  memcpy(bundle.copy.data(), desc.data, desc.bytes);
  bundle.data = bundle.copy.data();
  return TKC_OK;
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_bundle_open(tkc_driver *driver, const tkc_bundle_desc *desc, tkc_bundle **out,
                           tkc_error *err) {
  if (!driver || !out)
    return fail(err, TKC_E_ARG, "tkc_bundle_open: the driver or the tkc_bundle ** is NULL");
  *out = nullptr;
  if (tkc_status status = checkDescriptor(desc, err))
    return status;
  try {
    std::unique_ptr<tkc_bundle> bundle(new tkc_bundle);
    bundle->driver = driver;
    if (tkc_status status = openBundle(*desc, *bundle, err))
      return status;
    ++driver->references;
    *out = bundle.release();
    return succeed(err);
  } catch (const std::bad_alloc &) {
    return fail(err, TKC_E_NOMEM, "tkc_bundle_open: out of memory");
  } catch (...) {
    // Nothing else is expected to throw; a library that C calls lets nothing out all the same.
    return fail(err, TKC_E_CORRUPT, "tkc_bundle_open: the metadata can't be read");
  }
}

void tkc_bundle_release(tkc_bundle *bundle) {
  if (!bundle || --bundle->references != 0)
    return;
  // A driver that has shut down already answers with an error, which changes nothing.
  for (CUlibrary library : bundle->libraries)
    if (library && !bundle->driver->isForked())
      bundle->driver->gpu.libraryUnload(library);
  tkc_driver *driver = bundle->driver;
  delete bundle; // its copy goes back through the driver's hooks
  tkc_driver_release(driver);
}
