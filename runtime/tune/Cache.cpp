//===- Cache.cpp - what was found out before -------------------------------===//
#include "Cache.h"

#include "Sha256.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace tkctune {

constexpr off_t kMaxRecordBytes = 4 << 20;
constexpr const char *kSchema = "tkc.cache/1";
constexpr const char *kTemporary = ".new-";
/// Where files can't be locked: no write takes this long, what is older was left by the dead.
constexpr time_t kLeftoverSeconds = 3600;

/// Never throws: what is no UTF-8 (a device's name) is replaced.
static std::string compact(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static std::string digestOf(const Json &json) {
  std::string text = compact(json);
  return tkcrt::toHex(tkcrt::sha256(text.data(), text.size()));
}

Cache::~Cache() {
  if (folder >= 0)
    files.close(folder);
}

void Cache::complain(const std::string &what) {
  if (warn)
    warn("cache " + path + ": " + what);
}

bool Cache::open(const std::string &where) {
  path = where;
  if (files.makeFolder(path.c_str(), 0700) && errno != EEXIST) {
    complain(std::string("can't be made (") + strerror(errno) + "): nothing is kept");
    return false;
  }
  folder = files.open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    complain(errno == ELOOP || errno == ENOTDIR
                 ? std::string("is not a folder, or a link: give the folder itself")
                 : std::string("can't be opened (") + strerror(errno) + "): nothing is kept");
    return false;
  }
  if (checkFolder()) {
    syncParent();
    removeLeftovers();
    return true;
  }
  files.close(folder);
  folder = -1;
  return false;
}

bool Cache::checkFolder() {
  struct stat info;
  if (files.status(folder, &info)) {
    complain(std::string("can't be examined (") + strerror(errno) + ")");
    return false;
  }
  if (info.st_uid != geteuid()) {
    complain("belongs to user " + std::to_string(info.st_uid) + ", not to us: choose another");
    return false;
  }
  if (info.st_mode & 077) {
    char mode[8];
    snprintf(mode, sizeof(mode), "%03o", static_cast<unsigned>(info.st_mode & 0777));
    complain(std::string("has mode ") + mode +
             ", needed 700: others could change records (chmod "
             "700 makes it ours alone)");
    return false;
  }
  return true;
}

/// Else a power cut may take the folder with all that was stored in it, whoever made it. A parent
/// that we may not read is another's business.
void Cache::syncParent() {
  int parent = files.openAt(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (parent < 0)
    return;
  files.sync(parent);
  files.close(parent);
}

void Cache::removeLeftovers() {
  std::vector<std::string> names;
  if (files.list(folder, names))
    return;
  for (const std::string &name : names) {
    if (name.compare(0, strlen(kTemporary), kTemporary) != 0)
      continue;
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int file = files.openAt(folder, name.c_str(), flags, 0);
    if (file < 0)
      continue;
    if (isLeftover(file))
      files.removeAt(folder, name.c_str());
    files.close(file); // not before: who made the file must not get the lock meanwhile
  }
}

bool Cache::isLeftover(int file) {
  if (files.lock(file) == 0)
    return true;
  struct stat info;
  return errno != EWOULDBLOCK && !files.status(file, &info) &&
         info.st_mtime + kLeftoverSeconds < time(nullptr);
}

/// False without a warning when there is no such file.
bool Cache::readFile(const std::string &name, std::string &text) {
  // O_NONBLOCK: a pipe in the place of a record must not hold us up.
  int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int file = files.openAt(folder, name.c_str(), flags, 0);
  if (file < 0) {
    if (errno != ENOENT)
      complain("record " + name + " can't be opened (" + strerror(errno) + "): ignored");
    return false;
  }
  struct stat info;
  std::string problem;
  if (files.status(file, &info))
    problem = strerror(errno);
  else if (!S_ISREG(info.st_mode) || info.st_uid != geteuid())
    problem = "not a file of ours";
  else if (info.st_size > kMaxRecordBytes)
    problem = "too large";
  text.clear();
  char chunk[16384];
  while (problem.empty() && text.size() <= static_cast<size_t>(kMaxRecordBytes)) {
    ssize_t got = files.read(file, chunk, sizeof(chunk));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      problem = strerror(errno);
    if (got <= 0)
      break;
    text.append(chunk, static_cast<size_t>(got));
  }
  files.close(file);
  if (problem.empty())
    return true;
  complain("record " + name + ": " + problem + ": ignored");
  return false;
}

bool Cache::find(const Json &key, Json &value) {
  if (!isOpen())
    return false;
  std::string name = digestOf(key) + ".json", text;
  if (!readFile(name, text))
    return false;
  tkc_error err{};
  err.size = sizeof(err);
  Json record;
  bool isGood = tkcrt::parseJson(text.data(), text.size(), record, &err) == TKC_OK &&
                record.is_object() && record.value("schema", Json()) == kSchema &&
                record.contains("value") && compact(record.value("key", Json())) == compact(key) &&
                record.value("sha256", Json()) == digestOf(record["value"]);
  if (!isGood) {
    complain("record " + name + " is damaged or another's: ignored");
    return false;
  }
  value = record["value"];
  return true;
}

bool Cache::writeAll(int file, const std::string &text) {
  size_t done = 0;
  while (done < text.size()) {
    ssize_t wrote = files.write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return false;
    done += static_cast<size_t>(wrote);
  }
  // The bytes before the name: after a power cut a name never leads to half a record.
  return files.sync(file) == 0;
}

/// A name that no process on any machine has used: pids repeat where the folder is shared.
static std::string temporaryName() {
  static std::atomic<unsigned> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return kTemporary + std::to_string(getpid()) + "-" + std::to_string(now.tv_sec) +
         std::to_string(now.tv_nsec) + "-" + std::to_string(counter++);
}

/// Open and locked, or -1.
int Cache::makeTemporary(std::string &name) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    name = temporaryName();
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = files.openAt(folder, name.c_str(), flags, 0600);
    if (file < 0 ? errno != EEXIST : keepsTemporary(file))
      return file;
    if (file >= 0)
      files.close(file);
  }
  errno = EEXIST;
  return -1;
}

/// False when somebody took the new file for a leftover before it was locked.
bool Cache::keepsTemporary(int file) {
  if (files.lock(file) && errno == EWOULDBLOCK)
    return false;
  struct stat info;
  return files.status(file, &info) || info.st_nlink > 0;
}

bool Cache::store(const Json &key, const Json &value) {
  if (!isOpen())
    return false;
  std::string name = digestOf(key) + ".json", temporary;
  Json record = {{"schema", kSchema}, {"key", key}, {"value", value}, {"sha256", digestOf(value)}};
  std::string text = compact(record) + "\n";
  if (text.size() > static_cast<size_t>(kMaxRecordBytes)) {
    complain("a record of " + std::to_string(text.size()) + " bytes is too large (at most " +
             std::to_string(kMaxRecordBytes) + "): not kept");
    return false;
  }
  int file = makeTemporary(temporary);
  bool isGood = file >= 0 && writeAll(file, text) &&
                files.renameAt(folder, temporary.c_str(), name.c_str()) == 0;
  int reason = errno;
  if (file >= 0 && !isGood)
    files.removeAt(folder, temporary.c_str());
  if (file >= 0)
    files.close(file); // and unlocked: no earlier, or it would be taken for a leftover
  if (!isGood) {
    complain(std::string("a record can't be written (") + strerror(reason) + "): not kept");
    return false;
  }
  // The name too is to outlast a power cut. EINVAL: this file system has nothing to sync.
  if (files.sync(folder) == 0 || errno == EINVAL)
    return true;
  complain(std::string("a record may not outlast a power cut (") + strerror(errno) + ")");
  return false;
}

} // namespace tkctune
