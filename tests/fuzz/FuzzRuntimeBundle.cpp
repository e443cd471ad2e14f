//===- FuzzRuntimeBundle.cpp - libFuzzer: any bytes as a .tkb file ---------------------===//
//
// The digest in the header is put right first, wherever the header says the JSON is: no mutation
// would ever hit it. Images keep theirs, so that most are refused by prepare after decompression.
//
//===----------------------------------------------------------------------===//

#include "runtime/src/Sha256.h"
#include "tests/fuzz/FuzzRuntime.h"

#include <cstring>

static void fixDigest(std::vector<char> &file) {
  uint64_t begin, bytes;
  if (file.size() < 128)
    return;
  memcpy(&begin, file.data() + 16, 8);
  memcpy(&bytes, file.data() + 24, 8);
  if (begin > file.size() || bytes > file.size() - begin)
    return;
  tkcrt::Digest digest = tkcrt::sha256(file.data() + begin, bytes);
  memcpy(file.data() + 40, digest.data(), digest.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FuzzLoader loader;
  if (!size)
    return 0;
  std::vector<char> file(data, data + size); // its own memory: a read behind it is seen
  fixDigest(file);
  if (tkc_bundle *bundle = loader.open(file.data(), file.size(), nullptr, 0))
    loader.runAll(bundle);
  return 0;
}
