//===- Bundle.cpp - opening an image and its description -------------------===//
#include "Bundle.h"

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
  if (!desc->json)
    return fail(err, TKC_E_UNSUPPORTED,
                "tkc_bundle_desc.json is NULL: this libtkcrt does not read .tkb bundles yet; give "
                "an image and its JSON");
  return TKC_OK;
}

static tkc_status checkJsonDigest(const tkc_bundle_desc &desc, tkc_error *err) {
  if (!desc.sha256)
    return TKC_OK;
  Digest found = sha256(desc.json, desc.json_bytes), needed;
  memcpy(needed.data(), desc.sha256, needed.size());
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

static tkc_status openBundle(const tkc_bundle_desc &desc, tkc_bundle &bundle, tkc_error *err) {
  if (tkc_status status = checkJsonDigest(desc, err))
    return status;
  if (tkc_status status = parseMetadata(desc.json, desc.json_bytes, bundle.metadata, err))
    return status;
  if (tkc_status status = findImage(desc, bundle.metadata, bundle.image, err))
    return status;
  // The driver wants PTX to end in NUL, so that is copied even when it may be borrowed.
  bool isPtx = bundle.metadata.images[bundle.image].kind == ImageInfo::Kind::Ptx;
  bundle.data = desc.data;
  if (isPtx || !(desc.flags & TKC_BORROW)) {
    bundle.copy.reserve(desc.bytes + 1);
    bundle.copy.assign(static_cast<const char *>(desc.data),
                       static_cast<const char *>(desc.data) + desc.bytes);
    bundle.copy.push_back(0);
    bundle.data = bundle.copy.data();
  }
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
    if (tkc_status status = openBundle(*desc, *bundle, err))
      return status;
    bundle->driver = driver;
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
  if (bundle->library)
    bundle->driver->cuda.libraryUnload(bundle->library);
  tkc_driver_release(bundle->driver);
  delete bundle;
}
