//===- RunArgs.h - the ARG words of tkc run ----------------------------------------------===//
#pragma once

#include "driver/RunCommand.h"
#include <deque>

namespace tk {

/// A word of the command line, taken apart.
struct ArgWord {
  std::string text;  // the whole word
  std::string name;  // before `=`; of an element of a list with its index: "as[1]"
  std::string rule;  // "randn", "full", "@", "[]" for a list; empty for a scalar
  std::string value; // the path after `@`, a scalar's text, or the name of another argument
  std::vector<std::string> numbers; // of full() and randint()
  std::vector<ArgWord> elements;    // of a list
  std::string dtype;                // empty: the parameter's
  std::optional<std::vector<int64_t>> extents, strides;
  bool isTransposed = false; // the last two axes lie the other way round
  std::optional<uint64_t> seed;
};

/// On failure `problem` continues "the argument `...` ".
bool parseArgWord(llvm::StringRef text, ArgWord &word, std::string &problem);

/// A number as a person writes it.
std::optional<double> parseNumber(llvm::StringRef text);

/// The arrays and scalars of one run. Arguments point to the buffers, which do not move.
struct RunInputs {
  std::deque<interp::Buffer> buffers; // also those behind pointers, by the name "as[1]"
  std::deque<interp::Buffer> tables;  // of pointers
  std::vector<interp::Argument> arguments;

  interp::Buffer *find(llvm::StringRef name);
};

/// Makes every argument of the kernel, those that are not given included. Returns the exit status.
/// Messages point into `commandLine`.
int makeInputs(KernelOp kernel, llvm::ArrayRef<std::string> words, const interp::Options &options,
               RunInputs &inputs, llvm::ArrayRef<std::string> commandLine = {});

/// Fills a buffer by a rule ("zeros", "randn", ...); the numbers are those of full() and randint().
void fillByRule(interp::Buffer &buffer, llvm::StringRef rule, double first, double second,
                uint64_t seed);
/// Without a seed each name has its own.
uint64_t seedOf(llvm::StringRef name);

/// The elements in C order, as a file holds them: types of four bits two a byte.
std::string packedBytes(const interp::Buffer &buffer);

/// "f32[7, 1000]" and the elements, with dots in the middle of large arrays.
void printArray(const interp::Buffer &buffer, llvm::raw_ostream &out);

} // namespace tk
