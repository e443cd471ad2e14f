//===- Threads.h - how many threads a command may use ---------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <thread>

namespace tk {

/// What was asked for; with 0 as many as the machine has.
inline unsigned threadsOrAll(unsigned asked) {
  return asked ? asked : std::max(1u, std::thread::hardware_concurrency());
}

/// Where MAKEFLAGS says that a job server is, of GNU make or of what speaks its protocol; "" without one.
inline llvm::StringRef jobserverAddress() {
  const char *flags = getenv("MAKEFLAGS");
  llvm::StringRef address = llvm::StringRef(flags ? flags : "").rsplit("--jobserver-auth=").second;
  return address.take_until([](char c) { return c == ' '; });
}

} // namespace tk
