//===- FuzzRuntimeRecord.cpp - libFuzzer: any bytes as what tuning kept ----------------===//
//
// The bytes are a record of the cache: as they are, and, when they are JSON, as the value of a
// record that is whole. Then they are tables that are joined, with a NUL between two of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/src/Sha256.h"
#include "runtime/tune/Cache.h"
#include "tkc/tune.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace tkctune;

namespace {
/// A folder in memory with one file, whatever its name.
struct MemoryFiles : Files {
  static constexpr int kFolder = 1000, kFile = 1001;
  std::string text;
  size_t at = 0;

  int makeFolder(const char *, mode_t) override { return 0; }
  int open(const char *, int) override { return kFolder; }
  int openAt(int, const char *, int, mode_t) override {
    at = 0;
    return kFile;
  }
  int status(int file, struct stat *out) override {
    *out = {};
    out->st_mode = file == kFolder ? S_IFDIR | 0700 : S_IFREG | 0600;
    out->st_uid = geteuid();
    out->st_size = static_cast<off_t>(text.size());
    return 0;
  }
  ssize_t read(int, void *data, size_t bytes) override {
    size_t count = std::min(bytes, text.size() - at);
    memcpy(data, text.data() + at, count);
    at += count;
    return static_cast<ssize_t>(count);
  }
  int close(int) override { return 0; }
  int list(int, std::vector<std::string> &) override { return 0; }
};
} // namespace

/// What is not found is either absent or said to be damaged.
static bool isFound(const std::string &text, const Json &key, Json &value) {
  MemoryFiles files;
  files.text = text;
  size_t warnings = 0;
  Cache cache(files, [&](const std::string &) { ++warnings; });
  if (!cache.open("c"))
    abort();
  bool found = cache.find(key, value);
  if (found == (warnings != 0))
    abort();
  return found;
}

static void readRecord(const std::string &text) {
  Json key = {{"k", 1}}, value, given;
  isFound(text, key, value);
  tkc_error err{};
  err.size = sizeof(err);
  if (tkcrt::parseJson(text.data(), text.size(), given, &err) != TKC_OK)
    return;
  std::string body = given.dump();
  std::string digest = tkcrt::toHex(tkcrt::sha256(body.data(), body.size()));
  Json record = {{"schema", "tkc.cache/1"}, {"key", key}, {"value", given}, {"sha256", digest}};
  // A value at the limit of nesting is too deep inside a record.
  if (isFound(record.dump(), key, value) && value.dump() != body)
    abort();
}

/// The joined text; empty when the tables are refused.
static std::string merged(const std::vector<const char *> &tables) {
  tkc_error err{};
  err.size = sizeof(err);
  std::string text(1 << 16, '\0');
  size_t bytes = text.size();
  tkc_status status =
      tkc_table_merge(tables.data(), static_cast<uint32_t>(tables.size()), &text[0], &bytes, &err);
  if (status != err.status || (status && !err.text[0]))
    abort();
  return status ? std::string() : std::string(text.c_str());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  readRecord(text);
  const char *first = text.c_str();
  const char *second = strlen(first) < size ? first + strlen(first) + 1 : "[]";
  std::string once = merged({first, second});
  // Neither order nor a second time may change what comes out.
  if (once != merged({second, first}))
    abort();
  if (!once.empty() && once != merged({once.c_str()}))
    abort();
  return 0;
}
