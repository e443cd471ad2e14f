//===- Select.cpp - which variant a launch takes, and why ------------------===//
#include "Encode.h"
#include "Error.h"
#include "TableLookup.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tkcrt {

void Trace::add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t left = used < room ? room - used : 0;
  int length = vsnprintf(left ? text + used : nullptr, left, format, args);
  va_end(args);
  used += length > 0 ? static_cast<size_t>(length) : 0;
}

/// `M = 512, N = 4096`, for messages.
static void keyText(const EncodeState &state, const int64_t *key, char *out, size_t room) {
  Trace text(out, room);
  out[0] = 0;
  for (size_t i = 0; i < state.info.tune.key.size(); ++i)
    text.add("%s%s = %lld", i ? ", " : "", state.info.tune.key[i].text.c_str(),
             static_cast<long long>(key[i]));
}

static size_t nearestRow(const TuneTable &table, const int64_t *key) {
  size_t best = 0;
  for (size_t row = 1; row < table.rows.size(); ++row)
    if (keyDistance(table.keyOf(row), key, table.width) <
        keyDistance(table.keyOf(best), key, table.width))
      best = row;
  return best;
}

/// The row with exactly this key, or the number of rows.
static size_t findRow(const TuneTable &table, const int64_t *key) {
  size_t low = 0, high = table.rows.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const int64_t *found = table.keyOf(middle);
    if (std::lexicographical_compare(found, found + table.width, key, key + table.width))
      low = middle + 1;
    else
      high = middle;
  }
  bool isFound = low < table.rows.size() && std::equal(key, key + table.width, table.keyOf(low));
  return isFound ? low : table.rows.size();
}

/// The configuration to try first: an index, or -1 for the default one.
static tkc_status pickConfig(const EncodeState &state, int &config) {
  const tkc_kernel &kernel = state.kernel;
  const TuneTable &table = kernel.table;
  config = kernel.config;
  if (config >= 0 && state.trace)
    state.trace->add("configuration \"%s\": asked for at prepare\n",
                     kernel.configs[static_cast<size_t>(config)].c_str());
  if (config >= 0 || !kernel.hasTable)
    return TKC_OK;
  int64_t key[kMaxTuneKeys] = {};
  for (size_t i = 0; i < table.width; ++i)
    if (tkc_status status = evaluate(state, state.info.tune.key[i], key[i]))
      return status;
  size_t row = findRow(table, key);
  bool isExact = row < table.rows.size();
  TuneInfo::OnMiss onMiss = state.info.tune.onMiss;
  if (!isExact && onMiss == TuneInfo::OnMiss::Nearest && !table.rows.empty())
    row = nearestRow(table, key);
  if (row < table.rows.size())
    config = table.rows[row].config;
  if (config < 0 && onMiss == TuneInfo::OnMiss::Error) {
    char text[256];
    keyText(state, key, text, sizeof(text));
    return fail(state.err, TKC_E_NO_VARIANT,
                "kernel `%s`: the table has no record for %s with %lld SMs, and on_miss is error",
                state.name(), text, static_cast<long long>(kernel.sms));
  }
  if (state.trace) {
    char text[256];
    keyText(state, key, text, sizeof(text));
    if (config < 0)
      state.trace->add("the table (%zu records for this device) has none for %s\n",
                       table.rows.size(), text);
    else
      state.trace->add("configuration \"%s\": record %zu of the table (%s), %s for %s\n",
                       kernel.configs[static_cast<size_t>(config)].c_str(), table.rows[row].record,
                       table.rows[row].device.c_str(), isExact ? "measured" : "the nearest", text);
  }
  return TKC_OK;
}

/// Sets `failed` to the first guard that does not hold, or to nullptr.
static tkc_status checkGuards(EncodeState &state, const LoadedVariant &loaded,
                              const Condition *&failed) {
  state.slots[kBlocksPerSmSlot] = loaded.blocksPerSm;
  state.slots[kClustersSlot] = loaded.clusters;
  const VariantInfo &variant = state.kernel.variantOf(loaded);
  for (const Condition &guard : variant.when) {
    int64_t holds = 0;
    if (tkc_status status = evaluate(state, guard.whole, guard.text, holds))
      return status;
    failed = &guard;
    if (!holds) {
      if (state.trace)
        state.trace->add("variant `%s`: `%s` is false\n", variant.id.c_str(), guard.text.c_str());
      return TKC_OK;
    }
  }
  failed = nullptr;
  if (state.trace)
    state.trace->add("variant `%s`: taken\n", variant.id.c_str());
  return TKC_OK;
}

static tkc_status failPick(const EncodeState &state, const LoadedVariant *last,
                           const Condition *failed) {
  bool isPinned = state.flags & TKC_PIN_VARIANT;
  if (!last)
    return fail(state.err, TKC_E_NO_VARIANT,
                "kernel `%s`: variant %d is pinned, and is not among the %zu that are loaded for "
                "this device",
                state.name(), isPinned ? state.options->variant : -1, state.kernel.loaded.size());
  return fail(state.err, TKC_E_NO_VARIANT,
              "kernel `%s`: %s variant takes these arguments; `%s` needs `%s`", state.name(),
              isPinned ? "the pinned" : "no", state.kernel.variantOf(*last).id.c_str(),
              failed ? failed->text.c_str() : "");
}

tkc_status pickVariant(EncodeState &state, Choice &out) {
  bool isPinned = state.flags & TKC_PIN_VARIANT;
  int config = -1;
  if (!isPinned)
    if (tkc_status status = pickConfig(state, config))
      return status;
  const LoadedVariant *last = nullptr;
  const Condition *failed = nullptr;
  for (bool isAsked : {true, false}) {
    for (const LoadedVariant &loaded : state.kernel.loaded) {
      const VariantInfo &variant = state.kernel.variantOf(loaded);
      bool isTried = isPinned
                         ? isAsked && static_cast<int64_t>(loaded.index) == state.options->variant
                     : isAsked ? loaded.config == config
                               : variant.isDefault && loaded.config != config;
      if (!isTried)
        continue;
      last = &loaded;
      if (tkc_status status = checkGuards(state, loaded, failed))
        return status;
      if (!failed) {
        out = Choice{&loaded, &variant};
        return TKC_OK;
      }
    }
  }
  return failPick(state, last, failed);
}

} // namespace tkcrt
