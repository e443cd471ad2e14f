//===- TuneCacheTest.cpp - what is kept, and what is not believed ----------===//
#include "TuneFixture.h"
#include "runtime/tune/Cache.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace tkctune;
using Catch::Matchers::Contains;

static const TunerUnderTest::Words kN4096 = {{"N", "4096"}};

static std::vector<std::filesystem::path> filesIn(const std::string &folder) {
  std::vector<std::filesystem::path> result;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    result.push_back(entry.path());
  return result;
}

static void write(const std::filesystem::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

static std::string readAll(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Tunes two configurations of `scale` with a cache; the number of launches that took.
static size_t tuneWith(VirtualGpu &gpu, const std::string &folder,
                       std::vector<std::string> *warnings = nullptr,
                       const TunerUnderTest::Words &shape = kN4096) {
  size_t before = gpu.launches.size();
  TunerUnderTest tuner(gpu);
  tuner.desc.cache = folder.c_str();
  for (int block : {64, 128})
    REQUIRE(tuner.add(scaleJson(block)) == TKC_OK);
  tkc_status status = tuner.shape(shape);
  INFO(tuner.text());
  REQUIRE(status == TKC_OK);
  CHECK(tuner.report()["shapes"][0]["winner"] == 1);
  if (warnings)
    *warnings = tuner.warnings;
  else
    CHECK(tuner.warnings.empty());
  return gpu.launches.size() - before;
}

TEST_CASE("a second run times nothing and gives the same table", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/cache";
  CHECK(tuneWith(gpu, folder) > 10);
  CHECK(filesIn(folder).size() == 2);
  struct stat info;
  REQUIRE(stat(folder.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
  CHECK(tuneWith(gpu, folder) == 0);
}

TEST_CASE("a candidate without code is timed by the cache, or asked for", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  tuneWith(gpu, scratch.path + "/c");
  size_t before = gpu.launches.size();
  TunerUnderTest tuner(gpu);
  std::string folder = scratch.path + "/c";
  tuner.desc.cache = folder.c_str();
  for (int block : {64, 128, 256})
    REQUIRE(tuner.addWithoutCode(scaleJson(block)) == TKC_OK);
  CHECK(tuner.missing(kN4096, 3) == std::vector<uint8_t>{0, 0, 1});
  CHECK(tuner.missing({{"N", "8192"}}, 3) == std::vector<uint8_t>{1, 1, 1});
  REQUIRE(tuner.shape(kN4096) == TKC_OK);
  CHECK(gpu.launches.size() == before);
  TuneJson report = tuner.report();
  CHECK(report["shapes"][0]["candidates"][0]["cached"] == true);
  CHECK(report["shapes"][0]["candidates"][2]["why"] == "there is no code of it");
}

TEST_CASE("what failed for want of code or memory is tried again", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  {
    TunerUnderTest tuner(gpu);
    tuner.desc.cache = folder.c_str();
    REQUIRE(tuner.addWithoutCode(scaleJson(64)) == TKC_OK);
    CHECK(tuner.shape(kN4096) == TKC_E_NO_VARIANT);
  }
  gpu.failures["cuLibraryLoadData"] = 2; // out of memory
  {
    TunerUnderTest tuner(gpu);
    tuner.desc.cache = folder.c_str();
    REQUIRE(tuner.add(scaleJson(64)) == TKC_OK);
    CHECK(tuner.shape(kN4096) == TKC_E_NO_VARIANT);
  }
  gpu.failures.clear();
  CHECK(filesIn(folder).empty());
  CHECK(tuneWith(gpu, folder) > 10);
}

TEST_CASE("whatever may change a time is part of the key", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  tuneWith(gpu, folder);
  SECTION("the shape") {
    CHECK(tuneWith(gpu, folder, nullptr, {{"N", "4097"}}) > 0);
  }
  SECTION("the driver") {
    gpu.driverVersion = 13010;
    CHECK(tuneWith(gpu, folder) > 0);
  }
  SECTION("the device") {
    gpu.name = "Virtual H200 MIG 3g.71gb";
    CHECK(tuneWith(gpu, folder) > 0);
  }
  SECTION("its memory") {
    gpu.memoryBytes /= 2;
    CHECK(tuneWith(gpu, folder) > 0);
  }
  SECTION("nothing else") {
    CHECK(tuneWith(gpu, folder) == 0);
  }
}

TEST_CASE("damaged and foreign records are ignored with a warning", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  tuneWith(gpu, folder);
  auto files = filesIn(folder);
  REQUIRE(files.size() == 2);
  std::string good = readAll(files[0]);
  std::vector<std::string> warnings;
  auto isIgnored = [&] {
    CHECK(tuneWith(gpu, folder, &warnings) > 0);
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("ignored"));
    CHECK(readAll(files[0]).size() > 100); // and it is written anew
    CHECK(tuneWith(gpu, folder) == 0);
  };
  SECTION("cut off") {
    write(files[0], good.substr(0, good.size() / 2));
    isIgnored();
  }
  SECTION("empty") {
    write(files[0], "");
    isIgnored();
  }
  SECTION("a number changed") {
    TuneJson record = TuneJson::parse(good);
    record["value"]["us"] = 0.001;
    write(files[0], record.dump());
    isIgnored();
  }
  SECTION("another key's record") {
    write(files[0], readAll(files[1]));
    isIgnored();
  }
  SECTION("a link") {
    std::filesystem::rename(files[0], scratch.path + "/elsewhere");
    std::filesystem::create_symlink(scratch.path + "/elsewhere", files[0]);
    isIgnored();
  }
  SECTION("a pipe") {
    std::filesystem::remove(files[0]);
    REQUIRE(mkfifo(files[0].c_str(), 0600) == 0);
    isIgnored();
  }
  SECTION("far too large") {
    std::filesystem::resize_file(files[0], 5 << 20);
    isIgnored();
  }
}

TEST_CASE("a record whose fields are of the wrong kind is ignored", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  tuneWith(gpu, folder);
  Files files;
  for (const auto &path : filesIn(folder)) {
    TuneJson record = TuneJson::parse(readAll(path));
    record["value"]["us"] = "fast";
    Cache cache(files, nullptr);
    REQUIRE(cache.open(folder));
    cache.store(record["key"], record["value"]); // whole, and nonsense
  }
  std::vector<std::string> warnings;
  CHECK(tuneWith(gpu, folder, &warnings) > 0);
  CHECK(warnings.size() == 2);
}

TEST_CASE("a folder that is not ours alone is not used", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  std::vector<std::string> warnings;
  Files files;
  auto refuses = [&](const char *why) {
    Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
    CHECK_FALSE(cache.open(folder));
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains(why));
    Json value;
    cache.store({{"k", 1}}, 2);
    CHECK_FALSE(cache.find({{"k", 1}}, value));
  };
  SECTION("others may write") {
    REQUIRE(mkdir(folder.c_str(), 0755) == 0);
    refuses("has mode 755, needed 700");
  }
  SECTION("a link") {
    REQUIRE(mkdir((scratch.path + "/real").c_str(), 0700) == 0);
    std::filesystem::create_symlink(scratch.path + "/real", folder);
    refuses("a link");
  }
  SECTION("a file") {
    write(folder, "x");
    refuses("is not a folder");
  }
  SECTION("no parent") {
    folder += "/d/e";
    refuses("can't be made");
  }
  SECTION("another's") {
    struct Foreign : Files {
      int status(int file, struct stat *out) override {
        int result = Files::status(file, out);
        out->st_uid += 1;
        return result;
      }
    } foreign;
    Cache cache(foreign, [&](const std::string &text) { warnings.push_back(text); });
    CHECK_FALSE(cache.open(folder));
    CHECK_THAT(warnings.at(0), Contains("belongs to user"));
  }
}

namespace {
/// Makes the call of a given number fail; counts them by name.
struct FailingFiles : Files {
  int failing = 0, calls = 0;
  int reason = EIO;
  std::set<std::string> made, failed;
  bool fails(const char *name) {
    made.insert(name);
    if (++calls != failing)
      return false;
    failed.insert(name);
    errno = reason;
    return true;
  }
  int makeFolder(const char *path, mode_t mode) override {
    return fails("mkdir") ? -1 : Files::makeFolder(path, mode);
  }
  int open(const char *path, int flags) override {
    return fails("open") ? -1 : Files::open(path, flags);
  }
  int openAt(int folder, const char *name, int flags, mode_t mode) override {
    return fails("openat") ? -1 : Files::openAt(folder, name, flags, mode);
  }
  int status(int file, struct stat *out) override {
    return fails("fstat") ? -1 : Files::status(file, out);
  }
  ssize_t read(int file, void *data, size_t bytes) override {
    return fails("read") ? -1 : Files::read(file, data, bytes);
  }
  ssize_t write(int file, const void *data, size_t bytes) override {
    // One byte at a time at first: a short write is no failure.
    return fails("write") ? -1 : Files::write(file, data, calls % 3 ? bytes : 1);
  }
  int sync(int file) override { return fails("fsync") ? -1 : Files::sync(file); }
  int lock(int file) override { return fails("flock") ? -1 : Files::lock(file); }
  int renameAt(int folder, const char *from, const char *to) override {
    return fails("rename") ? -1 : Files::renameAt(folder, from, to);
  }
  int removeAt(int folder, const char *name) override {
    return fails("unlink") ? -1 : Files::removeAt(folder, name);
  }
  int close(int file) override {
    int result = Files::close(file);
    return fails("close") ? -1 : result;
  }
  int list(int folder, std::vector<std::string> &names) override {
    return fails("readdir") ? -1 : Files::list(folder, names);
  }
};
} // namespace

static int openFiles() {
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += !entry.path().empty();
  return count;
}

TEST_CASE("each system call may fail: nothing torn, lost or leaked, and a warning", "[tune]") {
  int reason = GENERATE(EIO, ENOSPC, EINTR, EACCES, EMFILE, ENOENT, EEXIST, EROFS, EWOULDBLOCK);
  int descriptors = openFiles();
  std::set<std::string> made, failed;
  bool hasFailed = true; // until a whole run has fewer calls
  for (int failing = 1; hasFailed; ++failing) {
    ScratchFolder scratch;
    std::string folder = scratch.path + "/c";
    REQUIRE(mkdir(folder.c_str(), 0700) == 0);
    write(folder + "/.new-1-2-3", "half");
    FailingFiles files;
    files.failing = failing;
    files.reason = reason;
    std::vector<std::string> warnings;
    const Json key = {{"k", 1}}, first = {{"a", 1}}, second = {{"a", 2}};
    Json expected, value;
    bool isOpen = false;
    {
      Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
      isOpen = cache.open(folder);
      for (const Json &stored : {first, second})
        if (cache.store(key, stored))
          expected = stored;
      cache.find(key, value);
    }
    hasFailed = !files.failed.empty();
    made.insert(files.made.begin(), files.made.end());
    failed.insert(files.failed.begin(), files.failed.end());
    INFO("call " << failing << ", errno " << reason);
    if (!isOpen)
      CHECK_FALSE(warnings.empty());
    if (expected != second)
      CHECK_FALSE(warnings.empty());
    // Whatever happened, what a sound process finds afterwards is whole, and what was stored.
    Files sound;
    std::vector<std::string> later;
    Cache cache(sound, [&](const std::string &text) { later.push_back(text); });
    REQUIRE(cache.open(folder));
    Json found;
    cache.find(key, found);
    // What was not acknowledged may be there too.
    CHECK((found == expected || found == second || (found == first && expected.is_null())));
    CHECK(later.empty());
    CHECK(filesIn(folder).size() == (found.is_null() ? 0u : 1u));
  }
  CHECK(openFiles() == descriptors);
  CHECK(made.size() == 12);
  CHECK(failed == made);
}

namespace {
/// A file system on which nothing can be locked.
struct UnlockableFiles : Files {
  int lock(int) override {
    errno = ENOLCK;
    return -1;
  }
};
/// Somebody else takes each new file for a leftover before it is locked.
struct GreedyFiles : Files {
  int folder = -1, greed = 0;
  std::string newest;
  int openAt(int where, const char *name, int flags, mode_t mode) override {
    folder = where;
    newest = name;
    return Files::openAt(where, name, flags, mode);
  }
  int lock(int file) override {
    if (--greed >= 0)
      Files::removeAt(folder, newest.c_str());
    return Files::lock(file);
  }
};
} // namespace

TEST_CASE("what a killed process left is removed at once", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  write(folder + "/.new-1-2-3", "half");
  write(folder + "/.new-4-5-6", "half");
  Files files;
  int alive = files.open((folder + "/.new-4-5-6").c_str(), O_RDONLY);
  REQUIRE(files.lock(alive) == 0);
  {
    Cache cache(files, nullptr);
    REQUIRE(cache.open(folder));
    CHECK_FALSE(std::filesystem::exists(folder + "/.new-1-2-3"));
    CHECK(std::filesystem::exists(folder + "/.new-4-5-6"));
  }
  files.close(alive);
  Cache cache(files, nullptr);
  REQUIRE(cache.open(folder));
  CHECK(filesIn(folder).empty());
}

TEST_CASE("a store on a full disk says so and leaves nothing behind", "[tune]") {
  struct FullFiles : Files {
    ssize_t write(int file, const void *data, size_t) override {
      if (Files::write(file, data, 10) == 10) // something goes on the disk first
        errno = ENOSPC;
      return -1;
    }
  } files;
  ScratchFolder scratch;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(scratch.path + "/c"));
  CHECK_FALSE(cache.store({{"k", 1}}, 5));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("can't be written (No space left on device): not kept"));
  CHECK(filesIn(scratch.path + "/c").empty());
}

TEST_CASE("a leftover stays locked until it is gone", "[tune]") {
  struct CheckingFiles : Files {
    int removed = 0, locked = 0;
    int removeAt(int folder, const char *name) override {
      int another = Files::openAt(folder, name, O_RDONLY, 0);
      locked += Files::lock(another) != 0;
      Files::close(another);
      ++removed;
      return Files::removeAt(folder, name);
    }
  } files;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  write(folder + "/.new-1-2-3", "half");
  Cache cache(files, nullptr);
  REQUIRE(cache.open(folder));
  CHECK(files.removed == 1);
  CHECK(files.locked == 1); // or who made it might get the lock, and write to what is no more
}

TEST_CASE("where nothing can be locked, age tells what was left behind", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  write(folder + "/.new-1-2-3", "half");
  write(folder + "/.new-4-5-6", "half");
  auto hours = std::chrono::hours(2);
  std::filesystem::last_write_time(folder + "/.new-1-2-3",
                                   std::filesystem::file_time_type::clock::now() - hours);
  UnlockableFiles files;
  Cache cache(files, nullptr);
  REQUIRE(cache.open(folder));
  CHECK_FALSE(std::filesystem::exists(folder + "/.new-1-2-3"));
  CHECK(std::filesystem::exists(folder + "/.new-4-5-6")); // it may be somebody's at work
  CHECK(cache.store({{"k", 1}}, 1));
}

TEST_CASE("a new file that somebody takes for a leftover is made again", "[tune]") {
  ScratchFolder scratch;
  GreedyFiles files;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(scratch.path + "/c"));
  files.greed = 3;
  Json value;
  CHECK(cache.store({{"k", 1}}, 5));
  CHECK(cache.find({{"k", 1}}, value));
  CHECK(value == 5);
  CHECK(warnings.empty());
}

TEST_CASE("a pipe in the place of a leftover holds nobody up", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(mkfifo((folder + "/.new-1-2-3").c_str(), 0600) == 0);
  Files files;
  Cache cache(files, nullptr);
  CHECK(cache.open(folder));
}

TEST_CASE("a record that no reader would take is not stored", "[tune]") {
  ScratchFolder scratch;
  Files files;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(scratch.path + "/c"));
  CHECK_FALSE(cache.store({{"k", 1}}, std::string(5 << 20, 'x')));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("too large (at most 4194304)"));
  CHECK(filesIn(scratch.path + "/c").empty());
}

TEST_CASE("a key that is no UTF-8 is found again", "[tune]") {
  ScratchFolder scratch;
  Files files;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(scratch.path + "/c"));
  Json key = {{"device", "H\xff"}}, value;
  CHECK(cache.store(key, 5));
  CHECK(cache.find(key, value));
  CHECK(warnings.empty());
}

TEST_CASE("notes are kept by their key", "[tune]") {
  VirtualGpu gpu;
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  TunerUnderTest tuner(gpu);
  tuner.desc.cache = folder.c_str();
  tuner.open();
  char text[64];
  size_t bytes = sizeof(text);
  CHECK(tkc_tune_noted(tuner.tuner, "{\"a\": 1}", text, &bytes, &tuner.error) == TKC_E_COLD);
  REQUIRE(tkc_tune_note(tuner.tuner, "{\"a\": 1}", "what was found", &tuner.error) == TKC_OK);
  REQUIRE(tkc_tune_noted(tuner.tuner, "{\"a\":1}", text, &bytes, &tuner.error) == TKC_OK);
  CHECK(std::string(text) == "what was found");
  CHECK(tkc_tune_noted(tuner.tuner, "{\"a\": 2}", text, &bytes, &tuner.error) == TKC_E_COLD);
  CHECK(tkc_tune_note(tuner.tuner, "{a", "x", &tuner.error) == TKC_E_CORRUPT);
}
