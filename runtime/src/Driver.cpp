//===- Driver.cpp - opening and releasing a driver -------------------------===//
#include "Driver.h"

#include "Error.h"

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tkcrt {

/// Errors that stick to a context once a kernel or the hardware has failed; any later call may
/// return one. Numbers from the CUDA 13.0 driver API; HIP has the same for those it has.
static bool isLeftBehind(CUresult result) {
  switch (result) {
  case 214: // ECC_UNCORRECTABLE
  case 220: // NVLINK_UNCORRECTABLE
  case 226: // CONTAINED
  case 700: // ILLEGAL_ADDRESS
  case 702: // LAUNCH_TIMEOUT
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 716: // MISALIGNED_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
  case 718: // INVALID_PC
  case 719: // LAUNCH_FAILED
  case 721: // TENSOR_MEMORY_LEAK
    return true;
  default:
    return false;
  }
}

tkc_status failDriver(const Gpu &gpu, CUresult result, const char *what, const char *call,
                      tkc_error *err) {
  const char *name = nullptr, *text = nullptr;
  if (gpu.getErrorName)
    gpu.getErrorName(result, &name);
  if (gpu.getErrorString)
    gpu.getErrorString(result, &text);
  bool isEarlier = isLeftBehind(result);
  bool isResource = result == kCudaLaunchOutOfResources || result == kCudaCooperativeTooLarge;
  tkc_status status = isResource ? TKC_E_RESOURCES : TKC_E_DRIVER;
  fail(err, status, "%s: %s: %s (%d%s%s)%s", what, call, name ? name : "unknown error", result,
       text ? ", " : "", text ? text : "",
       isEarlier ? "; earlier work on the device failed, not this call" : "");
  addDriverCode(err, result, isEarlier);
  return status;
}

/// A number of this process: another in a child, however that was made. Its page becomes zeros
/// there, which costs nothing where it is asked; asking for the process's id at each launch would
/// be a call of the kernel. nullptr: no memory.
static std::atomic<unsigned> *processMark() {
  using Mark = std::atomic<unsigned>;
  static Mark *const mark = []() -> Mark * {
    size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      return nullptr;
    madvise(page, bytes, MADV_WIPEONFORK); // before Linux 4.14 the handler alone zeroes it
    static Mark *made;
    made = new (page) Mark(0);
    return pthread_atfork(nullptr, nullptr, [] { *made = 0; }) ? nullptr : made;
  }();
  static Mark last{0}; // a child goes on counting
  if (unsigned none = 0; mark && *mark == 0)
    mark->compare_exchange_strong(none, ++last);
  return mark;
}

tkc_status checkProcess(const tkc_driver &driver, tkc_error *err) {
  if (!driver.isForked())
    return TKC_OK;
  return fail(err, TKC_E_DRIVER,
              "the driver was opened by process %d before a fork, this is %d: open it again "
              "after exec; %s does not survive a fork",
              static_cast<int>(driver.pid), static_cast<int>(getpid()), driver.backendName());
}

void logLine(const tkc_driver &driver, int level, const char *format, ...) {
  if (!driver.hooks.log)
    return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  driver.hooks.log(driver.hooks.user, level, text);
}

static tkc_status checkDescriptor(const tkc_driver_desc &desc, tkc_error *err) {
  if (tkc_status status = checkSize(&desc, sizeof(desc), "tkc_driver_desc", err))
    return status;
  if (desc.backend > TKC_CPU)
    return fail(err, TKC_E_ARG,
                "tkc_driver_desc.backend is %u, needed TKC_CUDA, TKC_HIP or TKC_CPU", desc.backend);
  if (!desc.alloc != !desc.free)
    return fail(err, TKC_E_ARG, "tkc_driver_desc: alloc and free go together; %s is NULL",
                desc.alloc ? "free" : "alloc");
  if (desc.flags)
    return fail(err, TKC_E_ARG, "tkc_driver_desc.flags is %#x, needed 0", desc.flags);
  return TKC_OK;
}

static tkc_status openDriver(const tkc_driver_desc &desc, tkc_driver &driver, tkc_error *err) {
  driver.backend = desc.backend ? desc.backend : static_cast<uint32_t>(TKC_CUDA);
  driver.hooks = desc;
  driver.pid = getpid();
  driver.mark = processMark();
  if (!driver.mark)
    return fail(err, TKC_E_NOMEM, "tkc_driver_open: out of memory");
  driver.process = *driver.mark;
  if (tkc_status status = findFunctions(desc, driver, err))
    return status;
  if (driver.isCpu())
    return TKC_OK;
  if (CUresult result = driver.gpu.init(0))
    return failDriver(driver.gpu, result, "driver", driver.isHip() ? "hipInit" : "cuInit", err);
  if (CUresult result = driver.gpu.driverGetVersion(&driver.version))
    return failDriver(driver.gpu, result, "driver", "cuDriverGetVersion", err);
  return TKC_OK;
}

} // namespace tkcrt

using namespace tkcrt;

bool tkc_driver::isForked() const {
  return !isCpu() && process != mark->load(std::memory_order_relaxed);
}

const char *tkc_driver::backendName() const {
  return isHip() ? "HIP" : isCpu() ? "CPU" : "CUDA";
}

tkc_status tkc_driver_open(const tkc_driver_desc *desc, tkc_driver **out, tkc_error *err) {
  if (!out)
    return fail(err, TKC_E_ARG, "tkc_driver_open: the tkc_driver ** is NULL");
  *out = nullptr;
  if (desc)
    if (tkc_status status = checkDescriptor(*desc, err))
      return status;
  std::unique_ptr<tkc_driver> driver(new (std::nothrow) tkc_driver);
  if (!driver)
    return fail(err, TKC_E_NOMEM, "tkc_driver_open: out of memory");
  if (tkc_status status = openDriver(desc ? *desc : tkc_driver_desc{}, *driver, err))
    return status;
  *out = driver.release();
  return succeed(err);
}

void tkc_driver_release(tkc_driver *driver) {
  if (driver && --driver->references == 0)
    delete driver;
}
