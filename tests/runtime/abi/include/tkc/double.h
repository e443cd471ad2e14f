/*===- tkc/double.h - a driver that only records, for tests ---------------------------------===*\
|*                                                                                              *|
|* C99 and C++17; libtkcrt_double.so.1. Part of tkc, Apache-2.0 WITH LLVM-exception.            *|
|*                                                                                              *|
|* Stands in for libcuda (or libamdhip64) on a machine without a GPU: everything of libtkcrt is *|
|* real (checks, selection, grid, parameters), and what the driver is asked for is recorded.    *|
|* Nothing is computed. A test says what it expects of a launch without having a device.        *|
|*                                                                                              *|
|*   tkc_double *gpu = tkc_double_create(NULL);                                                 *|
|*   tkc_driver_desc desc = tkc_double_driver(gpu, TKC_CUDA);                                   *|
|*   tkc_driver_open(&desc, &driver, &error);  ...  tkc_submit(...);                            *|
|*   tkc_double_launch launch;                                                                  *|
|*   tkc_double_launch_at(gpu, 0, &launch);    launch.grid[0] ...                               *|
|*                                                                                              *|
|* One double at a time in a process. Threads may launch on it at the same time.                *|
\*===----------------------------------------------------------------------------------------===*/
#ifndef TKC_DOUBLE_H
#define TKC_DOUBLE_H

#include <tkc/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tkc_double tkc_double;

/* What the machine is like. 0 or NULL in a field: as an H200 with driver 580 has it. */
typedef struct tkc_double_desc {
  uint32_t size;
  int32_t driver_version; /* 13000                                     */
  int32_t devices;        /* 1                                         */
  int32_t major, minor;   /* 9, 0: both or neither                     */
  int32_t sms;            /* 132                                       */
  int32_t shared_bytes;   /* 232448: what a block may have             */
  int32_t blocks_per_sm;  /* 2: what occupancy queries answer          */
  const char *amd_arch;   /* "gfx942": TKC_HIP's chip                  */
} tkc_double_desc;

/* A launch as the driver got it. Pointers stay good until tkc_double_destroy or _forget. */
typedef struct tkc_double_launch {
  uint32_t size;
  uint32_t param_bytes;
  const char *symbol;
  const void *params;
  void *stream;
  uint32_t grid[3], block[3], cluster[3], dynamic_smem;
  uint32_t flags; /* TKC_PDL, TKC_COOPERATIVE */
} tkc_double_launch;

/* The descriptor may be NULL. NULL when there is no memory, or a double already. */
TKC_API tkc_double *tkc_double_create(const tkc_double_desc *);

/* A descriptor for tkc_driver_open, with this double behind `resolve`. TKC_CUDA or TKC_HIP. */
TKC_API tkc_driver_desc tkc_double_driver(tkc_double *, uint32_t backend);

/* From now on the driver function of that name ("cuLaunchKernel") answers `code`; 0: it works. */
TKC_API void tkc_double_fail(tkc_double *, const char *function, int32_t code);

/* How often the driver function of that name was called. */
TKC_API uint32_t tkc_double_calls(const tkc_double *, const char *function);

TKC_API uint32_t tkc_double_launches(const tkc_double *);

/* The launch of that number, from 0 on. TKC_E_ARG: there is none, or `size` is not set. */
TKC_API tkc_status tkc_double_launch_at(const tkc_double *, uint32_t index, tkc_double_launch *);

/* Forgets the launches so far, and calls. */
TKC_API void tkc_double_forget(tkc_double *);

/* Kernels, bundles and drivers on it are released before. NULL is fine. */
TKC_API void tkc_double_destroy(tkc_double *);

#ifdef __cplusplus
}
#endif
#endif /* TKC_DOUBLE_H */
