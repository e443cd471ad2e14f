//===- Devices.cpp - several contexts, several devices ----------------------===//
#include "Jobs.h"

namespace suite {

namespace {
/// Makes a context current, and the one before it again.
class Current {
public:
  explicit Current(void *context) {
    SUITE_CALL(cuCtxGetCurrent, &before);
    SUITE_CALL(cuCtxSetCurrent, context);
  }
  ~Current() { cuda.cuCtxSetCurrent(before); }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  void *before = nullptr;
};
} // namespace

/// The kernel in the current context, with memory and a stream of it; the caller's stays current.
static void runHere(const Suite &suite, const tkc::bundle &bundle,
                    const tkc::prepare_options &options) {
  void *before = nullptr, *after = nullptr;
  SUITE_CALL(cuCtxGetCurrent, &before);
  tkc::kernel add = need(tkc::kernel::prepare(bundle, "add", options));
  SUITE_CALL(cuCtxGetCurrent, &after);
  if (before != after)
    fail("prepare left another context current");
  AddJob job(add, 3000);
  Stream stream(suite);
  job.fill(2999, 5);
  need(job.launch(stream));
  stream.wait();
  job.verify();
}

static std::string twoContexts(const Suite &suite) {
  Opened opened(suite);
  tkc::kernel first = opened.prepare("add");
  AddJob job(first, 3000);
  void *own = nullptr, *primary = nullptr;
  SUITE_CALL(cuCtxGetCurrent, &primary);
  SUITE_CALL(cuCtxCreate_v2, &own, 0, 0);
  SUITE_CALL(cuCtxSetCurrent, primary);
  {
    Current current(own);
    tkc::prepare_options options;
    options.context = own;
    runHere(suite, opened.bundle, options);
  }
  Stream stream(suite);
  job.fill(3000, 6);
  need(job.launch(stream));
  stream.wait();
  job.verify();
  SUITE_CALL(cuCtxDestroy_v2, own);
  SUITE_CALL(cuCtxSetCurrent, primary);
  return "the primary one and one of our own";
}

static std::string allDevices(const Suite &suite) {
  int count = 0;
  SUITE_CALL(cuDeviceGetCount, &count);
  Opened opened(suite);
  for (int device = 0; device < count; ++device) {
    void *context = nullptr;
    SUITE_CALL(cuDevicePrimaryCtxRetain, &context, device);
    {
      Current current(context);
      tkc::prepare_options options;
      options.device = device;
      runHere(suite, opened.bundle, options);
    }
    SUITE_CALL(cuDevicePrimaryCtxRelease_v2, device);
  }
  return text("%d", count);
}

void addDevices(Suite &suite) {
  suite.check("two contexts", OnCuda, [&] { return twoContexts(suite); });
  suite.check("one bundle on all devices", OnCuda, [&] { return allDevices(suite); });
}

/// A kernel that stops itself: the next calls say that earlier work failed, and what is released
/// afterwards does no harm.
static std::string earlierFailure(const Suite &suite) {
  Opened opened(suite, "asserts.tkb");
  tkc::kernel broken = opened.prepare("broken");
  Array<float> x(64), y(64);
  auto launch = [&] {
    return broken.launch(nullptr, {}, tkc::read(tkc::tensor(x.data(), {64})),
                         tkc::write(tkc::tensor(y.data(), {64})), tkc::value(int64_t(10)));
  };
  if (suite.device == OnCpu)
    return refusal(launch(), TKC_E_KERNEL, "beyond the limit");
  need(launch());
  if (!cuda.cuCtxSynchronize())
    fail("the driver does not say that the kernel failed");
  tkc::status next = launch();
  std::string said = refusal(next, TKC_E_DRIVER, "earlier work");
  if (!next.is_earlier() || !next.driver_code())
    fail("is_earlier is %d, driver_code %d", next.is_earlier(), next.driver_code());
  return said;
}

void addBroken(Suite &suite) {
  suite.check("failure of earlier work", OnResults, [&] { return earlierFailure(suite); });
}

} // namespace suite
