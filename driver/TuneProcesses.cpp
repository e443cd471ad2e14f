//===- TuneProcesses.cpp - timing in processes that may be lost ----------------------------===//

#include "driver/TuneProcesses.h"
#include "driver/Session.h"
#include "driver/TunePrint.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tk;
using llvm::StringRef;
using llvm::json::Object;
using llvm::json::Value;

//===----------------------------------------------------------------------===//
// What a child says: lines of JSON
//===----------------------------------------------------------------------===//

static Object toJson(const TunePlace &place) {
  return Object{{"kernel", place.kernel},
                {"shape", place.shape},
                {"candidate", place.candidate},
                {"config", place.config},
                {"reason", place.reason}};
}

static TunePlace placeOf(const Object &json) {
  auto text = [&](StringRef field) { return json.getString(field).value_or("").str(); };
  auto number = [&](StringRef field) { return json.getInteger(field).value_or(0); };
  return {text("kernel"), number("shape"), number("candidate"), text("config"), text("reason")};
}

void TuneAttempt::say(Object message) {
  std::string line;
  llvm::raw_string_ostream(line) << Value(std::move(message)) << '\n';
  for (size_t begin = 0; begin < line.size();) {
    ssize_t count = write(pipe, line.data() + begin, line.size() - begin);
    if (count < 0 && errno != EINTR)
      return; // nobody listens: the parent is gone, and so is this process soon
    begin += count < 0 ? 0 : size_t(count);
  }
}

bool TuneAttempt::isKnown(const TunePlace &fault) const {
  return llvm::any_of(faults, [&](const TunePlace &known) { return known.isSameAs(fault); });
}

void TuneAttempt::launching(TunePlace place) {
  say(Object{{"launching", toJson(place)}});
  last = std::move(place);
}

void TuneAttempt::pause() {
  say(Object{{"launching", nullptr}});
}

void TuneAttempt::askForAnother(const TunePlace &fault) {
  say(Object{{"another", toJson(fault)}});
}

namespace {
/// What a child has said so far.
struct Said {
  std::string unread;
  std::optional<TunePlace> launching, another;

  void take(StringRef text) {
    unread += text;
    for (size_t end; (end = unread.find('\n')) != std::string::npos; unread.erase(0, end + 1))
      takeLine(StringRef(unread).take_front(end));
  }

private:
  void takeLine(StringRef line) {
    llvm::Expected<Value> message = llvm::json::parse(line);
    if (!message)
      return llvm::consumeError(message.takeError()); // never: a child writes whole lines
    const Object &object = *message->getAsObject();
    if (const Object *place = object.getObject("another"))
      another = placeOf(*place);
    const Object *place = object.getObject("launching");
    launching = place ? std::optional(placeOf(*place)) : std::nullopt;
  }
};

//===----------------------------------------------------------------------===//
// What the parent must not leave behind
//===----------------------------------------------------------------------===//

volatile sig_atomic_t caughtSignal = 0;

/// Signals that end a process are only remembered, while `await` waits: there is a folder to
/// remove.
class Signals {
public:
  Signals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (auto [signal, old] : llvm::zip(kWatched, actions)) {
      sigaction(signal, nullptr, &old);
      if (old.sa_handler == SIG_IGN) // under nohup, say
        continue;
      struct sigaction action = {};
      action.sa_handler = [](int number) { caughtSignal = number; };
      sigaction(signal, &action, nullptr);
      sigaddset(&watched, signal);
    }
    sigprocmask(SIG_BLOCK, &watched, &mask);
  }
  ~Signals() {
    for (auto [signal, old] : llvm::zip(kWatched, actions))
      sigaction(signal, &old, nullptr);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }
  /// Waits for something to read, or some milliseconds; false when this process is to end.
  bool await(int file, int milliseconds) const {
    pollfd entry{file, POLLIN, 0};
    timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000};
    ppoll(&entry, file < 0 ? 0 : 1, milliseconds < 0 ? nullptr : &time, &mask);
    return !caughtSignal;
  }

private:
  static constexpr int kWatched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction actions[std::size(kWatched)] = {};
  sigset_t mask;
};

/// A folder for a call that was given none.
class OwnCache {
public:
  /// Without one (there is no room, say) times are taken again after a fault.
  void make() {
    llvm::SmallString<128> name;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, name);
    llvm::sys::path::append(name, "tkc-tune-XXXXXX");
    std::string pattern = name.str().str();
    if (mkdtemp(pattern.data())) // mode 0700
      path = pattern;
  }
  ~OwnCache() {
    if (!path.empty() && owner == getpid())
      llvm::sys::fs::remove_directories(path);
  }
  std::string path;

private:
  pid_t owner = getpid();
};

/// How a child ended.
struct Ending {
  int signal = 0, status = 0; // no signal: it exited
};
} // namespace

//===----------------------------------------------------------------------===//
// One attempt
//===----------------------------------------------------------------------===//

/// In the child, ahead of all else: nobody is left to listen when the parent has ended.
static void followParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
}

/// Listens until the child has ended. When this process is to end, so is the child.
static Ending listen(const Signals &signals, pid_t child, int pipe, Said &said) {
  constexpr int kPollMs = 10, kMostPollsOfKilled = 200;
  char buffer[4096];
  ssize_t count = 1;
  while (count != 0 && signals.await(pipe, -1)) {
    count = read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      break;
    said.take(StringRef(buffer, count < 0 ? 0 : size_t(count)));
  }
  int status = 0;
  bool isKilled = false;
  for (int polls = 0; waitpid(child, &status, WNOHANG) == 0;) {
    bool mustEnd = !signals.await(-1, kPollMs);
    if (mustEnd && !isKilled)
      kill(child, SIGKILL);
    isKilled |= mustEnd;
    // A process may hang in the driver even so; it ends alone.
    if (isKilled && ++polls > kMostPollsOfKilled)
      break;
  }
  if (caughtSignal)
    return {caughtSignal, 0};
  return WIFSIGNALED(status) ? Ending{WTERMSIG(status), 0} : Ending{0, WEXITSTATUS(status)};
}

/// Those that a process brings on itself.
static bool isCrash(int signal) {
  return llvm::is_contained({SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}, signal);
}

/// What was at fault, if the others are to be tried without it.
static std::optional<TunePlace> faultOf(const Said &said, const Ending &ending,
                                        llvm::ArrayRef<TunePlace> known) {
  if (said.another)
    return said.another;
  if (!said.launching || (ending.signal && !isCrash(ending.signal)))
    return std::nullopt;
  TunePlace fault = *said.launching;
  fault.reason =
      ending.signal
          ? llvm::formatv("the process was ended by signal {0}", ending.signal).str()
          : llvm::formatv("the process ended by itself with status {0}", ending.status).str();
  bool isKnown = llvm::any_of(known, [&](const TunePlace &old) { return old.isSameAs(fault); });
  return isKnown ? std::nullopt : std::optional(fault);
}

static void reportFault(const CompileOptions &options, const TuneOptions &tune,
                        const TunePlace &fault) {
  if (llvm::sys::Process::FileDescriptorIsDisplayed(STDERR_FILENO))
    llvm::errs() << "\r\033[K"; // the child's line of progress
  Object words;
  for (const auto &[name, value] : tune.shapes[size_t(fault.shape)])
    words[name] = value;
  printAlone(commandLineDiag<diag::TuneFault>("", fault.config, fault.kernel, shapeText(words),
                                              fault.reason),
             options.jsonDiagnostics, 0);
}

/// Attempts until one is the last. True in a child, with its status in `ending`.
static bool makeAttempts(const CompileOptions &options, TuneOptions tune,
                         llvm::function_ref<int(const TuneOptions &, TuneAttempt &)> body,
                         Ending &ending) {
  std::optional<Signals> signals(std::in_place); // to the end: the folder goes first
  OwnCache cache;
  if (tune.cache.empty()) {
    cache.make();
    tune.cache = cache.path;
    tune.isCacheOwn = true;
  }
  std::vector<TunePlace> faults;
  for (;;) {
    int ends[2];
    pid_t parent = getpid(), child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (child < 0) {
      std::string why = llvm::formatv("no process can be started: {0}", strerror(errno));
      ending.status = printAlone(commandLineDiag<diag::TuneFailed>("", options.input, why),
                                 options.jsonDiagnostics, 1);
      return false;
    }
    if (child == 0) {
      followParent(parent);
      signals.reset();
      close(ends[0]);
      TuneAttempt attempt(ends[1], faults);
      ending.status = body(tune, attempt);
      return true;
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK); // only `await` waits, where signals are seen
    Said said;
    ending = listen(*signals, child, ends[0], said);
    close(ends[0]);
    std::optional<TunePlace> fault;
    if (!caughtSignal)
      fault = faultOf(said, ending, faults);
    if (!fault)
      return false;
    reportFault(options, tune, *fault);
    faults.push_back(*fault);
  }
}

int tk::runAttempts(const CompileOptions &options, const TuneOptions &tune,
                    llvm::function_ref<int(const TuneOptions &, TuneAttempt &)> body) {
  Ending ending;
  bool isChild = makeAttempts(options, tune, body, ending);
  if (!isChild && ending.signal) { // end as the child did
    signal(ending.signal, SIG_DFL);
    raise(ending.signal);
  }
  return ending.status;
}
