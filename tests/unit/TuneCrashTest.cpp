//===- TuneCrashTest.cpp - power cuts and records cut short ----------------===//
// The calls of a store are recorded, with what each would change on a disk. A power cut may come
// after any of them; of what was not synced before, any part may be on the disk.
#include "TuneFixture.h"
#include "runtime/tune/Cache.h"

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sys/stat.h>

using namespace tkctune;

namespace {
/// What a disk has: contents of files by number, and which name leads to which.
struct Disk {
  std::map<int, std::string> contents;
  std::map<std::string, int> names;
  bool hasFolder = false; ///< its parent knows it
};

/// One change that is not on the disk before somebody syncs.
struct Change {
  enum Kind { Folder, Create, Write, Rename, Remove } kind;
  int file = 0;
  std::string name, to, bytes;
  bool isSynced = false;
};

/// Keeps a log of what is done to the files.
struct RecordingFiles : Files {
  std::vector<std::vector<Change>> states; ///< the changes so far, before each call and at the end
  std::vector<Change> changes;
  std::map<int, int> fileOf; ///< the number of an open file; 0 the folder, -1 its parent
  int files = 0;

  void remember() { states.push_back(changes); }
  void change(Change::Kind kind, int file, const std::string &name, const std::string &to = "",
              const std::string &bytes = "") {
    changes.push_back({kind, file, name, to, bytes, false});
    remember();
  }

  int makeFolder(const char *path, mode_t mode) override {
    int result = Files::makeFolder(path, mode);
    if (result == 0)
      change(Change::Folder, 0, "");
    return result;
  }
  int open(const char *path, int flags) override {
    int file = Files::open(path, flags);
    fileOf[file] = 0;
    return file;
  }
  int openAt(int folder, const char *name, int flags, mode_t mode) override {
    int file = Files::openAt(folder, name, flags, mode);
    fileOf[file] = std::string(name) == ".." ? -1 : ++files;
    if (file >= 0 && (flags & O_CREAT))
      change(Change::Create, files, name);
    return file;
  }
  ssize_t write(int file, const void *data, size_t bytes) override {
    ssize_t count = Files::write(file, data, bytes);
    change(Change::Write, fileOf[file], "", "", {static_cast<const char *>(data), size_t(count)});
    return count;
  }
  int renameAt(int folder, const char *from, const char *to) override {
    change(Change::Rename, 0, from, to);
    return Files::renameAt(folder, from, to);
  }
  int removeAt(int folder, const char *name) override {
    change(Change::Remove, 0, name);
    return Files::removeAt(folder, name);
  }
  /// A file's bytes; or the names in the folder; or the folder itself.
  int sync(int file) override {
    int what = fileOf[file];
    for (Change &change : changes)
      if (what == -1  ? change.kind == Change::Folder
          : what == 0 ? change.kind != Change::Folder && change.kind != Change::Write
                      : change.kind == Change::Write && change.file == what)
        change.isSynced = true;
    remember();
    return Files::sync(file);
  }
};
} // namespace

static void apply(const Change &change, Disk &disk, size_t bytes) {
  switch (change.kind) {
  case Change::Folder:
    disk.hasFolder = true;
    break;
  case Change::Create:
    disk.names[change.name] = change.file;
    break;
  case Change::Write:
    disk.contents[change.file] += change.bytes.substr(0, bytes);
    break;
  case Change::Rename:
    if (disk.names.count(change.name)) {
      disk.names[change.to] = disk.names[change.name];
      disk.names.erase(change.name);
    }
    break;
  case Change::Remove:
    disk.names.erase(change.name);
    break;
  }
}

/// Every disk that a power cut may leave: each unsynced change is there or not, a write in part.
/// Names come to the disk in their order, as journals have it; bytes whenever they like.
static std::vector<Disk> disksAfter(const std::vector<Change> &changes) {
  std::vector<Disk> disks(1);
  for (const Change &change : changes) {
    std::vector<Disk> next;
    for (const Disk &disk : disks) {
      std::set<size_t> lengths = {change.bytes.size()};
      if (change.kind == Change::Write && !change.isSynced)
        lengths = {0, 1, change.bytes.size() / 2, change.bytes.size() - 1, change.bytes.size()};
      for (size_t length : lengths) {
        next.push_back(disk);
        apply(change, next.back(), length);
      }
      if (!change.isSynced)
        next.push_back(disk);
    }
    disks = next;
  }
  return disks;
}

static void writeDisk(const Disk &disk, const std::string &folder) {
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  for (const auto &entry : disk.names) {
    auto bytes = disk.contents.find(entry.second);
    std::ofstream(folder + "/" + entry.first, std::ios::binary)
        << (bytes == disk.contents.end() ? "" : bytes->second);
  }
}

/// What is found there by a process in good health; null when nothing is.
static Json foundIn(const std::string &folder) {
  Files files;
  Json value;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(folder));
  cache.find({{"k", 1}}, value);
  CHECK(warnings.empty()); // no record was torn
  return value;
}

TEST_CASE("a power cut at any moment tears no record and loses none that was stored", "[tune]") {
  ScratchFolder scratch;
  RecordingFiles files;
  std::vector<size_t> stored; // the state after each store
  const Json values[] = {{{"a", 1}}, {{"a", 2}, {"text", std::string(300, 'x')}}};
  {
    Cache cache(files, nullptr);
    REQUIRE(cache.open(scratch.path + "/c"));
    for (const Json &value : values) {
      REQUIRE(cache.store({{"k", 1}}, value));
      stored.push_back(files.states.size() - 1);
    }
  }
  size_t disks = 0;
  for (size_t state = 0; state < files.states.size(); ++state)
    for (const Disk &disk : disksAfter(files.states[state])) {
      std::string folder = scratch.path + "/d" + std::to_string(disks++);
      INFO("state " << state << " of " << files.states.size());
      Json found;
      if (disk.hasFolder) {
        writeDisk(disk, folder);
        found = foundIn(folder);
      }
      // Stores that came back by then; what is under way may be there too.
      size_t returned = static_cast<size_t>(std::upper_bound(stored.begin(), stored.end(), state) -
                                            stored.begin());
      bool isGood = returned == 0 && found.is_null();
      for (size_t i = returned ? returned - 1 : 0; i < 2 && i <= returned; ++i)
        isGood |= found == values[i];
      CHECK(isGood);
    }
  CHECK(disks > 40);
  CHECK(disks < 5000);
}

TEST_CASE("a record cut off at any byte is a miss with a warning, and is written anew", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  Files files;
  std::vector<std::string> warnings, names;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(folder));
  const Json key = {{"k", 1}}, value = {{"us", 10.5}, {"why", "text"}};
  REQUIRE(cache.store(key, value));
  int handle = files.open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(files.list(handle, names) == 0);
  files.close(handle);
  auto isRecord = [](const std::string &name) { return name.size() > 2; };
  std::string path = folder + "/" + *std::find_if(names.begin(), names.end(), isRecord);
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  for (size_t length = 0; length + 1 < good.size(); ++length) { // the last byte ends the line
    std::ofstream(path, std::ios::binary) << good.substr(0, length);
    Json found;
    INFO(length << " of " << good.size() << " bytes");
    CHECK_FALSE(cache.find(key, found));
    CHECK(warnings.size() == 1);
    warnings.clear();
    CHECK(cache.store(key, value));
    CHECK(cache.find(key, found));
    CHECK(found == value);
    CHECK(warnings.empty());
  }
}
