//===- Files.h - the system calls of the cache -----------------------------===//
// An interface, so that the tests can make each call fail once.
#ifndef TKC_TUNE_FILES_H
#define TKC_TUNE_FILES_H

#include <cstddef>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <vector>

namespace tkctune {

/// Like the system calls of these names: -1 and errno on failure.
class Files {
public:
  virtual ~Files() = default;
  virtual int makeFolder(const char *path, mode_t mode);
  virtual int open(const char *path, int flags);
  virtual int openAt(int folder, const char *name, int flags, mode_t mode);
  virtual int status(int file, struct stat *out);
  virtual ssize_t read(int file, void *data, size_t bytes);
  virtual ssize_t write(int file, const void *data, size_t bytes);
  virtual int sync(int file);
  /// Never waits: EWOULDBLOCK when another has it. Whoever dies has it no longer.
  virtual int lock(int file);
  virtual int renameAt(int folder, const char *from, const char *to);
  virtual int removeAt(int folder, const char *name);
  virtual int close(int file);
  /// The names in a folder.
  virtual int list(int folder, std::vector<std::string> &names);
};

} // namespace tkctune

#endif
