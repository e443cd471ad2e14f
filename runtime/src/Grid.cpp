//===- Grid.cpp - how many blocks, and whether they fit --------------------===//
#include "Encode.h"
#include "Error.h"

namespace tkcrt {

/// CUDA's limits on a grid (programming guide, table of compute capabilities).
constexpr int64_t kMaxGrid[3] = {2147483647, 65535, 65535};
/// HIP refuses an axis whose grid times block is not below this (hipModuleLaunchKernel).
constexpr int64_t kMaxHipThreads = int64_t(1) << 32;

static tkc_status checkAxis(const EncodeState &state, const VariantInfo &variant, int axis,
                            int64_t found) {
  const char *text = variant.grid[axis].text.c_str();
  if (found > kMaxGrid[axis])
    return fail(state.err, TKC_E_GRID, "kernel `%s`: grid %c is %lld (`%s`), at most %lld fit",
                state.name(), "xyz"[axis], static_cast<long long>(found), text,
                static_cast<long long>(kMaxGrid[axis]));
  if (found % variant.cluster[axis])
    return fail(state.err, TKC_E_GRID,
                "kernel `%s`: grid %c is %lld (`%s`), needed a multiple of the cluster's %u",
                state.name(), "xyz"[axis], static_cast<long long>(found), text,
                variant.cluster[axis]);
  if (state.kernel.bundle->driver->isHip() && found * variant.block[axis] >= kMaxHipThreads)
    return fail(
        state.err, TKC_E_GRID,
        "kernel `%s`: grid %c is %lld (`%s`) of %u threads, HIP needs less than 2^32 in all",
        state.name(), "xyz"[axis], static_cast<long long>(found), text, variant.block[axis]);
  return TKC_OK;
}

/// Blocks that wait for each other must all run at once.
static tkc_status checkResidency(const EncodeState &state, const Choice &choice,
                                 const int64_t grid[3]) {
  const VariantInfo &variant = *choice.variant;
  bool isNeeded = variant.isCooperative || variant.isCoresident || (state.flags & TKC_COOPERATIVE);
  if (!isNeeded || state.kernel.bundle->driver->isCpu())
    return TKC_OK;
  int64_t cluster = variant.clusterBlocks();
  int64_t room =
      cluster > 1 ? choice.loaded->clusters * cluster : choice.loaded->blocksPerSm * state.sms;
  // Each factor is below 2^31 and 2^16: the product of three can overflow, that of two can't.
  int64_t plane = grid[0] * grid[1];
  if (plane <= room && plane * grid[2] <= room)
    return TKC_OK;
  return fail(state.err, TKC_E_RESOURCES,
              "kernel `%s`: variant `%s` needs all %lld x %lld x %lld blocks to run at once, "
              "%lld do (%d a multiprocessor, %lld of them)",
              state.name(), variant.id.c_str(), static_cast<long long>(grid[0]),
              static_cast<long long>(grid[1]), static_cast<long long>(grid[2]),
              static_cast<long long>(room), choice.loaded->blocksPerSm,
              static_cast<long long>(state.sms));
}

tkc_status evaluateGrid(const EncodeState &state, const Choice &choice, int64_t grid[3],
                        bool &isEmpty) {
  const VariantInfo &variant = *choice.variant;
  isEmpty = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (tkc_status status = evaluate(state, variant.grid[axis], grid[axis]))
      return status;
    if (grid[axis] < 0)
      return fail(state.err, TKC_E_GRID, "kernel `%s`: grid %c is %lld (`%s`), needed 0 or more",
                  state.name(), "xyz"[axis], static_cast<long long>(grid[axis]),
                  variant.grid[axis].text.c_str());
    isEmpty |= grid[axis] == 0;
  }
  for (int axis = 0; axis < 3 && !isEmpty; ++axis)
    if (tkc_status status = checkAxis(state, variant, axis, grid[axis]))
      return status;
  return isEmpty ? TKC_OK : checkResidency(state, choice, grid);
}

} // namespace tkcrt
