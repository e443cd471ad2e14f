//===- SaveCase.cpp - a generated program with its data, for other engines -----------===//

#include "tests/fuzz/SaveCase.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tk;
using namespace tk::fuzz;
using interp::Buffer;

static std::string bytesOf(const Buffer &buffer) {
  size_t size = size_t(buffer.elements) * interp::byteSize(buffer.dtype);
  return std::string(reinterpret_cast<const char *>(buffer.data()), size);
}

static bool writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    os << bytes;
  return !error;
}

static llvm::json::Object describe(const TensorArg &arg, const Buffer &buffer, size_t at) {
  return llvm::json::Object{{"name", arg.name},
                            {"dtype", interp::nameOf(arg.dtype)},
                            {"extents", llvm::json::Array(buffer.extents)},
                            {"strides", llvm::json::Array(buffer.strides)},
                            {"origin", buffer.origin},
                            {"absent", arg.isAbsent},
                            {"scratch", arg.access == TensorArg::Access::Scratch},
                            {"at", int64_t(at)},
                            {"bytes", int64_t(bytesOf(buffer).size())}};
}

bool tk::fuzz::saveCase(const std::string &stem, const Program &program, llvm::ArrayRef<Buffer> before,
                        llvm::ArrayRef<Buffer> after) {
  std::string first, last;
  llvm::json::Array tensors, scalars;
  for (size_t i = 0; i < before.size(); ++i) {
    tensors.push_back(describe(program.tensors[i], before[i], first.size()));
    first += bytesOf(before[i]);
    last += bytesOf(after[i]);
  }
  for (const ScalarArg &arg : program.scalars)
    scalars.push_back(llvm::json::Object{{"name", arg.name}, {"dtype", interp::nameOf(arg.dtype)}, {"value", arg.value}});
  llvm::json::Value description = llvm::json::Object{{"tensors", std::move(tensors)}, {"scalars", std::move(scalars)}};
  std::string text;
  llvm::raw_string_ostream(text) << description << "\n";
  return writeFile(stem + ".tk", program.text) && writeFile(stem + ".json", text) &&
         writeFile(stem + ".before", first) && writeFile(stem + ".after", last);
}
