//===- Model.cpp - what is not worth a launch ------------------------------===//
#include "Model.h"

#include <algorithm>
#include <cmath>

namespace tkctune {

/// Registers are given out to a warp in portions of this many (every chip since Kepler).
constexpr int64_t kRegisterPortion = 256;
constexpr int64_t kWarp = 32;
/// Each multiprocessor has four schedulers; one without a warp does nothing.
constexpr double kSchedulers = 4;
/// Bytes per clock between L2 and one multiprocessor (128-byte lines every other clock).
constexpr double kL2BytesPerClock = 64;
/// f32 operations per clock of a multiprocessor without matrix units: 128 lanes, two each.
constexpr double kVectorFlopsPerClock = 256;

static int64_t warpsOf(const Footprint &need) {
  return (need.threads + kWarp - 1) / kWarp;
}

static int64_t registersOfBlock(const Footprint &need) {
  int64_t perWarp = need.registers * kWarp;
  return (perWarp + kRegisterPortion - 1) / kRegisterPortion * kRegisterPortion * warpsOf(need);
}

std::string whyUnfit(const DeviceFacts &device, const Footprint &need) {
  auto over = [](const char *what, int64_t needed, int64_t limit) {
    return "a block needs " + std::to_string(needed) + " " + what + ", the device has " +
           std::to_string(limit);
  };
  if (device.sharedPerBlock && need.sharedBytes > device.sharedPerBlock)
    return over("bytes of shared memory", need.sharedBytes, device.sharedPerBlock);
  if (device.registersPerBlock && registersOfBlock(need) > device.registersPerBlock)
    return over("registers", registersOfBlock(need), device.registersPerBlock);
  if (device.threadsPerSm && need.threads > device.threadsPerSm)
    return over("threads", need.threads, device.threadsPerSm);
  return "";
}

int64_t occupancyOf(const DeviceFacts &device, const Footprint &need) {
  int64_t blocks = device.blocksPerSm ? device.blocksPerSm : 32;
  auto bound = [&](int64_t has, int64_t takes) {
    if (has && takes)
      blocks = std::min(blocks, has / takes);
  };
  bound(device.threadsPerSm, warpsOf(need) * kWarp);
  bound(device.registersPerSm, registersOfBlock(need));
  if (need.sharedBytes)
    bound(device.sharedPerSm, need.sharedBytes + device.sharedReserved);
  return blocks;
}

double matrixFlopsPerClock(int major, int minor) {
  // NVIDIA's white papers: A100 312 TFLOP/s, H100 989, B200 2250, at their boost clocks.
  switch (major * 10 + minor) {
  case 80:
    return 2048;
  case 90:
    return 4096;
  case 100:
  case 103:
    return 8192;
  case 86:
  case 89:
  case 120:
    return 1024;
  default:
    return 0;
  }
}

double leastTime(const DeviceFacts &device, const Footprint &need) {
  if (!device.sms || need.blocks < 1)
    return 0;
  double clock = static_cast<double>(device.clockKhz) * 1e3;
  double sms = device.sms;
  double bandwidth = device.peakBandwidth();
  double flopsPerClock =
      need.usesMatrixUnits ? matrixFlopsPerClock(device.major, device.minor) : kVectorFlopsPerClock;
  // The last wave is as long as a full one: this is how many times its fair share the busiest has.
  double share = std::ceil(need.blocks / sms) * sms / need.blocks;
  double memory = bandwidth > 0 ? need.bytes / bandwidth : 0;
  double work = 0;
  if (clock > 0) {
    memory = std::max(memory, need.bytes * share / (sms * clock * kL2BytesPerClock));
    if (flopsPerClock > 0)
      work = need.flops * share / (sms * clock * flopsPerClock);
  }
  double perSm = std::ceil(need.blocks / sms);
  double resident = std::min(static_cast<double>(occupancyOf(device, need)), perSm);
  double warps = resident * static_cast<double>(warpsOf(need));
  double busy = warps > 0 ? std::min(1.0, warps / kSchedulers) : 1;
  return std::max(memory, work) / busy * 1e6;
}

} // namespace tkctune
