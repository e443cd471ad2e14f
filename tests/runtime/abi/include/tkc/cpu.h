/*===- tkc/cpu.h - between the loader and the interpreter ---------------------------------===*\
|*                                                                                              *|
|* C99 and C++17. Part of tkc, Apache-2.0 WITH LLVM-exception.                                  *|
|*                                                                                              *|
|* libtkccpu.so.1 implements this, libtkcrt calls it for a driver of backend TKC_CPU. It is not *|
|* for programs that launch kernels: those use <tkc/runtime.h>.                                 *|
|*                                                                                              *|
|* The loader looks for the one symbol, tkc_cpu_api_v1, by the caller's `resolve`, in what the  *|
|* process has mapped, else by dlopen("libtkccpu.so.1").                                        *|
\*===----------------------------------------------------------------------------------------===*/
#ifndef TKC_CPU_H
#define TKC_CPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TKC_CPU_VERSION 1u

/* What the functions return. Numbers are never reused; an unknown one is an error. */
enum {
  TKC_CPU_OK = 0,
  TKC_CPU_E_IMAGE = 1,    /* the image is no module of stage `tk`, or has no such kernel         */
  TKC_CPU_E_PARAMS = 2,   /* the buffer is not as large as the kernel's parameters need          */
  TKC_CPU_E_KERNEL = 3,   /* the kernel did something wrong: the finding's text and place        */
  TKC_CPU_E_NOMEM = 4,    /* host memory                                                         */
  TKC_CPU_E_INTERNAL = 5, /* a fault of the interpreter                                          */
  TKC_CPU_E_UNSUPPORTED = 6 /* a construct that the interpreter does not run                     */
};

/* One kernel of an image, ready to run. Immutable: threads may launch it at the same time. */
typedef struct tkc_cpu_program tkc_cpu_program;

/*
 * `text` is the caller's, `room` bytes with the NUL; it may be NULL with room 0. A function that
 * fails writes one line into it, cut to fit and ended with NUL; one that succeeds leaves it alone.
 * None of them throws, exits, writes to a stream or reads the environment.
 */
typedef struct tkc_cpu_api {
  uint32_t size;    /* sizeof(tkc_cpu_api) of the library: a longer one has more at its end */
  uint32_t version; /* TKC_CPU_VERSION; the loader refuses another                          */

  /*
   * Reads an image of kind `tk` (`bytes` bytes, no NUL needed, not kept) and finds the kernel
   * called `symbol`. *program is NULL unless it returns TKC_CPU_OK.
   */
  int32_t (*load)(const void *image, size_t bytes, const char *symbol, tkc_cpu_program **program,
                  char *text, size_t room);

  /*
   * Runs grid[0] * grid[1] * grid[2] instances, x fastest, and returns when all are done. None of
   * the grid is 0. `params` is aligned to 8 and read as it lies, in the order of the kernel's
   * parameters, each value at the next multiple of its size:
   *   a tensor    its address, its extents, its strides in elements: 8 bytes each;
   *   a pointer   its address and the bytes that the caller vouches for from there on (0: unknown,
   *               nothing is checked then): 8 bytes each;
   *   a scalar    its bits in its own type; i1 is one byte.
   * An address of 0 is an argument that was left out. The loader has checked what the description
   * says of the arguments.
   */
  int32_t (*launch)(const tkc_cpu_program *program, const uint32_t grid[3], const void *params,
                    size_t bytes, char *text, size_t room);

  /* No launch may be running. NULL is fine. */
  void (*unload)(tkc_cpu_program *program);
} tkc_cpu_api;

/* Never NULL; the table lives as long as the library is mapped. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const tkc_cpu_api *
tkc_cpu_api_v1(void);

#ifdef __cplusplus
}
#endif
#endif /* TKC_CPU_H */
