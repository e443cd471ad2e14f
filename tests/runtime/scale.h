// The form of a header that `tkc scale.tk -o scale.h` makes, written by hand: what the loader's
// tests and docs/cpp.md compile against where no compiler is.
#pragma once
#include <tkc/runtime.hpp>

extern "C" {
extern const unsigned char tkc_bundle_scale[] __attribute__((visibility("hidden")));
extern const unsigned char tkc_bundle_scale_end[] __attribute__((visibility("hidden")));
}

namespace scale {

/// The embedded bytes: link scale.o.
inline tkc::bytes bundle() noexcept {
  return {tkc_bundle_scale, static_cast<std::size_t>(tkc_bundle_scale_end - tkc_bundle_scale)};
}

/// scale[T=f16]
struct scale_f16 {
  static constexpr const char *name = "scale";
  static constexpr std::uint64_t abi_hash = 0x6f1c2a90d4e58b17;
  static constexpr std::uint32_t param_bytes = 64; ///< at least those of the largest variant
  static constexpr tkc::param_info params[] = {
      {"x", TKC_TENSOR, TKC_F16, 1, tkc::access::in, "N"},
      {"bias", TKC_TENSOR, TKC_F32, 1, tkc::access::in, "N"},
      {"y", TKC_TENSOR, TKC_F16, 1, tkc::access::out, "N"},
      {"factor", TKC_SCALAR, TKC_F32, 0, tkc::access::none, ""},
      {"w", TKC_TENSOR, TKC_F32, 1, tkc::access::scratch, "N"}};

  static tkc::result<scale_f16> prepare(const tkc::bundle &bundle,
                                        const tkc::prepare_options &options = {}) noexcept {
    constexpr tkc_const constants[] = {{"T", "f16"}};
    auto kernel = tkc::kernel::prepare(bundle, name, constants, 1, abi_hash, options);
    if (!kernel)
      return kernel.error();
    return scale_f16{std::move(*kernel)};
  }

  tkc::status operator()(tkc::stream stream, tkc::in<TKC_F16, 1> x,
                         std::optional<tkc::in<TKC_F32, 1>> bias, tkc::out<TKC_F16, 1> y,
                         float factor, const tkc::options &options = {}) const noexcept {
    return kernel.launch<param_bytes>(stream, options, x, bias, y, tkc::scalar<TKC_F32>(factor),
                                      tkc::absent());
  }

  tkc::result<tkc::workspace_size> workspace(tkc::in<TKC_F16, 1> x,
                                             std::optional<tkc::in<TKC_F32, 1>> bias,
                                             tkc::out<TKC_F16, 1> y, float factor,
                                             const tkc::options &options = {}) const noexcept {
    return kernel.workspace(options, x, bias, y, tkc::scalar<TKC_F32>(factor), tkc::absent());
  }

  tkc::kernel kernel;
};

} // namespace scale
