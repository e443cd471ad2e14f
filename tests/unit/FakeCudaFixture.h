//===- FakeCudaFixture.h - what the loader's tests share -------------------===//
#ifndef TKC_TESTS_FAKE_CUDA_FIXTURE_H
#define TKC_TESTS_FAKE_CUDA_FIXTURE_H

#include "FakeCuda.h"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

using Json = nlohmann::json;

/// An address for an argument; nothing is ever read from it.
inline void *at(uintptr_t address) {
  return reinterpret_cast<void *>(address);
}

/// The example of docs/metadata.md: a vector add, one variant for aligned and one for all. Its
/// image is 64 zero bytes.
Json vectorAdd();

/// A JSON of one kernel with one variant that takes everything: block 128, grid (1, 1, 1), no
/// parameters. Tests set what they are about.
Json oneKernel(const Json &args);

/// A tensor parameter for oneKernel.
inline Json tensorArg(const char *name, const char *dtype, const Json &extents, const Json &strides,
                      const char *access = "in") {
  return {{"name", name},       {"kind", "tensor"},   {"dtype", dtype}, {"access", access},
          {"extents", extents}, {"strides", strides}, {"align", 1}};
}

inline Json scalarArg(const char *name, const char *dtype) {
  return {{"name", name}, {"kind", "scalar"}, {"dtype", dtype}};
}

/// A kernel of a[M, K] of f16 with rows that lie apart, read through a map of boxes 128 x 64.
Json mapKernel();

/// A tensor argument that owns its extents and strides.
struct Tensor {
  void *data;
  uint16_t dtype;
  std::vector<int64_t> extents, strides; ///< no strides: dense
  uint64_t spanBytes = 0;

  operator tkc_arg() const {
    tkc_arg arg{};
    arg.kind = TKC_TENSOR;
    arg.u.tensor.data = data;
    arg.u.tensor.extents = extents.data();
    arg.u.tensor.strides = strides.empty() ? nullptr : strides.data();
    arg.u.tensor.span_bytes = spanBytes;
    arg.u.tensor.dtype = dtype;
    arg.u.tensor.rank = static_cast<uint16_t>(extents.size());
    return arg;
  }
};

inline tkc_arg scalar(uint32_t dtype, uint64_t bits) {
  tkc_arg arg{};
  arg.kind = TKC_SCALAR;
  arg.dtype = dtype;
  arg.u.bits = bits;
  return arg;
}

inline tkc_arg pointer(uint32_t dtype, void *data, uint64_t spanBytes) {
  tkc_arg arg{};
  arg.kind = TKC_POINTER;
  arg.dtype = dtype;
  arg.u.pointer.data = data;
  arg.u.pointer.span_bytes = spanBytes;
  return arg;
}

/// A driver double and the loader on top of it. Releases everything; then checks that nothing is
/// left retained, loaded or pushed.
struct Loader {
  FakeCuda cuda;
  uint32_t backend = TKC_CUDA;
  tkc_error error{};
  tkc_driver *driver = nullptr;
  tkc_bundle *bundle = nullptr;
  tkc_kernel *kernel = nullptr;
  std::string image = std::string(64, '\0');
  alignas(128) unsigned char params[4096];
  tkc_launch launch{};

  Loader();
  ~Loader();

  tkc_status openDriver();
  tkc_status openBundle(const std::string &json);
  tkc_status prepare(const char *name, const std::vector<tkc_const> &consts = {},
                     const tkc_prepare_desc *desc = nullptr, uint64_t abiHash = 0);
  /// A .tkb file. `data` must outlive the bundle when it is borrowed.
  tkc_status openFile(const std::string &data, uint32_t flags = 0, const uint8_t *sha256 = nullptr);
  /// All three, which must be good, for the only kernel of the file.
  void load(const Json &json);
  tkc_status encode(const std::vector<tkc_arg> &args, const tkc_options *options = nullptr);
  tkc_status submit(void *stream = nullptr);

  std::string text() const { return error.text; }
};

#endif
