//===- ExecBySize.h - loops that only move elements ---------------------------------===//
#pragma once

#include <cstdint>

namespace tk::interp {

/// Calls `fn` with a null pointer of the unsigned type of that size.
template <class Fn> auto bySize(unsigned bytes, Fn fn) {
  switch (bytes) {
  case 1:
    return fn(static_cast<uint8_t *>(nullptr));
  case 2:
    return fn(static_cast<uint16_t *>(nullptr));
  case 4:
    return fn(static_cast<uint32_t *>(nullptr));
  default:
    return fn(static_cast<uint64_t *>(nullptr));
  }
}

} // namespace tk::interp
