//===- FuzzRuntimeJson.cpp - libFuzzer: any text as the description of an image --------===//

#include "tests/fuzz/FuzzRuntime.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FuzzLoader loader;
  static const char image[64] = {}; // the one whose digest the corpus has
  const char *json = reinterpret_cast<const char *>(data);
  if (size)
    if (tkc_bundle *bundle = loader.open(image, sizeof(image), json, size))
      loader.runAll(bundle);
  return 0;
}
