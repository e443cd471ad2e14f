//===- Units.h - which units a file has ----------------------------------------------===//
//
// A unit is what one compile makes: one kernel, with values for its compile-time parameters, in one
// configuration of @tune. The list follows from the file and the command line and needs no code.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Frontend.h"

namespace tk {

struct KernelUnit {
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> defines;  // all that this unit is made with
  std::optional<int> config;                                 // of @tune; none without it
  std::vector<std::string> assumptions;                      // those of --assume that it has
  std::vector<std::pair<std::string, std::string>> instance; // by the names that callers use
  std::string configId;
  bool isDefault = true;           // its configuration is what a launch takes when it asks for none
  std::optional<size_t> keyLength; // of @tune(key=[...]); none without @tune

  /// "matmul[D=64, T=f16] BM128.w8"
  std::string text() const;
  /// The options that compile this unit alone.
  LowerOptions lowerOptions(const LowerOptions &all) const;
};

struct UnitQuery {
  bool allConfigs = false; // else --config, or the default one
  size_t maxUnits = 256;   // more are an error that names what was multiplied
};

/// The units of a file: @instances multiplied out, where a -D of several values (`f16,bf16`)
/// replaces what the file says of that parameter. Failure after at least one error.
mlir::FailureOr<std::vector<KernelUnit>>
listUnits(mlir::MLIRContext &context, const SourceFile &source, const ast::File &file,
          const LowerOptions &options, const UnitQuery &query, LowerError *error = nullptr);

} // namespace tk
