//===- Main.cpp - tk-conversions: every conversion against its definition -----------===//
//
//   tk-conversions            all codes of all types of up to 16 bits to every type in every mode, and
//                             chosen inputs of the wider types: some seconds
//   tk-conversions --all      and all 2^32 f32 inputs to every type of up to 16 bits: minutes
//   tk-conversions --all f16  of the long part only what goes to f16
//
//===----------------------------------------------------------------------===//

#include "tests/conversions/Check.h"
#include <cstdio>
#include <cstring>

using namespace conversions;

/// Types whose codes can all be tried.
static bool isSmall(DType type) {
  return specOf(type).bits <= 16;
}

/// Every code of the small types, to every type, under every rule.
static void checkSmall(Report &report) {
  for (DType from : kAllTypes) {
    if (!isSmall(from))
      continue;
    std::vector<uint64_t> codes;
    for (uint64_t code = 0; code < uint64_t(1) << specOf(from).bits; ++code)
      codes.push_back(code);
    for (DType to : kAllTypes)
      checkAllRules(report, from, to, codes);
  }
}

/// The wide types have too many codes; those near every place where a result changes, and some.
static void checkWide(Report &report) {
  for (DType from : kAllTypes) {
    if (isSmall(from))
      continue;
    for (DType to : kAllTypes)
      if (from != to)
        checkAllRules(report, from, to, chosenCodes(from, to));
  }
}

static bool checkAll(Report &report, const char *only) {
  bool any = false;
  for (DType to : kAllTypes) {
    if (!isSmall(to) || to == DType::i1 || (only && std::strcmp(only, tk::interp::nameOf(to))))
      continue;
    any = true;
    const bool isFloat = specOf(to).isFloat;
    for (Rounding rounding : kRoundings)
      for (OverflowRule overflow : {OverflowRule::Saturate, OverflowRule::Ieee})
        if (isFloat || overflow == OverflowRule::Saturate)
          sweep(report, to, {rounding, overflow});
  }
  return any;
}

int main(int argc, char **argv) {
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  if (argc > 3 || (argc > 1 && !all)) {
    std::fprintf(stderr, "usage: tk-conversions [--all [TYPE]]\n");
    return 2;
  }
  Report report;
  if (argc < 3) {
    checkSmall(report);
    checkWide(report);
    std::printf("quick: %llu conversions, %llu differ\n", (unsigned long long)report.checked,
                (unsigned long long)report.wrong);
  }
  if (all && !checkAll(report, argc > 2 ? argv[2] : nullptr)) {
    std::fprintf(stderr, "tk-conversions: no type of up to 16 bits is called `%s`\n", argv[2]);
    return 2;
  }
  std::printf("total: %llu conversions, %llu differ\n", (unsigned long long)report.checked,
              (unsigned long long)report.wrong);
  return report.wrong == 0 && report.checked > 0 ? 0 : 1;
}
