//===- Crash.cpp - when LLVM or MLIR gives up, tkc does not --------------------===//

#include "driver/Crash.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace tk;

static thread_local const char *activity = "starting";
static thread_local char fatalReason[512];

void tk::setActivity(const char *what) { activity = what; }

//===----------------------------------------------------------------------===//
// A report that can't hang
//===----------------------------------------------------------------------===//

static constexpr unsigned kReportSeconds = 5;
/// What the report says around the activity, made beforehand.
static char reportHead[256], reportTail[16384];
static std::atomic<const char *> crashedActivity{nullptr};
static std::atomic<int> crashedThreads{0}; // for which the clock runs
static thread_local bool hasCrashed = false;

static void keep(llvm::StringRef text, llvm::MutableArrayRef<char> to) {
  text = text.take_front(to.size() - 1);
  memcpy(to.data(), text.data(), text.size());
}

void tk::setReproduction(llvm::StringRef command, bool asJson) {
  static std::once_flag kept;
  constexpr size_t kMaxBytes = 2048; // as JSON six times as many
  std::call_once(kept, [&] {
    std::string note = "to reproduce: " + llvm::json::fixUTF8(command.take_front(kMaxBytes));
    std::string head = "LLVM crashed while ",
                help = "please report this with the input file; nothing was written", tail;
    llvm::raw_string_ostream os(tail);
    if (asJson) {
      head = R"({"code":"TK9003","severity":"error","message":")" + head;
      os << R"(","notes":[{"message":)" << llvm::json::Value(note) << R"(}],"help":[)"
         << llvm::json::Value(help) << R"(],"fix":[]})" << '\n';
    } else {
      head = "tkc: error: TK9003: " + head;
      os << "\ntkc: note: " << note << "\nhelp: " << help << '\n';
    }
    keep(head, reportHead);
    keep(tail, reportTail);
  });
}

/// In a handler: nothing but what is safe there.
static void endReport(int) {
  for (const char *text :
       std::initializer_list<const char *>{reportHead, crashedActivity.load(), reportTail})
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
      break;
  _exit(3);
}

/// Also called in handlers. The activity is this thread's, the alarm may come on another.
static void startClock() {
  const char *none = nullptr;
  crashedActivity.compare_exchange_strong(none, activity);
  if (!hasCrashed)
    ++crashedThreads;
  hasCrashed = true;
  struct sigaction action = {};
  action.sa_handler = endReport;
  sigaction(SIGALRM, &action, nullptr);
  alarm(kReportSeconds);
}

/// The crash is over: tuning goes on with other configurations.
static void stopClock() {
  hasCrashed = false;
  if (--crashedThreads)
    return;
  crashedActivity = nullptr;
  alarm(0);
}

void tk::limitReport() { startClock(); }

/// What LLVM does on a signal.
static struct sigaction llvmActions[NSIG];

static void onSignal(int signal, siginfo_t *info, void *context) {
  startClock();
  const struct sigaction &action = llvmActions[signal];
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

/// LLVM's report_fatal_error ends here instead of in exit(1).
static void onFatalError(void *, const char *reason, bool) {
  strncpy(fatalReason, reason, sizeof fatalReason - 1);
  if (auto *context = llvm::CrashRecoveryContext::GetCurrent())
    context->HandleExit(3);
  abort();
}

namespace {
/// A stack of a thread for its handlers: they would run on the one that overflowed.
struct HandlerStack {
  static constexpr size_t kBytes = size_t(256) << 10;
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  HandlerStack() { set(0); }
  ~HandlerStack() {
    set(SS_DISABLE);
    if (memory != MAP_FAILED)
      munmap(memory, kBytes);
  }
  void set(int flags) {
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = kBytes;
    stack.ss_flags = flags;
    if (memory != MAP_FAILED)
      sigaltstack(&stack, nullptr);
  }
};
} // namespace

/// Puts our handler before LLVM's, on a stack of its own.
static void wrapHandlers() {
  for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) {
    struct sigaction &action = llvmActions[signal];
    bool isKnown = sigaction(signal, nullptr, &action) == 0;
    if (!isKnown || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
      continue;
    struct sigaction ours = action;
    ours.sa_sigaction = onSignal;
    ours.sa_flags |= SA_ONSTACK | SA_SIGINFO;
    sigaction(signal, &ours, nullptr);
  }
}

/// Asks the allocator for more than a thread keeps for itself: one whose lock is held hangs here,
/// where the clock runs, and not later.
static void tryAllocator() {
  constexpr size_t bytes = size_t(64) << 10; // still from the heap
  void *volatile memory = malloc(bytes);
  free(memory);
}

CrashReport tk::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onFatalError);
    llvm::CrashRecoveryContext::Enable();
    wrapHandlers();
  });
  static thread_local HandlerStack handlerStack;
  (void)handlerStack;
  fatalReason[0] = '\0';
  llvm::CrashRecoveryContext context;
  if (context.RunSafely(work))
    return {};
  startClock(); // LLVM's fatal errors come without a signal
  tryAllocator();
  CrashReport report{true, activity, fatalReason};
  int signal = context.RetCode - 128; // as a shell has it
  if (report.reason.empty() && signal > 0 && signal < NSIG)
    report.reason = strsignal(signal);
  stopClock();
  return report;
}

/// Calls itself through a volatile pointer, so that no compiler makes a loop of it.
static int overflowStack(int depth) {
  static int (*volatile again)(int) = overflowStack;
  volatile char space[4096];
  space[0] = char(depth);
  return again(depth + 1) + space[0];
}

/// Runs out of stack as deep as calls go here: within the allocator, whose lock stays locked.
static int overflowInMalloc(int depth) {
  static int (*volatile again)(int) = overflowInMalloc;
  constexpr size_t bytes = 3000; // more than what each thread keeps for itself
  void *volatile memory = malloc(bytes);
  return again(depth + 1) + (memory != nullptr);
}

void tk::crashOnPurpose(llvm::StringRef kind) {
  if (kind == "segv")
    raise(SIGSEGV);
  if (kind == "abort")
    abort();
  if (kind == "fatal")
    llvm::report_fatal_error("crash on purpose");
  if (kind == "stack")
    overflowStack(0);
  if (kind == "malloc")
    overflowInMalloc(0);
  if (kind == "stuck") // a report that is never made
    for (limitReport();;)
      pause();
}
