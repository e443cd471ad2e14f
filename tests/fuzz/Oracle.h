//===- Oracle.h - what must hold of a generated program ----------------------------===//
//
// The front end accepts it, the interpreter finds no error in it, its outputs are the same in each
// order of its instances, and the passes make PTX of it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tests/fuzz/Features.h"
#include "tests/fuzz/Generator.h"
#include "llvm/ADT/StringMap.h"
#include <array>

namespace tk::fuzz {

struct OracleOptions {
  unsigned orders = 3;     // forward, reverse, shuffled: the first so many
  bool machineCode = true; // through the passes and LLVM's code generator too
  std::string saveAs;      // the stem of the files of SaveCase.h; empty: none
};

/// In how many programs something occurs.
struct Coverage {
  llvm::StringMap<uint64_t> operations; // of all dialects
  std::array<uint64_t, kNumFeatures> features{};
  uint64_t programs = 0, withMachineCode = 0;

  void add(const Coverage &other);
};

/// What is wrong with a program, or "". What it has is added to `coverage`, which may be null.
std::string faultOf(const Program &program, const OracleOptions &options, Coverage *coverage);

} // namespace tk::fuzz
