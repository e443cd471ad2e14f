//===- TargetTest.cpp - the table of chips, and what ptxas says -----------------------===//

#include "backends/nvptx/Ptxas.h"
#include "backends/target/Targets.h"
#include "llvm/ADT/StringSet.h"
#include <catch2/catch.hpp>

using namespace tk;

TEST_CASE("what ptxas -v counts is read by symbol", "[ptxas]") {
  llvm::StringMap<nvptx::Resources> resources;
  std::vector<nvptx::PtxasNote> notes;
  nvptx::parsePtxasLog("ptxas info    : 0 bytes gmem\n"
                       "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
                       "ptxas info    : Function properties for helper\n"
                       "    64 bytes stack frame, 64 bytes spill stores, 64 bytes spill loads\n"
                       "ptxas info    : Function properties for a\n"
                       "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
                       "ptxas info    : Used 40 registers, used 1 barriers, 8 bytes cumulative "
                       "stack size, 2048 bytes smem, 400 bytes cmem[0]\n"
                       "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
                       "ptxas info    : Function properties for b\n"
                       "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                       "ptxas info    : Used 8 registers, used 0 barriers\n"
                       "ptxas info    : (C7510) Potential Performance Loss: x in the function 'b'\n"
                       "ptxas info    : (C7509) something else\n",
                       resources, notes);
  REQUIRE(resources.size() == 2);
  CHECK(resources["a"].registers == 40);
  CHECK(resources["a"].stackBytes == 8);
  CHECK(resources["a"].spillStoreBytes == 4);
  CHECK(resources["a"].spillLoadBytes == 12);
  CHECK(resources["a"].sharedStaticBytes == 2048);
  CHECK(resources["b"].registers == 8);
  CHECK(resources["b"].sharedStaticBytes == 0);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].code == "C7510");
  CHECK(notes[0].symbol == "b");
}

TEST_CASE("no text makes the reader of ptxas's words fail", "[ptxas]") {
  llvm::StringMap<nvptx::Resources> resources;
  std::vector<nvptx::PtxasNote> notes;
  for (const char *text : {"", "\n\n", "Compiling entry function '", ": Used  registers",
                           "Function properties for ", "(C7510)", "    bytes stack frame"})
    nvptx::parsePtxasLog(text, resources, notes);
  CHECK(notes.size() == 1);
}

TEST_CASE("version and target of PTX", "[ptxas]") {
  const char *ptx = "// .version 1.0\n\n.version 8.7\n.target sm_90a, debug\n";
  CHECK(nvptx::ptxVersionOf(ptx) == 87);
  CHECK(nvptx::ptxTargetOf(ptx) == "sm_90a");
  CHECK(nvptx::ptxVersionOf("") == 0);
  CHECK(nvptx::ptxVersionOf(".version x.y\n") == 0);
  CHECK(nvptx::ptxTargetOf(".version 8.0\n").empty());
  CHECK(nvptx::newestPtxOf("12.4") == 84);
  CHECK(nvptx::newestPtxOf("99.0") == 0);
}

TEST_CASE("the table of chips is well formed", "[target]") {
  llvm::StringSet<> names;
  for (const Target &target : allTargets()) {
    INFO(std::string(target.name));
    CHECK(names.insert(target.name).second);
    CHECK(findTarget(target.name) == &target);
    CHECK(target.sharedBytesPerBlock > 0);
    if (target.vendor == Vendor::Nvidia) {
      int compute = target.computeMajor * 10 + target.computeMinor;
      CHECK(llvm::StringRef(target.name).starts_with("sm_" + std::to_string(compute)));
      CHECK((target.match == Match::Exact) == (target.name.back() == 'a'));
      CHECK(target.ptxVersion >= 80);
    }
  }
  CHECK(findTarget(kDefaultTarget)->supported);
  CHECK(findTarget("sm_90") == nullptr);
  CHECK(findTarget("") == nullptr);
}

TEST_CASE("the nearest name is near", "[target]") {
  CHECK(nearestTarget("sm_90") == "sm_90a");
  CHECK(nearestTarget("sm90a") == "sm_90a");
  CHECK(nearestTarget("gfx941") == "gfx942");
  CHECK(nearestTarget("banana").empty());
  CHECK(nearestTarget("").empty());
}
