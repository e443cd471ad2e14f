//===- Files.cpp - the system calls of the cache ---------------------------===//
#include "Files.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tkctune {

int Files::makeFolder(const char *path, mode_t mode) {
  return ::mkdir(path, mode);
}
int Files::open(const char *path, int flags) {
  return ::open(path, flags);
}
int Files::openAt(int folder, const char *name, int flags, mode_t mode) {
  return ::openat(folder, name, flags, mode);
}
int Files::status(int file, struct stat *out) {
  return ::fstat(file, out);
}
ssize_t Files::read(int file, void *data, size_t bytes) {
  return ::read(file, data, bytes);
}
ssize_t Files::write(int file, const void *data, size_t bytes) {
  return ::write(file, data, bytes);
}
int Files::sync(int file) {
  return ::fsync(file);
}
int Files::lock(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB);
}
int Files::renameAt(int folder, const char *from, const char *to) {
  return ::renameat(folder, from, folder, to);
}
int Files::removeAt(int folder, const char *name) {
  return ::unlinkat(folder, name, 0);
}
int Files::close(int file) {
  return ::close(file);
}

int Files::list(int folder, std::vector<std::string> &names) {
  int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // closedir closes it
  DIR *stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!stream) {
    if (copy >= 0)
      ::close(copy);
    return -1;
  }
  errno = 0;
  while (dirent *entry = ::readdir(stream))
    names.push_back(entry->d_name);
  int reason = errno;
  ::closedir(stream);
  errno = reason;
  return reason ? -1 : 0;
}

} // namespace tkctune
