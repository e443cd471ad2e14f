//===- Races.h - which accesses of different program instances are ordered -----===//
//
// Shadows name accesses by events. An instance begins with an event of its own number and takes a
// new one after each release, so that an event says which instance, and before which of its
// releases. An access of instance A is ordered before one of instance B when B sees the release of
// A that follows it: B acquired from an element of memory that A released, or that somebody who saw
// it released, with atomic operations that read and write in between (which keep what the element
// carries; a plain or relaxed store drops it).
//
// Kernels without acquire and release have no such object: there every event is an instance, and
// two different ones are never ordered.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Clock.h"
#include <map>
#include <unordered_map>

namespace tk::interp {

/// In a shadow of those who read: what follows names several events.
constexpr uint32_t kSeveral = 0x80000000u;

class Races {
public:
  /// Instances count from 1 to `instances`, as in Frame::instance.
  explicit Races(uint32_t instances) : firstOwn(instances + 1) {}

  uint32_t instanceOf(uint32_t event) const {
    return event < firstOwn ? event : events[event - firstOwn].instance;
  }
  /// The event with which accesses of `instance` are marked now.
  uint32_t eventOf(uint32_t instance);
  /// Whether the access of `event` is the instance's own or ordered before what it does now.
  bool isOrdered(uint32_t event, uint32_t instance);
  /// Of the events that a shadow names, one that is not ordered before what the instance does now;
  /// 0 when all are.
  uint32_t firstUnordered(uint32_t shadow, uint32_t instance);
  /// The shadow when `instance` joins those it names. Ordered ones need not be kept.
  uint32_t withReader(uint32_t shadow, uint32_t instance);

  /// `instance` reads memory at `address` and sees what was released there.
  void acquire(uint32_t instance, uint64_t address);
  /// What `instance` did so far is released at `address`; `keeps`: with what was there before.
  void release(uint32_t instance, uint64_t address, bool keeps);
  /// A store that orders nothing: what the address carried is gone.
  void drop(uint64_t address) { carried.erase(address); }
  /// The instance has ended; others keep what they saw of it.
  void end(uint32_t instance) { states.erase(instance); }

private:
  struct Event {
    uint32_t instance, releases; // before its release number `releases`
  };
  struct State {
    Clock clock;
    uint32_t releases = 0;
    uint32_t event = 0;
    // The last question and its answer: neighbours have the same event.
    uint32_t asked = 0;
    bool answer = false;
  };
  uint32_t releasesBefore(uint32_t event) const {
    return event < firstOwn ? 0 : events[event - firstOwn].releases;
  }
  State &stateOf(uint32_t instance);
  uint32_t internSet(std::vector<uint32_t> set);

  uint32_t firstOwn; // first event that is not an instance
  std::vector<Event> events;
  std::unordered_map<uint32_t, State> states;
  std::unordered_map<uint64_t, Clock> carried;
  std::vector<std::vector<uint32_t>> sets; // of events, sorted
  std::map<std::vector<uint32_t>, uint32_t> setNumbers;
};

} // namespace tk::interp
