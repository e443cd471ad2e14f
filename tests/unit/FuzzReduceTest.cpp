//===- FuzzReduceTest.cpp - generated programs made smaller ------------------------===//

#include "tests/fuzz/Choices.h"
#include "tests/fuzz/Lines.h"

#include <catch2/catch.hpp>

using namespace tk::fuzz;

TEST_CASE("of a list of choices what matters is left", "[fuzz]") {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < 300; ++i)
    list.push_back(i * 7 % 31 + 1);
  list[200] = 100;
  unsigned asked = 0;
  auto fails = [&](const std::vector<uint32_t> &candidate) {
    ++asked;
    return llvm::any_of(candidate, [](uint32_t choice) { return choice >= 50; });
  };
  CHECK(reduce(list, 1000, fails) == std::vector<uint32_t>{50});
  CHECK(asked < 200);
  asked = 0;
  reduce(list, 20, fails);
  CHECK(asked == 20);
}

TEST_CASE("lines are left out, blocks whole or around what matters", "[fuzz]") {
  const char *text = "kernel k() {\n"
                     "    let a = 1\n"
                     "    for i in range(3) {\n"
                     "        let b = 2\n"
                     "        if a > b {\n"
                     "            wrong\n"
                     "        }\n"
                     "    }\n"
                     "    while a < 3 {\n"
                     "        a += 1\n"
                     "    }\n"
                     "}\n";
  auto fails = [](const std::string &candidate) {
    return llvm::StringRef(candidate).contains("wrong") && llvm::StringRef(candidate).contains("kernel");
  };
  CHECK(reduceLines(text, 100, fails) == "kernel k() {\n            wrong\n}\n");
}
