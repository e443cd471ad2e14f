//===- FittingConfig.h - the first configuration that the chip can hold ---------------------===//
#pragma once

#include "driver/Session.h"

namespace tk {

/// Compiles in guarded work. Where nobody asked for a configuration of @tune and one takes more
/// registers or shared memory than the chip has, the next one is taken, and a note says so; when
/// there is none, the messages are those of the first.
WorkResult compileFitting(const CompileOptions &options, const Input &input,
                          const std::string &outputName, CompileResult &result);

} // namespace tk
