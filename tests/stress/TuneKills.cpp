//===- TuneKills.cpp - processes that share the tuning cache, and are killed -----------===//
//
// tune-kills FOLDER PROCESSES KILLS SEED: so many processes store and look up records for as long
// as so many of them are killed. What each was told stands in memory that they share, so that any
// reader knows what it must find: no record torn, none that was acknowledged lost, none older than
// one that was acknowledged, nobody stuck, nothing left behind.
//
// tune-kills FOLDER old|ops|look: one process stores, does each thing once, or looks, for tests
// that make its system calls fail.
//
//===----------------------------------------------------------------------===//

#include "runtime/tune/Cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tkctune;

constexpr int kKeys = 40, kMostProcesses = 256, kKillsPerBatch = 500;
constexpr uint64_t kMostStamps = 1 << 24;
constexpr std::chrono::seconds kStuck(60);
static const Json kKey = {{"k", 1}};

namespace {
/// Times are stamps of one clock that all processes advance.
struct Ledger {
  std::atomic<uint64_t> clock{1};
  std::atomic<uint64_t> acknowledged[kKeys];     ///< when the latest store that returned began
  std::atomic<uint64_t> storing[kMostProcesses]; ///< when the store that it is in began, or 0
  std::atomic<uint64_t> beats[kMostProcesses];   ///< counts what the process has done
  std::atomic<uint64_t> stores, finds;
  std::atomic<bool> isTroubled;
  char trouble[400];
  std::atomic<uint64_t> ended[kMostStamps]; ///< of a store by its begin; 0: it still may write

  uint64_t now() {
    uint64_t stamp = clock++;
    if (stamp >= kMostStamps)
      complain("more stamps than %llu", static_cast<unsigned long long>(kMostStamps));
    return stamp;
  }
  /// The first says what; it ends the process.
  [[noreturn]] void complain(const char *format, ...) __attribute__((format(printf, 2, 3))) {
    va_list values;
    va_start(values, format);
    if (!isTroubled.exchange(true))
      vsnprintf(trouble, sizeof(trouble), format, values);
    va_end(values);
    _exit(1);
  }
};

class Worker {
public:
  Worker(Ledger &ledger, const std::string &folder)
      : ledger(ledger), cache(files, [this](const std::string &text) { warning = text; }) {
    if (!cache.open(folder))
      ledger.complain("the cache can't be opened: %s", warning.c_str());
  }

  void store(int slot, int key) {
    uint64_t begin = ledger.now();
    ledger.storing[slot] = begin;
    if (!cache.store(keyOf(key), valueOf(key, begin)))
      ledger.complain("key %d is not stored: %s", key, warning.c_str());
    ledger.ended[begin] = ledger.now();
    uint64_t before = ledger.acknowledged[key];
    while (before < begin && !ledger.acknowledged[key].compare_exchange_weak(before, begin)) {
    }
    ledger.storing[slot] = 0;
    ++ledger.stores;
  }

  void check(int key) {
    uint64_t floor = ledger.acknowledged[key];
    Json value;
    bool isFound = cache.find(keyOf(key), value);
    if (!warning.empty())
      ledger.complain("torn: %s", warning.c_str());
    if (!isFound && floor)
      ledger.complain("lost: key %d", key);
    if (isFound) {
      uint64_t begin = value.at("begin").get<uint64_t>(), end = ledger.ended[begin];
      if (value != valueOf(key, begin))
        ledger.complain("mixed: key %d does not have one writer's value", key);
      if (end && end < floor)
        ledger.complain("stale: key %d has a value older than one that was acknowledged", key);
    }
    ++ledger.finds;
  }

private:
  static Json keyOf(int key) { return {{"k", key}}; }
  /// Some are several pages long, so that a kill can come between any two of them; the others take
  /// no time but that of the system calls.
  static Json valueOf(int key, uint64_t begin) {
    size_t length = begin % 4 ? begin % 200 : (begin * 131) % 24000;
    return {{"begin", begin}, {"key", key}, {"text", std::string(length, 'a' + begin % 26)}};
  }

  Ledger &ledger;
  Files files;
  std::string warning;
  Cache cache;
};

class Kills {
  struct Child {
    pid_t pid = 0;
    bool isDying = false;
  };

public:
  Kills(Ledger &ledger, std::string folder, int processes, unsigned seed)
      : ledger(ledger), folder(std::move(folder)), random(seed), children(processes) {}

  void run(int kills) {
    for (int done = 0; done < kills;) {
      for (size_t slot = 0; slot < children.size(); ++slot)
        start(slot);
      int batch = std::min(kills - done, kKillsPerBatch);
      for (int i = 0; i < batch; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        killOne();
        // A dead process must run once more to end: most are alive all the same.
        while (reap(dying > children.size() / 4))
          start(lastReaped);
      }
      done += batch;
      while (reap(dying > 0))
        start(lastReaped);
      requireProgress();
      for (size_t slot = 0; slot < children.size(); ++slot)
        kill(children[slot].pid, SIGKILL);
      for (dying = children.size(); dying > 0;)
        reap(true);
      verify();
    }
  }

  int midst = 0;            ///< of kills, in which a store was under way
  size_t mostLeftovers = 0; ///< that lay there at one time

private:
  void start(size_t slot) {
    unsigned seed = random();
    pid_t parent = getpid(), child = fork();
    if (child < 0)
      ledger.complain("fork: %s", strerror(errno));
    children[slot] = {child, false};
    if (child)
      return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(0);
    std::minstd_rand mine(seed);
    for (Worker worker(ledger, folder);; ++ledger.beats[slot]) {
      worker.store(static_cast<int>(slot), static_cast<int>(mine() % kKeys));
      worker.check(static_cast<int>(mine() % kKeys));
      std::this_thread::sleep_for(std::chrono::microseconds(mine() % 2000));
    }
  }

  void killOne() {
    Child *child;
    do
      child = &children[random() % children.size()];
    while (child->isDying);
    kill(child->pid, SIGKILL);
    child->isDying = true;
    ++dying;
  }

  /// True when one is dead: `lastReaped`.
  bool reap(bool waits) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, waits ? 0 : WNOHANG);
    if (pid == 0)
      return false;
    if (pid < 0 && !dying)
      return false;
    if (pid < 0 || WIFEXITED(status) || ledger.isTroubled)
      ledger.complain("a process ended of itself, with status %d", status);
    auto isIt = [&](const Child &child) { return child.pid == pid; };
    lastReaped = static_cast<size_t>(std::find_if(children.begin(), children.end(), isIt) -
                                     children.begin());
    uint64_t begin = ledger.storing[lastReaped].exchange(0);
    if (begin && !ledger.ended[begin])
      ledger.ended[begin] = ledger.now();
    midst += begin != 0;
    --dying;
    return true;
  }

  void requireProgress() {
    auto deadline = std::chrono::steady_clock::now() + kStuck;
    for (size_t slot = 0; slot < children.size(); ++slot)
      for (uint64_t before = ledger.beats[slot]; ledger.beats[slot] == before && !ledger.isTroubled;
           std::this_thread::sleep_for(std::chrono::milliseconds(1)))
        if (std::chrono::steady_clock::now() > deadline)
          ledger.complain("stuck: a process has done nothing for a minute");
  }

  size_t countLeftovers() {
    Files files;
    std::vector<std::string> names;
    int file = files.open(folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (files.list(file, names))
      ledger.complain("the folder can't be listed");
    files.close(file);
    size_t count = 0;
    for (const std::string &name : names)
      count += name.compare(0, 5, ".new-") == 0 && isdigit(name[5]); // others' have a word there
    return count;
  }

  /// All are dead: what is there now is what stays.
  void verify() {
    size_t leftovers = countLeftovers();
    mostLeftovers = std::max(mostLeftovers, leftovers);
    if (leftovers > 4 * children.size())
      ledger.complain("%zu files left behind by %zu processes", leftovers, children.size());
    Worker reader(ledger, folder);
    for (int key = 0; key < kKeys; ++key)
      reader.check(key);
    // Another may be about to remove one: then it has the lock.
    auto deadline = std::chrono::steady_clock::now() + kStuck;
    for (; countLeftovers(); Worker(ledger, folder))
      if (std::chrono::steady_clock::now() > deadline)
        ledger.complain("what the dead left behind is not removed");
  }

  Ledger &ledger;
  std::string folder;
  std::minstd_rand random;
  std::vector<Child> children;
  size_t dying = 0, lastReaped = 0;
};
} // namespace

static int storeOld(const std::string &folder) {
  Files files;
  Cache cache(files, nullptr);
  return !cache.open(folder) || !cache.store(kKey, {{"a", 0}});
}

/// Stops where its system calls are of interest, and where no longer: a tracer sees that. Ends with
/// 0 whatever fails, and says whether the store was acknowledged.
static int doEachOnce(const std::string &folder) {
  raise(SIGSTOP);
  bool isStored = false;
  {
    Files files;
    Cache cache(files, [](const std::string &) {});
    Json value;
    cache.open(folder);
    isStored = cache.store(kKey, {{"a", 1}});
    cache.find(kKey, value);
  }
  raise(SIGSTOP);
  puts(isStored ? "stored" : "not stored");
  return 0;
}

/// What is found is printed; what is not is "nothing".
static int look(const std::string &folder) {
  Files files;
  Cache cache(files, [](const std::string &text) { printf("%s\n", text.c_str()); });
  Json value;
  if (!cache.open(folder))
    return 1;
  puts(cache.find(kKey, value) ? value.dump().c_str() : "nothing");
  return 0;
}

int main(int argc, char **argv) {
  std::string what = argc == 3 ? argv[2] : "";
  if (what == "old")
    return storeOld(argv[1]);
  if (what == "ops")
    return doEachOnce(argv[1]);
  if (what == "look")
    return look(argv[1]);
  if (argc != 5 || atoi(argv[2]) < 1 || atoi(argv[2]) > kMostProcesses) {
    fprintf(stderr, "usage: tune-kills FOLDER PROCESSES KILLS SEED | FOLDER old|ops|look\n");
    return 2;
  }
  int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE; // zero from the start
  void *memory = mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  Ledger &ledger = *static_cast<Ledger *>(memory);
  ledger.clock = 1;
  int kills = atoi(argv[3]);
  pid_t child = fork(); // what complains ends itself
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Kills test(ledger, argv[1], atoi(argv[2]), static_cast<unsigned>(atoi(argv[4])));
    test.run(kills);
    printf("tuning: %d kills of %s processes, %d in the midst of a store; %llu stores, %llu looks; "
           "at most %zu leftovers at a time\n",
           kills, argv[2], test.midst, static_cast<unsigned long long>(ledger.stores),
           static_cast<unsigned long long>(ledger.finds), test.mostLeftovers);
    if (test.midst < kills / 20)
      ledger.complain("too few kills came in the midst of a store to say anything");
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (ledger.isTroubled)
    fprintf(stderr, "tuning: %s\n", ledger.trouble);
  return ledger.isTroubled || status != 0;
}
