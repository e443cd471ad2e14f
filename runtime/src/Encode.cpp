//===- Encode.cpp - from arguments to a launch -----------------------------===//
#include "Encode.h"

#include "Error.h"

#include <cstring>

namespace tkcrt {

static tkc_status checkOptions(const tkc_kernel &kernel, const tkc_options &options,
                               tkc_error *err) {
  constexpr uint32_t known = TKC_PDL | TKC_COOPERATIVE | TKC_NO_OVERLAP_CHECK | TKC_PIN_VARIANT;
  if (tkc_status status = checkSize(&options, sizeof(options), "tkc_options", err))
    return status;
  if (options.flags & ~known)
    return fail(err, TKC_E_ARG, "tkc_options.flags is %#x, known are %#x", options.flags, known);
  if ((options.flags & (TKC_PDL | TKC_COOPERATIVE)) && !kernel.bundle->driver->gpu.launchKernelEx)
    return fail(err, TKC_E_UNSUPPORTED, "kernel `%s`: %s: no such launches here (no cuLaunchKernelEx)",
                kernel.info->name.c_str(), options.flags & TKC_PDL ? "TKC_PDL" : "TKC_COOPERATIVE");
  if (options.vendor_attrs || options.num_vendor_attrs)
    return fail(err, TKC_E_UNSUPPORTED, "tkc_options: vendor_attrs is reserved in this libtkcrt");
  if (options.sms < 0)
    return fail(err, TKC_E_ARG, "tkc_options.sms is %d, needed 0 or more", options.sms);
  return TKC_OK;
}

tkc_status checkCall(const tkc_kernel *kernel, const tkc_options *options, const char *call,
                     tkc_error *err) {
  if (!kernel)
    return fail(err, TKC_E_ARG, "%s: the kernel is NULL", call);
  return options ? checkOptions(*kernel, *options, err) : TKC_OK;
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

/// `require`, and is there anything to do at all?
static tkc_status checkConditions(const EncodeState &state, bool &isNoop) {
  for (const Require &require : state.info.require)
    if (tkc_status status = checkRequire(state, require))
      return status;
  int64_t holds = 0;
  if (state.info.hasNoop)
    if (tkc_status status = evaluate(state, state.info.noop.whole, state.info.noop.text, holds))
      return status;
  isNoop = holds != 0;
  return TKC_OK;
}

/// Callers built for the first release have a launch without what has been added since.
static bool hasCost(const tkc_launch &launch) {
  return launch.size >= sizeof(tkc_launch);
}

static tkc_status encodeNothing(tkc_launch &launch, tkc_error *err) {
  launch.variant = -1;
  launch.function = nullptr;
  memset(launch.grid, 0, sizeof(launch.grid));
  memset(launch.block, 0, sizeof(launch.block));
  memset(launch.cluster, 0, sizeof(launch.cluster));
  launch.dynamic_smem = launch.flags = launch.param_bytes = 0;
  if (hasCost(launch))
    launch.flops = launch.bytes = 0;
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

/// What the launch asks the driver for besides a grid.
static tkc_status launchFlags(const EncodeState &state, const VariantInfo &variant,
                              uint32_t &flags) {
  flags = state.flags & (TKC_PDL | TKC_COOPERATIVE);
  if (variant.isCooperative)
    flags |= TKC_COOPERATIVE;
  if ((flags & TKC_PDL) && !variant.pdlWaits)
    return fail(
        state.err, TKC_E_UNSUPPORTED,
        "kernel `%s`: TKC_PDL: the code of variant `%s` does not wait for the kernel before "
        "it, so that it must not begin earlier",
        state.name(), variant.id.c_str());
  return TKC_OK;
}

static void fillLaunch(const EncodeState &state, const Choice &choice, const int64_t grid[3],
                       tkc_launch &launch) {
  const VariantInfo &variant = *choice.variant;
  launch.variant = static_cast<int32_t>(choice.loaded->index);
  launch.function = choice.loaded->function;
  for (int axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = static_cast<uint32_t>(grid[axis]);
    launch.block[axis] = variant.block[axis];
    launch.cluster[axis] = variant.cluster[axis];
  }
  launch.dynamic_smem = variant.sharedDynamic;
  if (!hasCost(launch))
    return;
  // Only an on_submit hook reads it; a cost that can't be computed is reported as 0.
  int64_t flops = 0, bytes = 0;
  if (state.info.hasCost && state.kernel.bundle->driver->hooks.on_submit) {
    if (state.info.code.evaluate(state.info.flops.program, state.slots, flops) != Code::Result::Ok)
      flops = 0;
    if (state.info.code.evaluate(state.info.bytes.program, state.slots, bytes) != Code::Result::Ok)
      bytes = 0;
  }
  launch.flops = static_cast<double>(flops);
  launch.bytes = static_cast<double>(bytes);
}

/// After the arguments are bound: conditions, variant, grid, memory, parameters.
static tkc_status encodeBound(EncodeState &state, tkc_launch &launch) {
  bool isNoop = false, isEmpty = false;
  if (tkc_status status = checkConditions(state, isNoop))
    return status;
  if (isNoop)
    return encodeNothing(launch, state.err);
  Choice choice;
  if (tkc_status status = pickVariant(state, choice))
    return status;
  uint32_t flags = 0;
  if (tkc_status status = launchFlags(state, *choice.variant, flags))
    return status;
  int64_t grid[3];
  if (tkc_status status = evaluateGrid(state, choice, grid, isEmpty))
    return status;
  if (isEmpty)
    return encodeNothing(launch, state.err);
  if (tkc_status status = checkMemory(state))
    return status;
  if (tkc_status status = checkBuffer(state, *choice.variant, launch))
    return status;
  if (tkc_status status = writeParams(state, *choice.variant, launch.params))
    return status;
  fillLaunch(state, choice, grid, launch);
  launch.flags = flags;
  return succeed(state.err);
}

/// As far as a launch is selected, with the reasons in state.trace.
static tkc_status traceSelection(EncodeState &state, uint32_t count) {
  if (tkc_status status = bindArguments(state, count))
    return status;
  if (tkc_status status = checkAddresses(state))
    return status;
  bool isNoop = false;
  if (tkc_status status = checkConditions(state, isNoop))
    return status;
  if (isNoop) {
    state.trace->add("nothing is launched: `%s` is true\n", state.info.noop.text.c_str());
    return TKC_OK;
  }
  Choice choice;
  if (tkc_status status = pickVariant(state, choice))
    return status;
  if (!state.kernel.reasons.empty())
    state.trace->add("not for this device: %s\n", state.kernel.reasons.c_str());
  return TKC_OK;
}

} // namespace tkcrt

using namespace tkcrt;

tkc_status tkc_encode(const tkc_kernel *kernel, const tkc_arg *args, uint32_t n,
                      const tkc_options *options, tkc_launch *launch, tkc_error *err) {
  if (tkc_status status = checkCall(kernel, options, "tkc_encode", err))
    return status;
  if (tkc_status status =
          checkSize(launch, TKC_LAUNCH_SIZE_1_0, sizeof(*launch), "tkc_launch", err))
    return status;
  EncodeState state(*kernel, args, options, err);
  if (tkc_status status = bindArguments(state, n))
    return status;
  if (tkc_status status = checkAddresses(state))
    return status;
  return encodeBound(state, *launch);
}

tkc_status tkc_why(const tkc_kernel *kernel, const tkc_arg *args, uint32_t n,
                   const tkc_options *options, char *text, size_t *bytes, tkc_error *err) {
  if (tkc_status status = checkCall(kernel, options, "tkc_why", err))
    return status;
  if (!bytes)
    return fail(err, TKC_E_ARG, "tkc_why: bytes is NULL");
  size_t room = text ? *bytes : 0;
  if (room)
    text[0] = 0;
  Trace trace(text, room);
  EncodeState state(*kernel, args, options, err);
  state.trace = &trace;
  tkc_status status = traceSelection(state, n);
  *bytes = trace.bytes();
  if (status)
    return status;
  if (room < trace.bytes())
    return fail(err, TKC_E_ARG, "kernel `%s`: tkc_why: room for %zu bytes, needed %zu",
                state.name(), room, trace.bytes());
  return succeed(err);
}
