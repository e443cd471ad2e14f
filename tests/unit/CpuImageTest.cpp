//===- CpuImageTest.cpp - images and calls that the CPU device refuses ----------===//

#include "tests/unit/CpuDevice.h"

using namespace tk::cpu::test;

static const char *const kSet = R"(
kernel set(out y: f32[N], s: f32) @grid(cdiv(N, 16)) {
    y[program_id(0) * 16 +: 16] = full(s, 16)
})";

static void checkRefused(const Image &image, int32_t status, const std::string &reason) {
  Loaded loaded(image);
  INFO(loaded.said);
  CHECK(loaded.status == status);
  CHECK(loaded.program == nullptr);
  CHECK(loaded.said.find(reason) != std::string::npos);
}

TEST_CASE("the table says what it is, and shows nothing else of the library", "[cpu]") {
  CHECK(api().size == sizeof(tkc_cpu_api));
  CHECK(api().version == TKC_CPU_VERSION);
  void *library = dlopen(TKC_CPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  CHECK(dlsym(library, "_ZN4llvm4errsEv") == nullptr);
  dlclose(library);
  api().unload(nullptr);
}

TEST_CASE("what is no image of the kernel is refused with the reason", "[cpu]") {
  const Image good = Image::of(kSet);
  checkRefused({"", "set"}, TKC_CPU_E_IMAGE, "TK3019: the module does not say its phase");
  checkRefused({"module { foo.bar", "set"}, TKC_CPU_E_IMAGE,
               "set.tk.mlir:1:10: TK3018: not a valid stage file");
  checkRefused({std::string(100, '\0'), "set"}, TKC_CPU_E_IMAGE, "TK3019");
  checkRefused({good.text.substr(0, good.text.size() / 2), "set"}, TKC_CPU_E_IMAGE, "TK3018");
  checkRefused({good.text, "get"}, TKC_CPU_E_IMAGE,
               "the image has no kernel `get`; it has " + good.symbol);
  checkRefused({"module attributes {tk.phase = \"Canonical\"} {}", "set"}, TKC_CPU_E_IMAGE,
               "the image is of phase `Canonical`, the interpreter runs `Emitted`");
  checkRefused({"module attributes {a = " + std::string(100000, '[') + "} {}", "set"},
               TKC_CPU_E_IMAGE, "TK3017: brackets are nested deeper than 256 levels");
}

TEST_CASE("a kernel that the interpreter cannot run is refused when it is loaded", "[cpu]") {
  checkRefused(Image::of("kernel k(in x: i4[N], out y: i8[N]) @grid(1) {\n"
                         "    y[0 +: 16] = x[0 +: 16].to(i8)\n}"),
               TKC_CPU_E_UNSUPPORTED, "has a parameter of type i4, two of which share a byte");
}

TEST_CASE("a launch that does not fit the kernel is refused", "[cpu]") {
  Loaded set(kSet);
  std::vector<float> y(16);
  std::string why;
  CHECK(set.launch(1, Params().vector(y), &why) == TKC_CPU_E_PARAMS);
  CHECK(why == "the parameters take 28 bytes, the buffer has 24");
  CHECK(set.launch(1, Params().tensor(y.data(), {INT64_MAX / 4}, {4}).scalar(1.0f), &why) ==
        TKC_CPU_E_PARAMS);
  CHECK(why == "the extents and strides of `y` reach beyond the address space");
  CHECK(set.launch(1, Params().tensor(y.data(), {-1}, {1}).scalar(1.0f), &why) == TKC_CPU_E_PARAMS);
  CHECK(set.launch(0x80000000u, Params().vector(y).scalar(1.0f), &why) == TKC_CPU_E_UNSUPPORTED);
  CHECK(why.find("fewer than 2^31 programs") != std::string::npos);
}

TEST_CASE("reasons are one line, cut to the caller's room between two characters", "[cpu]") {
  tkc_cpu_program *program = nullptr;
  const std::string image = "module attributes {tk.phase = \"Emitted\"} {}",
                    symbol = "\xC3\xA9t\xC3\xA9\n2";
  char text[64];
  std::memset(text, 'x', sizeof text);
  CHECK(api().load(image.data(), image.size(), symbol.c_str(), &program, text, sizeof text) ==
        TKC_CPU_E_IMAGE);
  CHECK(std::string(text) == "the image has no kernel `\xC3\xA9t\xC3\xA9 2`; it has none");
  std::memset(text, 'x', sizeof text);
  CHECK(api().load(image.data(), image.size(), symbol.c_str(), &program, text, 27) ==
        TKC_CPU_E_IMAGE);
  CHECK(std::string(text) == "the image has no kernel `");
  CHECK(text[27] == 'x');
  CHECK(api().load(image.data(), image.size(), symbol.c_str(), &program, nullptr, 0) ==
        TKC_CPU_E_IMAGE);
}
