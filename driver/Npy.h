//===- Npy.h - NumPy's .npy files ------------------------------------------------===//
//
// Versions 1 and 2, little endian, C order. The type stands as NumPy writes it ("<f4"); types that
// NumPy does not have are written as unsigned integers that hold their bits: bf16 as "<u2", floats of
// 8 bits as "|u1", types of four bits two a byte, low bits first, along the last axis. They are read
// from the like, or from "|V2" and "|V1".
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tk {

struct NpyArray {
  std::string descr; // "<f4"
  std::vector<int64_t> shape;
  std::string bytes;
};

/// NumPy's name for a type.
llvm::StringRef npyDescr(interp::DType type);
/// Whether elements of this file are elements of `type`.
bool npyHolds(llvm::StringRef descr, interp::DType type);

/// 2 for types of four bits, else 1.
unsigned elementsPerByte(interp::DType type);

/// The array in the bytes of a file; on failure `problem` says what is wrong.
bool parseNpy(llvm::StringRef file, NpyArray &array, std::string &problem);
/// The bytes of a version 1 file (2 when the header is too long for it).
std::string formatNpy(llvm::StringRef descr, llvm::ArrayRef<int64_t> shape, llvm::StringRef bytes);

bool readNpy(const std::string &path, NpyArray &array, std::string &problem);
/// Written beside its place and renamed.
bool writeNpy(const std::string &path, llvm::StringRef descr, llvm::ArrayRef<int64_t> shape,
              llvm::StringRef bytes, std::string &problem);

} // namespace tk
