//===- Refusals.cpp - the errors that are promised, on this driver ----------===//
#include "Jobs.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace suite {

constexpr size_t kCount = 4096;

namespace {
/// `add` with three arrays, whose launches are to be refused.
struct AddCalls {
  Opened opened;
  tkc::kernel kernel;
  Array<float> x{kCount}, y{kCount}, z{kCount};

  explicit AddCalls(const Suite &suite) : opened(suite), kernel(opened.prepare("add")) {}

  template <class X, class Y, class Z>
  tkc::status launch(const X &a, const Y &b, const Z &c, const tkc::options &options = {}) const {
    return kernel.launch(nullptr, options, tkc::read(a), tkc::read(b), tkc::write(c));
  }
  tkc::tensor<float, 1> of(const Array<float> &array, int64_t count = kCount) const {
    return tkc::tensor(array.data(), {count});
  }
};

/// A file that must be refused when it is opened or prepared.
struct BadFile {
  const char *what, *file, *kernel;
  unsigned where;
  tkc_status status;
  const char *word;
};
} // namespace

/// Where the resolver of a driver with faults takes the functions that it does not fake.
static tkc_driver_desc realDriver;

static void *findReal(const char *symbol) {
  return realDriver.resolve ? realDriver.resolve(realDriver.user, symbol) : cuda.find(symbol);
}

static int oldVersion(int *version) {
  *version = 11080;
  return 0;
}

static void *resolveOld(void *, const char *symbol) {
  return strcmp(symbol, "cuDriverGetVersion") == 0 ? reinterpret_cast<void *>(oldVersion)
                                                   : findReal(symbol);
}

static void *resolveWithoutLaunch(void *, const char *symbol) {
  return strcmp(symbol, "cuLaunchKernel") == 0 ? nullptr : findReal(symbol);
}

static std::string refusedDriver(const Suite &suite, void *(*resolve)(void *, const char *),
                                 const char *word) {
  realDriver = suite.desc;
  tkc_driver_desc desc = suite.desc;
  desc.resolve = resolve;
  return refusal(tkc::driver::open(desc).error(), TKC_E_DRIVER_OLD, word);
}

static std::string refusedFile(const Suite &suite, const BadFile &bad) {
  tkc::driver driver = need(tkc::driver::open(suite.desc));
  auto bundle = suite.open(driver, bad.file);
  if (!bundle)
    return "open: " + refusal(bundle.error(), bad.status, bad.word);
  return "prepare: " +
         refusal(tkc::kernel::prepare(*bundle, bad.kernel).error(), bad.status, bad.word);
}

static void addFiles(Suite &suite) {
  static const BadFile files[] = {
      {"wrong chip, older", "sm_80.tkb", "add", OnDriver, TKC_E_DEVICE, "sm_80"},
      {"wrong chip, newer", "sm_120a.tkb", "add", OnDriver, TKC_E_DEVICE, "sm_120a"},
      {"code of another chip under this one's name", "old-chip", "add", OnCuda, TKC_E_DRIVER,
       "`add`: cu"},
      {"half an image", "half-image", "add", OnDriver, TKC_E_CORRUPT, "cut off"},
      {"PTX that is none", "bad-ptx", "places", OnCuda, TKC_E_DRIVER, "PTX"},
      {"image of another kernel", "other-image", "add", OnAll, TKC_E_DIGEST, "the image has"},
      {"image without the symbol", "no-symbol", "add", OnCuda, TKC_E_CORRUPT, "no symbol"},
      {"code with other parameters", "other-params", "add", OnCuda, TKC_E_ABI,
       "not of one compile"},
      {"more threads than the device has", "more-threads", "add", OnDriver, TKC_E_CORRUPT,
       "found 2048, needed 1 to 1024"},
      {"more shared memory than the device has", "more-shared", "add", OnDriver, TKC_E_RESOURCES,
       "shared memory"},
      {"newer driver needed", "newer-driver", "add", OnDriver, TKC_E_DRIVER_OLD, "99000"},
      {"unknown feature", "unknown-feature", "add", OnAll, TKC_E_NEEDS_FEATURE, "tea.1"},
      {"changed byte of the description", "bad-json.tkb", "add", OnAll, TKC_E_DIGEST, "SHA-256"},
      {"changed byte of an image", "bad-image", "add", OnAll, TKC_E_DIGEST, "SHA-256"},
      {"changed byte of a compressed image", "bad-frame.tkb", "add", OnDriver, TKC_E_CORRUPT,
       "zstd"},
      {"no such kernel", "kernels.tkb", "tea", OnAll, TKC_E_ARG, "tea"},
      {"several instances", "instances.tkb", "add", OnAll, TKC_E_AMBIGUOUS, "add"}};
  for (const BadFile &bad : files)
    suite.check(bad.what, bad.where, [&] { return refusedFile(suite, bad); });
}

static void addArguments(Suite &suite) {
  auto refused = [&](const char *what, tkc_status wanted, const char *word, auto launch) {
    suite.check(what, OnAll, [&] { return refusal(launch(AddCalls(suite)), wanted, word); });
  };
  refused("wrong dtype", TKC_E_DTYPE, "`y`", [](const AddCalls &c) {
    tkc::tensor<int, 1> wrong(reinterpret_cast<int *>(c.y.data()), {kCount});
    return c.launch(c.of(c.x), wrong, c.of(c.z));
  });
  refused("wrong extent", TKC_E_EXTENT, "`z`",
          [](const AddCalls &c) { return c.launch(c.of(c.x), c.of(c.y), c.of(c.z, kCount - 1)); });
  refused("wrong rank", TKC_E_EXTENT, "rank 2", [](const AddCalls &c) {
    return c.launch(tkc::tensor(c.x.data(), {64, 64}), c.of(c.y), c.of(c.z));
  });
  refused("wrong stride", TKC_E_EXTENT, "stride", [](const AddCalls &c) {
    return c.launch(tkc::tensor(c.x.data(), {kCount / 2}, {2}), c.of(c.y, kCount / 2),
                    c.of(c.z, kCount / 2));
  });
  refused("span that is too short", TKC_E_EXTENT, "`x`", [](const AddCalls &c) {
    tkc::tensor<float, 1> x = c.of(c.x);
    x.span_bytes = 4 * kCount - 1;
    return c.launch(x, c.of(c.y), c.of(c.z));
  });
  refused("pointer off by a byte", TKC_E_ALIGN, "`x`", [](const AddCalls &c) {
    auto *odd = reinterpret_cast<float *>(reinterpret_cast<char *>(c.x.data()) + 1);
    return c.launch(tkc::tensor(odd, {kCount - 1}), c.of(c.y, kCount - 1), c.of(c.z, kCount - 1));
  });
  refused("null pointer", TKC_E_ARG, "`x`", [](const AddCalls &c) {
    return c.launch(tkc::tensor(static_cast<float *>(nullptr), {kCount}), c.of(c.y), c.of(c.z));
  });
  refused("overlapping buffers", TKC_E_OVERLAP, "`z`", [](const AddCalls &c) {
    return c.launch(c.of(c.x, kCount / 2), c.of(c.y, kCount / 2),
                    tkc::tensor(c.x.data() + kCount / 2 - 1, {kCount / 2}));
  });
  refused("variant that is not there", TKC_E_NO_VARIANT, "variant", [](const AddCalls &c) {
    tkc::options options;
    options.variant = 77;
    return c.launch(c.of(c.x), c.of(c.y), c.of(c.z), options);
  });
}

static std::string noWait(const Suite &suite) {
  AddCalls calls(suite);
  tkc::options options;
  options.pdl = true;
  return refusal(calls.launch(calls.of(calls.x), calls.of(calls.y), calls.of(calls.z), options),
                 TKC_E_UNSUPPORTED, "does not wait");
}

static std::string tooManyBlocks(const Suite &suite) {
  AddCalls calls(suite);
  Array<float> big[] = {Array<float>(1 << 24), Array<float>(1 << 24), Array<float>(1 << 24)};
  tkc::options options;
  options.cooperative = true;
  return refusal(calls.launch(calls.of(big[0], 1 << 24), calls.of(big[1], 1 << 24),
                              calls.of(big[2], 1 << 24), options),
                 TKC_E_RESOURCES, "at once");
}

static std::string falseRequirement(const Suite &suite) {
  AddCalls calls(suite);
  tkc::kernel sums = calls.opened.prepare("row_sums");
  return refusal(sums.launch(nullptr, {}, tkc::read(tkc::tensor(calls.x.data(), {4, 257})),
                             tkc::write(tkc::tensor(calls.y.data(), {4}))),
                 TKC_E_REQUIRE, "BLOCK >= N");
}

static std::string smallWorkspace(const Suite &suite) {
  AddCalls calls(suite);
  tkc::kernel total = calls.opened.prepare("total");
  Workspace workspace(256);
  return refusal(total.launch(nullptr, workspace.options(), tkc::read(calls.of(calls.x)),
                              tkc::write(tkc::tensor(calls.y.data(), {1})), tkc::absent(),
                              tkc::absent()),
                 TKC_E_WORKSPACE, "256");
}

/// A child of fork gets no use of its parent's driver, and says so.
static std::string forked(const Suite &suite) {
  AddCalls calls(suite);
  int pipes[2];
  if (pipe(pipes))
    fail("pipe failed");
  pid_t child = fork();
  if (child == 0) {
    tkc::status status = tkc::kernel::prepare(calls.opened.bundle, "scale").error();
    tkc_error error = *status.get();
    ssize_t written = write(pipes[1], &error, sizeof(error));
    _exit(written == sizeof(error) ? 0 : 1);
  }
  tkc_error error{};
  close(pipes[1]);
  ssize_t got = read(pipes[0], &error, sizeof(error));
  close(pipes[0]);
  waitpid(child, nullptr, 0);
  if (got != sizeof(error))
    fail("the child said nothing");
  return refusal(tkc::status::failure(error.status, error.text), TKC_E_DRIVER, "fork");
}

static std::string noDevice(const Suite &suite) {
  AddCalls calls(suite);
  tkc::prepare_options options;
  options.device = 77;
  return refusal(tkc::kernel::prepare(calls.opened.bundle, "add", options).error(), TKC_E_DEVICE,
                 "77");
}

static std::string noJit(const Suite &suite) {
  Opened opened(suite, "ptx.tkb");
  tkc::prepare_options options;
  options.jit = false;
  return refusal(tkc::kernel::prepare(opened.bundle, "add", options).error(), TKC_E_DEVICE, "PTX");
}

void addRefusals(Suite &suite) {
  addArguments(suite);
  addFiles(suite);
  suite.check("old driver", OnDriver,
              [&] { return refusedDriver(suite, resolveOld, "11.8, needed 12.0"); });
  suite.check("driver without a function", OnDriver,
              [&] { return refusedDriver(suite, resolveWithoutLaunch, "cuLaunchKernel"); });
  suite.check("false requirement", OnAll, [&] { return falseRequirement(suite); });
  suite.check("workspace that is too small", OnAll, [&] { return smallWorkspace(suite); });
  suite.check("early start of code that does not wait", OnDriver, [&] { return noWait(suite); });
  suite.check("cooperative launch of too many blocks", OnDriver,
              [&] { return tooManyBlocks(suite); });
  suite.check("device that is not there", OnDriver, [&] { return noDevice(suite); });
  suite.check("PTX where it is not wanted", OnDriver, [&] { return noJit(suite); });
  suite.check("prepare after a fork", OnDriver, [&] { return forked(suite); });
}

} // namespace suite
