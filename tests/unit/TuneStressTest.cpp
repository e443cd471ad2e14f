//===- TuneStressTest.cpp - many processes, one cache, and kills -----------===//
// Eight processes write and read one cache for as long as several hundred of them are killed at
// random moments. Then: no reader ever saw half a record, every record that a process reported as
// stored is there, and nobody waited for the dead.
#include "TuneFixture.h"
#include "runtime/tune/Cache.h"

#include <chrono>
#include <csignal>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tkctune;

constexpr int kProcesses = 8, kKills = 300, kKeys = 40;
constexpr int kSawTorn = 3, kLostRecord = 4;

/// Long enough for several writes.
static Json valueOf(int key, unsigned turn) {
  return {{"key", key}, {"turn", turn}, {"text", std::string(20000 + key * 100, 'a' + turn % 26)}};
}

static bool isWhole(int key, const Json &value) {
  return value == valueOf(key, value.at("turn").get<unsigned>());
}

/// What each of the processes does until it is killed: it reports each stored key in one byte.
[[noreturn]] static void work(const std::string &folder, int report, unsigned seed) {
  bool sawTorn = false;
  Files files;
  Cache cache(files, [&](const std::string &) { sawTorn = true; });
  if (!cache.open(folder))
    _exit(kSawTorn);
  std::minstd_rand random(seed);
  for (unsigned turn = 0;; ++turn) {
    int key = static_cast<int>(random() % kKeys);
    cache.store({{"k", key}}, valueOf(key, turn % 100));
    unsigned char stored = static_cast<unsigned char>(key);
    Json value;
    // Whoever else stores it meanwhile, it never goes away again.
    if (!cache.find({{"k", key}}, value))
      _exit(sawTorn ? kSawTorn : kLostRecord);
    if (sawTorn || !isWhole(key, value))
      _exit(kSawTorn);
    if (write(report, &stored, 1) != 1)
      _exit(0);
  }
}

static pid_t start(const std::string &folder, const int (&pipes)[2], unsigned seed) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(pipes[0]);
    work(folder, pipes[1], seed);
  }
  return child;
}

TEST_CASE("eight processes, killed at random, tear and lose no record", "[tune]") {
  ScratchFolder scratch;
  std::string folder = scratch.path + "/c";
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  std::mt19937 random(42);
  std::vector<pid_t> children;
  unsigned seed = 1;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(start(folder, pipes, seed++));
  std::vector<int> stored(kKeys, 0);
  std::thread reader([&] {
    unsigned char key = 0;
    while (read(pipes[0], &key, 1) == 1)
      ++stored[key];
  });
  int strange = 0;
  for (int i = 0; i < kKills; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    pid_t &child = children[random() % kProcesses];
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    strange += WIFEXITED(status); // it ended of itself: it saw something wrong
    child = start(folder, pipes, seed++);
  }
  for (pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(pipes[1]);
  reader.join();
  close(pipes[0]);
  CHECK(strange == 0);

  Files files;
  std::vector<std::string> warnings;
  Cache cache(files, [&](const std::string &text) { warnings.push_back(text); });
  REQUIRE(cache.open(folder));
  int found = 0;
  for (int key = 0; key < kKeys; ++key) {
    Json value;
    bool isThere = cache.find({{"k", key}}, value);
    CHECK((isThere || !stored[key]));
    if (isThere)
      CHECK(isWhole(key, value));
    found += isThere;
  }
  CHECK(found > kKeys / 2);
  CHECK(warnings.empty());
}
