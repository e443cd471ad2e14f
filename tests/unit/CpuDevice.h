//===- CpuDevice.h - libtkccpu as the loader sees it ------------------------------===//
//
// Opens the library, compiles .tk text to an image of stage `tk`, and launches it over memory of
// the test's own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "driver/Compile.h"
#include "ir/tk/TkDialect.h"
#include "tkc/cpu.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <dlfcn.h>

namespace tk::cpu::test {

inline const tkc_cpu_api &api() {
  static const tkc_cpu_api *table = [] {
    void *library = dlopen(TKC_CPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    INFO((library ? "" : dlerror()));
    REQUIRE(library);
    auto get = reinterpret_cast<decltype(&tkc_cpu_api_v1)>(dlsym(library, "tkc_cpu_api_v1"));
    REQUIRE(get);
    return get();
  }();
  return *table;
}

/// An image as a bundle has it, and the symbol of its one kernel.
struct Image {
  std::string text, symbol;

  /// Of `k.tk`, whose places the image keeps.
  static Image of(const std::string &source) {
    auto context = createContext();
    std::string said;
    context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diag) { said += diag.str(); });
    int status = 0;
    auto module = compileToTk({}, {"k.tk", source}, *context, status);
    INFO(said);
    REQUIRE(module);
    Image image;
    llvm::raw_string_ostream os(image.text);
    module->print(os, mlir::OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
    image.symbol = (*module->getOps<KernelOp>().begin()).getSymName().str();
    return image;
  }
};

/// The parameter buffer.
class Params {
public:
  template <class T> Params &scalar(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto *from = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
    return *this;
  }
  Params &pointer(const void *address, uint64_t span) {
    return scalar(reinterpret_cast<uint64_t>(address)).scalar(span);
  }
  Params &tensor(const void *address, std::vector<int64_t> extents, std::vector<int64_t> strides) {
    scalar(reinterpret_cast<uint64_t>(address));
    for (const std::vector<int64_t> &list : {extents, strides})
      for (int64_t value : list)
        scalar(value);
    return *this;
  }
  template <class T> Params &vector(std::vector<T> &values) {
    return tensor(values.data(), {int64_t(values.size())}, {1});
  }
  std::vector<uint8_t> bytes;
};

class Loaded {
public:
  explicit Loaded(const Image &image) {
    char text[512] = "";
    status = api().load(image.text.data(), image.text.size(), image.symbol.c_str(), &program, text,
                        sizeof text);
    said = text;
  }
  explicit Loaded(const std::string &source) : Loaded(Image::of(source)) {
    INFO(said);
    REQUIRE(status == TKC_CPU_OK);
    REQUIRE(program);
  }
  ~Loaded() { api().unload(program); }
  Loaded(const Loaded &) = delete;

  int32_t launch(uint32_t x, const Params &params, std::string *reason = nullptr,
                 uint32_t y = 1) const {
    char text[1024] = "";
    const uint32_t grid[3] = {x, y, 1};
    const int32_t result =
        api().launch(program, grid, params.bytes.data(), params.bytes.size(), text, sizeof text);
    if (reason)
      *reason = text;
    return result;
  }

  tkc_cpu_program *program = nullptr;
  int32_t status = 0;
  std::string said;
};

} // namespace tk::cpu::test
