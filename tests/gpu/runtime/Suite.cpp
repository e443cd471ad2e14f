//===- Suite.cpp - running checks, opening files ----------------------------===//
#include "Suite.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace suite {

static std::string formatted(const char *format, va_list args) {
  char buffer[2048];
  vsnprintf(buffer, sizeof(buffer), format, args);
  return buffer;
}

std::string text(const char *format, ...) {
  va_list args;
  va_start(args, format);
  std::string made = formatted(format, args);
  va_end(args);
  return made;
}

void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  Failure failure{formatted(format, args)};
  va_end(args);
  throw failure;
}

void need(const tkc::status &status) {
  if (!status)
    fail("%s: %s", status.name(), status.text());
}

std::string refusal(const tkc::status &status, tkc_status wanted, const char *word) {
  if (status.code() != wanted)
    fail("%s (%s), expected %s", status.name(), status.text(), tkc_status_name(wanted));
  if (!strstr(status.text(), word))
    fail("the text lacks \"%s\": %s", word, status.text());
  return text("%s: %s", status.name(), status.text());
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("%s can't be read", path.c_str());
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void Suite::check(const char *name, unsigned where, const std::function<std::string()> &body) {
  if (!only.empty() && !strstr(name, only.c_str()))
    return;
  if (listOnly) {
    printf("%s\n", name);
    return;
  }
  if (!(where & device)) {
    ++skipped;
    printf("skipped %s: not on this kind of device\n", name);
    return;
  }
  try {
    std::string figures = body();
    ++passed;
    printf("passed  %s%s%s\n", name, figures.empty() ? "" : ": ", figures.c_str());
  } catch (const Failure &failure) {
    ++failed;
    printf("FAILED  %s: %s\n", name, failure.text.c_str());
  }
  fflush(stdout);
}

tkc::result<tkc::bundle> Suite::open(const tkc::driver &driver, const std::string &name) const {
  if (name.find(".tkb") != std::string::npos) {
    std::string data = readFile(path(name));
    return tkc::bundle::open(driver, {data.data(), data.size()});
  }
  std::string image = readFile(path(name + ".image")), json = readFile(path(name + ".json"));
  tkc::bundle_options options;
  options.json = {json.data(), json.size()};
  return tkc::bundle::open(driver, {image.data(), image.size()}, options);
}

Stream::Stream(const Suite &suite) {
  if (suite.device == OnCuda)
    SUITE_CALL(cuStreamCreate, &handle, 1); // CU_STREAM_NON_BLOCKING
}

Stream::~Stream() {
  if (handle)
    cuda.cuStreamDestroy_v2(handle);
}

void Stream::wait() const {
  if (handle)
    SUITE_CALL(cuStreamSynchronize, handle);
}

} // namespace suite
