//===- Dtype.h - facts about element types ---------------------------------===//
#ifndef TKC_RUNTIME_DTYPE_H
#define TKC_RUNTIME_DTYPE_H

#include "Checked.h"
#include "tkc/runtime.h"

#include <string>

namespace tkcrt {

enum class DtypeClass : uint8_t { Bool, Signed, Unsigned, Float };

struct DtypeInfo {
  const char *name;
  uint16_t code; ///< TKC_F16, ...
  uint8_t bits;  ///< one element in memory; i1 takes a byte
  DtypeClass cls;
  bool isScalar; ///< may be a scalar parameter

  /// Two elements share a byte.
  bool isPacked() const { return bits < 8; }
  int64_t alignBytes() const { return isPacked() ? 1 : bits / 8; }
  /// Of so many elements, a half byte at the end counted whole; false on overflow.
  bool bytesOf(int64_t elements, int64_t &bytes) const {
    bytes = elements / 2 + elements % 2;
    return isPacked() || mulTo(elements, bits / 8, bytes);
  }
};

/// nullptr when there is none.
const DtypeInfo *findDtype(const std::string &name);
const DtypeInfo *findDtype(uint32_t code);

/// The name, or "unknown dtype".
const char *dtypeName(uint32_t code);

/// Does `value` fit the integer type?
bool fitsInteger(const DtypeInfo &type, int64_t value);

/// `value` rounded to nearest even in the float type, as the bits of tkc_arg.u.bits.
uint64_t floatBits(const DtypeInfo &type, double value);

} // namespace tkcrt

#endif
