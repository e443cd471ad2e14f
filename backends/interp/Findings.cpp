//===- Findings.cpp - collecting findings -------------------------------------===//

#include "backends/interp/Findings.h"

using namespace tk::interp;

bool Findings::isError(FindingKind kind) const {
  switch (kind) {
  case FindingKind::DivideByZero:
  case FindingKind::DivideOverflow:
  case FindingKind::ShiftTooWide:
  case FindingKind::AddressWraps:
    return false;
  case FindingKind::NanAppears:
    return nanIsError;
  default:
    return true;
  }
}

Finding *Findings::add(FindingKind kind, uint32_t op) {
  if (speculative) {
    speculative->store(true, std::memory_order_relaxed);
    return nullptr;
  }
  int32_t &entry = seen[size_t(op) * kNumFindingKinds + unsigned(kind)];
  if (entry >= 0) {
    ++list[entry].further;
    return nullptr;
  }
  if (isError(kind)) {
    if (errors >= limit)
      return nullptr;
    ++errors;
  } else if (list.size() - errors >= limit) {
    warningsLeftOut += entry == kUnseen;
    entry = kLeftOut;
    return nullptr;
  }
  entry = int32_t(list.size());
  list.push_back({kind, op, 0, {}});
  return &list.back();
}

void Findings::promotePending() {
  for (Finding &finding : pending)
    if (Finding *entry = add(finding.kind, finding.op)) {
      entry->further += finding.further;
      entry->args = finding.args;
    }
  pending.clear();
}
