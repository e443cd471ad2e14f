//===- Double.cpp - <tkc/double.h> over the recording driver ---------------===//
#include "tkc/double.h"

#include "FakeCuda.h"

#include <atomic>
#include <cstring>
#include <new>

struct tkc_double {
  FakeCuda cuda;
};

static std::atomic<bool> exists{false};

static void set(int32_t wanted, int &out) {
  if (wanted)
    out = wanted;
}

tkc_double *tkc_double_create(const tkc_double_desc *desc) {
  if ((desc && desc->size < sizeof(*desc)) || exists.exchange(true))
    return nullptr;
  tkc_double *made = new (std::nothrow) tkc_double;
  if (!made) {
    exists = false;
    return nullptr;
  }
  made->cuda.deviceCount = 1;
  if (!desc)
    return made;
  set(desc->driver_version, made->cuda.driverVersion);
  set(desc->devices, made->cuda.deviceCount);
  set(desc->sms, made->cuda.sms);
  set(desc->shared_bytes, made->cuda.maxShared);
  set(desc->blocks_per_sm, made->cuda.blocksPerSm);
  if (desc->major) {
    made->cuda.major = desc->major;
    made->cuda.minor = desc->minor;
    made->cuda.canCluster = desc->major >= 9;
  }
  if (desc->amd_arch)
    made->cuda.archName = desc->amd_arch;
  return made;
}

tkc_driver_desc tkc_double_driver(tkc_double *made, uint32_t backend) {
  tkc_driver_desc desc = made->cuda.descriptor();
  desc.backend = backend;
  return desc;
}

void tkc_double_fail(tkc_double *made, const char *function, int32_t code) {
  if (code)
    made->cuda.failures[function] = code;
  else
    made->cuda.failures.erase(function);
}

uint32_t tkc_double_calls(const tkc_double *made, const char *function) {
  auto it = made->cuda.calls.find(function);
  return it == made->cuda.calls.end() ? 0 : static_cast<uint32_t>(it->second);
}

uint32_t tkc_double_launches(const tkc_double *made) {
  return static_cast<uint32_t>(made->cuda.launches.size());
}

tkc_status tkc_double_launch_at(const tkc_double *made, uint32_t index, tkc_double_launch *out) {
  if (!out || out->size < sizeof(*out) || index >= made->cuda.launches.size())
    return TKC_E_ARG;
  const FakeCuda::Launch &launch = made->cuda.launches[index];
  out->param_bytes = static_cast<uint32_t>(launch.params.size());
  out->symbol = launch.symbol.c_str();
  out->params = launch.params.data();
  out->stream = launch.stream;
  memcpy(out->grid, launch.grid, sizeof(out->grid));
  memcpy(out->block, launch.block, sizeof(out->block));
  memcpy(out->cluster, launch.cluster, sizeof(out->cluster));
  out->dynamic_smem = launch.sharedBytes;
  out->flags = (launch.isProgrammatic ? uint32_t(TKC_PDL) : 0) |
               (launch.isCooperative ? uint32_t(TKC_COOPERATIVE) : 0);
  return TKC_OK;
}

void tkc_double_forget(tkc_double *made) {
  made->cuda.launches.clear();
  made->cuda.calls.clear();
}

void tkc_double_destroy(tkc_double *made) {
  if (!made)
    return;
  delete made;
  exists = false;
}
