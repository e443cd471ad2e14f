//===- Api.cpp - the table that the loader calls ----------------------------------===//
//
// Nothing gets past these functions: neither an exception, nor one of LLVM's ways to end the
// process, which are made exceptions here. What such a one leaves behind is not destroyed but
// forgotten. The LLVM in this library is its own, so that its handlers are nobody else's.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Messages.h"
#include "backends/cpu/Program.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/thread.h"
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>

using namespace tk::cpu;

/// As deep as a stage file may nest, the reader recurses; the caller's stack may be small.
static constexpr unsigned kReaderStackBytes = 8u << 20;

static void installHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { throw std::runtime_error(reason); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { throw std::bad_alloc(); });
  });
}

/// Runs `work`, which gives a status; says why when it was thrown out of.
template <class Work> static int32_t guarded(std::string &problem, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    problem = "out of memory";
    return TKC_CPU_E_NOMEM;
  } catch (const std::exception &error) {
    problem = error.what();
    return TKC_CPU_E_INTERNAL;
  }
}

static int32_t load(const void *image, size_t bytes, const char *symbol, tkc_cpu_program **program,
                    char *text, size_t room) {
  std::string problem;
  std::unique_ptr<tkc_cpu_program> made;
  int32_t status = TKC_CPU_OK;
  auto read = [&] {
    llvm::StringRef words(static_cast<const char *>(image), bytes);
    status = guarded(problem, [&] { return loadProgram(words, symbol, made, problem); });
  };
  const int32_t started = guarded(problem, [&] {
    installHandlers();
    llvm::thread(std::optional<unsigned>(kReaderStackBytes), read).join();
    return TKC_CPU_OK;
  });
  if (started != TKC_CPU_OK)
    status = started;
  if (status != TKC_CPU_OK)
    writeText(problem, text, room);
  *program = made.release();
  return status;
}

static int32_t launch(const tkc_cpu_program *program, const uint32_t grid[3], const void *params,
                      size_t bytes, char *text, size_t room) {
  std::string problem;
  const int32_t status = guarded(problem, [&] {
    const uint32_t sides[3] = {grid[0], grid[1], grid[2]};
    llvm::ArrayRef<uint8_t> values(static_cast<const uint8_t *>(params), bytes);
    return launchProgram(*program, sides, values, problem);
  });
  if (status != TKC_CPU_OK)
    writeText(problem, text, room);
  return status;
}

static void unload(tkc_cpu_program *program) {
  delete program;
}

extern "C" const tkc_cpu_api *tkc_cpu_api_v1() {
  static constexpr tkc_cpu_api api = {sizeof(tkc_cpu_api), TKC_CPU_VERSION, load, launch, unload};
  return &api;
}
