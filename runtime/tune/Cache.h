//===- Cache.h - what was found out before ---------------------------------===//
// A folder of small text files, one a key, never code. A record is written whole beside its place
// and renamed, so that readers see all of it or nothing, and nobody waits for anybody. Only what is
// being written is locked: a temporary file without a lock was left by a process that died, and
// whoever opens the folder next removes it. The folder must be ours alone; what is damaged, too
// large, or another's is ignored with a warning.
#ifndef TKC_TUNE_CACHE_H
#define TKC_TUNE_CACHE_H

#include "Files.h"
#include "Json.h"

#include <functional>

namespace tkctune {

using tkcrt::Json;

class Cache {
public:
  using Warn = std::function<void(const std::string &text)>;
  Cache(Files &files, Warn warn) : files(files), warn(std::move(warn)) {}
  ~Cache();
  Cache(const Cache &) = delete;
  Cache &operator=(const Cache &) = delete;

  /// Makes the folder when it is missing. False, with a warning, when it can't be trusted or used;
  /// then nothing is found and nothing is kept.
  bool open(const std::string &path);
  bool isOpen() const { return folder >= 0; }

  /// The value stored under exactly this key.
  bool find(const Json &key, Json &value);
  /// True when the record is there, and still will be after a power cut; else a warning says why.
  bool store(const Json &key, const Json &value);

private:
  bool checkFolder();
  void syncParent();
  bool readFile(const std::string &name, std::string &text);
  int makeTemporary(std::string &name);
  bool keepsTemporary(int file);
  bool writeAll(int file, const std::string &text);
  void removeLeftovers();
  bool isLeftover(int file);
  void complain(const std::string &what);

  Files &files;
  Warn warn;
  std::string path;
  int folder = -1;
};

} // namespace tkctune

#endif
