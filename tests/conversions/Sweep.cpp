//===- Sweep.cpp - all f32 inputs ------------------------------------------------===//
//
// The steps of the reference are laid out along the patterns of f32, which rise with the numbers.
// What is expected of a run of patterns between two steps is then one code.
//
//===----------------------------------------------------------------------===//

#include "tests/conversions/Check.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

namespace conversions {

constexpr uint32_t kInfinity = 0x7f800000u;

namespace {
/// From this pattern on, a result.
struct Run {
  uint32_t pattern;
  uint16_t code;
};

/// One half of the line of numbers.
struct Half {
  uint32_t sign;
  std::vector<Run> runs; // the last one begins behind infinity
};
} // namespace

/// The first pattern whose number is beyond the step.
static uint32_t firstPattern(const Step &step) {
  float number = float(step.from);
  while (number > 0 && Real(number) > step.from)
    number = std::nextafter(number, 0.0f);
  auto isBelow = [&](float x) { return step.isOpen ? Real(x) <= step.from : Real(x) < step.from; };
  while (std::isfinite(number) && isBelow(number))
    number = std::nextafter(number, INFINITY);
  return std::bit_cast<uint32_t>(number);
}

static Half halfOf(DType to, bool negative, Rule rule) {
  Half half;
  half.sign = negative ? 0x80000000u : 0;
  for (const Step &step : stepsOf(to, negative, rule)) {
    uint32_t pattern = firstPattern(step);
    while (!half.runs.empty() && half.runs.back().pattern >= pattern)
      half.runs.pop_back(); // between two numbers of f32 only the last step counts
    if (pattern < kInfinity)
      half.runs.push_back({pattern, uint16_t(step.code)});
  }
  Value infinite;
  infinite.kind = Value::Kind::Infinite;
  infinite.negative = negative;
  half.runs.push_back({kInfinity, uint16_t(Converter(to, rule)(infinite))});
  half.runs.push_back({kInfinity + 1, 0});
  return half;
}

template <class Code>
static void expect(const Half &half, const Converter &converter, uint32_t first, size_t count,
                   Code *expected) {
  const uint64_t end = uint64_t(first) + count;
  auto run = std::prev(std::partition_point(half.runs.begin(), half.runs.end(),
                                            [&](const Run &r) { return r.pattern <= first; }));
  for (; run + 1 != half.runs.end() && run->pattern < end; ++run) {
    uint64_t from = std::max(run->pattern, first);
    uint64_t to = std::min<uint64_t>((run + 1)->pattern, end);
    std::fill(expected + (from - first), expected + (to - first), Code(run->code));
  }
  for (uint64_t pattern = std::max<uint64_t>(first, kInfinity + 1); pattern < end; ++pattern)
    expected[pattern - first] = Code(converter(valueOf(DType::f32, pattern | half.sign)));
}

template <class Code>
static uint64_t checkPart(const Half &half, DType to, Rule rule, uint32_t begin, uint64_t end) {
  constexpr size_t kChunk = 1 << 14;
  std::vector<uint32_t> patterns(kChunk);
  std::vector<Code> expected(kChunk), found(kChunk);
  auto conversion = *tk::interp::conversionOf(DType::f32, to, rule.rounding, rule.overflow);
  const Converter converter(to, rule);
  uint64_t wrong = 0;
  for (uint64_t first = begin; first < end; first += kChunk) {
    for (size_t i = 0; i < kChunk; ++i)
      patterns[i] = uint32_t(first + i) | half.sign;
    conversion.run(patterns.data(), found.data(), kChunk);
    expect(half, converter, uint32_t(first), kChunk, expected.data());
    if (std::memcmp(expected.data(), found.data(), kChunk * sizeof(Code)) == 0)
      continue;
    for (size_t i = 0; i < kChunk; ++i) {
      if (expected[i] == found[i])
        continue;
      if (++wrong <= 3)
        std::printf("f32 0x%x: 0x%x expected, found 0x%x\n", patterns[i], unsigned(expected[i]),
                    unsigned(found[i]));
    }
  }
  return wrong;
}

template <class Code> static uint64_t checkHalf(const Half &half, DType to, Rule rule) {
  const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t all = uint64_t(1) << 31, share = (all / workers) & ~uint64_t(0xffff);
  std::vector<std::thread> threads;
  std::vector<uint64_t> wrong(workers);
  ladderOf(to, false), ladderOf(to, true); // made before the threads read them
  for (unsigned i = 0; i < workers; ++i)
    threads.emplace_back([&, i] {
      uint64_t end = i + 1 == workers ? all : share * (i + 1);
      wrong[i] = checkPart<Code>(half, to, rule, uint32_t(share * i), end);
    });
  uint64_t sum = 0;
  for (unsigned i = 0; i < workers; ++i) {
    threads[i].join();
    sum += wrong[i];
  }
  return sum;
}

void sweep(Report &report, DType to, Rule rule) {
  uint64_t wrong = 0;
  for (bool negative : {false, true}) {
    const Half half = halfOf(to, negative, rule);
    wrong += tk::interp::byteSize(to) == 1 ? checkHalf<uint8_t>(half, to, rule)
                                           : checkHalf<uint16_t>(half, to, rule);
  }
  report.checked += uint64_t(1) << 32;
  report.wrong += wrong;
  std::printf("f32 -> %s, rounding %d, overflow %d: 4294967296 inputs, %llu differ\n",
              tk::interp::nameOf(to), int(rule.rounding), int(rule.overflow),
              (unsigned long long)wrong);
  std::fflush(stdout);
}

} // namespace conversions
