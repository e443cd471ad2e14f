//===- Bundle.h - an image and its description, checked --------------------===//
#ifndef TKC_RUNTIME_BUNDLE_H
#define TKC_RUNTIME_BUNDLE_H

#include "Driver.h"
#include "Metadata.h"

#include <mutex>

struct tkc_bundle {
  std::atomic<int> references{1}; ///< the caller's and one for each kernel
  tkc_driver *driver = nullptr;
  tkcrt::Metadata metadata;
  size_t image = 0;           ///< which of metadata.images the bytes are
  const void *data = nullptr; ///< the caller's (TKC_BORROW) or copy's
  std::vector<char> copy;
  std::mutex loading;                 ///< held in prepare only
  tkcrt::CUlibrary library = nullptr; ///< loaded by the first prepare; good in every context
};

#endif
