//===- RunCommand.h - tkc run ---------------------------------------------------------===//
//
// Runs one kernel of a module once, on arrays made by rule or read from files, and prints, saves or
// checks the results.
//
//   x=randn:f32:7x1000:seed=1   an array by rule: zeros ones full(v) arange rand randn randint(a, b)
//                               perm empty; the type and the extents may be left out where the
//                               kernel fixes them
//   x=@file.npy                 an array from a file
//   x=[[1, 2], [3, 4]]          its elements
//   x=...:T  x=...:strides=40x1 laid out in memory with the last two axes turned round, or as said
//   p=[randn:f16:8, @b.npy]     what the pointers of a pointer to pointers point to
//   y=x                         the memory of another argument
//   n=1000                      a scalar, or the element of a tensor of rank 0
//
// `rand` is uniform in [0, 1), for integers uniform over the type; `randn` is normal, for integers
// 16 times that, rounded. Without a seed each name has its own. An `out` or `scratch` parameter
// that is not given is `empty`, one that must be zero on entry is `zeros`; an optional one is
// absent.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Interp.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tk {

struct RunOptions {
  std::string file;
  std::vector<std::string> commandLine; // that messages point into; empty: the kernel's source
  std::string kernel;               // empty: the only one
  std::string engine = "interp";    // simt, gpu and compare are not built yet
  std::vector<std::string> args;    // NAME=RULE
  std::vector<std::string> outs;    // NAME=@FILE.npy
  std::vector<std::string> prints;  // NAME
  std::vector<std::string> lets;    // NAME=EXPRESSION, for those that follow
  std::vector<std::string> expects; // expressions, see Expect.h
  std::vector<std::string> bounds;  // NAME=@FILE.npy: f64, how far engines may differ
  interp::Checks checks;            // --check-nan is NanCheck::Error
  unsigned threads = 0;             // 0: one for each core
  int64_t sms = 4;                  // processors of the device
  interp::Order order = interp::Order::Forward;
  uint64_t seed = 0;   // of Order::Shuffle
  int64_t window = 64; // instances that are live at once where they wait for each other
};

/// Runs a kernel of `module` (phase Emitted). Returns the exit status: 0, 1 when an argument does
/// not fit, a check or an expectation fails, 2 for a word that is no argument. What is wrong goes
/// through the context's diagnostics; what the kernel prints, and then what --print asks for, to
/// `out`.
int runCommand(const RunOptions &options, mlir::ModuleOp module,
               llvm::raw_ostream &out = llvm::outs());

} // namespace tk
