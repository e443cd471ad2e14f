//===- Races.cpp - which accesses of different program instances are ordered ---===//

#include "backends/interp/Races.h"
#include <algorithm>

using namespace tk::interp;

Races::State &Races::stateOf(uint32_t instance) {
  auto [entry, isNew] = states.try_emplace(instance);
  if (isNew)
    entry->second.event = instance;
  return entry->second;
}

uint32_t Races::eventOf(uint32_t instance) {
  return stateOf(instance).event;
}

bool Races::isOrdered(uint32_t event, uint32_t instance) {
  State &state = stateOf(instance);
  if (event == 0 || event == state.event)
    return true;
  if (state.asked == event)
    return state.answer;
  const uint32_t other = instanceOf(event);
  state.asked = event;
  state.answer = other == instance || state.clock.countOf(other) > releasesBefore(event);
  return state.answer;
}

uint32_t Races::firstUnordered(uint32_t shadow, uint32_t instance) {
  if (!(shadow & kSeveral))
    return isOrdered(shadow, instance) ? 0 : shadow;
  for (uint32_t event : sets[shadow & ~kSeveral])
    if (!isOrdered(event, instance))
      return event;
  return 0;
}

uint32_t Races::internSet(std::vector<uint32_t> set) {
  auto [entry, isNew] = setNumbers.try_emplace(set, uint32_t(sets.size()));
  if (isNew)
    sets.push_back(std::move(set));
  return entry->second | kSeveral;
}

uint32_t Races::withReader(uint32_t shadow, uint32_t instance) {
  const uint32_t me = stateOf(instance).event;
  if (shadow == me)
    return shadow;
  std::vector<uint32_t> kept;
  if (!(shadow & kSeveral)) {
    if (isOrdered(shadow, instance))
      return me;
    kept.push_back(shadow);
  } else {
    for (uint32_t event : sets[shadow & ~kSeveral]) {
      if (event == me)
        return shadow;
      if (!isOrdered(event, instance))
        kept.push_back(event);
    }
    if (kept.empty())
      return me;
  }
  kept.insert(std::upper_bound(kept.begin(), kept.end(), me), me);
  return internSet(std::move(kept));
}

void Races::acquire(uint32_t instance, uint64_t address) {
  auto found = carried.find(address);
  if (found == carried.end())
    return;
  State &state = stateOf(instance);
  state.clock.join(found->second);
  state.asked = 0;
}

void Races::release(uint32_t instance, uint64_t address, bool keeps) {
  State &state = stateOf(instance);
  ++state.releases;
  Clock &here = carried[address];
  if (!keeps)
    here.clear();
  here.join(state.clock);
  here.raise(instance, state.releases);
  state.event = uint32_t(firstOwn + events.size());
  events.push_back({instance, state.releases});
  state.asked = 0;
}
