//===- Session.cpp - candidates on a device, ready to be timed -------------===//
#include "Session.h"

#include "Error.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace tkctune {

using tkcrt::fail;

/// The driver's queue takes about a thousand operations before it blocks the host; a timed launch
/// is up to ten of them.
constexpr size_t kMostLaunches = 100;
constexpr size_t kFewestLaunches = 5;
constexpr int kWarmUp = 2;
/// As bench/harness.py: larger than any L2 cache, and time enough for the host to enqueue.
constexpr uint64_t kFlushBytes = uint64_t(256) << 20;
constexpr size_t kCopyBytes = size_t(1) << 30;

Session::~Session() {
  for (Ready &entry : ready)
    release(entry);
}

/// Unloading might wait for a launch that never ends: what it uses stays, in sight of leak checkers.
static void abandon(tkc_kernel *kernel, tkc_bundle *bundle) {
  static auto &kept = *new std::vector<const void *>;
  kept.insert(kept.end(), {kernel, bundle});
}

void Session::release(Ready &entry) {
  if (gpu.isLost()) {
    abandon(entry.kernel, entry.bundle);
  } else {
    tkc_kernel_release(entry.kernel);
    tkc_bundle_release(entry.bundle);
  }
  entry.kernel = nullptr;
  entry.bundle = nullptr;
}

tkc_status Session::open(tkc_error *err) {
  if (gpu.isLost())
    return TKC_OK;
  uint64_t bytes = options.flushBytes;
  if (!bytes)
    bytes = std::max(kFlushBytes, static_cast<uint64_t>(gpu.facts().l2Bytes) * 2);
  if (tkc_status status = flush.allocate(gpu, bytes, err))
    return status;
  buffers.reset(new Buffers);
  return buffers->make(gpu, plan, fills, err);
}

tkc_status Session::encode(Ready &entry, const std::vector<tkc_arg> &args, tkc_error *err) {
  entry.params.resize(TKC_MAX_PARAM_BYTES + 128);
  entry.launch = tkc_launch{};
  entry.launch.size = sizeof(entry.launch);
  uintptr_t begin = reinterpret_cast<uintptr_t>(entry.params.data());
  entry.launch.params = reinterpret_cast<void *>((begin + 127) / 128 * 128);
  entry.launch.param_capacity = TKC_MAX_PARAM_BYTES;
  return tkc_encode(entry.kernel, args.data(), static_cast<uint32_t>(args.size()), nullptr,
                    &entry.launch, err);
}

tkc_status Session::prepare(size_t index, tkc_error *err) {
  const Candidate &candidate = *candidates[index];
  Ready &entry = ready[index];
  if (!candidate.source || !candidate.source->hasCode())
    return fail(err, TKC_E_ARG, "there is no code of it");
  tkc_bundle_desc bundle{};
  bundle.size = sizeof(bundle);
  bundle.data = candidate.source->data.data();
  bundle.bytes = candidate.source->data.size();
  bundle.flags = TKC_BORROW;
  if (!candidate.source->json.empty()) {
    bundle.json = candidate.source->json.data();
    bundle.json_bytes = candidate.source->json.size();
  }
  if (tkc_status status = tkc_bundle_open(driver, &bundle, &entry.bundle, err))
    return status;
  tkc_prepare_desc desc{};
  desc.size = sizeof(desc);
  desc.device = gpu.ordinal();
  desc.context = gpu.context();
  desc.config = candidate.isPinned ? candidate.configId.c_str() : nullptr;
  std::string name = candidate.kernel->at("kernel").get<std::string>();
  if (tkc_status status = tkc_kernel_prepare(entry.bundle, name.c_str(), candidate.consts.data(),
                                             static_cast<uint32_t>(candidate.consts.size()), 0,
                                             &desc, &entry.kernel, err))
    return status;
  if (tkc_status status = encode(entry, buffers->args(), err))
    return status;
  if (entry.launch.variant < 0)
    return fail(err, TKC_E_GRID, "a launch of this shape does nothing");
  if (!candidate.hasVariant(entry.launch.variant))
    return fail(err, TKC_E_NO_VARIANT,
                "no variant of this configuration takes the shape; a launch "
                "falls back to another configuration");
  return TKC_OK;
}

tkc_status Session::launchOnce(const Ready &entry, tkc_error *err) {
  if (tkc_status status = buffers->reset(gpu, err))
    return status;
  if (tkc_status status = gpu.fill(flush.address(), 0, flush.bytes(), err))
    return status;
  return tkc_submit(entry.kernel, &entry.launch, gpu.stream(), err);
}

/// Warms up, and takes the time of a reset, a flush and a launch together.
tkc_status Session::estimate(Ready &entry, tkc_error *err) {
  if (tkc_status status = gpu.needEvents(2 * kMostLaunches, err))
    return status;
  for (int i = 0; i < kWarmUp; ++i)
    if (tkc_status status = launchOnce(entry, err))
      return status;
  if (tkc_status status = gpu.record(0, err))
    return status;
  if (tkc_status status = launchOnce(entry, err))
    return status;
  if (tkc_status status = gpu.record(1, err))
    return status;
  if (tkc_status status = gpu.synchronize(err))
    return status;
  return gpu.elapsed(0, 1, entry.launchUs, err);
}

tkc_status Session::sample(Ready &entry, size_t count, std::vector<double> &samples,
                           tkc_error *err) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  for (size_t i = 0; i < count; ++i) {
    tkc_status status = buffers->reset(gpu, err);
    if (!status)
      status = gpu.fill(flush.address(), 0, flush.bytes(), err);
    if (!status)
      status = gpu.record(2 * i, err);
    if (!status)
      status = tkc_submit(entry.kernel, &entry.launch, gpu.stream(), err);
    if (!status)
      status = gpu.record(2 * i + 1, err);
    if (status)
      return status;
  }
  double hostUs = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  if (tkc_status status = gpu.synchronize(err))
    return status;
  double deviceUs = 0;
  if (tkc_status status = gpu.elapsed(0, 2 * count - 1, deviceUs, err))
    return status;
  for (size_t i = 0; i < count; ++i) {
    double microseconds = 0;
    if (tkc_status status = gpu.elapsed(2 * i, 2 * i + 1, microseconds, err))
      return status;
    samples.push_back(microseconds);
  }
  ++entry.turns;
  entry.hostBoundTurns += hostUs > 0.95 * deviceUs;
  return TKC_OK;
}

/// After a failure: does the device still answer?
void Session::checkDevice(size_t index, const char *why) {
  tkc_error err{};
  err.size = sizeof(err);
  if (!gpu.isLost() && gpu.synchronize(&err) == TKC_OK)
    return;
  const std::string &id = candidates[index]->configId;
  gpu.lose("the device was lost to " + (id.empty() ? "the kernel" : id) + ": " + why);
}

Turned Session::turn(size_t index, double share, std::vector<double> &samples, std::string &why) {
  if (gpu.isLost()) {
    why = gpu.whyLost();
    return Turned::Lost;
  }
  tkc_error err{};
  err.size = sizeof(err);
  Ready &entry = ready[index];
  tkc_status status = TKC_OK;
  if (!entry.kernel)
    status = prepare(index, &err);
  bool isPrepared = !status;
  if (isPrepared)
    entry.variant = entry.launch.variant;
  if (!status && entry.launchUs == 0)
    status = estimate(entry, &err);
  if (!status) {
    double launches = options.budgetMs * 1e3 * share / std::max(entry.launchUs, 1.0);
    size_t count =
        std::min(std::max(static_cast<size_t>(launches), kFewestLaunches), kMostLaunches);
    status = sample(entry, count, samples, &err);
  }
  if (!status)
    return Turned::Well;
  why = err.text;
  entry.hasFaulted = isPrepared && status != TKC_E_NOMEM;
  checkDevice(index, err.text);
  release(entry);
  return Turned::Failed;
}

tkc_status Session::launchOn(size_t index, const std::vector<tkc_arg> &args, tkc_error *err) {
  if (gpu.isLost())
    return fail(err, TKC_E_KERNEL, "%s", gpu.whyLost().c_str());
  if (!ready[index].kernel)
    if (tkc_status status = prepare(index, err))
      return status;
  Ready &entry = ready[index];
  tkc_status status = encode(entry, args, err);
  if (!status)
    status = tkc_submit(entry.kernel, &entry.launch, gpu.stream(), err);
  if (!status)
    status = gpu.synchronize(err);
  if (status)
    checkDevice(index, err ? err->text : tkc_status_name(status));
  return status;
}

tkc_status Session::copyBandwidth(double &bytesPerSecond, tkc_error *err) {
  size_t bytes = std::min(kCopyBytes, static_cast<size_t>(gpu.facts().memoryBytes / 8));
  Memory from, to;
  tkc_status status = from.allocate(gpu, bytes, err);
  if (!status)
    status = to.allocate(gpu, bytes, err);
  if (!status)
    status = gpu.needEvents(2, err);
  std::vector<double> times;
  for (int i = 0; i < 10 && !status; ++i) {
    status = gpu.fill(flush.address(), 0, flush.bytes(), err);
    if (!status)
      status = gpu.record(0, err);
    if (!status)
      status = gpu.copy(to.address(), from.address(), bytes, err);
    if (!status)
      status = gpu.record(1, err);
    if (!status)
      status = gpu.synchronize(err);
    double microseconds = 0;
    if (!status)
      status = gpu.elapsed(0, 1, microseconds, err);
    times.push_back(microseconds);
  }
  if (status)
    return status;
  std::sort(times.begin(), times.end());
  bytesPerSecond = 2.0 * static_cast<double>(bytes) / (times[times.size() / 2] * 1e-6);
  return TKC_OK;
}

} // namespace tkctune
