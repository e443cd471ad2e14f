//===- Replay.cpp - a main for fuzz targets that runs files or folders ---------------===//

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay(llvm::StringRef path) {
  std::error_code error;
  if (llvm::sys::fs::is_directory(path)) {
    unsigned count = 0;
    for (llvm::sys::fs::directory_iterator entry(path, error), end; entry != end && !error;
         entry.increment(error))
      count += replay(entry->path());
    return count;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    llvm::errs() << "cannot read " << path << "\n";
    exit(2);
  }
  llvm::StringRef bytes = (*file)->getBuffer();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  return 1;
}

int main(int argc, char **argv) {
  unsigned count = 0;
  for (int i = 1; i < argc; ++i)
    count += replay(argv[i]);
  llvm::outs() << count << " inputs replayed\n";
  return count == 0;
}
