//===- Crash.cpp - when LLVM or MLIR gives up, tkc does not --------------------===//

#include "driver/Crash.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <vector>

using namespace tk;

static thread_local const char *activity = "starting";
static thread_local char fatalReason[512];

void tk::setActivity(const char *what) { activity = what; }

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

static void moveHandlersToOwnStack() {
  for (int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0) {
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }
}

CrashReport tk::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onFatalError);
    llvm::CrashRecoveryContext::Enable();
    moveHandlersToOwnStack();
  });
  static thread_local HandlerStack handlerStack;
  (void)handlerStack;
  fatalReason[0] = '\0';
  llvm::CrashRecoveryContext context;
  if (context.RunSafely(work))
    return {};
  CrashReport report{true, activity, fatalReason};
  int signal = context.RetCode - 128; // as a shell has it
  if (report.reason.empty() && signal > 0 && signal < NSIG)
    report.reason = strsignal(signal);
  return report;
}

/// Calls itself through a volatile pointer, so that no compiler makes a loop of it.
static int overflowStack(int depth) {
  static int (*volatile again)(int) = overflowStack;
  volatile char space[4096];
  space[0] = char(depth);
  return again(depth + 1) + space[0];
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
}
