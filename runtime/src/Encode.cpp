//===- Encode.cpp - from arguments to a launch -----------------------------===//
#include "Encode.h"

#include "Error.h"

#include <cstring>

namespace tkcrt {

/// CUDA's limits on a grid (programming guide, table of compute capabilities).
constexpr int64_t kMaxGrid[3] = {2147483647, 65535, 65535};

static tkc_status checkOptions(const tkc_kernel &kernel, const tkc_options &options,
                               tkc_error *err) {
  constexpr uint32_t known = TKC_PDL | TKC_COOPERATIVE | TKC_NO_OVERLAP_CHECK | TKC_PIN_VARIANT;
  if (tkc_status status = checkSize(&options, sizeof(options), "tkc_options", err))
    return status;
  if (options.flags & ~known)
    return fail(err, TKC_E_ARG, "tkc_options.flags is %#x, known are %#x", options.flags, known);
  if (options.flags & (TKC_PDL | TKC_COOPERATIVE))
    return fail(err, TKC_E_UNSUPPORTED, "kernel `%s`: this libtkcrt has no %s yet",
                kernel.info->name.c_str(), options.flags & TKC_PDL ? "TKC_PDL" : "TKC_COOPERATIVE");
  if (options.vendor_attrs || options.num_vendor_attrs)
    return fail(err, TKC_E_UNSUPPORTED, "tkc_options: vendor_attrs is reserved in this libtkcrt");
  if (options.sms < 0)
    return fail(err, TKC_E_ARG, "tkc_options.sms is %d, needed 0 or more", options.sms);
  return TKC_OK;
}

/// Is the precondition true? If not, says so with the author's text and both numbers.
static tkc_status checkRequire(const EncodeState &state, const Require &require) {
  const Condition &condition = require.condition;
  int64_t holds = 0, left = 0, right = 0;
  if (tkc_status status = evaluate(state, condition.whole, condition.text, holds))
    return status;
  if (holds)
    return TKC_OK;
  if (!condition.isComparison)
    return fail(state.err, TKC_E_REQUIRE, "kernel `%s` requires %s, which is false (`%s`)",
                state.name(), require.text.c_str(), condition.text.c_str());
  // Both sides were evaluated as parts of the whole, so they can't fail.
  state.info.code.evaluate(condition.left, state.slots, left);
  state.info.code.evaluate(condition.right, state.slots, right);
  return fail(state.err, TKC_E_REQUIRE, "kernel `%s` requires %s, found %lld and %lld (`%s`)",
              state.name(), require.text.c_str(), static_cast<long long>(left),
              static_cast<long long>(right), condition.text.c_str());
}

/// Sets `failed` to the first guard that does not hold, or to nullptr.
static tkc_status checkGuards(const EncodeState &state, const VariantInfo &variant,
                              const Condition *&failed) {
  for (const Condition &guard : variant.when) {
    int64_t holds = 0;
    if (tkc_status status = evaluate(state, guard.whole, guard.text, holds))
      return status;
    failed = &guard;
    if (!holds)
      return TKC_OK;
  }
  failed = nullptr;
  return TKC_OK;
}

static tkc_status pickVariant(const EncodeState &state, const tkc_options *options,
                              const LoadedVariant *&out) {
  bool isPinned = options && (options->flags & TKC_PIN_VARIANT);
  const LoadedVariant *last = nullptr;
  const Condition *failed = nullptr;
  for (const LoadedVariant &loaded : state.kernel.loaded) {
    if (isPinned && static_cast<int64_t>(loaded.index) != options->variant)
      continue;
    last = &loaded;
    if (tkc_status status = checkGuards(state, state.info.variants[loaded.index], failed))
      return status;
    if (!failed) {
      out = &loaded;
      return TKC_OK;
    }
  }
  if (!last)
    return fail(state.err, TKC_E_NO_VARIANT,
                "kernel `%s`: variant %d is pinned, and is not among the %zu that this device runs",
                state.name(), options ? options->variant : -1, state.kernel.loaded.size());
  return fail(state.err, TKC_E_NO_VARIANT,
              "kernel `%s`: %s variant takes these arguments; `%s` needs `%s`", state.name(),
              isPinned ? "the pinned" : "no", state.info.variants[last->index].id.c_str(),
              failed ? failed->text.c_str() : "");
}

static tkc_status evaluateGrid(const EncodeState &state, const VariantInfo &variant,
                               int64_t grid[3], bool &isEmpty) {
  isEmpty = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (tkc_status status = evaluate(state, variant.grid[axis], variant.gridText[axis], grid[axis]))
      return status;
    if (grid[axis] < 0)
      return fail(state.err, TKC_E_GRID, "kernel `%s`: grid %c is %lld (`%s`), needed 0 or more",
                  state.name(), "xyz"[axis], static_cast<long long>(grid[axis]),
                  variant.gridText[axis].c_str());
    isEmpty |= grid[axis] == 0;
  }
  for (int axis = 0; axis < 3 && !isEmpty; ++axis)
    if (grid[axis] > kMaxGrid[axis])
      return fail(state.err, TKC_E_GRID, "kernel `%s`: grid %c is %lld (`%s`), at most %lld fit",
                  state.name(), "xyz"[axis], static_cast<long long>(grid[axis]),
                  variant.gridText[axis].c_str(), static_cast<long long>(kMaxGrid[axis]));
  return TKC_OK;
}

static tkc_status encodeNothing(tkc_launch &launch, tkc_error *err) {
  launch.variant = -1;
  launch.function = nullptr;
  memset(launch.grid, 0, sizeof(launch.grid));
  memset(launch.block, 0, sizeof(launch.block));
  memset(launch.cluster, 0, sizeof(launch.cluster));
  launch.dynamic_smem = launch.flags = launch.param_bytes = 0;
  return succeed(err);
}

static tkc_status checkBuffer(const EncodeState &state, const VariantInfo &variant,
                              tkc_launch &launch) {
  launch.param_bytes = variant.paramBytes;
  if (!variant.paramBytes)
    return TKC_OK;
  if (launch.param_capacity < variant.paramBytes || !launch.params)
    return fail(state.err, TKC_E_ARG,
                "kernel `%s`: tkc_launch.params has room for %u bytes, needed %u", state.name(),
                launch.params ? launch.param_capacity : 0, variant.paramBytes);
  if (reinterpret_cast<uintptr_t>(launch.params) % variant.paramAlign)
    return fail(state.err, TKC_E_ARG,
                "kernel `%s`: tkc_launch.params is at %p, needed a multiple of %u", state.name(),
                launch.params, variant.paramAlign);
  return TKC_OK;
}

static void fillLaunch(const LoadedVariant &loaded, const VariantInfo &variant,
                       const int64_t grid[3], tkc_launch &launch) {
  launch.variant = static_cast<int32_t>(loaded.index);
  launch.function = loaded.function;
  for (int axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = static_cast<uint32_t>(grid[axis]);
    launch.block[axis] = variant.block[axis];
    launch.cluster[axis] = 1;
  }
  launch.dynamic_smem = variant.sharedDynamic;
  launch.flags = 0;
}

/// After the arguments are bound: conditions, variant, grid, memory, parameters.
static tkc_status encodeBound(EncodeState &state, const tkc_options *options, tkc_launch &launch) {
  for (const Require &require : state.info.require)
    if (tkc_status status = checkRequire(state, require))
      return status;
  if (state.info.hasNoop) {
    int64_t isNoop = 0;
    if (tkc_status status = evaluate(state, state.info.noop.whole, state.info.noop.text, isNoop))
      return status;
    if (isNoop)
      return encodeNothing(launch, state.err);
  }
  const LoadedVariant *loaded = nullptr;
  if (tkc_status status = pickVariant(state, options, loaded))
    return status;
  const VariantInfo &variant = state.info.variants[loaded->index];
  int64_t grid[3];
  bool isEmpty;
  if (tkc_status status = evaluateGrid(state, variant, grid, isEmpty))
    return status;
  if (isEmpty)
    return encodeNothing(launch, state.err);
  if (tkc_status status = checkMemory(state))
    return status;
  if (tkc_status status = checkBuffer(state, variant, launch))
    return status;
  if (tkc_status status = writeParams(state, variant, launch.params))
    return status;
  fillLaunch(*loaded, variant, grid, launch);
  return succeed(state.err);
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_encode(const tkc_kernel *kernel, const tkc_arg *args, uint32_t n,
                      const tkc_options *options, tkc_launch *launch, tkc_error *err) {
  if (!kernel)
    return fail(err, TKC_E_ARG, "tkc_encode: the kernel is NULL");
  if (tkc_status status = checkSize(launch, sizeof(*launch), "tkc_launch", err))
    return status;
  int64_t sms = kernel->sms;
  if (options) {
    if (tkc_status status = checkOptions(*kernel, *options, err))
      return status;
    if (options->sms && options->sms < sms)
      sms = options->sms;
  }
  EncodeState state(*kernel, args, options ? options->flags : 0, err);
  if (tkc_status status = bindArguments(state, sms, n))
    return status;
  return encodeBound(state, options, *launch);
}
