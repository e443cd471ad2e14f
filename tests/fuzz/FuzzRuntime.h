//===- FuzzRuntime.h - everything that the loader does with a bundle ------------------===//
//
// On the recording driver: each kernel is prepared and launched with arguments that fit it as well
// as can be told. Whatever the bundle says, the loader may only refuse.
//
//===----------------------------------------------------------------------===//

#ifndef TKC_FUZZ_RUNTIME_H
#define TKC_FUZZ_RUNTIME_H

#include "runtime/double/FakeCuda.h"
#include "runtime/src/Kernel.h"

#include <cstdlib>
#include <vector>

/// One driver for the life of the fuzzer.
class FuzzLoader {
public:
  FuzzLoader() {
    tkc_driver_desc desc = cuda.descriptor();
    if (tkc_driver_open(&desc, &driver, nullptr) != TKC_OK)
      abort();
  }

  tkc_bundle *open(const void *data, size_t bytes, const char *json, size_t jsonBytes) {
    tkc_bundle_desc desc{};
    desc.size = sizeof(desc);
    desc.flags = TKC_BORROW;
    desc.data = data;
    desc.bytes = bytes;
    desc.json = json;
    desc.json_bytes = jsonBytes;
    tkc_bundle *bundle = nullptr;
    check(tkc_bundle_open(driver, &desc, &bundle, error()));
    return bundle;
  }

  /// Prepares and launches each kernel, and releases the bundle.
  void runAll(tkc_bundle *bundle, const tkc_prepare_desc *prepareDesc = nullptr) {
    for (const tkcrt::KernelInfo &info : bundle->metadata.kernels) {
      std::vector<tkc_const> constants;
      for (const auto &[name, value] : info.instance)
        constants.push_back({name.c_str(), value.c_str()});
      tkc_kernel *kernel = nullptr;
      check(tkc_kernel_prepare(bundle, info.name.c_str(), constants.data(),
                               static_cast<uint32_t>(constants.size()), 0, prepareDesc, &kernel,
                               error()));
      if (kernel)
        for (int64_t extent : {0, 1, 96, 1 << 20})
          launch(*kernel, extent);
      tkc_kernel_release(kernel);
    }
    tkc_bundle_release(bundle);
    cuda.launches.clear();
    cuda.tensorMaps.clear();
  }

private:
  void launch(const tkc_kernel &kernel, int64_t extent) {
    const std::vector<int64_t> extents(TKC_MAX_RANK, extent);
    std::vector<tkc_arg> args;
    uintptr_t address = 1 << 30;
    for (const tkcrt::ArgInfo &info : kernel.info->args) {
      tkc_arg arg{};
      arg.kind = info.isScratch() || info.isOptional ? uint32_t(TKC_ABSENT) : info.kind;
      arg.dtype = info.dtype->code;
      address += uintptr_t(1) << 40; // apart, as memory is
      if (arg.kind == TKC_TENSOR)
        arg.u.tensor = {reinterpret_cast<void *>(address),
                        extents.data(),
                        nullptr,
                        0,
                        info.dtype->code,
                        static_cast<uint16_t>(info.extents.size()),
                        0};
      else if (arg.kind == TKC_POINTER)
        arg.u.pointer = {reinterpret_cast<void *>(address), 64};
      else if (arg.kind == TKC_SCALAR && info.dtype->bits >= 32)
        arg.u.bits = static_cast<uint64_t>(extent);
      args.push_back(arg);
    }
    call(kernel, args);
  }

  void call(const tkc_kernel &kernel, const std::vector<tkc_arg> &args) {
    const uint32_t count = static_cast<uint32_t>(args.size());
    tkc_options options{};
    options.size = sizeof(options);
    uint64_t bytes = 0;
    check(tkc_workspace_bound(&kernel, args.data(), count, nullptr, &bytes, error()));
    tkc_status status = tkc_workspace_query(&kernel, args.data(), count, nullptr, &bytes, nullptr,
                                            nullptr, error());
    check(status);
    options.workspace = reinterpret_cast<void *>(uintptr_t(1) << 20);
    options.workspace_bytes = bytes;
    tkc_launch launch{};
    launch.size = sizeof(launch);
    launch.params = params;
    launch.param_capacity = sizeof(params);
    status = tkc_encode(&kernel, args.data(), count, &options, &launch, error());
    check(status);
    char text[256];
    size_t room = sizeof(text);
    tkc_why(&kernel, args.data(), count, &options, text, &room, error());
    if (status == TKC_OK && tkc_submit(&kernel, &launch, nullptr, error()) != TKC_OK)
      abort(); // what encode lets through, the driver gets
  }

  tkc_error *error() {
    last = {};
    last.size = sizeof(last);
    return &last;
  }
  /// A refusal has its words, and its status is one that callers know.
  void check(tkc_status status) {
    if (status != last.status || (status != TKC_OK && !last.text[0]) ||
        tkc_status_name(status)[0] != 'T')
      abort();
  }

  FakeCuda cuda;
  tkc_driver *driver = nullptr;
  tkc_error last{};
  alignas(128) unsigned char params[TKC_MAX_PARAM_BYTES];
};

#endif
