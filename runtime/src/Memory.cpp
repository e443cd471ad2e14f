//===- Memory.cpp - addresses, spans and alignment of arguments ------------===//
#include "Checked.h"
#include "Encode.h"
#include "Error.h"

namespace tkcrt {

static bool hasElements(const EncodeState &state, size_t index) {
  for (size_t axis = 0; axis < state.info.args[index].extents.size(); ++axis)
    if (state.extent(index, axis) == 0)
      return false;
  return true;
}

/// From extents and strides, in bytes, for a tensor with elements; false on overflow.
static bool tensorSpan(const EncodeState &state, size_t index, Span &span) {
  const ArgInfo &info = state.info.args[index];
  int64_t first = 0, last = 1; // elements
  for (size_t axis = 0; axis < info.extents.size(); ++axis) {
    if (state.extent(index, axis) == 1)
      continue; // its stride may be anything
    int64_t reach;
    if (!mulTo(state.extent(index, axis) - 1, state.stride(index, axis), reach))
      return false;
    int64_t &side = reach < 0 ? first : last;
    if (!addTo(side, reach, side))
      return false;
  }
  if (first == INT64_MIN || !info.dtype->bytesOf(-first, span.low) || !info.dtype->bytesOf(last, span.high))
    return false;
  span.low = -span.low;
  int64_t end;
  return addTo(state.address(index), span.high, end) &&
         addTo(state.address(index), span.low, end) && end >= 0;
}

static tkc_status checkTensorData(const EncodeState &state, size_t index, Span &span) {
  const ArgInfo &info = state.info.args[index];
  if (!state.address(index))
    return fail(state.err, TKC_E_ARG,
                "kernel `%s`: parameter `%s`: data is NULL, and the tensor has elements",
                state.name(), info.name.c_str());
  if (!tensorSpan(state, index, span))
    return fail(state.err, TKC_E_EXTENT,
                "kernel `%s`: parameter `%s`: extents times strides leave the address space",
                state.name(), info.name.c_str());
  uint64_t owned = state.isAbsent(index) ? 0 : state.args[index].u.tensor.span_bytes;
  if (owned && span.low < 0)
    return fail(state.err, TKC_E_EXTENT,
                "kernel `%s`: parameter `%s` reaches %lld bytes before its start, the caller owns none there",
                state.name(), info.name.c_str(), static_cast<long long>(-span.low));
  if (owned && static_cast<uint64_t>(span.high) > owned)
    return fail(state.err, TKC_E_EXTENT,
                "kernel `%s`: parameter `%s` reaches %lld bytes from its start, the caller owns "
                "%llu",
                state.name(), info.name.c_str(), static_cast<long long>(span.high),
                static_cast<unsigned long long>(owned));
  return TKC_OK;
}

static tkc_status checkData(EncodeState &state, size_t index) {
  const ArgInfo &info = state.info.args[index];
  Span &span = state.spans[index];
  span = Span{0, 0, true};
  if (state.isMissing(index))
    return TKC_OK;
  if (info.kind == TKC_TENSOR) {
    if (!hasElements(state, index))
      return TKC_OK;
    if (tkc_status status = checkTensorData(state, index, span))
      return status;
  } else {
    span.high = state.slots[info.spanSlot];
    span.isKnown = span.high != 0;
  }
  if (state.address(index) % info.align)
    return fail(state.err, TKC_E_ALIGN,
                "kernel `%s`: parameter `%s`: address %#llx, needed a multiple of %u", state.name(),
                info.name.c_str(), static_cast<unsigned long long>(state.address(index)),
                info.align);
  return TKC_OK;
}

static tkc_status checkWorkspace(const EncodeState &state) {
  if (!state.workspaceBytes)
    return TKC_OK;
  uint64_t found = state.options && state.options->workspace ? state.options->workspace_bytes : 0;
  if (found < state.workspaceBytes)
    return fail(state.err, TKC_E_WORKSPACE,
                "kernel `%s`: options.workspace has %llu bytes, needed %llu (tkc_workspace_query)",
                state.name(), static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(state.workspaceBytes));
  uint64_t address = reinterpret_cast<uintptr_t>(state.options->workspace);
  if (address % kWorkspaceAlign)
    return fail(state.err, TKC_E_ALIGN,
                "kernel `%s`: options.workspace is at %#llx, needed a multiple of %llu",
                state.name(), static_cast<unsigned long long>(address),
                static_cast<unsigned long long>(kWorkspaceAlign));
  return TKC_OK;
}

tkc_status checkAddresses(EncodeState &state) {
  if (tkc_status status = checkWorkspace(state))
    return status;
  for (size_t i = 0; i < state.info.args.size(); ++i)
    if (state.info.args[i].kind != TKC_SCALAR)
      if (tkc_status status = checkData(state, i))
        return status;
  return TKC_OK;
}

} // namespace tkcrt
