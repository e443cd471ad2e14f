//===- Check.h - the interpreter's conversions beside the reference ------------------===//
#pragma once

#include "tests/conversions/Reference.h"

namespace conversions {

struct Report {
  uint64_t checked = 0, wrong = 0;
};

/// Converts all `codes` under every rule and compares; the first differences are printed.
void checkAllRules(Report &report, DType from, DType to, const std::vector<uint64_t> &codes);

/// Codes of a wide type: next to every number where the result of a conversion to `to` changes,
/// sums of few powers of two, numbers that are no finite ones, and random ones.
std::vector<uint64_t> chosenCodes(DType from, DType to);

/// All 2^32 codes of f32, on all cores.
void sweep(Report &report, DType to, Rule rule);

} // namespace conversions
