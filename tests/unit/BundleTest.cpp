//===- BundleTest.cpp - the file of bundles, linking, embedding -----------------------===//

#include "bundle/Bundle.h"
#include "backends/metadata/Metadata.h"
#include "bundle/Embed.h"
#include "bundle/Link.h"
#include "bundle/Report.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include <catch2/catch.hpp>

using namespace tk;
using namespace tk::bundle_format;
using llvm::StringRef;
namespace endian = llvm::support::endian;

/// A bundle of one variant with what the tests vary.
static Bundle makeBundle(StringRef arch, std::string image, StringRef configId = "",
                         int64_t warps = 4, bool guarded = false,
                         llvm::json::Value noopWhen = nullptr) {
  using llvm::json::Array;
  using llvm::json::Object;
  Array configs;
  for (int64_t each : {8, 4, 2})
    configs.push_back(Object{{"warps", each}});
  Object variant{
      {"id",
       llvm::formatv("{0}/{1}/{2}w{3}", arch, guarded ? "aligned" : "any", configId, warps).str()},
      {"default_rank", 0},
      {"target", Object{{"vendor", "nvidia"}, {"arch", arch}, {"match", "exact"}}},
      {"image", 0},
      {"symbol", "k"},
      {"config", Object{{"warps", warps}}},
      {"config_id", configId},
      {"when", guarded ? Array{Array{"gt", "N", 0}} : Array{}},
      {"params", Object{}}};
  Object kernel{{"kernel", "k"},
                {"instance", Object{{"D", 64}}},
                {"abi_hash", "b3:0123456789abcdef"},
                {"args", Array{}},
                {"noop_when", noopWhen},
                {"tune", Object{{"configs", std::move(configs)}}},
                {"variants", Array{std::move(variant)}}};
  Object document{{"schema", "tkc.kernel/1.0"},
                  {"needs", Array{"expr.1"}},
                  {"producer", Object{{"tkc", "0.1.0"}, {"inputs", Array{}}, {"linked", Array{}}}},
                  {"images", Array{Object{{"kind", "cubin"},
                                          {"path", "image"},
                                          {"size", int64_t(image.size())},
                                          {"sha256", sha256Hex(image)}}}},
                  {"kernels", Array{std::move(kernel)}}};
  llvm::Expected<Bundle> bundle =
      bundleOf(printJson(std::move(document), /*compact=*/true), std::move(image));
  if (!bundle)
    FAIL(llvm::toString(bundle.takeError()));
  return std::move(*bundle);
}

static std::string repeated(StringRef text, size_t times) {
  std::string result;
  while (times--)
    result += text;
  return result;
}

/// Bytes that do not compress.
static std::string noise(size_t bytes) {
  std::string result;
  uint64_t state = 1;
  while (bytes--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    result += char(state >> 56);
  }
  return result;
}

static std::string reasonOf(StringRef file) {
  llvm::Expected<Bundle> read = readBundle(file);
  return read ? "" : llvm::toString(read.takeError());
}

/// A file whose JSON was edited, with a header that fits.
static std::string withJson(StringRef file, StringRef from, StringRef to) {
  uint64_t bytes = endian::read64le(file.data() + kJsonBytesAt);
  std::string json = file.substr(kHeaderBytes, bytes).str();
  size_t at = json.find(from.str());
  REQUIRE(at != std::string::npos);
  json.replace(at, from.size(), to.str());
  std::string images = file.substr(kHeaderBytes + bytes).str();
  std::string header = file.take_front(kHeaderBytes).str();
  std::string result = header + json + images;
  endian::write64le(&result[kJsonBytesAt], json.size());
  endian::write64le(&result[kFileBytesAt], result.size());
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(json));
  llvm::copy(digest, result.begin() + kDigestAt);
  return result;
}

TEST_CASE("a bundle reads back as it was written", "[bundle]") {
  std::string image =
      GENERATE(std::string("x"), noise(5000), repeated("tile ", 2000), std::string(4 << 20, '\0'));
  Bundle bundle = makeBundle("sm_80", image);
  std::string file = writeBundle(bundle);
  CHECK(file == writeBundle(bundle));
  llvm::Expected<Bundle> read = readBundle(file);
  REQUIRE(bool(read));
  CHECK(read->images == std::vector{image});
  CHECK(read->document == bundle.document);
  CHECK(writeBundle(*read) == file);
}

TEST_CASE("an image is compressed when that helps and a reader believes it", "[bundle]") {
  auto codecOf = [](std::string image) {
    llvm::Expected<Bundle> read = readBundle(writeBundle(makeBundle("sm_80", std::move(image))));
    REQUIRE(bool(read));
    return read->storage.front().codec;
  };
  CHECK(codecOf(repeated("tile ", 2000)) == "zstd");
  CHECK(codecOf(noise(5000)) == "none");
  CHECK(codecOf(std::string(4 << 20, '\0')) == "none"); // beyond 1024 times
}

TEST_CASE("every cut and every changed byte is found", "[bundle]") {
  std::string file = writeBundle(makeBundle("sm_80", repeated("tile ", 100)));
  for (size_t bytes = 0; bytes < file.size(); ++bytes)
    CHECK(reasonOf(StringRef(file).take_front(bytes)) != "");
  uint64_t json = endian::read64le(file.data() + kJsonBytesAt);
  uint64_t end = kHeaderBytes + json;
  llvm::Expected<Bundle> whole = readBundle(file);
  REQUIRE(bool(whole));
  for (size_t at = 0; at < file.size(); ++at) {
    bool reserved = (at >= 72 && at < 128) || (at >= end && at < llvm::alignTo(end, kImageAlign));
    std::string changed = file;
    changed[at] ^= 0x10;
    if (reserved)
      continue;
    llvm::Expected<Bundle> read = readBundle(changed); // a frame of zstd has a bit without meaning
    CHECK((!read || read->images == whole->images));
    llvm::consumeError(read.takeError());
  }
}

TEST_CASE("sizes are refused before anything is allocated", "[bundle]") {
  std::string file = writeBundle(makeBundle("sm_80", repeated("tile ", 100)));
  llvm::Expected<Bundle> read = readBundle(file);
  REQUIRE(bool(read));
  std::string stored = llvm::formatv("\"stored\":{0}", read->storage[0].stored);
  std::string offset = llvm::formatv("\"offset\":{0}", read->storage[0].offset);
  using Catch::Matchers::Contains;
  CHECK_THAT(reasonOf(withJson(file, "\"size\":500", "\"size\":268435457")),
             Contains("out of bounds"));
  CHECK_THAT(reasonOf(withJson(file, "\"size\":500", "\"size\":500000")),
             Contains("out of bounds"));
  CHECK_THAT(reasonOf(withJson(file, "\"size\":500", "\"size\":-10")), Contains("out of bounds"));
  CHECK_THAT(reasonOf(withJson(file, "\"size\":500", "\"size\":499")), Contains("damaged"));
  CHECK_THAT(reasonOf(withJson(file, stored, "\"stored\":9223372036854775807")),
             Contains("outside"));
  CHECK_THAT(reasonOf(withJson(file, stored, "\"stored\":0")), Contains("outside"));
  CHECK_THAT(reasonOf(withJson(file, offset, "\"offset\":128")), Contains("outside"));
  CHECK_THAT(reasonOf(withJson(file, offset, "\"offset\":9223372036854775744")),
             Contains("outside"));
  CHECK_THAT(reasonOf(withJson(file, "\"codec\":\"zstd\"", "\"codec\":\"lzma\"")),
             Contains("lzma"));
  CHECK_THAT(reasonOf(withJson(file, "\"image\":0", "\"image\":1")),
             Contains("kernels[0].variants[0]"));
  CHECK_THAT(reasonOf(withJson(file, "\"needs\":",
                               "\"needs\":" + repeated("[", 100) + repeated("]", 100) + ",\"x\":")),
             Contains("nests too deeply"));
  CHECK_THAT(reasonOf(withJson(file, "b3:0123", "b3:0;{}")), Contains("kernels[0]"));
  CHECK_THAT(reasonOf(withJson(file, "\"args\":[]", "\"args\":[1]")), Contains("kernels[0]"));
  CHECK_THAT(reasonOf(withJson(file, "tkc.kernel/1.0", "tkc.kernel/2.0")),
             Contains("tkc.kernel/2.0"));
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

TEST_CASE("linking does not depend on order, nor on what was linked before", "[bundle]") {
  std::vector<LinkInput> inputs = {{"a", makeBundle("sm_80", "one", "", 4)},
                                   {"b", makeBundle("sm_90a", "two", "", 4)},
                                   {"c", makeBundle("sm_80", "one", "", 8)},
                                   {"d", makeBundle("compute_80", "three", "", 4)},
                                   {"e", makeBundle("sm_80", "four", "", 4, true)},
                                   {"f", makeBundle("sm_89", "five", "x", 1)}};
  LinkConflict conflict;
  std::optional<Bundle> first = linkBundles(inputs, conflict);
  REQUIRE(first);
  std::string file = writeBundle(*first);
  std::vector<size_t> order = {0, 1, 2, 3, 4, 5};
  do {
    std::vector<LinkInput> shuffled;
    for (size_t i : order)
      shuffled.push_back(inputs[i]);
    std::optional<Bundle> part = linkBundles({shuffled[0], shuffled[1], shuffled[2]}, conflict);
    REQUIRE(part);
    std::optional<Bundle> whole = linkBundles(
        {{"part", *part}, shuffled[3], shuffled[4], shuffled[5], shuffled[0]}, conflict);
    REQUIRE(whole);
    REQUIRE(writeBundle(*whole) == file);
  } while (std::next_permutation(order.begin(), order.end()));

  // Newest chip first, then the default configuration, then what is guarded; PTX last.
  std::vector<std::string> ids;
  for (const llvm::json::Value &variant :
       *(*first->kernels().front().getAsObject()).getArray("variants"))
    ids.push_back(variant.getAsObject()->getString("id")->str());
  CHECK(ids == std::vector<std::string>{"sm_90a/any/w4", "sm_89/any/xw1", "sm_80/any/w8",
                                        "sm_80/aligned/w4", "sm_80/any/w4", "compute_80/any/w4"});
  CHECK(first->images.size() == 5); // "one" is there once
}

TEST_CASE("what does not agree is named", "[bundle]") {
  auto conflictOf = [](Bundle a, Bundle b) {
    LinkConflict conflict;
    CHECK(!linkBundles({{"a", std::move(a)}, {"b", std::move(b)}}, conflict));
    CHECK(conflict.first == "a");
    CHECK(conflict.second == "b");
    return conflict.what;
  };
  CHECK(conflictOf(makeBundle("sm_80", "one"), makeBundle("sm_80", "two")) ==
        "variant `sm_80/any/w4` of kernel `k` is in both, and `image` differs");
  CHECK(conflictOf(makeBundle("sm_80", "one"), makeBundle("sm_90a", "one", "", 4, false, 1)) ==
        "`noop_when` of kernel `k` differs");
  std::vector<LinkInput> many;
  for (int i = 1; i <= 257; ++i)
    many.push_back({"m" + std::to_string(i), makeBundle("sm_80", "one", "", i)});
  LinkConflict conflict;
  CHECK(!linkBundles(std::move(many), conflict));
  CHECK(conflict.what == "kernel `k` gets more than 256 variants: each target, configuration and fact of @variants makes some");
}

TEST_CASE("compilers are listed once each", "[bundle]") {
  Bundle a = makeBundle("sm_80", "one"), b = makeBundle("sm_90a", "two");
  (*b.document.getObject("producer"))["tkc"] = "0.2.0";
  (*b.document.getObject("producer"))["assembler"] = llvm::json::Object{{"name", "ptxas"}};
  LinkConflict conflict;
  std::optional<Bundle> both = linkBundles({{"b", b}, {"a", a}}, conflict);
  REQUIRE(both);
  std::optional<Bundle> again = linkBundles({{"both", *both}, {"a", a}}, conflict);
  REQUIRE(again);
  CHECK(*again->document.getObject("producer")->getString("tkc") == "0.1.0, 0.2.0");
  CHECK(again->document.getObject("producer")->getObject("assembler"));
}

//===----------------------------------------------------------------------===//
// Embedding and extracting
//===----------------------------------------------------------------------===//

TEST_CASE("names of files become identifiers", "[bundle]") {
  CHECK(identifierOf("a/k.o") == "k");
  CHECK(identifierOf("2-fast.tkb") == "n2_fast");
  CHECK(identifierOf("new.h") == "new_");
  CHECK(identifierOf("_x.h") == "n_x");
}

TEST_CASE("texts are quoted for C and assemblers", "[bundle]") {
  CHECK(quotedText("a b") == "\"a b\"");
  CHECK(quotedText("\n\"\\\xff") == R"("\012\042\134\377")");
}

TEST_CASE("objects are written for the machines that are named", "[bundle]") {
  CHECK(elfMachineOf("x86_64-unknown-linux-gnu") == llvm::ELF::EM_X86_64);
  CHECK(elfMachineOf("aarch64") == llvm::ELF::EM_AARCH64);
  CHECK(!elfMachineOf("aarch64-apple-macos"));
  CHECK(!elfMachineOf("x86_64-pc-windows-msvc"));
  CHECK(!elfMachineOf("riscv64-linux-gnu"));
  CHECK(!elfMachineOf("nonsense"));
}

TEST_CASE("an extracted image has the description of what is in it", "[bundle]") {
  LinkConflict conflict;
  std::optional<Bundle> linked = linkBundles(
      {{"a", makeBundle("sm_80", "one")}, {"b", makeBundle("sm_90a", "two", "x")}}, conflict);
  REQUIRE(linked);
  std::vector<ExtractedImage> images = extractImages(*linked);
  REQUIRE(images.size() == 2);
  CHECK(images[0].name == "k_D64.x.sm_90a.cubin");
  CHECK(images[0].bytes == "two");
  CHECK(images[1].name == "k_D64.sm_80.cubin");
  llvm::Expected<Bundle> again = bundleOf(images[1].description, images[1].bytes);
  REQUIRE(bool(again));
  CHECK(again->kernels().front().getAsObject()->getArray("variants")->size() == 1);
}
