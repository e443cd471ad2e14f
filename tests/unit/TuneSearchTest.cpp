//===- TuneSearchTest.cpp - statistics, the search and the model -----------===//
#include "runtime/tune/Model.h"
#include "runtime/tune/Search.h"

#include <catch2/catch.hpp>

using namespace tkctune;

TEST_CASE("percentiles lie between their neighbours", "[tune]") {
  Summary summary = summarize({5, 1, 3, 2, 4});
  CHECK(summary.median == 3);
  CHECK(summary.least == 1);
  CHECK(summary.p20 == Approx(1.8));
  CHECK(summary.p80 == Approx(4.2));
  CHECK(summary.count == 5);
  CHECK(summarize({1, 2}).median == 1.5);
  CHECK(summarize({}).count == 0);
}

/// Turns of candidates with these times; remembers who was asked, in order.
struct Turns {
  std::vector<double> times;
  std::string order;
  std::vector<double> launches = std::vector<double>(16, 0);
  size_t lostAfter = 1000; ///< turns

  Turn turn() {
    return [this](size_t i, double share, std::vector<double> &samples, std::string &why) {
      if (order.size() == lostAfter) {
        why = "lost";
        return Turned::Lost;
      }
      order += static_cast<char>('A' + i);
      launches[i] += share;
      if (times[i] < 0) {
        why = "fault";
        return Turned::Failed;
      }
      samples.insert(samples.end(), {times[i], times[i] * 1.01, times[i] * 1.02});
      return Turned::Well;
    };
  }
};

TEST_CASE("candidates take turns, and the hopeless stop after one", "[tune]") {
  Turns turns{{10, 10.5, 30}, "", std::vector<double>(16, 0)};
  std::vector<Trial> trials(3);
  SearchOptions options;
  options.rounds = 3;
  search(options, trials, turns.turn());
  CHECK(turns.order == "ABCABAB");
  CHECK(trials[0].state == Trial::State::Running);
  CHECK(trials[1].state == Trial::State::Running);
  CHECK(trials[2].state == Trial::State::Stopped);
  CHECK_THAT(trials[2].why, Catch::Contains("30.00 us"));
  CHECK(leaderOf(trials) == 0);
}

TEST_CASE("a margin decides who is hopeless", "[tune]") {
  Turns turns{{10, 12}, "", std::vector<double>(16, 0)};
  std::vector<Trial> trials(2);
  SearchOptions options;
  options.margin = 0.5;
  search(options, trials, turns.turn());
  CHECK(trials[1].state == Trial::State::Running);
}

TEST_CASE("who has not had all turns when the device is lost is cut short, not judged", "[tune]") {
  SearchOptions options;
  options.rounds = 2;
  Turns turns{{10, 30, 11, 12}, "", std::vector<double>(16, 0)};
  std::vector<Trial> trials(4);
  SECTION("in the first turn") {
    options.method = GENERATE(Method::Exhaustive, Method::Halving);
    turns.lostAfter = 3;
    search(options, trials, turns.turn());
    for (const Trial &trial : trials) // B too, which is slow
      CHECK(trial.state == Trial::State::CutShort);
    CHECK(trials[3].why == "lost");
  }
  SECTION("in the last turn") {
    options.margin = 10;
    turns.lostAfter = 6;
    search(options, trials, turns.turn());
    CHECK(trials[0].state == Trial::State::Running);
    CHECK(trials[1].state == Trial::State::Running);
    CHECK(trials[2].state == Trial::State::CutShort);
    CHECK(trials[2].samples.size() == 3);
  }
}

TEST_CASE("a candidate that fails is listed and the others go on", "[tune]") {
  Turns turns{{-1, 10}, "", std::vector<double>(16, 0)};
  std::vector<Trial> trials(2);
  search({}, trials, turns.turn());
  CHECK(trials[0].state == Trial::State::Failed);
  CHECK(trials[0].why == "fault");
  CHECK(leaderOf(trials) == 1);
  CHECK(turns.order == "ABBBBB");
}

TEST_CASE("halving finds the fastest with a fraction of the launches", "[tune]") {
  std::vector<double> times;
  for (int i = 0; i < 16; ++i)
    times.push_back(10 + (i * 7 + 3) % 16 * 0.5); // close together: nobody is hopeless early
  auto total = [&](Method method, size_t &leader) {
    Turns turns{times, "", std::vector<double>(16, 0)};
    std::vector<Trial> trials(16);
    SearchOptions options;
    options.method = method;
    options.margin = 10;
    search(options, trials, turns.turn());
    leader = leaderOf(trials);
    double sum = 0;
    for (double share : turns.launches)
      sum += share;
    return sum;
  };
  size_t halved = 99, whole = 99;
  double few = total(Method::Halving, halved), all = total(Method::Exhaustive, whole);
  CHECK(halved == whole);
  CHECK(all == 80);
  CHECK(few < 20);
}

static DeviceFacts h200() {
  DeviceFacts device;
  device.major = 9;
  device.sms = 132;
  device.sharedPerSm = 233472;
  device.sharedPerBlock = 232448;
  device.sharedReserved = 1024;
  device.registersPerSm = device.registersPerBlock = 65536;
  device.threadsPerSm = 2048;
  device.blocksPerSm = 32;
  device.clockKhz = 1980000;
  device.memoryClockKhz = 3201000;
  device.memoryBusBits = 6144;
  return device;
}

TEST_CASE("occupancy is bounded by whatever runs out first", "[tune]") {
  DeviceFacts device = h200();
  Footprint need;
  need.threads = 256;
  need.registers = 32;
  CHECK(occupancyOf(device, need) == 8); // threads
  need.registers = 128;
  CHECK(occupancyOf(device, need) == 2); // registers
  need.sharedBytes = 120 << 10;
  CHECK(occupancyOf(device, need) == 1); // shared memory
}

TEST_CASE("what exceeds the device is named with both numbers", "[tune]") {
  Footprint need;
  need.threads = 1024;
  need.registers = 96;
  CHECK_THAT(whyUnfit(h200(), need), Catch::Contains("98304 registers, the device has 65536"));
  need.registers = 64;
  CHECK(whyUnfit(h200(), need).empty());
  need.sharedBytes = 300000;
  CHECK_THAT(whyUnfit(h200(), need), Catch::Contains("300000 bytes of shared memory"));
}

TEST_CASE("the least time counts waves, bytes and idle schedulers", "[tune]") {
  DeviceFacts device = h200();
  Footprint need;
  need.threads = 128;
  need.registers = 32;
  need.blocks = 132;
  need.bytes = 4.917e9; // a millisecond at the pins' rate
  CHECK(leastTime(device, need) == Approx(1000).epsilon(0.01));
  need.bytes = 0;
  need.usesMatrixUnits = true;
  need.flops = 4096.0 * 132 * 1.98e9 * 1e-3; // a millisecond of every matrix unit
  CHECK(leastTime(device, need) == Approx(1000));
  need.blocks = 133; // a second wave for one block
  CHECK(leastTime(device, need) == Approx(2000 * 132.0 / 133));
  need.blocks = 132;
  need.threads = 32; // one warp for four schedulers
  CHECK(leastTime(device, need) == Approx(4000));
  need.blocks = 0;
  CHECK(leastTime(device, need) == 0);
}
