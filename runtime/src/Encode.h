//===- Encode.h - what the steps of encoding a launch share ----------------===//
// Encode runs at every launch: nothing here allocates, locks or calls the driver.
#ifndef TKC_RUNTIME_ENCODE_H
#define TKC_RUNTIME_ENCODE_H

#include "Kernel.h"

namespace tkcrt {

/// The bytes [low, high) that an argument may touch, counted from its pointer.
struct Span {
  int64_t low, high;
  bool isKnown;
  bool isEmpty() const { return isKnown && low == high; }
};

struct EncodeState {
  /// Leaves spans and slots as they are: clearing 10 KiB would cost more than all the checks.
  EncodeState(const tkc_kernel &kernel, const tkc_arg *args, uint32_t flags, tkc_error *err)
      : kernel(kernel), info(*kernel.info), args(args), flags(flags), err(err) {}

  const tkc_kernel &kernel;
  const KernelInfo &info;
  const tkc_arg *args;
  uint32_t flags;
  tkc_error *err;
  Span spans[kMaxArgs];     ///< of tensors and pointers; set by bindArguments
  int64_t slots[kMaxSlots]; ///< the kernel's; set by bindArguments

  const char *name() const { return info.name.c_str(); }
};

/// Evaluates, and reports under the expression's text what can't be.
tkc_status evaluate(const EncodeState &state, Program program, const std::string &text,
                    int64_t &out);

/// The bits of a scalar argument as they go into the parameter buffer; the default if absent.
uint64_t scalarBits(const EncodeState &state, size_t arg);

/// The address of a tensor or pointer argument.
const void *argAddress(const EncodeState &state, size_t arg);

/// Checks every argument against its parameter, and fills slots and spans.
tkc_status bindArguments(EncodeState &state, int64_t sms, uint32_t count);

/// Raw pointers must not be null, and `disjoint` pairs must not share a byte.
tkc_status checkMemory(const EncodeState &state);

/// Writes variant.paramBytes bytes.
tkc_status writeParams(const EncodeState &state, const VariantInfo &variant, void *out);

} // namespace tkcrt

#endif
