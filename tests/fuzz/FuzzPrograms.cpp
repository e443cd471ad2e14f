//===- FuzzPrograms.cpp - libFuzzer: the generator's choices as bytes ----------------===//
//
// Whatever the bytes, the generator makes a valid program of them; so each fault that the oracle
// finds in it is one of the compiler, the interpreter or the generator.
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Oracle.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace tk::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Choices choices = Choices::ofBytes({data, size});
  Settings settings;
  settings.exact = choices.below(4) != 3;
  choices.below(4); // was a setting: the corpora keep their meaning
  settings.maxTileElements = 256; // more is slower and goes no other way
  Program program = generate(choices, settings);
  std::string fault = faultOf(program, {.orders = 2}, nullptr);
  if (fault.empty())
    return 0;
  llvm::errs() << fault << "\n" << program.text;
  abort();
}
