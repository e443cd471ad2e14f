//===- RuntimeBundleWriter.h - .tkb files for the loader's tests -----------===//
// A writer of its own, by docs/design/bundles.md: the compiler's is not to be trusted here.
#ifndef TKC_TESTS_RUNTIME_BUNDLE_WRITER_H
#define TKC_TESTS_RUNTIME_BUNDLE_WRITER_H

#include "runtime/src/Sha256.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>
#if __has_include(<zstd.h>)
#include <zstd.h>
#define TKC_TESTS_ZSTD 1
#endif

/// Puts images into a file with a description whose `images` are filled in. Tests damage it.
struct BundleWriter {
  nlohmann::json json; ///< without `images`
  std::string bytes;   ///< the file, after write()

  void addImage(const char *kind, const std::string &image, const char *codec = "none") {
    std::string stored = image;
#ifdef TKC_TESTS_ZSTD
    if (codec == std::string("zstd")) {
      stored.resize(ZSTD_compressBound(image.size()));
      stored.resize(ZSTD_compress(&stored[0], stored.size(), image.data(), image.size(), 3));
    }
#endif
    contents.push_back(stored);
    entries.push_back({{"kind", kind},
                       {"offset", 0},
                       {"stored", stored.size()},
                       {"size", image.size()},
                       {"codec", codec},
                       {"sha256", tkcrt::toHex(tkcrt::sha256(image.data(), image.size()))}});
  }

  /// Offsets depend on the length of the JSON that holds them: it is written until they agree.
  const std::string &write() {
    std::string text;
    for (int round = 0; round < 8; ++round) {
      json["images"] = entries;
      text = json.dump();
      size_t end = 128 + text.size();
      for (size_t i = 0; i < contents.size(); ++i) {
        end = (end + 63) / 64 * 64;
        entries[i]["offset"] = end;
        end += contents[i].size();
      }
    }
    frame(text);
    for (size_t i = 0; i < contents.size(); ++i) {
      bytes.resize(entries[i]["offset"].get<size_t>());
      bytes += contents[i];
    }
    put(32, bytes.size());
    return bytes;
  }

  /// Header and JSON, with nothing behind.
  void frame(const std::string &text) {
    bytes.assign(128, '\0');
    bytes.replace(0, 8, "\x89TKB\r\n\x1a\n", 8);
    put(8, 1 | uint64_t(128) << 32);
    put(16, 128);
    put(24, text.size());
    tkcrt::Digest digest = tkcrt::sha256(text.data(), text.size());
    bytes.replace(40, 32, reinterpret_cast<const char *>(digest.data()), 32);
    bytes += text;
    put(32, bytes.size());
  }

  void put(size_t at, uint64_t value) {
    bytes.replace(at, 8, reinterpret_cast<const char *>(&value), 8);
  }

  std::vector<nlohmann::json> entries; ///< of `images`
  std::vector<std::string> contents;   ///< as stored
};

#endif
