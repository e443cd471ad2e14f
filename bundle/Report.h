//===- Report.h - what is in a bundle, for people and as files ------------------------------===//
#pragma once

#include "bundle/Bundle.h"
#include "llvm/Support/raw_ostream.h"

namespace tk {

/// "matmul[D=64, T=f16]"
std::string kernelTitle(const llvm::json::Object &kernel);

/// Bytes as stored and as loaded, for each image and each kernel of a bundle that was read.
void printSizes(const Bundle &bundle, llvm::raw_ostream &os);

/// The licences of what is linked into the images.
void printNotices(const Bundle &bundle, llvm::raw_ostream &os);

/// An image as a file, with the description of what is in it.
struct ExtractedImage {
  std::string name, bytes, description;
};

std::vector<ExtractedImage> extractImages(const Bundle &bundle);

} // namespace tk
