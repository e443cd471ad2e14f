//===- Dtype.h - facts about element types ---------------------------------===//
#ifndef TKC_RUNTIME_DTYPE_H
#define TKC_RUNTIME_DTYPE_H

#include "tkc/runtime.h"

#include <string>

namespace tkcrt {

enum class DtypeClass : uint8_t { Bool, Signed, Unsigned, Float };

struct DtypeInfo {
  const char *name;
  uint16_t code; ///< TKC_F16, ...
  uint8_t bits;  ///< one element in memory; i1 takes a byte
  DtypeClass cls;
  bool isScalar;    ///< may be a scalar parameter
  bool isSupported; ///< by this release, as an element type
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
