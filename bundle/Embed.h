//===- Embed.h - a bundle inside a host program ---------------------------------------===//
//
// The bytes come as an object file or as text for an assembler, never as an array of C: 8 MiB of
// that take a C++ compiler 15 seconds.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tk {

/// Alignment of an embedded bundle, so that its images are as aligned as in the file.
constexpr uint64_t kEmbedAlign = 64;

/// `path` without folders and extension as an identifier of C and C++: "k" of "a/k.o", "n2_add" of
/// "2-add.o".
std::string identifierOf(llvm::StringRef path);

/// A string of C, C++ and assemblers: what is not plain as `\012`.
std::string quotedText(llvm::StringRef text);

/// The machine of a triple, or of an architecture alone, if objects are written for it.
std::optional<uint16_t> elfMachineOf(llvm::StringRef triple);

/// For messages.
std::string hostTargetNames();

/// The triple that tkc runs on.
std::string defaultHostTarget();

/// A relocatable ELF file: `bytes` in read-only data with the hidden symbols SYMBOL and SYMBOL_end.
std::string writeElfObject(llvm::StringRef bytes, llvm::StringRef symbol, uint16_t machine);

/// Text for the C compiler's assembler (.S) that takes in the file `bundleName`.
std::string writeAssembly(llvm::StringRef bundleName, llvm::StringRef symbol);

} // namespace tk
