//===- InterpRacesTest.cpp - clocks, and what orders accesses --------------------------===//

#include "backends/interp/Races.h"
#include <catch2/catch.hpp>

using namespace tk::interp;

TEST_CASE("a clock joins run by run and keeps the larger count", "[interp]") {
  Clock a, b;
  for (uint32_t i : {1u, 2u, 3u, 7u})
    a.raise(i, 1);
  CHECK(a.numRuns() == 2); // 1..3 and 7
  b.raise(2, 5);
  b.raise(4, 1);
  b.raise(7, 0);
  a.join(b);
  uint32_t expected[] = {0, 1, 5, 1, 1, 0, 0, 1, 0};
  for (uint32_t i = 0; i < 9; ++i)
    CHECK(a.countOf(i) == expected[i]);
  b.join(a);
  for (uint32_t i = 0; i < 9; ++i)
    CHECK(b.countOf(i) == expected[i]);
  a.clear();
  CHECK(a.countOf(2) == 0);
}

TEST_CASE("a lock that is handed on makes one run of all its holders", "[interp]") {
  Clock lock;
  for (uint32_t holder = 1; holder <= 10000; ++holder)
    lock.raise(holder, 1);
  CHECK(lock.numRuns() == 1);
  CHECK(lock.countOf(9999) == 1);
}

/// Any joins give what a table of counts gives.
TEST_CASE("a clock equals a table of counts", "[interp]") {
  uint64_t state = 1;
  auto random = [&](uint32_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return uint32_t(state >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    Clock clocks[3];
    uint32_t table[3][12] = {};
    for (int step = 0; step < 30; ++step) {
      uint32_t to = random(3), from = random(3), instance = random(12), count = random(4);
      if (random(2)) {
        clocks[to].raise(instance, count);
        table[to][instance] = std::max(table[to][instance], count);
      } else {
        clocks[to].join(clocks[from]);
        for (int i = 0; i < 12; ++i)
          table[to][i] = std::max(table[to][i], table[from][i]);
      }
    }
    for (int clock = 0; clock < 3; ++clock)
      for (uint32_t i = 0; i < 12; ++i)
        REQUIRE(clocks[clock].countOf(i) == table[clock][i]);
  }
}

TEST_CASE("what is released and acquired is ordered, the rest is not", "[interp]") {
  constexpr uint64_t kFlag = 64, kOther = 128;
  Races races(4);
  const uint32_t before = races.eventOf(1);
  races.release(1, kFlag, /*keeps=*/false);
  const uint32_t after = races.eventOf(1);
  CHECK_FALSE(races.isOrdered(before, 2));
  races.acquire(2, kOther);
  CHECK_FALSE(races.isOrdered(before, 2));
  races.acquire(2, kFlag);
  CHECK(races.isOrdered(before, 2));
  CHECK_FALSE(races.isOrdered(after, 2)); // done after the release
  CHECK(races.instanceOf(after) == 1);
  // Handed on by an operation of 2 that keeps what the element carries, or by 2 itself.
  races.acquire(3, kFlag);
  CHECK(races.isOrdered(before, 3));
  races.release(2, kOther, false);
  races.acquire(4, kOther);
  CHECK(races.isOrdered(before, 4));
  CHECK(races.isOrdered(races.eventOf(4), 4));
}

TEST_CASE("a store that orders nothing breaks the chain", "[interp]") {
  Races races(2);
  const uint32_t before = races.eventOf(1);
  races.release(1, 64, false);
  races.drop(64);
  races.acquire(2, 64);
  CHECK_FALSE(races.isOrdered(before, 2));
}

TEST_CASE("readers that are ordered make room for one, others are kept", "[interp]") {
  Races races(3);
  uint32_t shadow = races.withReader(races.eventOf(1), 2);
  CHECK((shadow & kSeveral) != 0);
  CHECK(races.firstUnordered(shadow, 3) == 1);
  races.release(1, 64, false);
  races.release(2, 64, true);
  races.acquire(3, 64);
  CHECK(races.firstUnordered(shadow, 3) == 0);
  CHECK(races.withReader(shadow, 3) == races.eventOf(3));
  CHECK(races.withReader(shadow, 1) == races.withReader(shadow, 1));
}
