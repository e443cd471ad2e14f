//===- Parameters.h - the parameter buffer as arguments of the interpreter --------===//
#pragma once

#include "backends/interp/Interp.h"
#include <deque>

namespace tk::cpu {

/// The arguments of one launch, in the order of the kernel's parameters, over the caller's memory.
struct Parameters {
  std::deque<interp::Buffer> buffers;
  std::vector<interp::Argument> arguments;
};

/// Fails where the interpreter has no type for a parameter.
mlir::LogicalResult checkParameters(KernelOp kernel);

/// Reads a buffer that <tkc/cpu.h> describes. False, with the reason in `problem`, when it is not
/// what the kernel's parameters need.
bool readParameters(KernelOp kernel, llvm::ArrayRef<uint8_t> bytes, Parameters &parameters,
                    std::string &problem);

} // namespace tk::cpu
