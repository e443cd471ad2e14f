//===- Sha256.h - FIPS 180-4 SHA-256 ---------------------------------------===//
#ifndef TKC_RUNTIME_SHA256_H
#define TKC_RUNTIME_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tkcrt {

using Digest = std::array<uint8_t, 32>;

Digest sha256(const void *data, size_t bytes);

/// 64 lower-case hexadecimal digits.
std::string toHex(const Digest &digest);

/// False unless `text` is exactly 64 lower-case hexadecimal digits.
bool fromHex(const std::string &text, Digest &digest);

} // namespace tkcrt

#endif
