//===- RunArgs.h - the ARG words of tkc run ----------------------------------------------===//
#pragma once

#include "driver/RunCommand.h"
#include <deque>

namespace tk {

/// A word of the command line, taken apart.
struct ArgWord {
  std::string text;  // the whole word
  std::string name;  // before `=`
  std::string rule;  // "randn", "full", "@"; empty for a scalar
  std::string value; // of full(), the path after `@`, or a scalar's text
  std::string dtype; // empty: the parameter's
  std::optional<std::vector<int64_t>> extents;
  std::optional<uint64_t> seed;
};

/// On failure `problem` continues "the argument `...` ".
bool parseArgWord(llvm::StringRef text, ArgWord &word, std::string &problem);

/// The arrays and scalars of one run. Arguments point to the buffers, which do not move.
struct RunInputs {
  std::deque<interp::Buffer> buffers;
  std::vector<interp::Argument> arguments;

  interp::Buffer *find(llvm::StringRef name);
};

/// Makes every argument of the kernel, those that are not given included. Returns the exit status.
int makeInputs(KernelOp kernel, llvm::ArrayRef<std::string> words, RunInputs &inputs);

/// Fills a buffer by a rule ("zeros", "randn", ...).
void fillByRule(interp::Buffer &buffer, llvm::StringRef rule, double value, uint64_t seed);

/// "f32[7, 1000]" and the elements, with dots in the middle of large arrays.
void printArray(const interp::Buffer &buffer, llvm::raw_ostream &out);

} // namespace tk
