//===- Encode.h - what the steps of encoding a launch share ----------------===//
// Encode runs at every launch: nothing here allocates, locks or changes what the driver knows.
#ifndef TKC_RUNTIME_ENCODE_H
#define TKC_RUNTIME_ENCODE_H

#include "Kernel.h"

namespace tkcrt {

/// Where scratch arguments begin in the workspace, and what its own address must be a multiple of.
constexpr uint64_t kWorkspaceAlign = 256;

/// The bytes [low, high) that an argument may touch, counted from its pointer.
struct Span {
  int64_t low, high;
  bool isKnown;
  bool isEmpty() const { return isKnown && low == high; }
};

/// Lines for tkc_why, into the caller's storage; counts what did not fit.
class Trace {
public:
  Trace(char *text, size_t room) : text(text), room(room) {}
  void add(const char *format, ...) __attribute__((format(printf, 2, 3)));
  size_t bytes() const { return used + 1; } ///< that all lines need, with the NUL

private:
  char *text;
  size_t room, used = 0;
};

struct EncodeState {
  /// Leaves spans and slots as they are: clearing 10 KiB would cost more than all the checks.
  EncodeState(const tkc_kernel &kernel, const tkc_arg *args, const tkc_options *options,
              tkc_error *err)
      : kernel(kernel), info(*kernel.info), args(args), options(options),
        flags(options ? options->flags : 0),
        sms(options && options->sms && options->sms < kernel.sms ? options->sms : kernel.sms),
        err(err) {}

  const tkc_kernel &kernel;
  const KernelInfo &info;
  const tkc_arg *args;
  const tkc_options *options; ///< may be null
  uint32_t flags;
  int64_t sms;
  tkc_error *err;
  Trace *trace = nullptr;
  uint64_t workspaceBytes = 0; ///< that absent scratch arguments take; set by bindArguments
  Span spans[kMaxArgs];        ///< of tensors and pointers; set by checkAddresses
  int64_t slots[kMaxSlots];    ///< the kernel's; set by bindArguments

  const char *name() const { return info.name.c_str(); }
  bool isAbsent(size_t arg) const { return args[arg].kind == TKC_ABSENT; }
  /// Left out, and not to be had from the workspace either.
  bool isMissing(size_t arg) const {
    return isAbsent(arg) && info.args[arg].kind != TKC_SCALAR && !info.args[arg].isScratch();
  }
  int64_t address(size_t arg) const { return slots[info.args[arg].pointerSlot]; }
  int64_t extent(size_t arg, size_t axis) const {
    return slots[info.args[arg].extentSlot + static_cast<int>(axis)];
  }
  int64_t stride(size_t arg, size_t axis) const {
    return slots[info.args[arg].strideSlot + static_cast<int>(axis)];
  }
};

/// The variant that a launch takes.
struct Choice {
  const LoadedVariant *loaded = nullptr;
  const VariantInfo *variant = nullptr;
};

/// Checks the kernel and the options of an encode or a query.
tkc_status checkCall(const tkc_kernel *kernel, const tkc_options *options, const char *call,
                     tkc_error *err);

/// Evaluates, and reports under the expression's text what can't be.
tkc_status evaluate(const EncodeState &state, Program program, const std::string &text,
                    int64_t &out);
inline tkc_status evaluate(const EncodeState &state, const Term &term, int64_t &out) {
  return evaluate(state, term.program, term.text, out);
}

/// The bits of a scalar argument as they go into the parameter buffer; the default if absent.
uint64_t scalarBits(const EncodeState &state, size_t arg);

/// Checks every argument against its parameter, but for addresses, and fills slots.
tkc_status bindArguments(EncodeState &state, uint32_t count);

/// The strides of a dense tensor from its extents, and the number of its elements.
tkc_status fillDense(EncodeState &state, size_t arg, int64_t &elements);

/// Extents, strides and addresses of absent scratch arguments; sets workspaceBytes.
tkc_status placeScratch(EncodeState &state);

/// Null data, alignment, the workspace; fills spans.
tkc_status checkAddresses(EncodeState &state);

/// Raw pointers must not be null, and `disjoint` pairs must not share a byte.
tkc_status checkMemory(const EncodeState &state);

/// The first variant whose guards hold: of the configuration, then of the default one. Leaves the
/// variant's own slots filled.
tkc_status pickVariant(EncodeState &state, Choice &out);

/// The grid; `isEmpty` when there is nothing to launch.
tkc_status evaluateGrid(const EncodeState &state, const Choice &choice, int64_t grid[3],
                        bool &isEmpty);

/// Writes variant.paramBytes bytes.
tkc_status writeParams(const EncodeState &state, const VariantInfo &variant, void *out);

/// Writes the 128 bytes of a tensor map.
tkc_status writeTensorMap(const EncodeState &state, const VariantInfo &variant,
                          const TensorMapSpec &map, void *out);

} // namespace tkcrt

#endif
