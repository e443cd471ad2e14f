//===- Bundle.h - images and their description, checked --------------------===//
#ifndef TKC_RUNTIME_BUNDLE_H
#define TKC_RUNTIME_BUNDLE_H

#include "Buffer.h"
#include "Driver.h"
#include "Metadata.h"

#include <mutex>

struct tkc_bundle {
  std::atomic<int> references{1}; ///< the caller's and one for each kernel
  tkc_driver *driver = nullptr;
  tkcrt::Metadata metadata;
  bool isFile = false;        ///< a .tkb, which has all images; else one image
  size_t only = 0;            ///< which of metadata.images that one is
  const char *data = nullptr; ///< the file or the image: the caller's (TKC_BORROW) or the copy
  tkcrt::Buffer copy;
  std::mutex loading; ///< held in prepare only
  /// CUDA: by image, loaded by the first prepare that needs it; good in every context.
  std::vector<tkcrt::CUlibrary> libraries;

  bool hasImage(size_t image) const { return isFile || image == only; }
};

namespace tkcrt {

/// An image as the driver wants it: decompressed, its digest checked, PTX with a NUL at its end.
struct ImageBytes {
  const char *data = nullptr; ///< in the bundle or in `own`
  Buffer own;
};

/// `bundle` has the image. Says what is wrong without the kernel's name.
tkc_status readImageBytes(const tkc_bundle &bundle, size_t image, ImageBytes &out, tkc_error *err);

} // namespace tkcrt

#endif
