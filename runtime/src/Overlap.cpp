//===- Overlap.cpp - do two arguments share memory? ------------------------===//
// The code was compiled on the promise that `disjoint` pairs don't alias, so the promise is
// checked. Spans that don't meet settle nearly every case. Two slices of one buffer, say q and k of
// a fused qkv, have spans that interleave; for them the addresses are looked at modulo a stride S:
// axes whose step is a multiple of S drop out, and what is left of each tensor is a window. If
// the windows don't meet on the circle of S bytes, no address is in both.
#include "Encode.h"
#include "Error.h"

namespace tkcrt {

namespace {
struct Window {
  int64_t start, bytes;
};
} // namespace

static int64_t strideBytes(const EncodeState &state, size_t arg, size_t axis) {
  return state.stride(arg, axis) * (state.info.args[arg].dtype->bits / 8);
}

/// What a tensor covers modulo `modulus`. No sum here can overflow: bind has computed the span.
static Window windowOf(const EncodeState &state, size_t arg, int64_t modulus) {
  const ArgInfo &info = state.info.args[arg];
  Window window{state.address(arg), info.dtype->bits / 8};
  for (size_t axis = 0; axis < info.extents.size(); ++axis) {
    int64_t extent = state.extent(arg, axis);
    if (extent <= 1)
      continue;
    int64_t step = strideBytes(state, arg, axis);
    if (step % modulus == 0)
      continue;
    int64_t reach = (extent - 1) * step;
    if (reach < 0)
      window.start += reach;
    window.bytes += reach < 0 ? -reach : reach;
  }
  return window;
}

/// a - b modulo m, from 0 to m - 1.
static int64_t distance(int64_t a, int64_t b, int64_t m) {
  int64_t d = (a - b) % m;
  return d < 0 ? d + m : d;
}

static bool isDisjointModulo(const EncodeState &state, size_t a, size_t b, int64_t modulus) {
  Window first = windowOf(state, a, modulus), second = windowOf(state, b, modulus);
  return distance(second.start, first.start, modulus) >= first.bytes &&
         distance(first.start, second.start, modulus) >= second.bytes;
}

static bool isInterleaved(const EncodeState &state, size_t a, size_t b) {
  for (size_t arg : {a, b}) {
    for (size_t axis = 0; axis < state.info.args[arg].extents.size(); ++axis) {
      if (state.extent(arg, axis) <= 1)
        continue;
      int64_t step = strideBytes(state, arg, axis);
      if (step != 0 && isDisjointModulo(state, a, b, step < 0 ? -step : step))
        return true;
    }
  }
  return false;
}

static tkc_status checkPair(const EncodeState &state, size_t a, size_t b) {
  const Span *spans[2] = {&state.spans[a], &state.spans[b]};
  const ArgInfo *infos[2] = {&state.info.args[a], &state.info.args[b]};
  if (spans[0]->isEmpty() || spans[1]->isEmpty())
    return TKC_OK;
  for (int side = 0; side < 2; ++side)
    if (!spans[side]->isKnown)
      return fail(state.err, TKC_E_OVERLAP,
                  "kernel `%s`: parameter `%s`: span_bytes is 0 (unknown), needed to tell it from "
                  "`%s`; or set TKC_NO_OVERLAP_CHECK",
                  state.name(), infos[side]->name.c_str(), infos[1 - side]->name.c_str());
  int64_t low[2], high[2];
  for (int side = 0; side < 2; ++side) {
    int64_t address = state.address(side ? b : a);
    low[side] = address + spans[side]->low;
    high[side] = address + spans[side]->high;
  }
  if (high[0] <= low[1] || high[1] <= low[0])
    return TKC_OK;
  auto isPlain = [](const ArgInfo *info) { return info->kind == TKC_TENSOR && !info->dtype->isPacked(); };
  if (isPlain(infos[0]) && isPlain(infos[1]) && isInterleaved(state, a, b))
    return TKC_OK;
  return fail(state.err, TKC_E_OVERLAP,
              "kernel `%s`: parameters `%s` [%#llx, %#llx) and `%s` [%#llx, %#llx) overlap, needed "
              "disjoint memory",
              state.name(), infos[0]->name.c_str(), static_cast<unsigned long long>(low[0]),
              static_cast<unsigned long long>(high[0]), infos[1]->name.c_str(),
              static_cast<unsigned long long>(low[1]), static_cast<unsigned long long>(high[1]));
}

tkc_status checkMemory(const EncodeState &state) {
  for (size_t i = 0; i < state.info.args.size(); ++i)
    if (state.info.args[i].kind == TKC_POINTER && !state.isMissing(i) && !state.address(i))
      return fail(state.err, TKC_E_ARG, "kernel `%s`: parameter `%s` is NULL", state.name(),
                  state.info.args[i].name.c_str());
  if (state.flags & TKC_NO_OVERLAP_CHECK)
    return TKC_OK;
  for (const auto &[a, b] : state.info.disjoint)
    if (tkc_status status = checkPair(state, static_cast<size_t>(a), static_cast<size_t>(b)))
      return status;
  return TKC_OK;
}

} // namespace tkcrt
