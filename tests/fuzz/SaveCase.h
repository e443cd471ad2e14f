//===- SaveCase.h - a generated program with its data, for other engines -------------===//
//
// STEM.tk is the program, STEM.json says what its arguments are, STEM.before and STEM.after hold the
// bytes of its tensors, one after the other, before and after the interpreter ran it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Interp.h"
#include "tests/fuzz/Generator.h"

namespace tk::fuzz {

/// False when a file cannot be written.
bool saveCase(const std::string &stem, const Program &program, llvm::ArrayRef<interp::Buffer> before,
              llvm::ArrayRef<interp::Buffer> after);

} // namespace tk::fuzz
