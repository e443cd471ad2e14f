//===- FuzzRuntimeTable.cpp - libFuzzer: any text as a table of tuning records ---------===//

#include "tests/fuzz/FuzzRuntime.h"

#include <cstring>

#define TARGET "\"target\":{\"vendor\":\"nvidia\",\"arch\":\"sm_90a\",\"match\":\"exact\"}"
#define VARIANT(id, config)                                                                        \
  "{\"id\":\"" id "\",\"config_id\":\"" config "\"," TARGET ",\"image\":0,\"symbol\":\"s\","       \
  "\"block\":[32,1,1],\"grid\":[1,1,1],\"resources\":{\"shared_static\":0,\"shared_dynamic\":0},"  \
  "\"params\":{\"bytes\":0,\"align\":8,\"hidden\":0,\"list\":[]}}"

/// Two configurations, a key of two numbers; the nearest record counts.
static const char kJson[] =
    "{\"schema\":\"tkc.kernel/1.0\",\"images\":[{\"kind\":\"cubin\",\"size\":64,\"sha256\":"
    "\"f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b\"}],\"kernels\":["
    "{\"kernel\":\"k\",\"instance\":{\"T\":\"f16\"},\"abi_hash\":\"b3:1111111111111111\",\"args\":["
    "{\"name\":\"x\",\"kind\":\"tensor\",\"dtype\":\"f16\",\"access\":\"in\",\"extents\":[\"M\","
    "\"_\"],\"strides\":[\"x.s0\",1]}],\"tune\":{\"key\":[[\"next_pow2\",\"M\"],\"x.e1\"],"
    "\"on_miss\":\"nearest\"},\"variants\":[" VARIANT("a", "A") "," VARIANT("b", "B") "]}]}";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FuzzLoader loader;
  static const char image[64] = {};
  tkc_bundle *bundle = loader.open(image, sizeof(image), kJson, sizeof(kJson));
  if (!bundle)
    abort();
  std::vector<char> table(data, data + size);
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.table = size ? table.data() : nullptr;
  desc.table_bytes = size;
  loader.runAll(bundle, &desc);
  return 0;
}
