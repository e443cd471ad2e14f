//===- RuntimeBundleTest.cpp - .tkb files: several images, codecs, bounds ---===//
#include "FakeCudaFixture.h"
#include "RuntimeBundleWriter.h"

#include <functional>

using Catch::Matchers::Contains;

/// vector_add for sm_90a (image 0, both variants) and for sm_80 (image 1).
static BundleWriter twoTargets(const char *codec = "none") {
  BundleWriter writer;
  writer.json = vectorAdd();
  Json &variants = writer.json["kernels"][0]["variants"];
  Json older = variants[1];
  older["id"] = "sm_80/v1/b1024.w4";
  older["default_rank"] = 2;
  older["image"] = 1;
  older["symbol"] = "older";
  older["target"] = {{"vendor", "nvidia"}, {"arch", "sm_80"}, {"match", "at_least"}};
  variants.push_back(older);
  writer.addImage("cubin", "image of sm_90a" + std::string(1000, 'a'), codec);
  writer.addImage("cubin", "image of sm_80" + std::string(1000, 'b'), codec);
  return writer;
}

static tkc_status encodeSome(Loader &loader) {
  Tensor x{at(4096), TKC_F32, {8}, {}}, y{at(8192), TKC_F32, {8}, {}};
  Tensor z{at(12288), TKC_F32, {8}, {}};
  return loader.encode({x, y, z});
}

TEST_CASE("a bundle loads the image of the device, and only that", "[runtime][bundle]") {
  for (int major : {9, 8}) {
    Loader loader;
    loader.cuda.major = major;
    loader.cuda.readBytes = 16;
    BundleWriter writer = twoTargets();
    REQUIRE(loader.openFile(writer.write()) == TKC_OK);
    CHECK(loader.cuda.loadedLibraries == 0);
    REQUIRE(loader.prepare("vector_add") == TKC_OK);
    CHECK(loader.cuda.loadedLibraries == 1);
    CHECK_THAT(loader.cuda.loadedBytes, Contains(major == 9 ? "of sm_90a" : "of sm_80"));
    REQUIRE(encodeSome(loader) == TKC_OK);
    CHECK(loader.launch.variant == (major == 9 ? 0 : 2));
    REQUIRE(loader.submit() == TKC_OK);
  }
}

#ifdef TKC_TESTS_ZSTD
TEST_CASE("zstd images are decompressed when a prepare needs them", "[runtime][bundle]") {
  Loader loader;
  BundleWriter writer = twoTargets("zstd");
  loader.cuda.readBytes = 1015;
  writer.write();
  REQUIRE(writer.contents[0].size() < 200);
  REQUIRE(loader.openFile(writer.bytes) == TKC_OK);
  REQUIRE(loader.prepare("vector_add") == TKC_OK);
  CHECK(loader.cuda.loadedBytes == "image of sm_90a" + std::string(1000, 'a'));
}

TEST_CASE("frames that lie about their size or are damaged are refused", "[runtime][bundle]") {
  struct Case {
    std::function<void(BundleWriter &)> damage;
    tkc_status open, prepare;
    const char *text;
  };
  const Case cases[] = {
      {[](BundleWriter &w) { w.entries[0]["size"] = 1014; }, TKC_OK, TKC_E_CORRUPT,
       "not of the size that the JSON says"},
      {[](BundleWriter &w) {
         w.contents[0] += "x";
         w.entries[0]["stored"] = w.contents[0].size();
       },
       TKC_OK, TKC_E_CORRUPT, "is not one frame of zstd"},
      {[](BundleWriter &w) {
         w.contents[0].resize(8);
         w.entries[0]["stored"] = 8;
       },
       TKC_OK, TKC_E_CORRUPT, "is not one frame of zstd"},
      {[](BundleWriter &w) { w.contents[0][10] ^= 1; }, TKC_OK, TKC_E_CORRUPT, "images[0]"},
      {[](BundleWriter &w) { w.entries[0]["sha256"] = std::string(64, '0'); }, TKC_OK, TKC_E_DIGEST,
       "images[0] has SHA-256"},
      {[](BundleWriter &w) { w.entries[0]["size"] = w.contents[0].size() * 1024 + 1024; },
       TKC_E_CORRUPT, TKC_OK, "at most 1024 times"},
      {[](BundleWriter &w) { w.entries[0]["size"] = (256 << 20) + 1; }, TKC_E_CORRUPT, TKC_OK,
       "found 268435457"},
      {[](BundleWriter &w) { w.entries[0]["codec"] = "lzma"; }, TKC_E_UNSUPPORTED, TKC_OK,
       "codec is \"lzma\", this libtkcrt knows none and zstd"},
  };
  for (const Case &c : cases) {
    Loader loader;
    BundleWriter writer = twoTargets("zstd");
    c.damage(writer);
    INFO(c.text);
    CHECK(loader.openFile(writer.write()) == c.open);
    if (c.open == TKC_OK)
      CHECK(loader.prepare("vector_add") == c.prepare);
    CHECK_THAT(loader.text(), Contains(c.text));
    CHECK(loader.cuda.loadedLibraries == 0);
  }
}
#endif

TEST_CASE("an image's digest is checked before the driver sees it", "[runtime][bundle]") {
  Loader loader;
  BundleWriter writer = twoTargets();
  writer.write();
  writer.bytes[writer.entries[0]["offset"].get<size_t>() + 3] ^= 1;
  REQUIRE(loader.openFile(writer.bytes) == TKC_OK);
  CHECK(loader.prepare("vector_add") == TKC_E_DIGEST);
  CHECK(loader.cuda.calls.count("cuLibraryLoadData") == 0);
}

TEST_CASE("a borrowed bundle is used where it lies, another is copied", "[runtime][bundle]") {
  for (uint32_t flags : {0u, uint32_t(TKC_BORROW)}) {
    Loader loader;
    BundleWriter writer = twoTargets();
    writer.write();
    REQUIRE(loader.openFile(writer.bytes, flags) == TKC_OK);
    // Damage after opening shows where prepare reads.
    writer.bytes[writer.entries[0]["offset"].get<size_t>()] ^= 1;
    CHECK(loader.prepare("vector_add") == (flags ? TKC_E_DIGEST : TKC_OK));
  }
}

TEST_CASE("the caller's digest of the JSON pins the bundle", "[runtime][bundle]") {
  Loader loader;
  BundleWriter writer = twoTargets();
  const std::string &bytes = writer.write();
  tkcrt::Digest digest = tkcrt::sha256(bytes.data() + 128, writer.json.dump().size());
  CHECK(loader.openFile(bytes, 0, digest.data()) == TKC_OK);
  digest[0] ^= 1;
  CHECK(loader.openFile(bytes, 0, digest.data()) == TKC_E_DIGEST);
  CHECK_THAT(loader.text(), Contains("the caller needs"));
}

TEST_CASE("every field of the header is checked", "[runtime][bundle][hostile]") {
  struct Case {
    size_t at;
    uint64_t value;
    tkc_status status;
    const char *text;
  };
  const Case cases[] = {
      {0, 0, TKC_E_CORRUPT, "does not begin as a .tkb does"},
      {0, 0x0a1a0a0a424b5489u & ~0xffull, TKC_E_CORRUPT, "transferred as text"},
      {8, 2 | uint64_t(128) << 32, TKC_E_UNSUPPORTED, "format version 2, this libtkcrt reads 1"},
      {8, 1 | uint64_t(64) << 32, TKC_E_CORRUPT, "bytes of the header 64, needed 128"},
      {16, 64, TKC_E_CORRUPT, "the JSON begins at 64"},
      {16, UINT64_MAX, TKC_E_CORRUPT, "the JSON begins at"},
      {24, UINT64_MAX, TKC_E_CORRUPT, "bytes of JSON"},
      {24, UINT64_MAX - 127, TKC_E_CORRUPT, "bytes of JSON"},
      {24, 100, TKC_E_DIGEST, "the header says"},
      {32, 4096 * 4096, TKC_E_CORRUPT, "is cut or has grown"},
      {72, 1, TKC_E_CORRUPT, "not 0 where nothing is"},
      {120, uint64_t(1) << 63, TKC_E_CORRUPT, "not 0 where nothing is"},
  };
  for (const Case &c : cases) {
    Loader loader;
    BundleWriter writer = twoTargets();
    writer.write();
    writer.put(c.at, c.value);
    INFO(c.at << " " << c.text);
    CHECK(loader.openFile(writer.bytes) == c.status);
    CHECK_THAT(loader.text(), Contains(c.text));
  }
}

TEST_CASE("images stay inside the file, in order and apart", "[runtime][bundle][hostile]") {
  struct Case {
    const char *path;
    Json value;
    const char *text;
  };
  const Case cases[] = {
      {"/images/1/offset", 128, "images[1].offset"},
      {"/images/0/offset", -1, "found -1"},
      {"/images/0/offset", INT64_MAX, "images[0].offset"},
      {"/images/1/stored", 1 << 20, "images[1].stored"},
      {"/images/1/stored", 0, "found 0, needed 1"},
      {"/images/0/stored", 1014, "size is 1015 and stored 1014, needed the same"},
      {"/images/0/size", 0, "found 0, needed 1"},
      {"/images/0/codec", nullptr, "no field \"codec\""},
      {"/images/0/kind", "so", "needed cubin, ptx, hsaco or tk"},
  };
  for (const Case &c : cases) {
    Loader loader;
    BundleWriter writer = twoTargets();
    writer.write();
    Json json = writer.json;
    json[Json::json_pointer(c.path)] = c.value;
    std::string images = writer.bytes.substr(128 + writer.json.dump().size());
    writer.frame(json.dump());
    // The images move when the JSON's length changes; their fields are refused before that shows.
    writer.bytes += images;
    writer.put(32, writer.bytes.size());
    INFO(c.path);
    CHECK(loader.openFile(writer.bytes) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains(c.text));
  }
}

TEST_CASE("nothing hides between the images of a bundle or behind them",
          "[runtime][bundle][hostile]") {
  for (bool isBehind : {false, true}) {
    Loader loader;
    BundleWriter writer = twoTargets();
    writer.write();
    if (isBehind) {
      writer.bytes += "x";
      writer.put(32, writer.bytes.size());
    } else {
      writer.bytes[writer.entries[1]["offset"].get<size_t>() - 1] = 'x';
    }
    CHECK(loader.openFile(writer.bytes) == TKC_E_CORRUPT);
    CHECK_THAT(loader.text(), Contains("not 0 where nothing is"));
  }
}

TEST_CASE("a bundle cut at any byte or with a flipped one never does harm",
          "[runtime][bundle][hostile]") {
  Loader loader;
  BundleWriter writer = twoTargets();
  const std::string good = writer.write();
  for (size_t bytes = 1; bytes < good.size(); bytes += 7)
    CHECK(loader.openFile(good.substr(0, bytes)) != TKC_OK);
  uint64_t seed = 7;
  for (int round = 0; round < 2000; ++round) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    std::string damaged = good;
    damaged[(seed >> 33) % damaged.size()] ^= static_cast<char>(1 << (seed >> 30 & 7));
    if (loader.openFile(damaged) == TKC_OK)
      loader.prepare("vector_add");
  }
  SUCCEED();
}

TEST_CASE("large memory comes from the caller's hooks", "[runtime][bundle]") {
  struct Heap {
    int live = 0, calls = 0;
    bool isEmpty = false;
  } heap;
  Loader loader;
  tkc_driver_desc desc = loader.cuda.descriptor();
  // One user pointer serves resolve and alloc: the double's resolver wants its own.
  static Heap *current;
  current = &heap;
  desc.alloc = [](void *, size_t bytes, size_t align) -> void * {
    ++current->calls;
    if (current->isEmpty)
      return nullptr;
    ++current->live;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
  };
  desc.free = [](void *, void *p) {
    --current->live;
    free(p);
  };
  REQUIRE(tkc_driver_open(&desc, &loader.driver, &loader.error) == TKC_OK);
  BundleWriter writer = twoTargets();
  REQUIRE(loader.openFile(writer.write()) == TKC_OK);
  CHECK(heap.live == 1);
  REQUIRE(loader.openFile(writer.bytes, TKC_BORROW) == TKC_OK);
  CHECK(heap.live == 0);
  heap.isEmpty = true;
  CHECK(loader.openFile(writer.bytes) == TKC_E_NOMEM);
  CHECK_THAT(loader.text(), Contains("no memory for a copy"));
  CHECK(heap.calls == 2);
}
